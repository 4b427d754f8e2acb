r"""Metrics of low rank, with or without a diagonal: rows are whitened by thin matrices, never by a d x d one.

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
        padded = _in_blocks(white)
        padded -= (padded @ directions) @ directions.T
        return padded.reshape(len(padded) * BLOCK, d)[:n]


@dataclass(frozen=True)
class ProjectedWhiteners:
    """Whiteners of a few coordinates that all components share: W_k P, with one projection P.

    Differences that P does not see have the length zero: these are metrics of q of the d dimensions.

    Attributes
    ----------
    projection : ndarray of shape (q, d)
        P.
    whiteners : ndarray of shape (k, q, q)
        Lower triangular matrices.
    """

    projection: Floats
    whiteners: Floats

    def __len__(self) -> int:
        return len(self.whiteners)

    def projected(self, rows: Floats) -> Floats:  # (n, q)
        """Give P x for each row x; equal rows give exactly equal ones.

        >>> metric = ProjectedWhiteners(np.array([[0.6, 0.8]]), np.array([[[2.0]]]))
        >>> metric.projected(np.array([[5.0, 0.0]])), metric.whitened(0, np.array([[5.0, 0.0]]))
        (array([[3.]]), array([[6.]]))
        """
        padded = _in_blocks(rows)
        found = (padded @ self.projection.T).reshape(padded.shape[0] * BLOCK, len(self.projection))
        return np.ascontiguousarray(found[: len(rows)])

    def whitened(self, k: int, rows: Floats) -> Floats:  # (n, q)
        """Give W_k P x for each row x."""
        return self.projected(rows) @ self.whiteners[k].T

    def whitened_back(self, k: int, white: Floats) -> Floats:  # (n, d)
        """Give P' W_k' z for each row z."""
        return (white @ self.whiteners[k]) @ self.projection

    def traces(self, variances: Floats, loadings: Floats) -> Floats:  # (k,)
        """Give the trace of W_k P S P' W_k' of each component, for one S: L L' + diag(variances)."""
        moments = (self.projection * variances) @ self.projection.T
        seen = self.projection @ loadings
        moments += seen @ seen.T
        return np.einsum("kij,jl,kil->k", self.whiteners, moments, self.whiteners)


def _in_blocks(rows: Floats) -> Floats:  # (blocks, BLOCK, d)
    """Copy rows into blocks of equally many, so that products treat a row in the same way, wherever it stands."""
    n, d = rows.shape
    n_blocks = -(-n // BLOCK)
    padded = np.zeros((n_blocks * BLOCK, d))
    padded[:n] = rows
    return padded.reshape(n_blocks, BLOCK, d)


# Matrices (k, d, d), diagonals (k, d), of low rank plus a diagonal, or of low rank
Metric = Floats | LowRankWhiteners | ProjectedWhiteners


def whitened(whiteners: Metric, k: int, rows: Floats) -> Floats:  # (n, d), or (n, q) of projected rows
    """Give W x for each row x, with the whitener W of component k of any form."""
    if not isinstance(whiteners, np.ndarray):
        return whiteners.whitened(k, rows)
    W = whiteners[k]
    return rows * W if W.ndim == 1 else rows @ W.T


def whitened_back(whiteners: Metric, k: int, white: Floats) -> Floats:  # (n, d)
    """Give W' z for each row z; of whitened rows it is the inverse covariance times the rows."""
    if not isinstance(whiteners, np.ndarray):
        return whiteners.whitened_back(k, white)
    W = whiteners[k]
    return white * W if W.ndim == 1 else white @ W
