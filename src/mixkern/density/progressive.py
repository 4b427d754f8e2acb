"""A fit on a small sample that grows to all rows: most iterations run on samples, where they are cheap."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from mixkern.density.block import HOST_ROWS, InnerRows
from mixkern.density.family import Family, chosen_family
from mixkern.density.inference import Ascent, Policy
from mixkern.density.start import COARSE_TOL, Start, ascend_rows, restart
from mixkern.density.statistics import Statistics
from mixkern.threads import ThreadPool
from mixkern.typing import Positions, RandomState

FIRST_SAMPLE = 4_000  # rows
SETTLING = 10  # steps before factors are removed
GROWTH = 4  # how much larger each sample is than the one before


def samples(rows: InnerRows, random: RandomState, *, is_progressive: bool) -> Iterator[Positions | None]:
    """Give growing random samples of rows, each containing the one before; None, the last, means all rows."""
    n = len(rows)
    if is_progressive and n > FIRST_SAMPLE * GROWTH:
        order = rows.random_order(random)
        size = FIRST_SAMPLE
        while size * GROWTH <= n:
            yield order[:size]
            size *= GROWTH
    yield None


def fit_progressively(
    rows: InnerRows,
    families: Sequence[Family],
    policy: Policy,
    *,
    start: Start,
    n_init: int,
    is_progressive: bool,
    random: RandomState,
    pool: ThreadPool,
) -> Ascent:
    """Fit ``n_init`` starts to a small sample, and continue the best one on growing samples up to all rows.

    Of several families, the one with the highest evidence for the first sample is fitted.
    """
    ascent: Ascent | None = None
    growing = list(samples(rows, random, is_progressive=is_progressive))
    rows = rows.prepared([positions for positions in growing if positions is not None])
    for positions in growing:
        if ascent is not None and ascent.is_stopped:
            break
        part = rows if positions is None else rows.take(positions)
        coarse = policy if positions is None else replace(policy, tol=max(policy.tol, COARSE_TOL))
        if ascent is None:
            first_policy = replace(coarse, settling=SETTLING)
            family, first_ascents = families[0], []
            few = part.take(part.random_order(random)[:HOST_ROWS]) if part.is_on_gpu else part
            if len(families) > 1:
                family, first = chosen_family(few, families, first_policy, start, random, pool)
                first_ascents = [first] if few is part else []
            others = (_started(part, few, family, start, random, pool) for _ in range(n_init - len(first_ascents)))
            ascents = (ascend_rows(part, each, family.prior, first_policy, pool) for each in others)
            ascent = _best(chain(first_ascents, ascents))
        else:
            again = restart(part, ascent.posterior, pool)
            # Components were merged on the first sample, where each attempt is cheap.
            ascent = ascend_rows(part, again, ascent.prior, replace(coarse, merges=False), pool)
    assert ascent is not None  # there is always a last sample
    return _on_all_rows(rows, ascent, policy, pool) if ascent.is_stopped and part is not rows else ascent


def _started(
    rows: InnerRows, few: InnerRows, family: Family, start: Start, random: RandomState, pool: ThreadPool
) -> Statistics:
    """Give the statistics that an ascent starts from; of rows on a GPU, by the components of some of them."""
    statistics = family.start(few, start, random, pool)
    return statistics if few is rows else restart(rows, family.prior.posterior(statistics), pool)


def _best(ascents: Iterable[Ascent]) -> Ascent:
    """Give the ascent with the highest bound; none is begun after one that was stopped."""
    found: list[Ascent] = []
    for ascent in ascents:
        found.append(ascent)
        if ascent.is_stopped:
            break
    return replace(max(found, key=lambda each: each.bound), is_stopped=found[-1].is_stopped)


def _on_all_rows(rows: InnerRows, ascent: Ascent, policy: Policy, pool: ThreadPool) -> Ascent:
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
