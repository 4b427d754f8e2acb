"""The experimental setup as settings."""

import json

import numpy as np
import pytest

from mixkern.errors import MixkernError
from mixkern_study import DensityStrategy, Experiment, LabelChoice, Protocol
from mixkern_study import protocol as protocol_module
from mixkern_study.protocol import Responsibilities


def test_the_papers_grids():
    protocol = Protocol()
    tens = [10.0**i for i in range(-3, 3)]
    np.testing.assert_allclose([protocol.C, protocol.gamma], [tens, tens])
    assert protocol.intrinsic == protocol.ambient == pytest.approx([10.0**j for j in range(-6, 3)])
    assert protocol.weights == pytest.approx([0.1 * i for i in range(11)])
    assert min(protocol.weights) == 0
    assert set(protocol.ceiling_weights) < set(protocol.weights)
    assert (protocol.n_folds, protocol.n_inner_folds, protocol.labels_per_class, protocol.share) == (5, 4, 4, 0.1)


def test_other_settings_have_another_key():
    keys = {Protocol().key, Protocol(seed=1).key, Protocol(density="paper").key, Protocol(C=(1.0,)).key}
    assert len(keys) == 4
    assert Protocol(seed=2015).key == Protocol().key
    assert json.loads(Protocol().to_json())["seed"] == 2015


def test_members_of_enums_are_the_same_settings_as_their_names():
    given = Protocol(labels=LabelChoice.DENSE, density=DensityStrategy.PAPER, responsibilities=Responsibilities.NUMBERS)
    named = Protocol(labels="dense", density="paper", responsibilities="numbers")
    assert given == named
    assert given.key == named.key
    assert type(given.labels) is str


def test_a_key_of_some_settings_depends_on_these_the_scope_and_the_revision_alone(monkeypatch):
    names = ["seed", "labels"]
    key = Protocol().key_of("result", names)
    assert len(key) == protocol_module.KEY_LENGTH
    assert Protocol(C=(1.0,), density="paper").key_of("result", names) == key
    others = {
        Protocol(seed=1).key_of("result", names),
        Protocol(labels="random").key_of("result", names),
        Protocol().key_of("trial", names),
        Protocol().key_of("result", ["seed"]),
    }
    monkeypatch.setattr(protocol_module, "REVISION", protocol_module.REVISION + 1)
    assert len({key, *others, Protocol().key_of("result", names)}) == 6


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
        ({"density": "best"}, "density must be one of 'default', 'paper'"),
        ({"labels": "densest"}, "labels must be one of 'components', 'dense', 'dense_per_class', 'random'"),
        ({"responsibilities": "number"}, "responsibilities must be one of 'all', 'numbers'.*Did you mean 'numbers'"),
        ({"graph_weights": "hot"}, "graph_weights must be one of 'binary', 'heat'"),
        ({"degree": 0}, "degree must be 1 or more, but it is 0"),
        ({"ceiling_weights": (-1.0,)}, "ceiling_weights"),
        ({"n_folds": 1}, "two folds or more"),
    ],
)
def test_what_cannot_be(changes, why):
    with pytest.raises(MixkernError, match=why):
        Protocol(**changes)
