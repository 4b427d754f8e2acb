"""How an ascent starts: rows assigned to first components, or to those of an earlier fit."""

from abc import abstractmethod
from enum import StrEnum

import numpy as np
from scipy.linalg.blas import dgemm

from mixkern.density.block import Block, InnerRows
from mixkern.density.covariance import PRECISIONS, CovarianceType, Precision
from mixkern.density.expectation import RemoteBlocks, expectation
from mixkern.density.factor import FactorPrior
from mixkern.density.factor_start import first_factors, principal_rows
from mixkern.density.inference import Ascent, Policy, ascend
from mixkern.density.mixture import category_slots
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.density.statistics import Statistics
from mixkern.sampling import subsample
from mixkern.threads import ThreadPool
from mixkern.typing import Floats, Positions, RandomState

COARSE_TOL = 1e-4  # of an ascent that is not the last one
CANDIDATES = 20  # rows per component among which k-means++ chooses centres
WIDE = 10  # columns from which on factors start from components of principal components
PRINCIPAL = 8  # of them
BLOCK = 256  # rows whose distances to all centres are held at a time
MOST_INDICATORS = 500  # categories of all columns together, beyond which they do not influence the choice of centres


class Start(StrEnum):
    """How the first centres are chosen."""

    KMEANS_PLUS_PLUS = "k-means++"  # rows far from each other
    RANDOM = "random"  # any rows


class RemoteRows(InnerRows):
    """Rows that are not in this process. A small sample of them is taken as rows in memory."""

    @abstractmethod
    def remote_blocks(self) -> RemoteBlocks:
        """Give the rows as the E-step takes them."""


def restart(rows: InnerRows, posterior: Posterior, pool: ThreadPool) -> Statistics:
    """Give the statistics of rows under the components of an earlier fit."""
    return expectation(_blocks(rows, posterior.precision, posterior.n_components, posterior.n_factors), posterior, pool)


def ascend_rows(rows: InnerRows, statistics: Statistics, prior: Prior, policy: Policy, pool: ThreadPool) -> Ascent:
    """Raise the evidence bound of given rows."""
    table = _blocks(rows, prior.precision, len(statistics.counts), statistics.n_factors)
    return ascend(table, statistics, prior, policy, pool, rows.log_volume)


def _blocks(rows: InnerRows, precision: Precision, n_components: int, n_factors: int) -> list[Block] | RemoteBlocks:
    """Cut rows into the blocks that their E-step takes."""
    if isinstance(rows, RemoteRows):
        return rows.remote_blocks()
    return blocks_of(rows, precision, n_components, n_factors)


def blocks_of(rows: InnerRows, precision: Precision, n_components: int, n_factors: int) -> list[Block]:
    """Cut rows that are in memory into the blocks that their E-step takes."""
    has_factors = precision.covariance_type is CovarianceType.FACTOR
    return rows.gap_blocks(n_components, n_factors) if has_factors else rows.blocks()


def start_statistics(
    rows: InnerRows, prior: Prior, n_components: int, how: Start, random: RandomState, pool: ThreadPool
) -> Statistics:
    """Choose components among the rows, assign every row to one of them, and give the sums of each."""
    has_vectors = prior.precision.covariance_type.has_vectors
    if not isinstance(prior, FactorPrior):
        nearest, k = _nearest_centres(rows, n_components, how, random)
        return hard_statistics(rows, nearest, k, is_diagonal=has_vectors)
    if n_components == 1:
        components, k = np.zeros(len(rows), dtype=np.intp), 1
    elif rows.X.shape[1] > WIDE:
        components, k = _components_in_few_columns(rows, prior, n_components, how, random, pool)
    else:
        components, k = _nearest_centres(rows, n_components, how, random)
    return first_factors(rows, components, hard_statistics(rows, components, k, is_diagonal=True), prior, random)


def _nearest_centres(rows: InnerRows, n_components: int, how: Start, random: RandomState) -> tuple[Positions, int]:
    """Choose centres among the rows, and give the nearest one of each row and their number."""
    features = _features(rows)
    if not features.shape[1]:  # common factors of independent columns: there are none
        return np.zeros(len(features), dtype=np.intp), 1
    k = min(n_components, len(np.unique(features, axis=0)) if len(features) <= n_components else n_components)
    if how is Start.RANDOM:
        centres = features[random.choice(len(features), size=k, replace=False)]
    else:
        candidates = subsample(np.arange(len(features)), CANDIDATES * k, random)
        share = None if rows.weights is None else rows.weights[candidates]
        centres = distant_rows(features[candidates], k, share, random)
    return nearest(features, centres), k


