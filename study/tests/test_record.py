"""Which settings of a protocol each record depends on."""

from dataclasses import asdict, fields, replace

import pytest

from mixkern_study import CellKey, Entry, Protocol, Result, Store, Timing, Trial
from mixkern_study.protocol import Experiment
from mixkern_study.published import KERNELS
from mixkern_study.record import CELL_SCOPES, OTHER, RECORDS, FoldDensity, cell_scope

OTHERS = ("forest",)
FIRST_TWO, ALL = (1, 2), (1, 2, 3)
SWEPT = ("rwm", "gmm", "rbf")

# Another value of every setting, and the cells whose results it changes: experiments and methods.
CHANGES = {
    "n_folds": (3, ALL, (*KERNELS, *OTHERS)),
    "seed": (1, ALL, (*KERNELS, *OTHERS)),
    "labels": ("random", FIRST_TWO, (*KERNELS, *OTHERS)),
    "labels_per_class": (5, FIRST_TWO, (*KERNELS, *OTHERS)),
    "share": (0.2, (2,), (*KERNELS, *OTHERS)),
    "density": ("paper", ALL, ("rwm", "gmm", *OTHERS)),
    "priors": ((1.0,), ALL, ("rwm", "gmm", *OTHERS)),
    "responsibilities": ("numbers", ALL, ("rwm",)),
    "ceiling_weights": ((1.0,), ALL, ("rwm", "gmm")),
    "graph_weights": ("heat", ALL, ("lap",)),
    "normalised": (False, ALL, ("lap",)),
    "degree": (2, ALL, ("lap",)),
    "intrinsic": ((1.0,), ALL, ("lap",)),
    "ambient": ((1.0,), ALL, ("lap",)),
    "max_graph_rows": (99, ALL, ("lap",)),
    "n_inner_folds": (3, ALL, KERNELS),
    "C": ((1.0,), ALL, SWEPT),
    "gamma": ((1.0,), ALL, KERNELS),
    "weights": ((1.0,), ALL, SWEPT),
    "scout_rows": (99, ALL, KERNELS),
    "n_finalists": (5, ALL, KERNELS),
    "sweep_rows": (99, ALL, SWEPT),
    "n_sweep_finalists": (5, ALL, SWEPT),
    "max_labelled": (99, ALL, KERNELS),
    "max_unlabelled": (99, ALL, KERNELS),
    "max_iter": (99, ALL, KERNELS),
}
DENSITIES = ("default", "w0=1.0", "paper")
OF_DENSITIES = {"n_folds": DENSITIES, "seed": DENSITIES, "priors": ("paper",)}
OF_TIMINGS = {
    *("n_folds", "seed", "labels", "labels_per_class", "share", "density", "priors"),
    *("intrinsic", "ambient", "graph_weights", "normalised", "degree"),
}
OF_ENTRIES = {"n_folds", "seed"}


def results():
    cells = [(experiment, method) for experiment in ALL for method in (*KERNELS, *OTHERS)]
    shared = {"data_set": "iris", "fold": 0, "repeat": 0}
    for experiment, method in cells:
        yield Result(experiment=experiment, method=method, reading="ceiling", accuracy=0.9, n_labelled=12, **shared)


def trials():
    figures = dict.fromkeys(
        ("validation_error", "expected_error", "optimistic_error", "log_loss", "confidence", "n_support"), 0.5
    )
    settings = dict.fromkeys(("C", "gamma", "alpha", "beta", "ratio"), 1.0)
    for result in results():
        cell = {name: getattr(result, name) for name in asdict(CellKey(1, "", 0, 0, ""))}
        yield Trial(**cell, density="default", **figures, **settings)


def entry():
    key = {"data_set": "iris", "budget": 4, "choice": "random", "draw": 0, "method": "rwm", "settings": ""}
    figures = {"accuracy": 0.9, "balanced_accuracy": 0.8, "n_labelled": 12, "n_seen": 3}
    return Entry(**key, **figures, structure_s=0.5, learning_s=0.25)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A record of every kind and of every scope."""
    store = Store(tmp_path_factory.mktemp("records") / "s.sqlite")
    densities = [FoldDensity(data_set="iris", fold=0, name=name, mixture="{}", seconds=1.0) for name in DENSITIES]
    size = {"data_set": "iris", "fold": 0, "n_rows": 120, "n_labelled": 12, "n_test": 30}
    store.add(results(), trials(), densities, [Timing(method="rwm", building_s=0.1, **size)], [entry()])
    return store


def test_every_setting_is_in_the_table():
    assert set(CHANGES) == {field.name for field in fields(Protocol)}


@pytest.mark.parametrize("name", CHANGES)
def test_another_value_of_a_setting_hides_the_records_that_depend_on_it_and_no_others(store, name):
    value, experiments, methods = CHANGES[name]
    assert getattr(Protocol(), name) != value
    other = store.with_protocol(replace(Protocol(), **{name: value}))
    hidden = {(experiment, method) for experiment in experiments for method in methods}
    everything = {(experiment, method) for experiment in ALL for method in (*KERNELS, *OTHERS)}
    assert {(each.experiment, each.method) for each in other.results()} == everything - hidden
    assert {(each.experiment, each.method) for each in other.read(Trial)} == everything - hidden
    assert {(cell.experiment, cell.method) for cell in other.done()} == everything - hidden
    names = [density for density in DENSITIES if density not in OF_DENSITIES.get(name, ())]
    assert [each.name for each in other.read(FoldDensity)] == names
    assert len(other.timings()) == (name not in OF_TIMINGS)
    assert len(other.entries()) == other.count(Entry) == (name not in OF_ENTRIES)


def test_a_shared_record_is_read_by_both_protocols_and_replaced_by_either(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    paper = store.with_protocol(Protocol(density="paper"))
    cell = {"experiment": 1, "data_set": "iris", "fold": 0, "repeat": 0, "reading": "ceiling", "n_labelled": 12}
    store.add([Result(method="rbf", accuracy=0.5, **cell), Result(method="rwm", accuracy=0.6, **cell)])
    paper.add([Result(method="rbf", accuracy=0.7, **cell), Result(method="rwm", accuracy=0.8, **cell)])
    assert {each.method: each.accuracy for each in store.results()} == {"rbf": 0.7, "rwm": 0.6}
    assert {each.method: each.accuracy for each in paper.results()} == {"rbf": 0.7, "rwm": 0.8}
    assert paper.results(method="rwm", fold=0)[0].accuracy == 0.8


def test_runs_are_those_of_the_records_that_a_protocol_reads(tmp_path):
    path = tmp_path / "s.sqlite"
    cell = {"experiment": 1, "data_set": "iris", "fold": 0, "repeat": 0, "reading": "ceiling", "n_labelled": 12}
    Store(path).add([Result(method="rbf", accuracy=0.5, **cell)])
    Store(path, Protocol(density="paper")).add([Result(method="rwm", accuracy=0.5, **cell)])
    assert len(Store(path).runs()) == 1
    assert len(Store(path, Protocol(density="paper")).runs()) == 2
    assert Store(path, Protocol(seed=1)).runs() == []


def test_scopes_are_complete():
    """Every scope of a record is one of those of its kind, and all settings are settings of a protocol."""
    assert set(CELL_SCOPES) == {cell_scope(e, m) for e in Experiment for m in (*KERNELS, OTHER)}
    known = {field.name for field in fields(Protocol)}
    for kind in RECORDS:
        for names in kind.scopes.values():
            assert set(names) <= known
            assert len(names) == len(set(names))
    assert {each.scope for each in results()} == set(Result.scopes)
