"""Numbers and codes of rows in partitions, computed from the partitions when they are needed."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.density.block import Moments
from mixkern.distributed.scheduling import results, total
from mixkern.encoding.summary import NumberSummary
from mixkern.errors import EmptyTableError
from mixkern.partitions import PartitionedValues
from mixkern.typing import Floats, Ints, Positions, RandomState

Known = list[tuple[Floats | None, int]]  # sorted distinct values of each column, None where they are many; their number


@dataclass(frozen=True, eq=False)
class Facts:
    """What one pass finds in the values of each partition."""

    lengths: tuple[int, ...]
    moments: Moments
    high: Floats  # largest value of each column
    are_codes: NDArray[np.bool_]  # whether a column holds whole numbers from 0 on
    distinct: tuple[NumberSummary, ...] | None  # of each column, where asked for

    def __add__(self, below: "Facts") -> "Facts":
        distinct = None
        if self.distinct is not None and below.distinct is not None:
            distinct = tuple(one + other for one, other in zip(self.distinct, below.distinct, strict=True))
        return Facts(
            (*self.lengths, *below.lengths),
            self.moments + below.moments,
            np.maximum(self.high, below.high),
            self.are_codes & below.are_codes,
            distinct,
        )

    @property
    def has_gaps(self) -> bool:
        """Whether a value is missing."""
        return bool((self.moments.counts < sum(self.lengths)).any())


@dataclass(frozen=True)
class Reader:
    """How a worker turns a partition, or some of its rows, into numbers."""

    columns: list[Any] | None
    read: Callable[[Any], Floats]
    n_columns: int
    resolutions: Floats | None = None

    def __call__(self, part: Any, own: "PartArguments") -> Floats:
        """Return the numbers of a partition, or of some of its rows."""
        table = selected(part, self.columns, own.at)
        if not len(table):
            return np.empty((0, self.n_columns))
        values = np.array(self.read(table), dtype=float, order="C")
        for j, state in own.states.items():
            assert self.resolutions is not None, "there are no states without resolutions"
            random = RandomState()
            random.set_state(state)
            moves = self.resolutions[j] * random.uniform(-0.5, 0.5, size=len(part))
            values[:, j] += moves if own.at is None else moves[own.at]
        return values


@dataclass(frozen=True)
class PartArguments:
    """What is needed for one partition: which rows, and the random numbers by which columns are moved."""

    at: Any = None  # positions or a packed mask of rows; None for all
    states: Any = None  # state of the random numbers of each coarse column

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", self.states or {})


class DaskValues(PartitionedValues):
    """Numbers and codes of the rows of a Dask collection.

    Parameters
    ----------
    parts : sequence of Delayed
        The partitions.
    columns : list or None
        Names of the columns that are read.
    read : callable
        Returns the numbers of a partition.
    n_columns : int
        Number of their columns.
    lengths : tuple of int or None
        Number of rows of each partition, where they are known.
    known : list or None
        Distinct values of the columns, where they are known.
    """

    def __init__(
        self,
        parts: Sequence[Any],
        columns: list[Any] | None,
        read: Callable[[Any], Floats],
        n_columns: int,
        lengths: tuple[int, ...] | None = None,
        known: Known | None = None,
    ) -> None:
        self.parts = tuple(parts)
        self.reader = Reader(columns, read, n_columns)
        self.own = [PartArguments()] * len(self.parts)
        self._lengths = lengths
        self._known = known
        self._cache: tuple[Positions, Floats] | None = None

    # ---------------------------------------------------------------- what is known about all rows

    def facts(self, *, with_distinct: bool = False) -> Facts:
        """Return what is known about the values, found in one pass."""
        found: Facts | None = self.__dict__.get("_facts")
        if found is None or (with_distinct and found.distinct is None):
            found = total("values", self.parts, _facts, (self.reader, with_distinct), self.own)
            if not sum(found.lengths):
                raise EmptyTableError("X is empty: its partitions have 0 sample(s) while a minimum of 1 is required.")
            self._facts = found
        return found

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of rows of each partition."""
        return self.facts().lengths if self._lengths is None else self._lengths

    @cached_property
    def _n(self) -> int:
        return sum(self.lengths)

    def __len__(self) -> int:
        return self._n

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), self.reader.n_columns

    @property
    def has_gaps(self) -> bool:
        """Whether a value is missing."""
        return self.facts().has_gaps

    def distinct(self, column: int) -> tuple[Floats | None, int]:
        """Return the sorted distinct values of a column, ``None`` where they are many, and the number of values."""
        if self._known is not None:
            return self._known[column]
        found = self.facts(with_distinct=True).distinct
        assert found is not None, "they are asked for"
        return found[column].distinct, found[column].n_values

    # ---------------------------------------------------------------- rows

    def __getitem__(self, positions: Any) -> Floats:
        """Return some of the rows, in the order of their positions; they are read by the workers."""
        if isinstance(positions, slice) or np.asarray(positions).dtype == bool:
            positions = np.arange(len(self))[positions]
        positions = np.asarray(positions, dtype=np.intp)
        cached = self._cached(positions)
        if cached is not None:
            return cached
        at, order = located(positions, self.lengths)
        own = {i: PartArguments(each, self.own[i].states) for i, each in at.items()}
        found = results("sample", {i: self.parts[i] for i in at}, _read, self.reader, own)
        rows = np.concatenate([np.empty((0, self.reader.n_columns)), *found])[order]
        if self._cache is None or len(positions) >= len(self._cache[0]):
            sorting = np.argsort(positions, kind="stable")
            self._cache = positions[sorting], rows[sorting]
        return rows

    def _cached(self, positions: Positions) -> Floats | None:
        """Return rows that were read before; ``None`` if one was not."""
        if self._cache is None or not len(self._cache[0]):
            return None
        known, rows = self._cache
        found = np.minimum(np.searchsorted(known, positions), len(known) - 1)
        return rows[found] if (known[found] == positions).all() else None

    def moved(self, resolutions: Floats, varying: Collection[int], random: RandomState) -> "DaskValues":
        """Return rows whose columns are moved at random within their resolutions.

        The random numbers are those of a table in memory: the state of the generator at the first row of each partition
        is found here, and each worker draws from there.
        """
        coarse = np.flatnonzero(resolutions)
        if not len(coarse):
            return self
        states: list[dict[int, Any]] = [{} for _ in self.parts]
        for j in sorted(j for j in varying if j <= coarse[-1]):
            for i, n in enumerate(self.lengths):
                if resolutions[j]:
                    states[i][j] = random.get_state()
                random.uniform(size=n)
        moved = DaskValues(self.parts, self.reader.columns, self.reader.read, self.reader.n_columns, self.lengths)
        moved.reader = Reader(self.reader.columns, self.reader.read, self.reader.n_columns, resolutions)
        moved.own = [PartArguments(None, each) for each in states]
        return moved

    def inner_rows(self, density: Any) -> Any:
        """Return the rows as the inference of a density takes them, and set the density's coordinates."""
        from mixkern.distributed.density import inner_rows  # that module needs this one

        return inner_rows(self, density)

    def continuous(self, d: int) -> "DaskValues":
        """Return the first d columns."""
        if d == self.reader.n_columns:
            return self
        first = DaskValues(self.parts, self.reader.columns, _First(self.reader, d), d, self.lengths)
        first.own = self.own
        return first


