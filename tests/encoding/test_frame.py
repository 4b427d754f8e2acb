from pathlib import PurePosixPath

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from mixkern import MixtureSVC
from mixkern.encoding.frame import column_labels, frame_kind, opened
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import (
    ColumnNameError,
    EmptyTableError,
    NotATableError,
)


class Unreadable:
    """An array-like that has no array, such as a tensor of PyTorch with gradients."""

    def __array__(self, *_, **__):
        raise RuntimeError("it requires grad.")


class OnlyStream:
    """A table of an unknown library."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


# What is refused


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (sparse.csr_matrix([[1.0]]), r"sparse matrix, but mixkern needs a dense table.*X\.toarray\(\)"),
        (sparse.csr_array([[1.0]]), r"sparse matrix"),
        (pl.LazyFrame({"a": [1]}), r"lazy frame, and mixkern needs its rows. Read them first: X\.collect\(\)"),
        (nw.from_native(pl.LazyFrame({"a": [1]})), r"lazy frame"),
        (None, r"X must be a frame, an array or a list of rows, but it is None\.$"),
        ("table.csv", r"but it is of type str\. Read the file first: pd\.read_csv\('table\.csv'\)\."),
        ("a,b\n" * 50, r"pd\.read_csv\('a,b.*…'\)\."),
        (PurePosixPath("t.csv"), r"but it is of type PurePosixPath\. Read the file first: pd\.read_csv\('t\.csv'\)\."),
        ({"a": [1]}, r"but it is of type dict\. Make it a table first: pd\.DataFrame\(X\)\."),
        ([{"a": 1}, {"a": 2}], r"but it is a list of dicts\. Make it a table first: pd\.DataFrame\(X\)\."),
        (3, "two dimensions, rows and columns, but it has 0"),
        ({1, 2}, r"but it is of type set\.$"),
        ((row for row in [[1]]), r"but it is of type generator\.$"),
        ([1, 2, 3], r"but it has 1\. Reshape your data: X\.reshape\(-1, 1\) if it is one column"),
        (np.array([1.0]), "but it has 1"),
        (
            pd.Series([1.0]),
            r"of type Series\. Make it a table: X\.to_frame\(\) if it is one column, X\.to_frame\(\)\.T if",
        ),
        (pl.Series([1.0]), r"but it is of type Series\. Make it a table: X\.to_frame\(\)\.$"),
        (np.zeros((2, 2, 2)), "but it has 3"),
        (object, r"X must be a frame, an array or a list of rows, but it is of type type\.$"),
        (OnlyStream(pa.chunked_array([[1, 2]])), "X is an Arrow stream that cannot be read as a table: "),
        ([[1, 2], [3]], r"X is not a table: its first row has 2 cells, but row 2 .* has 1\."),
        ([[1, 2], 3], "first row has 2 cells, but row 2 .* has 0"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], "X is not a table: its rows differ in shape"),
        (Unreadable(), r"X is not a table: NumPy cannot read an object of type Unreadable \(it requires grad\)\.$"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_not_a_table(X, message):
    with pytest.raises(NotATableError, match=message):
        raw_columns(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": []}), r"X is empty: it has 0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=[0, 1]), r"X is empty: it has 0 feature\(s\) \(shape=\(2, 0\)\)"),
        (pl.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pl.DataFrame(), r"0 sample\(s\)"),
        (pa.table({}), r"0 sample\(s\)"),
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        ([[], []], r"0 feature\(s\)"),
        ([], r"0 sample\(s\) \(shape=\(0,\)\)"),
    ],
)
def test_empty_table(X, message):
    with pytest.raises(EmptyTableError, match=message):
        raw_columns(X)


def test_duplicate_column_names():
    message = r"must be unique, but more than one column has the name 'a': columns \[0, 2\] are all called 'a'"
    with pytest.raises(ColumnNameError, match=message):
        raw_columns(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))
    with pytest.raises(ColumnNameError, match=message):
        raw_columns(pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"]))


def test_column_names_that_are_equal_as_text():
    with pytest.raises(ColumnNameError, match=r"columns \[0, 1\] are all called '1'"):
        raw_columns(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_column_names_of_several_types():
    message = (
        r"must be all text, or none, but these are not: 1, 2\.5\. Convert them: X\.columns = X\.columns\.astype\(str\)"
    )
    with pytest.raises(ColumnNameError, match=message):
        raw_columns(pd.DataFrame([[1, 2, 3]], columns=["a", 1, 2.5]))


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (pd.DataFrame({20: [1], 10: [2]}), [20, 10]),
        (pd.DataFrame({"a": [1]}), ["a"]),
        (pl.DataFrame({"a": [1]}), ["a"]),
        (pa.table({"a": [1]}), ["a"]),
        (np.zeros((1, 1)), None),
        ([[1]], None),
    ],
)
def test_column_labels(X, labels):
    assert column_labels(X) == labels


def test_an_opened_table_is_a_frame_or_an_array():
    frame = pd.DataFrame({"a": [[1]]})  # a cell that would be refused, if it were read
    assert opened(frame) is frame
    assert opened(nw.from_native(frame)) is frame
    assert opened([["a"]]).tolist() == [["a"]]


TOWNS = pa.table({"town": ["Kassel", "Passau", None], "age": [20.5, 40.5, None]})


@pytest.mark.parametrize(
    "stream",
    [
        lambda: OnlyStream(TOWNS),
        lambda: TOWNS.to_reader(max_chunksize=2),
        lambda: pa.RecordBatchReader.from_stream(TOWNS),
        lambda: TOWNS.to_batches()[0],
    ],
)
def test_arrow_streams(stream):
    table = stream()
    assert [(column.name, column.texts()) for column in raw_columns(table)] == [
        ("town", ["Kassel", "Passau", None]),
        ("age", ["20.5", "40.5", None]),
    ]
    assert opened(table).shape == (3, 2)  # also of a stream that can be read once
    assert frame_kind(table) == "pyarrow"


def test_a_stream_without_weak_references():
    class Slots(OnlyStream):
        __slots__ = ()

        def __hash__(self):
            raise TypeError

    assert opened(Slots(TOWNS)).equals(TOWNS)


def test_estimators_learn_from_a_stream_that_can_be_read_once():
    table = pa.table({"a": [0.5, 1.5, 2.5, 3.5] * 5, "b": list("xyyx") * 5})
    labels = ["no", "no", "yes", "yes"] * 5
    model = MixtureSVC(random_state=0).fit(table.to_reader(), labels)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    found = model.assess(table.to_reader())
    assert isinstance(found, pa.Table)
    assert found.equals(MixtureSVC(random_state=0).fit(table, labels).assess(table))
