"""The grammar of single cells as text: gaps, numbers, booleans and dates; one for files and frames.

A cell is read on its own; what a whole column must agree on (the decimal sign, the unit, whether the day or the month
comes first) is an argument, found by :mod:`mixkern.encoding.spelling`.
"""

import datetime as dt
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.typing import Floats

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
_STARTS = frozenset("+-.,0123456789iI")
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
# 1,234.5 and 1.234,5, also with a space or an apostrophe; 0,123 and 12,34 are no groups of three.
_GROUPED = {
    sign: re.compile(
        rf"[+-]?[1-9]\d{{0,2}}([{other}'\u2019 \u00a0\u202f])\d{{3}}(?:\1\d{{3}})*(?:{re.escape(sign)}\d*)?", re.ASCII
    )
    for sign, other in ((POINT, COMMA), (COMMA, POINT))
}
PERCENT = "%"
# Codes of ISO 4217, without those that are words in many tables (ALL, TOP, ...).
_CODES = (
    "AED ARS AUD BDT BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GHS HKD HUF IDR ILS INR ISK JPY KES KRW KWD LKR "
    "MAD MXN MYR NGN NOK NZD PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD UAH USD UYU VND ZAR"
)
CURRENCY = rf"(?:[$€£¥₹₽₩₺₫₴₦₱₪฿]|{'|'.join(_CODES.split())})"  # also a pattern of Arrow
# -$5, $-5, 5 USD, 12,5 %: a currency before or after, a percent sign after the number.
_WITH_UNIT = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{CURRENCY})\s*(?P<first>[+-]?[.,]?\d.*)|(?P<last>[+-]?[.,]?\d.*?)\s*(?P<after>{CURRENCY}|{PERCENT})"
)

_TIME = r"\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_ISO = re.compile(rf"\d{{4}}-\d\d-\d\d(?:[T ]{_TIME}(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII)
_CLOCK = r"(?:,?\s+(?P<hour>\d{1,2}):(?P<rest>\d\d(?::\d\d(?:[.,]\d{1,9})?)?)(?:\s?(?P<half>[ap])\.?m\.?)?)?"
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_CLOCK}", re.ASCII | re.IGNORECASE
)
_DOTTED = re.compile(
    rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}|(?<=^\d\d\.\d\d\.)\d\d){_CLOCK}",
    re.ASCII | re.IGNORECASE,
)
_EITHER = re.compile(
    rf"(?P<one>\d{{1,2}})([-/])(?P<two>\d{{1,2}})\2(?P<year>\d{{4}}){_CLOCK}", re.ASCII | re.IGNORECASE
)
_CENTURY = 69  # two digits from here on are years of 1900, as in POSIX

_PLAIN = b"0123456789eE+-.\0"  # characters of plain numbers, joined by NUL
_SHAPE = bytes.maketrans(b"23456789-", b"11111111+")
_PADDED = (b"\x0000", b"\x0001", b"\0+00", b"\0+01")  # shapes of numbers with leading zeros
_PLAIN_DATE = re.compile(rb"0000-00-00(?:[T ]00:00(?::00(?:\.0{1,6})?)?)?")  # the shape, with 0 for all digits
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_FIRST = np.datetime64("0001-01-01", "us")  # Python has no earlier date


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


def unit_of(cell: str) -> str:
    """Return the percent sign or the currency of a cell; empty where it has none.

    >>> [unit_of(cell) for cell in ("12,5 %", "-$5", "CHF 1'200.50", "3.20 USD", "3 cm", "5")]
    ['%', '$', 'CHF', 'USD', '', '']
    """
    return _split(cell)[1]


def number(cell: str, sign: str = POINT, unit: str = "") -> Number | None:
    """Parse a number with the decimal sign ``sign`` and the unit ``unit``; ``None`` where a cell is no such number.

    A percentage is the number that is written: 12.5 % is 12.5.

    >>> [number(cell).value for cell in ("3", "-1e5", ".5", "1,234.5", "1 234")]
    [3.0, -100000.0, 0.5, 1234.5, 1234.0]
    >>> number("3,14"), number("3,14", ",").value, number("1.234,5", ",").value, number("1_000")
    (None, 3.14, 1234.5, None)
    >>> number("12,5 %", ",", "%").value, number("-$1,200", unit="$").value, number("5 EUR", unit="$")
    (12.5, -1200.0, None)
    """
    cell = cell.strip()
    if unit:
        cell, found = _split(cell)
        if found != unit:
            return None
    if cell[:1] not in _STARTS:  # most texts are no numbers
        return None
    group = _GROUPED[sign].fullmatch(cell)
    if group:
        cell = cell.replace(group[1], "")
    elif sign == COMMA and POINT in cell:
        return None
    plain = cell.replace(sign, POINT)
    if not _NUMBER.fullmatch(plain):
        return None
    return Number(plain, group is not None, _LEADING_ZERO.match(plain) is not None)


def _split(cell: str) -> tuple[str, str]:
    """Return the number and the unit in a cell, the unit empty where there is none."""
    cell = cell.strip()
    parts = _WITH_UNIT.fullmatch(cell)
    if parts is None:
        return cell, ""
    if parts["before"]:
        return parts["sign"] + parts["first"], parts["before"]
    return parts["last"], parts["after"]


