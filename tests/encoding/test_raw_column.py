import datetime as dt
import decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern.encoding.cell import Kind
from mixkern.encoding.raw_column import Coded, RawColumn, raw_columns
from mixkern.errors import (
    CellTypeError,
    NotNumericError,
    TooLargeError,
)

NAN = np.nan


NOON = dt.datetime(2020, 1, 1, 12)


GAPS = [None, NAN, pd.NA, pd.NaT, np.datetime64("NaT"), decimal.Decimal("NaN")]


def only(X):
    (column,) = raw_columns(X)
    return column


def arrow_backed(cells, arrow_type):
    return pd.DataFrame({"x0": pd.Series(cells, dtype=pd.ArrowDtype(arrow_type))})


# Which cells give which kind, from whichever library

PANDAS_COLUMNS = [
    (pd.Series([1.5, NAN]), Kind.NUMBER, [1.5, NAN]),
    (pd.Series([1.5, None], dtype="float32"), Kind.NUMBER, [1.5, NAN]),
    (pd.Series([1, 2], dtype="uint8"), Kind.INTEGER, [1, 2]),
    (pd.Series([1, None], dtype="Int64"), Kind.INTEGER, [1, NAN]),
    (pd.Series([None, None], dtype="Int64"), Kind.INTEGER, [NAN, NAN]),
    (pd.Series([2**60, None], dtype="int64[pyarrow]"), Kind.INTEGER, [2.0**60, NAN]),
    (pd.Series([1.5, None], dtype="Float64"), Kind.NUMBER, [1.5, NAN]),
    (pd.Series([True, None], dtype="boolean"), Kind.BOOLEAN, [1, NAN]),
    (pd.Series([True, False]), Kind.BOOLEAN, [1, 0]),
    (pd.Series([True, None], dtype=object), Kind.BOOLEAN, [1, NAN]),
    (pd.Series([1, None], dtype=object), Kind.INTEGER, [1, NAN]),
    (pd.Series([1, 2.5, None], dtype=object), Kind.NUMBER, [1, 2.5, NAN]),
    (pd.Series([decimal.Decimal("1.5"), None], dtype=object), Kind.NUMBER, [1.5, NAN]),
    (pd.Series([NOON, None]), Kind.DATE, [18262.5, NAN]),
    (pd.Series([NOON, None]).astype("datetime64[s]"), Kind.DATE, [18262.5, NAN]),
    (pd.Series([NOON, None]).astype("datetime64[ns]"), Kind.DATE, [18262.5, NAN]),
    (pd.Series([NOON, None]).dt.tz_localize("Asia/Tokyo"), Kind.DATE, [18262.125, NAN]),
    (pd.Series([dt.date(2020, 1, 1), None], dtype=object), Kind.DATE, [18262, NAN]),
    (pd.Series([pd.Timestamp(NOON), pd.NaT], dtype=object), Kind.DATE, [18262.5, NAN]),
    (pd.Series([dt.timedelta(hours=6), None]), Kind.DURATION, [0.25, NAN]),
    (pd.Series([dt.time(6), None], dtype=object), Kind.DURATION, [0.25, NAN]),
    (pd.Series(GAPS, dtype=object), Kind.EMPTY, [NAN] * len(GAPS)),
    (pd.Series([None, None], dtype="category"), Kind.EMPTY, [NAN, NAN]),
    (pd.Series([None, None], dtype="string"), Kind.EMPTY, [NAN, NAN]),
    (pd.Series([2, 1, None], dtype="category"), Kind.CATEGORY, [2, 1, NAN]),
    (pd.Series(["1", "2.5", None]), Kind.TEXT, [1, 2.5, NAN]),
    (pd.Series(["1", "nan", pd.NA], dtype="string"), Kind.TEXT, [1, NAN, NAN]),
    (pd.Series(pd.arrays.SparseArray([0.0, 1.0, NAN])), Kind.NUMBER, [0, 1, NAN]),
]


@pytest.mark.parametrize(
    ("series", "kind", "numbers"), PANDAS_COLUMNS, ids=lambda value: str(getattr(value, "dtype", ""))
)
def test_pandas_column(series, kind, numbers):
    column = only(pd.DataFrame({"x0": series}))
    assert column.kind is kind
    np.testing.assert_array_equal(column.numbers(), numbers)


