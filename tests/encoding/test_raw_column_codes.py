"""Columns as codes of their distinct cells, compared with a reading of row by row."""

import datetime as dt
import decimal
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern.encoding import frame, raw_column
from mixkern.encoding.cell import is_gap, text
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.raw_column import Coded, raw_columns

CELLS = {
    "texts": ["b", "a", None, "b", "c", "a", "b", "\u00e9", " b"],
    "words": ["x", "?", "", "NA", "x", "nan", "y", "?", None],
    "numbers in texts": ["1", "2.50", None, "1.0", "1", "3", "-1e3", "2.5", "7"],
    "booleans": [True, False, None, True, True, False, False, True, None],
    "no gaps": [True, False, True, True, False, False, True, False, False],
    "integers": [1, 2, None, 1, 3, 2, 1, 5, 7],
    "large": [2**60 + 1, 2**60, None, 2**60 + 1, 1, 2**60 + 2, 1, 2, 3],
    "floats": [1.5, None, 1.5, 2.0, -0.0, 0.0, 3.25, 1e300, 2.0],
    "dates": [dt.date(2024, 5, 1), None, dt.date(2024, 5, 1), *[dt.date(2020, 1, i) for i in range(1, 7)]],
    "gaps": [None] * 9,
}


def as_views(column):
    return column.cast(pa.string_view()) if column.type == pa.string() else column


FRAMES = {
    "pandas": lambda cells: pd.DataFrame({"a": cells}),
    "pandas objects": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
    "pandas categories": lambda cells: pd.DataFrame({"a": pd.Categorical(cells)}),
    "pandas arrow": lambda cells: pd.DataFrame({"a": pd.array(cells, dtype=pd.ArrowDtype(pa.array(cells).type))}),
    "polars": lambda cells: pl.DataFrame({"a": cells}),
    "polars categories": lambda cells: pl.DataFrame({"a": pl.Series(cells).cast(pl.String).cast(pl.Categorical)}),
    "pyarrow": lambda cells: pa.table({"a": cells}),
    "pyarrow chunks": lambda cells: pa.table({"a": pa.chunked_array([pa.array(cells)[:4], pa.array(cells)[4:]])}),
    "pyarrow views": lambda cells: pa.table({"a": as_views(pa.array(cells))}),
    "pyarrow dictionary": lambda cells: pa.table({"a": pa.array(cells).dictionary_encode()}).slice(0, 9),
    "pyarrow dictionaries": lambda cells: pa.table(
        {"a": pa.chunked_array([pa.array(cells)[:4].dictionary_encode(), pa.array(cells)[4:].dictionary_encode()])}
    ),
    "array": lambda cells: np.array([[cell] for cell in cells], dtype=object),
    "list": lambda cells: [[cell] for cell in cells],
}  # fmt: skip


def native_cells(table):
    """The cells of the one column of a table, as Python objects."""
    if isinstance(table, (pd.DataFrame, pl.DataFrame)):
        return table["a"].to_list()
    return table["a"].to_pylist() if isinstance(table, pa.Table) else [row[0] for row in table]


def row_by_row_texts(table):
    return [None if is_gap(cell) else text(cell) for cell in native_cells(table)]


def row_by_row_codes(texts, categories):
    code = {category: float(i) for i, category in enumerate(categories)}
    return [np.nan if each is None else code.get(each, float(len(categories))) for each in texts]


def tables():
    for kind, cells in CELLS.items():
        for library, make in FRAMES.items():
            if "dictionar" in library and kind == "gaps":
                continue
            try:
                table = make(cells)
            except (pl.exceptions.InvalidOperationError, pa.ArrowNotImplementedError):
                continue
            yield pytest.param(table, id=f"{kind}, {library}")


@pytest.mark.parametrize("table", list(tables()))
def test_categories_are_those_of_a_reading_row_by_row(table):
    raw = raw_columns(table)[0]
    texts = row_by_row_texts(table)
    assert raw.texts() == texts
    assert raw.coded().distinct == list(dict.fromkeys(each for each in texts if each is not None))
    fitted = CategoricalColumn.fit(raw)
    assert set(fitted.categories) == {each for each in texts if each is not None}
    assert fitted.n_gaps == texts.count(None)
    np.testing.assert_array_equal(fitted.encode(raw), row_by_row_codes(texts, fitted.categories))
    few = CategoricalColumn("a", fitted.kind, fitted.categories[:1])
    unseen = Counter(each for each in texts if each is not None and each not in few.categories)
    if "?" not in unseen:
        np.testing.assert_array_equal(few.encode(raw), row_by_row_codes(texts, few.categories))
        assert list(few.unseen(raw).items()) == unseen.most_common()


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        (kind, library)
        for kind in ("numbers in texts", "integers", "floats", "large")
        for library in FRAMES
        if (kind, library) != ("large", "polars categories")  # polars makes no categories of them
    ],
)
def test_numbers_are_those_of_a_reading_row_by_row(kind, library):
    table = FRAMES[library](CELLS[kind])
    raw = raw_columns(table)[0]
    expected = [np.nan if is_gap(cell) else float(cell) for cell in native_cells(table)]
    np.testing.assert_array_equal(raw.numbers(), expected)
    assert ContinuousColumn.fit(raw).n_gaps == np.isnan(expected).sum()


@pytest.mark.parametrize(
    ("cells", "codes", "distinct"),
    [
        ([], [], []),
        ([None, float("nan")], [-1, -1], []),
        ([1, 1.0, True], [0, 1, 2], [1, 1.0, True]),
        ([decimal.Decimal("sNaN"), "a"], [-1, 0], ["a"]),
        (["a", np.str_("a"), "b"], [0, 0, 1], ["a", "b"]),
    ],
)
def test_distinct_cells(cells, codes, distinct):
    found = Coded.of_cells(cells)
    assert found.codes.tolist() == codes
    assert found.distinct == distinct
    assert [type(each) for each in found.distinct] == [type(each) for each in distinct]


def test_counts_rows_and_values():
    column = Coded.of_cells(["b", None, "a", "b"])
    assert column.counts().tolist() == [2, 1]
    assert column.n_gaps() == 1
    assert column.rows_of([0]).tolist() == [0, 3]
    assert column.rows_of([]).tolist() == []
    assert column.taken([1.5, 2.5], np.nan, float).tolist()[2:] == [2.5, 1.5]


def test_unused_categories_and_categories_that_are_gaps():
    series = pd.Series(pd.Categorical(["z", "a"], categories=["a", "m", "z"]))
    assert raw_columns(pd.DataFrame({"a": series}))[0].cells.distinct == ["z", "a"]
    column = pa.DictionaryArray.from_arrays([0, 1, 2, 0], ["x", None, "x"])
    found = raw_columns(pa.table({"a": column}))[0].cells
    assert (found.codes.tolist(), found.distinct) == ([0, -1, 0, 0], ["x"])


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        (kind, library)
        for kind in CELLS
        for library in ("pandas", "pandas categories", "polars", "polars categories")
        if library != "polars categories" or kind not in ("dates", "gaps")  # polars makes no categories of them
    ],
)
def test_without_pyarrow(kind, library, monkeypatch):
    table = FRAMES[library](CELLS[kind])
    expected = raw_columns(table)[0].texts()
    for module in (raw_column, frame):
        monkeypatch.setattr(module, "find_spec", lambda name: None if name == "pyarrow" else find_spec(name))
    assert raw_columns(table)[0].texts() == expected
