"""The Gaussians of a mixture's components: densities, conditional means and metrics for each kind of covariance."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from mixkern.density.block import BLOCK, gap_patterns
from mixkern.density.covariance import CovarianceType, inverse_factors
from mixkern.engine import Components, LowRankWhiteners, Metric, ProjectedWhiteners, RowDensities, row_densities
from mixkern.errors import MixtureError
from mixkern.gpu_array import is_cupy
from mixkern.typing import Floats, Positions, RandomState
from mixkern.validation import is_finite

LOG_2PI = float(np.log(2 * np.pi))
OUTSIDE = 1e-6  # part of common loadings and means that may lie outside of the factors' space, by rounding
GPU_COLUMNS = 256  # up to which densities of factors on a GPU are computed with matrices
FEW_COLUMNS = 64  # up to which the metric of factors is a matrix: as cheap, and the core skips components


class Gaussians(ABC):
    """What the kinds of covariance compute differently."""

    def __init__(self, kind: CovarianceType, means: Floats, covariances: Floats, loadings: Floats | None) -> None:
        self.kind = kind
        self.means = means  # (k, d)
        self.covariances = covariances
        self.loadings = np.zeros((*means.shape, 0)) if loadings is None else loadings  # (k, d, q)

    @property
    def is_for_gpu(self) -> bool:
        """Whether densities of rows on a GPU are computed there."""
        return True

    @cached_property
    @abstractmethod
    def full_covariances(self) -> Floats:  # (k, d, d)
        """Covariances as matrices."""

    @cached_property
    @abstractmethod
    def variances(self) -> Floats:  # (k, d)
        """Variance of each column in each component."""

    @cached_property
    @abstractmethod
    def whiteners(self) -> Metric:
        """W with W'W the inverse of each covariance."""

    @abstractmethod
    def deviations(self, k: int, noise: Floats, random: RandomState) -> Floats:  # (n, d)
        """Turn standard normal noise into deviations from the mean of component k."""

    @abstractmethod
    def row_densities(self, X: Floats, log_weights: Floats, offsets: Floats | None, *, fill: bool) -> RowDensities:
        """Compute densities of rows under the components with given weights; gaps are integrated out.

        ``offsets`` (n, k) are added to the log densities. ``fill`` also gives the rows with gaps at their expectation.
        """

    def filled(self, X: Floats, shares: Floats) -> Floats:  # (n, d)
        """Replace gaps by their expectation under the mixture, given the responsibilities of the rows."""
        filled = X.copy()
        for at, observed, missing in gap_patterns(X):
            if len(missing):
                expected = self.conditional_means(X[np.ix_(at, observed)], observed, missing)  # (k, rows, missing)
                filled[np.ix_(at, missing)] = np.einsum("nk,knm->nm", shares[at], expected)
        return filled

    def conditional_means(self, values: Floats, observed: Positions, missing: Positions) -> Floats:  # (k, n, missing)
        """Compute the expected values of the missing columns under each component, given the observed ones."""
        k = len(self.means)
        means = np.broadcast_to(self.means[:, None, missing], (k, len(values), len(missing))).copy()
        if len(observed):
            self._add_regression(means, values, observed, missing)
        return means

    @abstractmethod
    def _add_regression(self, means: Floats, values: Floats, observed: Positions, missing: Positions) -> None:
        """Add what the observed columns contribute to the expected values of the missing ones."""

    @abstractmethod
    def precision_times(self, k: int, deviations: Floats, observed: Positions) -> Floats:  # (n, o)
        """Multiply deviations in the observed columns by the inverse of their covariance in component k."""

    @abstractmethod
    def marginal(self, columns: Positions) -> tuple[Floats, Floats | None]:
        """Covariances and loadings of some columns."""

    @abstractmethod
    def pooled(self, weights: Floats, shares: Floats) -> tuple[Floats, Floats | None]:
        """Covariances and loadings, each moved towards the weighted mean by its share, a number or one for each."""

    @abstractmethod
    def n_parameters(self) -> float | Floats:
        """Count the free parameters of a covariance, the same for all components or one for each."""


