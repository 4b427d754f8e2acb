r"""Least-squares SVMs for many classes: one function for each class against the others, all from one matrix.

The function of a class, f(x) = w' phi(x) + b, minimises

.. math:: \tfrac12 \|w\|^2 + \tfrac C2 \sum_i v_i (y_i - f(x_i))^2

where y is 1 for rows of the class and -1 for others, and v are weights. Its coefficients a and its intercept b solve a
linear system (Suykens and Vandewalle, 1999):

.. math:: A a + b 1 = y, \quad 1^T a = 0, \quad A = K + (C V)^{-1}

A is the same for all classes and is inverted once, so that c classes cost hardly more than one. With Q = A^-1 -
A^-1 1 1' A^-1 / (1' A^-1 1), the coefficients are Q y, and the function that was trained without row i has the value
y_i - a_i / Q_ii there (Cawley, 2006): labels are left out without another training.

In the limit of many labels, (1 + f) / 2 is the probability of the class. Few labels give estimates that may be negative
and need to be calibrated: class probabilities are proportional to

.. math:: p_i \propto \max\{(1 + f_i) / 2, 1 / c\}^t

with one exponent t, which takes the place of the slope of pairs (:mod:`~mixkern.svm.class_calibration`).

References
----------
Suykens, J. A. K. and Vandewalle, J. (1999). Least squares support vector machine classifiers. Neural Processing
Letters 9.

Cawley, G. C. (2006). Leave-one-out cross-validation based model selection criteria for weighted LS-SVMs. Proceedings of
the International Joint Conference on Neural Networks.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor
from scipy.linalg.lapack import dpotri
from scipy.sparse import csr_array

from mixkern.errors import KernelError, hint
from mixkern.kernels import Repair, Repaired, repaired
from mixkern.svm.class_calibration import slopes
from mixkern.svm.decision import Dual
from mixkern.svm.libsvm import for_given_rows
from mixkern.svm.one_vs_one import with_largest
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of

BLOCK = 256  # rows or columns at a time


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Trained functions of all classes, and their values without single labels.

    Attributes
    ----------
    dual : Dual
        One function for each class; support vectors are all rows, sorted by class.
    left_out : ndarray of shape (n, c)
        Values of the functions at each row, without its label. NaN for the only row of a class.
    """

    dual: Dual
    left_out: Floats


def trained(
    K: Floats,
    codes: Ints,
    *,
    C: float = 1.0,
    sample_weight: Floats | None = None,
    repair: str = Repair.AUTO,
) -> LeastSquares:
    """Train one function for each class against the others.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel among the labelled rows.
    codes : ndarray of int, shape (n,)
        Class of each, 0 to c - 1, none of them missing.
    C : float, default=1.0
        Penalty of squared errors.
    sample_weight : ndarray of shape (n,), default=None
        Factor of C for each row, positive.
    repair : {"auto", "none", "clip", "flip", "shift"}, default="auto"
        Treatment of negative eigenvalues of K; ``"auto"`` clips them where A has one, too: the problem then has no
        minimum.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 5.0, 5.1, 9.0, 9.1])
    >>> K, codes = np.exp(-((x[:, None] - x) ** 2)), np.array([0, 0, 1, 1, 2, 2])
    >>> solution = trained(K, codes, C=10.0)
    >>> solution.dual.decision(K).argmax(axis=1), solution.left_out.argmax(axis=1)
    (array([0, 0, 1, 1, 2, 2]), array([0, 0, 1, 1, 2, 2]))
    """
    how = one_of(Repair, repair, "repair")
    if how in (Repair.CLIP, Repair.FLIP, Repair.SHIFT):
        return _trained_repaired(repaired(K, how), codes, C, sample_weight)
    try:
        return trained_definite(K, codes, C, sample_weight)
    except LinAlgError:
        if how is Repair.AUTO:
            return _trained_repaired(repaired(K), codes, C, sample_weight)
        return _solved(_inverse(K, _noise(K, C, sample_weight)), codes)


def trained_definite(K: Floats, codes: Ints, C: float, sample_weight: Floats | None = None) -> LeastSquares:
    """Train as :func:`trained` does, or raise SciPy's ``LinAlgError`` where the problem has no minimum."""
    return _solved(_definite_inverse(K, _noise(K, C, sample_weight)), codes)


def _trained_repaired(fixed: Repaired, codes: Ints, C: float, sample_weight: Floats | None) -> LeastSquares:
    found = trained_definite(fixed.matrix, codes, C, sample_weight)
    return replace(found, dual=for_given_rows(found.dual, fixed).by_class(codes))


