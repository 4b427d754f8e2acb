"""One cell of a table: whether it is a gap, and its value as a number, as text or for JSON.

Dates and durations are counted in days, dates from 1970. A date without a time zone is taken as UTC.
"""

import datetime as dt
import decimal
import math
import numbers
from collections.abc import Collection, Mapping
from enum import StrEnum
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.encoding import grammar
from mixkern.errors import CellTypeError
from mixkern.typing import Floats

DAY = 86_400e6  # microseconds
FIRST_DATE, LAST_DATE = np.datetime64("0001-01-01", "us"), np.datetime64("9999-12-31", "us")  # of Python's dates
LAST_DAY = 1e8  # about the year 275,000: microseconds beyond do not fit into 64 bits
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
EXCEPTIONS = 10  # one text in this many may differ from the others, because real columns have errors

_LOOKED_AT = 10_000  # distinct texts that are compared with dates
_NAN = ("nan", "+nan", "-nan")
_DATES = (dt.date, np.datetime64)
_NO_GAPS = frozenset({str, int, bool})  # types without a missing value
_DURATIONS = (dt.timedelta, dt.time, np.timedelta64)


class Kind(StrEnum):
    """The type of a column's cells."""

    NUMBER = "number"
    INTEGER = "integer"
    DATE = "date"
    DURATION = "duration"
    BOOLEAN = "boolean"
    TEXT = "text"
    CATEGORY = "category"
    EMPTY = "empty"

    @property
    def is_numeric(self) -> bool:
        """Whether the cells are quantities, which can be z-scored."""
        return self in (Kind.NUMBER, Kind.INTEGER, Kind.DATE, Kind.DURATION)


def is_gap(value: object) -> bool:
    """Return whether a cell is a gap: ``None``, NaN, NaT or ``pandas.NA``.

    >>> [is_gap(value) for value in (None, float("nan"), 0, "", "nan")]
    [True, True, False, False, False]
    """
    kind = type(value)
    if kind in _NO_GAPS:  # the usual cases come first
        return False
    if kind is float:
        return value != value
    # pandas.NA and NaT are found by name, because pandas may not be installed; NA cannot be compared.
    if value is None or kind.__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()  # a signalling NaN cannot be compared
    return isinstance(value, (float, complex, np.generic)) and bool(value != value)


def number(cell: Any) -> float:
    """Return a number, boolean, date or duration as a float, infinite where no float is large enough.

    >>> number(True), number(dt.date(1970, 1, 2)), number(10**400)
    (1.0, 1.0, inf)
    """
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return float(days(np.array([cell]))[0])
    if isinstance(cell, (*_DATES, *_DURATIONS)):
        return _timedelta(cell) / dt.timedelta(microseconds=1) / DAY
    try:
        return float(cell)
    except OverflowError:  # a Python integer of more than 308 digits
        return math.inf if cell > 0 else -math.inf


def parsed(cell: Any) -> float | None:
    """Return the number in a text, ``None`` where there is none; NaN for the text "nan".

    >>> [parsed(text) for text in ("3", "-1e5", "1,234", "3 cm", "1_000", "")]
    [3.0, -100000.0, 1234.0, None, None, None]
    """
    if not isinstance(cell, str):
        return number(cell) if isinstance(cell, (numbers.Real, decimal.Decimal)) else None
    found = grammar.number(cell)
    if found is None:
        return math.nan if cell.strip().lower() in _NAN else None
    return found.value


def text(cell: Any) -> str | None:
    """Return a cell as text, ``None`` for a gap; equal values have equal texts, whatever their type.

    >>> text(3), text(3.0), text(decimal.Decimal("0.50")), text(dt.date(2020, 2, 29)), text(None)
    ('3', '3', '0.5', '2020-02-29', None)
    """
    if is_gap(cell):
        return None
    if isinstance(cell, (bool, str)):
        return str(cell)
    if isinstance(cell, _DATES):
        return date_text(number(cell))
    if isinstance(cell, (float, decimal.Decimal, *_DURATIONS)):
        value = number(cell)
        return str(int(value)) if value.is_integer() else str(value)
    if isinstance(cell, numbers.Integral):
        whole = int(cell)
        return str(whole) if whole.bit_length() < 10_000 else hex(whole)  # Python converts at most 4300 digits
    return text(number(cell)) if isinstance(cell, numbers.Real) else str(cell)


