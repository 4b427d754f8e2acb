"""Read tables in delimited text files, such as CSV and TSV."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from mixkern.encoding.inference import TableColumn
from mixkern.errors import FileFormatWarning, TableFileError
from mixkern.imports import OnDemand
from mixkern.io.blocks import TableFile, no_rows
from mixkern.io.columns import converted, inferred, texts, without_gaps
from mixkern.io.dialect import (
    Dialect,
    HeaderLine,
    comma_note,
    delimiter_hint,
    dialect_of,
    header_line,
    with_decimals,
)
from mixkern.io.source import CHUNK, Progress, TableSource
from mixkern.io.text_blocks import LineNumbers, TextBlocks
from mixkern.wording import listing

pa: Any = OnDemand("pyarrow", purpose="A table in a file")
pc: Any = OnDemand("pyarrow.compute", purpose="A table in a file")

LARGEST_HEAD = 1 << 25  # bytes: a header and a row of a million columns
N_LOOKED_AT = 1000  # rows from which decimal signs are detected
_ROW_NUMBER = " *(?:0|[1-9][0-9]*) *"
_BLANK = b"\r\n\t \xef\xbb\xbf"


class DelimitedFile(TableFile):
    """A table in a text file, with a line for each row and a delimiter between fields."""

    def __init__(
        self, source: TableSource, dialect: Dialect, header: HeaderLine, rows: list[list[str]], gaps: Collection[str]
    ) -> None:
        columns = list(zip(*rows, strict=True))
        super().__init__(source, dialect, header.names, gaps, header.numbered)
        self._is_numbered = header.numbered is not None and all(re.fullmatch(_ROW_NUMBER, cell) for cell in columns[0])
        self._numbers = LineNumbers()
        self._written = header.written
        self._notes += [*header.notes, *comma_note(columns, list(dialect.decimals.values()))]
        if len(self.names) == 1:
            self._notes.append(FileFormatWarning("There is only one column.", hint=delimiter_hint(";")))

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """Signs, encodings and columns that could have been read in another way."""
        encoding = self.dialect.encoding.removesuffix("-sig")
        note = [FileFormatWarning(f"{self.name} was read as {encoding}.")] if encoding != "utf-8" else []
        return (*super().notes, *note)

    def line_of(self, row: int) -> int | None:
        """Return the line at which a row begins, ``None`` if it has not been read yet."""
        return self._numbers.of(row)

    def _parts(self, on_progress: Progress | None) -> Iterator[Any]:
        with self._source.opened() as stream:
            blocks = TextBlocks(stream.chunks(), self.dialect, self.name, self._written)
            self._numbers = blocks.numbers
            for part in blocks:
                if blocks.encoding != self.dialect.encoding:
                    self.dialect = replace(self.dialect, encoding=blocks.encoding)
                if on_progress is not None:
                    on_progress(*stream.progress)
                yield part
            if on_progress is not None:
                on_progress(*stream.progress)
        if not self._numbers.n_rows:
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
                self._column_notes[name] = FileFormatWarning(f"{name!r}: {listing(words)} was read as an empty cell.")
        return found

    def _inferred(self, name: str, cells: Any) -> Any:
        sign = self.dialect.decimals[name]
        cells = without_gaps(self._trimmed(cells), self._gaps, sign)
        return self._noted(name, inferred(name, cells, sign, self.line_of))

    def _converted(self, name: str, cells: Any, column: TableColumn, start: int) -> Any:
        sign = self.dialect.decimals[name]
        cells = without_gaps(self._trimmed(cells), self._gaps, sign)
        try:
            return converted(
                name,
                cells,
                column,
                sign,
                lambda row: self.line_of(start + row),
                lambda spelling, cell: self.spellings.setdefault(name, (spelling, cell)),
                day_first=self.dialect.day_first.get(name),
            )
        except TableFileError as error:
            raise error.prefixed(f"{self.name}, ") from error

    def _trimmed(self, cells: Any) -> Any:
        """Return cells without the blanks that follow each delimiter."""
        return pc.utf8_ltrim(cells, " ") if self.dialect.has_spaces else cells


def delimited_file(
    source: TableSource,
    *,
    delimiter: str | None = None,
    decimal: str | Mapping[str, str] | None = None,
    encoding: str | None = None,
    gaps: Collection[str] = (),
    like: Dialect | None = None,
) -> DelimitedFile:
    """Open a text file: detect its dialect, its column names and its decimal signs from its first bytes."""
    size = CHUNK
    head = source.peek(size)
    if not head.strip(_BLANK):
        raise TableFileError(f"{source.name} is empty. Expected a line of column names, and a line for each row.")
    dialect = dialect_of(head, source.name, delimiter=delimiter, encoding=encoding, like=like)
    header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    while not rows and len(head) == size < LARGEST_HEAD:
        size *= 4
        head = source.peek(size)
        header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    if header is None or not rows:
        raise no_rows(source.name)
    columns = list(zip(*rows, strict=True))
    return DelimitedFile(source, with_decimals(dialect, header.names, columns, decimal), header, rows, gaps)


def _start(head: bytes, dialect: Dialect, name: str, *, is_cut: bool) -> tuple[HeaderLine | None, list[list[str]]]:
    """Return the header and the first rows, as far as the bytes hold them."""
    records = TextBlocks([head], dialect, name, ()).head(is_cut=is_cut)
    record = records.header()
    if not record:
        return None, []
    header = header_line(record, records.line - 1, name)
    rest = records.rest
    is_blank = not rest.strip("\r\n") or (len(record) > 1 and rest.isspace() and not dialect.delimiter.isspace())
    if is_blank and (not is_cut or len(rest) > CHUNK // 2):
        raise no_rows(name, " in the MB after it" if is_cut else "")
    return header, records.rows(len(record), N_LOOKED_AT)
