"""Bytes become lines, and lines become records: rows of texts, all of the same length.

Python's own ``csv`` reads the records, strictly. What it cannot know is told here: the line of a record in the file,
where a quote was opened, and what to type next.
"""

import codecs
import csv
import io
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from mixkern.errors import TableFileError, hint
from mixkern.io.dialect import Dialect, delimiter_hint, not_in_encoding
from mixkern.wording import counted

LONGEST_LINE = 1 << 25  # characters; a row of a million numbers is shorter
QUOTE = '"'


class Lines:
    r"""Lines of text, each with its newline, and the latest of them for messages.

    >>> list(Lines([b"a,b\r\n1,", b"2"], "utf-8", "a.csv"))
    ['a,b\r\n', '1,2']
    """

    def __init__(
        self, chunks: Iterable[bytes], encoding: str, name: str, *, is_mac: bool = False, is_cut: bool = False
    ) -> None:
        self.n_lines = 0  # given so far
        self.is_spent = False
        self.recent: list[str] = []
        self._name = name
        self._encoding = encoding
        self._is_mac = is_mac
        self._is_cut = is_cut  # in the middle of a line, which is left out
        self._lines = self._cut(chunks)

    def __iter__(self) -> Iterator[str]:
        recent = self.recent
        for line in self._lines:
            self.n_lines += 1
            recent.append(line)
            yield line
        self.is_spent = True

    def _cut(self, chunks: Iterable[bytes]) -> Iterator[str]:
        pending: list[str] = []
        n_pending = 0
        for text in self._decoded(chunks):
            # StringIO breaks lines at "\n" alone; str.splitlines knows ten other characters that do not end a row.
            for line in io.StringIO(text):
                if not line.endswith("\n"):
                    pending.append(line)
                    n_pending += len(line)
                elif pending:
                    yield "".join([*pending, line])
                    pending, n_pending = [], 0
                else:
                    yield line
            if n_pending > LONGEST_LINE:
                raise TableFileError(
                    f"{self._name}, line {self.n_lines + 1}: no end after {n_pending:,} characters. "
                    "A table in text has a line for each row; save it again as CSV."
                )
        if pending and not self._is_cut:
            yield "".join(pending)

    def _decoded(self, chunks: Iterable[bytes]) -> Iterator[str]:
        """Decode piece by piece; a byte that is no text, and a NUL, end it with the line that they are in."""
        decoder = codecs.getincrementaldecoder(self._encoding)()
        n_breaks = 0
        for chunk, is_last in _with_last(chunks):
            try:
                text = decoder.decode(chunk, final=is_last and not self._is_cut)
            except UnicodeError as error:
                raise self._no_text(error, n_breaks) from error
            if self._is_mac:
                text = text.replace("\r", "\n")
            if "\0" in text:
                raise TableFileError(
                    f"{self._name}, line {n_breaks + text[: text.index(chr(0))].count(chr(10)) + 1}: holds a NUL byte, "
                    "which no text does. The file is binary, or damaged, or in UTF-16.",
                    hint=hint(python="If it is UTF-16: encoding='utf-16'.", cli="If it is UTF-16: --encoding utf-16."),
                )
            n_breaks += text.count("\n")
            yield text

    def _no_text(self, error: UnicodeError, n_breaks: int) -> TableFileError:
        if not isinstance(error, UnicodeDecodeError):
            return not_in_encoding(self._name, self._encoding, error)
        before = error.object[: error.start]
        n_before = before.count(b"\n") or (before.count(b"\r") if self._is_mac else 0)
        encoding = self._encoding.removesuffix("-sig")
        other = "cp1252" if encoding.startswith("utf") else "utf-8"
        return TableFileError(
            f"{self._name}, line {n_breaks + n_before + 1}: byte 0x{error.object[error.start]:02x} is not text in "
            f"{encoding}.",
            hint=hint(
                python=f"Give the encoding that the file was written in, for example encoding={other!r}.",
                cli=f"Give the encoding that the file was written in, for example --encoding {other}.",
            ),
        )


class LineNumbers:
    """The line in the file at which each row begins: remembered only where it is not the one after the last row's.

    >>> numbers = LineNumbers()
    >>> for row, line in enumerate([2, 3, 6, 7]):
    ...     numbers.add(row, line)
    >>> [numbers.of(row) for row in range(5)]
    [2, 3, 6, 7, None]
    """

    def __init__(self) -> None:
        self._rows = array("q")
        self._offsets = array("q")
        self.n_rows = 0  # read so far

    def add(self, row: int, line: int) -> None:
        """Note where a row begins; rows that are not told follow line by line."""
        self.n_rows = row + 1
        if not self._offsets or self._offsets[-1] != line - row:
            self._rows.append(row)
            self._offsets.append(line - row)

    def of(self, row: int) -> int | None:
        """Give the line of a row, ``None`` where it has not been read."""
        if not 0 <= row < self.n_rows:
            return None
        return row + self._offsets[bisect_right(self._rows, row) - 1]


