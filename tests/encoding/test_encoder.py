import copy
import datetime as dt
import decimal
import pickle
import sys
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from mixkern.encoding import CategoricalColumn, ContinuousColumn, TableEncoder
from mixkern.encoding.encoder import BLOCK, MANY_BLOCKS
from mixkern.errors import (
    CellTypeError,
    ColumnChoiceWarning,
    ColumnMismatchError,
    ColumnNameError,
    EmptyTableError,
    IgnoredValuesWarning,
    InfiniteValueError,
    MissingExtraError,
    NotATableError,
    NotNumericError,
    TableError,
    TooLargeError,
    UnknownColumnError,
    UnseenCategoryWarning,
)

NAN = np.nan
NOON = dt.datetime(2020, 1, 1, 12)
DATES = [NOON, None, NOON + dt.timedelta(2)]

CELLS = {
    "town": ["Passau", "Kassel", None],
    "age": [20.5, 40.5, None],
    "is_new": [True, None, False],
    "since": DATES,
    "stay": [dt.timedelta(hours=6), dt.timedelta(hours=18), None],
    "empty": [None, None, None],
}
ENCODED = np.array(  # age, since, stay, empty, town, is_new
    [
        [-1, -1, -1, NAN, 1, 1],
        [1, NAN, 1, NAN, 0, NAN],
        [NAN, 1, NAN, NAN, NAN, 0],
    ]
)
ENCODED_NAMES = ["age", "since", "stay", "empty", "town", "is_new"]


@parametrize_with_checks([TableEncoder()])
@pytest.mark.filterwarnings("ignore::mixkern.errors.MixkernWarning")
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture
def people():
    return pd.DataFrame(CELLS)


@pytest.fixture
def encoder(people):
    return TableEncoder().fit(people)


# One table, many libraries

FRAMES = {
    "pandas": lambda: pd.DataFrame(CELLS),
    "pandas, objects": lambda: pd.DataFrame(CELLS, dtype=object),
    "pandas, nullable": lambda: pd.DataFrame(CELLS).astype({"town": "string", "age": "Float64", "is_new": "boolean"}),
    "pandas, arrow": lambda: pa.table(CELLS).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, category": lambda: pd.DataFrame(CELLS).astype({"town": "category", "is_new": "category"}),
    "pandas, time zone": lambda: pd.DataFrame(CELLS | {"since": pd.Series(DATES).dt.tz_localize("Asia/Tokyo")}),
    "pandas, nanoseconds": lambda: pd.DataFrame(CELLS).astype({"since": "datetime64[ns]", "stay": "timedelta64[ns]"}),
    "polars": lambda: pl.DataFrame(CELLS),
    "polars, category": lambda: pl.DataFrame(CELLS).with_columns(pl.col("town").cast(pl.Categorical)),
    "polars, time zone": lambda: pl.DataFrame(CELLS).with_columns(pl.col("since").dt.replace_time_zone("Asia/Tokyo")),
    "arrow": lambda: pa.table(CELLS),
    "narwhals": lambda: nw.from_native(pl.DataFrame(CELLS)),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_same_cells_same_array(frame):
    encoder = TableEncoder()
    np.testing.assert_allclose(encoder.fit_transform(frame()), ENCODED, rtol=1e-12)
    np.testing.assert_array_equal(encoder.feature_names_in_, list(CELLS))
    assert encoder.get_feature_names_out().tolist() == ENCODED_NAMES


@pytest.mark.parametrize("library", [name for name in FRAMES if "time zone" not in name])
def test_fitted_with_one_library_and_used_with_another(encoder, library):
    np.testing.assert_allclose(encoder.transform(FRAMES[library]()), ENCODED, rtol=1e-12)


def test_a_time_zone_shifts_dates_to_utc(encoder):
    for library in ("pandas, time zone", "polars, time zone"):
        since = encoder.transform(FRAMES[library]())[:, 1]
        np.testing.assert_allclose(since, ENCODED[:, 1] - 9 / 24, rtol=1e-12)


ROWS = [list(row) for row in zip(*CELLS.values(), strict=True)]


@pytest.mark.parametrize("rows", [ROWS, tuple(map(tuple, ROWS)), np.array(ROWS, dtype=object)], ids=type)
def test_rows_without_names(rows):
    encoder = TableEncoder()
    np.testing.assert_allclose(encoder.fit_transform(rows), ENCODED, rtol=1e-12)
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.get_feature_names_out().tolist() == ["x1", "x3", "x4", "x5", "x0", "x2"]
    assert encoder.get_feature_names_out(list(CELLS)).tolist() == ENCODED_NAMES


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[1.5, NAN], [3.5, 5.0]]), [[-1, NAN], [1, 0]]),
        (np.array([[1.5], [3.5]], dtype="float32"), [[-1], [1]]),
        (np.array([[True], [False]]), [[1], [0]]),
        (np.array([["b"], ["a"]]), [[1], [0]]),
        (np.array([["b"], [None], [3]], dtype=object), [[1], [NAN], [0]]),
        (np.array([["2020-01-01"], ["NaT"], ["2020-01-03"]], dtype="datetime64[ns]"), [[-1], [NAN], [1]]),
        (np.array([["2020"], ["2021"]], dtype="datetime64[Y]"), [[-1], [1]]),
        (np.array([[1], [3]], dtype="timedelta64[h]"), [[-1], [1]]),
        (np.ma.masked_array([[1.5], [3.5], [99.0]], mask=[[0], [0], [1]]), [[-1], [1], [NAN]]),
        (np.array([[decimal.Decimal("1.5")], [decimal.Decimal("3.5")]]), [[-1], [1]]),
        (2 * np.arange(11).reshape(-1, 1), (np.arange(11).reshape(-1, 1) - 5) / np.sqrt(10)),
    ],
)
def test_arrays(array, expected):
    encoded = TableEncoder().fit_transform(array)
    assert encoded.dtype == np.float64
    np.testing.assert_allclose(encoded, expected, rtol=1e-12)


