"""Season and weekday of dates, as columns beside the days.

A date is encoded as its days, a number that shows trends. Where dates are spread over years and weeks, their season and
their weekday are two further columns of categories.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from mixkern.encoding.cell import LAST_DAY, Kind
from mixkern.encoding.coded import GAP, Coded
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.frame import RawColumn
from mixkern.errors import TableError
from mixkern.parts import model_part
from mixkern.typing import Floats, Ints

SEASON, WEEKDAY = "season", "weekday"
NAMES = {
    SEASON: ("January to March", "April to June", "July to September", "October to December"),
    WEEKDAY: ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}


@model_part("DateColumn")
@dataclass(frozen=True)
class DateColumn(ContinuousColumn):
    """A column of dates: mean and standard deviation of its days, and the categories of season and weekday.

    Season and weekday are there if they vary independently of the days: at least two seasons (quarters of a year) each
    occur in two years or more, at least two weekdays each in two weeks or more. Figures by month, whose dates are all
    on the same day of a month, have no weekday.
    """

    extra: tuple[CategoricalColumn, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [self._part_of(part) for part in self.extra]
        pairs = zip(known, self.extra, strict=True)
        are_known = all(name and set(part.categories) <= set(NAMES[name]) for name, part in pairs)
        if not are_known or len(set(known)) < len(known):
            raise TableError(f"The parts of column {self.name!r} are not valid.")

    @classmethod
    def fit(cls, raw: RawColumn, remark: str = "") -> ContinuousColumn:
        """Return the fitted column; a plain column of days where neither season nor weekday vary."""
        fitted = ContinuousColumn.fit(raw, remark)
        days = fitted.values(raw)
        found = {}
        if _vary(seasons(days), _years(days)):
            found[SEASON] = seasons(days)
        if _vary(weekdays(days), _weeks(days)) and not _are_monthly(days):
            found[WEEKDAY] = weekdays(days)
        if not found:
            return fitted
        own = {field.name: getattr(fitted, field.name) for field in fields(ContinuousColumn)}
        return cls(**own, extra=tuple(_categories(fitted, part, codes) for part, codes in found.items()))

    @property
    def parts(self) -> tuple[ContinuousColumn | CategoricalColumn, ...]:
        """The encoded columns: days, and those of season and weekday that vary."""
        return (self, *self.extra)

    def renamed(self, names: Sequence[str]) -> "DateColumn":
        """Return the column with other names of season and weekday."""
        return replace(
            self, extra=tuple(replace(part, name=name) for part, name in zip(self.extra, names, strict=True))
        )

    def derived(self, raw: RawColumn) -> list[RawColumn]:
        """Return the cells of each encoded column."""
        days = self.values(raw)
        codes = {SEASON: seasons, WEEKDAY: weekdays}
        found = [raw]
        for part in self.extra:
            name = self._part_of(part)
            names = np.array(NAMES[name], dtype=object)
            cells = Coded.of_codes(codes[name](days), lambda used, names=names: names[used].tolist(), len(names))  # type: ignore[misc]
            found.append(RawColumn(part.name, Kind.CATEGORY, cells, raw.place))
        return found

    def _part_of(self, part: CategoricalColumn) -> str:
        """Return which part a column is, by its name: 'when: weekday'."""
        return next((name for name in NAMES if part.name.startswith(f"{self.name}: {name}")), "")


def weekdays(days: Floats) -> Ints:  # (n,)
    """Return the weekdays of days since 1970, Monday as 0, gaps as -1.

    >>> weekdays(np.array([0.0, 4.5, np.nan]))  # a Thursday and a Monday
    array([ 3,  0, -1])
    """
    return np.where(np.isnan(days), GAP, np.mod(_whole(days) + 3, 7))


def seasons(days: Floats) -> Ints:  # (n,)
    """Return the quarters of the year of days since 1970, January to March as 0, gaps as -1.

    >>> seasons(np.array([0.0, 100.0, np.nan]))
    array([ 0,  1, -1])
    """
    return np.where(np.isnan(days), GAP, np.mod(_months(days), 12) // 3)


def _whole(days: Floats) -> Ints:
    """Return days as whole numbers, gaps and days far beyond any calendar as 0."""
    return np.floor(np.where(np.abs(days) < LAST_DAY, days, 0)).astype(np.int64)


def _months(days: Floats) -> Ints:
    """Return months since January 1970."""
    return _whole(days).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _years(days: Floats) -> Ints:
    return np.floor_divide(_months(days), 12)


def _weeks(days: Floats) -> Ints:
    """Return weeks since the first Monday of 1970."""
    return np.floor_divide(_whole(days) + 3, 7)


def _are_monthly(days: Floats) -> bool:
    """Return whether all dates are on the same day of a month."""
    there = days[~np.isnan(days)]
    first = _months(there).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return len(np.unique(_whole(there) - first)) == 1


def _vary(codes: Ints, blocks: Ints) -> bool:
    """Return whether at least two codes each occur in two blocks (years or weeks) or more."""
    there = codes != GAP
    pairs = np.unique(np.column_stack([codes[there], blocks[there]]), axis=0)
    return int((np.bincount(pairs[:, 0]) >= 2).sum()) >= 2 if len(pairs) else False


def _categories(column: ContinuousColumn, part: str, codes: Ints) -> CategoricalColumn:
    """Return the categories that occur, in the order of the calendar."""
    found = tuple(NAMES[part][i] for i in np.unique(codes[codes != GAP]))
    return CategoricalColumn(f"{column.name}: {part}", Kind.CATEGORY, found, f"of {column.name!r}", column.n_gaps)