class EngineGaussians(Gaussians):
    """Gaussians whose densities the engine computes: one matrix or one diagonal for each component."""

    def row_densities(self, X: Floats, log_weights: Floats, offsets: Floats | None, *, fill: bool) -> RowDensities:
        whiteners, log_constants = self._components
        components = Components(self.means, whiteners, log_weights + log_constants)
        return row_densities(X, components, offsets=offsets, fill=fill)

    @cached_property
    def _components(self) -> tuple[Floats, Floats]:
        return _with_constants(self.whiteners)


class MatrixGaussians(EngineGaussians):
    """Full and tied covariances."""

    @cached_property
    def full_covariances(self) -> Floats:
        if self.kind is CovarianceType.FULL:
            return self.covariances
        k, d = self.means.shape
        return np.broadcast_to(self.covariances, (k, d, d))

    @cached_property
    def variances(self) -> Floats:
        return np.diagonal(self.full_covariances, axis1=1, axis2=2)

    @cached_property
    def whiteners(self) -> Floats:
        if self.kind is CovarianceType.TIED:
            return np.broadcast_to(inverse_factors(self.covariances[None]), self.full_covariances.shape)
        return read_only(inverse_factors(self.covariances))

    @cached_property
    def _factors(self) -> Floats:
        factors: Floats = np.asarray(np.linalg.cholesky(self.full_covariances), dtype=float)
        return factors

    def deviations(self, k: int, noise: Floats, random: RandomState) -> Floats:  # noqa: ARG002
        return noise @ self._factors[k].T

    def _add_regression(self, means: Floats, values: Floats, observed: Positions, missing: Positions) -> None:
        for k, covariance in enumerate(self.full_covariances):
            gain = np.linalg.solve(covariance[np.ix_(observed, observed)], covariance[np.ix_(observed, missing)])
            means[k] += (values - self.means[k, observed]) @ gain

    def precision_times(self, k: int, deviations: Floats, observed: Positions) -> Floats:
        found: Floats = np.linalg.solve(self.full_covariances[k][np.ix_(observed, observed)], deviations.T).T
        return found

    def marginal(self, columns: Positions) -> tuple[Floats, None]:
        return self.covariances[..., columns[:, None], columns], None

    def pooled(self, weights: Floats, shares: Floats) -> tuple[Floats, None]:
        if self.kind is CovarianceType.TIED:
            return self.covariances, None
        return _between(self.covariances, weights, shares), None

    def n_parameters(self) -> float:
        d = self.means.shape[1]
        return d * (d + 1) / 2


class DiagonalGaussians(EngineGaussians):
    """Diagonal and spherical covariances."""

    @cached_property
    def full_covariances(self) -> Floats:
        return read_only(self.variances[:, :, None] * np.eye(self.means.shape[1]))

    @cached_property
    def variances(self) -> Floats:
        if self.kind is CovarianceType.SPHERICAL:
            return np.broadcast_to(self.covariances[:, None], self.means.shape)
        return self.covariances

    @cached_property
    def whiteners(self) -> Floats:
        return read_only(1 / np.sqrt(self.variances))

    def deviations(self, k: int, noise: Floats, random: RandomState) -> Floats:  # noqa: ARG002
        return noise * np.sqrt(self.variances[k])

    def _add_regression(self, means: Floats, values: Floats, observed: Positions, missing: Positions) -> None:
        """Columns are independent: the observed ones contribute nothing."""

    def precision_times(self, k: int, deviations: Floats, observed: Positions) -> Floats:
        return deviations / self.variances[k, observed]

    def marginal(self, columns: Positions) -> tuple[Floats, None]:
        return self.covariances[:, columns] if self.kind is CovarianceType.DIAG else self.covariances, None

    def pooled(self, weights: Floats, shares: Floats) -> tuple[Floats, None]:
        return _between(self.covariances, weights, shares), None

    def n_parameters(self) -> float:
        return self.means.shape[1] if self.kind is CovarianceType.DIAG else 1


