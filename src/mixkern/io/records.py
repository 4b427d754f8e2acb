"""Split text into records one by one, and raise errors with the line in the file.

Python's ``csv`` reads the records, in its strict mode. Arrow reads most of a file; what is left are quotes inside
cells, delimiters outside ASCII, and rows that are damaged.
"""

import csv
import io
import re
from collections.abc import Iterator

from mixkern.errors import TableFileError, hint
from mixkern.io.dialect import Dialect, delimiter_hint
from mixkern.wording import counted

QUOTE = '"'


def decoded(data: bytes | bytearray, encoding: str, name: str, line: int) -> str:
    """Decode UTF-8; the error names the line of the first byte that is not text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise not_text(error, encoding, name, line) from error
    if "\0" in text:
        line += text.count("\n", 0, text.index("\0"))
        raise TableFileError(
            f"{name}, line {line}: holds a NUL byte, which no text does. The file is binary, or damaged, or in UTF-16.",
            hint=hint(python="If it is UTF-16: encoding='utf-16'.", cli="If it is UTF-16: --encoding utf-16."),
        )
    return text


def not_text(error: UnicodeDecodeError, encoding: str, name: str, line: int, *, is_mac: bool = False) -> TableFileError:
    """Return the error about a byte that is not text; ``line`` is the first line of the bytes."""
    line += error.object[: error.start].decode(error.encoding, errors="ignore").count("\r" if is_mac else "\n")
    encoding = encoding.removesuffix("-sig")
    other = "cp1252" if encoding.startswith("utf") else "utf-8"
    step = "Give the encoding that the file was written in, for example"
    return TableFileError(
        f"{name}, line {line}: byte 0x{error.object[error.start]:02x} is not text in {encoding}.",
        hint=hint(python=f"{step} encoding={other!r}.", cli=f"{step} --encoding {other}."),
    )


class Records:
    r"""The records of a text; a text that is cut may end within a record, which is left out.

    >>> records = Records('1,"x\ny"\n\n2,"', Dialect("csv"), "a.csv", line=2, is_cut=True)
    >>> records.rows(2), records.lines, records.rest
    ([['1', 'x\ny']], [2], '2,"')
    """

    def __init__(self, text: str, dialect: Dialect, name: str, *, line: int = 1, is_cut: bool = False) -> None:
        self._text = text[: text.rfind("\n") + 1] if is_cut else text
        self._tail = text[len(self._text) :]
        self._dialect, self._name, self._line, self._is_cut = dialect, name, line, is_cut
        self._start = self._read = 0  # characters before the record, and those that were read
        self._reader = csv.reader(
            self._each_line(), delimiter=dialect.delimiter, skipinitialspace=dialect.has_spaces, strict=True
        )
        self.lines: list[int] = []  # at which the rows begin
        self.n_blank = 0  # rows that are blank lines

    @property
    def rest(self) -> str:
        """The text after the last record that is complete."""
        return self._text[self._start :] + self._tail

    @property
    def line(self) -> int:
        """The line after the last one that was read."""
        return self._line + self._reader.line_num

    def next(self) -> list[str] | None:
        """Return the next record, ``None`` at the end."""
        line = self.line
        try:
            record = next(self._reader, None)
        except csv.Error as error:
            if self._is_cut and self._read == len(self._text) and "expected end" in str(error):
                return None
            raise self._broken(str(error), line) from error
        text, self._start = self._text[self._start : self._read], self._read
        return _with_blanks(text, self._dialect.delimiter) if record and self._dialect.has_spaces else record

    def header(self) -> list[str]:
        """Return the fields of the first line that is not blank; an empty list if all are blank."""
        for _ in range(self._dialect.n_skipped):
            self.next()
        while (record := self.next()) is not None:
            if any(cell.strip() for cell in record):
                return record
        return []

    def rows(self, width: int, n_rows: int | None = None, *, is_first: bool = True) -> list[list[str]]:
        """Return the next rows; blank lines are left out, and of a single column they are rows with an empty cell."""
        rows: list[list[str]] = []
        line = self.line
        while len(rows) != n_rows and (record := self.next()) is not None:
            if not record and width == 1:
                record = [""]
                self.n_blank += 1
            if len(record) == width:
                rows.append(record)
                self.lines.append(line)
            elif record and (width == 1 or len(record) > 1 or record[0].strip()):
                raise self._wrong_length(record, width, line, is_first=is_first and not rows)
            line = self.line
        return rows

    def _each_line(self) -> Iterator[str]:
        # StringIO breaks lines only at "\n"; str.splitlines has ten more characters, which do not end a row.
        for line in io.StringIO(self._text):
            self._read += len(line)
            yield line

    def _wrong_length(self, record: list[str], width: int, line: int, *, is_first: bool) -> TableFileError:
        start = f"{self._name}, line {line}: {counted(len(record), 'field')}, but the header has {width}."
        end = self.line - 1
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
        end = self.line - 1
        opened = open_quote(self._text[self._start : self._read], self._dialect.delimiter)
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


def _with_blanks(text: str, delimiter: str) -> list[str]:
    r"""Return the fields of a record with the blanks before them; those before a quote belong to no field.

    >>> _with_blanks('1,  x, "a, ""b"" c"\n', ",")
    ['1', '  x', 'a, "b" c']
    """
    sign = re.escape(delimiter)
    fields = re.findall(rf'(?:^|{sign})( *"(?:[^"]|"")*"|[^{sign}]*)', text.rstrip("\r\n"))
    return [f.strip(" ")[1:-1].replace('""', QUOTE) if f.lstrip(" ").startswith(QUOTE) else f for f in fields]


def open_quote(text: str, delimiter: str) -> int | None:
    r"""Return the number of lines before an unclosed quote, ``None`` where all quotes are closed.

    >>> open_quote('1,"a\nb","c\nd', ","), open_quote('5" disk', ",")
    (1, None)
    """
    for field in re.finditer(rf'(?:^|\n|{re.escape(delimiter)}) *(")[^"]*(?:""[^"]*)*("?)', text):
        if not field[2]:
            return text[: field.start(1)].count("\n")
    return None
