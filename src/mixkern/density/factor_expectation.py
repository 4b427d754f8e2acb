"""The E-step of mixtures of factor analysers: responsibilities, expected factors, and the sums of the M-step.

The factors of a row are integrated out, given the posterior of all parameters. With T = diag(E[tau]), P^-1 the
uncertainty of w~ = (w, mu) in units of the noise, and d columns,

    M = I + sum over observed i of E[tau_i] w_i w_i' + d (P^-1)_zz,   h = W'T (x - mu) - d (P^-1)_z mu,
    ln rho = E ln pi + 1/2 sum_i E ln tau_i - d/2 ln 2 pi - 1/2 [(x - mu)'T (x - mu) + d (P^-1)_mu mu]
             + 1/2 h' M^-1 h - 1/2 ln |M|,   <z> = M^-1 h,   <z z'> = <z><z>' + M^-1.

A gap is a latent variable beside z: its expectation is E[x_i - mu_i] = w_i <z>, its variance is
w_i' M^-1 w_i + 1 / E[tau_i], and the uncertainty P^-1 counts for all d columns, as in complete rows.
"""

import numpy as np

from mixkern.density.block import Block
from mixkern.density.factor import FactorPosterior
from mixkern.density.factor_statistics import FactorStatistics, pivots
from mixkern.density.mixture import LOG_2PI
from mixkern.density.responsibility import category_counts, features_of, log_categories, parameters_of, responsibilities
from mixkern.typing import Floats

NEGLIGIBLE = 1e-13  # share of a row, relative to the largest, below which its factors add nothing to the spread


class FactorExpectation:
    """E-step of single blocks, under one posterior."""

    def __init__(self, posterior: FactorPosterior, *, expand: bool) -> None:
        self.posterior = posterior
        self.expand = expand
        # With M = U U', g = U^-1 h: h' M^-1 h is the square of g, and <z> = U^-T g.
        self._log_pivots, factors = pivots(posterior.factor_precisions)
        self._roots: Floats = np.asarray(np.linalg.inv(factors), dtype=float)  # U^-1, (k, q, q)
        self._inverse: Floats = np.swapaxes(self._roots, 1, 2) @ self._roots
        if expand:
            self._origins = np.zeros_like(posterior.means)
            self._theta = parameters_of(posterior)
            self._theta[:, -1] -= 0.5 * self._log_pivots.sum(axis=1)
            self._is_there = posterior.relevances > 0
            self._owners = np.nonzero(self._is_there)[0]  # component of each factor
            self._half = 0.5 * (self._owners == np.arange(posterior.n_components)[:, None])  # (k, all factors)
            self._psi = self._factor_parameters()

    def _factor_parameters(self) -> Floats:  # (all factors, d + 1)
        """Coefficients of (x, 1) in g, for the factors of all components that were not removed."""
        posterior = self.posterior
        gains = self._roots @ np.swapaxes(posterior.weighted_loadings, 1, 2)  # (k, q, d)
        constants = np.einsum("kqd,kd->kq", gains, posterior.means)
        constants += np.einsum("kij,kj->ki", self._roots, posterior.cross_spreads)
        return np.concatenate([gains, -constants[:, :, None]], axis=2)[self._is_there]

    def __call__(self, block: Block) -> FactorStatistics:
        """Give the statistics of a block."""
        if not self.expand:
            return self.careful(block)
        if block.missing.size:
            return self.careful(block).about(self._origins)
        return self.expanded(block)

    def expanded(self, block: Block) -> FactorStatistics:
        """E-step of rows without gaps by products of matrices for all components together."""
        posterior = self.posterior
        k, d, q = posterior.loadings.shape
        features = features_of(block.values)  # x^2, x, 1
        linear = features[d:]
        log_rho = self._theta @ features
        g = self._psi @ linear  # of the factors of all components, one below the other
        log_rho += self._half @ (g * g)
        if posterior.category_concentrations:
            log_rho += log_categories(block, posterior)
        shares, log_normaliser = responsibilities(log_rho, block.weights)
        sums = shares @ features.T
        weighted = g * shares[self._owners]
        squares, products = np.zeros((k, q, q)), np.zeros((k, q, d + 1))
        products[self._is_there] = weighted @ linear.T
        for j, is_own in enumerate(self._is_there):
            own = slice(*np.searchsorted(self._owners, [j, j + 1]))
            squares[j][np.ix_(is_own, is_own)] = weighted[own] @ g[own].T
        products = np.swapaxes(products, 1, 2) @ self._roots  # (k, d + 1, q), from g to z
        return self._statistics(
            block,
            shares,
            log_normaliser,
            sums=sums[:, d:-1],
            squares=sums[:, :d],
            factor_sums=products[:, d],
            factor_squares=np.swapaxes(self._roots, 1, 2) @ squares @ self._roots,
            products=products[:, :d],
            origins=self._origins,
        )

    def _statistics(
        self, block: Block, shares: Floats, log_normaliser: float, *, factor_squares: Floats, **sums: Floats
    ) -> FactorStatistics:
        """Statistics of rows without gaps, to which M^-1 is common."""
        counts = shares.sum(axis=1)
        return FactorStatistics(
            counts=counts,
            category_counts=category_counts(block, shares, self.posterior),
            log_normaliser=log_normaliser,
            relevances=self.posterior.relevances,
            factor_squares=factor_squares + counts[:, None, None] * self._inverse,
            log_pivots=counts[:, None] * self._log_pivots,
            most_factors=self.posterior.most_factors,
            **sums,
        )

    def careful(self, block: Block) -> FactorStatistics:
        """E-step by differences from each component's mean; gaps are expected values."""
        posterior = self.posterior
        k = posterior.n_components
        rows = [_RowFactors(block, posterior, j) for j in range(k)]
        log_rho = posterior.log_constants[:, None] + log_categories(block, posterior)
        for j, each in enumerate(rows):
            log_rho[j] += each.log_density
        shares, log_normaliser = responsibilities(log_rho, block.weights)
        parts = [each.sums(share) for each, share in zip(rows, shares, strict=True)]
        sums = {name: np.array([part[name] for part in parts]) for name in parts[0]}
        return FactorStatistics(
            counts=shares.sum(axis=1),
            origins=posterior.means,
            category_counts=category_counts(block, shares, posterior),
            log_normaliser=log_normaliser,
            relevances=posterior.relevances,
            most_factors=posterior.most_factors,
            **sums,
        )


