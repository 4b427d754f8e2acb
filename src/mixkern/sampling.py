"""Random subsamples of rows, for computations that are too slow on all rows."""

from typing import Any

import numpy as np
import sklearn.utils

from mixkern.errors import OptionError
from mixkern.typing import Ints, Positions, RandomState


def check_random_state(random_state: Any) -> RandomState:
    """Return the random number generator of a parameter ``random_state``, or raise an error.

    >>> check_random_state("seed")
    Traceback (most recent call last):
    mixkern.errors.OptionError: random_state must be None, a whole number from 0 to 2**32 - 1 or a
    numpy.random.RandomState, but it is 'seed'.
    """
    try:
        random: RandomState = sklearn.utils.check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise OptionError(
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a numpy.random.RandomState, but it is "
            f"{random_state!r}."
        ) from error
    return random


def subsample(rows: Positions, size: int, random: RandomState) -> Positions:
    """Draw rows without replacement; return all of them, in their order, if there are at most ``size``.

    >>> subsample(np.arange(4), 9, RandomState(0))
    array([0, 1, 2, 3])
    >>> subsample(np.arange(100), 3, RandomState(0))
    array([26, 86,  2])
    """
    return rows if len(rows) <= size else random.choice(rows, size, replace=False)


def class_subsample(codes: Ints, size: int, random: RandomState, *, least: int = 2) -> Positions:
    """Draw rows stratified by class: at least ``least`` of each class, or all if the class has fewer.

    All rows are shuffled, even those of classes that are kept whole: later draws from ``random`` do not depend on
    ``size``.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class codes of the rows.
    size : int
        Approximate number of rows; more if ``least`` requires it.
    random : RandomState
        Random number generator.
    least : int, default=2
        Smallest number of rows of a class.

    Returns
    -------
    ndarray of int
        Sorted positions of the rows.

    Examples
    --------
    >>> class_subsample(np.array([0, 0, 0, 0, 1, 1]), 3, RandomState(0))
    array([2, 3, 4, 5])
    """
    n = len(codes)
    shuffled = [random.permutation(np.flatnonzero(codes == code)) for code in np.unique(codes)]
    kept = [rows[: max(least, round(min(size, n) * len(rows) / n))] for rows in shuffled]
    return np.sort(np.concatenate(kept))


def class_rows(codes: Ints, size: int, random: RandomState) -> Positions:
    """Draw classes without replacement, and return all rows of these; all rows if there are at most ``size``.

    Where classes are many, a sample stratified by class would leave each with one row or none to compare it with.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class codes of the rows.
    size : int
        Number of rows at most; more if two classes have more.
    random : RandomState
        Random number generator.

    Returns
    -------
    ndarray of int
        Sorted positions of the rows.

    Examples
    --------
    >>> class_rows(np.array([0, 1, 2, 0, 1, 2]), 4, RandomState(0))
    array([1, 2, 4, 5])
    """
    if len(codes) <= size:
        return np.arange(len(codes))
    classes, counts = np.unique(codes, return_counts=True)
    order = random.permutation(len(classes))
    n_kept = max(2, int(np.searchsorted(np.cumsum(counts[order]), size, side="right")))
    return np.flatnonzero(np.isin(codes, classes[order[:n_kept]]))
