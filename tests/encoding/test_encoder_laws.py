"""Laws that hold for every table, whatever is in it."""

import datetime as dt
import math
import warnings
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mixkern.encoding import CategoricalColumn, TableEncoder
from mixkern.errors import MixkernWarning, TableError

laws = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

quick_laws = settings(laws, max_examples=60)  # in make test; the others are slow

NUMERIC_TEXT = (
    st.floats().map(str) | st.integers().map(str) | st.sampled_from(["1_0", " 2 ", "1e400", "٣", "+5", "nan", ""])
)
CATEGORIES = st.sampled_from(["a", "b", "ä", "", "1", "nan", "(other)"])
WORDS = st.sampled_from(["box", "fine", "good", "late", "more", "often", "parcel", "slow", "thanks", "with"])
MOMENTS = st.datetimes(dt.datetime(1, 1, 3), dt.datetime(9999, 12, 28))
FAR_MOMENTS = MOMENTS | st.datetimes(timezones=st.just(dt.UTC)) | st.dates() | st.timedeltas() | st.times()

# kind of cells: (strategy of one cell, dtype in polars or None where polars has none)
KINDS = {
    "floats": (st.floats(), pl.Float64),
    "close floats": (st.floats(-1, 1).map(lambda x: 1e9 + x), pl.Float64),
    "tiny floats": (st.floats(-1e-300, 1e-300), pl.Float64),
    "huge floats": (st.floats(1e300, 1.7e308), pl.Float64),
    "whole floats": (st.integers(-3, 3).map(float), pl.Float64),
    "few integers": (st.integers(0, 3), pl.Int64),
    "integers": (st.integers(-(2**63), 2**63 - 1), pl.Int64),
    "large integers": (st.integers(2**63 - 3, 2**63 - 1), pl.Int64),
    "huge integers": (st.integers(10**307, 10**309), None),
    "booleans": (st.booleans(), pl.Boolean),
    "text": (st.text(max_size=4), pl.String),
    "numeric text": (NUMERIC_TEXT, pl.String),
    "mostly numeric text": (st.integers(0, 40).map(str) | st.sampled_from(["?", "n/a"]), pl.String),
    "categories": (CATEGORIES, pl.Categorical),
    "dates": (st.dates(), pl.Date),
    "close dates": (st.dates(dt.date(2021, 1, 1), dt.date(2023, 12, 31)), pl.Date),
    "comments": (st.lists(WORDS, min_size=4, max_size=6).map(" ".join), pl.String),
    "moments": (MOMENTS, pl.Datetime("us")),
    "moments with zone": (MOMENTS.map(lambda m: m.replace(tzinfo=dt.UTC)), pl.Datetime("us", "UTC")),
    "durations": (st.timedeltas(dt.timedelta(-(10**5)), dt.timedelta(10**5)), pl.Duration("us")),
    "times": (st.times(), pl.Time),
    "decimals": (st.decimals(allow_infinity=True, allow_nan=False), None),
    "nothing": (st.none(), pl.Null),
    "anything": (st.floats() | st.integers() | st.booleans() | st.text(max_size=2) | FAR_MOMENTS, None),
}
NAMES = st.sampled_from(["", " ", "0", "1", "x0", "größe", "a b", "nan", "\n", "日本", "ﷺ"]) | st.text(max_size=3)


@dataclass
class Table:
    """Cells, and a library to put them into a frame."""

    library: str
    kinds: list[str]
    columns: dict[str, list[object]]

    @property
    def n_rows(self):
        return len(next(iter(self.columns.values())))

    def frame(self, order=None):
        order = range(self.n_rows) if order is None else order
        series = {
            name: self._series([cells[i] for i in order], kind)
            for (name, cells), kind in zip(self.columns.items(), self.kinds, strict=True)
        }
        return pl.DataFrame(series) if self.library == "polars" else pd.DataFrame(series)

    def _series(self, cells, kind):
        if self.library == "polars":
            return pl.Series(cells, dtype=KINDS[kind][1] or pl.Object)
        if self.library == "objects":
            return pd.Series(cells, dtype=object)
        if self.library == "nullable" and kind in NULLABLE:
            return pd.Series(cells, dtype=NULLABLE[kind])
        return pd.Series(cells, dtype="category" if kind == "categories" else None)

    def is_gap(self):  # (n, number of columns)
        return np.array([[_is_gap(cell) for cell in cells] for cells in self.columns.values()]).T


NULLABLE = {
    "few integers": "Int64",
    "integers": "Int64",
    "large integers": "int64[pyarrow]",
    "booleans": "boolean",
    "text": "string",
    "whole floats": "Float64",
    "close floats": "double[pyarrow]",
    "dates": "date32[pyarrow]",
}


def _is_gap(cell):
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


NAME_LISTS = st.lists(NAMES, min_size=1, max_size=6, unique=True)


@st.composite
def tables(draw, names=NAME_LISTS):
    library = draw(st.sampled_from(["pandas", "objects", "nullable", "polars"]))
    n_rows = draw(st.integers(1, 3) | st.integers(1, 14))
    kinds, columns = [], {}
    for name in draw(names):
        known = [kind for kind, (_, dtype) in KINDS.items() if library != "polars" or dtype is not None]
        kind = draw(st.sampled_from(known))
        cell = KINDS[kind][0] if draw(st.booleans()) else KINDS[kind][0] | st.none()
        kinds.append(kind)
        columns[name] = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
    return Table(library, kinds, columns)