class _RowFactors:
    """Expected factors of the rows of a block in one component."""

    def __init__(self, block: Block, posterior: FactorPosterior, k: int) -> None:
        self.loadings, self.noise = posterior.loadings[k], 1 / posterior.precisions[k]
        weighted = posterior.weighted_loadings[k]
        deviation = block.values - posterior.means[k, :, None]
        self.has_gaps = bool(block.missing.size)
        if self.has_gaps:
            self.is_gap = np.isnan(deviation)
            deviation[self.is_gap] = 0.0
        self.deviation = deviation  # (d, n)
        self.precision = self._precisions(block, posterior, k)  # (q, q), or (n, q, q)
        self.log_pivots, _ = pivots(self.precision)  # (q,), or (n, q)
        h = weighted.T @ deviation - posterior.cross_spreads[k][:, None]
        self.factors = _solved(self.precision, h)  # <z>, (q, n)
        log_density = 0.5 * (
            np.einsum("qn,qn->n", h, self.factors)
            - self.log_pivots.sum(axis=-1)
            - posterior.precisions[k] @ deviation**2
        )
        if self.has_gaps:
            log_density = log_density + 0.5 * (LOG_2PI - np.log(posterior.precisions[k])) @ self.is_gap
        self.log_density = log_density

    def _precisions(self, block: Block, posterior: FactorPosterior, k: int) -> Floats:
        """M of each row, or of all rows where they miss the same columns."""
        precision = posterior.factor_precisions[k]
        if not self.has_gaps:
            return precision
        loadings, weighted = posterior.loadings[k], posterior.weighted_loadings[k]
        if not block.is_scattered:
            return precision - loadings[block.missing].T @ weighted[block.missing]
        products = (loadings[:, :, None] * weighted[:, None, :]).reshape(len(loadings), -1)  # (d, q^2)
        return precision - (self.is_gap.T @ products).reshape(block.values.shape[1], *precision.shape)

    def sums(self, shares: Floats) -> dict[str, Floats]:
        """Add up rows with given shares, about the component's mean."""
        z, filled = self.factors, self.deviation
        if self.has_gaps:
            filled = np.where(self.is_gap, self.loadings @ z, self.deviation)
        weighted = shares * z
        products, squares = filled @ weighted.T, filled**2 @ shares
        if self.has_gaps:
            total, of_columns = self._spreads(shares)
            of_gaps = np.einsum("dq,dqp->dp", self.loadings, of_columns)
            products = products + of_gaps
            squares = squares + np.einsum("dq,dq->d", of_gaps, self.loadings) + (self.is_gap @ shares) * self.noise
        else:
            total = shares.sum() * np.linalg.inv(self.precision)
        return {
            "sums": filled @ shares,
            "squares": squares,
            "products": products,
            "factor_sums": weighted.sum(axis=1),
            "factor_squares": weighted @ z.T + total,
            "log_pivots": shares @ np.broadcast_to(self.log_pivots, z.T.shape),
        }

    def _spreads(self, shares: Floats) -> tuple[Floats, Floats]:  # (q, q), (d, q, q)
        """Add up M^-1: of all rows, and for each column of the rows with a gap there."""
        gaps = self.is_gap
        if self.precision.ndim == 2:
            covariance = np.linalg.inv(self.precision)
            return shares.sum() * covariance, (gaps @ shares)[:, None, None] * covariance
        counts = shares > NEGLIGIBLE * shares.max(initial=0.0)
        spreads = shares[counts, None, None] * np.linalg.inv(self.precision[counts])
        flat = spreads.reshape(len(spreads), spreads.shape[1] ** 2)
        return spreads.sum(axis=0), (gaps[:, counts] @ flat).reshape(len(gaps), *spreads.shape[1:])


def _solved(matrices: Floats, columns: Floats) -> Floats:  # (q, n)
    """Solve linear equations of one matrix for all columns, or of each matrix for its column."""
    if matrices.ndim == 2:
        return np.asarray(np.linalg.solve(matrices, columns), dtype=float)
    return np.asarray(np.linalg.solve(matrices, columns.T[:, :, None])[:, :, 0].T, dtype=float)
