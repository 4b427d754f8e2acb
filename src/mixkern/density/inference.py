"""The ascent of the evidence bound: M-step, E-step, bound; components that are no longer needed are removed.

Two components are merged where that raises the bound. An upper limit of what a merger can gain at once comes in closed
form: with the assignment of rows to components held fixed, all parameters integrate out, and the bound is ln p(X, Z)
plus the entropy of the responsibilities. A merger changes the first term by a few log normalisers and can only lower
the second. A merger that would lose much in the first term is not tried.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import gammaln

from mixkern.density.block import Block
from mixkern.density.expectation import RemoteBlocks, expectation, weight_of
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.priors import (
    PrecisionPrior,
    evidence_degrees,
    evidence_mean_precision,
    evidence_prior,
    typical_prior,
)
from mixkern.density.statistics import Statistics
from mixkern.threads import ThreadPool
from mixkern.typing import Floats, Positions

TRIES = 2  # mergers to try at most, per component
STEPS = 10  # within which a merger must raise the bound
CHANCE = 20.0  # nats that a merger may lose at first, and regain as responsibilities and priors adapt


@dataclass(frozen=True)
class Policy:
    """Settings of an ascent."""

    precision_prior: PrecisionPrior | None  # how W0 is learned; None: it is fixed
    learns_degrees: bool  # whether nu0 is learned
    prune_below: float  # rows that a component must explain to be kept; 0 keeps all
    merges: bool  # whether two components are merged where that raises the bound
    tol: float
    max_iter: int
    mean_precision_limit: float | None = None  # largest beta0, where it is learned
    settling: int = 0  # steps before factors are removed: those of components that grow come later
    report: "Callable[[Ascent], bool] | None" = None  # called after each step; returns whether to stop


@dataclass(frozen=True)
class Ascent:
    """The state of an ascent after some steps."""

    prior: Prior
    posterior: Posterior
    statistics: Statistics
    bounds: tuple[float, ...]
    converged: bool
    is_stopped: bool = False  # by a report

    @property
    def n_components(self) -> int:
        """Number of components that remain."""
        return len(self.statistics.counts)

    @property
    def size(self) -> int:
        """Number of components and of their factors."""
        return self.n_components + self.posterior.rank

    @property
    def bound(self) -> float:
        """The evidence bound that was reached."""
        return self.bounds[-1]


def ascend(
    table: Sequence[Block] | RemoteBlocks,
    statistics: Statistics,
    prior: Prior,
    policy: Policy,
    pool: ThreadPool,
    log_volume: float = 0.0,
) -> Ascent:
    """Raise the evidence bound from given statistics until neither a step nor a merger raises it any more.

    ``log_volume`` is the excess of the bound in inner coordinates; see :class:`Coordinates`.
    """
    n_rows = weight_of(table)
    step = partial(_step, table, policy, pool, log_volume)
    state = Ascent(prior, prior.posterior(statistics), statistics, (), converged=False)
    while len(state.bounds) < policy.max_iter and not state.converged:
        before = state
        state = step(state)
        if _stops(policy, state):
            return replace(state, is_stopped=True)
        if state.size < before.size or not before.bounds:
            continue
        if state.posterior.rank and len(state.bounds) <= policy.settling:
            continue
        size = abs(state.bound + log_volume)  # in inner coordinates: the table's units do not matter
        if abs(state.bound - before.bound) <= policy.tol * max(size, n_rows):
            simpler = _simpler(state, step) if policy.merges else None
            if simpler is None:
                state = replace(state, converged=True)
            elif len(state.bounds) < policy.max_iter:
                state = simpler
                if _stops(policy, state):
                    return replace(state, is_stopped=True)
    return state


def _step(
    table: Sequence[Block] | RemoteBlocks,
    policy: Policy,
    pool: ThreadPool,
    log_volume: float,
    state: Ascent,
) -> Ascent:
    """One iteration: M-step, E-step, bound; components that explain too few rows are removed."""
    removes = len(state.bounds) >= policy.settling
    prior, posterior, _ = learn(state.prior, state.statistics, policy, removes=removes)
    statistics = expectation(table, posterior, pool)
    bound = statistics.log_normaliser - posterior.divergence(prior) - log_volume
    stays = staying(statistics, policy)
    return Ascent(prior, posterior.keep(stays), statistics.keep(stays), (*state.bounds, bound), converged=False)


def _simpler(state: Ascent, step: Callable[[Ascent], Ascent]) -> Ascent | None:
    """Merge two components, if that raises the bound within a few steps; pairs of the largest gain are tried first.

    From a start with many components the ascent often ends with several that share one cluster: no small change of one
    of them raises the bound, but replacing two by one does.
    """
    first, second, gains = merger_gains(state.statistics, state.prior)
    promising = [i for i in np.argsort(-gains, kind="stable") if gains[i] > -CHANCE][: TRIES * state.n_components]
    for i in promising:
        trial = replace(state, statistics=state.statistics.merge(int(first[i]), int(second[i])))
        gain = np.inf  # in the last step; later steps gain less
        for left in reversed(range(STEPS)):
            if trial.bound + gain * (left + 1) < state.bound:
                break  # further steps would not reach the bound
            before, trial = trial, step(trial)
            if trial.bound > state.bound:
                return replace(trial, bounds=(*state.bounds, trial.bound))
            if left < STEPS - 1:  # the change in the first step includes the loss by the merger
                gain = trial.bound - before.bound
    return None


def staying(statistics: Statistics, policy: Policy) -> Positions:
    """Give the components to keep: those that explain enough rows, and the largest one in any case."""
    stays = statistics.counts >= policy.prune_below
    stays[np.argmax(statistics.counts)] = True
    return np.flatnonzero(stays)


def learn(
    prior: Prior, statistics: Statistics, policy: Policy, *, removes: bool = True
) -> tuple[Prior, Posterior, Statistics]:
    """M-step, and the update of the prior where it is learned; the statistics in the posterior's coordinates."""
    if policy.precision_prior is PrecisionPrior.TYPICAL:
        prior = typical_prior(prior, statistics)
    statistics = prior.aligned(statistics, removes=removes)
    posterior = prior.posterior(statistics)
    limit = policy.mean_precision_limit or prior.mean_precision_limit
    if limit is not None:
        prior = evidence_mean_precision(prior, posterior, limit)
    if policy.precision_prior not in (None, PrecisionPrior.TYPICAL):
        prior = evidence_prior(prior, posterior, policy.precision_prior)
    if policy.learns_degrees:
        prior = evidence_degrees(prior, posterior, policy.precision_prior)
    return prior, posterior, statistics


