"""The paper's experiments from end to end: two folds, four kernels, killed and continued."""

import signal
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from mixkern import datasets
from mixkern.errors import InterruptedWarning, MixkernError
from mixkern_study import CellKey, Method, Protocol, Step, Store, all_rows, labels_only, run, run_times
from mixkern_study import experiment as experiment_module
from mixkern_study.method import Trained

SMALL = Protocol(
    n_folds=2,
    C=(0.1, 10.0),
    gamma=(0.1, 1.0),
    intrinsic=(0.01, 1.0),
    ambient=(0.01, 1.0),
    weights=(0.0, 1.0),
    priors=(1.0,),
)
SETS = ["iris"]
MORE = ["two_moons", "heart"]


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """All experiments with all kernels and two baselines."""
    store = Store(tmp_path_factory.mktemp("study") / "paper.sqlite", SMALL)
    steps = []
    run(store, data_sets=SETS, baselines=["svc", "spreading"], n_jobs=1, on_step=steps.append)
    return store, steps


@pytest.mark.slow
def test_every_cell_has_its_readings(smoke):
    store, _ = smoke
    kernels = {
        (r.experiment, r.data_set, r.fold, r.method, r.reading) for r in store.results() if r.reading != "default"
    }
    assert len(kernels) == 3 * 2 * 4 * 3
    assert len(store.results(reading="default")) == 3 * 2 * 2
    assert all(0 <= r.accuracy <= 1 for r in store.results())
    assert np.mean([r.accuracy for r in store.results(data_set="iris")]) > 0.8


@pytest.mark.slow
def test_data_sets_of_two_classes_and_with_categories(tmp_path):
    store = Store(tmp_path / "paper.sqlite", SMALL)
    run(store, data_sets=MORE, n_jobs=2)
    assert len(store.results()) == 2 * 3 * 2 * 4 * 3
    assert all(0.3 < r.accuracy <= 1 for r in store.results())


@pytest.mark.slow
def test_progress_counts_to_the_end(smoke):
    _, steps = smoke
    assert [step.done for step in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].done == steps[-1].total == 2 * (1 + 6)
    assert any(step.what == "Iris, fold 2, lap" for step in steps)


def test_nothing_is_computed_twice(smoke):
    store, _ = smoke
    before, steps = repr(store.results()), []
    run(store, data_sets=SETS, baselines=["svc", "spreading"], n_jobs=1, on_step=steps.append)
    assert steps == []
    assert repr(store.results()) == before


def test_more_repeats_add_to_what_is_there(smoke, tmp_path):
    store, _ = smoke
    run(store, experiments=[1], data_sets=["iris"], kernels=["rbf"], repeats=2, n_jobs=1)
    second = [r.accuracy for r in store.results(method="rbf", data_set="iris", repeat=1)]
    assert len(second) == 2 * 3
    fresh = Store(tmp_path / "fresh.sqlite", SMALL)
    run(fresh, experiments=[1], data_sets=["iris"], kernels=["rbf"], repeats=2, n_jobs=1)
    assert [r.accuracy for r in fresh.results(repeat=1)] == second
    assert {r.seed for r in fresh.results(repeat=1)}.isdisjoint({r.seed for r in fresh.results(repeat=0)})


@pytest.mark.slow
def test_two_processes_find_what_one_finds(smoke, tmp_path):
    store, _ = smoke
    other = Store(tmp_path / "paper.sqlite", SMALL)
    run(other, experiments=[1, 2], data_sets=["iris"], kernels=["rwm", "lap"], n_jobs=2)

    def figures(where):
        found = [
            r for m in ("rwm", "lap") for e in (1, 2) for r in where.results(data_set="iris", method=m, experiment=e)
        ]
        return sorted(
            (r.experiment, r.method, r.fold, r.reading, r.C, r.gamma, r.accuracy) for r in found if not r.repeat
        )

    assert figures(other) == figures(store)
    assert len(other.runs()) == 1


SCRIPT = f"""
import sys
from mixkern_study import Protocol, Store, run
SMALL = {SMALL!r}
run(Store(sys.argv[1], SMALL), experiments=[1], data_sets=["iris", "wine", "seeds"], kernels=["rbf", "rwm"], n_jobs=1,
    on_step=lambda step: print(step.what, flush=True))
"""


