"""Tables in text files: CSV, TSV and their kin."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mixkern.encoding.column import Column
from mixkern.errors import FileFormatWarning, TableFileError, hint
from mixkern.io.dialect import Dialect, decimal_named, decimal_signs, delimiter_hint, dialect_of
from mixkern.io.header import Header, header_of
from mixkern.io.lines import LineNumbers, Records
from mixkern.io.parsing import converted, inferred, objects, texts
from mixkern.io.source import CHUNK, Progress, Source
from mixkern.io.spelling import COMMA, is_gap_word, number
from mixkern.io.table_file import N_ROWS, TableFile, checked_rows, frame_of, no_rows, pandas
from mixkern.wording import listing

LARGEST_HEAD = 1 << 25  # bytes: a header and a row of a million columns
N_LOOKED_AT = 1000  # rows that tell how numbers are spelled
N_CELLS = 200_000  # read at a time, as Python's own texts

_BLANK = b"\r\n\t \xef\xbb\xbf"


class DelimitedFile(TableFile):
    """A table in a text file, a line for each row and a sign between fields."""

    def __init__(
        self, source: Source, dialect: Dialect, header: Header, signs: tuple[str, ...], gaps: Collection[str] = ()
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
        # A column's cells as one string take a quarter of the memory of as many texts.
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
        """The sign before decimals in each column."""
        return dict(zip(self.columns, self._signs, strict=True))

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """What could have been read in another way."""
        return (*self._notes, *self._grouped.values())

    def line_of(self, row: int) -> int | None:
        """Give the line in the file at which a row begins, ``None`` where it has not been read yet."""
        return self._numbers.of(row)

    def _batches(self, n_rows: int, on_progress: Progress | None) -> Iterator[list[list[str]]]:
        """Give rows, not too many cells at a time, in pieces whose ends meet every multiple of ``n_rows``."""
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
        """Empty the cells that say what the user has called a gap: the same text, or the same number."""
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
        """Give cells as they are, ``None`` where there is nothing at all."""
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
    source: Source,
    *,
    delimiter: str | None = None,
    decimal: str | Mapping[str, str] | None = None,
    encoding: str | None = None,
    gaps: Collection[str] = (),
) -> DelimitedFile:
    """Look at the head of a text file: how it is written, what its columns are called, how numbers are spelled."""
    size = CHUNK
    head = source.look(size)
    if not head.strip(_BLANK):
        raise TableFileError(f"{source.name} is empty. Expected a line of column names, and a line for each row.")
    dialect = dialect_of(head, source.name, delimiter=delimiter, encoding=encoding)
    header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    while not rows and len(head) == size < LARGEST_HEAD:
        size *= 4
        head = source.look(size)
        header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    if header is None or not rows:
        raise no_rows(source.name)
    if isinstance(decimal, str):
        signs = (decimal_named(decimal),) * len(header.names)
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
    """Tell whether all cells are numbers with this decimal sign."""
    return all(is_gap_word(cell) or number(cell, sign) for cell in cells)


def _comma_notes(columns: Sequence[Sequence[str]], signs: Sequence[str]) -> list[FileFormatWarning]:
    """Give a note on decimal commas, with the first number that has one."""
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


def _start(head: bytes, dialect: Dialect, name: str, *, is_cut: bool) -> tuple[Header | None, list[list[str]]]:
    """Give the header and the first rows, as far as they are there; what is wrong with them is told at once."""
    records = Records([head], dialect, name, is_cut=is_cut)
    header: Header | None = None
    rows: list[list[str]] = []
    try:
        record = records.header()
        if record:
            header = header_of(record, records.line, name)
            while len(rows) < N_LOOKED_AT and (row := records.batch(header.width, 1)):
                rows += row
    except TableFileError:
        if not (is_cut and records.is_spent):  # a quote that is open at the end may close in what comes later
            raise
    if header is not None and header.is_numbered and not all(row[0].strip().isdecimal() for row in rows):
        header = header.with_first()
    return header, rows


def _joined(frames: list[Any]) -> Any:
    return frames[0] if len(frames) == 1 else pandas().concat(frames)
