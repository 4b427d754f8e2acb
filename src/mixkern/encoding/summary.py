"""Summaries of columns that add up: those of the parts of a table give that of the whole table.

A summary takes the place of a column where an encoder decides how to read it and fits it: of texts it has the distinct
cells and how often each occurs, of numbers their count, mean, deviation, extremes and, where they are few, the distinct
values. Sums are added in the order of the parts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixkern.encoding.cell import Kind
from mixkern.encoding.raw_column import GAP, Coded, RawColumn
from mixkern.encoding.spelling import Spelling
from mixkern.errors import CellTypeError, InfiniteValueError, hint
from mixkern.typing import Floats, Ints

MOST_VALUES = 2**14  # distinct numbers that are kept; with more, a column of them is not coarse
MOST_DAYS = 2**16  # distinct days of dates that are kept: some 180 years
MOST_CELLS = 2**16  # distinct texts that are kept; of more, the most frequent ones
_WIDER = (Kind.BOOLEAN, Kind.INTEGER, Kind.NUMBER)  # each holds those before it


@dataclass(frozen=True, eq=False)
class CountedCells(Coded):
    """Distinct cells with their numbers of rows. Its codes are those of one row for each distinct cell.

    Attributes
    ----------
    n_rows : ndarray of int, shape (k,)
        Number of rows of each distinct cell.
    first : ndarray of int, shape (k,)
        First row of each.
    n_missing : int
        Number of gaps.
    """

    n_rows: Ints
    first: Ints
    n_missing: int

    @classmethod
    def of(cls, cells: Coded) -> "CountedCells":
        """Count the cells of a column."""
        first = np.full(len(cells.distinct) + 1, len(cells.codes))
        first[cells.codes[::-1]] = np.arange(len(cells.codes))[::-1]  # the last assignment is that of the first row
        return cls._of(cells.distinct, cells.counts(), first[:-1], cells.n_gaps())

    @classmethod
    def _of(cls, distinct: list[Any], n_rows: Ints, first: Ints, n_missing: int) -> "CountedCells":
        return cls(np.arange(len(distinct)), distinct, n_rows, first, n_missing)

    def __len__(self) -> int:
        return int(self.n_rows.sum()) + self.n_missing

    def counts(self) -> Ints:  # (k,)
        """Return the number of rows of each distinct cell."""
        return self.n_rows

    def n_gaps(self) -> int:
        """Return the number of gaps."""
        return self.n_missing

    def rows_of(self, codes: Sequence[int]) -> Ints:
        """Return the first row of each of some codes, in order."""
        return np.sort(self.first[list(codes)])

    def all_cells(self) -> list[Any]:
        """Return the cells of all rows that are not gaps."""
        return [self.distinct[i] for i in np.repeat(np.arange(len(self.distinct)), self.n_rows).tolist()]

    def mapped(self, function: Callable[[Any], Any]) -> "CountedCells":
        """Return the counts of other cells, ``function`` of these."""
        return self._grouped([function(cell) for cell in self.distinct])

    def _grouped(self, cells: list[Any]) -> "CountedCells":
        """Count equal cells together, in the order of their first rows."""
        new = Coded.of_cells(cells)
        there = new.codes != GAP
        k = len(new.distinct)
        n_rows = np.bincount(new.codes[there], self.n_rows[there], minlength=k).astype(np.intp)
        first = np.full(k, np.iinfo(np.intp).max)
        np.minimum.at(first, new.codes[there], self.first[there])
        n_missing = self.n_missing + int(self.n_rows[~there].sum())
        return self._of(new.distinct, n_rows, first, n_missing)

    def __add__(self, below: "CountedCells") -> "CountedCells":
        both = self._of(
            [*self.distinct, *below.distinct],
            np.append(self.n_rows, below.n_rows),
            np.append(self.first, below.first + len(self)),
            self.n_missing + below.n_missing,
        )
        return both._grouped(both.distinct)._limited()

    def _limited(self) -> "CountedCells":
        """Keep the most frequent cells, where there are too many; the first of those that are as frequent."""
        if len(self.distinct) <= MOST_CELLS:
            return self
        kept = np.sort(np.argsort(-self.n_rows, kind="stable")[:MOST_CELLS])
        return replace(
            self,
            codes=np.arange(len(kept)),
            distinct=[self.distinct[i] for i in kept.tolist()],
            n_rows=self.n_rows[kept],
            first=self.first[kept],
        )


@dataclass(frozen=True, eq=False)
class NumberSummary:
    """Count, extremes, mean and squared deviations of numbers, and the distinct ones where they are few.

    Means and squares are extended floats: squares of large numbers stay in their range, and sums of parts keep the
    digits of each part.
    """

    n_values: int = 0
    low: float = np.inf
    high: float = -np.inf
    above: Any = 0.0  # mean above the lowest value
    squares: Any = 0.0  # sum of squared deviations from the mean
    is_whole: bool = True  # all are whole numbers below 2^53
    distinct: Floats | None = None  # sorted; None where there are too many
    days: Floats | None = None  # sorted distinct whole days of dates

    @classmethod
    def of(cls, values: Floats, *, are_dates: bool) -> "NumberSummary":
        """Summarise finite numbers without gaps."""
        if not len(values):
            return cls(distinct=np.empty(0), days=np.empty(0))
        low, high = float(values.min()), float(values.max())
        with np.errstate(over="ignore"):
            extent = high - low
        unit = np.ldexp(1.0, np.frexp(extent)[1]) if 0 < extent < np.inf else 1.0  # a power of two is exact
        with np.errstate(over="ignore"):
            scaled = (values - low) / unit
        mean = scaled.mean()
        squares = np.longdouble(np.square(scaled - mean).sum()) * np.longdouble(unit) ** 2
        is_whole = bool(((np.abs(values) < 2**53) & (values == np.floor(values))).all())
        days = np.unique(np.floor(values)) if are_dates else np.empty(0)
        return cls(
            len(values),
            low,
            high,
            np.longdouble(mean) * np.longdouble(unit),
            squares,
            is_whole,
            _few(np.unique(values), MOST_VALUES),
            _few(days, MOST_DAYS),
        )

    def __add__(self, other: "NumberSummary") -> "NumberSummary":
        if not (self.n_values and other.n_values):
            return self if self.n_values else other
        n, low = self.n_values + other.n_values, min(self.low, other.low)
        mine, theirs = (each.above + (np.longdouble(each.low) - np.longdouble(low)) for each in (self, other))
        share = np.longdouble(other.n_values) / np.longdouble(n)
        return NumberSummary(
            n,
            low,
            max(self.high, other.high),
            mine + share * (theirs - mine),
            self.squares + other.squares + self.n_values * share * (theirs - mine) ** 2,
            self.is_whole and other.is_whole,
            _union(self.distinct, other.distinct, MOST_VALUES),
            _union(self.days, other.days, MOST_DAYS),
        )

    @property
    def deviation(self) -> float:
        """Population standard deviation."""
        return float(np.sqrt(self.squares / self.n_values))


def _few(distinct: Floats, most: int) -> Floats | None:
    return distinct if len(distinct) <= most else None


def _union(one: Floats | None, other: Floats | None, most: int) -> Floats | None:
    if one is None or other is None:
        return None
    return _few(np.union1d(one, other), most)


@dataclass(frozen=True, eq=False)
class ColumnSummary(RawColumn):
    """The summary of a column, which is inferred and fitted as the column itself."""

    numbers_: NumberSummary | None = None  # of a numeric column
    n_missing: int = 0
    n_rows: int = 0

    @classmethod
    def of(cls, raw: RawColumn) -> "ColumnSummary":
        """Summarise a column of a part of a table."""
        if not raw.kind.is_numeric or raw.kind is Kind.BOOLEAN:
            cells = CountedCells.of(raw.coded() if isinstance(raw.cells, np.ndarray) else raw.cells)
            return cls(raw.name, raw.kind, cells._limited(), raw.place, None, cells.n_missing, len(cells))  # noqa: SLF001
        values = raw.numbers()
        rows = np.flatnonzero(np.isinf(values))
        if len(rows):
            raise InfiniteValueError(
                f"Column {raw.name!r} holds an infinite value, the first in {{row}}.",
                hint=hint(python="Replace them by numbers, or by gaps: X.replace([np.inf, -np.inf], np.nan)."),
                row=int(rows[0]),
            )
        there = values[~np.isnan(values)]
        found = NumberSummary.of(there, are_dates=raw.kind is Kind.DATE)
        return cls(raw.name, raw.kind, np.empty(0), raw.place, found, len(values) - len(there), len(values))

    def __add__(self, below: "ColumnSummary") -> "ColumnSummary":
        if Kind.EMPTY in (self.kind, below.kind):
            known, empty = (below, self) if self.kind is Kind.EMPTY else (self, below)
            return self._with_gaps(known, empty, is_above=empty is self)
        if (self.numbers_ is None) != (below.numbers_ is None):
            raise CellTypeError(
                f"Column {self.name!r} holds {self.kind} in some partitions and {below.kind} in others.",
                hint=hint(python=f"Convert it: {self.place} = {self.place}.astype(str)."),
            )
        kind, n_missing = _joined(self.kind, below.kind), self.n_missing + below.n_missing
        n_rows = self.n_rows + below.n_rows
        if self.numbers_ is None or below.numbers_ is None:
            assert isinstance(self.cells, CountedCells)
            assert isinstance(below.cells, CountedCells)
            return replace(self, kind=kind, cells=self.cells + below.cells, n_missing=n_missing, n_rows=n_rows)
        numbers = self.numbers_ + below.numbers_
        return replace(self, kind=kind, numbers_=numbers, n_missing=n_missing, n_rows=n_rows)

    @staticmethod
    def _with_gaps(known: "ColumnSummary", empty: "ColumnSummary", *, is_above: bool) -> "ColumnSummary":
        """Add a part of the column that holds gaps only, above or below."""
        cells = known.cells
        if isinstance(cells, CountedCells):
            first = cells.first + (empty.n_rows if is_above else 0)
            cells = replace(cells, first=first, n_missing=cells.n_missing + empty.n_rows)
        n_missing, n_rows = known.n_missing + empty.n_rows, known.n_rows + empty.n_rows
        return replace(known, cells=cells, n_missing=n_missing, n_rows=n_rows)

    # ---------------------------------------------------------------- as a column

    def n_gaps(self) -> int:
        """Return the number of gaps."""
        return self.n_missing

    def are_whole(self) -> bool:
        """Return whether all numbers are whole."""
        found = self.numbers_
        return found is not None and found.is_whole and found.n_values > 0

    def whole_values(self) -> tuple[int, int, float]:
        """Return the numbers of distinct values and of values, and their extent; many distinct ones are not counted."""
        found = self.numbers_
        assert found is not None, "only numbers are whole"
        # Of more values than are kept all count as distinct: whole numbers may then number the rows by their extent.
        n_distinct = found.n_values if found.distinct is None else len(found.distinct)
        return n_distinct, found.n_values, found.high - found.low

    def numbers(self, spelling: Spelling | None = None) -> Floats:
        """Return distinct numbers; those of dates are whole days."""
        found = self.numbers_
        if found is None:
            return super().numbers(spelling)
        distinct = found.days if self.kind is Kind.DATE else found.distinct
        return np.array([found.low, found.high]) if distinct is None else distinct

    def summary(self, spelling: Spelling | None) -> NumberSummary:
        """Return the summary of the numbers; texts are read as numbers."""
        if self.numbers_ is not None:
            return self.numbers_
        assert isinstance(self.cells, CountedCells)
        counted = self.cells.mapped(lambda cell: cell)
        values = RawColumn(self.name, self.kind, Coded(np.arange(len(counted.distinct)), counted.distinct), self.place)
        read = values.dates(spelling) if spelling is not None and spelling.kind is Kind.DATE else values
        found = read.numbers(spelling if spelling is not None and spelling.kind is Kind.NUMBER else None)
        there = ~np.isnan(found)
        return NumberSummary.of(np.repeat(found[there], counted.n_rows[there]), are_dates=read.kind is Kind.DATE)

    def coded(self) -> Coded:
        """Return the counts of the cells as text."""
        if self.numbers_ is None:
            return super().coded()
        distinct = self.numbers_.distinct
        values = np.empty(0) if distinct is None else distinct
        texts = RawColumn(self.name, self.kind, values, self.place).coded().distinct
        ones = np.ones(len(texts), dtype=np.intp)
        return CountedCells(np.arange(len(texts)), texts, ones, np.arange(len(texts)), self.n_missing)


def _joined(one: Kind, other: Kind) -> Kind:
    """Return the narrowest kind that holds cells of two kinds; texts where there is none."""
    if one is other:
        return one
    if one in _WIDER and other in _WIDER:
        return _WIDER[max(_WIDER.index(one), _WIDER.index(other))]
    return Kind.TEXT
