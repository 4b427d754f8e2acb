"""The E-step: responsibilities of all rows, and the sums that the M-step needs.

Full, tied, diagonal and spherical covariances are the engine's work, by differences from each component's mean; gaps
count with their expected values. Factors have an E-step of their own, in two ways that agree: a fast one by expanded
squares, which lose digits where a component is tight and a row far from the centre, and a careful one.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

import numpy as np

from mixkern import engine
from mixkern.density.block import Block
from mixkern.density.factor import FactorPosterior
from mixkern.density.factor_expectation import FactorExpectation
from mixkern.density.mixture import category_log_densities
from mixkern.density.posterior import Posterior
from mixkern.density.responsibility import category_counts
from mixkern.density.statistics import Statistics
from mixkern.threads import ThreadPool
from mixkern.typing import Floats

FACTOR_LOSS = 1e-7  # error of ln rho_nk that the expanded square may cause


class RemoteBlocks(ABC):
    """Blocks of rows that are not in this process: their statistics are computed where they are, and added up."""

    n_rows: float

    @abstractmethod
    def statistics(self, posterior: Posterior) -> Statistics:
        """Give the statistics of all blocks."""


def weight_of(table: Sequence[Block] | RemoteBlocks) -> float:
    """Give the number of rows, or the sum of their weights."""
    if isinstance(table, RemoteBlocks):
        return table.n_rows
    return sum(block.values.shape[1] if block.weights is None else float(block.weights.sum()) for block in table)


def is_expandable(posterior: FactorPosterior, largest_sq_norm: float) -> bool:
    """Whether the expanded square keeps enough digits for rows of this size."""
    # The means count too: rows at the centre may have a share in a component far away.
    sizes = np.maximum(largest_sq_norm, np.einsum("kd,kd->k", posterior.means, posterior.means))
    loss = np.finfo(float).eps * np.max(posterior.precisions.sum(axis=-1) * sizes, initial=0.0)
    return bool(loss < FACTOR_LOSS)


def expectation(
    table: Sequence[Block] | RemoteBlocks, posterior: Posterior, pool: ThreadPool, *, expand: bool | None = None
) -> Statistics:
    """E-step over all blocks: responsibilities (10.49), and at once the sums that the M-step needs.

    ``expand`` is for factors: whether squares are expanded; by default they are where no digits are lost.
    """
    if isinstance(table, RemoteBlocks):
        return table.statistics(posterior)
    if isinstance(posterior, FactorPosterior):
        if expand is None:
            expand = is_expandable(posterior, max((block.largest_sq_norm for block in table), default=0.0))
        return total(pool.map(FactorExpectation(posterior, expand=expand), table))
    return total(block_statistics(block, posterior, pool.n_threads) for block in table)


def total(parts: Iterable[Statistics]) -> Statistics:
    """Add statistics up, in the order of the blocks: the result does not depend on the number of threads."""
    return reduce(add, parts)


def block_statistics(block: Block, posterior: Posterior, n_threads: int = 1) -> Statistics:
    """E-step of one block; moments are about the components' means."""
    has_categories = bool(posterior.category_concentrations)
    sums = engine.moments(
        block.values.T,
        posterior.components,
        offsets=_offsets(block, posterior) if has_categories else None,
        weights=block.weights,
        with_shares=has_categories,
        n_threads=n_threads,
    )
    return Statistics(
        counts=sums.counts,
        sums=sums.sums,
        squares=sums.squares,
        origins=posterior.means,
        category_counts=() if sums.shares is None else category_counts(block, sums.shares.T, posterior),
        log_normaliser=sums.log_normaliser,
    )


def _offsets(block: Block, posterior: Posterior) -> Floats:  # (n, k)
    """Part of the categories in ln rho_nk, as the engine takes it."""
    return category_log_densities(block.codes.T, posterior.log_categories, posterior.n_components)
