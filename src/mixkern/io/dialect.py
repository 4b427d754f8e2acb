"""How a text file is written: what separates its fields, which sign comes before decimals, in which encoding.

All of it is found from the first part of the file, so that it cannot depend on how much of the file is read at a time.
"""

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from mixkern.errors import Hint, OptionError, TableFileError, hint
from mixkern.io.spelling import COMMA, POINT, SIGNS, number
from mixkern.wording import nearest

DELIMITER_NAMES = {"\t": "tab", ";": "semicolon", "|": "pipe", ",": "comma", " ": "space"}
# A tab, semicolon or pipe is hardly ever in all rows by chance; a comma is, where it comes before decimals.
CANDIDATES = ("\t", ";", "|", ",")
_AGREED = 0.9  # share of the rows that have as many fields as the header
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n')  # how Excel is told


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    delimiter: str
    encoding: str = "utf-8"
    has_spaces: bool = False  # after every delimiter, as in "31, Kassel"
    is_mac: bool = False  # lines end with a carriage return alone
    n_skipped: int = 0  # lines before the header

    @property
    def delimiter_name(self) -> str:
        """The delimiter as a word, where it has one."""
        return f"a {DELIMITER_NAMES[self.delimiter]}" if self.delimiter in DELIMITER_NAMES else repr(self.delimiter)


def dialect_of(head: bytes, name: str, *, delimiter: str | None = None, encoding: str | None = None) -> Dialect:
    r"""Find out how a file is written from its first bytes; what is given is not questioned.

    >>> dialect_of(b"age;town\n31,5;Kassel\n", "a.csv").delimiter
    ';'
    """
    known = encoding_of(head, encoding)
    text = _decoded(head, known, name)
    is_mac = "\n" not in text and "\r" in text
    if is_mac:
        text = text.replace("\r", "\n")
    told = _SEPARATOR_LINE.match(text)
    if told:
        text = text[told.end() :]
    found = delimiter_named(delimiter) if delimiter is not None else told[1] if told else delimiter_of(text)
    return Dialect(found, known, _has_spaces(text, found), is_mac, n_skipped=1 if told else 0)


def encoding_of(head: bytes, given: str | None = None) -> str:
    """Give the encoding that was named, or the one that a byte order mark tells, or UTF-8.

    >>> encoding_of(b"age"), encoding_of("age".encode("utf-16")), encoding_of(b"age", "cp1252")
    ('utf-8', 'utf-16', 'cp1252')
    """
    marked = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if given is None:
        return marked or "utf-8"
    try:
        found = codecs.lookup(given).name
        b"a".decode(given, errors="replace")  # there are codecs of other things than text
    except (LookupError, ValueError) as error:
        known = ("utf-8", "utf-16", "cp1252", "latin-1", "cp1250", "cp437", "mac-roman", "shift_jis", "gb18030")
        raise OptionError(
            f"There is no encoding {given!r}.{nearest(given, known)} Common ones are {', '.join(known)}."
        ) from error
    return "utf-8-sig" if found == "utf-8" else found


def delimiter_named(given: str) -> str:
    r"""Give the sign that separates fields, by itself or by its name.

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
    """Give the next step where another delimiter may be right."""
    return hint(
        python=f"If something else separates the columns, name it: delimiter={sign!r}.",
        cli=f"If something else separates the columns, name it: --delimiter {sign!r}.",
    )


def decimal_named(given: str) -> str:
    """Give the sign before decimals; refuse all but point and comma."""
    if given not in SIGNS:
        raise OptionError(f"The decimal sign must be '.' or ',', but it is {given!r}.")
    return given


def delimiter_of(text: str) -> str:
    r"""Find what separates the fields: what splits the rows as it splits the header.

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
    """Give the first records, whatever their length; the last one may be cut and is left out where others are there."""
    lines = text.split("\n")
    whole = [f"{line}\n" for line in (lines[:-1] if len(lines) > 2 else lines)]
    found: list[list[str]] = []
    try:
        for record in csv.reader(whole, delimiter=delimiter, skipinitialspace=has_spaces):
            found.append(record)
            if len(found) > n_rows:
                break
    except csv.Error:  # told with its line when the file is read
        pass
    return found


def decimal_signs(columns: Sequence[Sequence[str]], delimiter: str) -> tuple[str, ...]:
    """Find for each column which sign comes before decimals, from its first cells.

    A cell counts where it is a number with one sign and not with the other: 3,14 but not 1,234. A column without such
    cells follows the other columns.

    >>> decimal_signs([["3,14", "2,5"], ["1", "2"], ["1.5", ""]], ";")
    (',', ',', '.')
    """
    votes = [_vote(cells) for cells in columns]
    total = sum(votes)
    has_groups = any(COMMA in cell and number(cell) for cells in columns for cell in cells) if not total else False
    # In a file of semicolons, the comma is free for decimals, and that is why it has semicolons.
    common = COMMA if total > 0 or (has_groups and delimiter == ";") else POINT
    return tuple(COMMA if vote > 0 else POINT if vote < 0 else common for vote in votes)


def _vote(cells: Sequence[str]) -> int:
    """Count the cells that are numbers with a decimal comma only, less those with a point only."""
    vote = 0
    for cell in cells:
        if COMMA in cell or POINT in cell:
            vote += (number(cell, COMMA) is not None) - (number(cell, POINT) is not None)
    return vote


def _has_spaces(text: str, delimiter: str) -> bool:
    """Tell whether a space follows every delimiter outside quotes, so that it belongs to none of the cells."""
    records = records_of_head(text, delimiter)
    cells = [cell for record in records for cell in record[1:] if cell]
    return delimiter != " " and bool(cells) and all(cell.startswith(" ") for cell in cells)


def _decoded(head: bytes, encoding: str, name: str) -> str:
    """Decode the head for a look at it; bytes that are no text are told with their line when the file is read."""
    try:
        return codecs.getincrementaldecoder(encoding)(errors="replace").decode(head)
    except UnicodeError as error:
        raise not_in_encoding(name, encoding, error) from error


def not_in_encoding(name: str, encoding: str, error: UnicodeError) -> TableFileError:
    """Give an error about bytes that are no text in an encoding."""
    step = hint(python="Give another: encoding='utf-8'.", cli="Give another: --encoding utf-8.")
    return TableFileError(f"{name} is not in {encoding}: {error}.", hint=step)
