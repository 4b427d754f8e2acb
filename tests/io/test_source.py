"""Bytes of files and pipes, compressed or not."""

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
import zipfile
from types import SimpleNamespace

import pyarrow as pa
import pytest

from mixkern.errors import TableFileError
from mixkern.io.source import CHUNK, COMPRESSIONS, NOT_TABLES, TableSource, no_table_in_zip, recognised

CONTENT = b"age,town\n" + b"31,Kassel\n" * 200_000


def zipped(content, *names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("a.csv",):
            archive.writestr(name, content)
    return file.getvalue()


def zstd(content):
    return pa.Codec("zstd").compress(content, asbytes=True)


PACKERS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "zstd": zstd,
}


def all_bytes(source):
    with source.opened() as stream:
        return b"".join(stream.chunks())


@pytest.fixture
def standard_input(monkeypatch):
    def give(content):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    return give


@pytest.mark.parametrize("packed", PACKERS)
def test_files_are_unpacked_whatever_their_name(written, packed):
    source = TableSource(written(PACKERS[packed](CONTENT), "a.csv"))
    assert source.peek(10) == CONTENT[:10]
    assert all_bytes(source) == CONTENT
    assert all_bytes(source) == CONTENT


@pytest.mark.parametrize("packed", PACKERS)
def test_standard_input_comes_once(standard_input, packed):
    standard_input(PACKERS[packed](CONTENT))
    source = TableSource("-")
    assert source.peek(10) == CONTENT[:10]
    assert source.peek(3 * CONTENT.index(b"K")) == CONTENT[: 3 * CONTENT.index(b"K")]
    assert all_bytes(source) == CONTENT
    for again in (lambda: all_bytes(source), lambda: source.peek(1)):
        with pytest.raises(TableFileError, match=r"standard input can be read only once. Write it to a file first"):
            again()


def test_standard_input_is_not_held(standard_input):
    standard_input(CONTENT)
    source = TableSource("-")
    with source.opened() as stream:
        assert len(next(stream.chunks())) <= CHUNK
        assert stream.progress[0] <= 2 * CHUNK < len(CONTENT) + CHUNK
        assert stream.progress[1] is None


@pytest.mark.posix
def test_a_named_pipe_is_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(CONTENT,))
    writer.start()
    source = TableSource(tmp_path / "pipe")
    assert source.peek(3) == b"age"
    assert all_bytes(source) == CONTENT
    writer.join()


@pytest.mark.parametrize("packed", PACKERS)
def test_progress_ends_at_the_end(written, packed):
    path = written(PACKERS[packed](CONTENT))
    with TableSource(path).opened() as stream:
        list(stream.chunks())
        done, total = stream.progress
    assert done == total == (len(CONTENT) if packed == "zip" else path.stat().st_size)


@pytest.mark.parametrize("packed", ["gzip", "bzip2", "xz", "zip"])
def test_what_was_cut_is_refused(written, packed):
    content = PACKERS[packed](os.urandom(50_000))
    with pytest.raises(TableFileError, match=r"mine.csv is damaged, or not whole"):
        all_bytes(TableSource(written(content[: len(content) // 2])))


def test_what_cannot_be_opened(written, tmp_path):
    (tmp_path / "customers.csv").write_text("a\n1\n")
    with pytest.raises(
        TableFileError, match=r"custmers.csv cannot be read: there is no such file. Did you mean 'customers"
    ):
        TableSource(tmp_path / "custmers.csv").peek(1)
    with pytest.raises(TableFileError, match=r"is a folder. Name a file inside it"):
        TableSource(tmp_path).peek(1)
    with pytest.raises(TableFileError, match="zip archive of 2 files, but expected is one table"):
        TableSource(written(zipped(CONTENT, "a.csv", "b.csv"))).peek(1)
    with pytest.raises(TableFileError, match=r"looks like an Excel file of another kind: save it as \.xlsx or CSV"):
        TableSource(written(zipped(b"", "[Content_Types].xml", "xl/workbook.bin"))).peek(1)
    with pytest.raises(TableFileError, match=r"cannot be read|damaged"):
        TableSource("a\0b").peek(1)


def test_standard_input_that_is_not_there(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TableFileError, match="Standard input is closed"):
        TableSource("-").peek(1)


def test_a_pipe_can_be_gone_back_in(standard_input):
    standard_input(CONTENT)
    source = TableSource("-")
    for _ in range(2):
        with source.seekable() as file:
            assert file.read() == CONTENT


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (gzip.compress(b"a", mtime=0), "gzip"),
        (bz2.compress(b"a"), "bzip2"),
        (bz2.compress(b""), "bzip2"),
        (lzma.compress(b"a"), "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
        (b"BZh,name\n", ""),
        (b"PK,name\n", ""),
        (b"", ""),
    ],
)
def test_compressions(first, name):
    assert recognised(first, COMPRESSIONS) == name


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"\xd0\xcf\x11\xe0\xa1", "an older Excel file: save it as .xlsx or CSV"),
        (b"\n <!DOCTYPE html>", "a web page"),
        (b'[{"a": 1}]', "a JSON file"),
        (b"\0" * 257 + b"ustar", "a tar archive"),
    ],
)
def test_what_is_no_table(first, what):
    assert recognised(first, NOT_TABLES).startswith(what)


@pytest.mark.parametrize("first", [b"a,b\n", b"", b"\xef\xbb\xbfa", b"[1],b", b"\xff\xfea\0"])
def test_what_may_be_one(first):
    assert not recognised(first, NOT_TABLES)


def test_archives_are_known_by_their_members():
    assert "Excel" in no_table_in_zip(["[Content_Types].xml", "xl/workbook.xml"])
    assert "Office" in no_table_in_zip(["[Content_Types].xml", "word/document.xml"])
    assert "LibreOffice" in no_table_in_zip(["mimetype", "content.xml"])
    assert "NumPy" in no_table_in_zip(["a.npy"])
    assert "model" in no_table_in_zip(["schema.json"])
    assert not no_table_in_zip([])


def test_what_expands_beyond_any_table_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mixkern.io.source.MOST_UNPACKED", 1 << 18)
    rows = b"1,2\n" * (1 << 19)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(rows))
    (tmp_path / "a.csv.bz2").write_bytes(bz2.compress(rows))
    with TableSource(tmp_path / "a.csv.gz").opened() as stream:
        assert sum(map(len, stream.chunks())) == len(rows)
    with (
        pytest.raises(TableFileError, match=r"a.csv.bz2 is compressed to less than 1/5000 of its size: no table is"),
        TableSource(tmp_path / "a.csv.bz2").opened() as stream,
    ):
        list(stream.chunks())
