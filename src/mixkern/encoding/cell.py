"""One cell as a number or as text, whatever it was before.

Dates and durations are counted in days, dates from 1970. A date without a time zone is taken as UTC, never as the
zone of whoever's machine this is.
"""

import datetime as dt
import decimal
import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.encoding.gap import is_gap
from mixkern.errors import CellTypeError
from mixkern.typing import Floats

DAY = 86_400e6  # microseconds
LAST_DAY = 1e8  # about the year 275,000: microseconds beyond do not fit into 64 bits
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

_DATES = (dt.date, np.datetime64)
_DURATIONS = (dt.timedelta, dt.time, np.timedelta64)


def number(cell: Any) -> float:
    """Give a number, boolean, date or duration as a float, infinite where no float is large enough.

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
    """Give the number that a text spells, ``None`` where it spells none.

    >>> [parsed(text) for text in ("3", "-1e5", "3 cm", "1_000", "")]
    [3.0, -100000.0, None, None, None]
    """
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_000 as a number, nobody's table does
        return None
    try:
        return number(cell) if isinstance(cell, (numbers.Real, decimal.Decimal)) else float(cell)
    except (TypeError, ValueError):
        return None


def text(cell: Any) -> str | None:
    """Give a cell as text, a gap as ``None``; equal cells give equal texts, however they were stored.

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
        return str(whole) if whole.bit_length() < 10_000 else hex(whole)  # Python refuses more than 4300 digits
    return text(number(cell)) if isinstance(cell, numbers.Real) else str(cell)


def date_text(day: float) -> str | None:
    """Write a date, given in days since 1970, without its time of day where that is midnight.

    >>> date_text(18262.0), date_text(18262.5)
    ('2020-01-01', '2020-01-01T12:00:00.000000')
    """
    if math.isnan(day):
        return None
    if day == math.floor(day) or abs(day) > LAST_DAY:
        return str(np.datetime64(math.floor(day), "D"))
    return str(np.datetime64(round(day * DAY), "us"))


def days(moments: NDArray[Any]) -> Floats:  # (n,)
    """Give an array of datetime64 or timedelta64 in days, NaT as NaN."""
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


def _timedelta(cell: Any) -> dt.timedelta:
    """Give a duration, the time since midnight or the time since 1970."""
    if isinstance(cell, dt.timedelta):
        return cell
    if isinstance(cell, dt.time):
        return dt.timedelta(hours=cell.hour, minutes=cell.minute, seconds=cell.second, microseconds=cell.microsecond)
    if not isinstance(cell, dt.datetime):
        cell = dt.datetime(cell.year, cell.month, cell.day, tzinfo=dt.UTC)
    elapsed: dt.timedelta = (cell if cell.tzinfo else cell.replace(tzinfo=dt.UTC)) - EPOCH
    return elapsed