class FactorGaussians(Gaussians):
    """Loadings of a few factors, and the noise of each column; matrices of d x d are formed for few columns only.

    Densities on a GPU use matrices, with more columns than on the host: they are small beside its speed.
    """

    @property
    def is_for_gpu(self) -> bool:
        return self.means.shape[1] <= GPU_COLUMNS

    @cached_property
    def full_covariances(self) -> Floats:
        low_rank = self.loadings @ np.swapaxes(self.loadings, 1, 2)
        return read_only(low_rank + self.covariances[:, :, None] * np.eye(self.means.shape[1]))

    @cached_property
    def variances(self) -> Floats:
        return read_only(self.covariances + np.einsum("kdq,kdq->kd", self.loadings, self.loadings))

    @cached_property
    def whiteners(self) -> Metric:
        if self.means.shape[1] <= FEW_COLUMNS:
            return read_only(inverse_factors(self.full_covariances))
        return self._low_rank

    @cached_property
    def _low_rank(self) -> LowRankWhiteners:
        return LowRankWhiteners.of(self.covariances, self.loadings)

    def deviations(self, k: int, noise: Floats, random: RandomState) -> Floats:
        factors = random.standard_normal((len(noise), self.loadings.shape[2]))
        return noise * np.sqrt(self.covariances[k]) + factors @ self.loadings[k].T

    @cached_property
    def _dense(self) -> tuple[Floats, Floats]:
        return _with_constants(inverse_factors(self.full_covariances))

    def row_densities(self, X: Floats, log_weights: Floats, offsets: Floats | None, *, fill: bool) -> RowDensities:
        if is_cupy(X):
            whiteners, log_constants = self._dense
            components = Components(self.means, whiteners, log_weights + log_constants)
            return row_densities(X, components, offsets=offsets, fill=fill)
        log_joint = np.empty((len(X), len(self.means)))
        for start in range(0, len(X), BLOCK):
            block, out = X[start : start + BLOCK], log_joint[start : start + BLOCK]
            for at, observed, _ in gap_patterns(block):
                out[at] = log_weights + self.log_density(block[np.ix_(at, observed)], observed)
        if offsets is not None:
            log_joint += offsets
        log_density: Floats = np.asarray(logsumexp(log_joint, axis=1)).reshape(len(X))
        with np.errstate(invalid="ignore"):  # where all densities are zero
            shares = np.exp(log_joint - log_density[:, None])
        filled = self.filled(X, shares) if fill else None
        return RowDensities(log_joint, shares, log_density, filled, is_finite(log_density))

    def log_density(self, values: Floats, observed: Positions) -> Floats:  # (n, k)
        """Log density of the observed columns under each component; the missing ones are integrated out."""
        whiteners = self._low_rank
        if len(observed) < self.means.shape[1]:
            whiteners = LowRankWhiteners.of(self.covariances[:, observed], self.loadings[:, observed])
        sq_distance = np.empty((len(values), len(self.means)))
        for k in range(len(self.means)):
            # Not by the expanded square, which loses all digits for a narrow component far from the origin.
            with np.errstate(over="ignore", invalid="ignore"):  # the square overflows
                white = whiteners.whitened(k, values - self.means[k, observed])
                sq_distance[:, k] = np.einsum("ij,ij->i", white, white)
        sq_distance[np.isnan(sq_distance)] = np.inf
        return whiteners.log_dets - 0.5 * (len(observed) * LOG_2PI + sq_distance)

    def _add_regression(self, means: Floats, values: Floats, observed: Positions, missing: Positions) -> None:
        for k, loadings in enumerate(self.loadings):
            weighted = loadings[observed] / self.covariances[k, observed, None]
            precision = np.eye(loadings.shape[1]) + loadings[observed].T @ weighted
            factors = np.linalg.solve(precision, ((values - self.means[k, observed]) @ weighted).T)  # (q, n)
            means[k] += factors.T @ loadings[missing].T

    def precision_times(self, k: int, deviations: Floats, observed: Positions) -> Floats:
        one = LowRankWhiteners.of(self.covariances[None, k, observed], self.loadings[None, k, observed])
        return one.whitened_back(0, one.whitened(0, deviations))

    def marginal(self, columns: Positions) -> tuple[Floats, Floats]:
        return self.covariances[:, columns], self.loadings[:, columns]

    def pooled(self, weights: Floats, shares: Floats) -> tuple[Floats, Floats]:
        k, d = self.means.shape
        each = np.broadcast_to(shares, (k,))[:, None, None]
        mean = np.concatenate(list(np.sqrt(weights)[:, None, None] * self.loadings), axis=1)  # (d, k q)
        mean = np.broadcast_to(thin(mean[None]), (k, d, min(mean.shape[1], d)))
        stacked = np.concatenate([np.sqrt(1 - each) * self.loadings, np.sqrt(each) * mean], axis=2)
        return _between(self.covariances, weights, shares), thin(stacked)

    def n_parameters(self) -> Floats:
        d = self.means.shape[1]
        ranks = self.loadings.any(axis=1).sum(axis=1)
        n_parameters: Floats = d * (ranks + 1.0) - ranks * (ranks - 1) / 2
        return np.minimum(n_parameters, d * (d + 1) / 2)


