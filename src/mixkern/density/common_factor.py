r"""Factors that all components share: coordinates in which a mixture of a wide table is fitted.

Mixtures of common factor analysers (Baek, McLachlan and Flack, 2010): x = A z + mu + e, where the noise e of the
columns is independent, and the factors z have a mixture distribution. Their posterior means under N(0, I),

.. math:: s(x) = M^{-1} A^T \Psi^{-1} (x - \mu), \quad G = A^T \Psi^{-1} A, \quad M = I + G,

are sufficient: the density of x is that of s times a factor that is the same for all components. So A and the noise
:math:`\Psi` are learned first, by a factor analysis of all rows, and then a mixture with full covariances of the q
columns s. A component :math:`N(m, S)` of s stems from factors with

.. math:: \xi = G^{-1} M m, \quad \Omega = G^{-1} M S M G^{-1} - G^{-1},

and is the Gaussian :math:`N(\mu + A \xi,\; A \Omega A^T + \Psi)` of x.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mixkern.density.block import Coordinates, gap_patterns
from mixkern.density.mixture import Mixture
from mixkern.typing import Floats


@dataclass(frozen=True)
class CommonFactors:
    """Coordinates of rows by the expected values of q factors; see :class:`~mixkern.density.block.Coordinates`."""

    centre: Floats  # mu, (d,)
    loadings: Floats  # A, (d, q)
    noise: Floats  # Psi, (d,)
    columns: Coordinates | None = None  # of the columns, in which the factors were learned

    @classmethod
    def of(cls, mixture: Mixture, columns: Coordinates | None = None) -> Self:
        """Take the factors of a mixture of one component with the covariance type "factor"."""
        assert mixture.loadings is not None, "only factors have loadings"
        return cls(mixture.means[0], mixture.loadings[0], mixture.covariances[0], columns)

    @classmethod
    def of_no_columns(cls) -> Self:
        """Give no factors, for tables of categories."""
        return cls(np.zeros(0), np.zeros((0, 0)), np.zeros(0))

    @property
    def n_columns(self) -> int:
        """Number of inner columns of a given prior: that of the factors."""
        return self.n_inner

    @property
    def n_inner(self) -> int:
        """Number of factors, q."""
        return self.loadings.shape[1]

    def inner(self, X: Floats) -> Floats:  # (n, q)
        """Give the expected factors of rows, given their observed columns."""
        rows = np.atleast_2d(X)
        factors = np.empty((len(rows), self.n_inner))
        for at, observed, _ in gap_patterns(rows):
            weighted = self.loadings[observed] / self.noise[observed, None]
            precision = np.eye(self.n_inner) + self.loadings[observed].T @ weighted  # M
            linear = (rows[np.ix_(at, observed)] - self.centre[observed]) @ weighted
            factors[at] = np.linalg.solve(precision, linear.T).T
        return factors if X.ndim == 2 else factors[0]

    def keeps_constants(self, X: Floats) -> bool:
        """Whether columns that had one value have no other value in further rows."""
        return self.columns is None or self.columns.keeps_constants(X)

    def inner_inverse_scale(self, inverse_scale: Floats) -> Floats:
        """Give W0^-1, which is that of the factors."""
        return inverse_scale

    def log_volume(self, X: Floats, weights: Floats | None) -> float:  # noqa: ARG002
        """Give the excess of a bound in inner coordinates: none, the bound is that of the factors."""
        return 0.0

    def outer(self, inner: Mixture) -> dict[str, Any]:
        """Give means, covariances and loadings in the table's columns of a mixture of the factors."""
        G = self.loadings.T @ (self.loadings / self.noise[:, None])
        inverse = np.linalg.inv(G)
        growth = np.eye(self.n_inner) + inverse  # G^-1 M
        spreads = growth @ inner.full_covariances @ growth.T - inverse  # Omega
        values, vectors = np.linalg.eigh((spreads + np.swapaxes(spreads, 1, 2)) / 2)
        # Narrower than the noise allows: a component of rows that happen to lie close together
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return {
            "means": self.centre + inner.means @ growth.T @ self.loadings.T,
            "covariances": self.noise,
            "loadings": self.loadings @ roots,
            "covariance_type": "common",
            "constant": () if self.columns is None else self.columns.constant,
        }