@pytest.mark.parametrize("gap", [None, NAN, pd.NA, pd.NaT, np.datetime64("NaT"), decimal.Decimal("NaN")], ids=type)
@pytest.mark.parametrize("cells", [[1.5, 2.5], ["a", "b"], [True, False], [NOON, NOON], [decimal.Decimal(1)]])
def test_gaps_of_every_sort_among_cells_of_every_sort(gap, cells):
    frame = pd.DataFrame({"a": pd.Series([*cells, gap], dtype=object)})
    encoded = TableEncoder().fit_transform(frame)
    np.testing.assert_array_equal(np.isnan(encoded[:, 0]), [*[False] * len(cells), True])


# Attributes and ways out


def test_attributes(encoder):
    assert [column.name for column in encoder.columns_] == list(CELLS)
    assert encoder.continuous_ == ["age", "since", "stay", "empty"]
    assert encoder.categorical_ == ["town", "is_new"]
    assert encoder.n_continuous_ == 4
    assert encoder.n_features_in_ == 6
    assert isinstance(encoder.columns_[1], ContinuousColumn)
    assert encoder.columns_[0] == CategoricalColumn("town", "text", ("Kassel", "Passau"), n_gaps=1)


def test_inverse_transform(encoder, people):
    back = encoder.inverse_transform(encoder.transform(people))
    assert back.columns.tolist() == list(CELLS)
    np.testing.assert_allclose(back["age"], [20.5, 40.5, NAN])
    assert back["town"].tolist()[:2] == ["Passau", "Kassel"]
    assert back["town"].isna().tolist() == [False, False, True]
    assert back["is_new"].tolist()[::2] == ["True", "False"]
    pd.testing.assert_series_equal(back["since"], people["since"].astype("datetime64[us]"))
    pd.testing.assert_series_equal(back["stay"], people["stay"].astype("timedelta64[us]"))
    assert back["empty"].isna().all()


