"""How a fit starts: rows assigned to first centres, on a small sample that grows to all rows.

Most iterations run on samples, where they are cheap.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from enum import StrEnum

import numpy as np

from mixkern.density.block import InnerRows
from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.expectation import expectation, is_expandable
from mixkern.density.factor import FactorPrior
from mixkern.density.factor_start import first_factors, principal_rows
from mixkern.density.inference import Ascent, Policy, ascend, largest_sq_norm
from mixkern.density.mixture import category_slots
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.density.statistics import Statistics
from mixkern.sampling import subsample
from mixkern.typing import Floats, Positions, RandomState

FIRST_SAMPLE = 4_000  # rows
SETTLING = 10  # steps before factors are removed
GROWTH = 4  # how much larger each sample is than the one before
COARSE_TOL = 1e-4  # on every sample but the last
CANDIDATES = 20  # rows per component among which k-means++ chooses centres
WIDE = 32  # columns from which on factors start from components of principal components
PRINCIPAL = 20  # of them
MOST_INDICATORS = 500  # categories of all columns together, beyond which they do not influence the choice of centres


class Start(StrEnum):
    """How the first centres are chosen."""

    KMEANS_PLUS_PLUS = "k-means++"  # rows far from each other
    RANDOM = "random"  # any rows


def samples(n: int, random: RandomState, *, is_progressive: bool) -> Iterator[Positions | None]:
    """Give growing random samples of n rows, each containing the one before; None, the last, means all rows."""
    if is_progressive and n > FIRST_SAMPLE * GROWTH:
        order = random.permutation(n)
        size = FIRST_SAMPLE
        while size * GROWTH <= n:
            yield order[:size]
            size *= GROWTH
    yield None


def fit_progressively(
    rows: InnerRows,
    prior: Prior,
    policy: Policy,
    *,
    n_components: int,
    start: Start,
    n_init: int,
    is_progressive: bool,
    random: RandomState,
    pool: ThreadPoolExecutor,
) -> Ascent:
    """Fit ``n_init`` starts to a small sample, and continue the best one on growing samples up to all rows."""
    ascent: Ascent | None = None
    for positions in samples(len(rows), random, is_progressive=is_progressive):
        if ascent is not None and ascent.is_stopped:
            break
        part = rows if positions is None else rows.take(positions)
        coarse = policy if positions is None else replace(policy, tol=max(policy.tol, COARSE_TOL))
        if ascent is None:
            coarse = replace(coarse, settling=SETTLING)
            starts = (start_statistics(part, prior, n_components, start, random, pool) for _ in range(n_init))
            ascent = _best(ascend_rows(part, each, prior, coarse, pool) for each in starts)
        else:
            first = restart(part, ascent.posterior, pool)
            # Components were merged on the first sample, where each attempt is cheap.
            ascent = ascend_rows(part, first, ascent.prior, replace(coarse, merges=False), pool)
    assert ascent is not None  # there is always a last sample
    return _on_all_rows(rows, ascent, policy, pool) if ascent.is_stopped and part is not rows else ascent


def _best(ascents: Iterable[Ascent]) -> Ascent:
    """Give the ascent with the highest bound; none is begun after one that was stopped."""
    found: list[Ascent] = []
    for ascent in ascents:
        found.append(ascent)
        if ascent.is_stopped:
            break
    return replace(max(found, key=lambda each: each.bound), is_stopped=found[-1].is_stopped)


def _on_all_rows(rows: InnerRows, ascent: Ascent, policy: Policy, pool: ThreadPoolExecutor) -> Ascent:
    """Give the statistics and the bound of all rows for an ascent that was stopped on a sample: one more step."""
    once = replace(policy, max_iter=1, merges=False, report=None)
    last = ascend_rows(rows, restart(rows, ascent.posterior, pool), ascent.prior, once, pool)
    return replace(last, is_stopped=True)


def n_ascents(n: int, n_init: int, *, is_progressive: bool) -> int:
    """Give the number of ascents of a fit to n rows: of each start, and on each further sample.

    >>> n_ascents(1_000, 3, is_progressive=True), n_ascents(100_000, 1, is_progressive=True)
    (3, 3)
    """
    n_samples, size = 1, FIRST_SAMPLE
    while is_progressive and n > FIRST_SAMPLE * GROWTH and size * GROWTH <= n:
        n_samples, size = n_samples + 1, size * GROWTH
    return n_init + n_samples - 1


def restart(rows: InnerRows, posterior: Posterior, pool: ThreadPoolExecutor) -> Statistics:
    """Give the statistics of rows under the components of an earlier fit."""
    has_vectors = posterior.precision.covariance_type.has_vectors
    table = rows.blocks(posterior.n_components, is_diagonal=has_vectors, n_factors=posterior.n_factors)
    return expectation(table, posterior, expand=is_expandable(posterior, largest_sq_norm(table)), pool=pool)


def ascend_rows(
    rows: InnerRows, statistics: Statistics, prior: Prior, policy: Policy, pool: ThreadPoolExecutor
) -> Ascent:
    """Raise the evidence bound of given rows."""
    has_vectors = prior.precision.covariance_type.has_vectors
    table = rows.blocks(len(statistics.counts), is_diagonal=has_vectors, n_factors=statistics.n_factors)
    return ascend(table, statistics, prior, policy, pool, rows.log_volume)


def start_statistics(
    rows: InnerRows, prior: Prior, n_components: int, how: Start, random: RandomState, pool: ThreadPoolExecutor
) -> Statistics:
    """Choose components among the rows, assign every row to one of them, and give the sums of each."""
    has_vectors = prior.precision.covariance_type.has_vectors
    if not isinstance(prior, FactorPrior):
        nearest, k = _nearest_centres(rows, n_components, how, random)
        return hard_statistics(rows, nearest, k, is_diagonal=has_vectors)
    if rows.X.shape[1] > WIDE:
        components, k = _components_in_few_columns(rows, prior, n_components, how, random, pool)
    else:
        components, k = _nearest_centres(rows, n_components, how, random)
    return first_factors(rows, components, hard_statistics(rows, components, k, is_diagonal=True), prior, random)


def _nearest_centres(rows: InnerRows, n_components: int, how: Start, random: RandomState) -> tuple[Positions, int]:
    """Choose centres among the rows, and give the nearest one of each row and their number."""
    from sklearn.cluster import kmeans_plusplus  # slow to import, and needed only here
    from sklearn.metrics import pairwise_distances_argmin

    features = _features(rows)
    k = min(n_components, len(np.unique(features, axis=0)) if len(features) <= n_components else n_components)
    if how is Start.RANDOM:
        centres = features[random.choice(len(features), size=k, replace=False)]
    else:
        candidates = subsample(np.arange(len(features)), CANDIDATES * k, random)
        share = None if rows.weights is None else rows.weights[candidates]
        centres, _ = kmeans_plusplus(features[candidates], k, sample_weight=share, random_state=random)
    return pairwise_distances_argmin(features, centres), k


def _components_in_few_columns(
    rows: InnerRows, prior: Prior, n_components: int, how: Start, random: RandomState, pool: ThreadPoolExecutor
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
