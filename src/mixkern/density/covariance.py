r"""Covariance families: the distribution of a component's precision for each kind of covariance.

Legend (Bishop, *Pattern Recognition and Machine Learning*, section 10.2 and appendix B): nu degrees of freedom, W scale
matrix, Lambda precision. Inverse scales W^-1 are kept, because data add to them. Diagonal precisions are independent
Gamma variables, one per column (the Wishart distribution in one dimension), spherical ones a single Gamma variable;
both keep E[Lambda] = nu W.

Arrays are (k, d, d) for matrices and (k, d) for diagonals; tied precisions have k = 1.
"""

from abc import ABC, abstractmethod
from enum import StrEnum

import numpy as np
from scipy.special import digamma, gammaln

from mixkern.errors import MixtureError
from mixkern.typing import Floats, Positions

LOG_2 = float(np.log(2))


class CovarianceType(StrEnum):
    """Kind of the components' covariances, with the shapes that scikit-learn uses."""

    FULL = "full"  # (k, d, d)
    TIED = "tied"  # (d, d), one for all components
    DIAG = "diag"  # (k, d)
    SPHERICAL = "spherical"  # (k,)
    FACTOR = "factor"  # (k, d), the noise of each column, beside loadings of shape (k, d, q)
    COMMON = "common"  # (d,), the noise of each column in all components, beside loadings of shape (k, d, q)

    @property
    def is_diagonal(self) -> bool:
        """Whether columns are independent within a component."""
        return self in (CovarianceType.DIAG, CovarianceType.SPHERICAL)

    @property
    def has_vectors(self) -> bool:
        """Whether precisions are vectors: those of independent columns, or of their independent noise."""
        return self.is_diagonal or self.has_loadings

    @property
    def has_loadings(self) -> bool:
        """Whether covariances are loadings of factors and the noise of each column."""
        return self in (CovarianceType.FACTOR, CovarianceType.COMMON)

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        """Give the shape of k covariances in d columns."""
        shapes = {
            "full": (k, d, d),
            "tied": (d, d),
            "diag": (k, d),
            "spherical": (k,),
            "factor": (k, d),
            "common": (d,),
        }
        return shapes[self.value]


