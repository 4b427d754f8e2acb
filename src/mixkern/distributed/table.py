"""A table in the partitions of a Dask collection: its columns, its labels and its rows."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.distributed.scheduling import results, total
from mixkern.distributed.values import DaskValues, located, selected
from mixkern.encoding.grammar import is_gap_word
from mixkern.encoding.labels import label_cells
from mixkern.encoding.raw_column import GAP, raw_columns
from mixkern.encoding.summary import ColumnSummary
from mixkern.errors import EmptyTableError, LengthError, hint
from mixkern.imports import optional
from mixkern.partitions import PartitionedTable
from mixkern.typing import Floats, Ints, Positions
from mixkern.wording import counted


@dataclass(frozen=True, eq=False)
class Census:
    """What one pass finds in each partition: its number of rows, its columns and its labels."""

    lengths: tuple[int, ...]
    columns: tuple[ColumnSummary, ...] | None  # None for a part without rows
    cells: tuple[Any, ...] = ()  # labels that are there, in the order of their rows
    rows: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    minus_ones: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))  # rows with the number -1
    gap: Any = None  # a cell that marks a row without a label: None, or a word for a gap
    has_gaps: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(self.lengths)

    def __add__(self, below: "Census") -> "Census":
        columns = self.columns if below.columns is None else below.columns
        if self.columns is not None and below.columns is not None:
            columns = tuple(one + other for one, other in zip(self.columns, below.columns, strict=True))
        return Census(
            (*self.lengths, *below.lengths),
            columns,
            (*self.cells, *below.cells),
            np.append(self.rows, below.rows + self.n),
            np.append(self.minus_ones, below.minus_ones + self.n),
            below.gap if self.gap is None else self.gap,
            self.has_gaps or below.has_gaps,
        )


class DaskTable(PartitionedTable):
    """A table in the partitions of a Dask DataFrame or Array.

    Parameters
    ----------
    parts : sequence of Delayed
        The partitions: pandas frames, or arrays of two dimensions.
    head : pandas.DataFrame or ndarray
        The columns to learn from, without rows.
    label_parts : sequence of Delayed or None
        The labels of the first partitions.
    target : object
        Name of the column of labels, where the partitions have it.
    label_head : pandas.Series or ndarray
        The column of labels, without rows.
    """

    def __init__(
        self,
        parts: Sequence[Any],
        head: Any,
        label_parts: Sequence[Any] | None = None,
        target: Any = None,
        label_head: Any = None,
    ) -> None:
        self.parts = tuple(parts)
        self._head = head
        self._label_parts = label_parts
        self.target = target
        self._label_head = label_head

    @property
    def head(self) -> Any:
        """The columns, without rows."""
        return self._head

    @property
    def columns(self) -> list[Any] | None:
        """Names of the columns, where a partition has others, too."""
        return None if isinstance(self._head, np.ndarray) else list(self._head.columns)

    @property
    def has_labels(self) -> bool:
        """Whether labels come with the partitions."""
        return self.target is not None or self._label_parts is not None

    @cached_property
    def census(self) -> Census:
        """The numbers of rows, the columns and the labels, found in one pass."""
        parts = self.labelled_parts()
        found = total("columns", parts, _census, (self.columns, self.target), [None] * len(parts))
        if not found.n:
            raise EmptyTableError("X is empty: its partitions have 0 sample(s) while a minimum of 1 is required.")
        return found

    def labelled_parts(self) -> list[Any]:
        """Return the partitions, each in a list with its labels where these are collections of their own."""
        if self._label_parts is None:
            return list(self.parts)
        parts = [[part, labels] for part, labels in zip(self.parts, self._label_parts, strict=False)]
        return [*parts, *([part, None] for part in self.parts[len(parts) :])]

    def with_columns(self, names: Collection[str], parts: Sequence[Any]) -> "DaskTable":
        """Return the table with some of its columns, read from other partitions; what was found in them is kept."""
        kept = [i for i, name in enumerate(self._head.columns) if name in names]
        fewer = DaskTable(parts, self._head.iloc[:, kept], self._label_parts, self.target, self._label_head)
        fewer.__dict__["census"] = replace(self.census, columns=tuple(self.summaries()[i] for i in kept))
        return fewer

    def __len__(self) -> int:
        return self.census.n

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self), self._head.shape[1]

    def summaries(self) -> list[Any]:
        """Return a summary of each column."""
        assert self.census.columns is not None, "there are rows"
        return list(self.census.columns)

    def some(self, positions: Positions) -> Any:
        """Return some of the rows, in the order of their positions."""
        at, order = located(positions, self.census.lengths)
        found = results("rows", {i: self.parts[i] for i in at}, _rows, self.columns, at)
        if isinstance(self._head, np.ndarray):
            return np.concatenate(found)[order]
        return optional("pandas", purpose="Rows of a partition").concat(found).iloc[order]

    def values(self, read: Callable[[Any], Floats], n_columns: int, known: Any = None) -> DaskValues:
        """Return the rows as numbers, each partition read by a function."""
        lengths = self.__dict__["census"].lengths if "census" in self.__dict__ else None
        return DaskValues(self.parts, self.columns, read, n_columns, lengths, known)

    def labels(self) -> tuple[Any, Ints]:
        """Return a short column that stands for all labels, and the row of each of its cells, -1 for a mark of none."""
        census = self.census
        cells, rows = [*census.cells, *[-1] * len(census.minus_ones)], [*census.rows, *census.minus_ones]
        if not census.has_gaps and len(census.minus_ones):
            cells, rows = [*census.cells, -1], [*census.rows, -1]  # they mark rows without a label
        elif census.has_gaps:
            cells, rows = [*cells, census.gap], [*rows, -1]
        return self.label_column(cells), np.array(rows, dtype=np.intp)

    def label_column(self, cells: list[Any]) -> Any:
        """Return labels as a column of the type that they have in the partitions."""
        head = self._label_head
        if isinstance(head, np.ndarray):
            return np.array(cells, dtype=head.dtype if head.dtype.kind != "O" else object)
        return optional("pandas", purpose="Labels in partitions").Series(cells, dtype=head.dtype, name=head.name)


def _census(part: Any, shared: tuple[Any, Any], _own: Any) -> Census:
    """Find the number of rows, the columns and the labels of one partition."""
    table, labels = opened_part(part, *shared)
    n = len(table)
    summaries = tuple(map(ColumnSummary.of, raw_columns(table))) if n else None
    return Census((n,), summaries) if labels is None or not n else _with_labels(Census((n,), summaries), labels)


def opened_part(part: Any, columns: list[Any] | None, target: Any) -> tuple[Any, Any]:
    """Return the columns to learn from and the labels, or None, of a partition; an error if they differ in length."""
    labels = None
    if isinstance(part, list):
        part, labels = part
    if target is not None:
        labels = part[target]
    table = part if columns is None else part[columns]
    n = len(table)
    if labels is not None and len(labels) != n:
        raise LengthError(
            f"X has {counted(n, 'row')}, but y has {counted(len(labels), 'label')}.",
            hint=hint(python="Give a column of the same collection."),
        )
    return table, labels


def _with_labels(census: Census, labels: Any) -> Census:
    """Add the labels of a partition: those that are there, and which cells mark rows without one."""
    cells = label_cells(labels)
    is_word = np.array([isinstance(cell, str) and is_gap_word(cell) for cell in cells.distinct], dtype=bool)
    is_minus = np.array([_is_minus_one(cell) for cell in cells.distinct], dtype=bool)
    word, minus = (np.append(each, False)[cells.codes] for each in (is_word, is_minus))
    there = np.flatnonzero((cells.codes != GAP) & ~word & ~minus)
    gap = next((cell for cell, is_one in zip(cells.distinct, is_word, strict=True) if is_one), None)
    return Census(
        census.lengths,
        census.columns,
        tuple(cells.distinct[code] for code in cells.codes[there].tolist()),
        there,
        np.flatnonzero(minus),
        gap,
        bool(word.any() or cells.n_gaps()),
    )


def _is_minus_one(cell: Any) -> bool:
    return not isinstance(cell, (str, bool)) and bool(cell == -1)


def _rows(part: Any, columns: list[Any] | None, at: NDArray[Any]) -> Any:
    return selected(part, columns, at)
