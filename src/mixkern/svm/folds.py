"""Folds of labelled rows, for few labels."""

from collections.abc import Callable, Iterator

import numpy as np

from mixkern.errors import LabelError
from mixkern.sampling import check_random_state
from mixkern.svm.decision import Dual
from mixkern.svm.one_vs_one import n_functions
from mixkern.typing import Floats, Ints

Train = Callable[[Floats, Ints, Ints], Dual]

NEVER = -1  # the fold of a row that is always trained on
FOLDS, REPEATS, FEW = 5, 3, 200  # below FEW rows, the folds are drawn several times


def label_folds(codes: Ints, n_folds: int, random_state: object = None) -> Ints:
    """Assign the rows of each class to folds, so that every class is in every training part.

    A class with fewer rows than folds is tested in some folds only. The only row of a class is never tested. Folds
    differ in size by as little as that allows.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class of each row.
    n_folds : int
        Number of folds, two or more.
    random_state : int, RandomState or None, default=None
        Seed of the assignment.

    Returns
    -------
    ndarray of int, shape (n,)
        The fold that tests each row, -1 for none.

    Examples
    --------
    >>> label_folds(np.array([0, 0, 1, 1, 2]), 2, random_state=0)
    array([ 1,  0,  0,  1, -1])
    """
    if n_folds < 2:
        raise LabelError(f"There must be two folds or more, but n_folds is {n_folds}.")
    random = check_random_state(random_state)
    folds = np.full(len(codes), NEVER)
    n_assigned = 0  # each class starts where the last one ended: no fold gets the remainder of every class
    for label in np.unique(codes):
        rows = random.permutation(np.flatnonzero(codes == label))
        if len(rows) > 1:
            folds[rows] = (n_assigned + np.arange(len(rows))) % n_folds
            n_assigned += len(rows)
    return folds


def trained_folds(K: Floats, codes: Ints, folds: Ints, train: Train) -> Iterator[tuple[Ints, Floats, Dual]]:
    """Train once without each fold; yield its rows, their decision values, and the dual of the others.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the rows.
    codes, folds : ndarray of int, shape (n,)
        Class of each row, and the fold that tests it, as from :func:`label_folds`.
    train : callable
        Solves ``(K, codes, rows)``, where rows are the positions that were kept.
    """
    for fold in range(int(folds.max(initial=NEVER)) + 1):
        out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        dual = train(K[np.ix_(kept, kept)], codes[kept], kept)
        yield out, dual.decision(K[np.ix_(out, kept)]), dual


def left_out_values(K: Floats, codes: Ints, folds: Ints, train: Train) -> Floats:  # (n, c (c - 1) / 2)
    """Compute the decision values of each row by a classifier that was trained without its fold.

    Parameters
    ----------
    K, codes, folds, train
        As in :func:`trained_folds`.

    Returns
    -------
    ndarray of shape (n, c (c - 1) / 2)
        NaN for rows that are in no fold.
    """
    values = np.full((len(codes), n_functions(len(np.unique(codes)))), np.nan)
    for out, found, _ in trained_folds(K, codes, folds, train):
        values[out] = found
    return values


def repeated_left_out_values(K: Floats, codes: Ints, train: Train, random_state: object = None) -> Floats:
    """Compute the decision values of left-out rows, for several draws of the folds where rows are few.

    Parameters
    ----------
    K, codes, train
        As in :func:`trained_folds`.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Returns
    -------
    ndarray of shape (r, n, c (c - 1) / 2)
        One draw of the folds after the other. NaN for rows that are in no fold.
    """
    random, n_folds = check_random_state(random_state), fewer_folds(codes, FOLDS)
    draws = [label_folds(codes, n_folds, random) for _ in range(REPEATS if len(codes) < FEW else 1)]
    return np.array([left_out_values(K, codes, folds, train) for folds in draws])


def fewer_folds(codes: Ints, n_folds: int) -> int:
    """Limit the number of folds to the mean number of rows of a class, so that training parts stay balanced.

    With one of two rows of a class left out, and none of the other class, the other class would win everywhere.

    >>> fewer_folds(np.array([0, 0, 1, 1, 2]), 5)
    2
    """
    counts = np.unique(codes, return_counts=True)[1]
    usual = counts[counts > 1].mean() if (counts > 1).any() else 0
    return max(2, min(n_folds, int(usual)))
