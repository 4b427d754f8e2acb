"""Labels that were typed into another table: found by row numbers, checked by cells, and recorded once."""

import pyarrow as pa
import pytest

from mixkern.errors import JournalError, OptionError, UnknownColumnError
from mixkern.labelling.session import Answer
from mixkern.labelling.typed import typed_events


@pytest.fixture
def session(open_session):
    return open_session()


def typed_table(session, rows, labels, **columns):
    """A table as people send it back: row numbers, cells of the table, labels."""
    cells = session.table.cells.select(["id", "age"]).take(list(rows)).to_pydict()
    return pa.table({"row": [str(row + 1) for row in rows], **cells, "risk": labels} | columns)


def events(session, typed, user="anna"):
    return typed_events(session, typed, row_column="row", source_column="source", user=user, name="mine.csv")


def test_typed_labels_are_those_of_their_rows(session):
    found = events(session, typed_table(session, [5, 2, 9], ["yes", None, " no "]))
    assert [(each.row, each.label, each.source, each.user) for each in found] == [
        (5, "yes", "typed", "anna"),
        (9, "no", "typed", "anna"),
    ]
    assert [each.row_key for each in found] == [session.table.keys[5], session.table.keys[9]]
    session.journal.add(found)
    session.read_journal()
    assert session.labels == {5: "yes", 9: "no"}
    assert len(session.undo("anna", "u")) == 2


def test_a_table_that_is_merged_twice_is_recorded_once(session):
    typed = typed_table(session, [5, 9], ["yes", "no"])
    first = events(session, typed)
    assert session.journal.add(first) == 2
    assert session.journal.add(events(session, typed)) == 0
    session.read_journal()
    assert events(session, typed) == []


def test_labels_that_the_session_has_are_left_out(session):
    session.answer("ben", [Answer(5, "label", "1", "yes"), Answer(9, "label", "2", "yes")])
    found = events(session, typed_table(session, [5, 9], ["yes", "no"]))
    assert [(each.row, each.label) for each in found] == [(9, "no")]


@pytest.mark.parametrize("word", [None, "", "NA", "?", " nan "])
def test_gaps_are_no_labels(session, word):
    assert events(session, typed_table(session, [5, 9], [word, word], source=["random", None])) == []


def test_sources_are_kept(session):
    typed = typed_table(session, [1, 2, 3, 4], ["yes"] * 4, source=["random", "suggested", None, "other"])
    assert [each.source for each in events(session, typed)] == ["random", "suggested", "typed", "typed"]


@pytest.mark.parametrize("number", ["0", "81", "1.5", "x", None, "-1", "1e99", "1e999", "nan"])
def test_row_numbers_that_are_not_in_the_table_are_errors(session, number):
    typed = typed_table(session, [5, 9], ["yes", "no"], row=["6", number])
    with pytest.raises(JournalError, match=r"mine\.csv: the row number in line 2 after the header is .* from 1 to 80"):
        events(session, typed)


def test_row_numbers_may_be_written_as_a_spreadsheet_does(session):
    found = events(session, typed_table(session, [5, 9], ["yes", "no"], row=["6.0", " 10 "]))
    assert [each.row for each in found] == [5, 9]


def test_a_row_number_that_occurs_twice_is_an_error(session):
    with pytest.raises(JournalError, match=r"mine\.csv has .*6.* more than once"):
        events(session, typed_table(session, [5, 5], ["yes", "no"]))


def test_cells_of_other_rows_are_an_error(session):
    typed = typed_table(session, [5, 9], ["yes", "no"], row=["7", "10"])
    with pytest.raises(JournalError, match="the cells of 1 line are not those of the same rows of customers: row 7"):
        events(session, typed)


def test_numbers_of_a_spreadsheet_are_the_same_cells(session):
    age = session.table.cells["age"][5].as_py()
    typed = typed_table(session, [5], ["yes"], age=[age.replace(".", ",") + "0"], id=["other"])
    assert len(events(session, typed)) == 1


@pytest.mark.parametrize("column", ["row", "risk"])
def test_columns_that_are_missing_are_named(session, column):
    typed = typed_table(session, [5], ["yes"]).drop_columns([column])
    with pytest.raises(UnknownColumnError, match=rf"mine\.csv has no column '{column}'"):
        events(session, typed)


def test_labels_that_are_no_labels_are_refused(session):
    with pytest.raises(OptionError, match="A label must be"):
        events(session, typed_table(session, [5], ["x" * 300]))
