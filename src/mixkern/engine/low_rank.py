r"""Metrics of low rank plus a diagonal: rows are whitened by products with thin matrices, never by a d x d one.

With noise variances D and loadings L (d, q), :math:`\Sigma = L L' + D`. In units of the noise, B = D^{-1/2} L,
:math:`\Sigma^{-1} = W' W` with :math:`W = (I + B B')^{-1/2} D^{-1/2} = (I - F F') D^{-1/2}`. From the eigenvalues
:math:`\lambda` and eigenvectors V of the small matrix B'B follows :math:`F = B V \{r (r + 1)\}^{-1/2}` with
:math:`r = \sqrt{1 + \lambda}`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.engine.check import Pairs, Side
from mixkern.errors import EngineError
from mixkern.typing import Floats

CELLS = 2**20  # distances of one component that are held at a time: 8 MiB


@dataclass(frozen=True)
class LowRankWhiteners:
    """Whiteners (I - F F') diag(scales), one for each component.

    Attributes
    ----------
    scales : ndarray of shape (k, d)
        Inverse deviations of the noise.
    directions : ndarray of shape (k, d, q)
        F, in units of the noise.
    log_dets : ndarray of shape (k,)
        Logarithm of the determinant of each whitener.
    """

    scales: Floats
    directions: Floats
    log_dets: Floats

    @classmethod
    def of(cls, variances: Floats, loadings: Floats) -> "LowRankWhiteners":
        """Give the whiteners of k covariances, from noise variances (k, d) and loadings (k, d, q).

        >>> whiteners = LowRankWhiteners.of(np.ones((1, 2)), np.array([[[np.sqrt(3.0)], [0.0]]]))
        >>> whiteners.whitened(0, np.array([[2.0, 1.0]]))
        array([[1., 1.]])
        """
        scales = 1 / np.sqrt(variances)
        white = loadings * scales[:, :, None]  # B
        values, vectors = np.linalg.eigh(np.swapaxes(white, 1, 2) @ white)
        roots = np.sqrt(1 + np.maximum(values, 0.0))
        directions = white @ (vectors / np.sqrt(roots * (roots + 1))[:, None, :])
        return cls(scales, directions, np.log(scales).sum(axis=1) - np.log(roots).sum(axis=1))

    def __len__(self) -> int:
        return len(self.scales)

    @property
    def n_features(self) -> int:
        """Number of columns, d."""
        return self.scales.shape[1]

    def whitened(self, k: int, rows: Floats) -> Floats:  # (n, d)
        """Give rows in coordinates in which component k has unit covariance; equal rows give exactly equal ones."""
        return self._projected(k, rows * self.scales[k])

    def precision_times(self, k: int, rows: Floats) -> Floats:  # (n, d)
        """Give the inverse covariance of component k times each row."""
        return self._projected(k, self._projected(k, rows * self.scales[k])) * self.scales[k]

    def _projected(self, k: int, white: Floats) -> Floats:
        directions = self.directions[k]
        # Not by a matrix product, whose order of summation depends on the place of a row.
        parts = np.einsum("nd,qd->nq", white, np.ascontiguousarray(directions.T))
        return white - np.einsum("nq,dq->nd", parts, np.ascontiguousarray(directions))


def checked(whiteners: LowRankWhiteners) -> LowRankWhiteners:
    """Check the shapes of low-rank whiteners, and that they are finite."""
    k, d = whiteners.scales.shape
    if not k or whiteners.directions.shape[:2] != (k, d):
        raise EngineError(
            f"directions must have the shape ({k}, {d}, q), but the shape is {whiteners.directions.shape}."
        )
    if not (np.isfinite(whiteners.scales).all() and np.isfinite(whiteners.directions).all()):
        raise EngineError("whiteners must be finite numbers.")
    return whiteners


def summed_distance(
    pairs: Pairs,
    whiteners: LowRankWhiteners,
    distance: Callable[[Pairs], NDArray[np.float64]],
    out: NDArray[np.float64],
) -> NDArray[Any]:
    """Add the weighted distances of all components up: those of one component by the core, in whitened coordinates."""
    a, b = pairs.a, pairs.columns
    n, m = pairs.shape
    step = n if pairs.b is None and n * m <= CELLS else max(1, CELLS // max(m, 1))
    out[:] = 0.0
    for k in range(len(whiteners)):
        white_a = whiteners.whitened(k, a.rows)
        white_b = white_a if b is a else whiteners.whitened(k, b.rows)
        other = _plain(white_b)
        share_b = np.broadcast_to(b.shares[:, k], (m,))
        for start in range(0, n, step):
            at = slice(start, start + step)
            is_all = pairs.b is None and step >= n
            lengths = distance(replace(pairs, a=_plain(white_a[at]), b=None if is_all else other))
            share_a = np.broadcast_to(a.shares[:, k], (n,))[at]
            lengths *= 0.5 * (share_a[:, None] + share_b)
            out[at] += lengths
    return out


def _plain(rows: Floats) -> Side:
    """Give rows with a share of one in a single component."""
    return Side(np.ascontiguousarray(rows), np.ones((1, 1)), None)