@dataclass(frozen=True)
class _First:
    """Read the first columns."""

    reader: Reader
    d: int

    def __call__(self, table: Any) -> Floats:
        return np.ascontiguousarray(self.reader.read(table)[:, : self.d])


def selected(part: Any, columns: list[Any] | None, at: Any = None) -> Any:
    """Return some columns and rows of a partition."""
    table = part if columns is None else part[columns]
    if at is None:
        return table
    return table[at] if isinstance(table, np.ndarray) else table.iloc[at]


def located(positions: Positions, lengths: Sequence[int]) -> tuple[dict[int, Ints], Ints]:
    """Return the rows to read in each partition, and the order that puts them into that of their positions.

    >>> located(np.array([4, 0, 3]), [2, 0, 3])
    ({0: array([0]), 2: array([1, 2])}, array([2, 0, 1]))
    """
    ends = np.cumsum(lengths)
    sorting = np.argsort(positions, kind="stable")
    sorted_positions = positions[sorting]
    of_part = np.searchsorted(ends, sorted_positions, side="right")
    starts = ends - np.asarray(lengths)
    found = {int(i): sorted_positions[of_part == i] - starts[i] for i in np.unique(of_part)}
    order = np.empty(len(positions), dtype=np.intp)
    order[sorting] = np.arange(len(positions))
    return found, order


def _read(part: Any, reader: Reader, own: PartArguments) -> Floats:
    return reader(part, own)


def _facts(part: Any, shared: tuple[Reader, bool], own: PartArguments) -> Facts:
    reader, with_distinct = shared
    values = reader(part, own)
    with np.errstate(invalid="ignore"):
        there = ~np.isnan(values)
        are_codes = (~there | ((values >= 0) & (values == np.floor(values)))).all(axis=0)
    high = np.max(values, axis=0, where=there, initial=-np.inf)
    distinct = None
    if with_distinct:
        columns = (column[~np.isnan(column)] for column in values.T)
        distinct = tuple(NumberSummary.of(column, are_dates=False) for column in columns)
    return Facts((len(values),), Moments.of(values), high, are_codes, distinct)
