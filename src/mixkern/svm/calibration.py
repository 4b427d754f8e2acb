"""Calibration of probabilities: one slope, estimated from few labels by cross-fitting.

Platt's sigmoid has a slope and an offset for every pair of classes. Two labels per class cannot determine so many
numbers, and with an offset the most probable class could differ from the predicted one. So all pairs share one slope t
and have no offset:

    P(first class of the pair | value f) = 1 / (1 + exp(-t f))

t is the most probable one given decision values of labelled rows that were left out of the training, Platt's smoothed
targets, and a prior that counts as about one observation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from mixkern.sampling import check_random_state
from mixkern.svm.folds import Train, fewer_folds, label_folds, trained_folds
from mixkern.svm.libsvm import n_classes_of, pair_positions
from mixkern.typing import Floats, Ints

TYPICAL = 1.5  # median of the prior of the slope: a row on the margin has a probability of 82 %
LOG_SPREAD = 1.0  # standard deviation of its logarithm
LOG_RANGE = (-7.0, 7.0)
FOLDS, REPEATS, FEW = 5, 3, 200  # below FEW rows, the folds are drawn several times


@dataclass(frozen=True, eq=False)
class OwnValues:
    """Decision values in favour of each row's own class, and their weights."""

    values: Floats  # (m,)
    weights: Floats  # (m,)


def cross_fitted(
    K: Floats, codes: Ints, train: Train, random_state: object = None, weights: Floats | None = None
) -> list[OwnValues]:
    """Compute decision values in favour of each row's own class, by classifiers trained without the row.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Their classes.
    train : callable
        Solves ``(K, codes, rows)``, where rows are the positions that were kept.
    random_state : int, RandomState or None, default=None
        Seed of the folds.
    weights : ndarray of shape (n,), default=None
        Weight of each row.

    Returns
    -------
    list of OwnValues
        For each time that the folds were drawn: one value per row that was left out and pair that its class is in.
    """
    random = check_random_state(random_state)
    counts = np.ones(len(codes)) if weights is None else weights
    return [_left_out(K, codes, train, random, counts) for _ in range(REPEATS if len(codes) < FEW else 1)]


def _left_out(K: Floats, codes: Ints, train: Train, random: np.random.RandomState, weights: Floats) -> OwnValues:
    folds = label_folds(codes, fewer_folds(codes, FOLDS), random)
    found = [OwnValues(np.empty(0), np.empty(0))]
    for out, values, _ in trained_folds(K, codes, folds, train):
        found.append(own_values(values, codes[out], weights[out]))
    return OwnValues(*(np.concatenate([getattr(each, part) for each in found]) for part in ("values", "weights")))


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
        As from :func:`cross_fitted`. Several draws of the same rows count as one; the largest weight is one.

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
