"""The E-step: responsibilities of a block of rows, and the sums that the M-step needs.

Two ways that agree. The fast one computes ln rho_nk (10.46) as a product of parameters and features,
phi(x) = [x_i x_j (i <= j), x, 1]: one matrix product gives the responsibilities, a second one the sums of the M-step,
and a block never leaves the cache. The expanded square loses digits where a component is tight and a row far from the
centre; :func:`is_expandable` detects that. The careful way takes differences from each component's mean, and fills
gaps by their expectation.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add

import numpy as np

from mixkern.density.block import Block
from mixkern.density.factor import FactorPosterior
from mixkern.density.factor_expectation import FactorExpectation
from mixkern.density.mixture import LOG_2PI
from mixkern.density.posterior import Posterior
from mixkern.density.responsibility import category_counts, features_of, log_categories, parameters_of, responsibilities
from mixkern.density.statistics import Statistics
from mixkern.typing import Floats

LOSS = 1e-9  # error of ln rho_nk that the expanded square may cause

FACTOR_LOSS = 1e-7  # the same for factors, whose rows have many columns

Spread = Callable[[Floats], Floats]  # from the shares of rows to the summed covariance of their gaps


def is_expandable(posterior: Posterior, largest_sq_norm: float) -> bool:
    """Whether the expanded square keeps enough digits for rows of this size."""
    precisions = posterior.precisions
    traces = precisions.sum(axis=-1) if precisions.ndim == 2 else np.trace(precisions, axis1=1, axis2=2)
    # The means count too: rows at the centre may have a share in a component far away.
    sizes = np.maximum(largest_sq_norm, np.einsum("kd,kd->k", posterior.means, posterior.means))
    loss = FACTOR_LOSS if isinstance(posterior, FactorPosterior) else LOSS
    return bool(np.finfo(float).eps * np.max(traces * sizes, initial=0.0) < loss)


def expectation(table: Sequence[Block], posterior: Posterior, *, expand: bool, pool: ThreadPoolExecutor) -> Statistics:
    """E-step over all blocks: responsibilities (10.49), and at once the sums that the M-step needs."""
    if isinstance(posterior, FactorPosterior):
        return total(pool.map(FactorExpectation(posterior, expand=expand), table))
    origins = np.zeros_like(posterior.means) if expand else posterior.means
    theta = parameters_of(posterior) if expand else None

    def statistics(block: Block) -> Statistics:
        if theta is None or block.missing.size:
            return (
                careful_statistics(block, posterior).about(origins) if expand else careful_statistics(block, posterior)
            )
        return _expanded_statistics(block, posterior, theta, origins)

    return total(pool.map(statistics, table))


def total(parts: Iterable[Statistics]) -> Statistics:
    """Add statistics up, in the order of the blocks: the result does not depend on the number of threads."""
    return reduce(add, parts)


def careful_statistics(block: Block, posterior: Posterior) -> Statistics:
    """E-step of one block by differences, gaps filled by expectation; moments about the components' means."""
    k, d = posterior.means.shape
    is_diagonal = posterior.precisions.ndim == 2
    log_rho = posterior.log_constants[:, None] + log_categories(block, posterior)
    deviations = np.empty((k, d, block.values.shape[1]))
    fill = _fill_diagonal if is_diagonal else _fill_scattered if block.is_scattered else _fill_matrix
    spreads: list[Spread] = []
    for j in range(k):
        sq_distance, log_volume, spread = fill(block, posterior, j, deviations[j])
        log_rho[j] += log_volume - 0.5 * sq_distance
        spreads.append(spread)
    shares, log_normaliser = responsibilities(log_rho, block.weights)
    if is_diagonal:
        squares = np.einsum("kn,kdn->kd", shares, deviations**2)
    else:
        squares = np.matmul(deviations * shares[:, None, :], np.swapaxes(deviations, 1, 2))
    squares += np.array([spread(share) for spread, share in zip(spreads, shares, strict=True)])
    return Statistics(
        counts=shares.sum(axis=1),
        sums=np.einsum("kn,kdn->kd", shares, deviations),
        squares=squares,
        origins=posterior.means,
        category_counts=category_counts(block, shares, posterior),
        log_normaliser=log_normaliser,
    )


