"""Read tables in Excel files (.xlsx), whose cells have types."""

import datetime as dt
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Any

from mixkern.encoding.cell import text as cell_text
from mixkern.encoding.grammar import POINT, is_gap_word
from mixkern.encoding.written import LARGEST
from mixkern.errors import FileFormatWarning, TableFileError, hint
from mixkern.imports import optional, pa
from mixkern.io.arrow_file import ArrowFile
from mixkern.io.blocks import TableFile, no_rows
from mixkern.io.columns import inferred
from mixkern.io.dialect import N_LOOKED_AT, Dialect, comma_note, header_line, with_decimals
from mixkern.io.source import TableSource
from mixkern.wording import listing, nearest

WORKBOOK = "xl/workbook.xml"
MOST_CELLS = 1 << 27  # of a sheet from its first to its last row and column, which are held in memory
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,4})([0-9]{1,10})["']""")
_OVERLAP = 64  # bytes: a reference to a cell is shorter


def is_workbook(source: TableSource) -> bool:
    """Return whether a file is an Excel workbook, by the names of its parts."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            return not source.is_pipe and WORKBOOK in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


class ExcelFile(ArrowFile):
    """A table in a sheet of an Excel workbook: numbers, texts, booleans and dates; mixed columns are texts."""

    _format = "excel"

    def __init__(
        self,
        source: TableSource,
        sheet: str | None = None,
        gaps: Collection[str] = (),
        decimal: str | Mapping[str, str] | None = None,
    ) -> None:
        rows, self._first_row, sheets = _sheet(source, sheet)
        if not rows:
            raise TableFileError(f"{source.name} is empty. Expected a row of column names, and a row for each row.")
        header = header_line(["" if cell is None else str(cell) for cell in rows[0]], self._first_row + 1, source.name)
        if not rows[1:]:
            raise no_rows(source.name)
        columns = [_column(cells) for cells in zip(*rows[1:], strict=True)]
        self._table = pa.table(columns, names=list(header.written))
        texts = _texts(header.names, columns)
        dialect = with_decimals(Dialect("excel"), list(texts), list(texts.values()), decimal)
        of_texts = list(dialect.decimals.values())
        dialect = replace(dialect, decimals={**dict.fromkeys(header.names, POINT), **dialect.decimals})
        TableFile.__init__(self, source, dialect, header.names, gaps, header.numbered)
        self._is_numbered = header.numbered is not None and self._is_row_numbers(columns[0])
        self._notes += [*header.notes, *comma_note(list(texts.values()), of_texts)]
        if sheet is None and len(sheets) > 1:
            step = hint(python=f"For another: sheet={sheets[1]!r}.", cli=f"For another: --sheet {sheets[1]!r}")
            text = f"{source.name} has {len(sheets)} sheets, {listing(sheets)}: the first one was read."
            self._notes.append(FileFormatWarning(text, hint=step))

    def line_of(self, row: int) -> int | None:
        """Return the number of a row in the sheet."""
        return self._first_row + row + 2

    def _is_row_numbers(self, cells: Any) -> bool:
        return bool(pa.types.is_integer(cells.type))

    @contextmanager
    def _batches(self) -> Iterator[tuple[list[str], int, Iterator[Any]]]:
        yield self._table.column_names, self._table.nbytes, iter(self._table.to_batches())

    def _inferred(self, name: str, cells: Any) -> Any:
        """Read texts as those of a text file are read."""
        cells = super()._inferred(name, cells)
        if not pa.types.is_string(cells.type):
            return cells
        return self._noted(name, inferred(name, cells.fill_null(""), self.dialect.decimals[name], self.line_of))


def _sheet(source: TableSource, sheet: str | None) -> tuple[list[list[Any]], int, list[str]]:
    """Return the rows of a sheet, the position of the first one, and the names of all sheets."""
    calamine = optional("python_calamine", purpose="An Excel file")
    damages = (calamine.CalamineError, OSError, ValueError, IndexError, zipfile.BadZipFile, zlib.error)
    with source.guarded(damages, "is not an Excel file, or damaged", "Save it again"):
        _check_size(source)
        with calamine.CalamineWorkbook.from_path(str(source.path)) as book:
            names = list(book.sheet_names)
            if sheet is not None and sheet not in names:
                raise TableFileError(
                    f"{source.name} has no sheet {sheet!r}.{nearest(sheet, names)} It has {listing(names)}."
                )
            found = book.get_sheet_by_name(names[0] if sheet is None else sheet)
            rows = found.to_python(skip_empty_area=True)
            return [[None if cell == "" else cell for cell in row] for row in rows], (found.start or (0, 0))[0], names


def _check_size(source: TableSource) -> None:
    """Raise an error for a sheet that is too large: cells far away from each other exhaust the memory."""
    with zipfile.ZipFile(source.path) as archive:
        for member in archive.namelist():
            if not member.startswith("xl/worksheets/") or not member.endswith(".xml"):
                continue
            with archive.open(member) as file:
                height, width = _extent(file)
            if width * height > MOST_CELLS:
                raise TableFileError(
                    f"{source.name} has a sheet of {height:,} rows and {width:,} columns, which is too large. "
                    "Delete the cells that lie far away from the table, or save it as CSV."
                )


def _extent(file: Any) -> tuple[int, int]:
    """Return the last row and the last column with a cell, by the references to cells in a sheet."""
    columns: set[bytes] = set()
    rows: set[bytes] = set()
    rest = b""
    while piece := file.read(1 << 22):
        for column, row in _CELL.findall(rest + piece):
            columns.add(column)
            rows.add(row)
        rest = piece[-_OVERLAP:]
    numbers = (reduce(lambda number, letter: 26 * number + letter - 64, name.upper(), 0) for name in columns)
    return max(map(int, rows), default=0), max(numbers, default=0)  # column AB has the number 28


def _texts(names: Sequence[str], columns: Sequence[Any]) -> dict[str, list[str]]:
    """Return the first cells of each column of texts, which may be numbers with decimal commas."""
    pairs = zip(names, columns, strict=True)
    return {
        name: [cell or "" for cell in cells[:N_LOOKED_AT].to_pylist()]
        for name, cells in pairs
        if pa.types.is_string(cells.type)
    }


def _column(cells: tuple[Any, ...]) -> Any:
    """Return the cells of a column in one type; text that marks a gap is a gap among numbers and dates."""
    words = [cell for cell in cells if isinstance(cell, str)]
    if words and len(words) < sum(cell is not None for cell in cells) and all(map(is_gap_word, words)):
        cells = tuple(None if isinstance(cell, str) else cell for cell in cells)
    types = {type(cell) for cell in cells if cell is not None}
    if types <= {int, float} and all(cell is None or (cell == cell // 1 and abs(cell) < LARGEST) for cell in cells):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    if types <= {int, float}:
        return pa.array(cells, pa.float64())
    if types == {bool}:
        return pa.array(cells, pa.bool_())
    if types <= {dt.date, dt.datetime}:
        return pa.array(
            [dt.datetime.combine(c, dt.time()) if type(c) is dt.date else c for c in cells], pa.timestamp("us")
        )
    return pa.array([None if cell is None else cell_text(cell) for cell in cells], pa.string())
