"""Numbers are recorded to a resolution: whole years, tenths of a millimetre, marks from 1 to 5.

To a density, a column of few distinct values is a row of infinitely tight spikes. It finds them, and every distance in
units of their width is enormous. What was recorded as 3 may have been anything between 2.5 and 3.5, so the density is
fitted to rows that are spread evenly within the resolution of such a column.
"""

import numpy as np

from mixkern.typing import Floats

FEW_VALUES = 10  # distinct ones of a column that is coarse however few its rows are


def resolution(column: Floats) -> float:
    """Give the smallest difference between two values of a coarse column, 0 for one that is fine.

    A column is coarse if its distinct values are at most ten, or fewer than the square root of the number of rows.

    >>> resolution(np.array([1.0, 3.0, 2.5, 3.0]))
    0.5
    """
    there = column[~np.isnan(column)]
    distinct = np.unique(there)
    is_coarse = 1 < len(distinct) <= max(FEW_VALUES, np.sqrt(len(there)))
    return float(np.diff(distinct).min()) if is_coarse else 0.0


def spread(rows: Floats, n_continuous: int, random: np.random.RandomState) -> Floats:
    """Move numbers of coarse columns within half a resolution; gaps, fine columns and category codes stay.

    Examples
    --------
    >>> marks = np.array([[1.0], [2.0], [2.0], [3.0]])
    >>> bool((abs(spread(marks, 1, np.random.RandomState(0)) - marks) <= 0.5).all())
    True
    """
    moved = np.array(rows)
    for j in range(n_continuous):
        moved[:, j] += resolution(rows[:, j]) * random.uniform(-0.5, 0.5, size=len(rows))
    return moved
