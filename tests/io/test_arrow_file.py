"""Parquet files, whole and in blocks."""

import datetime as dt
import io
import subprocess
import sys
import warnings
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mixkern.encoding import TableEncoder
from mixkern.errors import MixkernError, TableFileError
from mixkern.io import table_file
from mixkern.io.table import pandas_frame

LARGE = 2**53 + 1
TABLE = pa.table(
    {
        "age": pa.array([31.5, None, 47.0, 20.0, 25.0]),
        "rooms": pa.array([1, None, 3, 4, 5]),
        "id": pa.array([LARGE, 2, None, 4, 5]),
        "town": pa.array(["Kassel", None, "NA", "Passau", "Kassel"]),
        "colour": pa.array(["red", "blue", None, "red", "red"]).dictionary_encode(),
        "member": pa.array([True, None, False, True, False]),
        "since": pa.array([dt.date(2024, 5, 1), None, dt.date(2024, 5, 2), None, None]),
        "seen": pa.array([dt.datetime(2024, 5, 1, 12), None, None, None, None], pa.timestamp("us", "UTC")),
        "churn": pa.array([1, None, 0, 1, None]),
    }
)


@pytest.fixture
def path(tmp_path):
    pq.write_table(TABLE, tmp_path / "mine.bin", row_group_size=2)
    return tmp_path / "mine.bin"


def fitted(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = TableEncoder().fit(frame)
    return encoder, {column.name: column for column in encoder.columns_}


def test_the_whole_table(path):
    file = table_file(path)
    frame = pandas_frame(file.table(text=["churn"]))
    assert file.columns == tuple(TABLE.column_names)
    assert frame["age"].dtype == frame["rooms"].dtype == float
    assert frame["id"].tolist() == [LARGE, 2, None, 4, 5]
    assert frame["town"].tolist() == ["Kassel", None, "NA", "Passau", "Kassel"]
    assert frame["churn"].tolist() == ["1", None, "0", "1", None]
    assert frame["member"].tolist() == [True, None, False, True, False]
    assert file.line_of(0) is None
    assert file.notes == ()


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 7])
def test_blocks_are_encoded_as_the_whole(path, n_rows):
    file = table_file(path)
    frame = pandas_frame(file.table(text=["churn"]))
    encoder, kinds = fitted(frame)
    calls = []
    found = file.blocks(kinds, n_rows=n_rows, text=["churn"], on_progress=lambda *done: calls.append(done))
    blocks = [pandas_frame(block.typed, block.start) for block in found]
    assert [len(block) for block in blocks[:-1]] == [n_rows] * (len(blocks) - 1)
    encoded = np.vstack([encoder.transform(block) for block in blocks])
    np.testing.assert_array_equal(encoded, encoder.transform(frame))
    assert pd.concat(blocks).index.equals(frame.index)
    assert calls[-1][0] == calls[-1][1]


def test_standard_input(path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    file = table_file("-")
    assert file.name == "standard input"
    assert [len(block) for block in file.blocks({}, n_rows=4)] == [4, 1]
    assert len(pandas_frame(file.table())) == 5


def test_words_for_gaps_and_cells_as_they_are(path):
    file = table_file(path, gaps=["20", "red", "True", "2"])
    frame = pandas_frame(file.table())
    assert frame[["age", "id", "colour", "member"]].isna().sum().tolist() == [2, 2, 4, 3]
    _, kinds = fitted(frame)
    (block,) = file.blocks(kinds)
    assert pandas_frame(block.typed).isna().equals(frame.isna())
    assert block.cells.equals(TABLE)  # integers with a null, too


def test_texts_where_numbers_were_learned(tmp_path):
    pq.write_table(pa.table({"age": ["1", None, "2.5"]}), tmp_path / "a.parquet")
    file = table_file(tmp_path / "a.parquet")
    _, kinds = fitted(pd.DataFrame({"age": [1.5, 2.5, 3.0]}))
    np.testing.assert_array_equal(pandas_frame(file.table(kinds=kinds))["age"], [1.0, np.nan, 2.5])
    pq.write_table(pa.table({"age": ["1", None, "2.5", "old"]}), tmp_path / "a.parquet")
    message = r"a\.parquet: column 'age' was fitted as numbers, but holds 'old' in row 4 \(counted from 1\)\."
    with pytest.raises(TableFileError, match=message):
        list(table_file(tmp_path / "a.parquet").blocks(kinds, n_rows=2))


def test_row_numbers_of_pandas_are_left_out(tmp_path):
    pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).to_parquet(tmp_path / "a.parquet")
    file = table_file(tmp_path / "a.parquet")
    assert file.columns == tuple(pandas_frame(file.table())) == ("a",)
    assert str(file.notes[0]) == "'__index_level_0__', the row numbers or names of pandas, was not learned from."
    (block,) = file.blocks({})
    assert block.cells["__index_level_0__"].to_pylist() == ["x", "y"]


def test_what_is_refused(tmp_path, written):
    empty = tmp_path / "empty.parquet"
    pq.write_table(TABLE.slice(0, 0), empty)
    with pytest.raises(TableFileError, match="but no rows"):
        table_file(empty)
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "double.parquet")
    with pytest.raises(TableFileError, match="more than one column called 'a'"):
        table_file(tmp_path / "double.parquet")
    with pytest.raises(TableFileError, match=r"mine.csv is not a Parquet file, or damaged: .*\. Write it again\."):
        table_file(written("a,b\n1,2\n"), format="parquet")


@pytest.fixture
def arrow_path(tmp_path):
    table = TABLE.append_column("list", pa.array([[1, 2], None, [3], [], [None]]))
    with pa.ipc.new_file(tmp_path / "mine.bin", table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return tmp_path / "mine.bin"


def test_arrow_files_keep_their_types(arrow_path):
    file = table_file(arrow_path)
    block = file.whole(text=["churn"])
    assert (file.dialect.format, file.columns[-1]) == ("arrow", "list")
    assert block.cells.schema.field("rooms").type == pa.int64()
    assert block.cells["list"].to_pylist() == [[1, 2], None, [3], [], [None]]
    assert block.typed["churn"].to_pylist() == ["1", None, "0", "1", None]
    assert [len(each) for each in file.blocks({}, n_rows=3)] == [3, 2]


@pytest.mark.parametrize("kind", ["path", "arrow_path"])
def test_damaged_files_are_refused_or_read(kind, request, tmp_path):
    content = request.getfixturevalue(kind).read_bytes()
    for seed in range(100):
        draw = np.random.default_rng(seed)
        harmed = bytearray(content)
        for i in draw.integers(0, len(content), size=5):
            harmed[i] ^= int(draw.integers(1, 256))
        (tmp_path / "harmed").write_bytes(harmed[: int(draw.integers(6, len(content)))] if seed % 3 == 0 else harmed)
        with suppress(MixkernError):
            pandas_frame(table_file(tmp_path / "harmed", gaps=["1"]).table(text=["rooms"]))


@pytest.mark.slow
def test_without_pyarrow(path):
    code = f"import sys; sys.modules['pyarrow'] = None; import mixkern.datasets; mixkern.read_table({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "A table in a file needs pyarrow, which is not installed." in done.stderr
    assert "pip install 'mixkern[file]'" in done.stderr