def test_inverse_transform_names_other_categories(encoder):
    assert encoder.inverse_transform([[0, 0, 0, 0, 2, 1]])["town"].tolist() == ["(other)"]


@pytest.mark.parametrize(("X", "shape"), [([[1.0]], r"\(1, 1\)"), ([1.0] * 6, r"\(6,\)")])
def test_inverse_transform_of_the_wrong_shape(encoder, X, shape):
    with pytest.raises(ColumnMismatchError, match=f"Expected encoded rows of 6 columns, but X has shape {shape}"):
        encoder.inverse_transform(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_inverse_transform_of_a_frame(people, library):
    people.index = ["x", "y", "z"]
    encoder = TableEncoder().set_output(transform=library).fit(people)
    encoded = encoder.transform(people)
    back = encoder.inverse_transform(encoded[encoded.columns[::-1]])
    assert type(back) is type(encoded)
    assert list(back.columns) == list(CELLS)
    assert library == "polars" or back.index.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(back["age"], [20.5, 40.5, NAN])
    with pytest.raises(ColumnMismatchError, match="'town' is missing"):
        encoder.inverse_transform(encoded.drop(columns="town") if library == "pandas" else encoded.drop("town"))


def test_describe(people):
    people["rooms"] = [1, 2, 3]
    people["site"] = "A"
    with pytest.warns(ColumnChoiceWarning):
        facts = TableEncoder(continuous="age").fit(people).describe()
    assert facts.index.tolist() == [*CELLS, "rooms", "site"]
    assert facts["kind"].tolist() == ["text", "number", "boolean", "date", "duration", "empty", "integer", "text"]
    assert facts.loc[["age", "town"], "read_as"].tolist() == ["continuous", "categorical"]
    assert facts["gaps"].tolist() == [1, 1, 1, 1, 1, 3, 0, 0]
    assert facts["categories"].dtype == "Int64"
    assert facts["categories"].isna().tolist() == (facts["read_as"] == "continuous").tolist()
    assert facts["categories"].dropna().tolist() == [2, 2, 1]
    np.testing.assert_allclose(facts["mean"], [NAN, 30.5, NAN, 18263.5, 0.5, NAN, 2, NAN])
    np.testing.assert_allclose(facts["deviation"], [NAN, 10, NAN, 1, 0.25, NAN, np.sqrt(2 / 3), NAN])
    assert facts["remark"].tolist() == [
        "",
        "chosen by the user",
        "",
        "",
        "",
        "no value: read as gaps, now and later",
        "whole numbers with 3 to 10 distinct values, read as numbers",
        "one category: the same in every row",
    ]


def test_pandas_is_imported_only_where_it_is_needed(encoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"TableEncoder.describe needs pandas.*pip install 'mixkern\[data\]'"):
        encoder.describe()
    with pytest.raises(MissingExtraError, match=r"TableEncoder\.inverse_transform needs pandas"):
        encoder.inverse_transform(ENCODED)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output(people, library):
    encoded = TableEncoder().set_output(transform=library).fit_transform(people)
    assert type(encoded).__module__.startswith(library)
    assert list(encoded.columns) == ENCODED_NAMES
    np.testing.assert_allclose(encoded.to_numpy(), ENCODED)


def test_set_output_keeps_the_index(people):
    people.index = ["x", "y", "z"]
    assert TableEncoder().set_output(transform="pandas").fit_transform(people).index.tolist() == ["x", "y", "z"]


def test_feature_names_of_other_columns(encoder):
    with pytest.raises(ColumnMismatchError, match=r"length equal to number of features \(6\), got 1"):
        encoder.get_feature_names_out(["a"])
    with pytest.raises(ColumnMismatchError, match="input_features is not equal to feature_names_in_"):
        encoder.get_feature_names_out(list("abcdef"))


def test_clone_keeps_parameters_and_nothing_else(people):
    encoder = TableEncoder(continuous=["age"], categorical="town").fit(people)
    fresh = clone(encoder)
    assert fresh.get_params() == {"continuous": ["age"], "categorical": "town"}
    with pytest.raises(NotFittedError):
        fresh.transform(people)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda encoder: pickle.loads(pickle.dumps(encoder))])
