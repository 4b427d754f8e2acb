"""The choice among covariance families by their evidence.

All families start from the same assignment of rows. After a few steps, the one with the highest bound goes on, and full
covariances too where they are not far behind: their components merge late, and gain most then. The higher bound in the
end decides.

Bounds are evidence for families only where their priors are learned to the same extent. The matrix W0 that maximises
the bound of full covariances has d (d + 1) / 2 numbers, and beta0 is always learned with factors. So bounds are
compared with a diagonal W0 and a learned beta0.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mixkern.density.block import InnerRows
from mixkern.density.covariance import CovarianceType
from mixkern.density.inference import Ascent, Policy
from mixkern.density.posterior import Prior
from mixkern.density.priors import PrecisionPrior
from mixkern.density.start import Start, ascend_rows, start_statistics
from mixkern.density.statistics import Statistics
from mixkern.threads import ThreadPool
from mixkern.typing import RandomState

STEPS = 15  # of each family before they are compared first
MARGIN = 0.1  # nats per value by which full covariances may be behind then, and go on
COMPARED = 4  # steps with the same priors before a comparison


@dataclass(frozen=True)
class Family:
    """A kind of covariance with its prior, and the number of components that a fit starts with."""

    prior: Prior
    n_components: int

    @property
    def kind(self) -> CovarianceType:
        """Kind of covariance."""
        return self.prior.precision.covariance_type

    def start(self, rows: InnerRows, how: Start, random: RandomState, pool: ThreadPool) -> Statistics:
        """Give the statistics that an ascent starts from."""
        return start_statistics(rows, self.prior, self.n_components, how, random, pool)


@dataclass(frozen=True)
class _Runner:
    """A family in the comparison: its ascent so far, and the random numbers that a fit of it alone would go on with."""

    family: Family
    ascent: Ascent
    evidence: float
    random_state: Any


def chosen_family(
    rows: InnerRows,
    families: Sequence[Family],
    policy: Policy,
    how: Start,
    random: RandomState,
    pool: ThreadPool,
) -> tuple[Family, Ascent]:
    """Give the family with the highest evidence, and its ascent, which is the same as without a comparison."""
    state = random.get_state()
    short = replace(policy, max_iter=min(STEPS, policy.max_iter), merges=False, tol=-1.0)
    runners = []
    for family in families:
        random.set_state(state)
        ascent = ascend_rows(rows, family.start(rows, how, random, pool), family.prior, short, pool)
        runners.append(_Runner(family, ascent, _evidence(rows, ascent, policy, pool), random.get_state()))
        if ascent.is_stopped:
            break
    runners = [_continued(rows, runner, policy, pool) for runner in _contenders(rows, runners)]
    best = max(runners, key=lambda runner: runner.evidence)
    random.set_state(best.random_state)
    return best.family, best.ascent


def _contenders(rows: InnerRows, runners: list[_Runner]) -> list[_Runner]:
    """Give the families that go on: the best one, and full covariances that are not far behind."""
    best = max(runners, key=lambda runner: runner.evidence)
    if runners[-1].ascent.is_stopped:
        return [best]
    least = best.evidence - MARGIN * rows.X.size
    return [
        runner
        for runner in runners
        if runner is best or (runner.family.kind is CovarianceType.FULL and runner.evidence > least)
    ]


def _continued(rows: InnerRows, runner: _Runner, policy: Policy, pool: ThreadPool) -> _Runner:
    """Go on with an ascent until it converges."""
    before = runner.ascent
    left = policy.max_iter - len(before.bounds)
    if before.is_stopped or left <= 0:
        return runner
    further = replace(policy, max_iter=left, settling=max(policy.settling - len(before.bounds), 0))
    after = ascend_rows(rows, before.statistics, before.prior, further, pool)
    after = replace(after, bounds=(*before.bounds, *after.bounds))
    return replace(runner, ascent=after, evidence=_evidence(rows, after, policy, pool))


def _evidence(rows: InnerRows, ascent: Ascent, policy: Policy, pool: ThreadPool) -> float:
    """Give the bound after a few steps with priors that are learned to the same extent in each family."""
    if ascent.prior.mean_precision_limit is not None:  # factors: nothing to change
        return ascent.bound
    form = policy.precision_prior
    fair = replace(
        policy,
        precision_prior=PrecisionPrior.EVIDENCE_DIAG if form is PrecisionPrior.EVIDENCE else form,
        mean_precision_limit=ascent.prior.mean_precision,
        max_iter=COMPARED,
        merges=False,
        prune_below=0.0,
        tol=-1.0,
        report=None,
    )
    return ascend_rows(rows, ascent.statistics, ascent.prior, fair, pool).bound
