"""A table in a file: its column names at once, its rows whole or block by block; those of delimited text."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

from mixkern.encoding.inference import TableColumn
from mixkern.encoding.spelling import Spelling, spelling_notes
from mixkern.encoding.written import LARGEST
from mixkern.errors import FileFormatWarning, OptionError, TableFileError
from mixkern.imports import pa, pc
from mixkern.io.columns import Typed, converted, inferred, largest, plain_numbers, texts, without_gaps
from mixkern.io.dialect import Dialect, HeaderLine, comma_note, delimiter_hint
from mixkern.io.source import Progress, TableSource
from mixkern.io.text_blocks import TextBlocks
from mixkern.threads import available_threads
from mixkern.wording import listing

N_ROWS = 50_000  # of a block
FIRST_ROWS = 1000  # from which columns of plain numbers are found
MANY_ROWS = 10_000  # whose columns are typed in threads
_ROW_NUMBER = " *(?:0|[1-9][0-9]*) *"


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a table file."""

    start: int  # position of the first row, from 0
    typed: Any  # pyarrow.Table: columns in their types
    read: Callable[[], Any]  # returns the cells

    @cached_property
    def cells(self) -> Any:
        """All columns as they are in the file, a pyarrow.Table."""
        return self.read()

    def __len__(self) -> int:
        return int((self.typed if self.typed.num_columns else self.cells).num_rows)


