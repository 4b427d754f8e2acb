r"""The few rows that say most about all the others.

Take the labels for values of a Gaussian process with a kernel K. Before any label, row i is as uncertain as K_ii; once
row j has one, as uncertain as

.. math:: K_{ii} - K_{ij}^2 / (K_{jj} + \sigma^2)

So the best row to label is the one that takes most uncertainty from all rows together: it lies in a dense place, since
many rows are near it, and away from labels, since near them little is left to take. No label is needed to choose it.
(Yu, Bi and Tresp, Active learning via transductive experimental design, 2006.)
"""

import numpy as np

from mixkern.typing import Floats, Ints

NOISE = 0.2  # variance of a label, next to 1 of a row before any label: the more, the denser places are preferred


def left_over(K: Floats, to_known: Floats, among_known: Floats) -> Floats:  # (m, m)
    """Give the covariance of rows once those of others, known, have labels.

    Parameters
    ----------
    K, to_known, among_known : ndarray of shape (m, m), (m, s) and (s, s)
        Kernel among the rows, between them and the known ones, and among the known ones.
    """
    values, vectors = np.linalg.eigh(among_known)
    # A kernel of a mixture may have negative eigenvalues, which no covariance has.
    explained = (to_known @ vectors) / np.sqrt(np.maximum(values, 0) + NOISE)
    return K - explained @ explained.T


def cover(covariance: Floats, counts: Floats, worth: Floats, n: int) -> Ints:
    """Pick n rows one by one, each the one that takes most uncertainty from all rows together, times its worth.

    Parameters
    ----------
    covariance : ndarray of shape (m, m)
        Of the rows, given what is known; it is overwritten.
    counts : ndarray of shape (m,)
        How many rows each stands for, because they are equal to it.
    worth : ndarray of shape (m,)
        What else makes a row worth a label.
    n : int
        How many to pick, at most m.

    Returns
    -------
    ndarray of int, shape (n,)
        The first is the most important.

    Examples
    --------
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))  # two groups of three rows
    >>> cover(K[:5, :5], np.ones(5), np.ones(5), 2)
    array([0, 3])
    """
    picks = np.empty(n, dtype=np.intp)
    squares = np.empty_like(covariance)
    is_free = np.ones(len(covariance), dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):  # a kernel with negative eigenvalues may let it grow
        for i in range(n):
            noisy = np.maximum(np.diagonal(covariance), 0) + NOISE
            gain = worth * (counts @ np.square(covariance, out=squares)) / noisy
            best = int(np.argmax(np.where(is_free, gain, -1.0)))
            picks[i], is_free[best] = best, False
            column = covariance[:, best] / np.sqrt(noisy[best])
            covariance -= np.multiply.outer(column, column, out=squares)
    return picks


def centred(K: Floats, to_known: Floats, counts: Floats, worth: Floats, picks: Ints) -> Ints:
    """Move each pick to the middle of the rows that are more like it than like any other pick or known row.

    A pick takes most from all rows together where groups face each other, at their rims. A label in the middle of a
    group says more about the group.

    Parameters
    ----------
    K, to_known : ndarray of shape (m, m) and (m, s)
        Kernel among the rows, and between them and the known ones.
    counts, worth, picks
        As :func:`cover` takes and gives them.

    Examples
    --------
    >>> at = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> centred(np.exp(-((at - at.T) ** 2)), np.empty((4, 0)), np.ones(4), np.ones(4), np.array([0, 3]))
    array([1, 3])
    """
    leader = np.where(K[:, picks].max(axis=1) >= to_known.max(axis=1, initial=0), K[:, picks].argmax(axis=1), -1)
    leader[picks] = np.arange(len(picks))  # whatever it is like, no group is empty
    groups = [np.flatnonzero(leader == i) for i in range(len(picks))]
    middles = [group[np.argmax(worth[group] * (counts[group] @ K[np.ix_(group, group)]))] for group in groups]
    return np.array(middles, dtype=np.intp)