class Records:
    r"""The rows of a text file, batch by batch.

    >>> records = Records([b'a,b\n1,"x\ny"\n2,z\n'], Dialect(","), "a.csv")
    >>> records.header(), records.batch(2, n_rows=10), records.batch(2, n_rows=10)
    (['a', 'b'], [['1', 'x\ny'], ['2', 'z']], [])
    >>> [records.numbers.of(row) for row in (0, 1)]
    [2, 4]
    """

    def __init__(self, chunks: Iterable[bytes], dialect: Dialect, name: str, *, is_cut: bool = False) -> None:
        self.numbers = LineNumbers()
        self._name = name
        self._dialect = dialect
        self._lines = Lines(chunks, dialect.encoding, name, is_mac=dialect.is_mac, is_cut=is_cut)
        self._reader = csv.reader(
            self._lines, delimiter=dialect.delimiter, skipinitialspace=dialect.has_spaces, strict=True
        )
        self._n_rows = 0
        for _ in range(dialect.n_skipped):
            self._next()

    def header(self) -> list[str]:
        """Give the first line that is not blank; an empty list where all are."""
        while (record := self._next()) is not None:
            if any(cell.strip() for cell in record):
                return record
        return []

    @property
    def is_spent(self) -> bool:
        """Whether there is nothing more to come."""
        return self._lines.is_spent

    @property
    def line(self) -> int:
        """The line that was read last."""
        return self._reader.line_num

    def batch(self, width: int, n_rows: int) -> list[list[str]]:
        """Give the next rows, blank lines left out; none at the end of the file."""
        rows: list[list[str]] = []
        reader = self._reader
        offset = None  # from a row to its line: asked a million times, told seldom
        self._lines.recent.clear()
        line = reader.line_num + 1
        try:
            for record in reader:
                if len(record) == width:
                    if line - len(rows) != offset:
                        offset = line - len(rows)
                        self.numbers.add(self._n_rows + len(rows), line)
                    rows.append(record)
                    if len(rows) == n_rows:
                        break
                elif not _is_blank(record, width):
                    raise self._wrong_length(record, width, line, is_first=not self._n_rows + len(rows))
                line = reader.line_num + 1
        except csv.Error as error:
            raise self._broken(str(error), line) from error
        self._n_rows += len(rows)
        self.numbers.n_rows = self._n_rows
        return rows

    def _next(self) -> list[str] | None:
        start = self._reader.line_num
        try:
            return next(self._reader, None)
        except csv.Error as error:
            raise self._broken(str(error), start + 1) from error

    def _wrong_length(self, record: list[str], width: int, line: int, *, is_first: bool) -> TableFileError:
        fields = counted(len(record), "field")
        start = f"{self._name}, line {line}: {fields}, but the header has {width}."
        end = self._reader.line_num
        if end > line:
            return TableFileError(f"{start} A quote opens in this row and closes in line {end}: one may be missing.")
        if len(record) == width + 1 and is_first:
            start += " If all rows have one more, give the column without a name one, or drop the last delimiter."
        if len(record) > width:
            return TableFileError(
                f"{start} Put quotes around texts that contain {self._dialect.delimiter_name}.",
                hint=delimiter_hint(";" if self._dialect.delimiter != ";" else ","),
            )
        return TableFileError(f"{start} Complete the row; an empty cell is written as nothing between two delimiters.")

    def _broken(self, said: str, line: int) -> TableFileError:
        """Put what ``csv`` says of a record into words."""
        end = self._reader.line_num
        text = "".join(self._lines.recent[line - self._lines.n_lines - 1 :])
        opened = open_quote(text, self._dialect.delimiter)
        if "new-line" in said:
            return TableFileError(
                f"{self._name}, line {end}: a carriage return inside a row. Save the file with ordinary line ends, "
                "or put quotes around the cell."
            )
        if "expected after" in said:
            return TableFileError(
                f"{self._name}, line {end}: text follows a closing quote. Write a quote inside a text twice, and look "
                f"for a quote that was not closed from line {line} on."
            )
        if opened is not None:
            return TableFileError(
                f"{self._name}, line {line + opened}: a quote opens that is not closed. Close it, or write it twice if "
                "it is part of the text."
            )
        return TableFileError(
            f"{self._name}, line {line}: a field of more than {csv.field_size_limit():,} characters. "
            "A table of texts that long is not one to learn from; leave that column out."
        )


def open_quote(text: str, delimiter: str) -> int | None:
    r"""Count the lines before the one in which a quote opens that is never closed; ``None`` where there is none.

    >>> open_quote('1,"a\nb","c\nd', ","), open_quote('5" disk', ",")
    (1, None)
    """
    opened, i = -1, 0
    is_start = True
    while i < len(text):
        sign = text[i]
        if opened >= 0:
            if sign == QUOTE and text[i + 1 : i + 2] == QUOTE:
                i += 1
            elif sign == QUOTE:
                opened = -1
        elif sign == QUOTE and is_start:
            opened = i
        is_start = sign == delimiter or sign == "\n" or (is_start and sign == " ")
        i += 1
    return text[:opened].count("\n") if opened >= 0 else None


def _is_blank(record: list[str], width: int) -> bool:
    return not record or (width > 1 and len(record) == 1 and not record[0].strip())


def _with_last(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Give all chunks, and after them an empty one that is the last: decoders want to know."""
    for chunk in chunks:
        yield chunk, False
    yield b"", True
