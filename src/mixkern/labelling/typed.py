"""Labels that were typed into a table, such as one of suggested rows: matched by row numbers, and recorded."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from mixkern.advice.source import LabelSource
from mixkern.encoding.grammar import SIGNS, is_gap_word, number
from mixkern.errors import JournalError, UnknownColumnError
from mixkern.labelling.journal import Action, Event, Source
from mixkern.labelling.session import LabelSession, checked_label
from mixkern.labelling.table import LabelTable
from mixkern.wording import counted, listing, nearest

LEAST_EQUAL = 0.5  # share of the cells of a row that must be as in the table


def typed_events(
    session: LabelSession, typed: Any, *, row_column: str, source_column: str | None, user: str, name: str
) -> list[Event]:
    """Return the labels of a typed table that the session does not have yet.

    Parameters
    ----------
    session : LabelSession
        The session of the table.
    typed : pyarrow.Table
        Texts, null where a cell is empty: a column of row numbers, counted from 1, the column of labels, and some
        columns of the table.
    row_column, source_column : str
        Columns of the row numbers, and of the sources of labels, which may be missing.
    user : str
        Who has typed them.
    name : str
        Name of the typed table, for messages.

    Raises
    ------
    JournalError
        If a row number is none of the table, occurs twice, or its cells are those of another row: nothing is recorded.
    """
    table, target = session.table, session.table.target
    for column in (row_column, target):
        if column not in typed.column_names:
            raise UnknownColumnError(
                f"{name} has no column {column!r}.{nearest(column, typed.column_names)} Expected are row numbers in "
                f"{row_column!r} and labels in {target!r}, as in a table of mixkern suggest."
            )
    cells: Mapping[str, Sequence[str | None]] = {each: typed[each].to_pylist() for each in typed.column_names}
    rows = _rows(cells[row_column], len(table), name)
    labels = [None if label is None or is_gap_word(label) else checked_label(label) for label in cells[target]]
    filled = [(row, at) for at, row in enumerate(rows) if labels[at] is not None]
    _check_cells(table, cells, filled, name)
    digest = hashlib.blake2b(repr([(row, labels[at]) for row, at in filled]).encode(), digest_size=9).hexdigest()
    known = session.labels
    present = session.class_names(str(labels[at]) for _, at in filled)
    return [
        Event(
            user=user,
            action=Action.LABEL,
            request=f"typed {digest}",
            row_key=table.keys[row],
            row=row,
            label=str(labels[at]),
            source=_source(cells.get(source_column or ""), at),
        )
        for (row, at), name_now in zip(filled, present, strict=True)
        if known.get(row) != name_now
    ]


def _rows(texts: Sequence[str | None], n_rows: int, name: str) -> list[int]:
    """Return positions from row numbers."""
    found = []
    for line, text in enumerate(texts, start=1):
        found_number = None if text is None else number(text)
        value = 0.0 if found_number is None else found_number.value
        if not math.isfinite(value) or value != int(value) or not 1 <= value <= n_rows:
            raise JournalError(
                f"{name}: the row number in line {line} after the header is {text!r}, but expected is a whole number "
                f"from 1 to {n_rows}. Nothing was recorded."
            )
        found.append(int(value) - 1)
    twice = sorted({row + 1 for row in found if found.count(row) > 1}) if len(set(found)) < len(found) else []
    if twice:
        raise JournalError(f"{name} has {listing(twice)} more than once. Keep one line for each row number.")
    return found


def _check_cells(
    table: LabelTable, cells: Mapping[str, Sequence[str | None]], filled: Sequence[tuple[int, int]], name: str
) -> None:
    """Raise an error where cells are those of another row: the table was sorted since, or rows were removed."""
    shared = [column for column in table.columns if column in cells]
    wrong = []
    for row, at in filled:
        n_equal = sum(_is_equal(table.cells[column][row].as_py(), cells[column][at]) for column in shared)
        if shared and n_equal < LEAST_EQUAL * len(shared):
            wrong.append(row + 1)
    if wrong:
        raise JournalError(
            f"{name}: the cells of {counted(len(wrong), 'line')} are not those of the same rows of {table.name}: row "
            f"{listing(wrong)}. Were rows of {table.name} sorted or removed since? Nothing was recorded."
        )


def _is_equal(ours: str | None, theirs: str | None) -> bool:
    """Return whether two texts are the same cell: a spreadsheet may write numbers in another way.

    >>> _is_equal("1.50", "1,5"), _is_equal("=1+1", "'=1+1"), _is_equal("a", "b"), _is_equal(None, None)
    (True, True, False, True)
    """
    if ours is None or theirs is None:
        return ours == theirs
    if ours == theirs.removeprefix("'"):
        return True
    pairs = [(number(ours, one), number(theirs, other)) for one in SIGNS for other in SIGNS]
    return any(a is not None and b is not None and a.value == b.value for a, b in pairs)


def _source(sources: Sequence[str | None] | None, at: int) -> Source:
    text = None if sources is None else sources[at]
    return Source(text) if text in list(LabelSource) else Source.TYPED
