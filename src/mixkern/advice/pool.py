"""Rows that may be suggested: without a label, and equal ones only once."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixkern.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows in groups of equal ones, and which of them are taken: labelled, or suggested already.

    Attributes
    ----------
    groups : ndarray of int, shape (n,)
        The number of each row's group.
    is_taken : ndarray of bool, shape (n,)
        Mask of the rows that are taken.
    """

    groups: Ints
    is_taken: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Floats, is_taken: NDArray[np.bool_]) -> Self:
        """Find equal rows; gaps are equal to gaps."""
        return cls(_groups(rows), is_taken)

    @property
    def fresh(self) -> Ints:
        """Positions of the rows that are equal to none that is taken."""
        has_taken = np.zeros(self.groups.max(initial=0) + 1, dtype=bool)
        has_taken[self.groups[self.is_taken]] = True
        return np.flatnonzero(~has_taken[self.groups])

    @property
    def copies(self) -> Ints:
        """Positions of the rows that are not taken, but equal to one that is."""
        return np.setdiff1d(np.flatnonzero(~self.is_taken), self.fresh)

    def without(self, rows: Ints) -> Self:
        """Give a pool in which more rows are taken."""
        is_taken = self.is_taken.copy()
        is_taken[rows] = True
        return replace(self, is_taken=is_taken)

    def drawn(self, limit: int, random: np.random.RandomState) -> tuple[Ints, Floats]:
        """Draw at most ``limit`` fresh rows; give one position for each group, and how many rows it stands for.

        >>> pool = Pool.of(np.array([[1.0], [2.0], [1.0], [3.0]]), np.array([False, False, False, True]))
        >>> pool.drawn(10, np.random.RandomState(0))
        (array([0, 1]), array([2., 1.]))
        """
        some = self.fresh
        if len(some) > limit:
            some = np.sort(random.choice(some, limit, replace=False))
        _, first, counts = np.unique(self.groups[some], return_index=True, return_counts=True)
        by_position = np.argsort(first)
        return some[first[by_position]], counts[by_position].astype(float)


def _groups(rows: Floats) -> Ints:
    """Give each row the number of its group, by its bytes: one comparison for a pair, however many columns."""
    values = np.where(np.isnan(rows), np.nan, rows) + 0.0  # one kind of gap, one kind of zero
    cells = np.ascontiguousarray(values).view(f"V{values.itemsize * values.shape[1]}").ravel()
    return np.unique(cells, return_inverse=True)[1].astype(np.intp).ravel()
