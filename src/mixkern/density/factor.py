r"""Mixtures of factor analysers: the M-step, and the removal of factors that are not needed.

Within a component, x = W z + mu + e with factors z ~ N(0, I) and independent noise e_i ~ N(0, 1 / tau_i). Loadings and
mean of column i, w~_i = (w_i, mu_i), are Gaussian given tau_i, which is Gamma distributed:

.. math::
    p(\tilde w_i | \tau_i) = N(\tilde m_{0i}, (\tau_i A)^{-1}), \quad A = diag(\alpha_1, ..., \alpha_q, \beta_0), \quad
    p(\tau_i) = Gamma(\nu_0 / 2, (W_0^{-1})_i / 2).

This prior is conjugate, so the posterior has the same form: one matrix P for all columns of a component. Without
factors it is the family of diagonal covariances. After Ghahramani and Beal (2000), with their independent priors of
loadings and noise replaced by conjugate ones. The relevance 1 / alpha_j of each factor maximises the bound, and factors
are removed where that raises the bound.

Legend: z~ = (z, 1); N, C, Y, s the sums of r, r <z~ z~'>, r x <z~>' and r x^2; T = diag(E[tau]); S = E[W' diag(tau) W];
M the posterior precision of z in a row without gaps.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import gammaln

from mixkern.density.factor_statistics import FactorStatistics
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.statistics import Statistics
from mixkern.typing import Floats, Positions

FEWEST_ROWS = 1e-6  # of a component, below which its factors are not moved


@dataclass(frozen=True)
class FactorPosterior(Posterior):
    """Posterior distribution of weights, means, loadings, noise and categories; ``means`` and ``loadings`` are w~."""

    loadings: Floats  # W, (k, d, q)
    spreads: Floats  # P^-1, (k, q + 1, q + 1); zero for removed factors
    log_volumes: Floats  # ln |P| - ln |A|, (k,)
    relevances: Floats  # 1 / alpha, (k, q); zero for removed factors
    mean_precision0: float  # beta0 in A
    most_factors: int

    @property
    def n_factors(self) -> int:
        """Largest number of factors of a component, q."""
        return self.loadings.shape[2]

    @property
    def rank(self) -> int:
        """Number of factors of all components together."""
        return int((self.relevances > 0).sum())

    @cached_property
    def weighted_loadings(self) -> Floats:  # (k, d, q)
        """T W."""
        return self.precisions[:, :, None] * self.loadings

    @cached_property
    def loading_moments(self) -> Floats:  # (k, q, q)
        """S = E[W' diag(tau) W] = W' T W + d (P^-1)_zz."""
        return _loading_moments(self.loadings, self.weighted_loadings, self.spreads)

    @cached_property
    def cross_spreads(self) -> Floats:  # (k, q)
        """D (P^-1)_z mu, which the uncertainty of loadings and means adds to the factors of each row."""
        return self.means.shape[1] * self.spreads[:, :-1, -1]

    @cached_property
    def factor_precisions(self) -> Floats:  # (k, q, q)
        """M = I + S."""
        return np.eye(self.n_factors) + self.loading_moments

    def _mean_divergences(self, prior: Prior) -> Floats:  # (k,)
        """Divergence of w~ from its prior, averaged over tau."""
        d, q = self.loadings.shape[1:]
        is_there = self.relevances > 0
        alphas = np.divide(1.0, self.relevances, out=np.zeros_like(self.relevances), where=is_there)
        diagonals = np.diagonal(self.spreads, axis1=1, axis2=2)
        traces = (alphas * diagonals[:, :q]).sum(axis=1) + prior.mean_precision * diagonals[:, q]
        squares = (alphas * np.einsum("kdq,kdq->kq", self.weighted_loadings, self.loadings)).sum(axis=1)
        squares += prior.mean_precision * self.precision.quadratic(self.precisions, self.means - prior.mean)
        log_volumes = self.log_volumes + np.log(self.mean_precision0 / prior.mean_precision)  # with the present beta0
        return 0.5 * (d * (traces - is_there.sum(axis=1) - 1 + log_volumes) + squares)

    def keep(self, components: Positions) -> Self:
        """Give the posterior of some of the components."""
        return replace(
            super().keep(components),
            loadings=self.loadings[components],
            spreads=self.spreads[components],
            log_volumes=self.log_volumes[components],
            relevances=self.relevances[components],
        )

    def _loadings(self) -> Floats:  # (k, d, q)
        rank = int((self.relevances > 0).sum(axis=1).max(initial=0))
        order = np.argsort(-self.relevances, axis=1, kind="stable")[:, :rank]
        return np.take_along_axis(self.loadings, order[:, None, :], axis=2)


@dataclass(frozen=True)
class FactorPrior(Prior):
    """Prior distribution of weights, means, loadings, noise and categories."""

    most_factors: int  # of a component
    most_mean_precision: float  # largest beta0

    def posterior(self, statistics: Statistics) -> FactorPosterior:
        """M-step, and the relevances that then maximise the bound."""
        assert isinstance(statistics, FactorStatistics)
        counts, q = statistics.counts, statistics.n_factors
        fit = _Regression.of(statistics, self)
        expected = self.precision.expected(fit.degrees, fit.inverse_scales)
        loadings = fit.coefficients[:, :, :q]
        moments = _loading_moments(loadings, expected[:, :, None] * loadings, fit.spreads)
        relevances = np.diagonal(moments, axis1=1, axis2=2) / max(loadings.shape[1], 1)  # d / alpha_j = S_jj
        ratios = np.divide(relevances, statistics.relevances, out=np.ones_like(relevances), where=relevances > 0)
        return FactorPosterior(
            precision=self.precision,
            concentrations=self.concentration + counts,
            means=statistics.origins + fit.coefficients[:, :, q],
            mean_precisions=1 / fit.spreads[:, q, q],
            degrees=fit.degrees,
            inverse_scales=fit.inverse_scales,
            category_concentrations=tuple(self.category_concentration + table for table in statistics.category_counts),
            loadings=loadings,
            spreads=fit.spreads,
            log_volumes=fit.log_volumes + np.log(ratios).sum(axis=1),
            relevances=relevances,
            mean_precision0=self.mean_precision,
            most_factors=statistics.most_factors,
        )

    @property
    def mean_precision_limit(self) -> float:
        """Largest beta0, below which it maximises the bound.

        The prior expects means within one deviation of the noise from m0, in each column. Factors explain most of the
        variance, so that the noise is small and means are far away in units of it.
        """
        return self.most_mean_precision

    def aligned(self, statistics: Statistics, *, removes: bool = True) -> Statistics:
        """Remove factors that are not needed, and give the others the coordinates in which the bound is highest.

        The bound does not fall: moving z and W together leaves the likelihood as it is, so that the best coordinates
        follow from the divergences alone (Luttinen and Ilin, 2010): <z z'> has the mean I, and S is diagonal, its
        largest entry first.
        """
        assert isinstance(statistics, FactorStatistics)
        if removes:
            statistics = statistics.truncated(self.ranks(statistics))
        return statistics.transformed(*self._coordinates(statistics)) if statistics.n_factors else statistics

    def ranks(self, statistics: FactorStatistics) -> Positions:  # (k,)
        """Give the number of factors of each component with which the bound is highest after the M-step.

        The first factors stay, and their q(z).
        """
        bounds = self.bounds_by_rank(statistics)
        # Of equally good ones the smallest
        return np.argmax(bounds, axis=1)

    def bounds_by_rank(self, statistics: FactorStatistics) -> Floats:  # (k, q + 1)
        """Part of the bound of each component with its first 0, 1, ..., q factors, responsibilities and q(z) given."""
        fit = _Regression.of(statistics, self)
        logs = fit.log_inverse_scales_by_rank()
        diagonals = np.diagonal(statistics.factor_squares, axis1=1, axis2=2)
        each = 0.5 * (diagonals - statistics.counts[:, None] + statistics.log_pivots)  # divergence of q(z) from N(0, I)
        factors = np.hstack([np.zeros((len(each), 1)), np.cumsum(each, axis=1)])
        d = statistics.sums.shape[1]
        return -0.5 * d * fit.log_volumes_by_rank - 0.5 * fit.degrees[:, None] * logs - factors

    def _coordinates(self, statistics: FactorStatistics) -> tuple[Floats, Floats, Floats]:
        """Give shifts, turns and relevances of the best coordinates."""
        fit, q, d = _Regression.of(statistics, self), statistics.n_factors, statistics.sums.shape[1]
        expected = self.precision.expected(fit.degrees, fit.inverse_scales)
        loadings, offsets = fit.coefficients[:, :, :q], fit.coefficients[:, :, q] + statistics.origins - self.mean
        weighted = expected[:, :, None] * loadings
        moments = _loading_moments(loadings, weighted, fit.spreads)  # S
        is_moved = statistics.counts > FEWEST_ROWS
        n = np.where(is_moved, statistics.counts, 1.0)[:, None, None]
        pulls = np.einsum("kdq,kd->kq", weighted, offsets) + d * fit.spreads[:, :q, q]
        # Maximum over b of N <z>'b - N b'b / 2 - beta0 E[sum tau (mu + W b - m0)^2] / 2
        target = statistics.factor_sums - self.mean_precision * pulls
        shifts = np.linalg.solve(n * np.eye(q) + self.mean_precision * moments, target[:, :, None])[:, :, 0]
        shifts = shifts * is_moved[:, None]
        cross = shifts[:, :, None] * statistics.factor_sums[:, None, :]
        squares = statistics.factor_squares - cross - np.swapaxes(cross, 1, 2)
        squares = squares / n + shifts[:, :, None] * shifts[:, None, :]
        squares = np.where(is_moved[:, None, None], squares, np.eye(q))  # G, the mean of <z z'>
        turns, sizes = _diagonalising(squares, moments)
        n_there = (statistics.relevances > 0).sum(axis=1)
        return shifts, turns, np.where(np.arange(q) < n_there[:, None], sizes / max(d, 1), 0.0)

    def log_evidences(self, statistics: FactorStatistics) -> Floats:  # (k,)
        """Part of the bound of each component, with its responsibilities and q(z) held fixed."""
        d = statistics.sums.shape[1]
        shapes = self.precision.degrees(self.degrees, statistics.counts) / 2
        prior = self.precision.log_normaliser(self.degrees, self.inverse_scale)
        return self.bounds_by_rank(statistics)[:, -1] + prior + d * (gammaln(shapes) + shapes * np.log(2))

    def merger_gains(self, statistics: Statistics, first: Positions, second: Positions) -> tuple[Floats, ...]:
        """Give the gain in the bound of means, loadings and noise if pairs of components are merged."""
        assert isinstance(statistics, FactorStatistics)
        alone = self.log_evidences(statistics)
        together = [self.log_evidences(pairs) for pairs in statistics.pairs(first, second)]
        return (np.concatenate([np.zeros(0), *together]) - alone[first] - alone[second],)


@dataclass(frozen=True)
class _Regression:
    """The M-step: regression of each column on the factors and a constant, of all components at once.

    One triangular factor, with the constant first, gives the results with the first 0, 1, ..., q factors too.
    """

    coefficients: Floats  # w~ about the origins, (k, d, q + 1)
    spreads: Floats  # P^-1, (k, q + 1, q + 1)
    log_volumes_by_rank: Floats  # ln |P| - ln |A|, (k, q + 1)
    degrees: Floats  # (k,)
    inverse_scale0: Floats  # 2 b0, (d,)
    totals: Floats  # s + m~0' A m~0, (k, d)
    white: Floats  # (k, q + 1, d); its squares add up to w~' P w~

    @classmethod
    def of(cls, statistics: FactorStatistics, prior: Prior) -> Self:
        """P = A + C, w~ = P^-1 (Y + A m~0), b = b0 + (s + m~0' A m~0 - w~' P w~) / 2."""
        beta = prior.mean_precision
        last_first = np.roll(np.arange(statistics.n_factors + 1), 1)
        # A^-1/2 instead of A: a removed factor has zero there, and no infinity.
        roots = np.sqrt(np.hstack([np.full((len(statistics.counts), 1), 1 / beta), statistics.relevances]))
        moments = statistics.moments[:, last_first][:, :, last_first]
        scaled = np.eye(roots.shape[1]) + roots[:, :, None] * moments * roots[:, None, :]
        factor = np.linalg.cholesky(scaled)
        whitener = np.linalg.solve(factor, np.broadcast_to(np.eye(roots.shape[1]), factor.shape)) * roots[:, None, :]
        offsets = prior.mean - statistics.origins  # m0 about the origins
        sums = statistics.sums + beta * offsets
        targets = np.concatenate([sums[:, :, None], statistics.products], axis=2)
        white = whitener @ np.swapaxes(targets, 1, 2)
        back = np.roll(np.arange(statistics.n_factors + 1), -1)
        return cls(
            coefficients=(np.swapaxes(white, 1, 2) @ whitener)[:, :, back],
            spreads=(np.swapaxes(whitener, 1, 2) @ whitener)[:, back][:, :, back],
            log_volumes_by_rank=2 * np.cumsum(np.log(np.diagonal(factor, axis1=1, axis2=2)), axis=1),
            degrees=prior.precision.degrees(prior.degrees, statistics.counts),
            inverse_scale0=prior.inverse_scale,
            totals=statistics.squares + beta * offsets**2,
            white=white,
        )

    @property
    def log_volumes(self) -> Floats:  # (k,)
        """Give ln |P| - ln |A| with all factors."""
        return self.log_volumes_by_rank[:, -1]

    @cached_property
    def inverse_scales(self) -> Floats:  # (k, d)
        """2 b with all factors."""
        explained = np.einsum("kqd,kqd->kd", self.white, self.white)
        return self.inverse_scale0 + np.maximum(self.totals - explained, 0.0)

    def log_inverse_scales_by_rank(self) -> Floats:  # (k, q + 1)
        """Logarithms of 2 b with the first 0, 1, ..., q factors, summed over the columns."""
        rest = np.cumsum(self.white**2, axis=1)
        np.subtract(self.totals[:, None, :], rest, out=rest)
        np.maximum(rest, 0.0, out=rest)
        rest += self.inverse_scale0
        return np.log(rest, out=rest).sum(axis=2)


def _loading_moments(loadings: Floats, weighted: Floats, spreads: Floats) -> Floats:  # (k, q, q)
    moments = np.swapaxes(loadings, 1, 2) @ weighted + loadings.shape[1] * spreads[:, :-1, :-1]
    return (moments + np.swapaxes(moments, 1, 2)) / 2


def _diagonalising(squares: Floats, moments: Floats) -> tuple[Floats, Floats]:  # (k, q, q), (k, q)
    """Give R with R G R' = I and diagonal R^-T S R^-1, and that diagonal, largest first."""
    values, vectors = np.linalg.eigh(squares)
    values = np.maximum(values, np.finfo(float).tiny)
    root = (vectors * np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)  # G^1/2
    back = (vectors / np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    inner = root @ moments @ root
    sizes, axes = np.linalg.eigh((inner + np.swapaxes(inner, 1, 2)) / 2)
    return np.swapaxes(axes[:, :, ::-1], 1, 2) @ back, np.maximum(sizes[:, ::-1], np.finfo(float).tiny)