@pytest.mark.parametrize(
    ("cells", "arrow_type", "kind", "numbers"),
    [
        ([1, None], pa.int64(), Kind.INTEGER, [1, NAN]),
        ([1.5, None], pa.float32(), Kind.NUMBER, [1.5, NAN]),
        ([decimal.Decimal("1.5"), None], pa.decimal128(5, 2), Kind.NUMBER, [1.5, NAN]),
        ([True, None], pa.bool_(), Kind.BOOLEAN, [1, NAN]),
        (["1", None], pa.string(), Kind.TEXT, [1, NAN]),
        (["1", None], pa.dictionary(pa.int8(), pa.string()), Kind.CATEGORY, [1, NAN]),
        ([dt.date(2020, 1, 1), None], pa.date32(), Kind.DATE, [18262, NAN]),
        ([NOON, None], pa.timestamp("ns"), Kind.DATE, [18262.5, NAN]),
        ([dt.timedelta(hours=6), None], pa.duration("ms"), Kind.DURATION, [0.25, NAN]),
        ([dt.time(6), None], pa.time64("us"), Kind.DURATION, [0.25, NAN]),
    ],
    ids=str,
)
@pytest.mark.parametrize("through", ["pandas", "arrow", "polars"])
def test_arrow_column(cells, arrow_type, kind, numbers, through):
    table = pa.table({"x0": pa.array(cells).cast(arrow_type)})
    frames = {"pandas": lambda: arrow_backed(cells, arrow_type), "arrow": lambda: table}
    column = only(frames.get(through, lambda: pl.from_arrow(table))())
    assert column.kind is kind
    np.testing.assert_array_equal(column.numbers(), numbers)


