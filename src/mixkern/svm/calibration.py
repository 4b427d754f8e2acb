"""How probable a decision value makes a class: one number, learned from few labels without fooling itself.

Platt's sigmoid has a slope and an offset for every pair of classes. Two labels per class cannot tell so many numbers,
and an offset would let probability and prediction disagree. So all pairs share one slope t and have no offset:

    P(first class of the pair | value f) = 1 / (1 + exp(-t f))

t is the most probable one given values that each labelled row gets from machines that were not trained on it, Platt's
smoothed targets, and a prior that is worth about one observation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.utils import check_random_state

from mixkern.svm.folds import Train, fewer_folds, label_folds, trained_folds
from mixkern.svm.libsvm import pairs
from mixkern.typing import Floats, Ints

TYPICAL = 1.5  # slope before any label is seen: a row on the margin is 82 % sure
LOG_SPREAD = 1.0  # standard deviation of its logarithm
LOG_RANGE = (-7.0, 7.0)
FOLDS, REPEATS, FEW = 5, 3, 200  # below FEW rows, the folds are drawn several times


@dataclass(frozen=True, eq=False)
class OwnValues:
    """Decision values in favour of each row's own class, and how much each counts."""

    values: Floats  # (m,)
    weights: Floats  # (m,)


def cross_fitted(
    K: Floats, codes: Ints, train: Train, random_state: object = None, weights: Floats | None = None
) -> list[OwnValues]:
    """Give values in favour of each row's own class, by machines that have not seen the row.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Their classes.
    train : callable
        Solves ``(K, codes, rows)``, where rows are the positions that were kept.
    random_state : int, RandomState or None, default=None
        Which folds.
    weights : ndarray of shape (n,), default=None
        How much each row counts.

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
    """Pick the pairs that a row's class takes part in, with the sign that speaks for it.

    >>> own_values(np.array([[2.0, -1.0, 9.0]]), np.array([0])).values
    array([ 2., -1.])
    """
    n_classes = round((1 + np.sqrt(1 + 8 * values.shape[1])) / 2)
    counts = np.ones(len(codes)) if weights is None else weights
    own, own_weights = [], []
    for q, (i, j) in enumerate(pairs(n_classes)):
        first, second = codes == i, codes == j
        own += [values[first, q], -values[second, q]]
        own_weights += [counts[first], counts[second]]
    return OwnValues(np.concatenate(own), np.concatenate(own_weights))


def slope(draws: Sequence[OwnValues]) -> float:
    """Give the most probable slope of the sigmoid, given values in favour of the right class.

    Parameters
    ----------
    draws : sequence of OwnValues
        As from :func:`cross_fitted`. Several draws of the same rows count as much as one; the largest weight is one.

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
    target = (n + 1) / (n + 2)  # Platt's: nothing is certain, least of all after few labels

    def loss(log_slope: float) -> float:
        f = np.exp(log_slope) * own
        surprise = target * np.logaddexp(0, -f) + (1 - target) * np.logaddexp(0, f)
        return float(weights @ surprise + 0.5 * ((log_slope - np.log(TYPICAL)) / LOG_SPREAD) ** 2)

    return float(np.exp(minimize_scalar(loss, bounds=LOG_RANGE, method="bounded").x))
