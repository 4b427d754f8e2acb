"""Names of columns."""

import pytest

from mixkern.errors import TableFileError
from mixkern.io.header import header_of


def test_names_are_stripped_and_row_numbers_left_out():
    plain = header_of([" age", "town "], 1, "a.csv")
    assert (plain.names, plain.is_numbered, plain.notes) == (("age", "town"), False, ())
    for first in ("", "Unnamed: 0"):
        numbered = header_of([first, "age"], 1, "a.csv")
        assert (numbered.names, numbered.is_numbered, numbered.width) == (("age",), True, 2)
        assert "row numbers" in str(numbered.notes[0])


def test_columns_without_a_name_are_called_by_their_place():
    found = header_of(["age", "", "town", ""], 1, "a.csv")
    assert found.names == ("age", "column 2", "town", "column 4")
    assert "'column 2', 'column 4'" in str(found.notes[0])
    assert header_of(["", "age", ""], 1, "a.csv").names == ("age", "column 3")


@pytest.mark.parametrize("names", [["0", "1", "2"], ["", "0", "1"], ["1", "2"], ["2019", "town"]])
def test_numbers_that_are_names(names):
    assert header_of(names, 1, "a.csv").names == tuple(name for name in names if name)


@pytest.mark.parametrize("names", [["5.1", "3.5"], ["0", "0"], ["1", "NA", "7"], ["5"], ["3,5", "4,5"]])
def test_a_line_of_data_is_no_header(names):
    with pytest.raises(
        TableFileError, match=r"a.csv, line 1: names of columns were expected, but .* all numbers\. Put a"
    ):
        header_of(names, 1, "a.csv")


def test_double_names():
    with pytest.raises(TableFileError, match=r"a.csv, line 3: columns 2 and 4 have the same name, 'b'. Rename them"):
        header_of(["a", "b", "c", "b"], 3, "a.csv")