@st.composite
def pairs_of_tables(draw):
    first = draw(tables())
    return first, draw(tables(names=st.just(list(first.columns))))


@contextmanager
def only_our_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MixkernWarning)
        yield


def fitted(frame):
    """Fit, or give the error that the table deserves; any other error fails the test."""
    with only_our_warnings():
        try:
            return TableEncoder().fit(frame)
        except TableError as error:
            return error


def transformed(encoder, frame):
    with only_our_warnings():
        return encoder.transform(frame)


@quick_laws
@given(tables())
@pytest.mark.slow
def test_fitting_and_transforming_is_fit_transform(table):
    encoder = fitted(table.frame())
    if isinstance(encoder, TableEncoder):
        with only_our_warnings():
            at_once = TableEncoder().fit_transform(table.frame())
        np.testing.assert_array_equal(transformed(encoder, table.frame()), at_once)


@pytest.mark.slow
@laws
@given(tables())
def test_gaps_and_only_gaps_become_nan(table):
    encoder = fitted(table.frame())
    if isinstance(encoder, TableEncoder):
        encoded = transformed(encoder, table.frame())
        inputs = {part.name: i for i, column in enumerate(encoder.columns_) for part in column.parts}
        place = [inputs[name] for name in encoder.get_feature_names_out()]
        np.testing.assert_array_equal(np.isnan(encoded), table.is_gap()[:, place])
        assert not np.isinf(encoded).any()


@pytest.mark.slow
@laws
@given(tables())
def test_z_scores_have_zero_mean_and_unit_deviation(table):
    encoder = fitted(table.frame())
    if isinstance(encoder, TableEncoder):
        encoded = transformed(encoder, table.frame())
        for i, column in enumerate(c for c in encoder.encoded_columns_ if not isinstance(c, CategoricalColumn)):
            scores = encoded[~np.isnan(encoded[:, i]), i]
            if len(scores) and column.deviation > 1e-290:  # subnormal numbers have too few digits
                assert abs(scores.mean()) < 1e-9
                assert not scores.any() or abs(scores.std() - 1) < 1e-9


@pytest.mark.slow
@laws
@given(tables(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(table, random):
    order = list(range(table.n_rows))
    random.shuffle(order)
    encoder, shuffled = fitted(table.frame()), fitted(table.frame(order))
    assert type(encoder) is type(shuffled)
    if isinstance(encoder, TableEncoder):
        assert encoder.continuous_ == shuffled.continuous_
        for column, other in zip(encoder.encoded_columns_, shuffled.encoded_columns_, strict=True):
            assert not isinstance(column, CategoricalColumn) or column == other
        encoded = transformed(encoder, table.frame())
        np.testing.assert_allclose(transformed(shuffled, table.frame(order)), encoded[order], rtol=1e-6, atol=1e-9)


@pytest.mark.slow
@laws
@given(tables())
def test_codes_are_read_back_as_the_categories(table):
    encoder = fitted(table.frame())
    if isinstance(encoder, TableEncoder):
        with only_our_warnings():
            encoded = transformed(encoder, table.frame())
            back = encoder.inverse_transform(encoded)
        assert list(back.columns) == list(table.columns)
        if encoder.columns_ == encoder.encoded_columns_:  # no column has become several
            with only_our_warnings():
                again = TableEncoder(continuous=encoder.continuous_, categorical=encoder.categorical_)
                again.fit(table.frame())
            np.testing.assert_array_equal(transformed(again, table.frame()), encoded)
        codes = encoded[:, encoder.n_continuous_ :]
        for name, column_codes in zip(encoder.categorical_, codes.T, strict=True):
            if name not in table.columns:
                continue
            categories = encoder.columns_[list(table.columns).index(name)].categories
            expected = [None if math.isnan(code) else categories[int(code)] for code in column_codes]
            assert [None if pd.isna(text) else text for text in back[name]] == expected


@quick_laws
@given(pairs_of_tables())
@pytest.mark.slow
def test_any_table_with_the_same_names_is_encoded_or_refused(pair):
    first, second = pair
    encoder = fitted(first.frame())
    if isinstance(encoder, TableEncoder):
        try:
            encoded = transformed(encoder, second.frame())
        except TableError:
            return
        n_unseen = sum(sum(counts.values()) for counts in encoder.unseen(second.frame()).values())
        others = [len(c.categories) for c in encoder.encoded_columns_ if isinstance(c, CategoricalColumn)]
        assert (encoded[:, encoder.n_continuous_ :] == others).sum() == n_unseen
        assert not np.isinf(encoded).any()


@pytest.mark.slow
@laws
@given(tables())
def test_pandas_and_polars_agree(table):
    table.library = "polars"
    table.kinds = ["anything" if KINDS[kind][1] is None else kind for kind in table.kinds]
    frame = table.frame()
    table.library = "objects"
    encoder, other = fitted(frame), fitted(table.frame())
    assert type(encoder) is type(other)
    if isinstance(encoder, TableEncoder):
        encoded = transformed(other, table.frame())
        np.testing.assert_allclose(transformed(encoder, frame), encoded, rtol=1e-6, atol=1e-9)
