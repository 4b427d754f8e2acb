"""The names of a table's columns, from the first line of a text file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mixkern.errors import FileFormatWarning, TableFileError
from mixkern.io.spelling import is_gap_word, number
from mixkern.wording import listing

_ROW_NUMBERS = ("", "Unnamed: 0")  # how pandas heads them, and what becomes of it when the file is saved again


@dataclass(frozen=True)
class Header:
    """The names of the columns, and what was done to them."""

    names: tuple[str, ...]
    width: int  # fields of a line, a column of row numbers included
    notes: tuple[FileFormatWarning, ...] = ()

    @property
    def is_numbered(self) -> bool:
        """Whether the first field of every row is left out, because it numbers the rows."""
        return self.width > len(self.names)

    def with_first(self) -> "Header":
        """Keep the first column all the same: it has no name, but holds more than numbers of rows."""
        note = FileFormatWarning("The first column has no name, and was called 'column 1'.")
        return Header(("column 1", *self.names), self.width, (note, *self.notes[1:]))


def header_of(record: Sequence[str], line: int, name: str) -> Header:
    """Give the names that a line holds.

    >>> header_of(["", "age", "town"], 1, "a.csv").names
    ('age', 'town')
    """
    _refuse_numbers(record, line, name)
    names = [cell.strip() for cell in record]
    notes = []
    if names[0] in _ROW_NUMBERS and len(names) > 1:
        names = names[1:]
        notes.append("The first column has no name: it was taken for row numbers, and left out.")
    nameless = [i for i, cell in enumerate(names) if not cell]
    first = len(record) - len(names) + 1  # columns count from 1, as in a spreadsheet
    for i in nameless:
        names[i] = f"column {i + first}"
    if nameless:
        notes.append(f"Columns without a name were called {listing(names[i] for i in nameless)}.")
    double = next((cell for cell, count in Counter(names).items() if count > 1), None)
    if double is not None:
        places = " and ".join(str(i + first) for i, cell in enumerate(names) if cell == double)
        raise TableFileError(f"{name}, line {line}: columns {places} have the same name, {double!r}. Rename them.")
    return Header(tuple(names), len(record), tuple(map(FileFormatWarning, notes)))


def _refuse_numbers(record: Sequence[str], line: int, name: str) -> None:
    """Refuse a line of data in the place of names; 0, 1, 2 and so on are how pandas names columns that have none."""
    cells = [cell for cell in record if cell.strip()]
    if not all(number(cell) or number(cell, ",") or is_gap_word(cell) for cell in cells):
        return
    counts = [[str(i + first) for i in range(len(cells))] for first in (0, 1)]
    if len(cells) == 1 or cells not in counts:
        raise TableFileError(
            f"{name}, line {line}: names of columns were expected, but {listing(record, limit=3)} came, all numbers. "
            "Put a line with a name for each column before it."
        )
