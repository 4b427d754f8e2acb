r"""Features of rows by their kernel values with a few rows, the landmarks.

With the kernel :math:`K_{mm}` among m landmarks, the features of a row x are

.. math:: \phi(x) = K_{mm}^{-1/2}\, k(\text{landmarks}, x)

Their inner products are the kernel, as far as the landmarks determine it (Williams and Seeger, 2001). Where the kernel
is indefinite, the directions of negative eigenvalues are left out. A linear function of the features is a sum of the
kernel over the landmarks: :math:`w^T \phi(x) = \sum_j a_j k(x, x_j)` with :math:`a = K_{mm}^{-1/2} w`.

References
----------
Williams, C. K. I. and Seeger, M. (2001). Using the Nystroem method to speed up kernel machines. Advances in Neural
Information Processing Systems 13.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mixkern.density.rows import Rows
from mixkern.svm.decision import kernel_matrix
from mixkern.threads import single_threaded_algebra, thread_pool
from mixkern.typing import Floats, Ints

KERNEL_ROWS = 2**13  # rows whose kernel values are held at a time
PRODUCT_ROWS = 2**10  # rows of a matrix product, which one thread computes
LEAST_EIGENVALUE = 1e-6  # relative to the largest: with smaller ones four tables were predicted about as well


@dataclass(frozen=True, eq=False)
class LandmarkFeatures:
    """Features of all rows whose inner products are the kernel, as far as the landmarks determine it.

    Attributes
    ----------
    basis : ndarray of shape (m, r)
        From kernel values with landmarks to features.
    rows : ndarray of shape (n, r)
        The features.
    change : float
        Relative change of the kernel among the landmarks where negative eigenvalues are left out, in the Frobenius
        norm.
    """

    basis: Floats
    rows: Floats
    change: float = 0.0

    @classmethod
    def of(cls, K: Floats, landmarks: Ints) -> Self:
        """Compute the features from the kernel between all rows and the landmarks."""
        basis, change = _basis(K[landmarks], len(landmarks) * np.finfo(float).eps)
        return cls(basis, K @ basis, change)

    @classmethod
    def of_rows(cls, kernel: Any, rows: Rows, landmarks: Ints) -> Self:
        """Compute the features from rows, some at a time: the kernel between all rows and the landmarks is not held.

        Parameters
        ----------
        kernel : Kernel
            Any kernel of mixkern or scikit-learn.
        rows : Rows
            All rows.
        landmarks : ndarray of int, shape (m,)
            Positions of the landmarks among them.

        Notes
        -----
        A row is computed in the same way whatever the number of threads.
        """
        own = rows[landmarks]
        gram = kernel_matrix(kernel, own)
        with single_threaded_algebra():  # the same result for any number of threads
            basis, change = _basis(gram, LEAST_EIGENVALUE)
        features = np.empty((len(rows), basis.shape[1]))
        for start in range(0, len(rows), KERNEL_ROWS):
            K, out = kernel_matrix(kernel, rows[start : start + KERNEL_ROWS], own), features[start:]
            with thread_pool() as pool:
                list(pool.map(lambda at, K=K, out=out: _product(K, basis, out, at), range(0, len(K), PRODUCT_ROWS)))
        return cls(basis, features, change)


def _product(K: Floats, basis: Floats, out: Floats, start: int) -> None:
    """Multiply some rows."""
    some = slice(start, min(start + PRODUCT_ROWS, len(K)))
    np.matmul(K[some], basis, out=out[some])


def _basis(gram: Floats, least: float) -> tuple[Floats, float]:  # (m, r)
    """Return the matrix from kernel values to features, where the kernel is positive, and the change of the kernel.

    Eigenvalues up to ``least`` times the largest one are left out.
    """
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > least * np.abs(values).max()
    change = float(np.linalg.norm(values[values < 0]) / max(np.linalg.norm(values), np.finfo(float).tiny))
    return vectors[:, kept] / np.sqrt(values[kept]), change
