"""The dialect of a delimited text file: encoding, delimiter, line ends, column names and decimal signs."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from mixkern.encoding.grammar import COMMA, SIGNS, is_gap_word, number, unit_of
from mixkern.encoding.spelling import decimal_signs
from mixkern.errors import FileFormatWarning, Hint, OptionError, TableFileError, hint
from mixkern.wording import listing, nearest

DELIMITER_NAMES = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma", " ": "space"}
# In order of trust: a comma may be in all rows as a decimal sign, the others hardly.
CANDIDATES = ("\t", ";", "|", ",")
FALLBACK = "cp1252"  # the encoding of a text that is not UTF-8
_AGREED = 0.9  # share of the rows that have as many fields as the header
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
N_LOOKED_AT = 1000  # rows from which decimal signs are detected
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')  # a line for Excel
_NOT_CP1252 = bytes((*set(range(32)) - {9, 10, 12, 13}, 0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D))
_ROW_NUMBERS = ("", "Unnamed: 0")  # written by pandas: a column without a name, and its name after another reading


@dataclass(frozen=True)
class Dialect:
    """How a table file is written: what is needed to write another file of the same kind."""

    format: str  # "csv", "parquet" or "arrow"
    delimiter: str = COMMA
    encoding: str = "utf-8"  # "utf-8-sig" has a byte order mark
    line_end: str = "\n"
    has_spaces: bool = False  # after every delimiter, as in "31, Kassel"
    n_skipped: int = 0  # lines before the header
    has_mark: bool = False  # a byte order mark
    decimals: Mapping[str, str] = field(default_factory=dict)  # the decimal sign of each column
    day_first: Mapping[str, bool] = field(default_factory=dict)  # of columns with dates such as 01/02/2024

    @property
    def delimiter_name(self) -> str:
        """The delimiter in words."""
        return f"a {DELIMITER_NAMES[self.delimiter]}" if self.delimiter in DELIMITER_NAMES else repr(self.delimiter)

    @property
    def is_mac(self) -> bool:
        """Whether lines end with a carriage return alone."""
        return self.line_end == "\r"


def dialect_of(
    head: bytes, name: str, *, delimiter: str | None = None, encoding: str | None = None, like: Dialect | None = None
) -> Dialect:
    r"""Return the dialect of a file, detected from its first bytes where it is not given; ``like`` is tried first.

    >>> dialect_of(b"age;town\n31,5;Kassel\n", "a.csv").delimiter
    ';'
    """
    detected = encoding_of(head, encoding, like)
    try:
        text = codecs.getincrementaldecoder(detected)(errors="replace").decode(head)
    except UnicodeError as error:
        raise not_in_encoding(name, detected, error) from error
    line_end = "\r\n" if "\r\n" in text else "\n"
    if "\n" not in text and "\r" in text:
        text, line_end = text.replace("\r", "\n"), "\r"
    separator_line = _SEPARATOR_LINE.match(text)
    if separator_line:
        text = text[separator_line.end() :]
    if delimiter is not None:
        found = delimiter_named(delimiter)
    else:
        found = separator_line[1] if separator_line else delimiter_of(text, like)
    has_mark = any(head.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS)
    known = Dialect("csv", found, detected, line_end, _has_spaces(text, found), 1 if separator_line else 0, has_mark)
    return known if like is None else replace(known, day_first=like.day_first)


def encoding_of(head: bytes, given: str | None = None, like: Dialect | None = None) -> str:
    r"""Return the given encoding, or the one of a byte order mark, or UTF-8, or cp1252 where the bytes are not UTF-8.

    >>> encoding_of(b"age"), encoding_of("age".encode("utf-16")), encoding_of(b"age", "cp1252"), encoding_of(b"gr\xf6")
    ('utf-8', 'utf-16', 'cp1252', 'cp1252')
    """
    if given is None:
        marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
        if marked is None and like is not None and not _is_text(head, "utf-8") and _is_text(head, like.encoding):
            return like.encoding
        return marked or (FALLBACK if is_cp1252(head) else "utf-8")
    try:
        found = codecs.lookup(given).name
        b"a".decode(given, errors="replace")  # some codecs are not for text
    except (LookupError, ValueError) as error:
        known = ("utf-8", "utf-16", "cp1252", "latin-1", "cp1250", "cp437", "mac-roman", "shift_jis", "gb18030")
        raise OptionError(
            f"There is no encoding {given!r}.{nearest(given, known)} Common ones are {', '.join(known)}."
        ) from error
    return "utf-8-sig" if found == "utf-8" else found


def _is_text(head: bytes, encoding: str) -> bool:
    try:
        return "\0" not in codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeError:
        return False


def is_cp1252(piece: bytes) -> bool:
    r"""Return whether bytes are text in cp1252 and not in UTF-8: the first letter outside ASCII is none in UTF-8.

    >>> is_cp1252("größe".encode("cp1252")), is_cp1252("größe".encode()), is_cp1252(b"\xf6\x81")
    (True, False, False)
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(piece)
    except UnicodeDecodeError as error:
        return piece[: error.start].isascii() and len(piece.translate(None, _NOT_CP1252)) == len(piece)
    return False


