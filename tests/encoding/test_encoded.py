import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern.encoding.encoded import encoded_rows
from mixkern.errors import ColumnMismatchError, ColumnNameError

NAN = np.nan
NAMES = ["age", "town"]
ROWS = np.array([[0.5, 1.0], [NAN, 0.0]])
FRAME = pd.DataFrame(ROWS, columns=NAMES, index=["x", "y"])


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        ROWS.tolist(),
        FRAME,
        FRAME[["town", "age"]],
        FRAME.astype("Float64"),
        pl.DataFrame(ROWS, schema=NAMES),
        pl.DataFrame({"town": [1, 0], "age": [0.5, None]}),
        pa.table({"town": [1, 0], "age": [0.5, None]}),
        pd.DataFrame(ROWS),
    ],
    ids=type,
)
def test_same_rows_whatever_they_come_in(X):
    np.testing.assert_array_equal(encoded_rows(X, NAMES)[0], ROWS)


def test_the_index_of_pandas_is_kept():
    assert encoded_rows(FRAME, NAMES)[1].tolist() == ["x", "y"]
    assert encoded_rows(ROWS, NAMES)[1] is None
    assert encoded_rows(pl.DataFrame(ROWS, schema=NAMES), NAMES)[1] is None


def test_numbered_columns_are_positions_even_where_numbers_are_names():
    np.testing.assert_array_equal(encoded_rows(pd.DataFrame(ROWS), ["1", "0"])[0], ROWS)
    np.testing.assert_array_equal(encoded_rows(pd.DataFrame(ROWS, columns=["0", "1"]), ["1", "0"])[0], ROWS[:, ::-1])


@pytest.mark.parametrize("frame", [FRAME, pl.DataFrame(ROWS, schema=NAMES)], ids=["pandas", "polars"])
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
        encoded_rows(pd.DataFrame(ROWS, columns=["age", "age"]), NAMES)
