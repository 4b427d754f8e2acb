"""Trained decision functions: the result of a solver (`Dual`), and functions of rows (`DecisionFunction`)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mixkern import device, gpu_array
from mixkern.density.rows import Rows
from mixkern.kernels import DistanceKernel, LaplacianKernel, MixtureKernel
from mixkern.parts import model_part
from mixkern.typing import Floats, Ints

ROWS = 2**16  # rows whose responsibilities are held at a time
GPU_ROWS = 2**20  # the same on a GPU
CELLS = 2**24  # entries of a kernel matrix held at a time, where a kernel needs its matrix


@dataclass(frozen=True, eq=False)
class Dual:
    """The result of a solver: the decision functions of :class:`DecisionFunction`, to be evaluated on kernel matrices.

    Attributes
    ----------
    support : ndarray of int, shape (s,)
        Positions of the support vectors among the rows that the solver was given.
    coefficients : ndarray of shape (s, q)
        Coefficient of each support vector in each function.
    intercepts : ndarray of shape (q,)
        Constant of each function.
    converged : bool
        Whether the solver reached its tolerance.
    n_iter : int
        Number of iterations; for several functions, the largest.
    change : float
        Relative change of the kernel matrix by a repair, in the Frobenius norm; 0 without one.
    is_interrupted : bool
        Whether the training was interrupted by the user.
    """

    support: Ints
    coefficients: Floats
    intercepts: Floats
    converged: bool = True
    n_iter: int = 1
    change: float = 0.0
    is_interrupted: bool = False

    def decision(self, K: Floats, columns: Ints | None = None) -> Floats:  # (n, q)
        """Evaluate the functions on a kernel matrix.

        Parameters
        ----------
        K : ndarray of shape (n, m)
            Kernel between n rows and m training rows.
        columns : ndarray of int, shape (m,), default=None
            Sorted positions of these training rows; ``None`` is all of them.
        """
        at = self.support if columns is None else np.searchsorted(columns, self.support)
        return K[:, at] @ self.coefficients + self.intercepts

    def by_class(self, codes: Ints) -> Self:
        """Return the same functions, with the support vectors sorted by class, as libsvm sorts them.

        Parameters
        ----------
        codes : ndarray of int, shape (n,)
            Classes of all training rows.
        """
        order = np.argsort(codes[self.support], kind="stable")
        return replace(self, support=self.support[order], coefficients=self.coefficients[order])


@model_part("DecisionFunction")
@dataclass(frozen=True, eq=False)
class DecisionFunction:
    r"""Decision functions as sums of a kernel over the same support vectors.

    .. math:: f_q(x) = \sum_i k(x, x_i)\, a_{iq} + b_q

    Parameters
    ----------
    kernel : Kernel
        Any kernel of mixkern or scikit-learn, with its mixture if it needs one.
    support : ndarray of shape (s, d + e)
        The support vectors, as ``values_for`` returns them.
    coefficients : ndarray of shape (s, q)
        Coefficient of each support vector in each function.
    intercepts : ndarray of shape (q,)
        Constant of each function.

    Examples
    --------
    >>> from mixkern.kernels import RBFKernel
    >>> decision = DecisionFunction(RBFKernel(), np.zeros((1, 2)), np.array([[2.0]]), np.array([-1.0]))
    >>> decision(np.zeros((1, 2)))
    array([[1.]])
    """

    kernel: Any
    support: Floats
    coefficients: Floats
    intercepts: Floats

    @classmethod
    def of(cls, kernel: Any, rows: Rows, dual: Dual) -> Self:
        """Make decision functions from the result of a solver; a deformed kernel is expressed by its base kernel."""
        support, coefficients = values_for(kernel, rows[dual.support]), dual.coefficients
        if isinstance(kernel, LaplacianKernel):
            support, coefficients = kernel.base_representation(support, coefficients)
            kernel = kernel.base
        return cls(kernel, support, coefficients, dual.intercepts)

    def __call__(self, rows: Rows | ArrayLike) -> Floats:  # (n, q)
        """Evaluate the functions on rows, in blocks: neither the kernel matrix nor all responsibilities are held."""
        given: Any = rows if isinstance(rows, Rows) else gpu_array.to_host(rows)
        kernel, X = self.kernel, kernel_input(self.kernel, given)
        is_distance = isinstance(kernel, DistanceKernel)
        step = ROWS if is_distance else max(1, CELLS // max(1, len(self.support)))
        if is_distance and device.on_gpu():
            step = GPU_ROWS
        values = np.empty((len(X), self.coefficients.shape[1]))
        for start in range(0, len(X), step):
            block = slice(start, start + step)
            part = X if len(X) <= step else X[block]  # the rows themselves keep what is computed for them
            if is_distance:
                values[block] = gpu_array.to_host(kernel.times(part, self._rows, self.coefficients))
            else:
                values[block] = kernel(part, self._rows) @ self.coefficients
        return values + self.intercepts

    @cached_property
    def _rows(self) -> Any:
        """Support vectors as input of the kernel, with what it computes only once for them."""
        kernel = self.kernel
        return kernel.read(self.support) if isinstance(kernel, DistanceKernel) else kernel_input(kernel, self.support)


def kernel_matrix(kernel: Any, X: Rows, Y: Rows | None = None) -> Floats:
    """Evaluate any kernel between rows."""
    matrix: Floats = kernel(kernel_input(kernel, X), None if Y is None else kernel_input(kernel, Y))
    return matrix


def kernel_input(kernel: Any, rows: Rows | ArrayLike) -> Any:
    """Return rows as they are for kernels of mixkern, and as an array for those of scikit-learn."""
    return rows if isinstance(kernel, (DistanceKernel, LaplacianKernel)) else np.asarray(rows, dtype=float)


def values_for(kernel: Any, rows: Rows) -> Floats:  # (n, d + e)
    """Return encoded values that a kernel can be evaluated on: gaps are filled unless the kernel has a mixture."""
    base = kernel.base if isinstance(kernel, LaplacianKernel) else kernel
    return rows.values if isinstance(base, MixtureKernel) else rows.filled
