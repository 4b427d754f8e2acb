"""A small leaderboard from end to end, continued, with methods that fail."""

import dataclasses
from time import process_time

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mixkern import datasets
from mixkern.errors import InterruptedWarning, MixkernError
from mixkern_study import METHODS, Entry, Method, Store, TrainingData, labels_only, run_leaderboard
from mixkern_study.method import Trained
from mixkern_study.protocol import StudyError

SMALL = {"data_sets": ["iris", "wine"], "budgets": [2, 4], "choices": ["random"], "n_draws": 2, "n_jobs": 1}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    store, steps = Store(tmp_path_factory.mktemp("board") / "b.sqlite"), []
    run_leaderboard(store, methods=["rwm", "bayes"], on_step=steps.append, **SMALL)
    return store, steps


def test_every_entry_is_there(smoke):
    store, _ = smoke
    found = store.entries()
    keys = {(e.data_set, e.budget, e.choice, e.draw, e.method) for e in found}
    assert len(keys) == len(found) == 2 * 2 * 2 * 2
    assert all(0 <= e.accuracy <= 1 and 0 <= e.balanced_accuracy <= 1 and not e.error for e in found)
    assert all(e.n_labelled == 3 * e.budget for e in found)
    assert np.mean([e.accuracy for e in found]) > 0.6
    assert {e.settings for e in found} == {METHODS["rwm"].settings, METHODS["bayes"].settings}


def test_seconds_of_the_density_count_for_methods_that_use_it(tmp_path, monkeypatch):
    store = Store(tmp_path / "b.sqlite")
    monkeypatch.setattr(TrainingData, "density_s", lambda data, prior: 1000.0)
    run_leaderboard(store, methods=["rwm", "bayes"], **{**SMALL, "data_sets": ["iris"], "n_draws": 1})
    assert all(e.structure_s > 1000 for e in store.entries(method="rwm"))
    assert all(e.structure_s < 1000 for e in store.entries(method="bayes"))


def test_progress_counts_entries(smoke):
    _, steps = smoke
    assert steps[-1].done == steps[-1].total == 16


def test_all_methods_have_the_same_labels(smoke):
    store, _ = smoke
    for e in store.entries(method="rwm"):
        (other,) = store.entries(method="bayes", data_set=e.data_set, budget=e.budget, draw=e.draw)
        assert (other.seed, other.n_labelled, other.n_seen) == (e.seed, e.n_labelled, e.n_seen)


def test_nothing_is_computed_twice_and_more_is_added(smoke):
    store, _ = smoke
    before, steps = store.entries(), []
    run_leaderboard(store, methods=["rwm", "bayes"], on_step=steps.append, **SMALL)
    assert steps == []
    assert repr(store.entries()) == repr(before)
    run_leaderboard(store, methods=["bayes"], on_step=steps.append, **{**SMALL, "n_draws": 3})
    assert steps[-1].total == 2 * 2
    assert repr(store.entries()[: len(before)]) == repr(before)


def test_entries_have_the_calibration_of_methods_with_probabilities(tmp_path):
    store = Store(tmp_path / "b.sqlite")
    some = {**SMALL, "data_sets": ["iris"], "budgets": [4], "n_draws": 2}
    run_leaderboard(store, methods=["rbf", "bayes", "svc_10"], **some)
    for e in store.entries(method="rbf") + store.entries(method="bayes"):
        assert 0 <= e.ece <= 1
        assert 0 < e.log_loss < 14
        assert sum(n for n, _, _ in e.bins) == 30  # rows of the test fold
        assert sum(correct for _, _, correct in e.bins) == round(30 * e.accuracy)
    for e in store.entries(method="svc_10"):
        assert e.reliability == "[]"
        assert np.isnan(e.ece)
        assert np.isnan(e.log_loss)
    before, steps = store.entries(), []
    run_leaderboard(store, methods=["rbf", "bayes", "svc_10"], on_step=steps.append, **some)
    assert steps == []
    assert repr(store.entries()) == repr(before)


