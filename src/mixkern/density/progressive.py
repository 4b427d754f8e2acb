"""From a small sample to all rows: most of the way is walked where a step is cheap."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from mixkern.density.block import InnerRows
from mixkern.density.expectation import expectation, is_expandable
from mixkern.density.inference import Ascent, Policy, ascend, largest_sq_norm
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.start import Start, start_statistics
from mixkern.density.statistics import Statistics
from mixkern.typing import Positions

FIRST_SAMPLE = 4_000  # rows
GROWTH = 4  # how much larger each sample is than the one before
COARSE_TOL = 1e-4  # on every sample but the last


def samples(n: int, random: np.random.RandomState, *, is_progressive: bool) -> Iterator[Positions | None]:
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
    random: np.random.RandomState,
    pool: ThreadPoolExecutor,
) -> Ascent:
    """Start on a small sample, as often as wanted, and follow the best start through growing samples to all rows."""
    ascent: Ascent | None = None
    for positions in samples(len(rows), random, is_progressive=is_progressive):
        part = rows if positions is None else rows.take(positions)
        coarse = policy if positions is None else replace(policy, tol=max(policy.tol, COARSE_TOL))
        if ascent is None:
            starts = (_start(part, prior, n_components, start, random) for _ in range(n_init))
            ascents = (ascend_rows(part, each, prior, coarse, pool) for each in starts)
            ascent = max(ascents, key=lambda found: found.bound)
        else:
            first = restart(part, ascent.posterior, pool)
            # Which components belong together was settled on the first sample, where trying is cheap.
            settled = replace(coarse, merges=False)
            ascent = ascend_rows(part, first, ascent.prior, settled, pool)
    assert ascent is not None  # there is always a last sample
    return ascent


def restart(rows: InnerRows, posterior: Posterior, pool: ThreadPoolExecutor) -> Statistics:
    """Deal rows out to the components of an earlier fit."""
    table = rows.blocks(posterior.n_components, is_diagonal=posterior.precision.covariance_type.is_diagonal)
    return expectation(table, posterior, expand=is_expandable(posterior, largest_sq_norm(table)), pool=pool)


def _start(rows: InnerRows, prior: Prior, n_components: int, how: Start, random: np.random.RandomState) -> Statistics:
    is_diagonal = prior.precision.covariance_type.is_diagonal
    return start_statistics(
        rows.X, rows.codes, rows.weights, list(rows.n_slots), n_components, how, random, is_diagonal=is_diagonal
    )


def ascend_rows(
    rows: InnerRows, statistics: Statistics, prior: Prior, policy: Policy, pool: ThreadPoolExecutor
) -> Ascent:
    """Climb the evidence bound of given rows."""
    table = rows.blocks(len(statistics.counts), is_diagonal=prior.precision.covariance_type.is_diagonal)
    return ascend(table, statistics, prior, policy, pool, rows.log_volume)
