"""Lines and records, and the lines that errors name."""

import pytest

from mixkern.errors import OptionError, TableFileError
from mixkern.io.records import (
    Dialect,
    LineNumbers,
    Lines,
    Records,
    delimiter_named,
    delimiter_of,
    dialect_of,
    encoding_of,
    open_quote,
)


def rows_of(content, width=2, n_rows=3, **dialect):
    records = Records([content], Dialect(**{"delimiter": ",", **dialect}), "a.csv")
    records.header()
    found = []
    while batch := records.batch(width, n_rows):
        found += batch
    return found, [records.numbers.of(row) for row in range(len(found))]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_do_not_depend_on_chunks(size):
    content = "a,é\r\n\n1,\u2028x\x0b\r\nend".encode()
    chunks = [content[i : i + size] for i in range(0, len(content), size)]
    assert list(Lines(chunks, "utf-8", "a.csv")) == ["a,é\r\n", "\n", "1,\u2028x\x0b\r\n", "end"]


def test_old_line_ends():
    assert list(Lines([b"a,b\r1,2\r"], "utf-8", "a.csv", is_mac=True)) == ["a,b\n", "1,2\n"]


def test_a_cut_line_is_left_out():
    assert list(Lines(["a\né".encode()[:-1]], "utf-8", "a.csv", is_cut=True)) == ["a\n"]


def test_rows_and_their_lines():
    rows, lines = rows_of(b'a,b\n1,2\n\n3,"x\ny"\n4,5\n   \n6,"7"\r\n\n\n')
    assert rows == [["1", "2"], ["3", "x\ny"], ["4", "5"], ["6", "7"]]
    assert lines == [2, 4, 6, 8]


def test_blank_lines_before_the_header_and_in_one_column():
    assert rows_of(b"\n\na\n1\n\n2\n", width=1) == ([["1"], ["2"]], [4, 6])


def test_line_numbers_are_remembered_where_they_jump():
    numbers = LineNumbers()
    for row in range(100):
        numbers.add(row, row + 2 + row // 50)
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
def test_errors_name_the_line_and_the_fix(content, why):
    with pytest.raises(TableFileError, match=f"a.csv, {why}"):
        rows_of(content)


def test_a_line_without_an_end(monkeypatch):
    monkeypatch.setattr("mixkern.io.records.LONGEST_LINE", 100)
    with pytest.raises(TableFileError, match="line 2: no end after 300 characters"):
        list(Lines([b"a\n", b"x" * 300], "utf-8", "a.csv"))


def test_other_encodings_name_utf_8():
    with pytest.raises(TableFileError, match=r"is not text in cp1252.*encoding='utf-8'"):
        rows_of(b"a,b\n1,\x81\n", encoding="cp1252")


@pytest.mark.parametrize(
    ("text", "line"), [('1,"a""b', 0), ('1,"a"\n2,"b', 1), ('1,"a"', None), ('5",6"\n', None), ('"a\nb\n', 0)]
)
def test_open_quotes(text, line):
    assert open_quote(text, ",") == line


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter):
    rows = [["id", "text", "size"], ["1", f'"a{delimiter}b, c; d"', "1"], ["2", '"line\nline"', "2"], ["3", "", ""]]
    assert delimiter_of("\n".join(delimiter.join(row) for row in rows) + "\n") == delimiter


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n3,5;4,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("age\n31\n", ","),
        ("a,b\n1;2,3\n4,5\n", ","),
        ("name;first, last\na;b, c\n", ";"),
        ("genre,size\nAction|Comedy,1\nDrama|War|Crime,2\n", ","),
        ("a,b\n1\n1,2,3\n", ","),
        ("", ","),
    ],
)
def test_delimiters_that_could_be_mistaken(text, delimiter):
    assert delimiter_of(text) == delimiter


def test_what_is_given_is_not_questioned():
    found = dialect_of(b"a;b\n1;2\n", "a.csv", delimiter=",", encoding="cp1252")
    assert (found.delimiter, found.encoding) == (",", "cp1252")


def test_spaces_after_delimiters_old_line_ends_and_the_line_for_excel():
    assert dialect_of(b"a, b\n1, x y\n", "a.csv").has_spaces
    assert not dialect_of(b"a, b\n1,x\n", "a.csv").has_spaces
    assert dialect_of(b"a,b\r1,2\r", "a.csv").is_mac
    named = dialect_of(b"sep=|\na|b\n", "a.csv")
    assert (named.delimiter, named.n_skipped) == ("|", 1)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks(encoding):
    assert encoding_of("age".encode(encoding)) == encoding


def test_options():
    assert [delimiter_named(word) for word in ("tab", "\\t", "Semicolon", "space", "#")] == ["\t", "\t", ";", " ", "#"]
    for wrong in ("", "ab", '"', "\n"):
        with pytest.raises(OptionError, match="delimiter must be one character"):
            delimiter_named(wrong)
    for wrong in ("cp1525", "hex", "utf\0"):
        with pytest.raises(OptionError, match="There is no encoding"):
            encoding_of(b"", wrong)
    assert encoding_of(b"", "UTF8") == "utf-8-sig"
