"""The coordinates in which the inference computes: centred, and every column of spread one.

The model does not depend on them, its digits do: values around 1e9, or columns of which one is a billion times wider
than the next, leave nothing for the spread within a component. Priors go in, the mixture and the bound come out, in the
table's own units.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mixkern.density.mixture import CovarianceType, Mixture
from mixkern.typing import Floats

RESOLUTION = 1e-10  # variance, in units of the table's, that rounding leaves intact
SMALLEST_SCALE = 1e-150  # whose square is still a number; below, a column is constant


@dataclass(frozen=True)
class Coordinates:
    """Centre and scale of each column."""

    centre: Floats  # (d,)
    scale: Floats  # (d,)

    @classmethod
    def of(cls, X: Floats, weights: Floats | None, kind: CovarianceType) -> Self:
        """Take mean and standard deviation of each column; where a sphere has to stay a sphere, one scale for all."""
        there = ~np.isnan(X)
        shares = there if weights is None else there * weights[:, None]
        count = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
        low = np.min(X, axis=0, where=there, initial=np.inf)
        low = np.where(np.isfinite(low), low, 0.0)  # a column of gaps
        above = np.where(there, X - low, 0.0)  # exact where values are close together
        mean = (shares * above).sum(axis=0) / count
        deviation = np.sqrt((shares * np.where(there, above - mean, 0.0) ** 2).sum(axis=0) / count)
        if kind is CovarianceType.SPHERICAL and len(deviation):
            deviation = np.full_like(deviation, np.sqrt(np.mean(deviation**2)))
        return cls(low + mean, np.where(deviation > SMALLEST_SCALE, deviation, 1.0))

    def inner(self, X: Floats) -> Floats:
        """Give rows in inner coordinates."""
        return (X - self.centre) / self.scale

    def inner_inverse_scale(self, inverse_scale: Floats) -> Floats:
        """Give W^-1 in inner coordinates.

        A prior far below the table's resolution would let components collapse along collinear columns, so variances
        have a floor.
        """
        if inverse_scale.ndim == 1:
            return np.maximum(inverse_scale / self.scale**2, RESOLUTION)
        inner: Floats = inverse_scale / np.outer(self.scale, self.scale)
        values, vectors = np.linalg.eigh(inner)
        if values.min(initial=np.inf) >= RESOLUTION:
            return inner
        return (vectors * np.maximum(values, RESOLUTION)) @ vectors.T

    def log_volume(self, X: Floats, weights: Floats | None) -> float:
        """Give what a bound in inner coordinates has too much: ln of every scale that a value was divided by."""
        there = ~np.isnan(X)
        count = there.sum(axis=0) if weights is None else weights @ there
        return float(count @ np.log(self.scale))

    def outer(self, mixture: Mixture) -> Mixture:
        """Give a mixture in the table's own coordinates."""
        kind, scale = mixture.covariance_type, self.scale
        if kind is CovarianceType.SPHERICAL:
            factor = scale[0] ** 2 if len(scale) else 1.0
        else:
            factor = scale**2 if kind is CovarianceType.DIAG else np.outer(scale, scale)
        return replace(mixture, means=mixture.means * scale + self.centre, covariances=mixture.covariances * factor)
