"""Factorisations and products of dense matrices in float64: by LAPACK and BLAS, or on a GPU by cuSOLVER and cuBLAS.

A GPU is used for large matrices if ``mixkern.config(device="cuda")`` chooses it. Matrices come from the host and return
there: their transfer takes n^2 steps, and the work n^3.
"""

from importlib import import_module
from math import prod
from typing import Any

import numpy as np
from scipy import linalg

from mixkern import device, gpu_array
from mixkern.typing import Floats

GPU_WORK = 2**33  # multiplications from which on a GPU is used: some tenths of a second on two cores


def eigenvectors(matrix: Floats) -> tuple[Floats, Floats]:  # (n,), (n, n)
    """Eigenvalues of a symmetric matrix, ascending, and its eigenvectors, in columns.

    >>> values, vectors = eigenvectors(np.diag([3.0, 2.0]))
    >>> values
    array([2., 3.])
    """
    if not is_for_gpu(len(matrix), len(matrix), len(matrix)):
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    values, vectors = import_module("cupy").linalg.eigh(_placed(matrix))
    return gpu_array.to_host(values), gpu_array.to_host(vectors)


def cholesky(matrix: Floats) -> Floats:
    """Cholesky factor of a positive definite matrix, which may be overwritten, in the lower triangle of the result.

    What is above the diagonal has no meaning. Raises ``numpy.linalg.LinAlgError`` for a matrix that is not definite.
    """
    if not is_for_gpu(len(matrix), len(matrix), len(matrix)):
        factor: Floats = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)[0]
        return factor
    # By default CuPy does not look at the error code of cuSOLVER.
    with import_module("cupyx").errstate(linalg="raise"):
        return gpu_array.to_host(import_module("cupy").linalg.cholesky(_placed(matrix)))


def solved(factor: Floats, right: Floats, *, transposed: bool = False) -> Floats:
    """Solution x of L x = right, or of L' x = right, for the lower triangle L of a factor.

    >>> solved(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[2.0], [3.0]]))
    array([[1.],
           [2.]])
    """
    how = {"lower": True, "trans": int(transposed), "check_finite": False}
    if not is_for_gpu(len(factor), len(factor), right.shape[1]):
        solution: Floats = linalg.solve_triangular(factor, right, **how)
        return solution
    on_gpu = import_module("cupyx.scipy.linalg").solve_triangular
    return gpu_array.to_host(on_gpu(_placed(factor), _placed(right), **how))


def product(left: Floats, right: Floats) -> Floats:
    """Product of two matrices."""
    if not is_for_gpu(left.shape[0], *right.shape):
        return left @ right
    return gpu_array.to_host(_placed(left) @ _placed(right))


def is_for_gpu(*sizes: int) -> bool:
    """Whether a GPU is to be used for work of the product of these sizes."""
    return device.on_gpu() and prod(sizes) >= GPU_WORK


def _placed(matrix: Floats) -> Any:
    return gpu_array.to_gpu(matrix, np.float64)
