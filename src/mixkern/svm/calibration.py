"""Calibration of probabilities: one slope, estimated from few labels by cross-fitting.

Platt's sigmoid has a slope and an offset for every pair of classes. Two labels per class cannot determine so many
numbers, and with an offset the most probable class could differ from the predicted one. So all pairs share one slope t
and have no offset:

    P(first class of the pair | value f) = 1 / (1 + exp(-t f))

t is the most probable one given decision values of labelled rows that were left out of the training, Platt's smoothed
targets, and a prior that counts as about one observation.

It compares classifiers and settings, and it gives the probabilities of classifiers of each class against the others.
Those of pairs of classes are averaged over several slopes (:mod:`~mixkern.svm.class_calibration`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from mixkern.svm.libsvm import n_classes_of, pair_positions
from mixkern.typing import Floats, Ints

TYPICAL = 1.5  # median of the prior of the slope: a row on the margin has a probability of 82 %
LOG_SPREAD = 1.0  # standard deviation of its logarithm
LOG_RANGE = (-7.0, 7.0)


@dataclass(frozen=True, eq=False)
class OwnValues:
    """Decision values in favour of each row's own class, and their weights."""

    values: Floats  # (m,)
    weights: Floats  # (m,)


def own_values(values: Floats, codes: Ints, weights: Floats | None = None) -> OwnValues:
    """Select the pairs that a row's class is part of, with the sign that is positive for it.

    >>> own_values(np.array([[2.0, -1.0, 9.0]]), np.array([0])).values
    array([ 2., -1.])
    """
    n_classes = n_classes_of(values.shape[1])
    counts = np.ones(len(codes)) if weights is None else weights
    rows, others = np.nonzero(codes[:, None] != np.arange(n_classes))
    own = codes[rows]
    at, is_second = pair_positions(n_classes)[own, others], own > others
    order = np.lexsort((rows, is_second, at))  # pair by pair, rows of the first class before those of the second
    rows, at = rows[order], at[order]
    return OwnValues(np.where(is_second[order], -1.0, 1.0) * values[rows, at], counts[rows])


def slope(draws: Sequence[OwnValues]) -> float:
    """Estimate the slope of the sigmoid from values in favour of the right class.

    Parameters
    ----------
    draws : sequence of OwnValues
        Of left-out rows, for each draw of the folds. Several draws of the same rows count as one; the largest weight
        is one.

    Examples
    --------
    >>> sure, unsure = np.array([[1.0], [2.0], [1.5]]), np.array([[1.0], [-2.0], [1.5]])
    >>> codes = np.zeros(3, dtype=int)
    >>> slope([own_values(sure, codes)]) > slope([own_values(unsure, codes)])
    True
    """
    own = np.concatenate([draw.values for draw in draws])
    weights = np.concatenate([draw.weights for draw in draws])
    weights = weights / (len(draws) * weights.max(initial=np.finfo(float).tiny))
    n = weights.sum()
    target = (n + 1) / (n + 2)  # Platt's

    def loss(log_slope: float) -> float:
        f = np.exp(log_slope) * own
        log_loss = target * np.logaddexp(0, -f) + (1 - target) * np.logaddexp(0, f)
        return float(weights @ log_loss + 0.5 * ((log_slope - np.log(TYPICAL)) / LOG_SPREAD) ** 2)

    return float(np.exp(minimize_scalar(loss, bounds=LOG_RANGE, method="bounded").x))
