"""Variational inference of a mixture: Bishop, *Pattern Recognition and Machine Learning*, section 10.2.

Legend: alpha Dirichlet concentrations; m, beta mean of a component and its precision in units of Lambda; nu, W degrees
of freedom and scale of the Wishart distribution of the precision Lambda; a zero marks the prior. Categories are
Dirichlet distributed, one distribution per component and column.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import digamma, gammaln

from mixkern.density.covariance import Precision
from mixkern.density.mixture import LOG_2PI, Mixture
from mixkern.density.statistics import Statistics
from mixkern.engine import Components
from mixkern.typing import Floats, Positions


@dataclass(frozen=True)
class Prior:
    """Prior distribution of weights, means, precisions and categories."""

    precision: Precision
    concentration: float  # alpha0
    mean: Floats  # m0, (d,)
    mean_precision: float  # beta0
    degrees: float  # nu0
    inverse_scale: Floats  # W0^-1, (d, d) or (d,)
    category_concentration: float

    def posterior(self, statistics: Statistics) -> "Posterior":
        """M-step: the posterior given the statistics of the rows, (10.58) to (10.63)."""
        counts = statistics.counts
        mean_precisions = self.mean_precision + counts  # (10.60)
        offsets = statistics.means - self.mean
        shrinkage = self.mean_precision * counts / mean_precisions
        return Posterior(
            precision=self.precision,
            concentrations=self.concentration + counts,  # (10.58)
            means=self.mean + offsets * (counts / mean_precisions)[:, None],  # (10.61)
            mean_precisions=mean_precisions,
            degrees=self.precision.degrees(self.degrees, counts),
            inverse_scales=self.precision.inverse_scales(self.inverse_scale, statistics.scatters, shrinkage, offsets),
            category_concentrations=tuple(self.category_concentration + table for table in statistics.category_counts),
        )

    @property
    def mean_precision_limit(self) -> float | None:
        """Largest beta0, below which it maximises the bound; None where it is fixed."""
        return None

    def aligned(self, statistics: Statistics, *, removes: bool = True) -> Statistics:  # noqa: ARG002
        """Give statistics in the coordinates that the M-step takes, without factors that are not needed."""
        return statistics

    def merger_gains(self, statistics: Statistics, first: Positions, second: Positions) -> tuple[Floats, ...]:
        """Give terms of the gain in log evidence of means and precisions if pairs of components are merged."""
        both = statistics.keep(first) + statistics.keep(second)
        alone, together = self._log_evidence_of_means(statistics), self._log_evidence_of_means(both)
        precisions = self.precision.merger_gains(
            self.degrees,
            self.inverse_scale,
            statistics.counts,
            self._spreads(statistics),
            both.counts,
            self._spreads(both),
            first,
            second,
        )
        return together - alone[first] - alone[second], precisions

    def _spreads(self, statistics: Statistics) -> Floats:
        shrinkage = self.mean_precision * statistics.counts / (self.mean_precision + statistics.counts)
        return self.precision.spreads(statistics.scatters, shrinkage, statistics.means - self.mean)

    def _log_evidence_of_means(self, statistics: Statistics) -> Floats:
        d = statistics.sums.shape[1]
        return 0.5 * d * np.log(self.mean_precision / (self.mean_precision + statistics.counts))


@dataclass(frozen=True)
class Posterior:
    """Posterior distribution of weights, means, precisions and categories."""

    precision: Precision
    concentrations: Floats  # alpha, (k,)
    means: Floats  # m, (k, d)
    mean_precisions: Floats  # beta, (k,)
    degrees: Floats  # nu, (k,) or (1,)
    inverse_scales: Floats  # W^-1, (k, d, d) or (k, d), or with k = 1 if tied
    category_concentrations: tuple[Floats, ...]  # (k, n_categories) each

    @property
    def n_components(self) -> int:
        """Number of components, k."""
        return len(self.concentrations)

    @property
    def n_factors(self) -> int:
        """Largest number of factors of a component."""
        return 0

    @property
    def rank(self) -> int:
        """Number of factors of all components together."""
        return 0

    @cached_property
    def precisions(self) -> Floats:
        """Expected precisions nu W, one per component."""
        expected = self.precision.expected(self.degrees, self.inverse_scales)
        return np.broadcast_to(expected, (self.n_components, *expected.shape[1:]))

    @cached_property
    def components(self) -> Components:
        """The components as the engine takes them: ln rho_nk, (10.46), is that of Gaussians with other constants."""
        whiteners = self.precision.whiteners(self.degrees, self.inverse_scales)
        whiteners = np.broadcast_to(whiteners, (self.n_components, *whiteners.shape[1:]))
        return Components(self.means, whiteners, self.log_constants)

    @cached_property
    def log_weights(self) -> Floats:  # (k,)
        """E[ln pi], (10.66)."""
        log_weights: Floats = digamma(self.concentrations) - digamma(self.concentrations.sum())
        return log_weights

    @cached_property
    def log_categories(self) -> tuple[Floats, ...]:
        """E[ln theta] for each categorical column, the same equation."""
        return tuple(
            digamma(table) - digamma(table.sum(axis=1, keepdims=True)) for table in self.category_concentrations
        )

    @cached_property
    def log_constants(self) -> Floats:  # (k,)
        """Value of ln rho_nk, (10.46), at the component's mean."""
        d = self.means.shape[1]
        log_det = self.precision.expected_log_det(self.degrees, self.inverse_scales)
        # The d / beta of (10.64) is the uncertainty of the mean.
        return self.log_weights + 0.5 * (log_det - d * LOG_2PI - d / self.mean_precisions)

    def divergence(self, prior: Prior) -> float:
        """Kullback-Leibler divergence from the prior: the complexity term of the bound."""
        total = self.weight_divergence(prior)
        total += float(self._mean_divergences(prior).sum())
        total += float(
            self.precision.divergence(self.degrees, self.inverse_scales, prior.degrees, prior.inverse_scale).sum()
        )
        for table in self.category_concentrations:
            total += sum(_dirichlet_divergence(row, np.full(len(row), prior.category_concentration)) for row in table)
        return total

    def weight_divergence(self, prior: Prior) -> float:
        """Give the part of the weights in the divergence."""
        return _dirichlet_divergence(self.concentrations, np.full(self.n_components, prior.concentration))

    def _mean_divergences(self, prior: Prior) -> Floats:  # (k,)
        """Divergence of N(m, (beta Lambda)^-1) from N(m0, (beta0 Lambda)^-1), averaged over Lambda."""
        d = self.means.shape[1]
        ratio = prior.mean_precision / self.mean_precisions
        distance = self.precision.quadratic(self.precisions, self.means - prior.mean)
        return 0.5 * (d * (ratio - 1 - np.log(ratio)) + prior.mean_precision * distance)

    def keep(self, components: Positions) -> Self:
        """Give the posterior of some of the components."""
        is_shared = len(self.degrees) < self.n_components
        return replace(
            self,
            concentrations=self.concentrations[components],
            means=self.means[components],
            mean_precisions=self.mean_precisions[components],
            degrees=self.degrees if is_shared else self.degrees[components],
            inverse_scales=self.inverse_scales if is_shared else self.inverse_scales[components],
            category_concentrations=tuple(table[components] for table in self.category_concentrations),
        )

    def mixture(self) -> Mixture:
        """Give the expected parameters as a value; covariances are inverse expected precisions."""
        return Mixture(
            weights=self.concentrations / self.concentrations.sum(),
            means=self.means,
            covariances=self.precision.covariances(self.degrees, self.inverse_scales),
            covariance_type=self.precision.covariance_type,
            categories=[table / table.sum(axis=1, keepdims=True) for table in self.category_concentrations],
            loadings=self._loadings(),
        )

    def _loadings(self) -> Floats | None:  # (k, d, q)
        """Give the loadings of the factors, where components have them."""
        return None


def _dirichlet_divergence(concentrations: Floats, concentrations0: Floats) -> float:
    """Kullback-Leibler divergence of one Dirichlet distribution from another."""
    total, total0 = concentrations.sum(), concentrations0.sum()
    normalisers = gammaln(total) - gammaln(total0) + np.sum(gammaln(concentrations0) - gammaln(concentrations))
    spread = (concentrations - concentrations0) @ (digamma(concentrations) - digamma(total))
    return float(normalisers + spread)
