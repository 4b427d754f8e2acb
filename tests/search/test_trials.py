"""The order of trials: a grid, and Keerthi and Lin's line."""

from types import SimpleNamespace

import numpy as np
import pytest

from mixkern.errors import OptionError
from mixkern.kernels import RBFKernel
from mixkern.search.gram_cache import gram_cache
from mixkern.search.grid import KernelPoint
from mixkern.search.trials import Trials, distinct_shapes

ROWS = np.random.RandomState(0).standard_normal((12, 2))
COSTS = [0.1, 1.0, 10.0]


class Recorder:
    """A scorer for which C = 1 is the best, and which records the matrices."""

    def __init__(self):
        self.matrices = []

    def trial(self, point, C, among, towards):
        self.matrices.append((among, towards))
        return SimpleNamespace(point=point, C=C, order=(abs(np.log(C)), 0.0))


def trials_of(others=ROWS[8:]):
    scorer = Recorder()
    return Trials(gram_cache(RBFKernel(), ROWS[:8], others), scorer), scorer


def test_a_grid_tries_every_cost_with_one_pair_of_matrices_per_kernel():
    trials, scorer = trials_of()
    points = [KernelPoint(0.5), KernelPoint(2.0)]
    assert [(trial.point, trial.C) for trial in trials.grid(points, COSTS)] == [(p, C) for p in points for C in COSTS]
    assert len({id(among) for among, _ in scorer.matrices}) == 2
    np.testing.assert_allclose(scorer.matrices[0][0], RBFKernel(0.5)(ROWS[:8]))
    np.testing.assert_allclose(scorer.matrices[-1][1], RBFKernel(2.0)(ROWS[8:], ROWS[:8]))


def test_a_line_begins_with_the_linear_kernel_and_continues_from_the_best_cost():
    trials, _ = trials_of(None)
    found = list(trials.lines([(1.0, 1.0)], COSTS, [0.01, 0.1, 1.0]))
    assert [trial.point.gamma for trial in found[:3]] == [None, None, None]
    assert [2 * trial.C * trial.point.gamma for trial in found[3:]] == pytest.approx([1.0] * len(found[3:]))


def test_trials_are_made_when_they_are_needed():
    trials, scorer = trials_of()
    next(trials.grid([KernelPoint(0.5), KernelPoint(2.0)], COSTS))
    assert len(scorer.matrices) == 1


def test_pairs_of_weights_with_the_same_ratio_are_one_shape():
    assert sorted(distinct_shapes([1.0, 2.0], [1.0, 2.0])) == [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)]
    assert distinct_shapes([0.0], [0.5, 1.0]) == [(0.0, 0.5)]
    with pytest.raises(OptionError, match=r"^alpha and beta are both 0, so all rows would be equal\.$"):
        distinct_shapes([0.0], [0.0])
