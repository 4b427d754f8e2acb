"""Tables in files: whole, exact, or not there."""

import gzip
import io
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mixkern.errors import TableFileError
from mixkern.io import table_file, table_writer
from mixkern.io.writer import whole_file, write_whole

FRAME = pd.DataFrame(
    {
        "x": [0.1, 1e6 + 1 / 3, np.nan, -1e-300],
        "n": [1, 2**53 + 1, 3, 4],
        "text": ["a,b", 'say "no"', None, "line\nbreak"],
        "when": pd.to_datetime(["2024-05-31 00:00", "2024-06-01 12:00", None, "1970-01-01 00:00"]),
    }
)


def write(path, frames):
    with table_writer(path) as write_frame:
        for frame in frames:
            write_frame(frame)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.tab", "a.txt", "a.csv.gz", "a.tsv.bz2", "a.csv.xz", "A.CSV"])
def test_text_is_read_again_as_it_was(tmp_path, name):
    found = table_file(write(tmp_path / name, [FRAME[:3], FRAME[3:]])).frame()
    assert found["x"].to_numpy().tobytes() == FRAME["x"].to_numpy().tobytes()
    assert found["n"].tolist() == FRAME["n"].tolist()
    assert found["text"].tolist() == ["a,b", 'say "no"', None, "line\nbreak"]
    assert (found["when"] == FRAME["when"]).tolist() == [True, True, False, True]


def test_numbers_have_all_their_digits(tmp_path):
    values = np.random.RandomState(0).rand(2000) * 10.0 ** np.random.RandomState(1).randint(-20, 20, 2000)
    lines = write(tmp_path / "a.csv", [pd.DataFrame({"a": values})]).read_text().split()[1:]
    assert np.array(list(map(float, lines))).tobytes() == values.tobytes()


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "\r", '"\r,'])
def test_every_line_break_is_quoted(tmp_path, text):
    frame = pd.DataFrame({"a": [text, "c"], "b": [1.5, 2.5], "c": [None, "d"]})
    found = table_file(write(tmp_path / "a.csv", [frame])).frame()
    assert len(found) == 2
    assert found["a"].iloc[0] in (text, None)
    assert found["b"].tolist() == [1.5, 2.5]


def test_parquet_is_exact(tmp_path):
    pytest.importorskip("pyarrow")
    found = pd.read_parquet(write(tmp_path / "a.parquet", [FRAME[:3], FRAME[3:]]))
    pd.testing.assert_frame_equal(found, FRAME, check_exact=True, check_dtype=False)


def test_parquet_of_texts_that_begin_with_gaps(tmp_path):
    pytest.importorskip("pyarrow")
    cells = np.array([None, None, "a", None], dtype=object)
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": [1, 2, 3, 4]})
    found = pd.read_parquet(write(tmp_path / "a.parquet", [frame[:2], frame[2:]]))
    assert found["a"].isna().tolist() == [True, True, False, True]
    assert found["a"].iloc[2] == "a"


def test_parquet_refuses_a_column_that_changes(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(TableFileError, match=r"cannot be written as Parquet: .* Write a \.csv file\."):
        write(tmp_path / "a.parquet", [pd.DataFrame({"a": [1]}), pd.DataFrame({"a": ["x"]})])
    assert list(tmp_path.iterdir()) == []


def test_equal_tables_make_equal_files(tmp_path):
    a, b = (write(tmp_path / name / "a.csv.gz", [FRAME]).read_bytes() for name in "ab")
    assert a == b
    assert gzip.decompress(a).startswith(b"x,n,text,when\n")


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.xz", "a.parquet"])
def test_a_failure_leaves_the_old_file(tmp_path, name, error):
    (tmp_path / name).write_text("old")

    def frames():
        yield FRAME
        raise error

    with pytest.raises(error):
        write(tmp_path / name, frames())
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


@pytest.mark.parametrize("name", ["a", "a.xlsx", "a.gz", "a.parquet.gz", "a.zip", ".csvx"])
def test_other_ends_of_names_are_refused_before_anything_is_written(tmp_path, name):
    with (
        pytest.raises(TableFileError, match=r"does not end like a table: use \.csv, \.tsv or \.parquet"),
        table_writer(tmp_path / name),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TableFileError, match=r"a\.csv cannot be written: "):
        write(tmp_path / "file" / "a.csv", [FRAME])


def test_a_full_disk(tmp_path):
    def full(_):
        raise OSError(28, "No space left on device")

    with (
        pytest.raises(TableFileError, match=r"a\.csv cannot be written: No space left on device\."),
        table_writer(tmp_path / "a.csv"),
    ):
        full(FRAME)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error_of_the_table(tmp_path):
    with pytest.raises(BrokenPipeError), table_writer(tmp_path / "a.csv"):
        raise BrokenPipeError


def test_standard_output(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    write("-", [pd.DataFrame({"ä": ["🙂"]}), pd.DataFrame({"ä": ["b"]})])
    assert stream.buffer.getvalue().decode() == "ä\n🙂\nb\n"


def test_text_and_bytes(tmp_path):
    assert write_whole(tmp_path / "a" / "b.txt", "±").read_text("utf-8") == "±"
    assert write_whole(tmp_path / "c.png", b"\x00").read_bytes() == b"\x00"
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {"b.txt", "c.png"}


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fails(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_others_may_read_it(tmp_path):
    assert write_whole(tmp_path / "a.txt", "x").stat().st_mode & 0o444 == 0o444


def test_what_is_written_piece_by_piece_is_there_at_the_end_or_not_at_all(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def fails():
        with whole_file(path) as file:
            file.write(b"half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_permissions_are_those_of_the_user_or_of_the_old_file(tmp_path):
    before = os.umask(0o077)
    try:
        path = write_whole(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    assert write_whole(path, "y").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_stays_one_and_a_device_is_written_to(tmp_path):
    path, link = tmp_path / "a.txt", tmp_path / "link.txt"
    path.write_text("old")
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    write_whole(Path(os.devnull), "x")
    assert not Path(os.devnull).is_file()