@pytest.mark.posix
@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "paper.sqlite"
    worker = subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], stdout=subprocess.PIPE, text=True)
    lines = [worker.stdout.readline() for _ in range(9)]  # six densities and three cells
    worker.send_signal(signal.SIGKILL)
    worker.communicate()
    store = Store(path, SMALL)
    finished = {line.strip() for line in lines}
    assert len(store.density_names()) == 6 * 2
    done = store.done()
    assert 3 <= len(done) <= 5
    kept = {key: repr(store.results(data_set=key.data_set, fold=key.fold, method=key.method)) for key in done}
    steps = []
    run(
        store,
        experiments=[1],
        data_sets=["iris", "wine", "seeds"],
        kernels=["rbf", "rwm"],
        n_jobs=1,
        on_step=steps.append,
    )
    assert len(steps) == 12 - len(done)
    assert finished.isdisjoint(step.what for step in steps)
    for key, before in kept.items():
        assert repr(store.results(data_set=key.data_set, fold=key.fold, method=key.method)) == before


def test_tables_and_methods_of_your_own(tmp_path):
    path = tmp_path / "flowers.csv"
    datasets.load("iris").X.assign(kind=datasets.load("iris").y).to_csv(path, index=False)
    store = Store(tmp_path / "paper.sqlite", SMALL)
    baselines = {"bayes": labels_only(GaussianNB()), "all": all_rows(_Majority())}
    own = datasets.read_dataset(path, "kind")
    run(store, experiments=[1], data_sets=[own], kernels=[], baselines=baselines, folds=[1], n_jobs=1)
    assert store.done() == {CellKey(1, "flowers", 1, 0, "bayes"), CellKey(1, "flowers", 1, 0, "all")}
    assert store.results(method="bayes")[0].accuracy > 0.7


def test_another_table_of_the_same_name_is_refused(tmp_path):
    store, iris = Store(tmp_path / "paper.sqlite", SMALL), datasets.load("iris")
    run(store, experiments=[1], data_sets=[iris, iris], kernels=["rbf"], folds=[0, 0], n_jobs=1)
    assert len(store.results()) == 3
    with pytest.raises(MixkernError, match="another table that is called 'iris'"):
        run(store, experiments=[1], data_sets=[replace(iris, X=iris.X + 1)], kernels=["rbf"], n_jobs=1)


class _Majority(GaussianNB):
    """A classifier that is trained on the labelled rows among all rows."""

    def fit(self, X, y):
        assert (y == -1).sum() == len(y) - 12
        return super().fit(X[y >= 0], y[y >= 0])


def test_a_part_that_fails_does_not_stop_the_others(tmp_path):
    def broken(data):
        raise ValueError("no idea")

    store, steps = Store(tmp_path / "paper.sqlite", SMALL), []
    baselines = {"broken": Method("", broken), "bayes": labels_only(GaussianNB())}
    with pytest.raises(
        MixkernError, match=r"2 of 6 parts failed, all others are kept\. The first: Iris, fold ., broken"
    ):
        run(store, experiments=[1], data_sets=["iris"], kernels=[], baselines=baselines, n_jobs=1, on_step=steps.append)
    assert len(store.results(method="bayes")) == 2
    assert [step.error for step in steps if step.error] == ["ValueError: no idea"] * 2


def test_an_interrupted_method_has_no_result(tmp_path):
    class Stopped:
        def train(self, codes, seed):
            warnings.warn("Stopped.", InterruptedWarning, stacklevel=1)
            return Trained(lambda test: np.zeros(len(test)))

    store, baselines = Store(tmp_path / "paper.sqlite", SMALL), {"stopped": Method("", lambda data: Stopped())}
    with pytest.raises(KeyboardInterrupt):
        run(
            store,
            experiments=[1],
            data_sets=["iris"],
            kernels=[],
            baselines=baselines,
            n_jobs=1,
        )
    assert store.results() == []


def test_only_the_densities_that_are_needed(tmp_path):
    store = Store(tmp_path / "paper.sqlite", SMALL)
    run(store, experiments=[1], data_sets=["iris"], kernels=["rbf"], folds=np.arange(1), n_jobs=1)
    assert store.density_names() == {("iris", 0, "default")}
    run(store, experiments=[1], data_sets=["iris"], kernels=["gmm"], folds=[0], n_jobs=1)
    assert store.density_names() == {("iris", 0, "default"), ("iris", 0, "w0=1.0")}
    assert {key.fold for key in store.done()} == {0}


