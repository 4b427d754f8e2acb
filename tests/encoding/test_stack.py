"""Two tables of the same columns, one below the other."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mixkern.encoding import stacked
from mixkern.errors import ColumnMismatchError, EmptyTableError, NotATableError

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
each_library = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def cells(table):
    return [list(row) for row in (table.to_numpy() if hasattr(table, "to_numpy") else table).tolist()]


def test_arrays():
    X = stacked(np.arange(4.0).reshape(2, 2), np.array([[9.0, np.nan]]))
    np.testing.assert_array_equal(X, [[0, 1], [2, 3], [9, np.nan]])
    assert X.dtype == float
    assert stacked(np.zeros((2, 1), dtype=np.int8), np.ones((1, 1))).dtype == float


def test_texts_beside_numbers_keep_their_types():
    X = stacked(np.array([[1, "a"], [2.5, None]], dtype=object), [[3, "b"]])
    assert X.dtype == object
    assert X.tolist() == [[1, "a"], [2.5, None], [3, "b"]]
    numbers = stacked(np.zeros((1, 2)), np.array([["a", 1]], dtype=object))
    assert numbers.tolist() == [[0.0, 0.0], ["a", 1]]


@each_library
def test_frames_keep_names_types_and_rows(frame):
    a, b = frame({"n": [1, 2], "t": ["u", None]}), frame({"n": [3], "t": ["v"]})
    X = stacked(a, b)
    assert type(X) is frame
    assert list(X.columns) == ["n", "t"]
    assert X["n"].to_list() == [1, 2, 3]
    assert X["t"].to_list()[0::2] == ["u", "v"]
    assert str(X["n"].dtype).lower() == "int64"
    assert X.shape == (3, 2)


def test_what_was_given_stays_as_it_was():
    a, b = pd.DataFrame({"n": [1, 2]}, index=["p", "q"]), pd.DataFrame({"n": [5]}, index=["p"])
    X = stacked(a, b)
    X.iloc[0, 0] = 77
    assert (a["n"].tolist(), b["n"].tolist()) == ([1, 2], [5])


def test_categories_of_pandas_meet():
    a, b = (pd.DataFrame({"c": pd.Categorical(values)}) for values in (["u", "v"], ["w"]))
    assert stacked(a, b)["c"].tolist() == ["u", "v", "w"]


@pytest.mark.parametrize(
    ("X", "more", "message"),
    [
        (np.zeros((2, 3)), np.zeros((1, 2)), r"X has 3 columns, but the further rows have 2\. They must have the same"),
        (
            pd.DataFrame({"a": [1]}),
            np.zeros((1, 1)),
            r"X is a DataFrame of pandas, but the further rows are a ndarray of numpy\. Give both",
        ),
        (
            np.zeros((1, 1)),
            pl.DataFrame({"a": [1]}),
            "X is a ndarray of numpy, but the further rows are a DataFrame of polars",
        ),
        (
            pd.DataFrame({"age": [1], "b": [2]}),
            pd.DataFrame({"aeg": [1], "b": [2]}),
            r"must have the columns of X, but: 'age' missing and 'aeg' not in X\. Did you mean 'age'\?",
        ),
        (pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [1]}), r"columns of X, but: 'b' missing\.$"),
        (pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1], "z": [1]}), r"columns of X, but: 'z' not in X\.$"),
        (
            pl.DataFrame({"a": [1], "b": [2]}),
            pl.DataFrame({"b": [1], "a": [2]}),
            r"the columns of X in another order\. Order them: more\[X\.columns\]",
        ),
        (
            pl.DataFrame({"a": [1]}),
            pl.DataFrame({"a": ["x"]}),
            r"(?s)columns of other types than X \(.*\)\. Convert them to the types of X",
        ),
    ],
)
def test_what_does_not_fit_is_explained(X, more, message):
    with pytest.raises(ColumnMismatchError, match=message):
        stacked(X, more)


def test_two_libraries_are_refused():
    with pytest.raises(ColumnMismatchError, match="Give both as frames of the same library"):
        stacked(pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}))


def test_two_libraries_are_named():
    with pytest.raises(ColumnMismatchError, match=r"pandas.*polars"):
        stacked(pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}))


def test_what_is_no_table():
    with pytest.raises(NotATableError, match="two dimensions"):
        stacked(np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(EmptyTableError):
        stacked(np.zeros((2, 2)), np.zeros((0, 2)))
