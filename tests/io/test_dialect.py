"""The dialect of a text file: delimiter, encoding, header and decimal signs."""

import pytest

from mixkern.errors import OptionError, TableFileError
from mixkern.io.dialect import (
    Dialect,
    delimiter_named,
    delimiter_of,
    dialect_of,
    encoding_of,
    header_line,
)


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


def test_names_are_stripped_and_row_numbers_found():
    plain = header_line([" age", "town "], 1, "a.csv")
    assert (plain.names, plain.numbered, plain.notes) == (("age", "town"), None, ())
    for first in ("", "Unnamed: 0"):
        numbered = header_line([first, "age"], 1, "a.csv")
        assert (numbered.names, numbered.numbered) == (("column 1", "age"), "column 1")
        assert numbered.written == (first, "age")


def test_columns_without_a_name_are_called_by_their_place():
    found = header_line(["age", "", "town", ""], 1, "a.csv")
    assert found.names == ("age", "column 2", "town", "column 4")
    assert "'column 2', 'column 4'" in str(found.notes[0])
    assert header_line(["", "age", ""], 1, "a.csv").names == ("column 1", "age", "column 3")


@pytest.mark.parametrize("names", [["0", "1", "2"], ["", "0", "1"], ["1", "2"], ["2019", "town"]])
def test_numbers_that_are_names(names):
    assert header_line(names, 1, "a.csv").written == tuple(names)


@pytest.mark.parametrize("names", [["5.1", "3.5"], ["0", "0"], ["1", "NA", "7"], ["5"], ["3,5", "4,5"]])
def test_a_line_of_data_is_no_header(names):
    with pytest.raises(TableFileError, match=r"a.csv, line 1: expected column names, but found numbers: .*\. Put a"):
        header_line(names, 1, "a.csv")


def test_double_names():
    with pytest.raises(TableFileError, match=r"a.csv, line 3: columns 2 and 4 have the same name, 'b'. Rename them"):
        header_line(["a", "b", "c", "b"], 3, "a.csv")


# ---------------------------------------------------------------- like another table


@pytest.mark.parametrize(
    ("content", "encoding", "found"),
    [
        ("a;b\nž;1\n".encode("cp1250"), "cp1250", "cp1250"),
        ("a;b\nž;1\n".encode(), "cp1250", "utf-8"),  # the file is UTF-8
        ("a;b\nä;1\n".encode("utf-8-sig"), "cp1250", "utf-8-sig"),
        (b"a;b\nx;1\n", "cp1250", "utf-8"),
        ("a;b\nä;1\n".encode("utf-16-le"), "utf-16-le", "utf-16-le"),
        (b"a;b\n\xe4;1\n", "ascii", "cp1252"),  # does not fit
        (b"a;b\n\xe4;1\n", "utf-8", "cp1252"),
    ],
)
def test_the_encoding_of_another_table_where_the_bytes_are_not_utf_8(content, encoding, found):
    assert dialect_of(content, "a.csv", like=Dialect("csv", encoding=encoding)).encoding == found
    given = dialect_of(content, "a.csv", encoding="latin-1", like=Dialect("csv", encoding=encoding))
    assert given.encoding == "iso8859-1"


def test_the_delimiter_of_another_table_is_tried_first():
    text = b"a;b,c\n1;2,3\n4;5,6\n"
    assert dialect_of(text, "a.csv").delimiter == ";"
    assert dialect_of(text, "a.csv", like=Dialect("csv", delimiter=",")).delimiter == ","
    assert dialect_of(text, "a.csv", like=Dialect("csv", delimiter="|")).delimiter == ";"
    assert dialect_of(b"a:b\n1:2\n", "a.csv", like=Dialect("csv", delimiter=":")).delimiter == ":"


def test_a_byte_order_mark_is_remembered():
    assert dialect_of("a;b\n1;2\n".encode("utf-8-sig"), "a.csv", encoding="utf-8").has_mark
    assert not dialect_of(b"a;b\n1;2\n", "a.csv", encoding="utf-8").has_mark
