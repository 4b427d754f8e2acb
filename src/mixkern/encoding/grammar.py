"""The grammar of single cells as text: gaps, numbers, booleans and dates; one for files and frames."""

import datetime as dt
import re
from dataclasses import dataclass

POINT, COMMA = ".", ","
SIGNS = (POINT, COMMA)  # between the whole part of a number and its decimals

GAP_WORDS = frozenset(
    (
        *("", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    )
)
_BOOLEANS = {"true": True, "false": False}
_MOST_DIGITS = 4000  # of a whole number; Python converts at most 4300
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)
_LEADING_ZERO = re.compile(r"[+-]?0\d", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
# 1,234.5 and 1.234,5, also with a space or an apostrophe; 0,123 and 12,34 are no groups of three.
_GROUPED = {
    sign: re.compile(
        rf"[+-]?[1-9]\d{{0,2}}([{other}'\u2019 \u00a0\u202f])\d{{3}}(?:\1\d{{3}})*(?:{re.escape(sign)}\d*)?", re.ASCII
    )
    for sign, other in ((POINT, COMMA), (COMMA, POINT))
}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII)


@dataclass(frozen=True)
class Number:
    """A number in Python's spelling, and how it is written in the file."""

    plain: str
    is_grouped: bool = False  # 1,234
    is_padded: bool = False  # 00123, which may be a post code

    @property
    def is_whole(self) -> bool:
        """Whether it has neither decimals nor an exponent."""
        return len(self.plain) < _MOST_DIGITS and _WHOLE.fullmatch(self.plain) is not None

    @property
    def value(self) -> float:
        """The nearest float."""
        return float(self.plain)


def is_gap_word(cell: str) -> bool:
    """Return whether a cell is empty, or a word for a gap.

    >>> [is_gap_word(cell) for cell in ("", " ", "NA", "?", "0", "none")]
    [True, True, True, True, False, False]
    """
    return cell in GAP_WORDS or cell.strip() in GAP_WORDS


def number(cell: str, sign: str = POINT) -> Number | None:
    """Parse a number with the decimal sign ``sign``; ``None`` where a cell is no number.

    >>> [number(cell).value for cell in ("3", "-1e5", ".5", "1,234.5", "1 234")]
    [3.0, -100000.0, 0.5, 1234.5, 1234.0]
    >>> number("3,14"), number("3,14", ",").value, number("1.234,5", ",").value, number("1_000")
    (None, 3.14, 1234.5, None)
    """
    cell = cell.strip()
    group = _GROUPED[sign].fullmatch(cell)
    if group:
        cell = cell.replace(group[1], "")
    elif sign == COMMA and POINT in cell:
        return None
    plain = cell.replace(sign, POINT)
    if not _NUMBER.fullmatch(plain):
        return None
    return Number(plain, group is not None, _LEADING_ZERO.match(plain) is not None)


def boolean(cell: str) -> bool | None:
    """Parse true and false, in small or capital letters; 1, yes and t are no booleans.

    >>> boolean("TRUE"), boolean("false"), boolean("1")
    (True, False, None)
    """
    return _BOOLEANS.get(cell.strip().lower())


def moment(cell: str) -> dt.datetime | None:
    """Parse an ISO 8601 date; it is returned in UTC, without a time zone.

    >>> moment("2024-05-01"), moment("2024-05-01T12:00+02:00"), moment("2024-02-30"), moment("20240501")
    (datetime.datetime(2024, 5, 1, 0, 0), datetime.datetime(2024, 5, 1, 10, 0), None, None)
    """
    cell = cell.strip()
    if not _MOMENT.fullmatch(cell):
        return None
    try:
        found = dt.datetime.fromisoformat(cell)
        return found.astimezone(dt.UTC).replace(tzinfo=None) if found.tzinfo else found
    except (ValueError, OverflowError):  # the 30th of February; the year 0 in UTC
        return None