def boolean(cell: str) -> bool | None:
    """Parse true and false, in small or capital letters; 1, yes and t are no booleans.

    >>> boolean("TRUE"), boolean("false"), boolean("1")
    (True, False, None)
    """
    return _BOOLEANS.get(cell.strip().lower())


def moment(cell: str, day_first: bool | None = None) -> dt.datetime | None:
    """Parse a date, with or without a time of day; it is returned in UTC, without a time zone.

    Dates with the year first, as in ISO 8601, and with dots, which have the day first, are read in one way.

    Parameters
    ----------
    cell : str
        The text.
    day_first : bool or None, default=None
        How to read 01/02/2024 and 01-02-2024: day or month first. ``None``: not at all.

    Examples
    --------
    >>> moment("2024-05-01"), moment("2024-05-01T12:00+02:00"), moment("2024-02-30"), moment("20240501")
    (datetime.datetime(2024, 5, 1, 0, 0), datetime.datetime(2024, 5, 1, 10, 0), None, None)
    >>> moment("06.07.2020 14:30"), moment("12/31/2024"), moment("12/31/2024", day_first=False)
    (datetime.datetime(2020, 7, 6, 14, 30), None, datetime.datetime(2024, 12, 31, 0, 0))
    """
    cell = cell.strip()
    try:
        if _ISO.fullmatch(cell):
            found = dt.datetime.fromisoformat(cell)
            return found.astimezone(dt.UTC).replace(tzinfo=None) if found.tzinfo else found
        parts = _YEAR_FIRST.fullmatch(cell) or _DOTTED.fullmatch(cell)
        if parts:
            return _datetime(parts, parts["month"], parts["day"])
        parts = _EITHER.fullmatch(cell) if day_first is not None else None
        if parts:
            return _datetime(parts, *((parts["two"], parts["one"]) if day_first else (parts["one"], parts["two"])))
    except (ValueError, OverflowError):  # the 30th of February; the year 0 in UTC
        pass
    return None


def is_two_way_date(cell: str) -> bool:
    """Return whether a cell has the form of a date whose first number may be a day or a month.

    >>> [is_two_way_date(cell) for cell in ("01/02/2024", "31-12-2024", "31.12.2024", "2024/12/31")]
    [True, True, False, False]
    """
    return _EITHER.fullmatch(cell.strip()) is not None


def _datetime(parts: re.Match[str], month: str, day: str) -> dt.datetime:
    """Return the date and time that were matched."""
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 1900 if year >= _CENTURY else 2000
    date = dt.datetime(year, int(month), int(day))
    if parts["hour"] is None:
        return date
    hour = int(parts["hour"])
    if parts["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(f"no hour of half a day: {hour}")
        hour = hour % 12 + (12 if parts["half"] in "pP" else 0)
    return dt.datetime.combine(date, dt.time.fromisoformat(f"{hour:02}:{parts['rest']}"))


def is_date(cell: str) -> bool:
    """Return whether a cell is a date, whatever the order of day and month.

    >>> [is_date(cell) for cell in ("2024-05-01", "31/12/2024", "12/31/2024", "31/31/2024")]
    [True, True, True, False]
    """
    return moment(cell, day_first=True) is not None or moment(cell, day_first=False) is not None


# ---------------------------------------------------------------- many cells at once


def plain_numbers(cells: Collection[str], decimal: str = POINT) -> Floats | None:  # (n,)
    """Return cells that are all plain numbers as floats; ``None`` where a cell must be parsed on its own.

    A quick way for the usual columns: without gaps, blanks, thousands marks, units and leading zeros.

    >>> plain_numbers(["1", "-2.5e3"]), plain_numbers(["1", "01"]), plain_numbers(["1,234"])
    (array([ 1.0e+00, -2.5e+03]), None, None)
    """
    joined = "\0".join(cells)
    if decimal == COMMA:
        if POINT in joined:
            return None
        joined = joined.replace(COMMA, POINT)
    if not joined.isascii() or joined.count("\0") != len(cells) - 1:  # no cells, or a NUL in one
        return None
    characters = joined.encode("ascii")
    shape = b"\0" + characters.translate(_SHAPE)
    if characters.translate(None, _PLAIN) or any(start in shape for start in _PADDED):
        return None
    try:
        return np.array(list(map(float, joined.split("\0"))))
    except ValueError:
        return None


def plain_dates(cells: Collection[str]) -> NDArray[Any] | None:  # (n,)
    """Return cells that are all ISO dates without a time zone as an array; ``None`` where they must be parsed singly.

    >>> plain_dates(["2024-05-01", "2024-05-01 12:30"]), plain_dates(["2024-05"])
    (array(['2024-05-01T00:00:00.000000', '2024-05-01T12:30:00.000000'],
          dtype='datetime64[us]'), None)
    """
    joined = "\0".join(cells)
    if not joined.isascii() or joined.count("\0") != len(cells) - 1:  # no cells, or a NUL in one
        return None
    shapes = set(joined.encode("ascii").translate(_DIGITS).split(b"\0"))
    if not all(map(_PLAIN_DATE.fullmatch, shapes)):
        return None
    try:
        found = np.array(list(cells), dtype="datetime64[us]")
    except ValueError:
        return None
    return None if (found < _FIRST).any() else found
