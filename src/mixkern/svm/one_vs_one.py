"""Scores and probabilities of classes from the decision values of pairs of classes.

Columns of pair values follow :func:`~mixkern.svm.pairs`; positive is for the first class of the pair.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit

from mixkern.svm import calibration
from mixkern.svm.libsvm import n_classes_of, pair_positions
from mixkern.typing import Floats, Ints

SMALLEST = 1e-7  # probability of a pair: sums of its inverse stay finite

Conversion = Callable[..., Floats]


def class_scores(values: Floats, n_classes: int) -> Floats:
    """Count the votes of all pairs, and break ties by the sum of the decision values.

    The same as scikit-learn's ``SVC.decision_function``: for two classes one value, positive for the second; for more,
    votes plus the sum of the pairs' values, squeezed into less than a third of a vote.

    Parameters
    ----------
    values : ndarray of shape (n, c (c - 1) / 2)
        Decision values of pairs.
    n_classes : int
        c.

    Returns
    -------
    ndarray of shape (n,) or (n, c)
    """
    if n_classes == 2:
        return -values[:, 0]
    votes, margins = np.zeros((len(values), n_classes)), np.zeros((len(values), n_classes))
    for at, signs in _rounds(n_classes):
        own = signs * values[:, at]
        votes += np.where(signs > 0, own >= 0, own > 0)  # zero is for the first class
        margins += own
    return votes + margins / (3 * (np.abs(margins) + 1))


def pair_values(values: Floats, n_classes: int) -> Floats:  # (n, c (c - 1) / 2)
    """Convert decision values of :mod:`~mixkern.svm.one_vs_rest` to those of pairs: half the difference of two classes.

    So a row with the value 1 for one class and -1 for another has 1 for the pair, as on the margin of a pair's SVM.

    >>> pair_values(np.array([[1.0, -1.0, 0.0]]), 3)
    array([[ 1. ,  0.5, -0.5]])
    >>> pair_values(np.array([[1.0]]), 2)
    array([[-1.]])
    """
    if n_classes == 2:
        return -values
    first, second = np.triu_indices(n_classes, 1)
    return (values[:, first] - values[:, second]) / 2


def n_functions(n_classes: int) -> int:
    """Return the number of decision functions: one for each pair of classes."""
    return n_classes * (n_classes - 1) // 2


def sklearn_sign(n_classes: int) -> float:
    """Return the sign of the coefficients of scikit-learn's ``SVC``: for two classes they are for the second.

    >>> sklearn_sign(2), sklearn_sign(3)
    (-1.0, 1.0)
    """
    return -1.0 if n_classes == 2 else 1.0


def chosen(scores: Floats) -> np.ndarray:
    """Return the class of the highest score; of two classes the second, where its score is positive."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


def class_probabilities(values: Floats, slope: float, n_classes: int, winner: Ints | None = None) -> Floats:
    r"""Convert decision values of pairs to class probabilities, the largest for the predicted class.

    A pair's probability is a sigmoid of its value without offset, so that a value of zero is a half. The pairs are
    coupled in closed form (Price, Knerr, Personnaz and Dreyfus, 1995):

    .. math:: p_i \propto 1 / (\sum_{j \neq i} 1 / r_{ij} - (c - 2))

    With three classes or more the coupling may favour another class than the votes do, rarely and narrowly: the two
    probabilities are then exchanged, so that the label that is predicted is always the most probable one. ``winner``
    are the predicted classes, where they are known.

    Returns
    -------
    ndarray of shape (n, c)
    """
    winner = chosen(class_scores(values, n_classes)) if winner is None else winner
    return with_largest(coupled(values, slope, n_classes), winner)


def own_probabilities(values: Floats, codes: Ints, slopes: Floats) -> Floats:  # (s, n)
    """Return the probability of each row's own class, for several slopes."""
    n_classes, rows = n_classes_of(values.shape[1]), np.arange(len(codes))
    return np.array([class_probabilities(values, slope, n_classes)[rows, codes] for slope in slopes])


def learned_slope(values: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Return the slope by decision values of labels that were left out; see :func:`~mixkern.svm.calibration.slope`."""
    return calibration.slope([calibration.own_values(values, codes, weights)])


def averaged_probabilities(
    values: Floats, slopes: Floats, n_classes: int, convert: Conversion = class_probabilities
) -> Floats:  # (n, c)
    """Return the mean of the class probabilities by several slopes; the predicted class has the largest one.

    Parameters
    ----------
    values : ndarray of shape (n, q)
        Decision values.
    slopes : ndarray of shape (s,)
        One slope or more.
    n_classes : int
        c.
    convert : callable, default=class_probabilities
        Returns class probabilities by ``(values, slope, n_classes)``, the largest for the predicted class; with the
        predicted classes as a fourth argument, these are not computed again.

    Examples
    --------
    >>> averaged_probabilities(np.array([[0.0], [-np.log(3)]]), np.array([1.0, 2.0]), 2).round(3)
    array([[0.5  , 0.5  ],
           [0.175, 0.825]])
    """
    total = convert(values, slopes[0], n_classes)
    winner = total.argmax(axis=1)  # by every slope: only the last bits of the mean may favour another class
    for slope in slopes[1:]:
        total = total + convert(values, slope, n_classes, winner)
    return with_largest(total / len(slopes), winner)


def with_largest(shares: Floats, winner: Ints) -> Floats:  # (n, c)
    """Exchange probabilities where another class than the winner has the largest one.

    >>> with_largest(np.array([[0.5, 0.3, 0.2]]), np.array([1]))
    array([[0.3, 0.5, 0.2]])
    """
    top = shares.argmax(axis=1)
    rows = np.flatnonzero(top != winner)
    if not len(rows):
        return shares
    shares, own, other = shares.copy(), winner[rows], top[rows]
    shares[rows, own], shares[rows, other] = shares[rows, other], shares[rows, own]
    # Of two equal probabilities, the one of the chosen class is larger by the last bit.
    ties = rows[shares[rows].argmax(axis=1) != own]
    shares[ties, winner[ties]] = np.nextafter(shares[ties].max(axis=1), 2)
    return shares


def coupled(values: Floats, slope: float, n_classes: int) -> Floats:  # (n, c)
    """Couple the probabilities of pairs: as :func:`class_probabilities`, before any two are exchanged."""
    if n_classes == 2:
        second = expit(-slope * values[:, 0])
        return np.column_stack([1 - second, second])
    inverse = np.zeros((len(values), n_classes))
    for at, signs in _rounds(n_classes):
        inverse += 1 / np.maximum(expit(slope * signs * values[:, at]), SMALLEST)
    shares = 1 / (inverse - (n_classes - 2))
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _rounds(n_classes: int) -> Iterator[tuple[Ints, Floats]]:
    """Yield one pair for each class, c - 1 times: its position, and the sign that is positive for the class.

    A class meets the others in their order, so sums over rounds add the pairs in their order.
    """
    classes, positions = np.arange(n_classes), pair_positions(n_classes)
    for other in range(n_classes - 1):
        others = other + (classes <= other)
        yield positions[classes, others], np.where(classes < others, 1.0, -1.0)
