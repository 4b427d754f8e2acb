"""Files are known by their first bytes."""

import bz2
import gzip
import lzma

import pytest

from mixkern.io.signature import compression, no_table, no_table_in_zip


@pytest.mark.parametrize(
    ("first", "name"),
    [
        (gzip.compress(b"a", mtime=0), "gzip"),
        (bz2.compress(b"a"), "bzip2"),
        (bz2.compress(b""), "bzip2"),
        (lzma.compress(b"a"), "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip"),
        (b"BZh,name\n", None),
        (b"PK,name\n", None),
        (b"", None),
    ],
)
def test_compressions(first, name):
    assert compression(first) == name


@pytest.mark.parametrize(
    ("first", "what"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"\xd0\xcf\x11\xe0\xa1", "an Excel file: save it as CSV"),
        (b"\n <!DOCTYPE html>", "a web page"),
        (b'[{"a": 1}]', "a JSON file"),
        (b"\0" * 257 + b"ustar", "a tar archive"),
    ],
)
def test_what_is_no_table(first, what):
    assert no_table(first).startswith(what)


@pytest.mark.parametrize("first", [b"a,b\n", b"", b"\xef\xbb\xbfa", b"[1],b", b"\xff\xfea\0"])
def test_what_may_be_one(first):
    assert not no_table(first)


def test_archives_are_known_by_their_members():
    assert "Excel" in no_table_in_zip(["[Content_Types].xml", "xl/workbook.xml"])
    assert "Office" in no_table_in_zip(["[Content_Types].xml", "word/document.xml"])
    assert "LibreOffice" in no_table_in_zip(["mimetype", "content.xml"])
    assert "NumPy" in no_table_in_zip(["a.npy"])
    assert "model" in no_table_in_zip(["schema.json"])
    assert not no_table_in_zip([])
