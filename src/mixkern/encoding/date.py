"""Season and weekday of dates, as columns beside the days.

A date is encoded as its days, a number that shows trends. Where dates are spread over weeks and years, their weekday
and their season are two further columns of categories. A season follows from the days: a density of both divides the
dates into periods, also where nothing else depends on the season. So it is there only if another column varies with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from mixkern.encoding.cell import LAST_DAY, Kind
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.raw_column import GAP, Coded, RawColumn
from mixkern.errors import TableError
from mixkern.parts import model_part
from mixkern.sampling import subsample
from mixkern.typing import Floats, Ints, RandomState

SAMPLE = 4_000  # rows that decide whether seasons matter
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
    on the same day of a month, have no weekday. For seasons, see also ``without_irrelevant_seasons``.
    """

    season: CategoricalColumn | None = None
    weekday: CategoricalColumn | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(set(part.categories) <= set(NAMES[name]) for name, part in self.extra.items()):
            raise TableError(f"The season and weekday of column {self.name!r} are not valid.")

    @classmethod
    def fit(cls, raw: RawColumn, remark: str = "") -> ContinuousColumn:
        """Return the fitted column; a plain column of days where neither season nor weekday vary."""
        fitted = ContinuousColumn.fit(raw, remark)
        days = fitted.values(raw)
        found: dict[str, Any] = {}
        if _vary(seasons(days), _years(days)):
            found[SEASON] = _categories(fitted, SEASON, seasons(days))
        if _vary(weekdays(days), _weeks(days)) and not _are_monthly(days):
            found[WEEKDAY] = _categories(fitted, WEEKDAY, weekdays(days))
        return cls(**_days(fitted), **found) if found else fitted

    @property
    def extra(self) -> dict[str, CategoricalColumn]:
        """Season and weekday, where they are encoded."""
        found = {SEASON: self.season, WEEKDAY: self.weekday}
        return {name: part for name, part in found.items() if part is not None}

    @property
    def parts(self) -> tuple[ContinuousColumn | CategoricalColumn, ...]:
        """The encoded columns: days, and those of season and weekday that vary."""
        return (self, *self.extra.values())

    def renamed(self, names: Sequence[str]) -> "DateColumn":
        """Return the column with other names of season and weekday."""
        pairs = zip(self.extra.items(), names, strict=True)
        new: dict[str, Any] = {part: replace(column, name=name) for (part, column), name in pairs}
        return replace(self, **new)

    def without_season(self) -> ContinuousColumn:
        """Return the column without its season; a plain column of days where nothing else is left."""
        return replace(self, season=None) if self.weekday else ContinuousColumn(**_days(self))

    def derived(self, raw: RawColumn) -> list[RawColumn]:
        """Return the cells of each encoded column."""
        days = self.values(raw)
        codes = {SEASON: seasons, WEEKDAY: weekdays}
        cells = (_named(codes[name](days), NAMES[name]) for name in self.extra)
        pairs = zip(self.extra.values(), cells, strict=True)
        return [raw, *(RawColumn(part.name, Kind.CATEGORY, each, raw.place) for part, each in pairs)]


def _days(column: ContinuousColumn) -> dict[str, Any]:
    """Return the fields of a column of days."""
    return {field.name: getattr(column, field.name) for field in fields(ContinuousColumn)}


def _named(codes: Ints, names: Sequence[str]) -> Coded:
    """Return codes with their names."""
    return Coded.of_codes(codes, lambda used: [names[i] for i in used], len(names))


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
    pairs = np.unique(len(NAMES[WEEKDAY]) * blocks[there] + codes[there])
    return int((np.bincount(np.mod(pairs, len(NAMES[WEEKDAY]))) >= 2).sum()) >= 2


def _categories(column: ContinuousColumn, part: str, codes: Ints) -> CategoricalColumn:
    """Return the categories that occur, in the order of the calendar."""
    found = tuple(NAMES[part][i] for i in np.unique(codes[codes != GAP]))
    return CategoricalColumn(f"{column.name}: {part}", Kind.CATEGORY, found, f"of {column.name!r}", column.n_gaps)