def test_copies_encode_alike(encoder, people, duplicate):
    np.testing.assert_array_equal(duplicate(encoder).transform(people), encoder.transform(people))


def test_in_a_pipeline(people):
    pipeline = make_pipeline(TableEncoder(), FunctionTransformer(np.nan_to_num))
    np.testing.assert_allclose(pipeline.fit_transform(people), np.nan_to_num(ENCODED))
    np.testing.assert_allclose(pipeline.transform(people), np.nan_to_num(ENCODED))


def test_fitting_again_forgets_what_was_before(encoder):
    encoder.fit([[1.5], [2.5]])
    assert encoder.n_features_in_ == 1
    assert not hasattr(encoder, "feature_names_in_")


@pytest.mark.parametrize("bad", [[[np.inf]], pd.DataFrame({"age": [np.inf]})])
def test_a_failed_fit_changes_nothing(encoder, people, bad):
    with pytest.raises(InfiniteValueError):
        encoder.fit(bad)
    np.testing.assert_allclose(encoder.transform(people), ENCODED)
    fresh = TableEncoder()
    with pytest.raises(InfiniteValueError):
        fresh.fit(bad)
    with pytest.raises(NotFittedError):
        fresh.transform(people)


def test_the_table_stays_as_it_was(people):
    before = people.copy(deep=True)
    TableEncoder().fit_transform(people)
    pd.testing.assert_frame_equal(people, before)
    array = np.array([[1.5, NAN], [2.5, 3.0]])
    array.flags.writeable = False
    TableEncoder().fit_transform(array)


@pytest.mark.parametrize("use", ["transform", "inverse_transform", "unseen", "describe", "get_feature_names_out"])
def test_unfitted(use):
    arguments = () if use in ("describe", "get_feature_names_out") else ([[1.0]],)
    with pytest.raises(NotFittedError, match="This TableEncoder instance is not fitted yet"):
        getattr(TableEncoder(), use)(*arguments)


# Decisions


def test_columns_with_one_value_stay():
    frame = pd.DataFrame({"a": [5.0, 5.0], "b": ["x", "x"], "c": [3, 3], "d": [True, True]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), np.zeros((2, 4)))


def choices():
    return pd.DataFrame(
        {
            "sex": [1, 2] * 6,
            "rooms": [1, 2, 3] * 4,
            "zip": [str(34100 + i) for i in range(12)],
            "id": [f"K{i}" for i in range(12)],
            "row": range(12),
            "signup": [f"2024-05-{day:02}" for day in range(1, 13)],
            "size": np.linspace(0, 1, 12),
        }
    )


CHOICES = """\
Some columns could be read in two ways.
  'sex': whole numbers with 2 distinct values, read as categories
  'rooms': whole numbers with 3 to 10 distinct values, read as numbers
  'zip': texts that are all numbers, read as categories
  'id': texts that differ in nearly every row, read as categories; drop them if they are identifiers
  'row': whole numbers that could be row numbers, read as numbers; drop them if they are identifiers
  'signup': texts that look like dates, read as categories
To convert 'zip', 'signup': X = mixkern.prepare_table(X).X
To choose, name the columns: TableEncoder(continuous=[...], categorical=[...]), given to an estimator as encoder=."""


def test_choices_are_announced_in_one_warning():
    with pytest.warns(ColumnChoiceWarning) as caught:
        encoder = TableEncoder().fit(choices())
    assert [str(warning.message) for warning in caught] == [CHOICES]
    assert encoder.continuous_ == ["rooms", "row", "size"]


