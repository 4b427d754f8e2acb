"""The experimental setup as settings."""

import json

import numpy as np
import pytest

from mixkern.errors import MixkernError
from mixkern_study import Experiment, Protocol


def test_the_papers_grids():
    protocol = Protocol()
    tens = [10.0**i for i in range(-3, 3)]
    np.testing.assert_allclose([protocol.C, protocol.gamma], [tens, tens])
    assert protocol.intrinsic == protocol.ambient == pytest.approx([10.0**j for j in range(-6, 3)])
    assert protocol.weights == pytest.approx([0.1 * i for i in range(11)])
    assert (protocol.n_folds, protocol.n_inner_folds, protocol.labels_per_class, protocol.share) == (5, 4, 4, 0.1)


def test_other_settings_have_another_key():
    keys = {Protocol().key, Protocol(seed=1).key, Protocol(density="representativity").key, Protocol(C=(1.0,)).key}
    assert len(keys) == 4
    assert Protocol(seed=2015).key == Protocol().key
    assert json.loads(Protocol().to_json())["seed"] == 2015


def test_seeds_depend_on_the_part_and_on_nothing_else():
    protocol = Protocol()
    assert protocol.seed_of("iris", 0, 1) == Protocol(C=(1.0,)).seed_of("iris", 0, 1)
    assert len({protocol.seed_of("iris", 0, 1), protocol.seed_of("iris", 1, 0), protocol.seed_of("wine", 0, 1)}) == 3
    assert Protocol(seed=1).seed_of("iris") != protocol.seed_of("iris")


def test_every_experiment_has_words():
    assert len({experiment.title for experiment in Experiment}) == 3


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"density": "best"}, "density must be one of 'default', 'representativity'"),
        ({"n_folds": 1}, "two folds or more"),
    ],
)
def test_what_cannot_be(changes, why):
    with pytest.raises(MixkernError, match=why):
        Protocol(**changes)