def _noise(K: Floats, C: float, sample_weight: Floats | None) -> Floats:
    """Return the diagonal that is added to K: 1 / (C v)."""
    return 1 / (C * (np.ones(len(K)) if sample_weight is None else sample_weight))


def _definite_inverse(K: Floats, noise: Floats) -> Floats:
    """Invert K plus a diagonal matrix, or raise SciPy's ``LinAlgError`` where the sum is not positive definite."""
    system = np.array(K.T, order="F")  # K is symmetric, and its transpose has LAPACK's memory layout
    system[np.diag_indices_from(system)] += noise
    factor, _ = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    inverse: Floats = dpotri(factor, lower=1, overwrite_c=1)[0]
    for start in range(0, len(inverse), BLOCK):  # its upper triangle is that of the matrix still
        end = start + BLOCK
        inverse[start:end, end:] = inverse[end:, start:end].T
        lower = np.tril(inverse[start:end, start:end])
        inverse[start:end, start:end] = lower + np.tril(lower, -1).T
    return inverse


def _inverse(K: Floats, noise: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.inv(K + np.diag(noise)), dtype=float)
    except LinAlgError as error:
        raise KernelError(
            "The kernel matrix is indefinite, and the least-squares problem has no solution.",
            hint=hint(python="Repair the matrix: repair='clip'."),
        ) from error


def _solved(inverse: Floats, codes: Ints) -> LeastSquares:
    """Return the functions and their left-out values, from the inverse of A."""
    n, c = len(codes), int(codes.max()) + 1
    members = csr_array((np.ones(n), (codes, np.arange(n))), shape=(c, n))
    of_classes = (members @ inverse).T  # A^-1 times a column of ones for each class
    sums = of_classes.sum(axis=1)  # A^-1 1
    intercepts = 2 * (members @ sums) / sums.sum() - 1  # 1' A^-1 y / 1' A^-1 1
    coefficients = 2 * of_classes - (1 + intercepts) * sums[:, None]  # A^-1 (y - b 1)
    targets = np.where(codes[:, None] == np.arange(c), 1.0, -1.0)
    left_out = targets - coefficients / (np.diagonal(inverse) - sums**2 / sums.sum())[:, None]
    left_out[np.bincount(codes)[codes] == 1] = np.nan
    return LeastSquares(Dual(np.arange(n), coefficients, intercepts).by_class(codes), left_out)


# ---------------------------------------------------------------- scores and probabilities


def n_functions(n_classes: int) -> int:
    """Return the number of decision functions: one for each class."""
    return n_classes


def class_scores(values: Floats, n_classes: int) -> Floats:  # noqa: ARG001
    """Return the decision values as scores, (n, c): the highest is that of the predicted class."""
    return values


def class_probabilities(
    values: Floats,
    slope: float,
    n_classes: int,  # noqa: ARG001
    winner: Ints | None = None,
) -> Floats:
    r"""Convert decision values to class probabilities, the largest for the predicted class.

    .. math:: p_i = \max\{(1 + f_i) / 2, 1 / c\}^t / \sum_j \max\{(1 + f_j) / 2, 1 / c\}^t

    Returns
    -------
    ndarray of shape (n, c)

    Examples
    --------
    >>> class_probabilities(np.array([[0.5, 0.0, -1.0, -1.2]]), slope=1.0, n_classes=4).round(2)
    array([[0.43, 0.29, 0.14, 0.14]])
    """
    powers = np.exp(slope * _log_estimates(values))
    winner = values.argmax(axis=1) if winner is None else winner
    return with_largest(powers / powers.sum(axis=1, keepdims=True), winner)


def own_probabilities(values: Floats, codes: Ints, slopes: Floats) -> Floats:  # (s, n)
    """Return the probability of each row's own class, for several slopes."""
    log_estimates, rows = _log_estimates(values), np.arange(len(codes))
    found, powers = np.empty((len(slopes), len(codes))), np.empty_like(log_estimates)
    for i, slope in enumerate(slopes):
        np.exp(np.multiply(log_estimates, slope, out=powers), out=powers)
        found[i] = powers[rows, codes] / powers.sum(axis=1)
    return found


def _log_estimates(values: Floats) -> Floats:  # (n, c)
    """Return the logarithms of the estimated probabilities, relative to the largest one of each row."""
    estimates = np.maximum((1 + values) / 2, 1 / values.shape[1])
    return np.log(estimates / estimates.max(axis=1, keepdims=True))


def learned_slope(values: Floats, codes: Ints, weights: Floats | None = None) -> float:
    """Return the median of the slope's posterior, given decision values of labels that were left out."""
    quantiles = slopes(values[None], codes, weights, own_probabilities)
    return float(quantiles[len(quantiles) // 2])