def test_a_table_that_was_encoded_before_is_noted():
    """A pipeline of TableEncoder and an estimator would read codes of categories as numbers."""
    frame = pd.DataFrame({"c": list("abcdef") * 10, "v": np.arange(60) / 7})
    step = "If the columns were encoded before, such as by TableEncoder in a pipeline, leave that step out"
    with pytest.warns(ColumnChoiceWarning, match=step):
        TableEncoder().fit(TableEncoder().fit_transform(frame))
    named = pd.DataFrame(TableEncoder().fit_transform(frame), columns=["v", "c"])
    with pytest.warns(ColumnChoiceWarning) as caught:
        TableEncoder().fit(named)
    assert step not in str(caught[0].message)


def test_many_columns_of_a_kind_share_a_line():
    with pytest.warns(ColumnChoiceWarning, match=r"'x0', 'x1', 'x2', 'x3', 'x4' and 3 more: whole numbers with 2 dist"):
        TableEncoder().fit(np.array([[0] * 8, [1] * 8]))


def test_naming_a_column_silences_its_warning():
    with pytest.warns(ColumnChoiceWarning) as caught:
        TableEncoder(categorical=["sex", "zip"], continuous="rooms").fit(choices())
    assert "'id'" in str(caught[0].message)
    assert not any(name in str(caught[0].message) for name in ("'sex'", "'rooms'", "'zip'"))
    named = TableEncoder(categorical=["rooms", 3, "signup"], continuous=["sex", "zip", "row"])
    encoder = named.fit(choices())  # silent
    assert encoder.continuous_ == ["sex", "zip", "row", "size"]
    np.testing.assert_array_equal(encoder.transform(choices())[:3, 4], [0, 1, 2])


@pytest.mark.parametrize(("labels", "key", "expected"), [([10, 20], 20, "20"), ([1, 0], 0, "0"), ([0, 1], 1, "1")])
def test_columns_named_by_integer_labels(labels, key, expected):
    frame = pd.DataFrame([[0.5, 1.5], [2.5, 3.5]], columns=labels)
    assert TableEncoder(categorical=[key]).fit(frame).categorical_ == [expected]


def test_integers_are_positions_in_arrays():
    assert TableEncoder(categorical=[1]).fit(np.array([[0.5, 1.5], [2.5, 3.5]])).categorical_ == ["x1"]


def test_a_gap_in_one_fold_does_not_change_the_reading():
    X = pd.DataFrame({"is_new": [0, 1, 1, None, 0, 1], "rooms": [1, 2, 3, 4, None, 6]})
    for rows in ([0, 1, 2], [3, 4, 5, 0], [0, 1, 2, 3, 4, 5]):
        with pytest.warns(ColumnChoiceWarning):
            encoder = TableEncoder().fit(X.iloc[rows])
        assert (encoder.continuous_, encoder.categorical_) == (["rooms"], ["is_new"])


@pytest.mark.parametrize(
    "use",
    [
        lambda X: TableEncoder().fit(X),
        lambda X: TableEncoder().fit_transform(X),
        lambda X: make_pipeline(TableEncoder()).fit(X),
        lambda X: TableEncoder().fit([["a"], ["b"]]).transform([["c"], ["d"]]),
        lambda X: make_pipeline(TableEncoder()).fit([["a"], ["b"]]).transform([["c"]]),
        lambda X: TableEncoder().fit([[None], [None]]).transform(X),
        lambda X: Parallel(n_jobs=1)([delayed(TableEncoder().fit)(X)]),
        lambda X: cross_validate(make_pipeline(TableEncoder(), GaussianNB()), X * 4, [0, 1] * 4, cv=2, n_jobs=1),
    ],
)
def test_warnings_point_to_the_users_line(use):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use([[0], [1]])
    assert {warning.filename for warning in caught} == {__file__}


