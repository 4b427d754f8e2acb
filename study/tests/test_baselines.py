"""Other learners on the same folds."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from mixkern import datasets
from mixkern_study import PEERS, Draw, Lesson, Protocol, labels_only, study_fold
from mixkern_study.baselines import peer_result
from mixkern_study.fold import fitted_density

PROTOCOL = Protocol(n_folds=3)


def situation(name):
    fold = study_fold(datasets.load(name), 0, PROTOCOL)
    rows = np.concatenate([np.flatnonzero(fold.train_codes == code)[:6] for code in range(fold.n_classes)])
    return fold, fitted_density(fold, "default", PROTOCOL), Draw(1, 0, np.sort(rows), 3)


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_learns_iris(name):
    fold, mixture, draw = situation("iris")
    result = peer_result(fold, mixture, name, PEERS[name], draw)
    assert result.accuracy > 0.75
    assert (result.method, result.reading, result.n_labelled, result.n_support) == (name, "default", 18, -1)
    assert peer_result(fold, mixture, name, PEERS[name], draw).accuracy == result.accuracy


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_learns_a_table_with_gaps_and_categories(name):
    fold, mixture, draw = situation("credit_a")
    assert np.isnan(fold.train).any()
    assert peer_result(fold, mixture, name, PEERS[name], draw).accuracy > 0.35


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_takes_a_table_of_labels_only(name):
    fold, mixture, _ = situation("iris")
    assert peer_result(fold, mixture, name, PEERS[name], Draw(3, 0, np.arange(100), 0)).accuracy > 0.85


def test_labels_only_is_a_plain_machine():
    fold, mixture, draw = situation("iris")
    machine = SVC().fit(fold.train[draw.labelled], fold.train_codes[draw.labelled])
    expected = machine.score(fold.test, fold.test_codes)
    assert peer_result(fold, mixture, "svc", PEERS["svc"], draw).accuracy == pytest.approx(expected)


def test_peers_see_no_label_but_those_given():
    fold, mixture, draw = situation("iris")
    seen = []

    def watching(lesson):
        seen.append(lesson)
        return np.zeros(len(lesson.test), dtype=int)

    peer_result(fold, mixture, "watching", watching, draw)
    (lesson,) = seen
    assert isinstance(lesson, Lesson)
    assert np.flatnonzero(lesson.codes != -1).tolist() == draw.labelled.tolist()
    assert (lesson.codes[draw.labelled] == fold.train_codes[draw.labelled]).all()


def test_categories_become_columns_and_gaps_are_filled():
    fold, mixture, _ = situation("credit_a")
    train, test = Lesson(fold.train, fold.train_codes, fold.test, mixture, 0).numbers
    width = mixture.n_continuous + sum(table.shape[1] for table in mixture.categories)
    assert train.shape[1] == test.shape[1] == width
    assert not np.isnan(train).any()
    assert not np.isnan(test).any()
    assert set(np.unique(train[:, mixture.n_continuous :])) == {0.0, 1.0}


def test_seeds_reach_whoever_has_one():
    fold, mixture, draw = situation("iris")
    accuracies = {
        peer_result(
            fold, mixture, "f", labels_only(RandomForestClassifier(n_estimators=2)), Draw(1, 0, draw.labelled, seed)
        ).accuracy
        for seed in range(6)
    }
    assert len(accuracies) > 1
    assert peer_result(fold, mixture, "d", labels_only(DummyClassifier()), draw).accuracy == pytest.approx(
        1 / 3, abs=0.05
    )