@pytest.mark.slow
def test_probabilities_change_no_prediction_and_can_be_added(tmp_path):
    store = Store(tmp_path / "b.sqlite")
    some = {**SMALL, "data_sets": ["wine"], "budgets": [4], "methods": ["mixture_svc"], "n_draws": 2}
    run_leaderboard(store, probabilities=False, **some)
    plain = store.entries()
    assert {e.reliability for e in plain} == {""}
    run_leaderboard(store, probabilities=False, **some)
    assert repr(store.entries()) == repr(plain)
    run_leaderboard(store, **some)
    added = store.entries()
    assert [(e.accuracy, e.settings, e.seed) for e in added] == [(e.accuracy, e.settings, e.seed) for e in plain]
    assert all(e.bins for e in added)


def test_seconds_do_not_include_probabilities(tmp_path):
    store = Store(tmp_path / "b.sqlite")

    class Slow:
        def train(self, codes, seed):
            return Trained(zeros, self.probabilities)

        def probabilities(self, test):
            end = process_time() + 0.2
            while process_time() < end:
                pass
            return np.array([0, 1, 2]), np.tile([0.5, 0.25, 0.25], (len(test), 1))

    run_leaderboard(
        store,
        methods={"slow": Method("", lambda data: Slow(), "")},
        **{**SMALL, "data_sets": ["iris"], "budgets": [4], "n_draws": 1},
    )
    (found,) = store.entries()
    assert found.learning_s < 0.1
    assert found.ece == pytest.approx(0.5 - 1 / 3)


def test_a_density_that_no_method_needs_is_not_learned(tmp_path, monkeypatch):
    learned = []
    density = TrainingData.density
    monkeypatch.setattr(
        TrainingData, "density", lambda data, prior: (learned.append(str(prior)), density(data, prior))[1]
    )
    some = {**SMALL, "data_sets": ["iris"], "budgets": [4], "n_draws": 1}
    run_leaderboard(Store(tmp_path / "b.sqlite"), methods=["bayes"], **some)
    assert set(learned) == {"typical"}
    run_leaderboard(Store(tmp_path / "b.sqlite"), methods=["bayes"], **{**some, "choices": ["suggested"]})
    assert set(learned) == {"typical", "evidence"}


def test_other_settings_of_a_method_are_computed_again(tmp_path):
    store = Store(tmp_path / "b.sqlite")
    some = {**SMALL, "data_sets": ["iris"], "budgets": [4], "n_draws": 1}
    run_leaderboard(store, methods={"bayes": METHODS["bayes"]}, **some)
    run_leaderboard(store, methods={"bayes": labels_only(GaussianNB(var_smoothing=0.5))}, **some)
    (found,) = store.entries()
    assert "0.5" in found.settings


class _Fails:
    """Learns from one draw and fails on others."""

    def __init__(self):
        self.times = 0

    def train(self, codes, seed):
        self.times += 1
        if self.times > 1:
            raise ValueError("too hard")
        return Trained(zeros)


def zeros(test):
    return np.zeros(len(test), dtype=int)


def test_a_method_that_fails_is_scored_as_the_most_frequent_label(tmp_path):
    store = Store(tmp_path / "b.sqlite")

    def no(data):
        raise MemoryError("too large")

    methods = {"fails": Method("", lambda data: _Fails(), ""), "never": Method("", no, ""), "bayes": METHODS["bayes"]}
    run_leaderboard(store, methods=methods, **{**SMALL, "data_sets": ["iris"], "n_draws": 1})
    assert [e.error for e in store.entries(method="fails")] == ["", "ValueError: too hard"]
    assert [e.error for e in store.entries(method="never")] == ["MemoryError: too large"] * 2
    assert [e.error for e in store.entries(method="bayes")] == ["", ""]
    for e in store.entries(method="never"):
        assert e.accuracy == e.balanced_accuracy == pytest.approx(1 / 3)
        (largest,) = [each for each in e.bins if each[0]]
        assert largest[1] / largest[0] >= 1 / 3  # the share of the most frequent label