# Columns that do not match


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda X: X.rename(columns={"town": "twon"}),
            r"(?s)unseen at fit time:\n- twon\n.*yet now missing:\n- town\n'twon': Did you mean 'town'\?",
        ),
        (
            lambda X: X[["age", *X.columns.drop("age")]],
            (
                r"(?s)same order as they were in fit\.\nColumn 1 of X is 'age', and was '\w+' in fit\.\n"
                r"Put the columns in order: X\[\['\w+', .*'\]\]\.$"
            ),
        ),
        (
            lambda X: X.drop(columns="age"),
            r"(?s)seen at fit time, yet now missing:\n- age\nGive all columns of fit: rename or add the missing .*\.$",
        ),
        (
            lambda X: X.assign(zebra=1.0),
            r"(?s)unseen at fit time:\n- zebra\nSelect the columns in order: X\[\['",
        ),
        (lambda X: X.assign(zebra=[[1]] * 3), r"(?s)unseen at fit time:\n- zebra\nSelect the columns"),
        (lambda X: X.to_numpy()[:, :3], "X has 3 features, but TableEncoder is expecting 6 features as input"),
    ],
)
def test_columns_that_do_not_match(encoder, people, change, message):
    for use in (encoder.transform, encoder.unseen):
        with pytest.raises(ColumnMismatchError, match=message):
            use(change(people))


def test_further_columns_have_no_near_names_where_none_is_missing(encoder, people):
    with pytest.raises(ColumnMismatchError, match="Select the columns in order") as caught:
        encoder.transform(people.assign(stya=1))
    assert "Did you mean" not in str(caught.value)


def test_a_renamed_column_in_polars(encoder):
    with pytest.raises(ColumnMismatchError, match=r"'stya': Did you mean 'stay'\?"):
        encoder.transform(pl.DataFrame(CELLS).rename({"stay": "stya"}))


def test_columns_with_integer_labels_in_another_order():
    frame = pd.DataFrame([[0.5, 1.5], [2.5, 3.5]], columns=[20, 10])
    message = r"order as in fit\. Column 1 of X is '10', and was '20' in fit\. Put them in order: X\[\[20, 10\]\]\.$"
    with pytest.raises(ColumnMismatchError, match=message):
        TableEncoder().fit(frame).transform(frame[[10, 20]])


# Columns that were empty, and categories that were not there


def test_values_in_a_column_that_was_empty(encoder, people):
    message = r"^Values are ignored.*\n  'empty': 2 values\nFit again, with rows that have values in these columns\.$"
    with pytest.warns(IgnoredValuesWarning, match=message):
        encoded = encoder.transform(people.assign(empty=[1.5, None, 2.5]))
    np.testing.assert_allclose(encoded, ENCODED)


@pytest.mark.parametrize("cells", [[1, None, 0], [1.0, NAN, 0.0], ["TRUE", None, "false"]])
def test_booleans_in_other_words(encoder, people, cells):
    np.testing.assert_allclose(encoder.transform(people.assign(is_new=cells)), ENCODED)


def test_unseen_categories(encoder, people):
    later = pd.concat([people] * 3, ignore_index=True)
    later["town"] = ["Passau", None, *["Bonn"] * 4, *["Ulm"] * 2, "Jena"]
    message = (
        r"^7 cells hold categories that were absent at fit time; they are coded as 'other'\.\n"
        r"  'town': 'Bonn' \(4\), 'Ulm' \(2\), 'Jena' \(1\)\nencoder\.unseen\(X\) counts them\.$"
    )
    with pytest.warns(UnseenCategoryWarning, match=message):
        encoded = encoder.transform(later)
    np.testing.assert_array_equal(encoded[:, 4], [1, NAN, *[2] * 7])
    assert encoder.unseen(later) == {"town": {"Bonn": 4, "Ulm": 2, "Jena": 1}}
    assert encoder.unseen(people) == {}


def test_many_unseen_categories_are_counted(encoder, people):
    later = pd.concat([people] * 3, ignore_index=True)
    later["town"] = [None, *(f"T{i}" for i in range(8))]
    later["is_new"] = ["maybe"] * 9
    message = r"^17 cells.*\n  'town': all 8 cells, as in an identifier\n  'is_new': 'maybe' \(9\)\nencoder\.unseen"
    with pytest.warns(UnseenCategoryWarning, match=message):
        encoder.transform(later)