def distant_rows(features: Floats, k: int, weights: Floats | None, random: RandomState) -> Floats:  # (k, d)
    """Choose k rows that are far from each other, by k-means++.

    The same rows as scikit-learn's ``kmeans_plusplus``, from the same random numbers, without its checks of each step,
    which take half of the time for some hundred rows.

    >>> distant_rows(np.array([[0.0], [0.1], [9.0]]), 2, None, np.random.RandomState(0)).ravel()
    array([0.1, 9. ])
    """
    weights = np.ones(len(features)) if weights is None else weights
    sq_norms, n_trials = np.einsum("ij,ij->i", features, features), 2 + int(np.log(k))

    def sq_distances(chosen: Positions) -> Floats:
        rows = features[chosen]
        found = -2 * (rows @ features.T)
        found += np.einsum("ij,ij->i", rows, rows)[:, None]
        found += sq_norms
        return np.maximum(found, 0.0, out=found)

    centres = [int(random.choice(len(features), p=weights / weights.sum()))]
    closest = sq_distances(np.array(centres))[0]
    potential = closest[None] @ weights
    while len(centres) < k:
        drawn = random.uniform(size=n_trials) * potential
        candidates = np.minimum(np.searchsorted(np.cumsum(weights * closest), drawn), len(features) - 1)
        each = np.minimum(closest, sq_distances(candidates))
        potentials = each @ weights.reshape(-1, 1)
        best = int(np.argmin(potentials))
        potential, closest = potentials[best], each[best]
        centres.append(int(candidates[best]))
    return features[centres]


def nearest(features: Floats, centres: Floats) -> Positions:  # (n,)
    """Give the position of the nearest centre of each row, by Euclidean distance; the first of equally near ones.

    The same as scikit-learn's ``pairwise_distances_argmin``, to the last bit of the distances, which decides between
    centres that are equally near. That function has OpenMP threads, and a forked process that calls it after its parent
    did waits forever. The threads of linear algebra are not OpenMP's, and are started again after a fork.

    >>> nearest(np.array([[0.0], [0.9], [5.0]]), np.array([[0.0], [1.0]]))
    array([0, 1, 1])
    """
    sq_norms, found = np.vecdot(centres, centres), np.empty(len(features), dtype=np.intp)
    for start in range(0, len(features), BLOCK):
        rows = features[start : start + BLOCK]
        products = dgemm(-2.0, centres.T, rows.T, trans_a=True).T
        sq_distances = np.vecdot(rows, rows)[:, None] + products + sq_norms
        found[start : start + BLOCK] = np.maximum(sq_distances, 0.0).argmin(axis=1)
    return found


def _components_in_few_columns(
    rows: InnerRows, prior: Prior, n_components: int, how: Start, random: RandomState, pool: ThreadPool
) -> tuple[Positions, int]:
    """Assign rows to the components of a density of their principal components.

    In many columns a row belongs to one component with certainty, whatever the components are: they hardly change any
    more, and from many small ones the ascent would not find the few large ones.
    """
    few = principal_rows(rows, PRINCIPAL, random)
    d = few.X.shape[1]
    precision = PRECISIONS[CovarianceType.FULL]
    full = Prior(
        precision=precision,
        concentration=prior.concentration,
        mean=np.zeros(d),
        mean_precision=prior.mean_precision,
        degrees=precision.fewest_degrees(d) + 1,
        inverse_scale=precision.isotropic(1.0, d),
        category_concentration=prior.category_concentration,
    )
    policy = Policy(
        PrecisionPrior.EVIDENCE, learns_degrees=False, prune_below=1.0, merges=True, tol=COARSE_TOL, max_iter=200
    )
    k = max(1, min(n_components, len(few) // (d + 1)))
    ascent = ascend_rows(few, start_statistics(few, full, k, how, random, pool), full, policy, pool)
    found = np.unique(ascent.posterior.mixture().responsibilities(few.values).argmax(axis=1), return_inverse=True)
    return found[1], len(found[0])


def _features(rows: InnerRows) -> Floats:
    """Give numbers and category indicators on one scale; a gap is the mean, which is zero."""
    parts = [np.nan_to_num(rows.X)]
    if sum(rows.n_slots) <= MOST_INDICATORS or not rows.X.shape[1]:
        for column, n in zip(rows.codes.T, rows.n_slots, strict=True):
            there = np.flatnonzero(~np.isnan(column))
            indicators = np.zeros((len(column), n))
            indicators[there, category_slots(column[there], n)] = np.sqrt(0.5)  # different categories are 1 apart
            parts.append(indicators)
    return np.hstack(parts)


def hard_statistics(rows: InnerRows, components: Positions, k: int, *, is_diagonal: bool) -> Statistics:
    """Give the statistics of rows that belong to one component each; a gap is the mean, which is zero."""
    X, d = np.nan_to_num(rows.X), rows.X.shape[1]
    share = np.ones(len(X)) if rows.weights is None else rows.weights
    counts = np.bincount(components, weights=share, minlength=k).astype(float)
    sums, squares = np.empty((k, d)), np.empty((k, d) if is_diagonal else (k, d, d))
    for j in range(k):  # one component at a time: all at once would take k times the memory of the table
        members, part = X[components == j], share[components == j]
        sums[j] = part @ members
        squares[j] = part @ members**2 if is_diagonal else (members.T * part) @ members
    tables = []
    for column, n in zip(rows.codes.T, rows.n_slots, strict=True):
        there = ~np.isnan(column)
        table = np.zeros((k, n))
        np.add.at(table, (components[there], category_slots(column[there], n)), share[there])
        tables.append(table)
    return Statistics(counts, sums, squares, np.zeros((k, d)), tuple(tables), log_normaliser=0.0)
