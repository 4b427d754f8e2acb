r"""Calibration of class probabilities: several slopes, from the posterior of the slope given left-out labels.

The probabilities of pairs of classes are sigmoids of their decision values, all with one slope t, and the coupled pairs
are class probabilities (:mod:`~mixkern.svm.one_vs_one`). The posterior of t follows from the labels of rows that were
left out of the training, and from a log-normal prior:

.. math:: \ln p(t) = P \, \frac{1}{r} \sum_{repeats, i} w_i \ln p_{y_i}(f_i; t) - \frac{1}{2} \ln^2 t + const

Few labels determine the slope only roughly. Probabilities are therefore averaged over slopes at quantiles of the
posterior (:func:`~mixkern.svm.one_vs_one.averaged_probabilities`), which makes them less extreme than
those of the most probable slope.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp, softmax

from mixkern.svm.one_vs_one import own_probabilities
from mixkern.typing import Floats, Ints

SLOPES = np.geomspace(0.1, 60, 40)  # t
SLOPE, LOG_SLOPE_SPREAD = 1.0, 1.0  # prior: median of t, and standard deviation of its logarithm
POWER = 0.7  # of the likelihood: left-out labels are predicted by classifiers that share most of their labels, so they
# are not independent, and n of them determine less than n independent ones
QUANTILES = (0.1, 0.3, 0.5, 0.7, 0.9)
SMALLEST = 1e-6  # probability of a label: a single one cannot decide alone
MAX_VALUES = 2**21  # decision values that are used; of more, every k-th row

OwnProbabilities = Callable[[Floats, Ints, Floats], Floats]


def slopes(
    values: Floats, codes: Ints, weights: Floats | None = None, own: OwnProbabilities = own_probabilities
) -> Floats:  # (5,)
    """Return the quantiles of the posterior of the slope, given labels that were left out.

    Parameters
    ----------
    values : ndarray of shape (r, n, q)
        Decision values, in each of r repeats, by classifiers that were trained without the row. NaN in a whole row
        where it was not left out. Repeats of the same rows count as one.
    codes : ndarray of int, shape (n,)
        Classes of the rows.
    weights : ndarray of shape (n,), default=None
        Weight of each label; the largest counts as one.
    own : callable, default=one_vs_one.own_probabilities
        Returns the probabilities, (s, n), of the rows' own classes by ``(values, codes, slopes)``. The default is for
        decision values of pairs of classes, q = c (c - 1) / 2.

    Returns
    -------
    ndarray of shape (5,)
        Slopes of the grid ``SLOPES``, at ``QUANTILES``; those of the prior if no row was left out.

    Examples
    --------
    >>> values = np.array([[[1.0], [2.0], [-1.5]]])
    >>> right, wrong = slopes(values, np.array([0, 0, 1])), slopes(values, np.array([0, 1, 1]))
    >>> bool((right > wrong).all())
    True
    """
    posterior = softmax(_log_posterior(values, codes, weights, own))
    return SLOPES[np.searchsorted(np.cumsum(posterior), QUANTILES)]


def log_likelihood(
    values: Floats, codes: Ints, weights: Floats | None = None, own: OwnProbabilities = own_probabilities
) -> float:
    """Return the log likelihood of labels that were left out, averaged over the prior of the slope.

    Parameters are those of :func:`slopes`. It compares settings of a classifier on the same labels: it is exact up to a
    constant.

    >>> values = np.array([[[1.0], [2.0], [-1.5]]])
    >>> log_likelihood(values, np.array([0, 0, 1])) > log_likelihood(values, np.array([0, 1, 1]))
    True
    """
    return float(logsumexp(_log_posterior(values, codes, weights, own)))


def _log_posterior(values: Floats, codes: Ints, weights: Floats | None, own: OwnProbabilities) -> Floats:  # (s,)
    """Return the log posterior of each of ``SLOPES``, up to a constant."""
    n_repeats, n, n_values = values.shape
    step = max(1, -(-n * n_values // MAX_VALUES))
    some = values[:, ::step]
    repeats, rows = np.nonzero(~np.isnan(some).any(axis=2))
    counts = np.ones(len(rows)) if weights is None else weights[::step][rows]
    counts = counts / (n_repeats * counts.max(initial=np.finfo(float).tiny))
    log_prior = -0.5 * (np.log(SLOPES / SLOPE) / LOG_SLOPE_SPREAD) ** 2
    shares = own(some[repeats, rows], codes[::step][rows], SLOPES)
    return np.asarray(log_prior + POWER * np.array([counts @ np.log(np.maximum(each, SMALLEST)) for each in shares]))