@pytest.mark.parametrize("cell", [1.5, NOON, dt.time(1), True, 10**400, "-", "none"], ids=type)
def test_whatever_comes_instead_of_a_category_is_another_category(cell):
    encoder = TableEncoder().fit([["a"], ["b"]])
    with pytest.warns(UnseenCategoryWarning):
        assert encoder.transform([[cell]])[0, 0] == 2
    assert list(encoder.unseen([[cell]])["x0"].values()) == [1]


@pytest.mark.parametrize("cell", ["?", "", " NA ", "nan"])
def test_a_word_for_a_gap_is_a_gap_unless_it_was_a_category(cell):
    encoder = TableEncoder().fit([["a"], ["b"]])
    assert np.isnan(encoder.transform([[cell]])[0, 0])
    assert encoder.unseen([[cell]]) == {}
    encoder = TableEncoder().fit([["a"], [cell]])
    assert sorted(encoder.transform([["a"], [cell]])[:, 0]) == [0, 1]


def test_texts_in_a_column_that_is_named_continuous_are_read_by_the_grammar_of_files():
    table = pd.DataFrame(
        {
            "rate": ["12,5 %", "?", "7 %", "1 %"],
            "paid": ["$1,200.50", "$3", "", "-$1"],
            "day": ["01/02/2024", "31/12/2024", None, "NA"],
        }
    )
    encoder = TableEncoder(continuous=["rate", "paid", "day"]).fit(table)
    assert encoder.describe()["kind"].tolist() == ["text", "text", "date"]
    back = encoder.inverse_transform(encoder.transform(table))
    np.testing.assert_allclose(back["rate"], [12.5, NAN, 7, 1])
    np.testing.assert_allclose(back["paid"], [1200.5, 3, NAN, -1])
    assert back["day"].tolist() == [pd.Timestamp("2024-02-01"), pd.Timestamp("2024-12-31"), pd.NaT, pd.NaT]
    later = pd.DataFrame({"rate": ["1,234 %"], "paid": ["5"], "day": ["03/04/2024"]})  # each could be read otherwise
    back = encoder.inverse_transform(encoder.transform(later))
    np.testing.assert_allclose(back[["rate", "paid"]], [[1.234, 5]])
    assert back["day"].astype(str).tolist() == ["2024-04-03"]
    with pytest.raises(NotNumericError, match=r"'paid' is a column of numbers, but row 1 .* holds '5 EUR'"):
        encoder.transform(later.assign(paid="5 EUR"))
    with pytest.raises(CellTypeError, match=r"'day' is a column of dates, but row 1 .* holds '04/30/2024'"):
        encoder.transform(later.assign(day="04/30/2024"))


