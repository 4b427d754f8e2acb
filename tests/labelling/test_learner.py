"""Learning in the background: versions, failures, and the same results as a plain fit."""

import threading

import numpy as np
import pytest

from mixkern import MixtureSVC
from mixkern.advice import estimated_accuracy
from mixkern.advice.mistaken import Doubts
from mixkern.labelling import LabelTable
from mixkern.labelling import learner as learner_module
from mixkern.labelling.learner import LabelState, Learner, Structure, shares_of
from mixkern.svm.decision import kernel_matrix

pytestmark = pytest.mark.slow  # servers and threads

SEED = 3


class Labels:
    """Labels that a test gives, in the place of a session."""

    def __init__(self, truth, rows=(), n_suggestions=6):
        self.truth, self.rows, self.taken, self.n_suggestions = truth, list(rows), [], n_suggestions
        self.is_suggested = np.zeros(len(truth), dtype=bool)
        self.version = 1

    def label(self, *rows):
        self.rows += rows
        self.version += 1

    def __call__(self):
        positions = np.array(sorted(self.rows), dtype=np.intp)
        codes = np.array([["no", "yes"].index(self.truth[row]) for row in positions], dtype=np.intp)
        taken = np.array(self.taken, dtype=np.intp)
        return LabelState(self.version, positions, codes, self.is_suggested[positions], taken, self.n_suggestions)


@pytest.fixture(scope="module")
def structure(table):
    return Structure.of(table, np.arange(len(table)), 2, SEED)


@pytest.fixture
def updated(table, truth, structure):
    """A learner after one update with labels of some rows, without threads."""

    def update(rows, **options):
        labels = Labels(truth, rows, **options)
        learner = Learner(table, labels, seed=SEED)
        learner.update(structure, labels())
        return learner

    return update


@pytest.fixture
def running():
    """Start learners, which are stopped after the test."""
    found = []

    def start(table, labels, **options):
        learner = Learner(table, labels, seed=SEED, **options)
        found.append(learner)
        learner.start()
        return learner

    yield start
    for learner in found:
        learner.stop()


# ---------------------------------------------------------------- one update


ROWS = [*range(24), 40, 55]


def test_predictions_are_those_of_a_plain_fit(updated, table, truth):
    model = updated(ROWS).model
    y = np.full(len(table), None, dtype=object)
    y[ROWS] = truth[ROWS]
    plain = MixtureSVC(encoder=table.encoder, unlabelled="ignore", random_state=SEED).fit(table.X, y)
    shares = plain.predict_proba(table.X)
    np.testing.assert_array_equal(np.array(["no", "yes"])[model.predicted], plain.predict(table.X))
    assert np.abs(model.confidence / 255 - shares.max(axis=1)).max() < 0.01


def test_the_estimate_is_that_of_the_plain_function(updated, table, truth):
    model = updated(ROWS).model
    y = np.full(len(table), None, dtype=object)
    y[ROWS] = truth[ROWS]
    plain = MixtureSVC(encoder=table.encoder, unlabelled="ignore", random_state=SEED).fit(table.X, y)
    expected = estimated_accuracy(plain, table.X, y, random_state=SEED)
    assert model.estimate.n_labels == len(ROWS)
    assert model.estimate.value == pytest.approx(expected.value, abs=0.01)
    assert model.estimate.interval == pytest.approx(expected.interval, abs=0.02)


def test_the_source_of_labels_is_part_of_the_estimate(table, truth, structure):
    labels = Labels(truth, ROWS)
    labels.is_suggested[ROWS[:10]] = True
    learner = Learner(table, labels, seed=SEED)
    learner.update(structure, labels())
    assert learner.model.estimate.n_suggested == 10


@pytest.mark.parametrize("n", [0, 1, 3])
def test_labels_of_fewer_than_two_classes_give_suggestions_but_no_classifier(updated, truth, n):
    rows = np.flatnonzero(truth == "no")[:n].tolist()
    learner = updated(rows)
    assert learner.model.estimator is None
    assert learner.model.estimate is None
    assert len(learner.model.predicted) == 0
    assert learner.model.positions.tolist() == rows
    assert learner.suggestions
    assert learner.error == ""


def test_one_label_of_each_of_two_classes_is_enough_for_a_classifier(updated, truth):
    rows = [int(np.flatnonzero(truth == name)[0]) for name in ("no", "yes")]
    model = updated(rows).model
    names = np.array(["no", "yes"])[model.predicted]
    assert np.mean(names == truth) > 0.9
    assert model.estimate.value is None


