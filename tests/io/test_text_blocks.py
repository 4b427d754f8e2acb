"""Rows of text files by Arrow and by Python's csv, and the lines that errors name."""

import numpy as np
import pytest

from mixkern.errors import TableFileError
from mixkern.io import text_blocks
from mixkern.io.dialect import Dialect
from mixkern.io.text_blocks import LineNumbers, TextBlocks


def rows_of(content, width=2, size=1 << 20, **dialect):
    chunks = [content[i : i + size] for i in range(0, len(content), size)]
    names = [str(i) for i in range(width)]
    blocks = TextBlocks(chunks, Dialect("csv", **{"encoding": "utf-8-sig", **dialect}), "a.csv", names)
    found = [list(row.values()) for block in blocks for row in block.to_pylist()]
    return found, [blocks.numbers.of(row) for row in range(len(found))]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("block", [1, 5, 1000])
def test_rows_do_not_depend_on_chunks(size, block, monkeypatch):
    monkeypatch.setattr("mixkern.io.text_blocks.BLOCK", block)
    content = 'a,é\r\n\n1,\u2028x\x0b\r\n\n"2\r\n3","a"""\n 4,5" disk\nend,'.encode()
    rows, lines = rows_of(content, size=size)
    assert rows == [["1", "\u2028x\x0b"], ["2\r\n3", 'a"'], [" 4", '5" disk'], ["end", ""]]
    assert lines == [3, 5, 7, 8]


def test_old_line_ends():
    assert rows_of(b"a,b\r1,2\r", line_end="\r") == ([["1", "2"]], [2])


def test_rows_and_their_lines():
    rows, lines = rows_of(b'a,b\n1,2\n\n3,"x\ny"\n4,5\n   \n6,"7"\r\n\n\n')
    assert rows == [["1", "2"], ["3", "x\ny"], ["4", "5"], ["6", "7"]]
    assert lines == [2, 4, 6, 8]


def test_blank_lines_before_the_header_and_in_one_column():
    assert rows_of(b"\n\na\n1\n\n2\n", width=1) == ([["1"], [""], ["2"]], [4, 5, 6])
    rows, lines = rows_of(b'a\n\r\n1\n\n"x\n\ny"\n\n\n""\n 5" \n\n\n', width=1)
    assert rows == [[""], ["1"], [""], ["x\n\ny"], [""], [""], [""], [' 5" ']]
    assert lines == [2, 3, 4, 5, 8, 9, 10, 11]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 64])
def test_blank_lines_in_one_column_do_not_depend_on_blocks(end, size, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK", size)
    random = np.random.RandomState(size)
    cells = [["", "", "1", "23", "x y"][i] for i in random.randint(5, size=60)]
    content = end.join(["a", *cells, "9", "", "", ""]).encode()
    chunks = [content[i : i + size] for i in range(0, len(content), size)]
    blocks = TextBlocks(chunks, Dialect("csv"), "a.csv", ["a"])
    assert [row["a"] for block in blocks for row in block.to_pylist()] == [*cells, "9"]
    assert [blocks.numbers.of(row) for row in range(61)] == list(range(2, 63))
    assert blocks.n_blank_rows == cells.count("")


def test_line_numbers_are_remembered_where_they_jump():
    numbers = LineNumbers()
    rows = np.arange(100)
    for part in np.split(rows + 2 + rows // 50, [10, 50, 60]):
        numbers.add(part)
    assert [numbers.of(row) for row in (-1, 0, 49, 50, 99, 100)] == [None, 2, 51, 53, 102, None]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"a,b\n1,2\n3\n", "line 3: 1 field, but the header has 2. Complete the row"),
        (b"a,b\n1,2\n3,4,5\n", "line 3: 3 fields, but the header has 2. Put quotes around texts that contain a comma"),
        (b"a,b\n1,2,3\n", "line 2: 3 fields, but the header has 2. If all rows have one more, give the column without"),
        (b'a,b\n1,"x\n3,4\n5,y"\n6,"7\n8",9\n', "line 5: 3 fields.*A quote opens in this row and closes in line 6"),
        (b'a,b\n1,2\n3,"4\n5,6\n', "line 3: a quote opens that is not closed. Close it"),
        (b'a,b\n1,2\n"3\n3","4\n5,6\n', "line 4: a quote opens that is not closed"),
        (b'a,b\n1,"2"x\n', "line 2: text follows a closing quote"),
        (b"a,b\n1,2\rx\n", "line 2: a carriage return inside a row"),
        (b"a,b\n1,2\n3,\0\n", "line 3: holds a NUL byte, which no text does"),
        (b"a,b\n1,2\n3,caf\xe9\n", "line 3: byte 0xe9 is not text in utf-8.*encoding='cp1252'"),
        (b"a,b\n1,caf\xc3", "line 2: byte 0xc3 is not text in utf-8"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "line 2: a field of more than 131,072 characters"),
        (b'a,b\n1,2\n3,"' + b"x,y\n" * 100_000, "line 3: a quote opens that is not closed"),
    ],
)
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_errors_name_the_line_and_the_fix(content, why, size):
    with pytest.raises(TableFileError, match=f"a.csv, {why}"):
        rows_of(content, size=size)


def test_a_line_without_an_end(monkeypatch):
    monkeypatch.setattr("mixkern.io.text_blocks.LONGEST_LINE", 100)
    with pytest.raises(TableFileError, match="line 2: no end after 300 characters"):
        list(TextBlocks([b"a\n", b"x" * 300], Dialect("csv"), "a.csv", ["a"]))


def test_other_encodings_name_utf_8():
    with pytest.raises(TableFileError, match=r"is not text in cp1252.*encoding='utf-8'"):
        rows_of(b"a,b\n1,\x81\n", encoding="cp1252")


def test_blank_lines_without_end_are_refused(monkeypatch):
    monkeypatch.setattr("mixkern.io.text_blocks.MOST_BLANK", 1000)
    monkeypatch.setattr("mixkern.io.text_blocks.BLOCK", 100)
    rows, _ = rows_of(b"a,b\n" + (b"1,2\n" + b"\n" * 800) * 3, size=50)
    assert rows == [["1", "2"]] * 3
    with pytest.raises(TableFileError, match=r"a.csv, line 1\d\d\d: there is no row in the 0 MB before this line"):
        rows_of(b"a,b\n1,2\n" + b"\n" * 2000, size=50)
    with pytest.raises(TableFileError, match=r"there is no row in the 0 MB before this line"):
        rows_of(b"a\n1\n" + b"\n" * 2000 + b"2\n", width=1, size=50)


@pytest.mark.parametrize("size", [10, 100, 1 << 20])
def test_a_text_is_in_cp1252_from_its_first_letter_on(size):
    content = b"a,b\n" + b"1,x\n" * 20 + "2,ä€\n".encode("cp1252") * 2
    rows, _ = rows_of(content, size=size, encoding="utf-8")
    assert rows[-1] == ["2", "ä€"]
    for damaged in (content + b"3,\x81\n", "a,ä\n1,ä\n".encode() + content):
        with pytest.raises(TableFileError, match="is not text in"):
            rows_of(damaged, size=size, encoding="utf-8")


@pytest.mark.parametrize("size", [3, 1 << 20])
def test_rows_of_empty_cells_between_tabs_are_rows(size):
    assert rows_of(b"a\tb\n\t\n\t\n", size=size, delimiter="\t") == ([["", ""]] * 2, [2, 3])
