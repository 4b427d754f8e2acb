r"""Transductive experimental design: the rows whose labels reduce the uncertainty about all rows most.

Labels are values of a Gaussian process with a kernel K. Without labels, the variance of row i is K_ii; with a label of
row j it is

.. math:: K_{ii} - K_{ij}^2 / (K_{jj} + \sigma^2)

The best row to label is the one that reduces the sum of all variances most. It lies in a dense place, with many rows
near it, and away from labelled rows, around which little variance is left. No label is needed to choose it. (Yu, Bi and
Tresp, Active learning via transductive experimental design, 2006.)

The kernel may have negative eigenvalues. Then labels could seem to reduce a variance below zero, and covariances would
grow from pick to pick. So a covariance is never larger than the two variances allow, :math:`|K_{ij}| \le \sqrt{K_{ii}
K_{jj}}`, which changes nothing where the kernel is positive semi-definite.
"""

import numpy as np

from mixkern.svm.gaussian_process import DESIGN_NOISE, posterior_mean
from mixkern.typing import Floats, Ints, Positions

ROUNDING = 1e-6  # size of negative eigenvalues that do not matter beside the noise of a label


def greedy_design(covariance: Floats, counts: Floats, worth: Floats, n: int) -> Positions:
    """Pick n rows one by one, each the one that reduces the sum of all variances most, times its worth.

    Parameters
    ----------
    covariance : ndarray of shape (m, m)
        Covariance of the rows, given labels of others; it is overwritten.
    counts : ndarray of shape (m,)
        How many equal rows each stands for.
    worth : ndarray of shape (m,)
        Factor by which the reduction is multiplied.
    n : int
        How many to pick, at most m.

    Returns
    -------
    ndarray of int, shape (n,)
        The most important row first.

    Examples
    --------
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))  # two groups of three rows
    >>> greedy_design(K[:5, :5], np.ones(5), np.ones(5), 2)
    array([0, 3])
    """
    picks = np.empty(n, dtype=np.intp)
    squares = np.empty_like(covariance)
    is_definite = _is_definite(covariance)
    is_free = np.ones(len(covariance), dtype=bool)
    for i in range(n):
        noisy = np.maximum(np.diagonal(covariance), 0) + DESIGN_NOISE
        gain = worth * (counts @ np.square(covariance, out=squares)) / noisy
        best = int(np.argmax(np.where(is_free, gain, -1.0)))
        picks[i], is_free[best] = best, False
        column = covariance[:, best] / np.sqrt(noisy[best])
        covariance -= np.multiply.outer(column, column, out=squares)
        if not is_definite:
            _bound(covariance, out=squares)
    return picks


def _is_definite(covariance: Floats) -> bool:
    """Whether no eigenvalue is negative, up to rounding."""
    try:
        np.linalg.cholesky(covariance + ROUNDING * np.eye(len(covariance)))
    except np.linalg.LinAlgError:
        return False
    return True


def _bound(covariance: Floats, out: Floats) -> None:
    """Limit covariances by the variances, in place; ``out`` is working memory of the same shape."""
    deviations = np.sqrt(np.maximum(np.diagonal(covariance), 0))
    limits = np.multiply.outer(deviations, deviations, out=out)
    np.minimum(covariance, limits, out=covariance)
    np.maximum(covariance, np.negative(limits, out=limits), out=covariance)


def central_rows(K: Floats, to_known: Floats, counts: Floats, worth: Floats, picks: Positions) -> Positions:
    """Move each pick to the middle of the rows that are nearer to it than to any other pick or labelled row.

    The greatest reduction is often found at the border between two groups of rows. A label in the middle of a group is
    more informative about the group.

    Parameters
    ----------
    K, to_known : ndarray of shape (m, m) and (m, s)
        Kernel among the rows, and between them and rows with a label.
    counts, worth, picks
        As :func:`greedy_design` takes and returns them.

    Examples
    --------
    >>> at = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> central_rows(np.exp(-((at - at.T) ** 2)), np.empty((4, 0)), np.ones(4), np.ones(4), np.array([0, 3]))
    array([1, 3])
    """
    leader = np.where(K[:, picks].max(axis=1) >= to_known.max(axis=1, initial=0), K[:, picks].argmax(axis=1), -1)
    leader[picks] = np.arange(len(picks))  # so that no group is empty
    groups = [np.flatnonzero(leader == i) for i in range(len(picks))]
    middles = [group[np.argmax(worth[group] * (counts[group] @ K[np.ix_(group, group)]))] for group in groups]
    return np.array(middles, dtype=np.intp)


def uncertainty(to_labelled: Floats, among_labelled: Floats, codes: Ints) -> Floats:  # (m,)
    """Compute one minus the margin between the two most plausible classes: 1 on the boundary, or far from all labels.

    Parameters
    ----------
    to_labelled, among_labelled, codes
        As in :func:`~mixkern.svm.gaussian_process.posterior_mean`.

    Examples
    --------
    >>> X, labelled = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [2.0]])
    >>> uncertainty(np.exp(-(X - labelled.T) ** 2), np.exp(-(labelled - labelled.T) ** 2), np.array([0, 1])).round(1)
    array([0.1, 1. , 0.1])
    """
    if len(np.unique(codes)) < 2:
        return np.ones(len(to_labelled))
    scores = np.sort(posterior_mean(to_labelled, among_labelled, codes), axis=1)
    return 1 - np.clip(scores[:, -1] - scores[:, -2], 0, 1)
