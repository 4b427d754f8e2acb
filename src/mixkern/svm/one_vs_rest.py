"""Scores and probabilities of classes from decision values of each class against the others.

For two classes there is one column of values, positive for the second class; for more, one column for each class.
"""

import numpy as np
from scipy.special import expit, log_expit, softmax

from mixkern.svm.calibration import OwnValues
from mixkern.svm.one_vs_one import chosen, with_largest
from mixkern.typing import Floats, Ints


def n_functions(n_classes: int) -> int:
    """Return the number of decision functions: one for each class, and a single one for two classes."""
    return 1 if n_classes == 2 else n_classes


def class_scores(values: Floats, n_classes: int) -> Floats:
    """Return the decision values as scores: the highest is that of the predicted class.

    Parameters
    ----------
    values : ndarray of shape (n, q)
        Decision values; q is 1 for two classes and c for more.
    n_classes : int
        c.

    Returns
    -------
    ndarray of shape (n,) or (n, c)
    """
    return values[:, 0] if n_classes == 2 else values


def class_probabilities(values: Floats, slope: float, n_classes: int, winner: Ints | None = None) -> Floats:
    r"""Convert decision values to class probabilities, the largest for the predicted class.

    Each value becomes a probability by a sigmoid without offset, and the probabilities of three or more classes are
    divided by their sum:

    .. math:: p_i = \sigma(t f_i) / \sum_j \sigma(t f_j), \quad \sigma(a) = 1 / (1 + e^{-a})

    Returns
    -------
    ndarray of shape (n, c)

    Examples
    --------
    >>> class_probabilities(np.array([[0.0, 0.0, -1e9]]), slope=1.0, n_classes=3)
    array([[0.5, 0.5, 0. ]])
    """
    if n_classes == 2:
        second = expit(slope * values[:, 0])
        shares = np.column_stack([1 - second, second])
    else:  # by logarithms: all sigmoids may be too small for a float
        shares = softmax(log_expit(slope * values), axis=1)
    return with_largest(shares, chosen(class_scores(values, n_classes)) if winner is None else winner)


def own_values(values: Floats, codes: Ints, weights: Floats | None = None) -> OwnValues:
    """Return the values of all functions, with the sign that is positive where they are right about a row.

    >>> own_values(np.array([[2.0, -1.0, 9.0]]), np.array([0])).values
    array([ 2.,  1., -9.])
    """
    counts = np.ones(len(codes)) if weights is None else weights
    classes = np.arange(values.shape[1]) if values.shape[1] > 1 else np.array([1])
    signs = np.where(codes[:, None] == classes, 1.0, -1.0)
    return OwnValues((signs * values).ravel(), np.repeat(counts, len(classes)))