def test_labelled_and_taken_rows_are_not_suggested(table, truth, structure):
    labels = Labels(truth, range(40), n_suggestions=len(table))
    labels.taken = list(range(40, 70))
    learner = Learner(table, labels, seed=SEED)
    learner.update(structure, labels())
    found = [each.row for each in learner.suggestions]
    assert sorted(found) == list(range(70, len(table)))


def test_a_table_whose_rows_all_have_labels_has_no_suggestions(updated, table):
    learner = updated(range(len(table)))
    assert learner.suggestions == ()
    assert learner.model.estimate.is_complete


def test_reasons_do_not_contain_a_class(updated):
    for rows in (ROWS, ROWS[:2]):
        reasons = [each.reason for each in updated(rows).suggestions]
        assert all(reasons)
        assert not any(word in f" {reason} " for reason in reasons for word in ("'no'", "'yes'", " yes ", " no "))


def test_doubts_are_those_of_the_plain_computation(table, truth, structure, monkeypatch):
    monkeypatch.setattr(learner_module, "STANDS_OUT", 0.005)  # one mistake among 40 labels hardly stands out
    wrong = truth.copy()
    wrong[5] = "yes" if truth[5] == "no" else "no"
    labels = Labels(wrong, range(40))
    learner = Learner(table, labels, seed=SEED)
    learner.update(structure, labels())
    doubt = learner.model.doubts[0]
    assert (doubt.row, ["no", "yes"][doubt.label], ["no", "yes"][doubt.likely]) == (5, wrong[5], truth[5])
    plain = Doubts.of(kernel_matrix(learner.model.kernel, structure.rows[:40]), labels().codes)
    assert doubt.probability == pytest.approx(plain.probability[5])
    probabilities = [each.probability for each in learner.model.doubts]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(probabilities) == sum(plain.probability > 0.005)


def test_the_shares_of_a_row_are_sorted(updated, table, structure):
    model = updated(ROWS).model
    codes, shares = shares_of(model, structure.rows_at(table, np.array([70])))
    expected = model.estimator.predict_proba(structure.rows[np.array([70])])[0]
    assert shares.tolist() == sorted(expected, reverse=True)
    assert codes[0] == model.predicted[70]
    assert shares_of(updated([]).model, structure.rows[np.array([70])]) is None


# ---------------------------------------------------------------- threads


def test_the_model_follows_the_labels(running, table, truth, learned):
    labels = Labels(truth)
    learner = running(table, labels)
    learned(learner, lambda each: each.suggestions)
    for rows in ([0, 1, 2, 3], [4, 5, 6, 7, 8]):
        labels.label(*rows)
        learner.notify()
        learned(learner, lambda each: each.model is not None and each.model.version == labels.version)
    assert learner.model.positions.tolist() == list(range(9))


def test_each_model_is_passed_on(running, table, truth, learned):
    found = []
    labels = Labels(truth, [0, 1, 2, 3])
    learner = running(table, labels, on_model=found.append)
    learned(learner, lambda each: bool(found))
    assert found[-1] is learner.model


def test_a_failure_is_kept_as_a_sentence_and_the_next_update_repairs_it(running, table, truth, learned, monkeypatch):
    labels = Labels(truth, ROWS)
    with monkeypatch.context() as patched:
        patched.setattr(learner_module, "accuracy_of", lambda *_, **__: 1 / 0)
        learner = running(table, labels)
        learned(learner, lambda each: each.error)
        assert learner.error == "ZeroDivisionError: division by zero"
        assert learner.suggestions  # of the moment before
    labels.label(30)
    learner.notify()
    learned(learner, lambda each: each.model is not None and each.model.version == labels.version)
    learned(learner, lambda each: not each.error)


def test_a_structure_that_cannot_be_learned_is_a_sentence(running, table, truth, learned, monkeypatch):
    def fail(*_):
        raise MemoryError("too many rows")

    monkeypatch.setattr(Structure, "of", fail)
    learner = running(table, Labels(truth))
    learned(learner, lambda each: each.error)
    assert learner.error == "MemoryError: too many rows"
    learner.wait_for_suggestions(60)  # returns at once
    learner.notify()  # of a label
    learned(learner, lambda each: not each._is_changed)
    learner.stop()  # after the update that the label has caused
    assert learner.error == "MemoryError: too many rows"