@pytest.mark.parametrize(
    ("series", "kind", "numbers"),
    [
        (pl.Series([1, None]), Kind.INTEGER, [1, NAN]),
        (pl.Series([2**100, None], dtype=pl.Int128), Kind.INTEGER, [2.0**100, NAN]),
        (pl.Series([1.5, None, NAN]), Kind.NUMBER, [1.5, NAN, NAN]),
        (pl.Series([True, None]), Kind.BOOLEAN, [1, NAN]),
        (pl.Series(["1", None]), Kind.TEXT, [1, NAN]),
        (pl.Series(["1", None], dtype=pl.Categorical), Kind.CATEGORY, [1, NAN]),
        (pl.Series(["1", None], dtype=pl.Enum(["1"])), Kind.CATEGORY, [1, NAN]),
        (pl.Series([dt.date(2020, 1, 1), None]), Kind.DATE, [18262, NAN]),
        (pl.Series([NOON, None], dtype=pl.Datetime("ms")), Kind.DATE, [18262.5, NAN]),
        (pl.Series([NOON]).dt.replace_time_zone("Asia/Tokyo"), Kind.DATE, [18262.125]),
        (pl.Series([2**30], dtype=pl.Int32).cast(pl.Date), Kind.DATE, [2.0**30]),  # the year 2,941,775
        (pl.Series([dt.timedelta(hours=6), None]), Kind.DURATION, [0.25, NAN]),
        (pl.Series([dt.time(6), None]), Kind.DURATION, [0.25, NAN]),
        (pl.Series([None, None]), Kind.EMPTY, [NAN, NAN]),
        (pl.Series([None, None], dtype=pl.String), Kind.EMPTY, [NAN, NAN]),
        (pl.Series([1, None], dtype=pl.Object), Kind.INTEGER, [1, NAN]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_polars_column(series, kind, numbers):
    column = only(series.rename("x0").to_frame())
    assert column.kind is kind
    np.testing.assert_array_equal(column.numbers(), numbers)


def dates(unit, *days):
    return np.array([[day] for day in days], dtype=f"datetime64[{unit}]")


ARRAYS = [
    (np.array([[1.5], [NAN]], dtype="float16"), Kind.NUMBER, [1.5, NAN]),
    (np.array([[1], [2]], dtype="int8"), Kind.INTEGER, [1, 2]),
    (np.array([[2**64 - 1]], dtype="uint64"), Kind.INTEGER, [2.0**64]),
    (np.array([[True], [False]]), Kind.BOOLEAN, [1, 0]),
    (np.array([["1"], ["2"]]), Kind.TEXT, [1, 2]),
    (np.array([["1"], ["2"]], dtype=np.dtypes.StringDType()), Kind.TEXT, [1, 2]),
    (np.array([[1], [None], [2.5]], dtype=object), Kind.NUMBER, [1, NAN, 2.5]),
    (np.array([[True], [2]], dtype=object), Kind.INTEGER, [1, 2]),
    (np.array([["1"], [2]], dtype=object), Kind.TEXT, [1, 2]),
    (dates("D", "2020-01-01", "NaT"), Kind.DATE, [18262, NAN]),
    (dates("ns", "2020-01-01", "NaT"), Kind.DATE, [18262, NAN]),
    (dates("s", "-100-01-01", "300000-01-01"), Kind.DATE, [-756052, 108853222]),  # beyond what Python's dates hold
    (dates("D", "2020-01-01").astype(object), Kind.DATE, [18262]),
    (np.array([[36], ["NaT"]], dtype="timedelta64[h]"), Kind.DURATION, [1.5, NAN]),
    (np.array([[np.timedelta64(36, "h")], [dt.time(12)]], dtype=object), Kind.DURATION, [1.5, 0.5]),
    (np.array([[np.datetime64("2020-01-01")], [NOON]], dtype=object), Kind.DATE, [18262, 18262.5]),
    (np.ma.masked_array([[1.5], [9.0]], mask=[[0], [1]]), Kind.NUMBER, [1.5, NAN]),
    (np.ma.masked_array([[1], [9]], mask=[[0], [1]]), Kind.INTEGER, [1, NAN]),
    (np.ma.masked_array([[1], [9]]), Kind.INTEGER, [1, 9]),
    (np.ma.masked_array([["1"], ["x"]], mask=[[0], [1]]), Kind.TEXT, [1, NAN]),
    (np.ma.masked_array(dates("ns", "2020-01-01", "2020-01-02"), mask=[[0], [1]]), Kind.DATE, [18262, NAN]),
    (np.ma.masked_array(dates("s", "2020-01-01"), mask=[[1]]), Kind.DATE, [NAN]),
    (np.ndarray.view(np.array([[1.5], [2.5]]), np.matrix), Kind.NUMBER, [1.5, 2.5]),  # np.matrix() itself warns
    ([[1], [2]], Kind.INTEGER, [1, 2]),
    (((1,), (2.5,)), Kind.NUMBER, [1, 2.5]),
    ([np.array([1.0]), np.array([2.0])], Kind.NUMBER, [1, 2]),
    ([["1"], [None]], Kind.TEXT, [1, NAN]),
    ([[dt.date(2020, 1, 1)], [NOON]], Kind.DATE, [18262, 18262.5]),
]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("array", "kind", "numbers"), ARRAYS, ids=[str(getattr(a, "dtype", "list")) for a, *_ in ARRAYS]
)
def test_array_column(array, kind, numbers):
    column = only(array)
    assert (column.name, column.kind) == ("x0", kind)
    np.testing.assert_array_equal(column.numbers(), numbers)


def test_reading_leaves_a_masked_array_as_it_was():
    masked = np.ma.masked_array([[1.5], [9.0]], mask=[[0], [1]])
    raw_columns(masked)
    np.testing.assert_array_equal(masked.data, [[1.5], [9.0]])


def test_names_come_from_the_frame_or_from_positions():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["", "größe"])
    assert [column.name for column in raw_columns(frame)] == ["", "größe"]
    assert [column.name for column in raw_columns(pl.from_pandas(frame))] == ["", "größe"]
    assert [column.name for column in raw_columns(nw.from_native(frame))] == ["", "größe"]
    assert [column.name for column in raw_columns(pd.DataFrame([[1.0, 2.0]]))] == ["0", "1"]
    assert [column.name for column in raw_columns([[1.0, 2.0]])] == ["x0", "x1"]


def test_levels_of_column_names_are_kept_apart():
    levels = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    names = [column.name for column in raw_columns(pd.DataFrame([[1.0, 2.0]], columns=levels))]
    assert names == ["('a', 'b')", "('a', 'c')"]


# Texts


@pytest.mark.parametrize(
    ("X", "texts"),
    [
        ([[3], [3.0], [None], [0.5]], ["3", "3", None, "0.5"]),
        (np.array([[3.0], [NAN], [3.0], [-0.0]]), ["3", None, "3", "0"]),
        (pd.DataFrame({"a": [3, 5]}), ["3", "5"]),
        (pd.DataFrame({"a": pd.array([3, None], "Int64")}), ["3", None]),
        (pd.DataFrame({"a": [2**60 + 1, 2**60]}), [str(2**60 + 1), str(2**60)]),
        (pd.DataFrame({"a": pd.Series([decimal.Decimal("1.0"), decimal.Decimal(1)])}), ["1", "1"]),
        (pd.DataFrame({"a": [True, False]}), ["True", "False"]),
        (pl.DataFrame({"a": [True, None]}), ["True", None]),
        (pd.DataFrame({"a": pd.Categorical([dt.date(2020, 1, 1), None])}), ["2020-01-01", None]),
        (pd.DataFrame({"a": pd.Series([NOON, None])}), ["2020-01-01T12:00:00.000000", None]),
        (pd.DataFrame({"a": pd.cut([1, 3], [0, 2, 4])}), ["(0, 2]", "(2, 4]"]),
        (pd.DataFrame({"a": [dt.timedelta(hours=12), None]}), ["0.5", None]),
        ([[dt.timedelta(hours=12)], [dt.time(6)]], ["0.5", "0.25"]),
        ([["nan"], [""], [" a"]], ["nan", "", " a"]),
    ],
)
def test_texts(X, texts):
    assert only(X).texts() == texts


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([[1j]]), r"X is an array of complex128\. Complex data not supported.*X\.astype\(str\)\.$"),
        (np.array([[b"a"]]), r"X is an array of \|S1\..*bytes"),
        (
            [[1j]],
            r"Column 'x0' holds a cell of type complex in row 1 .*\..* Convert them: X\[:, 0\]\.astype\(str\), or drop",
        ),
        ([["a"], [b"a"]], "Column 'x0' holds bytes in row 2"),
        (
            pd.DataFrame({"a": [None, [1, 2]]}),
            r"'a' holds a list in row 2 .*\. Expected .* Convert them: X\['a'\]\.astype\(str\), or drop",
        ),
        (pd.DataFrame({"a": [{"b": 1}]}), "Column 'a' holds a record in row 1"),
        (pd.DataFrame({"a": [1, np.array([1, 2])]}), "Column 'a' holds a list in row 2"),
        (pd.DataFrame({"a": [1, object(), 2, [3]]}), "Column 'a' holds a cell of type object in row 2"),
        (pd.DataFrame({"a": pd.period_range("2020", periods=1, freq="D")}), "Column 'a' holds a cell of type Period"),
        (pl.DataFrame({"a": [[1]]}), "Column 'a' holds a list"),
        (pl.DataFrame({"a": [{"b": 1}]}), "Column 'a' holds a record"),
        (pl.DataFrame({"a": [b"1"]}), "Column 'a' holds bytes"),
        (np.array([[1]], dtype="timedelta64[Y]"), r"Cells of timedelta64\[Y\] have no length in days"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_cells_of_a_strange_type(X, message):
    with pytest.raises(CellTypeError, match=message):
        raw_columns(X)


def test_text_that_is_not_a_number():
    column = RawColumn("a", Kind.TEXT, Coded.of_cells(["1", "one", None, "two"]), "X['a']")
    message = (
        r"'a' is a column of numbers, but row 2 .* holds 'one' \(and 1 more row like it\)\. Correct these cells, or "
        r"make gaps of them: X\['a'\] = pd\.to_numeric\(X\['a'\], errors='coerce'\)\. Or read .*categorical=\['a'\]"
    )
    with pytest.raises(NotNumericError, match=message):
        column.numbers()


def test_dates_where_numbers_should_be():
    column = RawColumn("a", Kind.TEXT, Coded.of_cells(["2024-05-01", None, "2024-05-02"]), "X['a']")
    message = (
        r"row 1 .* holds '2024-05-01' .* look like dates: X\['a'\] = pd\.to_datetime\(X\['a'\]\)\. Or read .*categor"
    )
    with pytest.raises(NotNumericError, match=message):
        column.numbers()


def test_long_cells_are_cut_in_messages():
    with pytest.raises(NotNumericError, match=r"holds 'a{39}…'"):
        RawColumn("a", Kind.TEXT, Coded.of_cells(["a" * 1000])).numbers()


def test_the_python_expression_of_a_column():
    levels = pd.MultiIndex.from_tuples([("a", "b")])
    assert only([["a"]]).place == "X[:, 0]"
    assert only(pd.DataFrame({"it's": [1]})).place == 'X["it\'s"]'
    assert only(pd.DataFrame({7: [1]})).place == "X[7]"
    assert only(pd.DataFrame([["a"]], columns=levels)).place == "X[('a', 'b')]"
    assert only(pl.DataFrame({"a": [NOON]})).place == "X['a']"


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.CATEGORY, Kind.TEXT])
def test_integers_that_no_float_can_hold(kind):
    with pytest.raises(TooLargeError, match=r"Column 'a' holds a number beyond 1.8e308 in row 2 .*, too large"):
        RawColumn("a", kind, Coded.of_cells([1, -(10**400)])).numbers()


def test_infinite_cells_are_not_taken_for_large_ones():
    column = RawColumn("a", Kind.NUMBER, Coded.of_cells([1, float("inf"), decimal.Decimal("-Infinity")]))
    np.testing.assert_array_equal(column.numbers(), [1, np.inf, -np.inf])


def test_a_column_name_with_a_nul():
    (column,) = raw_columns(pl.DataFrame({"a\0b": ["x", None, "y"]}))
    assert (column.name, column.texts()) == ("a\0b", ["x", None, "y"])
