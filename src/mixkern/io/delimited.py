"""Read tables in delimited text files, such as CSV and TSV."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mixkern.encoding.column import Column
from mixkern.encoding.grammar import COMMA, POINT, SIGNS, is_gap_word, number
from mixkern.errors import FileFormatWarning, OptionError, TableFileError, hint
from mixkern.io.parsing import converted, inferred, objects, texts
from mixkern.io.records import Dialect, LineNumbers, Records, delimiter_hint, dialect_of
from mixkern.io.source import CHUNK, Progress, TableSource
from mixkern.io.table_file import N_ROWS, TableFile, checked_rows, frame_of, no_rows, pandas
from mixkern.wording import listing

_ROW_NUMBERS = ("", "Unnamed: 0")  # written by pandas: a column without a name, and its name after another reading


@dataclass(frozen=True)
class HeaderLine:
    """The column names in the first line of a file, and notes on names that were changed."""

    names: tuple[str, ...]
    width: int  # fields of a line, a column of row numbers included
    notes: tuple[FileFormatWarning, ...] = ()

    @property
    def is_numbered(self) -> bool:
        """Whether the first field of every row is left out as a row number."""
        return self.width > len(self.names)

    def with_first(self) -> "HeaderLine":
        """Return a header with the first column, which has no name but holds more than row numbers."""
        note = FileFormatWarning("The first column has no name, and was called 'column 1'.")
        return HeaderLine(("column 1", *self.names), self.width, (note, *self.notes[1:]))


def header_line(record: Sequence[str], line: int, name: str) -> HeaderLine:
    """Return the column names in a line.

    >>> header_line(["", "age", "town"], 1, "a.csv").names
    ('age', 'town')
    """
    _check_no_numbers(record, line, name)
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
    return HeaderLine(tuple(names), len(record), tuple(map(FileFormatWarning, notes)))


def _check_no_numbers(record: Sequence[str], line: int, name: str) -> None:
    """Raise an error if a line holds numbers instead of names; 0, 1, 2, ... are names that pandas gives."""
    cells = [cell for cell in record if cell.strip()]
    if not all(number(cell) or number(cell, ",") or is_gap_word(cell) for cell in cells):
        return
    counts = [[str(i + first) for i in range(len(cells))] for first in (0, 1)]
    if len(cells) == 1 or cells not in counts:
        raise TableFileError(
            f"{name}, line {line}: expected column names, but found numbers: {listing(record, limit=3)}. "
            "Put a line with a name for each column before it."
        )


LARGEST_HEAD = 1 << 25  # bytes: a header and a row of a million columns
N_LOOKED_AT = 1000  # rows from which decimal signs are detected
N_CELLS = 200_000  # read at a time, as Python texts

_BLANK = b"\r\n\t \xef\xbb\xbf"


class DelimitedFile(TableFile):
    """A table in a text file, with a line for each row and a delimiter between fields."""

    def __init__(
        self,
        source: TableSource,
        dialect: Dialect,
        header: HeaderLine,
        signs: tuple[str, ...],
        gaps: Collection[str] = (),
    ) -> None:
        super().__init__(source.name, header.names, header.notes)
        self.dialect = dialect
        self._source = source
        self._width = header.width
        self._first = header.width - len(header.names)  # 1 where row numbers are left out
        self._signs = signs
        self._gaps = frozenset(gaps)
        self._grouped: dict[str, FileFormatWarning] = {}  # a note on each column with thousands set apart
        self._numbers = LineNumbers()
        self._note_dialect()

    def frame(
        self,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        kinds: Mapping[str, Column] | None = None,
    ) -> Any:
        """Read all rows; see :meth:`TableFile.frame`."""
        if kinds is not None:
            return _joined(list(self.blocks(kinds, N_ROWS, text, on_progress)))
        # The cells of a column joined to one string take a quarter of the memory of single texts.
        packed: list[list[str]] = [[] for _ in self.columns]
        for rows in self._batches(N_CELLS, on_progress):
            for store, cells in zip(packed, self._cells(rows), strict=True):
                store.append("\0".join(cells))
        found: dict[str, Any] = {}
        n_rows = 0
        for i, name in enumerate(self.columns):
            whole = "\0".join(packed[i]).split("\0")
            if name not in text:
                whole = self._without_gaps(whole, self._signs[i])
            packed[i] = []
            found[name] = self._labels(name, whole) if name in text else self._inferred(i, whole)
            n_rows = len(whole)
        return frame_of(found, 0, n_rows)

    def blocks(
        self,
        kinds: Mapping[str, Column],
        n_rows: int = N_ROWS,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        with_texts: bool = False,
    ) -> Iterator[Any]:
        """Read rows block by block; see :meth:`TableFile.blocks`."""
        columns = [None if name in text else kinds.get(name) for name in self.columns]
        pending: list[Any] = []
        as_they_are: list[Any] = []
        start = 0
        for rows in self._batches(checked_rows(n_rows), on_progress):
            pending.append(self._converted(rows, columns, start))
            if with_texts:
                as_they_are.append(self._unconverted(rows, start))
            start += len(rows)
            if start % n_rows == 0:
                yield (_joined(pending), _joined(as_they_are)) if with_texts else _joined(pending)
                pending, as_they_are = [], []
        if pending:
            yield (_joined(pending), _joined(as_they_are)) if with_texts else _joined(pending)

    @property
    def decimals(self) -> dict[str, str]:
        """The decimal sign of each column."""
        return dict(zip(self.columns, self._signs, strict=True))

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """Signs, encodings and columns that could have been read in another way."""
        return (*self._notes, *self._grouped.values())

    def line_of(self, row: int) -> int | None:
        """Return the line at which a row begins, ``None`` if it has not been read yet."""
        return self._numbers.of(row)

    def _batches(self, n_rows: int, on_progress: Progress | None) -> Iterator[list[list[str]]]:
        """Yield rows in batches of at most ``N_CELLS`` cells; a batch ends at every multiple of ``n_rows``."""
        most = max(1, N_CELLS // self._width)
        with self._source.opened() as stream:
            records = Records(stream.chunks(), self.dialect, self.name)
            self._numbers = records.numbers
            records.header()
            n_read = 0
            while rows := records.batch(self._width, min(most, n_rows - n_read % n_rows)):
                n_read += len(rows)
                if on_progress is not None:
                    on_progress(*stream.progress)
                yield rows
            if on_progress is not None:
                on_progress(*stream.progress)
        if not n_read:
            raise no_rows(self.name)

    def _cells(self, rows: list[list[str]]) -> list[tuple[str, ...]]:
        return list(zip(*rows, strict=True))[self._first :]

    def _without_gaps(self, cells: Sequence[str], sign: str) -> list[str]:
        """Empty the cells with a text, or a number, that the user has named as a gap."""
        if not self._gaps:
            return list(cells)
        values = {one.value for gap in self._gaps if (one := number(gap))}
        known = {cell: (one := number(cell, sign)) is not None and one.value in values for cell in set(cells)}
        return ["" if known[cell] or cell.strip() in self._gaps else cell for cell in cells]

    def _labels(self, name: str, cells: Sequence[str]) -> Any:
        words = sorted({cell for cell in set(cells) if cell.strip() and is_gap_word(cell)})
        if words:
            self._note(FileFormatWarning(f"{name!r}: {listing(words)} was read as an empty cell."))
        return texts(cells)

    def _inferred(self, i: int, cells: Sequence[str]) -> Any:
        typed = inferred(self.columns[i], cells, self._signs[i], self.line_of)
        if typed.note is not None:
            self._note(typed.note)
        return typed.values

    def _converted(self, rows: list[list[str]], columns: list[Column | None], start: int) -> Any:
        def line_of(row: int) -> int | None:
            return self.line_of(start + row)

        parts = zip(self.columns, self._cells(rows), columns, self._signs, strict=True)
        found = {name: self._cells_converted(name, cells, column, sign, line_of) for name, cells, column, sign in parts}
        return frame_of(found, start, len(rows))

    def _unconverted(self, rows: list[list[str]], start: int) -> Any:
        """Return the texts of cells, ``None`` for empty ones."""
        parts = zip(self.columns, self._cells(rows), strict=True)
        return frame_of({name: objects([cell or None for cell in cells]) for name, cells in parts}, start, len(rows))

    def _cells_converted(self, name: str, cells: Any, column: Column | None, sign: str, line_of: Any) -> Any:
        if column is not None:
            cells = self._without_gaps(cells, sign)
        try:
            return converted(name, cells, column, sign, line_of, lambda note: self._grouped.setdefault(name, note))
        except TableFileError as error:
            raise error.prefixed(f"{self.name}, ") from error

    def _note_dialect(self) -> None:
        encoding = self.dialect.encoding.removesuffix("-sig")
        if encoding != "utf-8":
            self._note(FileFormatWarning(f"{self.name} was read as {encoding}."))
        if len(self.columns) == 1:
            self._note(FileFormatWarning("There is only one column.", hint=delimiter_hint(";")))


def delimited_file(
    source: TableSource,
    *,
    delimiter: str | None = None,
    decimal: str | Mapping[str, str] | None = None,
    encoding: str | None = None,
    gaps: Collection[str] = (),
) -> DelimitedFile:
    """Open a text file: detect its dialect, its column names and its decimal signs from its first bytes."""
    size = CHUNK
    head = source.peek(size)
    if not head.strip(_BLANK):
        raise TableFileError(f"{source.name} is empty. Expected a line of column names, and a line for each row.")
    dialect = dialect_of(head, source.name, delimiter=delimiter, encoding=encoding)
    header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    while not rows and len(head) == size < LARGEST_HEAD:
        size *= 4
        head = source.peek(size)
        header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    if header is None or not rows:
        raise no_rows(source.name)
    if isinstance(decimal, str):
        signs = (_decimal_sign(decimal),) * len(header.names)
        return DelimitedFile(source, dialect, header, signs, gaps)
    columns = list(zip(*rows, strict=True))[-len(header.names) :]
    found = decimal_signs(columns, dialect.delimiter)
    known = decimal or {}
    signs = tuple(
        known[name] if name in known and _is_spelled(cells, known[name]) else sign
        for name, sign, cells in zip(header.names, found, columns, strict=True)
    )
    notes = (*header.notes, *_comma_notes(columns, signs))
    return DelimitedFile(source, dialect, replace(header, notes=notes), signs, gaps)


def _is_spelled(cells: Sequence[str], sign: str) -> bool:
    """Return whether all cells are numbers with this decimal sign."""
    return all(is_gap_word(cell) or number(cell, sign) for cell in cells)


def _comma_notes(columns: Sequence[Sequence[str]], signs: Sequence[str]) -> list[FileFormatWarning]:
    """Return a note on decimal commas, with the first number that has one."""
    pairs = (
        (cell, number(cell, sign))
        for cells, sign in zip(columns, signs, strict=True)
        if sign == COMMA
        for cell in cells
    )
    found = next(((cell, one) for cell, one in pairs if one and COMMA in cell), None)
    if found is None:
        return []
    text = f"Decimal commas were found: {found[0].strip()} is read as {found[1].plain}."
    step = hint(
        python="If the comma is no decimal sign: decimal='.'.", cli="If the comma is no decimal sign: --decimal ."
    )
    return [FileFormatWarning(text, hint=step)]


def _start(head: bytes, dialect: Dialect, name: str, *, is_cut: bool) -> tuple[HeaderLine | None, list[list[str]]]:
    """Return the header and the first rows, as far as the bytes hold them."""
    records = Records([head], dialect, name, is_cut=is_cut)
    header: HeaderLine | None = None
    rows: list[list[str]] = []
    try:
        record = records.header()
        if record:
            header = header_line(record, records.line, name)
            while len(rows) < N_LOOKED_AT and (row := records.batch(header.width, 1)):
                rows += row
    except TableFileError:
        if not (is_cut and records.is_exhausted):  # a quote that is open at the end may be closed further on
            raise
    if header is not None and header.is_numbered and not all(row[0].strip().isdecimal() for row in rows):
        header = header.with_first()
    return header, rows


def _decimal_sign(given: str) -> str:
    """Return the decimal sign, which must be a point or a comma."""
    if given not in SIGNS:
        raise OptionError(f"The decimal sign must be '.' or ',', but it is {given!r}.")
    return given


def decimal_signs(columns: Sequence[Sequence[str]], delimiter: str) -> tuple[str, ...]:
    """Return the decimal sign of each column, detected from its first cells.

    A cell counts if it is a number with one sign and not with the other: 3,14 but not 1,234. A column without such
    cells gets the sign of the other columns.

    >>> decimal_signs([["3,14", "2,5"], ["1", "2"], ["1.5", ""]], ";")
    (',', ',', '.')
    """
    balances = [_balance(cells) for cells in columns]
    total = sum(balances)
    has_groups = any(COMMA in cell and number(cell) for cells in columns for cell in cells) if not total else False
    # Files are delimited by semicolons where the comma is the decimal sign.
    common = COMMA if total > 0 or (has_groups and delimiter == ";") else POINT
    return tuple(_sign_of(balance) or common for balance in balances)


def _sign_of(balance: int) -> str | None:
    if balance == 0:
        return None
    return COMMA if balance > 0 else POINT


def _balance(cells: Sequence[str]) -> int:
    """Return the number of cells that are numbers only with a decimal comma, less those only with a point."""
    balance = 0
    for cell in cells:
        if COMMA in cell or POINT in cell:
            balance += (number(cell, COMMA) is not None) - (number(cell, POINT) is not None)
    return balance


def _joined(frames: list[Any]) -> Any:
    return frames[0] if len(frames) == 1 else pandas().concat(frames)
