"""Split a text file into lines and records, which are rows of texts of the same length.

The dialect (delimiter, encoding, ends of lines) is detected from the first part of the file. Python's ``csv`` reads the
records, in its strict mode; the errors here add the line in the file, the line of an open quote, and the next step.
"""

import codecs
import csv
import io
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mixkern.encoding.grammar import COMMA
from mixkern.errors import Hint, OptionError, TableFileError, hint
from mixkern.wording import counted, nearest

DELIMITER_NAMES = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma", " ": "space"}
# In order of trust: a comma may be in all rows as a decimal sign, the others hardly.
CANDIDATES = ("\t", ";", "|", ",")
_AGREED = 0.9  # share of the rows that have as many fields as the header
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')  # a line for Excel


@dataclass(frozen=True)
class Dialect:
    """Delimiter, encoding and ends of lines of a text file."""

    delimiter: str
    encoding: str = "utf-8"
    has_spaces: bool = False  # after every delimiter, as in "31, Kassel"
    is_mac: bool = False  # lines end with a carriage return alone
    n_skipped: int = 0  # lines before the header

    @property
    def delimiter_name(self) -> str:
        """The delimiter in words."""
        return f"a {DELIMITER_NAMES[self.delimiter]}" if self.delimiter in DELIMITER_NAMES else repr(self.delimiter)


def dialect_of(head: bytes, name: str, *, delimiter: str | None = None, encoding: str | None = None) -> Dialect:
    r"""Return the dialect of a file, detected from its first bytes where it is not given.

    >>> dialect_of(b"age;town\n31,5;Kassel\n", "a.csv").delimiter
    ';'
    """
    detected = encoding_of(head, encoding)
    text = _decoded(head, detected, name)
    is_mac = "\n" not in text and "\r" in text
    if is_mac:
        text = text.replace("\r", "\n")
    separator_line = _SEPARATOR_LINE.match(text)
    if separator_line:
        text = text[separator_line.end() :]
    if delimiter is not None:
        found = delimiter_named(delimiter)
    else:
        found = separator_line[1] if separator_line else delimiter_of(text)
    return Dialect(found, detected, _has_spaces(text, found), is_mac, n_skipped=1 if separator_line else 0)


def encoding_of(head: bytes, given: str | None = None) -> str:
    """Return the given encoding, or the one of a byte order mark, or UTF-8.

    >>> encoding_of(b"age"), encoding_of("age".encode("utf-16")), encoding_of(b"age", "cp1252")
    ('utf-8', 'utf-16', 'cp1252')
    """
    marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if given is None:
        return marked or "utf-8"
    try:
        found = codecs.lookup(given).name
        b"a".decode(given, errors="replace")  # some codecs are not for text
    except (LookupError, ValueError) as error:
        known = ("utf-8", "utf-16", "cp1252", "latin-1", "cp1250", "cp437", "mac-roman", "shift_jis", "gb18030")
        raise OptionError(
            f"There is no encoding {given!r}.{nearest(given, known)} Common ones are {', '.join(known)}."
        ) from error
    return "utf-8-sig" if found == "utf-8" else found


def delimiter_named(given: str) -> str:
    r"""Return a delimiter, given as a character or by its name.

    >>> delimiter_named("tab"), delimiter_named("\\t"), delimiter_named(";")
    ('\t', '\t', ';')
    """
    by_name = {"\\t": "\t", **{word: sign for sign, word in DELIMITER_NAMES.items()}}
    sign = by_name.get(given.lower(), given)
    if len(sign) != 1 or sign in '"\r\n\0':
        raise OptionError(
            f"The delimiter must be one character or one of {', '.join(map(repr, DELIMITER_NAMES.values()))}, "
            f"but it is {given!r}."
        )
    return sign


def delimiter_hint(sign: str) -> Hint:
    """Return the hint that names another delimiter."""
    return hint(
        python=f"If something else separates the columns, name it: delimiter={sign!r}.",
        cli=f"If something else separates the columns, name it: --delimiter {sign!r}.",
    )


def delimiter_of(text: str) -> str:
    r"""Return the delimiter that splits the rows and the header into the same number of fields.

    >>> delimiter_of("a,b\n1,2\n"), delimiter_of("a\tb\n1,5\t2,5\n"), delimiter_of("age\n31\n")
    (',', '\t', ',')
    """
    best = (0.0, 0, COMMA)
    for delimiter in CANDIDATES:
        widths = [len(record) for record in records_of_head(text, delimiter) if record]
        if not widths or widths[0] < 2:
            continue
        agreed = widths.count(widths[0]) / len(widths)
        if agreed >= _AGREED and len(widths) > 1:
            return delimiter
        best = max(best, (agreed, widths[0], delimiter))
    return best[2]


