"""Definiteness of kernel matrices: report and repair.

RWM averages several metrics with weights that differ from row to row, so it need not be positive semi-definite. libsvm
tolerates small violations; methods that factorise the matrix do not.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from mixkern.errors import KernelError
from mixkern.typing import Floats
from mixkern.validation import as_floats, one_of


class Repair(StrEnum):
    """Treatment of a kernel matrix that is not positive semi-definite."""

    AUTO = "auto"  # clip where needed: always for regression, for classes where libsvm does not converge
    NONE = "none"  # no change
    CLIP = "clip"  # they become zero: the nearest definite matrix
    FLIP = "flip"  # they change sign
    SHIFT = "shift"  # all eigenvalues rise by the lowest: only the diagonal changes


@dataclass(frozen=True)
class Definiteness:
    """Summary of the eigenvalues of a kernel matrix.

    Attributes
    ----------
    smallest, largest : float
        Eigenvalues.
    negative_mass : float
        Sum of the negative eigenvalues' sizes, as a share of all sizes.
    rank : int
        Eigenvalues that are not zero within rounding.
    is_definite : bool
        Whether none is negative, within rounding.
    """

    smallest: float
    largest: float
    negative_mass: float
    rank: int
    is_definite: bool


def definiteness(K: ArrayLike) -> Definiteness:
    """Report how far a kernel matrix is from being positive semi-definite.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric.

    Examples
    --------
    >>> definiteness([[1.0, 0.5], [0.5, 1.0]]).is_definite
    True
    >>> definiteness([[1.0, 2.0], [2.0, 1.0]]).smallest
    -1.0
    """
    values: Floats = np.asarray(np.linalg.eigvalsh(_symmetric(K)), dtype=float)
    rounding = _rounding(values)
    size = np.abs(values)
    return Definiteness(
        smallest=float(values[0]),
        largest=float(values[-1]),
        negative_mass=float(size[values < 0].sum() / max(size.sum(), np.finfo(float).tiny)),
        rank=int((size > rounding).sum()),
        is_definite=bool(values[0] >= -rounding),
    )


def is_definite(K: Floats) -> bool:
    """Whether a kernel matrix is positive semi-definite within rounding; ten times as fast as :func:`definiteness`.

    >>> is_definite(np.eye(2)), is_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (True, False)
    """
    try:
        np.linalg.cholesky(K + rounding_of(K) * np.eye(len(K)))
    except np.linalg.LinAlgError:
        return False
    return True


def rounding_of(K: Floats) -> float:
    """Bound on the rounding errors of eigenvalues, from the matrix alone."""
    return float(len(K) * np.finfo(float).eps * np.abs(K).sum(axis=1).max(initial=1.0))


@dataclass(frozen=True)
class Repaired:
    """A kernel matrix after its repair, and the same repair for new rows.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        Positive semi-definite, unless it was left as it is.
    change : float
        Frobenius norm of the change, as a share of the norm of the matrix.
    how : Repair
        The treatment; in place of ``"auto"`` the one that it chose.
    """

    matrix: Floats
    change: float
    how: Repair
    _vectors: Floats  # (n, r): the negative eigenvectors
    _factor: float  # 1 takes them out, 2 turns them round

    def rows(self, K: ArrayLike) -> Floats:
        """Repair kernel values between new rows and the rows of the matrix.

        The same eigenvectors are used, so an old row gets its values in the repaired matrix (with ``"shift"``, except
        for its value with itself, which a new row does not have).
        """
        values = as_floats(K, "K", KernelError)
        return values - self._factor * (values @ self._vectors) @ self._vectors.T


def repaired(K: ArrayLike, how: str = "clip") -> Repaired:
    """Make a symmetric matrix positive semi-definite.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric.
    how : {"auto", "none", "clip", "flip", "shift"}, default="clip"
        Negative eigenvalues become zero, change their sign, or all eigenvalues rise by the lowest. ``"auto"`` clips a
        matrix that is not positive semi-definite within rounding, and leaves another as it is, as ``"none"`` does.

    Examples
    --------
    >>> fixed = repaired([[1.0, 2.0], [2.0, 1.0]])
    >>> fixed.matrix
    array([[1.5, 1.5],
           [1.5, 1.5]])
    >>> round(fixed.change, 3)
    0.316
    """
    matrix = _symmetric(K)
    repair = one_of(Repair, how, "how")
    if repair is Repair.AUTO:
        repair = Repair.NONE if is_definite(matrix) else Repair.CLIP
    if repair is Repair.NONE:
        return Repaired(matrix.copy(), 0.0, repair, np.empty((len(matrix), 0)), 0.0)
    if repair is Repair.SHIFT:
        lowest = float(eigh(matrix, eigvals_only=True, subset_by_index=(0, 0))[0])
        fixed, vectors, factor = matrix + max(0.0, -lowest) * np.eye(len(matrix)), np.empty((len(matrix), 0)), 0.0
    else:
        values, vectors = eigh(matrix, subset_by_value=(-np.inf, 0.0))  # the others stay as they are
        factor = 1.0 if repair is Repair.CLIP else 2.0
        fixed = matrix - factor * (vectors * values) @ vectors.T
        fixed = (fixed + fixed.T) / 2
    change = float(np.linalg.norm(fixed - matrix) / max(np.linalg.norm(matrix), np.finfo(float).tiny))
    return Repaired(fixed, change, repair, vectors, factor)


def _rounding(values: Floats) -> float:
    """Bound on the rounding errors of these eigenvalues."""
    return float(len(values) * np.finfo(float).eps * max(abs(float(values[0])), abs(float(values[-1]))))


def _symmetric(K: Any) -> Floats:
    matrix = as_floats(K, "K", KernelError)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise KernelError(f"A kernel matrix is square, but this has shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise KernelError("The kernel matrix holds NaN or infinite values.")
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * np.abs(matrix).max()):
        raise KernelError("The kernel matrix is not symmetric: pass kernel(X), not kernel(X, Y).")
    return matrix