def date_text(day: float) -> str | None:
    """Return the text of a date given in days since 1970, without the time of day where it is midnight.

    >>> date_text(18262.0), date_text(18262.5)
    ('2020-01-01', '2020-01-01T12:00:00.000000')
    """
    if math.isnan(day):
        return None
    if day == math.floor(day) or abs(day) > LAST_DAY:
        return str(np.datetime64(math.floor(day), "D"))
    return str(np.datetime64(round(day * DAY), "us"))


def days(moments: NDArray[Any]) -> Floats:  # (n,)
    """Return an array of datetime64 or timedelta64 in days, NaT as NaN."""
    unit: Any
    unit, step = np.datetime_data(moments.dtype)
    if unit in ("Y", "M") and moments.dtype.kind == "M":
        moments, unit, step = moments.astype("datetime64[D]"), "D", 1
    if unit in ("Y", "M", "generic"):
        raise CellTypeError(f"Cells of {moments.dtype} have no length in days. Convert them to days or a smaller unit.")
    per_day = np.timedelta64(1, "D") / np.timedelta64(step, unit)
    counted: Floats = moments.astype(np.int64) / per_day
    counted[np.isnat(moments)] = np.nan
    return counted


def not_numbers(texts: Collection[Any], most: float = math.inf) -> list[Any]:
    """Return the texts that are not numbers, but not more than ``most``; other cells are numbers by their type.

    >>> not_numbers(["1", "2.5", "high"])
    ['high']
    """
    if set(map(type, texts)) == {str} and grammar.plain_numbers(texts) is not None:
        return []
    others = (text for text in texts if parsed(text) is None)
    return list(others) if most == math.inf else list(islice(others, int(most)))


def are_dates(texts: Collection[str]) -> bool:
    """Return whether at least nine in ten of the first ten thousand texts are dates; digits alone are numbers.

    >>> are_dates(["2024-05-01", "2024-05-02T12:00"]), are_dates(["20240501"]), are_dates(["May", "June"])
    (True, False, False)
    >>> are_dates(["31.12.2020", "1.2.2021"]), are_dates(["12/31/2024", "01/02/2024"])
    (True, True)
    """
    n_exceptions = min(len(texts), _LOOKED_AT) // EXCEPTIONS
    for text in islice(texts, _LOOKED_AT):
        n_exceptions -= not grammar.is_date(text)
        if n_exceptions < 0:
            return False
    return bool(texts)


def jsonable(value: Any) -> Any:
    """Return a value in the types of JSON: no arrays, no NaN, keys that are texts.

    >>> jsonable({1: np.float64("nan"), "a": (np.int64(3), np.array([True]))})
    {'1': None, 'a': [3, [True]]}
    """
    match value:
        case Mapping():
            return {str(key): jsonable(each) for key, each in value.items()}
        case list() | tuple() | np.ndarray():
            return [jsonable(each) for each in value]
        case np.generic():
            return jsonable(value.item())
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case _:
            return None if is_gap(value) else str(value)


def _timedelta(cell: Any) -> dt.timedelta:
    """Return a duration, the time since midnight or the time since 1970."""
    if isinstance(cell, dt.timedelta):
        return cell
    if isinstance(cell, dt.time):
        return dt.timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond)
    if not isinstance(cell, dt.datetime):
        cell = dt.datetime(cell.year, cell.month, cell.day, tzinfo=dt.UTC)
    elapsed: dt.timedelta = (cell if cell.tzinfo else cell.replace(tzinfo=dt.UTC)) - EPOCH
    return elapsed


def python_cells(values: Any) -> list[Any]:
    """Return a decoded column as Python objects; dates before year 1 and after 9999, which Python has not, are cut off.

    >>> python_cells(np.array(["2020-02-29", "NaT"], dtype="datetime64[us]"))
    [datetime.datetime(2020, 2, 29, 0, 0), None]
    """
    values = np.asarray(values)
    if values.dtype.kind == "M":
        values = np.clip(values, FIRST_DATE, LAST_DATE)
    return list(values.tolist())
