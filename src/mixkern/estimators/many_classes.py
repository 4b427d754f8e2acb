"""Classifiers of many classes: limits, and gamma and C by labels that are left out.

With many classes each is small beside the table, and a kernel as wide as the table is too smooth for a function that is
1 in one class and -1 in all others. So a sharper kernel is chosen, together with C.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from mixkern.density import Rows
from mixkern.errors import LabelError, hint
from mixkern.estimators.classifier import TOO_MANY_CLASSES
from mixkern.estimators.kernel_factory import replaced
from mixkern.sampling import class_rows
from mixkern.svm import least_squares
from mixkern.svm.class_calibration import log_likelihood
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.scheme import MOST_PAIRED
from mixkern.typing import Floats, Ints, RandomState

# The first ones are used where left-out labels do not decide, as with one label per class:
FACTORS = (3.0, 1.0, 10.0, 30.0)  # of gamma
COSTS = (1.0, 10.0, 100.0)  # values of C, for a kernel of scale 1
MAX_LABELS = 2_000  # labels that these are chosen by: each pair of values takes some 0.2 s of a core
MOST_LABELS = 2**14  # of all classes: matrices of that size take 2 GB each
MOST_COEFFICIENTS = 2**26  # classes times labels: these take half a GB


def check_many(n_classes: int, n_labels: int, *, has_landmarks: bool = False) -> None:
    """Raise an error for labels of many classes that would need too much memory."""
    if n_labels > MOST_LABELS and not has_landmarks:
        raise LabelError(
            f"There are {n_labels:,} labels of {n_classes:,} classes. With more than {MOST_PAIRED} classes, there may "
            f"be at most {MOST_LABELS:,} labels.",
            hint=hint(python="Learn from some of them: set the others to None.", cli="Learn from some of them."),
        )
    if n_classes * n_labels > MOST_COEFFICIENTS:
        raise LabelError(
            f"There are {n_labels:,} labels of {n_classes:,} classes. A decision function is trained for each class, "
            f"and classes times labels may be at most {MOST_COEFFICIENTS:,}.",
            hint=TOO_MANY_CLASSES,
        )


def chosen_settings(
    kernel: Any, rows: Rows, codes: Ints, weights: Floats | None, *, factors: Sequence[float], costs: Sequence[float]
) -> tuple[Any, float]:
    """Choose the width of the kernel and C: those with which left-out labels are most likely.

    Of more than ``MAX_LABELS`` labels, those of some classes are used, drawn at random.

    Parameters
    ----------
    kernel : Kernel
        Any kernel if there is one factor; with several, a kernel of mixkern that has a gamma.
    rows : Rows
        Labelled rows.
    codes, weights : ndarray of shape (l,)
        Their classes and weights.
    factors : sequence of float
        Factors of the kernel's gamma.
    costs : sequence of float
        Values of C. Several ones are for a kernel of scale 1, and are divided by the mean of its diagonal.

    Returns
    -------
    kernel : Kernel
        The kernel with its gamma.
    C : float
        The regularization parameter.
    """
    if len(factors) == len(costs) == 1:
        return kernel, float(costs[0])
    some = class_rows(codes, MAX_LABELS, RandomState(0))
    known, own_weights = np.unique(codes[some], return_inverse=True)[1], None if weights is None else weights[some]
    found = [
        (_left_out_likelihood(K, known, own_weights, C), factor, C)
        for factor, K in _matrices(kernel, rows[some], factors)
        for C in _scaled(costs, K)
    ]
    _, factor, C = max(found, key=lambda each: each[0])
    return kernel if len(factors) == 1 else replaced(kernel, gamma=factor * kernel.gamma), C


def chosen_cost(K: Floats, codes: Ints, weights: Floats | None) -> float:
    """Choose C for a kernel matrix; see :func:`chosen_settings`."""
    some = class_rows(codes, MAX_LABELS, RandomState(0))
    K, known = K[np.ix_(some, some)], np.unique(codes[some], return_inverse=True)[1]
    own_weights = None if weights is None else weights[some]
    return max(_scaled(COSTS, K), key=lambda C: _left_out_likelihood(K, known, own_weights, C))


def _matrices(kernel: Any, rows: Rows, factors: Sequence[float]) -> Iterator[tuple[float, Floats]]:
    """Yield the kernel matrix for each factor of gamma; distances are computed once."""
    if len(factors) == 1:
        yield factors[0], kernel_matrix(kernel, rows)
        return
    terms = kernel.pair_terms(rows)
    for factor in factors:
        yield factor, terms.kernel(factor * kernel.gamma, kernel.alpha, kernel.beta)


def _scaled(costs: Sequence[float], K: Floats) -> list[float]:
    """Divide several values of C by the scale of a kernel matrix."""
    scale = float(np.diagonal(K).mean())
    return [float(C) if len(costs) == 1 or scale <= 0 else C / scale for C in costs]


def _left_out_likelihood(K: Floats, codes: Ints, weights: Floats | None, C: float) -> float:
    """Compute the log likelihood of left-out labels; minus infinity where the problem has no minimum."""
    try:
        found = least_squares.trained_definite(K, codes, C, weights)
    except LinAlgError:
        return -np.inf
    return log_likelihood(found.left_out[None], codes, weights, least_squares.own_probabilities)