class TableFile(ABC):
    """A table in a file, opened by :func:`mixkern.io.table_file`.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    names : tuple of str
        Names of all columns, in the order of the file.
    columns : tuple of str
        Those to learn from: without a first column that has no name and holds row numbers.
    dialect : Dialect
        How the file is written.
    notes : tuple of FileFormatWarning
        Signs, encodings and columns that could have been read in another way; some are found while rows are read.
    """

    def __init__(
        self,
        source: TableSource,
        dialect: Dialect,
        names: Sequence[str],
        gaps: Collection[str] = (),
        numbered: str | None = None,
    ) -> None:
        self.name, self.names, self.dialect = source.name, tuple(names), dialect
        self._source, self._gaps = source, frozenset(gaps)
        self._numbered = numbered  # a column without a name
        self._is_numbered = numbered is not None
        self._notes: list[FileFormatWarning] = []
        self._remarks: dict[str, Typed] = {}  # on columns, without their values

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns to learn from."""
        return tuple(name for name in self.names if name != self._numbered or not self._is_numbered)

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """Signs, encodings and columns that could have been read in another way."""
        first = [] if self._numbered is None else [FileFormatWarning(self._index_note())]
        remarks = {name: self._remarks[name] for name in self.names if name in self._remarks}  # typed in threads
        columns = [remark.note for remark in remarks.values() if remark.note is not None]
        spelled = [FileFormatWarning(text, hint=step) for text, step in spelling_notes(self.spellings)]
        padded = {name: remark.padded for name, remark in remarks.items() if remark.padded}
        if padded:
            start = f"{listing(padded)} {'has' if len(padded) == 1 else 'have'} numbers with leading zeros such as "
            end = f"{next(iter(padded.values()))}: they were read as text, as codes are."
            spelled.append(FileFormatWarning(start + end))
        return (*first, *self._notes, *columns, *spelled)

    @property
    def spellings(self) -> dict[str, tuple[Spelling, str]]:
        """How columns are written that are not plain, with a cell of each."""
        remarks = [(name, self._remarks.get(name)) for name in self.names]
        return {name: remark.spelling for name, remark in remarks if remark is not None and remark.spelling is not None}

    def table(
        self,
        text: Collection[str] = (),
        kinds: Mapping[str, TableColumn] | None = None,
        on_progress: Progress | None = None,
    ) -> Any:
        """Read all rows as a pyarrow.Table; the parameters are those of :meth:`blocks`."""
        return self.whole(text, kinds, on_progress).typed

    def whole(
        self,
        text: Collection[str] = (),
        kinds: Mapping[str, TableColumn] | None = None,
        on_progress: Progress | None = None,
    ) -> Block:
        """Read all rows as one block; without ``kinds``, columns have the narrowest type that fits their cells."""
        cells, read = self._all_cells(kinds, text, on_progress)
        return Block(0, self._typed(cells, kinds, text, 0), read)

    def blocks(
        self,
        kinds: Mapping[str, TableColumn],
        n_rows: int = N_ROWS,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
    ) -> Iterator[Block]:
        """Read rows block by block; a row is read in the same way in any block.

        Parameters
        ----------
        kinds : mapping from str to ContinuousColumn or CategoricalColumn
            The fitted columns of an encoder (``TableEncoder.columns_``) by their names.
        n_rows : int, default=50_000
            Rows of a block; the last may have fewer.
        text : collection of str, default=()
            Columns of labels: their cells stay texts, null where they are empty.
        on_progress : callable, default=None
            Called with the number of bytes read and the number in all, which is ``None`` for a pipe.
        """
        if n_rows < 1:
            raise OptionError(f"A block must have at least 1 row, but n_rows is {n_rows}.")
        start = 0
        for cells in _sized(self._parts(on_progress), n_rows):
            yield Block(start, self._typed(cells, kinds, text, start), partial(pa.concat_tables, [cells]))
            start += cells.num_rows

    def line_of(self, row: int) -> int | None:  # noqa: ARG002
        """Return the line at which a row begins, ``None`` for files without lines and rows that were not read yet."""
        return None

    def _typed(self, cells: Any, kinds: Mapping[str, TableColumn] | None, text: Collection[str], start: int) -> Any:
        columns = dict(zip(self.names, cells.columns, strict=True))
        if kinds is None and self._numbered is not None:
            self._is_numbered = self._is_row_numbers(columns[self._numbered])
        names = self.columns if kinds is None else [name for name in self.names if name in kinds or name in text]

        def typed(name: str) -> Any:
            cells = columns.pop(name)
            if name in text:
                return self._labels(name, cells)
            return self._inferred(name, cells) if kinds is None else self._converted(name, cells, kinds[name], start)

        if cells.num_rows < MANY_ROWS:
            return pa.table({name: typed(name) for name in names})
        with ThreadPoolExecutor(available_threads()) as pool:
            return pa.table(dict(zip(names, pool.map(typed, names), strict=True)))

    def _all_cells(self, kinds: Any, text: Collection[str], on_progress: Progress | None) -> tuple[Any, Any]:  # noqa: ARG002
        """Return the cells of all rows, and a function that returns them as they are in the file."""
        cells = pa.concat_tables(list(self._parts(on_progress)))
        return cells, lambda: cells

    def _noted(self, name: str, typed: Typed) -> Any:
        """Return the values of a column, and keep what could have been read in another way."""
        self._remarks[name] = replace(typed, values=None)
        return typed.values

    def _index_note(self) -> str:
        """Return what is done with a first column without a name."""
        end = ": it was taken for row numbers, and not learned from." if self._is_numbered else ""
        return f"The first column has no name{end or f', and was called {self._numbered!r}.'}"

    @abstractmethod
    def _parts(self, on_progress: Progress | None) -> Iterator[Any]:
        """Yield tables of some rows each, with the cells of all columns as they are in the file."""

    def _is_row_numbers(self, cells: Any) -> bool:  # noqa: ARG002
        """Return whether a column without a name holds row numbers in all rows."""
        return True

    @abstractmethod
    def _labels(self, name: str, cells: Any) -> Any:
        """Return a column of labels as texts."""

    @abstractmethod
    def _inferred(self, name: str, cells: Any) -> Any:
        """Return a whole column in the narrowest type that fits its cells."""

    @abstractmethod
    def _converted(self, name: str, cells: Any, column: TableColumn, start: int) -> Any:
        """Return cells in the type of a fitted column; the first is in row ``start``."""


class DelimitedFile(TableFile):
    """A table in a text file, with a line for each row and a delimiter between fields."""

    def __init__(
        self, source: TableSource, dialect: Dialect, header: HeaderLine, rows: list[list[str]], gaps: Collection[str]
    ) -> None:
        columns = list(zip(*rows, strict=True))
        super().__init__(source, dialect, header.names, gaps, header.numbered)
        self._is_numbered = header.numbered is not None and all(re.fullmatch(_ROW_NUMBER, cell) for cell in columns[0])
        self._blocks = TextBlocks((), dialect, self.name, header.written)
        self._first = columns if len(rows) >= FIRST_ROWS else []
        self._written = header.written
        self._notes += [*header.notes, *comma_note(columns, list(dialect.decimals.values()))]
        if len(self.names) == 1:
            self._notes.append(FileFormatWarning("There is only one column.", hint=delimiter_hint(";")))

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """Signs, encodings and columns that could have been read in another way."""
        encoding = self.dialect.encoding.removesuffix("-sig")
        note = [FileFormatWarning(f"{self.name} was read as {encoding}.")] if encoding != "utf-8" else []
        if n := self._blocks.n_blank_rows:
            which = "A blank line was read as a row" if n == 1 else f"{n:,} blank lines were read as rows"
            note.append(FileFormatWarning(f"{which} with a gap, as there is only one column."))
        return (*super().notes, *note)

    def line_of(self, row: int) -> int | None:
        """Return the line at which a row begins, ``None`` if it has not been read yet."""
        return self._blocks.numbers.of(row)

    def _all_cells(self, kinds: Any, text: Collection[str], on_progress: Progress | None) -> tuple[Any, Any]:
        """Return all rows; columns that have plain numbers in their first rows are converted as they are read."""
        types = {} if kinds is not None or self._gaps or self.dialect.has_spaces else self._first_types(text)
        if not types:
            return super()._all_cells(kinds, text, on_progress)
        parts, columns = list(self._parts(on_progress, types)), []
        texts = cache(self._blocks.texts)  # read once, if at all
        for i in range(len(self.names)):
            chunks = [chunk for part in parts for chunk in part.column(i).chunks]
            is_certain = len({chunk.type for chunk in chunks}) == 1 and _is_certain(pa.chunked_array(chunks))
            columns.append(pa.chunked_array(chunks) if is_certain else texts().column(i))
        return pa.table(columns, names=self._written), texts

    def _first_types(self, text: Collection[str]) -> dict[str, Any]:
        """Return the types of columns whose first cells are plain numbers; floats have the same decimal sign."""
        signs = self.dialect.decimals
        others = {*text, self._numbered, self._written[0] if self._numbered else None}
        first = {n: c for n, c in zip(self.names, self._first, strict=False) if n not in others}
        found = {n: plain_numbers(pa.chunked_array([c[:FIRST_ROWS]], pa.string()), signs[n]) for n, c in first.items()}
        types = {name: values.type for name, values in found.items() if values is not None}
        sign = next((signs[name] for name, kind in types.items() if kind == pa.float64()), "")
        return {name: kind for name, kind in types.items() if kind == pa.int64() or signs[name] == sign}

    def _parts(self, on_progress: Progress | None, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        with self._source.opened() as stream:
            self._blocks = blocks = TextBlocks(stream.chunks(), self.dialect, self.name, self._written, types)
            for part in blocks:
                if blocks.encoding != self.dialect.encoding:
                    self.dialect = replace(self.dialect, encoding=blocks.encoding)
                if on_progress is not None:
                    on_progress(*stream.progress)
                yield part
            if on_progress is not None:
                on_progress(*stream.progress)
        if not blocks.numbers.n_rows:
            raise no_rows(self.name)

    def _is_row_numbers(self, cells: Any) -> bool:
        """Return whether all cells are whole numbers without leading zeros."""
        return bool(pc.all(pc.match_substring_regex(cells, f"^{_ROW_NUMBER}$")).as_py())

    def _labels(self, name: str, cells: Any) -> Any:
        cells = self._trimmed(cells)
        found = texts(cells)
        if found.null_count:
            words = sorted(word for word in pc.unique(cells.filter(pc.is_null(found))).to_pylist() if word.strip())
            if words:
                note = FileFormatWarning(f"{name!r}: {listing(words)} was read as an empty cell.")
                return self._noted(name, Typed(found, note=note))
        return found

    def _inferred(self, name: str, cells: Any) -> Any:
        if not pa.types.is_string(cells.type):
            return cells  # plain numbers
        return self._noted(name, inferred(name, self._there(name, cells), self.dialect.decimals[name], self.line_of))

    def _converted(self, name: str, cells: Any, column: TableColumn, start: int) -> Any:
        try:
            return converted(
                name,
                self._there(name, cells),
                column,
                self.dialect.decimals[name],
                lambda row: self.line_of(start + row),
                lambda spelling, cell: self._remarks.setdefault(name, Typed(None, (spelling, cell))),
                day_first=self.dialect.day_first.get(name),
            )
        except TableFileError as error:
            raise error.prefixed(f"{self.name}, ") from error

    def _there(self, name: str, cells: Any) -> Any:
        """Return trimmed cells without those that were named as gaps."""
        return without_gaps(self._trimmed(cells), self._gaps, self.dialect.decimals[name])

    def _trimmed(self, cells: Any) -> Any:
        """Return cells without the blanks that follow each delimiter."""
        return pc.utf8_ltrim(cells, " ") if self.dialect.has_spaces else cells


def _is_certain(values: Any) -> bool:
    """Return whether numbers are those of a column of texts: finite and exact as floats, or integers without gaps."""
    if pa.types.is_floating(values.type):
        return largest(values) < LARGEST
    return not values.null_count


def _sized(parts: Iterator[Any], n_rows: int) -> Iterator[Any]:
    """Yield tables of ``n_rows`` rows each, and the rest."""
    pending: list[Any] = []
    n_pending = 0
    for part in parts:
        pending.append(part)
        n_pending += part.num_rows
        if n_pending >= n_rows:
            table = pa.concat_tables(pending)
            for start in range(0, n_pending - n_rows + 1, n_rows):
                yield table.slice(start, n_rows)
            pending = [table.slice(n_pending - n_pending % n_rows)]
            n_pending %= n_rows
    if n_pending:
        yield pa.concat_tables(pending)


def no_rows(name: str, place: str = "") -> TableFileError:
    """Return the error about a file that has column names and no rows."""
    return TableFileError(f"{name} has a line of column names, but no rows{place}. Expected a line for each row.")