def test_an_interrupted_method_has_no_entry(tmp_path):
    store = Store(tmp_path / "b.sqlite")

    def stopped(data):
        raise InterruptedWarning("stopped")

    with pytest.raises(KeyboardInterrupt):
        run_leaderboard(store, methods={"stopped": Method("", stopped, "")}, **SMALL)
    assert store.entries() == []


@pytest.mark.slow
def test_a_run_that_is_stopped_keeps_what_it_has(tmp_path):
    store = Store(tmp_path / "b.sqlite")

    class Stops(_Fails):
        def train(self, codes, seed):
            if store.count(Entry) == 3:
                raise KeyboardInterrupt
            return Trained(zeros)

    methods = {"stops": Method("", lambda data: Stops(), "same")}
    with pytest.raises(KeyboardInterrupt):
        run_leaderboard(store, methods=methods, **SMALL)
    kept = store.entries()
    assert len(kept) == 3
    steps = []
    methods = {"stops": Method("", lambda data: _Fails(), "same")}
    run_leaderboard(store, methods=methods, on_step=steps.append, **SMALL)
    assert steps[-1].total == 8 - 3
    assert repr(store.entries()[:3]) == repr(kept)


@pytest.mark.slow
def test_suggested_rows(tmp_path):
    store = Store(tmp_path / "b.sqlite")
    run_leaderboard(store, methods=["bayes"], **{**SMALL, "choices": ["suggested", "random"]})
    assert len(store.entries(choice="suggested")) == len(store.entries(choice="random")) == 8


@pytest.mark.slow
def test_workers_find_what_one_process_finds(smoke, tmp_path):
    store, _ = smoke
    other = Store(tmp_path / "b.sqlite")
    run_leaderboard(other, methods=["rwm"], **{**SMALL, "data_sets": ["iris"], "n_jobs": 2})

    def figures(where):
        return sorted((e.budget, e.draw, e.accuracy) for e in where.entries(data_set="iris", method="rwm"))

    assert figures(other) == figures(store)
    assert len(other.runs()) == 1


@pytest.mark.slow
def test_a_fold_that_fails_is_reported_at_the_end(tmp_path):
    iris = datasets.load("iris")
    bad = datasets.Dataset(
        **{**vars(iris), "name": "bad", "title": "Bad", "y": iris.y.where(iris.y != "setosa")}  # rows without a label
    )
    store = Store(tmp_path / "b.sqlite")
    with pytest.raises(StudyError, match=r"5 of 10 parts failed, all others are kept. The first: Bad, fold"):
        run_leaderboard(store, methods=["bayes"], **{**SMALL, "data_sets": [bad, iris], "n_draws": 5})
    assert len(store.entries(data_set="iris")) == 10


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"methods": ["rvm"]}, "There is no method 'rvm'. Did you mean 'rwm'"),
        ({"choices": ["suggest"]}, "Did you mean 'suggested'"),
        ({"budgets": [0]}, "counted from 1"),
        ({"n_draws": 0}, "counted from 1"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_what_is_refused(tmp_path, changes, why):
    with pytest.raises(MixkernError, match=why):
        run_leaderboard(Store(tmp_path / "b.sqlite"), **{**SMALL, **changes})


def test_two_tables_of_one_name_are_refused(tmp_path):
    iris, wine = datasets.load("iris"), dataclasses.replace(datasets.load("wine"), name="iris")
    store = Store(tmp_path / "board.sqlite")
    with pytest.raises(StudyError, match="Two tables are called 'iris'"):
        run_leaderboard(store, data_sets=[iris, wine], methods=["bayes"], n_draws=1, n_jobs=1)
    assert store.count(Entry) == 0
