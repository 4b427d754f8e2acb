"""Rows that miss the same columns, taken together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.typing import Floats, Positions


def gap_patterns(X: Floats) -> Iterator[tuple[Positions, Positions, Positions]]:
    """Give (rows, observed columns, missing columns) for every pattern of gaps that occurs.

    >>> [tuple(part.tolist() for part in group) for group in gap_patterns(np.array([[1, np.nan], [2, 3], [4, 5]]))]
    [([1, 2], [0, 1], []), ([0], [0], [1])]
    """
    is_gap = np.isnan(X)
    if not is_gap.any():
        yield np.arange(len(X)), np.arange(X.shape[1]), np.arange(0)
        return
    packed = np.packbits(is_gap, axis=1)  # one short byte string per row sorts faster than one wide row of booleans
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order: NDArray[Any] = np.argsort(group.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(group.ravel()))
    for i, rows in enumerate(np.split(order, ends[:-1])):
        gaps = is_gap[first[i]]
        yield rows, np.flatnonzero(~gaps), np.flatnonzero(gaps)