class Precision(ABC):
    """Equations in which the kinds of covariance differ."""

    covariance_type: CovarianceType

    def fewest_degrees(self, d: int) -> float:
        """Give the number that degrees of freedom must exceed; one more is the default, a vague prior."""
        return 0.0 if self.covariance_type.has_vectors else max(d, 1) - 1.0

    def degrees(self, degrees0: float, counts: Floats) -> Floats:
        """Degrees of freedom of the posterior, (10.63)."""
        return degrees0 + counts

    @abstractmethod
    def spreads(self, scatters: Floats, shrinkage: Floats, offsets: Floats) -> Floats:
        """Give the part of W^-1 that comes from rows, (10.62): scatter, and shrinkage times squared offset from m0."""

    def inverse_scales(self, inverse_scale0: Floats, scatters: Floats, shrinkage: Floats, offsets: Floats) -> Floats:
        """W^-1 of the posterior, (10.62)."""
        return inverse_scale0 + self.spreads(scatters, shrinkage, offsets)

    def merger_gains(
        self,
        degrees0: float,
        inverse_scale0: Floats,
        counts: Floats,
        spreads: Floats,
        both_counts: Floats,
        both_spreads: Floats,
        first: Positions,
        second: Positions,
    ) -> Floats:
        """Give the gain in log evidence of the precisions if the first and second of each pair are merged."""
        prior = self.log_normaliser(degrees0, inverse_scale0)
        alone = prior - self.log_normaliser(degrees0 + counts, inverse_scale0 + spreads)
        together = prior - self.log_normaliser(degrees0 + both_counts, inverse_scale0 + both_spreads)
        return together - alone[first] - alone[second]

    @abstractmethod
    def expected(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        """E[Lambda] = nu W, (B.80)."""

    @abstractmethod
    def whiteners(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        """Give lower triangular matrices V, or diagonals, with V'V = E[Lambda]."""

    @abstractmethod
    def expected_log_det(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        """E[ln |Lambda|], (10.65)."""

    @abstractmethod
    def divergence(self, degrees: Floats, inverse_scales: Floats, degrees0: float, inverse_scale0: Floats) -> Floats:
        """Kullback-Leibler divergence of each posterior from the prior."""

    @abstractmethod
    def log_normaliser(self, degrees: float | Floats, inverse_scales: Floats) -> Floats:
        """Logarithm of B(W, nu), (B.79), of one distribution or of each of many."""

    @abstractmethod
    def quadratic(self, precisions: Floats, offsets: Floats) -> Floats:  # (k,)
        """Square x' Lambda x of each component's offset x."""

    @abstractmethod
    def log_det(self, matrices: Floats) -> Floats:
        """Logarithm of the determinant of each matrix."""

    @abstractmethod
    def invert(self, matrices: Floats) -> Floats:
        """Invert each matrix."""

    @abstractmethod
    def isotropic(self, variance: float, d: int) -> Floats:
        """Give one matrix with the same variance in every direction."""

    @abstractmethod
    def covariances(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        """Inverse expected precisions, in the shapes of :class:`Mixture`."""


class FullPrecision(Precision):
    """Wishart distributed matrices, one per component."""

    covariance_type = CovarianceType.FULL

    def spreads(self, scatters: Floats, shrinkage: Floats, offsets: Floats) -> Floats:
        return scatters + shrinkage[:, None, None] * offsets[:, :, None] * offsets[:, None, :]

    def expected(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return degrees[:, None, None] * self.invert(inverse_scales)

    def whiteners(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return np.sqrt(degrees)[:, None, None] * inverse_factors(inverse_scales)

    def expected_log_det(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        d = inverse_scales.shape[-1]
        halves = (degrees[:, None] - np.arange(d)) / 2
        log_det: Floats = digamma(halves).sum(axis=1) + d * LOG_2 - self.log_det(inverse_scales)
        return log_det

    def divergence(self, degrees: Floats, inverse_scales: Floats, degrees0: float, inverse_scale0: Floats) -> Floats:
        d = inverse_scales.shape[-1]
        log_b = self.log_normaliser(degrees, inverse_scales)
        trace = np.einsum("ij,kji->k", inverse_scale0, self.expected(degrees, inverse_scales))
        entropy_like = 0.5 * (degrees - degrees0) * self.expected_log_det(degrees, inverse_scales)
        return log_b - self.log_normaliser(degrees0, inverse_scale0) + entropy_like + 0.5 * (trace - degrees * d)

    def log_normaliser(self, degrees: float | Floats, inverse_scales: Floats) -> Floats:
        d = inverse_scales.shape[-1]
        nu = np.asarray(degrees, dtype=float)
        log_gamma = gammaln((nu[..., None] - np.arange(d)) / 2).sum(axis=-1) + 0.25 * d * (d - 1) * np.log(np.pi)
        log_b: Floats = 0.5 * nu * (self.log_det(inverse_scales) - d * LOG_2) - log_gamma
        return log_b

    def quadratic(self, precisions: Floats, offsets: Floats) -> Floats:
        return np.einsum(
            "ki,kij,kj->k", offsets, np.broadcast_to(precisions, (len(offsets), *precisions.shape[1:])), offsets
        )

    def log_det(self, matrices: Floats) -> Floats:
        return np.linalg.slogdet(matrices)[1]

    def invert(self, matrices: Floats) -> Floats:
        inverse: Floats = np.asarray(np.linalg.inv(matrices), dtype=float)
        return (inverse + np.swapaxes(inverse, -1, -2)) / 2  # rounding makes it slightly asymmetric

    def isotropic(self, variance: float, d: int) -> Floats:
        return variance * np.eye(d)

    def covariances(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return inverse_scales / degrees[:, None, None]


class TiedPrecision(FullPrecision):
    """One Wishart distributed matrix for all components, estimated from all rows."""

    covariance_type = CovarianceType.TIED

    def degrees(self, degrees0: float, counts: Floats) -> Floats:
        return np.array([degrees0 + counts.sum()])

    def inverse_scales(self, inverse_scale0: Floats, scatters: Floats, shrinkage: Floats, offsets: Floats) -> Floats:
        return (inverse_scale0 + self.spreads(scatters, shrinkage, offsets).sum(axis=0))[None]

    def merger_gains(
        self,
        degrees0: float,
        inverse_scale0: Floats,
        counts: Floats,
        spreads: Floats,
        both_counts: Floats,  # noqa: ARG002
        both_spreads: Floats,
        first: Positions,
        second: Positions,
    ) -> Floats:
        degrees, now = degrees0 + counts.sum(), inverse_scale0 + spreads.sum(axis=0)
        then = now + both_spreads - spreads[first] - spreads[second]
        return self.log_normaliser(degrees, now) - self.log_normaliser(degrees, then)

    def covariances(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return inverse_scales[0] / degrees[0]


class DiagPrecision(Precision):
    """Gamma distributed precisions, one per component and column."""

    covariance_type = CovarianceType.DIAG

    def spreads(self, scatters: Floats, shrinkage: Floats, offsets: Floats) -> Floats:
        return scatters + shrinkage[:, None] * offsets**2

    def expected(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return degrees[:, None] / inverse_scales

    def whiteners(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return np.sqrt(self.expected(degrees, inverse_scales))

    def expected_log_det(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        shape, rates = self._gamma(degrees[:, None], inverse_scales)
        log_det: Floats = np.sum(digamma(shape) - np.log(rates), axis=1)
        return log_det

    def divergence(self, degrees: Floats, inverse_scales: Floats, degrees0: float, inverse_scale0: Floats) -> Floats:
        shape, rate = self._gamma(degrees[:, None], inverse_scales)
        shape0, rate0 = self._gamma(np.array(degrees0), inverse_scale0)
        each = (
            (shape - shape0) * digamma(shape)
            - gammaln(shape)
            + gammaln(shape0)
            + shape0 * (np.log(rate) - np.log(rate0))
            + shape * (rate0 / rate - 1)
        )
        divergence: Floats = np.sum(np.broadcast_to(each, inverse_scales.shape), axis=1) / self._copies(inverse_scales)
        return divergence

    def log_normaliser(self, degrees: float | Floats, inverse_scales: Floats) -> Floats:
        shape, rate = self._gamma(np.asarray(degrees, dtype=float)[..., None], inverse_scales)
        log_b: Floats = np.sum(shape * np.log(rate) - gammaln(shape), axis=-1) / self._copies(inverse_scales)
        return log_b

    def quadratic(self, precisions: Floats, offsets: Floats) -> Floats:
        return np.einsum("kj,kj->k", precisions, offsets**2)

    def log_det(self, matrices: Floats) -> Floats:
        log_det: Floats = np.log(matrices).sum(axis=-1)
        return log_det

    def invert(self, matrices: Floats) -> Floats:
        return 1 / matrices

    def isotropic(self, variance: float, d: int) -> Floats:
        return np.full(d, variance)

    def covariances(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        return inverse_scales / degrees[:, None]

    def _gamma(self, degrees: Floats, inverse_scales: Floats) -> tuple[Floats, Floats]:
        """Shape and rate of the Gamma distribution that equals a one-dimensional Wishart distribution."""
        return degrees / 2, inverse_scales / 2

    def _copies(self, inverse_scales: Floats) -> int:  # noqa: ARG002
        """Give the number of columns that share one variable."""
        return 1


class SphericalPrecision(DiagPrecision):
    """One Gamma distributed precision per component, estimated from all columns.

    Inverse scales are kept once per column, all equal.
    """

    covariance_type = CovarianceType.SPHERICAL

    def spreads(self, scatters: Floats, shrinkage: Floats, offsets: Floats) -> Floats:
        each = super().spreads(scatters, shrinkage, offsets)
        return np.broadcast_to(each.sum(axis=1, keepdims=True) / self._copies(each), each.shape)

    def covariances(self, degrees: Floats, inverse_scales: Floats) -> Floats:
        if not inverse_scales.shape[1]:  # only categories: any radius will do
            return np.ones(len(degrees))
        return inverse_scales[:, 0] / degrees

    def _gamma(self, degrees: Floats, inverse_scales: Floats) -> tuple[Floats, Floats]:
        copies = self._copies(inverse_scales)
        return copies * degrees / 2, copies * inverse_scales / 2

    def _copies(self, inverse_scales: Floats) -> int:
        return max(inverse_scales.shape[-1], 1)


class FactorPrecision(DiagPrecision):
    """Gamma distributed precisions of the noise around a few factors; see :mod:`mixkern.density.factor`."""

    covariance_type = CovarianceType.FACTOR


PRECISIONS: dict[CovarianceType, Precision] = {
    each.covariance_type: each
    for each in (FullPrecision(), TiedPrecision(), DiagPrecision(), SphericalPrecision(), FactorPrecision())
}


def inverse_factors(covariances: Floats) -> Floats:  # (k, d, d)
    """Invert the Cholesky factor of each covariance."""
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError as error:
        raise MixtureError(
            "A covariance matrix is not positive definite: a component has collapsed in some direction. "
            "Add a small variance to its diagonal."
        ) from error
    inverse: Floats = np.linalg.solve(factors, np.broadcast_to(np.eye(factors.shape[-1]), factors.shape))
    return np.tril(inverse)