def _stops(policy: Policy, state: Ascent) -> bool:
    """Report a step, and return whether the ascent is to stop."""
    return policy.report is not None and policy.report(state)


def merger_gains(statistics: Statistics, prior: Prior) -> tuple[Positions, Positions, Floats]:
    """Give all pairs of components, and the most that merging each can gain at given responsibilities."""
    first, second = np.triu_indices(len(statistics.counts), 1)
    counts = statistics.counts[first] + statistics.counts[second]
    gains = _weight_gains(statistics.counts, counts, first, second, prior.concentration)
    for term in prior.merger_gains(statistics, first, second):
        gains = gains + term
    for alone in statistics.category_counts:
        together = alone[first] + alone[second]
        a, b = (_log_evidence_of_categories(table, prior.category_concentration) for table in (alone, together))
        gains += _differences(a, b, first, second)
    return first, second, gains


def _differences(alone: Floats, together: Floats, first: Positions, second: Positions) -> Floats:
    return together - alone[first] - alone[second]


def _weight_gains(counts: Floats, together: Floats, first: Positions, second: Positions, alpha: float) -> Floats:
    """Logarithm of the Dirichlet integral with one component less, minus the one with all components."""
    k, n = len(counts), counts.sum()
    fewer = gammaln((k - 1) * alpha) - gammaln((k - 1) * alpha + n) - gammaln(k * alpha) + gammaln(k * alpha + n)
    shares = _differences(gammaln(alpha + counts), gammaln(alpha + together), first, second)
    gains: Floats = fewer + gammaln(alpha) + shares
    return gains


def _log_evidence_of_categories(table: Floats, alpha: float) -> Floats:  # (k,)
    n = table.shape[1]
    evidence: Floats = np.sum(gammaln(alpha + table) - gammaln(alpha), axis=1)
    return evidence + gammaln(n * alpha) - gammaln(n * alpha + table.sum(axis=1))