# ---------------------------------------------------------------- whether other columns vary with the season


def without_irrelevant_seasons(
    columns: Sequence[Any], n: int, some: Callable[[Ints], Sequence[RawColumn]]
) -> tuple[Any, ...]:
    """Return fitted columns; dates without their season where no other column varies with it.

    Another column varies with the season if a model with a mean, or a distribution of categories, for each season has
    more evidence, by the Bayesian information criterion, than one without. Linear trends are removed before. A table of
    one column keeps its season.

    Parameters
    ----------
    columns : sequence of fitted columns
        In the order of the table.
    n : int
        Number of rows.
    some : callable
        Returns the cells of some rows, by their positions.
    """
    if not any(isinstance(column, DateColumn) and column.season for column in columns):
        return tuple(columns)
    cells = some(subsample(np.arange(n), SAMPLE, RandomState(0)))
    found = []
    for i, column in enumerate(columns):
        if isinstance(column, DateColumn) and column.season:
            others = (pair for j, pair in enumerate(zip(columns, cells, strict=True)) if j != i)
            days = column.values(cells[i])
            if len(columns) > 1 and not any(_varies_with_season(other, raw, days) for other, raw in others):
                column = column.without_season()
        found.append(column)
    return tuple(found)


def some_rows(raws: Sequence[RawColumn], rows: Ints) -> list[RawColumn]:
    """Return some rows of columns."""

    def at(cells: Floats | Coded) -> Floats | Coded:
        return cells[rows] if isinstance(cells, np.ndarray) else Coded(cells.codes[rows], cells.distinct)

    return [replace(raw, cells=at(raw.cells)) for raw in raws]


def _varies_with_season(column: Any, raw: RawColumn, days: Floats) -> bool:
    """Return whether the season has evidence in one of the encoded columns of another column."""
    pairs = zip(column.parts, column.derived(raw), strict=True)
    return any(
        season_evidence(part.encode(cells), days, is_categorical=isinstance(part, CategoricalColumn)) > 0
        for part, cells in pairs
        if part is column or not isinstance(column, DateColumn)
    )


def season_evidence(values: Floats, days: Floats, *, is_categorical: bool) -> float:
    """Return twice the logarithm of the evidence (BIC) that encoded values vary with the season, and not only by trend.

    >>> days = np.arange(0.0, 1000.0, 10.0)
    >>> season_evidence(np.cos(days / 58), days, is_categorical=False) > 0
    True
    >>> season_evidence(days, days, is_categorical=False) > 0
    False
    """
    there = ~np.isnan(values) & ~np.isnan(days)
    values, days, codes = values[there], days[there], seasons(days[there])
    n, n_seasons = len(values), len(np.unique(codes))
    if n_seasons < 2 or (values == values[0]).all():
        return 0.0
    if is_categorical:
        n_parameters = (n_seasons - 1) * (len(np.unique(values)) - 1)
        return _category_gain(values.astype(np.intp), codes) - n_parameters * float(np.log(n))
    design = np.column_stack([np.ones(n), days - days.mean()])
    rest = values - design @ np.linalg.lstsq(design, values)[0]
    total = float(rest @ rest)
    within = sum(float(((rest[codes == code] - rest[codes == code].mean()) ** 2).sum()) for code in np.unique(codes))
    least = n * (1e-9 * values.std()) ** 2  # what rounding leaves of a perfect trend
    return n * float(np.log((total + least) / (within + least))) - (n_seasons - 1) * float(np.log(n))


def _category_gain(values: Ints, codes: Ints) -> float:
    """Return twice the number of rows times the mutual information of two columns of codes, in nats."""
    table = np.zeros((values.max() + 1, codes.max() + 1))
    np.add.at(table, (values, codes), 1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(values)
    there = table > 0
    return 2 * float((table[there] * np.log(table[there] / expected[there])).sum())