def test_run_times_of_a_fold(tmp_path):
    store = Store(tmp_path / "paper.sqlite", SMALL)
    steps = []
    run_times(store, data_sets=["iris"], folds=[0], on_step=steps.append)
    assert [type(step) for step in steps] == [Step]
    found = {timing.method: timing for timing in store.timings()}
    assert set(found) == {"density", "rbf_kernel", "rwm", "gmm", "rbf", "lap"}
    assert all(timing.building_s > 0 for timing in found.values())
    assert found["lap"].grid_s > 0
    assert np.isnan(found["rwm"].grid_s)
    assert (found["rwm"].n_rows, found["rwm"].n_labelled, found["rwm"].n_test) == (75, 12, 75)
    assert store.density_names() == {("iris", 0, "default")}
    run_times(store, data_sets=["iris"], folds=[0], on_step=steps.append)
    assert len(steps) == 1


@pytest.mark.slow
def test_run_times_of_the_papers_density(tmp_path, monkeypatch):
    """It is the one that is measured; labels are drawn by the default one, as in the experiments."""
    measured = []

    def recorded(fold, mixture, labelled, protocol):
        measured.append((mixture, labelled.tolist()))
        return []

    monkeypatch.setattr(experiment_module, "fold_timings", recorded)
    found = {}
    for density in ("default", "paper"):
        store = Store(tmp_path / "paper.sqlite", replace(SMALL, density=density))
        run_times(store, data_sets=["iris"], folds=[0])
        found[density] = store.density("iris", 0, density)
    assert [mixture for mixture, _ in measured] == [found["default"], found["paper"]]
    assert measured[0][1] == measured[1][1]
    assert store.density_names() == {("iris", 0, "default"), ("iris", 0, "paper")}


def test_labels_of_one_choice_or_of_several_at_once(tmp_path):
    """Each has its results, in the same run; experiment 2 has the choice of the protocol."""
    store = Store(tmp_path / "paper.sqlite", SMALL)
    options = {"data_sets": ["iris"], "kernels": ["rbf"], "baselines": ["spreading"], "folds": [0], "n_jobs": 1}
    run(store, experiments=[1, 2], labels=["random", "dense"], **options)
    done = {
        choice: {(key.experiment, key.method) for key in store.with_protocol(replace(SMALL, labels=choice)).done()}
        for choice in ("components", "dense", "dense_per_class", "random")
    }
    first, second = ({(experiment, method) for method in ("rbf", "spreading")} for experiment in (1, 2))
    assert done == {"components": second, "dense": first, "dense_per_class": set(), "random": first}
    steps = []
    run(store, experiments=[1], labels=["dense"], on_step=steps.append, **options)
    assert steps == []
    run(store, experiments=[1], on_step=steps.append, **options)
    assert [step.what for step in steps] == ["Iris, fold 1, rbf", "Iris, fold 1, spreading"]
    assert {key.experiment for key in store.done()} == {1, 2}
    assert len(store.runs()) == 1


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (["rbf", "lap"], ("default",)),
        (["forest"], ("default", "paper")),
        (["rbf", "gmm"], ("default", "paper")),
    ],
)
def test_densities_that_methods_need(methods, expected):
    assert experiment_module.needed_densities(replace(SMALL, density="paper"), methods) == expected
    usual = experiment_module.needed_densities(SMALL, methods)
    assert usual == (("default", "w0=1.0") if "gmm" in methods else ("default",))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kernels": ["rvm"]}, "There is no kernel 'rvm'. Did you mean 'rwm'?"),
        ({"baselines": ["forrest"]}, "There is no baseline 'forrest'. Did you mean 'forest'?"),
        ({"labels": ["densest"], "data_sets": ["iris"]}, "labels must be one of 'components', 'dense'"),
        ({"data_sets": ["irsi"]}, "There is no data set 'irsi'. Did you mean 'iris'?"),
        ({"folds": [7], "data_sets": ["iris"]}, "from 0 to 1, but the fold is 7"),
        ({"n_jobs": 0, "data_sets": ["iris"]}, "n_jobs must be a number of processes"),
    ],
)
def test_typos(tmp_path, options, why):
    with pytest.raises(MixkernError, match=why.replace("?", r"\?")):
        run(Store(tmp_path / "s.sqlite", SMALL), **{"n_jobs": 1, **options})