def _fill_matrix(
    block: Block, posterior: Posterior, k: int, deviation: Floats
) -> tuple[Floats, float | Floats, Spread]:
    """Write x - m_k into deviation, gaps at their conditional mean.

    Returns the squared distance of each row, the ln volume that integrating the gaps out adds, and their covariance.
    """
    precision, missing = posterior.precisions[k], block.missing
    observed = np.delete(np.arange(len(precision)), missing)
    deviation[observed] = block.values[observed] - posterior.means[k, observed, None]
    covariance, log_volume = np.zeros_like(precision), 0.0
    if len(missing):
        within = precision[np.ix_(missing, missing)]
        deviation[missing] = -np.linalg.solve(within, precision[np.ix_(missing, observed)] @ deviation[observed])
        covariance[np.ix_(missing, missing)] = np.linalg.inv(within)
        log_volume = 0.5 * (len(missing) * LOG_2PI - float(np.linalg.slogdet(within)[1]))
    sq_distance = np.einsum("dn,dn->n", deviation, precision @ deviation)
    return sq_distance, log_volume, lambda shares: shares.sum() * covariance


def _fill_scattered(
    block: Block, posterior: Posterior, k: int, deviation: Floats
) -> tuple[Floats, float | Floats, Spread]:
    """Do the same where each row misses columns of its own: a small matrix for each, all at once."""
    precision, missing = posterior.precisions[k], block.missing  # (d, d), (n, m)
    d, (n, m) = len(precision), missing.shape
    rows = np.arange(n)[:, None]
    deviation[:] = block.values - posterior.means[k, :, None]
    deviation[missing, rows] = 0.0
    within = precision[missing[:, :, None], missing[:, None, :]]  # (n, m, m)
    inverse = np.linalg.inv(within)
    linear = (precision @ deviation)[missing, rows]  # (n, m): Lambda_mo (x - m)_o
    deviation[missing, rows] = -np.einsum("nij,nj->ni", inverse, linear)
    log_volume = 0.5 * (m * LOG_2PI - np.linalg.slogdet(within)[1])
    cells = (missing[:, :, None] * d + missing[:, None, :]).ravel()

    def spread(shares: Floats) -> Floats:
        weighted = (shares[:, None, None] * inverse).ravel()
        summed: Floats = np.bincount(cells, weights=weighted, minlength=d * d).astype(float).reshape(d, d)
        return summed

    return np.einsum("dn,dn->n", deviation, precision @ deviation), log_volume, spread


def _fill_diagonal(
    block: Block, posterior: Posterior, k: int, deviation: Floats
) -> tuple[Floats, float | Floats, Spread]:
    """Do the same where columns are independent: a gap is expected at the mean."""
    precision = posterior.precisions[k]
    is_gap = np.isnan(block.values)
    deviation[:] = np.where(is_gap, 0.0, block.values - posterior.means[k, :, None])
    log_volume = 0.5 * (LOG_2PI - np.log(precision)) @ is_gap
    return precision @ deviation**2, log_volume, lambda shares: (is_gap @ shares) / precision


def _expanded_statistics(block: Block, posterior: Posterior, theta: Floats, origins: Floats) -> Statistics:
    k, d = posterior.means.shape
    is_diagonal = posterior.precisions.ndim == 2
    features = features_of(block.values, is_diagonal=is_diagonal)
    log_rho = theta @ features
    if posterior.category_concentrations:
        log_rho += log_categories(block, posterior)
    shares, log_normaliser = responsibilities(log_rho, block.weights)
    sums = shares @ features.T  # (k, p)
    squares = sums[:, : -1 - d]
    if not is_diagonal:
        rows, columns = np.triu_indices(d)
        upper, squares = squares, np.empty((k, d, d))
        squares[:, rows, columns] = upper
        squares[:, columns, rows] = upper
    return Statistics(
        counts=sums[:, -1],
        sums=sums[:, -1 - d : -1],
        squares=squares,
        origins=origins,
        category_counts=category_counts(block, shares, posterior),
        log_normaliser=log_normaliser,
    )
