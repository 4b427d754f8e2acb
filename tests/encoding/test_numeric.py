import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import VBMixture
from mixkern.encoding.numeric import encoded_rows, numeric_rows
from mixkern.errors import ColumnMismatchError, ColumnNameError, ColumnNamesWarning, InfiniteValueError, NotEncodedError


@pytest.mark.parametrize(
    "table",
    [
        np.array([[1.0, np.nan], [3.0, 4.0]]),
        [[1, None], [3, 4]],
        [["1", None], [3, "4.0"]],
        np.array([[1, pd.NA], [3, 4]], dtype=object),
        np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], [[False, True], [False, False]]),
        pd.DataFrame({"a": [1, 3], "b": pd.array([None, 4], dtype="Int64")}),
        pl.DataFrame({"a": [1, 3], "b": [None, 4]}, schema={"a": pl.Int128, "b": pl.Float32}),
    ],
    ids=["array", "list", "texts", "objects", "masked", "pandas", "polars"],
)
def test_numbers(table):
    np.testing.assert_array_equal(numeric_rows(VBMixture(), table, reset=True), [[1.0, np.nan], [3.0, 4.0]])


def test_arrays_are_not_copied():
    rows = np.zeros((3, 2))
    assert numeric_rows(VBMixture(), rows, reset=True) is rows
    assert numeric_rows(VBMixture(), np.asfortranarray(rows), reset=True, order="C").flags.c_contiguous


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (
            [[1.0], ["high"]],
            NotEncodedError,
            r"'x0' is a column of numbers, but row 2 .* holds 'high'\. The cells of",
        ),
        (np.array([["2020"]], dtype="datetime64[D]"), NotEncodedError, r"^Column 'x0' holds dates\. The cells of this"),
        (pl.DataFrame({"d": [1]}).select(pl.duration(days="d")), NotEncodedError, "holds durations"),
        (pd.DataFrame({"d": ["1", "2"]}, dtype="category"), NotEncodedError, r"^Column 'd' holds categories\."),
        (pl.DataFrame({"d": ["1"]}, schema={"d": pl.Categorical}), NotEncodedError, "holds categories"),
        ([[{"a": 1}]], NotEncodedError, r"holds a record in row 1 .*\. The cells .* string .*fit_transform\(X\)\.$"),
        ([[1.0], [-np.inf]], InfiniteValueError, r"^X contains infinity: column 'x0' holds 1 infinite value, .* row 2"),
    ],
)
def test_what_are_no_numbers(table, error, message):
    with pytest.raises(error, match=message):
        numeric_rows(VBMixture(), table, reset=True)


def test_columns_are_compared():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    named, plain = VBMixture(random_state=0).fit(frame), VBMixture(random_state=0).fit(frame.to_numpy())
    with pytest.warns(ColumnNamesWarning, match="X does not have valid feature names, but VBMixture was fitted with"):
        named.score_samples(frame.to_numpy())
    with pytest.warns(ColumnNamesWarning, match="X has feature names, but VBMixture was fitted without feature names"):
        plain.score_samples(frame)
    with pytest.raises(ColumnMismatchError, match=r"Put the columns in order: X\[\['a', 'b'\]\]\.$"):
        named.score_samples(frame[["b", "a"]])
    with pytest.raises(ColumnMismatchError, match="X has 1 features, but VBMixture is expecting 2 features as input"):
        named.score_samples([[1.0]])


NAMES = ["age", "town"]
TWO_ROWS = np.array([[0.5, 1.0], [np.nan, 0.0]])
FRAME = pd.DataFrame(TWO_ROWS, columns=NAMES, index=["x", "y"])


@pytest.mark.parametrize(
    "X",
    [
        TWO_ROWS,
        TWO_ROWS.tolist(),
        FRAME,
        FRAME[["town", "age"]],
        FRAME.astype("Float64"),
        pl.DataFrame(TWO_ROWS, schema=NAMES),
        pl.DataFrame({"town": [1, 0], "age": [0.5, None]}),
        pa.table({"town": [1, 0], "age": [0.5, None]}),
        pd.DataFrame(TWO_ROWS),
    ],
    ids=type,
)
def test_same_rows_whatever_they_come_in(X):
    np.testing.assert_array_equal(encoded_rows(X, NAMES)[0], TWO_ROWS)


def test_the_index_of_pandas_is_kept():
    assert encoded_rows(FRAME, NAMES)[1].tolist() == ["x", "y"]
    assert encoded_rows(TWO_ROWS, NAMES)[1] is None
    assert encoded_rows(pl.DataFrame(TWO_ROWS, schema=NAMES), NAMES)[1] is None


def test_numbered_columns_are_positions_even_where_numbers_are_names():
    np.testing.assert_array_equal(encoded_rows(pd.DataFrame(TWO_ROWS), ["1", "0"])[0], TWO_ROWS)
    np.testing.assert_array_equal(
        encoded_rows(pd.DataFrame(TWO_ROWS, columns=["0", "1"]), ["1", "0"])[0], TWO_ROWS[:, ::-1]
    )


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(TWO_ROWS, schema=NAMES)], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["age", "city"], r"but 'city' is missing and 'town' is not among them\. Encode the table first: encoder\."),
        (["age", "town", "rooms", "zip"], "but 'rooms', 'zip' are missing"),
        (["age"], "but 'town' is not among them"),
    ],
)
def test_other_columns(frame, names, message):
    with pytest.raises(ColumnMismatchError, match=r"columns of the encoded table, " + message):
        encoded_rows(frame, names)


@pytest.mark.parametrize(
    ("X", "shape"), [([[1.0]], r"\(1, 1\)"), ([1.0] * 2, r"\(2,\)"), (pd.DataFrame([[1.0]]), r"\(1, 1\)")]
)
def test_the_wrong_shape(X, shape):
    with pytest.raises(ColumnMismatchError, match=rf"Expected encoded rows of 2 columns, but X has shape {shape}\."):
        encoded_rows(X, NAMES)


def test_duplicate_names():
    with pytest.raises(ColumnNameError, match="more than one column has the name 'age'"):
        encoded_rows(pd.DataFrame(TWO_ROWS, columns=["age", "age"]), NAMES)