def records_of_head(text: str, delimiter: str, *, has_spaces: bool = False, n_rows: int = 1000) -> list[list[str]]:
    """Return the first records, of any length; the last one may be cut, and is left out if there are others."""
    lines = text.split("\n")
    whole = [f"{line}\n" for line in (lines[:-1] if len(lines) > 2 else lines)]
    found: list[list[str]] = []
    try:
        for record in csv.reader(whole, delimiter=delimiter, skipinitialspace=has_spaces):
            found.append(record)
            if len(found) > n_rows:
                break
    except csv.Error:  # raised again, with its line, when the file is read
        pass
    return found


def _has_spaces(text: str, delimiter: str) -> bool:
    """Return whether a space follows every delimiter outside quotes, and so belongs to no cell."""
    records = records_of_head(text, delimiter)
    cells = [cell for record in records for cell in record[1:] if cell]
    return delimiter != " " and bool(cells) and all(cell.startswith(" ") for cell in cells)


def _decoded(head: bytes, encoding: str, name: str) -> str:
    """Decode the first bytes; errors are raised, with their line, when the file is read."""
    try:
        return codecs.getincrementaldecoder(encoding)(errors="replace").decode(head)
    except UnicodeError as error:
        raise not_in_encoding(name, encoding, error) from error


def not_in_encoding(name: str, encoding: str, error: UnicodeError) -> TableFileError:
    """Return the error about a file that is in another encoding."""
    step = hint(python="Give another: encoding='utf-8'.", cli="Give another: --encoding utf-8.")
    return TableFileError(f"{name} is not in {encoding}: {error}.", hint=step)


LONGEST_LINE = 1 << 25  # characters; a row of a million numbers is shorter
QUOTE = '"'


class Lines:
    r"""Iterate over lines of text, each with its newline; the latest are kept for messages.

    >>> list(Lines([b"a,b\r\n1,", b"2"], "utf-8", "a.csv"))
    ['a,b\r\n', '1,2']
    """

    def __init__(
        self, chunks: Iterable[bytes], encoding: str, name: str, *, is_mac: bool = False, is_cut: bool = False
    ) -> None:
        self.n_lines = 0  # yielded so far
        self.is_exhausted = False
        self.recent: list[str] = []
        self._name = name
        self._encoding = encoding
        self._is_mac = is_mac
        self._is_cut = is_cut  # the bytes end within a line, which is left out
        self._lines = self._cut(chunks)

    def __iter__(self) -> Iterator[str]:
        recent = self.recent
        for line in self._lines:
            self.n_lines += 1
            recent.append(line)
            yield line
        self.is_exhausted = True

    def _cut(self, chunks: Iterable[bytes]) -> Iterator[str]:
        pending: list[str] = []
        n_pending = 0
        for text in self._decoded(chunks):
            # StringIO breaks lines only at "\n"; str.splitlines has ten more characters, which do not end a row.
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
        """Decode piece by piece; errors name the line."""
        decoder = codecs.getincrementaldecoder(self._encoding)()
        n_breaks = 0
        for chunk, is_last in _with_last(chunks):
            try:
                text = decoder.decode(chunk, final=is_last and not self._is_cut)
            except UnicodeError as error:
                raise self._not_text(error, n_breaks) from error
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

    def _not_text(self, error: UnicodeError, n_breaks: int) -> TableFileError:
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
    """The line at which each row begins, stored only where it does not follow the line of the previous row.

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
        """Store the line of a row; rows that are not added follow line by line."""
        self.n_rows = row + 1
        if not self._offsets or self._offsets[-1] != line - row:
            self._rows.append(row)
            self._offsets.append(line - row)

    def of(self, row: int) -> int | None:
        """Return the line of a row, ``None`` if it has not been read."""
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
        """Return the fields of the first line that is not blank; an empty list if all are blank."""
        while (record := self._next()) is not None:
            if any(cell.strip() for cell in record):
                return record
        return []

    @property
    def is_exhausted(self) -> bool:
        """Whether there is nothing more to come."""
        return self._lines.is_exhausted

    @property
    def line(self) -> int:
        """The line that was read last."""
        return self._reader.line_num

    def batch(self, width: int, n_rows: int) -> list[list[str]]:
        """Give the next rows, blank lines left out; none at the end of the file."""
        rows: list[list[str]] = []
        reader = self._reader
        offset = None  # from a row to its line; added to the line numbers only where it changes
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

    def _broken(self, message: str, line: int) -> TableFileError:
        """Return the error for a message of ``csv``."""
        end = self._reader.line_num
        text = "".join(self._lines.recent[line - self._lines.n_lines - 1 :])
        opened = open_quote(text, self._dialect.delimiter)
        if "new-line" in message:
            return TableFileError(
                f"{self._name}, line {end}: a carriage return inside a row. Save the file with ordinary line ends, "
                "or put quotes around the cell."
            )
        if "expected after" in message:
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
            "Leave the column out of the file."
        )


def open_quote(text: str, delimiter: str) -> int | None:
    r"""Return the number of lines before an unclosed quote, ``None`` where all quotes are closed.

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
    """Yield all chunks, and an empty one that is marked as the last, for decoders."""
    for chunk in chunks:
        yield chunk, False
    yield b"", True