class CommonGaussians(FactorGaussians):
    """Loadings of factors that all components share, and noise that is the same in all of them.

    In units of the noise, loadings and differences of means lie in one space of q dimensions, with the orthonormal
    basis Q. Outside of it all components are equal. So the metric of kernels is that of the coordinates Q' x alone:
    differences between rows that are noise in every component do not count. Without factors it is that of the noise.
    """

    def __init__(self, kind: CovarianceType, means: Floats, covariances: Floats, loadings: Floats | None) -> None:
        super().__init__(kind, means, np.broadcast_to(covariances, means.shape), loadings)

    @cached_property
    def _projection(self) -> Floats:  # (q, d)
        """Q' in the table's units; an error where the components do not share their factors."""
        scales, q = 1 / np.sqrt(self.covariances[0]), self.loadings.shape[2]
        stacked = np.concatenate([*self.loadings, (self.means - self.means[0]).T], axis=1) * scales[:, None]
        vectors, sizes, _ = np.linalg.svd(stacked, full_matrices=False)
        # Means far from the origin have few digits left for their differences.
        rounding = np.finfo(float).eps * np.linalg.norm(self.means * scales)
        if sizes[q:].max(initial=0.0) > OUTSIDE * sizes.max(initial=0.0) + rounding:
            raise MixtureError(
                "With covariance_type='common', the loadings of all components and the differences of their means must "
                f"lie in one space of {q} dimensions, that of the factors, but they do not."
            )
        kept = sizes[:q] > len(sizes) * np.finfo(float).eps * sizes.max(initial=0.0)
        return np.ascontiguousarray(vectors[:, :q][:, kept].T * scales)

    @cached_property
    def whiteners(self) -> Metric:
        return self._factor_whiteners if self.loadings.shape[2] else self._low_rank

    @cached_property
    def _factor_whiteners(self) -> ProjectedWhiteners:
        return _whiteners_in(self._projection, self.loadings)

    def _observed_whiteners(self, observed: Positions) -> ProjectedWhiteners:
        """Whiteners of the common space in some columns, where Q has other lengths and fewer dimensions."""
        if len(observed) == self.means.shape[1]:
            return self._factor_whiteners
        scales = 1 / np.sqrt(self.covariances[0, observed])
        basis = self._projection[:, observed] / scales
        values, vectors = np.linalg.eigh(basis @ basis.T)
        kept = values > len(values) * np.finfo(float).eps
        projection = (vectors[:, kept] / np.sqrt(values[kept])).T @ basis * scales
        return _whiteners_in(projection, self.loadings[:, observed])

    def marginal(self, columns: Positions) -> tuple[Floats, Floats]:
        return self.covariances[0, columns], self.loadings[:, columns]

    def pooled(self, weights: Floats, shares: Floats) -> tuple[Floats, Floats]:
        scales, projection = 1 / np.sqrt(self.covariances[0]), self._projection
        seen = projection @ self.loadings
        spreads = _between(seen @ np.swapaxes(seen, 1, 2), weights, shares)  # of the factors in the basis Q
        values, vectors = np.linalg.eigh(spreads)
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        basis = projection.T / scales[:, None] ** 2  # from the coordinates Q' x back to columns
        return self.covariances[0], basis @ roots

    def log_density(self, values: Floats, observed: Positions) -> Floats:
        if not self.loadings.shape[2]:
            return super().log_density(values, observed)
        metric, noise = self._observed_whiteners(observed), self.covariances[0, observed]
        means = self.means[:, observed]
        white = (values - means[0]) / np.sqrt(noise)
        seen, centres = metric.projected(values - means[0]), metric.projected(means - means[0])
        # Outside of the common space all components are equal.
        outside = np.einsum("nd,nd->n", white, white) - np.einsum("nq,nq->n", seen, seen)
        log_dets = np.log(np.diagonal(metric.whiteners, axis1=1, axis2=2)).sum(axis=1)
        log_density = np.empty((len(values), len(self.means)))
        for k, W in enumerate(metric.whiteners):
            distances = (seen - centres[k]) @ W.T
            log_density[:, k] = log_dets[k] - 0.5 * np.einsum("nq,nq->n", distances, distances)
        constant = values.shape[1] * LOG_2PI + np.log(noise).sum()
        return log_density - 0.5 * (constant + np.maximum(outside, 0.0))[:, None]

    def n_parameters(self) -> Floats:
        q = self.loadings.shape[2]
        return np.full(len(self.means), q * (q + 1) / 2)