def test_stop_ends_the_threads(running, table, truth, learned):
    before = set(threading.enumerate())
    learner = running(table, Labels(truth, ROWS))
    learned(learner, lambda each: each.suggestions)
    own = set(threading.enumerate()) - before
    assert own
    assert all(thread.name.startswith("mixkern label") for thread in own)
    learner.stop()
    assert set(threading.enumerate()) <= before
    learner.stop()  # once more does nothing


def test_waiting_for_suggestions_ends_when_the_learner_stops(table, truth):
    learner = Learner(table, Labels(truth))
    waiting = threading.Thread(target=learner.wait_for_suggestions, args=(60,))
    waiting.start()
    learner.stop()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_table_of_two_rows_can_be_learned(running, learned):
    table = LabelTable.of([[1.0, 2.5], [3.5, 4.0]], target="risk")
    learner = running(table, Labels(np.array(["no", "yes"]), [0, 1]))
    learned(learner, lambda each: each.model is not None or each.error)
    assert learner.error == ""


# ---------------------------------------------------------------- a sample first


@pytest.fixture(scope="module")
def large(groups):
    X, y = groups(120)
    return LabelTable.of(X, target="risk"), y


def test_a_large_table_is_learned_from_a_sample_first(running, large, learned, monkeypatch):
    monkeypatch.setattr(learner_module, "SAMPLE_ROWS", 50)
    table, y = large
    gate, original = threading.Event(), Structure.of

    def of(own, positions, version, seed):
        if version == 2:
            assert gate.wait(60)
        return original(own, positions, version, seed)

    monkeypatch.setattr(Structure, "of", of)
    labels = Labels(y, [0, 1, 2, 3, 4, 5, 100, 110, 119])
    learner = running(table, labels)
    learned(learner, lambda each: each.model is not None and each.suggestions)
    sample = learner.structure
    assert (sample.version, sample.is_complete, len(sample.positions)) == (1, False, 50)
    assert (np.diff(sample.positions) > 0).all()
    assert learner.model.structure is sample
    assert learner.model.positions.tolist() == labels.rows  # also those that are not in the sample
    assert len(learner.model.predicted) == 50
    assert {each.row for each in learner.suggestions} <= set(sample.positions.tolist()) - set(labels.rows)
    gate.set()
    learned(learner, lambda each: each.model.structure.version == 2)
    assert learner.structure.is_complete
    assert len(learner.model.predicted) == len(table)


def test_rows_outside_of_the_sample_are_encoded_as_inside(large):
    table, _ = large
    positions = np.arange(0, 120, 2)
    structure = Structure.of(table, positions, 1, SEED)
    found = structure.rows_at(table, positions[:5])
    np.testing.assert_allclose(found.values, structure.rows.values[:5])
    assert len(structure.rows_at(table, np.array([1, 3]))) == 2


def test_the_map_has_a_limited_number_of_rows(large, monkeypatch):
    monkeypatch.setattr(learner_module, "MAP_ROWS", 30)
    table, y = large
    structure = Structure.of(table, np.arange(120), 2, SEED)
    assert len(structure.on_map) == len(structure.map_rows) == 30
    labels = Labels(y, range(10))
    learner = Learner(table, labels)
    learner.update(structure, labels())
    assert len(learner.model.predicted) == 30


def test_sizes_count_the_rows_of_each_component(structure, table):
    assert structure.sizes.sum() == len(table)
    assert structure.sizes.tolist() == [int((structure.component == k).sum()) for k in range(len(structure.sizes))]


@pytest.mark.slow
def test_a_table_of_more_than_4000_rows_goes_through_both_stages(running, groups, learned):
    X, y = groups(4_100)
    versions = []
    labels = Labels(y, range(12))
    learner = running(
        LabelTable.of(X, target="risk"), labels, on_model=lambda model: versions.append(model.structure.version)
    )
    learned(learner, lambda each: each.model is not None and each.model.structure.version == 2)
    assert versions[0] == 1
    assert versions == sorted(versions)
    names = np.array(["no", "yes"])[learner.model.predicted]
    assert np.mean(names == y) > 0.95


def test_a_table_of_4000_rows_or_fewer_has_one_stage():
    assert 2 * learner_module.SAMPLE_ROWS == 4_000
