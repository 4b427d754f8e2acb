"""The mean of two classifiers, weighted by how well each predicts labels that it was trained without."""

import numpy as np

from mixkern.svm.calibration import own_values, slope
from mixkern.svm.gaussian_process import TEMPER, posterior_probability
from mixkern.svm.libsvm import n_classes_of
from mixkern.svm.one_vs_one import class_probabilities
from mixkern.typing import Floats, Ints

SMALLEST = 1e-6  # probability of a label: a single one cannot decide alone


def stacked_share(prior: float, first: Floats, second: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Compute the probability of the second of two classifiers: Bayes' rule with the tempered likelihood of the labels.

    Probabilities of labels follow from decision values by the slope that suits each classifier.

    Parameters
    ----------
    prior : float
        Probability of the second classifier before any label is predicted.
    first, second : ndarray of shape (n, c (c - 1) / 2)
        Decision values of pairs of classes for labelled rows, by classifiers that were trained without them. NaN in a
        whole row where it was never left out.
    codes : ndarray of int, shape (n,)
        Classes of the rows.
    weights : ndarray of shape (n,), default=None
        Weight of each label.

    Examples
    --------
    >>> codes = np.array([0, 0, 1, 1])
    >>> right, wrong = np.array([[2.0], [1.0], [-1.0], [-2.0]]), np.array([[-1.0], [1.0], [-1.0], [1.0]])
    >>> stacked_share(0.5, right, wrong, codes) < 0.5 < stacked_share(0.5, wrong, right, codes)
    True
    """
    log_likelihoods = [_log_likelihood(values, codes, weights) for values in (first, second)]
    return posterior_probability(prior, TEMPER * (log_likelihoods[1] - log_likelihoods[0]))


def _log_likelihood(values: Floats, codes: Ints, weights: Floats | None) -> float:
    """Compute the log probability of the labels of the rows that have values."""
    tested = np.flatnonzero(~np.isnan(values).any(axis=1))
    if not len(tested):
        return 0.0
    values, codes = values[tested], codes[tested]
    counts = np.ones(len(codes)) if weights is None else weights[tested]
    learned = slope([own_values(values, codes, counts)])
    own = class_probabilities(values, learned, n_classes_of(values.shape[1]))[np.arange(len(codes)), codes]
    return float(counts @ np.log(np.maximum(own, SMALLEST)))