# Bad input at the door; the texts are tested where they are made


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[1.0], [np.inf]], InfiniteValueError, "'x0' holds 1 infinite value, the first in row 2"),
        (pl.DataFrame({"a": [-np.inf]}), InfiniteValueError, "'a' holds 1 infinite"),
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            ColumnNameError,
            "must be unique, but more than one column has the name 'a'",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), ColumnNameError, r"these are not: 1\."),
        (pd.DataFrame({"a": []}), EmptyTableError, r"0 sample\(s\)"),
        (pd.DataFrame(index=[0]), EmptyTableError, r"0 feature\(s\)"),
        ([1.0, 2.0], NotATableError, "two dimensions"),
        (sparse.eye(3), NotATableError, r"X\.toarray\(\)"),
        (pl.LazyFrame({"a": [1]}), NotATableError, r"X\.collect\(\)"),
        ([[1, 2], [3]], NotATableError, "first row has 2"),
        (np.array([[1j]]), CellTypeError, "Complex data not supported"),
        ([[b"a"]], CellTypeError, "holds bytes"),
        (pd.DataFrame({"a": [[1]]}), CellTypeError, "holds a list"),
        (
            [*([str(i)] for i in range(11)), ["?"]],
            NotNumericError,
            r"Not a number: '\?'",
        ),
        ([[1e308], [-1e308], [0.0]], TooLargeError, r"numbers up to 1e\+308"),
        ([[10**400], [1], [2]], TooLargeError, "beyond 1.8e308 in row 1"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_bad_input(X, error, message):
    with pytest.raises(error, match=message) as caught:
        TableEncoder().fit(X)
    assert isinstance(caught.value, (TableError, ValueError))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([["high"], [1.0]], NotNumericError, "'x0' is a column of numbers, but row 1 .* holds 'high'"),
        ([[NOON]], CellTypeError, "fitted as number, but is date"),
        ([[np.inf]], InfiniteValueError, "infinite"),
        ([[10**400]], TooLargeError, "beyond 1.8e308"),
        ([1.0], NotATableError, "two dimensions"),
        (np.zeros((0, 1)), EmptyTableError, r"0 sample\(s\)"),
    ],
)
def test_bad_input_later(X, error, message):
    encoder = TableEncoder().fit([[1.0], [2.5]])
    with pytest.raises(error, match=message):
        encoder.transform(X)


def test_texts_that_the_user_calls_numbers():
    encoder = TableEncoder(continuous=0)
    np.testing.assert_array_equal(encoder.fit_transform([["1"], ["3"], ["nan"]]), [[-1], [1], [NAN]])
    with pytest.raises(NotNumericError, match=r"row 2 .* holds 'three'"):
        encoder.fit([["1"], ["three"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"continuous": "agge"}, r"has no column 'agge'.* Did you mean 'age'\?"),
        ({"categorical": 6}, "a position from 0 to 5"),
        ({"continuous": "age", "categorical": 1}, "Column 'age' is named as continuous and as"),
    ],
)
def test_overrides_that_make_no_sense(people, options, message):
    with pytest.raises(UnknownColumnError, match=message):
        TableEncoder(**options).fit(people)


def test_a_duration_without_length_is_refused():
    cells = pd.Series([np.timedelta64(1, "Y"), np.timedelta64(2, "D")], dtype=object)
    with pytest.raises(CellTypeError, match=r"Cells of timedelta64\[Y\] have no length in days"):
        TableEncoder().fit(pd.DataFrame({"a": cells}))


@pytest.mark.parametrize("other", ["a", decimal.Decimal(1)])
def test_a_signalling_nan_is_a_gap(other):
    cells = pd.Series([decimal.Decimal("sNaN"), other], dtype=object)
    encoded = TableEncoder().fit_transform(pd.DataFrame({"a": cells}))
    np.testing.assert_array_equal(np.isnan(encoded[:, 0]), [True, False])


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, pd.DataFrame, lambda X: X.astype(np.float32)])
def test_many_rows_are_encoded_in_blocks(make):
    """By several threads, without changing the table; the error of one value is that of a small table."""
    random = np.random.RandomState(0)
    n = (MANY_BLOCKS + 1) * BLOCK + 7
    X = random.standard_normal((n, 3)) * [1.0, 1e-3, 1e3] + [0.0, 5.0, -1e6]
    X[random.uniform(size=X.shape) < 0.1] = NAN
    table = make(X)
    encoder = TableEncoder().fit(make(X[:1000]))
    before = np.array(table)
    found = encoder.transform(table)
    np.testing.assert_array_equal(np.array(table), before)
    some = np.r_[0:5, BLOCK - 3 : BLOCK + 3, n - 5 : n]
    np.testing.assert_array_equal(found[some], encoder.transform(make(before[some])))
    for value, message in ((np.inf, f"1 infinite value, the first in row {n - 1} "), (1e200, "too large|infinite")):
        X[n - 2, 1] = value
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
            encoder.transform(make(X))