def not_in_encoding(name: str, encoding: str, error: UnicodeError) -> TableFileError:
    """Return the error about a file that is in another encoding."""
    step = hint(python="Give another: encoding='utf-8'.", cli="Give another: --encoding utf-8.")
    return TableFileError(f"{name} is not in {encoding}: {error}.", hint=step)


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
    start = "If something else separates the columns, name it:"
    return hint(python=f"{start} delimiter={sign!r}.", cli=f"{start} --delimiter {sign!r}.")


def delimiter_of(text: str, like: Dialect | None = None) -> str:
    r"""Return the delimiter that splits the rows and the header into the same number of fields.

    >>> delimiter_of("a,b\n1,2\n"), delimiter_of("a\tb\n1,5\t2,5\n"), delimiter_of("age\n31\n")
    (',', '\t', ',')
    """
    best = (0.0, 0, COMMA)
    for delimiter in CANDIDATES if like is None else (like.delimiter, *CANDIDATES):
        widths = [len(record) for record in _first_records(text, delimiter) if record] if delimiter in text else []
        if not widths or widths[0] < 2:
            continue
        agreed = widths.count(widths[0]) / len(widths)
        if agreed >= _AGREED and len(widths) > 1:
            return delimiter
        best = max(best, (agreed, widths[0], delimiter))
    return best[2]


def _first_records(text: str, delimiter: str, n_rows: int = 1000) -> list[list[str]]:
    """Return the first records, of any length; the last one may be cut, and is left out if there are others."""
    whole = text[: text.rfind("\n") + 1] if text.count("\n") > 1 else f"{text}\n"
    found: list[list[str]] = []
    with suppress(csv.Error):  # raised again, with its line, when the file is read
        found += islice(csv.reader(io.StringIO(whole), delimiter=delimiter), n_rows + 1)
    return found


def _has_spaces(text: str, delimiter: str) -> bool:
    """Return whether a space follows every delimiter outside quotes."""
    cells = [cell for record in _first_records(text, delimiter) for cell in record[1:] if cell]
    return delimiter != " " and bool(cells) and all(cell.startswith(" ") for cell in cells)


@dataclass(frozen=True)
class HeaderLine:
    """The column names in the first line of a file, and notes on names that were changed."""

    names: tuple[str, ...]
    written: tuple[str, ...]  # as in the file, where the first column has no name
    numbered: str | None = None  # that column, which may hold row numbers
    notes: tuple[FileFormatWarning, ...] = ()


def header_line(record: Sequence[str], line: int, name: str) -> HeaderLine:
    """Return the column names in a line.

    >>> header_line(["age", "", "town"], 1, "a.csv").names
    ('age', 'column 2', 'town')
    """
    _check_no_numbers(record, line, name)
    names = [cell.strip() for cell in record]
    is_numbered = names[0] in _ROW_NUMBERS and len(names) > 1
    nameless = [i for i, cell in enumerate(names) if not cell or (i == 0 and is_numbered)]
    for i in nameless:
        names[i] = f"column {i + 1}"  # counted from 1, as in a spreadsheet
    later = [names[i] for i in nameless if i or not is_numbered]
    notes = [FileFormatWarning(f"Columns without a name were called {listing(later)}.")] if later else []
    double = next((cell for cell, count in Counter(names).items() if count > 1), None)
    if double is not None:
        places = " and ".join(str(i + 1) for i, cell in enumerate(names) if cell == double)
        raise TableFileError(f"{name}, line {line}: columns {places} have the same name, {double!r}. Rename them.")
    written = (record[0].strip(), *names[1:]) if is_numbered else names
    return HeaderLine(tuple(names), tuple(written), names[0] if is_numbered else None, tuple(notes))


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


def with_decimals(
    dialect: Dialect, names: Sequence[str], columns: Sequence[Sequence[str]], given: str | Mapping[str, str] | None
) -> Dialect:
    """Return a dialect with the decimal sign of each column, given or detected from its first cells."""
    if isinstance(given, str):
        if given not in SIGNS:
            raise OptionError(f"The decimal sign must be '.' or ',', but it is {given!r}.")
        return replace(dialect, decimals=dict.fromkeys(names, given))
    found = dict(zip(names, decimal_signs(columns, dialect.delimiter), strict=True))
    for name, cells in zip(names, columns, strict=True):
        sign = (given or {}).get(name, found[name])
        if sign != found[name] and all(is_gap_word(cell) or number(cell, sign) for cell in cells):
            found[name] = sign
    return replace(dialect, decimals=found)


def comma_note(columns: Sequence[Sequence[str]], signs: Sequence[str]) -> list[FileFormatWarning]:
    """Return a note on decimal commas, with the first number that has one."""
    commas = (cell for cells, sign in zip(columns, signs, strict=True) if sign == COMMA for cell in cells)
    found = next(
        ((cell, one) for cell in commas if COMMA in cell and (one := number(cell, COMMA, unit_of(cell)))), None
    )
    if found is None:
        return []
    text = f"Decimal commas were found: {found[0].strip()} is read as {found[1].plain}."
    start = "If the comma is no decimal sign:"
    return [FileFormatWarning(text, hint=hint(python=f"{start} decimal='.'.", cli=f"{start} --decimal ."))]
