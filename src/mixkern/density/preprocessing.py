"""Rows rewritten for a fit: jitter in coarse columns, one-hot categories.

A column that is recorded to whole years, tenths of a millimetre or marks from 1 to 5 has few distinct values. A density
that is fitted to it finds infinitely narrow peaks at those values, and every distance in units of their width is
enormous. A value recorded as 3 may have been anything between 2.5 and 3.5, so the density is fitted to rows that are
moved at random within the resolution of such a column.
"""

from typing import Any

import numpy as np

from mixkern.density.mixture import Mixture
from mixkern.partitions import PartitionedValues
from mixkern.typing import Floats, RandomState

FEW_VALUES = 10  # distinct values up to which a column is coarse, however few rows there are


def resolution(column: Floats, n: int | None = None) -> float:
    """Give the smallest difference between two values of a coarse column, 0 for a column that is not coarse.

    A column is coarse if it has at most ten distinct values, or fewer than the square root of the number of rows that
    have a value: n, where the column holds its distinct values only.

    >>> resolution(np.array([1.0, 3.0, 2.5, 3.0]))
    0.5
    """
    there = column[~np.isnan(column)]
    distinct = np.unique(there)
    is_coarse = 1 < len(distinct) <= max(FEW_VALUES, np.sqrt(len(there) if n is None else n))
    return float(np.diff(distinct).min()) if is_coarse else 0.0


def jitter(rows: Any, n_continuous: int, random: RandomState) -> Any:
    """Move numbers of coarse columns at random by at most half a resolution; nothing else changes.

    Examples
    --------
    >>> marks = np.array([[1.0], [2.0], [2.0], [3.0]])
    >>> bool((abs(jitter(marks, 1, RandomState(0)) - marks) <= 0.5).all())
    True
    """
    varying = varying_columns(rows, n_continuous)
    if isinstance(rows, PartitionedValues):
        found = (rows.distinct(j) for j in range(n_continuous))
        resolutions = np.array([0.0 if some is None else resolution(some, n) for some, n in found])
        return rows.moved(resolutions, varying, random)
    moved = np.array(rows)
    for j in varying:
        moved[:, j] += resolution(rows[:, j]) * random.uniform(-0.5, 0.5, size=len(rows))
    return moved


def varying_columns(rows: Any, n_continuous: int) -> list[int]:
    """Return the continuous columns that have more than one value.

    >>> varying_columns(np.array([[1.0, 2.0], [np.nan, 3.0], [1.0, 3.0]]), 2)
    [1]
    """
    if isinstance(rows, PartitionedValues):
        found = [rows.distinct(j)[0] for j in range(n_continuous)]
        return [j for j, some in enumerate(found) if some is None or len(some) > 1]
    numbers = rows[:, :n_continuous]
    if not numbers.size:
        return []
    with np.errstate(invalid="ignore"):
        is_varying = np.fmin.reduce(numbers, axis=0) < np.fmax.reduce(numbers, axis=0)
    return [int(j) for j in np.flatnonzero(is_varying)]


def one_hot_rows(mixture: Mixture, rows: Floats) -> Floats:
    """Give rows for estimators that take neither gaps nor categories.

    Missing numbers are replaced by their expectations. Each category becomes a column of zeros and ones, all zero where
    the category is missing.

    Parameters
    ----------
    mixture : Mixture
        The density of the rows.
    rows : ndarray of shape (n, d + e)
        Numbers, then codes; NaN is a gap.

    Returns
    -------
    ndarray of shape (n, d + number of categories)

    Examples
    --------
    >>> mixture = Mixture([1.0], [[2.0]], [[[1.0]]], categories=[[[0.5, 0.5]]])
    >>> one_hot_rows(mixture, np.array([[np.nan, 1.0]]))
    array([[2., 0., 1.]])
    """
    filled, d = mixture.conditional_mean(rows), mixture.n_continuous
    columns = [filled[:, :d]]
    for j, table in enumerate(mixture.categories):
        columns.append((filled[:, d + j, None] == np.arange(table.shape[1])).astype(float))
    return np.hstack(columns)
