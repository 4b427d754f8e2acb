"""The ascent: M-step, E-step, bound, and components that are no longer needed leave on the way."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mixkern.density.block import Block
from mixkern.density.expectation import expectation, is_expandable
from mixkern.density.merger import merger_gains
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.priors import PrecisionPrior, evidence_degrees, evidence_prior, typical_prior
from mixkern.density.statistics import Statistics
from mixkern.typing import Positions

TRIES = 2  # mergers to try at most, per component
STEPS = 10  # that a merger has to prove itself
CHANCE = 20.0  # nats that a merger may lose at first, and win back as rows and priors follow


@dataclass(frozen=True)
class Policy:
    """What happens between the steps."""

    precision_prior: PrecisionPrior | None  # how W0 chooses itself; None: it is fixed
    learns_degrees: bool  # whether nu0 does
    prune_below: float  # rows that a component must explain to stay; 0: nobody leaves
    merges: bool  # whether two components become one where that raises the bound
    tol: float
    max_iter: int
    callback: Callable[[dict[str, Any]], object] | None = None


@dataclass(frozen=True)
class Ascent:
    """Where an ascent stands."""

    prior: Prior
    posterior: Posterior
    statistics: Statistics
    bounds: tuple[float, ...]
    converged: bool

    @property
    def n_components(self) -> int:
        """Components that are left."""
        return len(self.statistics.counts)

    @property
    def bound(self) -> float:
        """The evidence bound that was reached."""
        return self.bounds[-1]


def ascend(
    table: Sequence[Block],
    statistics: Statistics,
    prior: Prior,
    policy: Policy,
    pool: ThreadPoolExecutor,
    log_volume: float = 0.0,
) -> Ascent:
    """Climb the evidence bound from given statistics until it rises no more, nor does any merger raise it.

    ``log_volume`` is what the bound has too much in inner coordinates; see :class:`Coordinates`.
    """
    n_rows = sum(block.values.shape[1] if block.weights is None else float(block.weights.sum()) for block in table)
    step = partial(_step, table, policy, pool, largest_sq_norm(table), log_volume)
    state = Ascent(prior, prior.posterior(statistics), statistics, (), converged=False)
    while len(state.bounds) < policy.max_iter and not state.converged:
        before = state
        state = step(state)
        _report(policy, state)
        if state.n_components < before.n_components or not before.bounds:
            continue
        size = abs(state.bound + log_volume)  # in inner coordinates: the table's units do not matter
        if abs(state.bound - before.bound) <= policy.tol * max(size, n_rows):
            simpler = _simpler(state, step) if policy.merges else None
            if simpler is None:
                state = replace(state, converged=True)
            elif len(state.bounds) < policy.max_iter:
                state = simpler
                _report(policy, state)
    return state


def _step(
    table: Sequence[Block],
    policy: Policy,
    pool: ThreadPoolExecutor,
    size: float,
    log_volume: float,
    state: Ascent,
) -> Ascent:
    """M-step, E-step, bound; components that explain too little leave."""
    prior, posterior = learn(state.prior, state.statistics, policy)
    statistics = expectation(table, posterior, expand=is_expandable(posterior, size), pool=pool)
    bound = statistics.log_normaliser - posterior.divergence(prior) - log_volume
    stays = staying(statistics, policy)
    return Ascent(prior, posterior.keep(stays), statistics.keep(stays), (*state.bounds, bound), converged=False)


def _simpler(state: Ascent, step: Callable[[Ascent], Ascent]) -> Ascent | None:
    """Merge two components, if that raises the bound within a few steps; pairs that promise most are tried first.

    From a start with many components the inference often ends with several that share one cluster: each alone is at
    its best, and only together could they do better.
    """
    first, second, gains = merger_gains(state.statistics, state.prior)
    promising = [i for i in np.argsort(-gains, kind="stable") if gains[i] > -CHANCE][: TRIES * state.n_components]
    for i in promising:
        trial = replace(state, statistics=state.statistics.merge(int(first[i]), int(second[i])))
        gain = np.inf  # of one step; it gets smaller from step to step
        for left in reversed(range(STEPS)):
            if trial.bound + gain * (left + 1) < state.bound:
                break  # it will not get there
            before, trial = trial, step(trial)
            if trial.bound > state.bound:
                return replace(trial, bounds=(*state.bounds, trial.bound))
            gain = trial.bound - before.bound if left < STEPS - 1 else np.inf  # the first one pays for the merger
    return None


def staying(statistics: Statistics, policy: Policy) -> Positions:
    """Give the components that explain about one row or more; the last one stays, however little it explains."""
    stays = statistics.counts >= policy.prune_below
    stays[np.argmax(statistics.counts)] = True
    return np.flatnonzero(stays)


def learn(prior: Prior, statistics: Statistics, policy: Policy) -> tuple[Prior, Posterior]:
    """M-step, and the prior's own update where it has one."""
    if policy.precision_prior is PrecisionPrior.TYPICAL:
        prior = typical_prior(prior, statistics)
    posterior = prior.posterior(statistics)
    if policy.precision_prior not in (None, PrecisionPrior.TYPICAL):
        prior = evidence_prior(prior, posterior, policy.precision_prior)
    if policy.learns_degrees:
        prior = evidence_degrees(prior, posterior, policy.precision_prior)
    return prior, posterior


def largest_sq_norm(table: Sequence[Block]) -> float:
    """Give the largest squared distance of a row from the centre; gaps count as nothing."""
    return max((float(np.nansum(block.values**2, axis=0).max(initial=0.0)) for block in table), default=0.0)


def _report(policy: Policy, state: Ascent) -> None:
    if policy.callback is not None:
        policy.callback({"iteration": len(state.bounds), "bound": state.bound, "n_components": state.n_components})
