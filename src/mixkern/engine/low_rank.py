r"""Metrics of low rank plus a diagonal: rows are whitened by products with thin matrices, never by a d x d one.

With noise variances D and loadings L (d, q), :math:`\Sigma = L L' + D`. In units of the noise, B = D^{-1/2} L,
:math:`\Sigma^{-1} = W' W` with :math:`W = (I + B B')^{-1/2} D^{-1/2} = (I - F F') D^{-1/2}`. From the eigenvalues
:math:`\lambda` and eigenvectors V of the small matrix B'B follows :math:`F = B V \{r (r + 1)\}^{-1/2}` with
:math:`r = \sqrt{1 + \lambda}`.
"""

from dataclasses import dataclass

import numpy as np

from mixkern.typing import Floats

BLOCK = 64  # rows


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

    def whitened_back(self, k: int, white: Floats) -> Floats:  # (n, d)
        """Give W' z for each row z."""
        return self._projected(k, white) * self.scales[k]

    def traces(self, variances: Floats, loadings: Floats) -> Floats:  # (k,)
        """Give the trace of W S W' of each component, for one S of low rank plus a diagonal: L L' + diag(variances).

        >>> whiteners = LowRankWhiteners.of(np.ones((1, 2)), np.array([[[np.sqrt(3.0)], [0.0]]]))
        >>> whiteners.traces(np.array([4.0, 1.0]), np.array([[2.0], [0.0]]))
        array([3.])
        """
        found = np.empty(len(self))
        for k, (scales, directions) in enumerate(zip(self.scales, self.directions, strict=True)):
            # The diagonal of (I - F F')^2
            inner = directions.T @ directions - 2 * np.eye(directions.shape[1])
            rest = 1 + np.einsum("dq,dq->d", directions @ inner, directions)
            white = self.whitened(k, loadings.T)
            found[k] = (scales**2 * variances) @ rest + np.einsum("nd,nd->", white, white)
        return found

    def _projected(self, k: int, white: Floats) -> Floats:
        directions, (n, d) = self.directions[k], white.shape
        # In blocks of equally many rows, so that each row is multiplied in the same way, wherever it stands.
        n_blocks = -(-n // BLOCK)
        padded = np.zeros((n_blocks * BLOCK, d))
        padded[:n] = white
        stacked = padded.reshape(n_blocks, BLOCK, d)
        stacked -= (stacked @ directions) @ directions.T
        return padded[:n]


Metric = Floats | LowRankWhiteners  # matrices (k, d, d), diagonals (k, d), or of low rank


def whitened(whiteners: Metric, k: int, rows: Floats) -> Floats:  # (n, d)
    """Give W x for each row x, with the whitener W of component k of any form."""
    if isinstance(whiteners, LowRankWhiteners):
        return whiteners.whitened(k, rows)
    W = whiteners[k]
    return rows * W if W.ndim == 1 else rows @ W.T


def whitened_back(whiteners: Metric, k: int, white: Floats) -> Floats:  # (n, d)
    """Give W' z for each row z; of whitened rows it is the inverse covariance times the rows."""
    if isinstance(whiteners, LowRankWhiteners):
        return whiteners.whitened_back(k, white)
    W = whiteners[k]
    return white * W if W.ndim == 1 else white @ W