GAUSSIANS: dict[CovarianceType, type[Gaussians]] = {
    CovarianceType.FULL: MatrixGaussians,
    CovarianceType.TIED: MatrixGaussians,
    CovarianceType.DIAG: DiagonalGaussians,
    CovarianceType.SPHERICAL: DiagonalGaussians,
    CovarianceType.FACTOR: FactorGaussians,
    CovarianceType.COMMON: CommonGaussians,
}


def _with_constants(whiteners: Metric) -> tuple[Floats, Floats]:
    """Return whiteners (k, d, d) or (k, d), and the log density of each component at its mean."""
    found = np.ascontiguousarray(whiteners)
    scales = np.diagonal(found, axis1=1, axis2=2) if found.ndim == 3 else found
    return found, np.log(scales).sum(axis=1) - 0.5 * found.shape[1] * LOG_2PI


def _whiteners_in(projection: Floats, loadings: Floats) -> ProjectedWhiteners:
    """Whiteners of components with given loadings in coordinates in which the noise has unit covariance."""
    seen = projection @ loadings  # (k, q, q)
    covariances = seen @ np.swapaxes(seen, 1, 2) + np.eye(len(projection))
    return ProjectedWhiteners(projection, read_only(inverse_factors(covariances)))


def thin(loadings: Floats) -> Floats:  # (k, d, min(q, d))
    """Give loadings L with the same L L', no more of them than columns.

    >>> thin(np.array([[[3.0, 4.0]]]))
    array([[[5.]]])
    """
    if loadings.shape[2] <= loadings.shape[1]:
        return loadings
    vectors, sizes, _ = np.linalg.svd(loadings, full_matrices=False)
    signs = np.where(vectors.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    return vectors * signs * sizes[:, None, :]


def read_only(array: Floats) -> Floats:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def _between(covariances: Floats, weights: Floats, shares: Floats) -> Floats:
    """Move each covariance to the weighted mean by its share."""
    mean = np.tensordot(weights, covariances, axes=1)
    if shares.ndim:
        shares = shares.reshape(-1, *(1,) * mean.ndim)
    return (1 - shares) * covariances + shares * mean
