"""Readings of the protocol: single changes, which compute what they touch and nothing else."""

from dataclasses import fields, replace

import pytest

from mixkern import datasets
from mixkern_study import KERNELS, Protocol, Store
from mixkern_study import variant as variant_module
from mixkern_study.data_sets import load_tables
from mixkern_study.method_list import BASELINES
from mixkern_study.protocol import CHOICES, LabelChoice, StudyError
from mixkern_study.variant import (
    GRAPHS,
    LABEL_TITLE,
    MIXED,
    PEERS,
    REPEATS,
    SMALL,
    VARIANTS,
    run_variants,
    variants,
)

pytestmark = pytest.mark.slow

TINY = Protocol(
    n_folds=2,
    C=(1.0,),
    gamma=(0.1, 1.0),
    intrinsic=(1.0,),
    ambient=(0.01, 1.0),
    weights=(1.0,),
    ceiling_weights=(1.0,),
    priors=(1.0,),
)


def test_names_and_titles_are_unique():
    assert len({each.name for each in VARIANTS}) == len({each.title for each in VARIANTS}) == len(VARIANTS)
    assert list(variants()) == [each.name for each in VARIANTS]
    assert all(each.name.isidentifier() for each in VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda each: each.name)
def test_a_reading_changes_settings_of_the_protocol(variant):
    assert variant.changes
    assert set(variant.changes) <= {field.name for field in fields(Protocol)}
    changed = variant.protocol(TINY)
    assert changed != TINY
    assert replace(changed, **{name: getattr(TINY, name) for name in variant.changes}) == TINY
    assert set(variant.kernels) <= set(KERNELS)
    assert set(variant.experiments) <= {1, 2, 3}
    assert set(variant.data_sets or ()) <= set(datasets.names())


def test_every_choice_of_the_protocol_has_a_reading():
    """Each value of each choice is that of the default or of a reading; all graphs are there once."""
    for kind, name in CHOICES:
        found = {getattr(Protocol(), name), *(getattr(each.protocol(Protocol()), name) for each in VARIANTS)}
        assert found == {str(each) for each in kind}
    assert set(LABEL_TITLE) == set(LabelChoice)
    graphs = {each.protocol(Protocol()) for each in VARIANTS if each.kernels == ("lap",)}
    assert len(graphs) == len(GRAPHS) - 1 == 7
    assert GRAPHS[0] == {name: getattr(Protocol(), name) for name in GRAPHS[0]}


def test_the_papers_density_is_read_in_all_experiments_and_labels_in_the_first():
    found = variants(["density_paper", "labels_random", "labels_dense", "labels_dense_per_class"])
    assert (found["density_paper"].experiments, found["density_paper"].data_sets) == ((1, 2, 3), None)
    for choice in ("dense", "dense_per_class", "random"):
        assert found[f"labels_{choice}"].changes == {"labels": choice}
        assert found[f"labels_{choice}"].experiments == (1,)
        assert found[f"labels_{choice}"].kernels == KERNELS


def test_data_sets_with_columns_of_both_kinds(tmp_path):
    tables = load_tables(Store(tmp_path / "s.sqlite"), datasets.names())
    assert sorted(MIXED) == sorted(each.name for each in tables if each.continuous and each.categorical)
    assert set(SMALL) <= {each.name for each in tables if len(each.X) <= 1000}
    assert set(PEERS) <= set(BASELINES)


def test_a_name_that_is_not_there(tmp_path):
    with pytest.raises(StudyError, match=r"There is no reading 'label_dense'\. Did you mean 'labels_dense'\?"):
        variants(["label_dense"])
    with pytest.raises(StudyError, match="There is no reading"):
        run_variants(Store(tmp_path / "s.sqlite"), ["nothing"], n_jobs=1)


# ---------------------------------------------------------------- which runs


@pytest.fixture
def runs(monkeypatch):
    """Record what would be run."""
    found = []
    monkeypatch.setattr(variant_module, "run", lambda store, **options: found.append((store.protocol, options)))
    return found


def test_all_readings_and_their_cells(tmp_path, runs):
    run_variants(Store(tmp_path / "s.sqlite", TINY), n_jobs=3)
    (protocol, options), *others = runs
    assert protocol == TINY
    assert options["labels"] == ["dense", "dense_per_class", "random"]
    assert (options["experiments"], options["data_sets"], options["kernels"]) == ([1], None, list(KERNELS))
    rest = [each for each in VARIANTS if "labels" not in each.changes]
    for variant, (protocol, options) in zip(rest, others, strict=True):
        assert protocol == variant.protocol(TINY)
        assert (options["experiments"], options["kernels"]) == (list(variant.experiments), list(variant.kernels))
        assert options["data_sets"] == (None if variant.data_sets is None else list(variant.data_sets))
    assert all((options["repeats"], options["n_jobs"]) == (REPEATS, 3) for _, options in runs)


def test_some_experiments_and_kernels(tmp_path, runs):
    names = ["labels_random", "density_paper", "graph_heat_normalised_p1"]
    run_variants(Store(tmp_path / "s.sqlite", TINY), names, experiments=[2, 3], kernels=["rwm", "lap"])
    assert [(options["experiments"], options["kernels"]) for _, options in runs] == [([2, 3], ["rwm"]), ([], ["lap"])]


def test_some_data_sets_and_tables_of_your_own(tmp_path, runs):
    """A reading for some data sets is run on its own only; the others on all that are given."""
    own = replace(datasets.load("wine"), name="mine")
    names = ["labels_random", "density_paper", "responsibilities_numbers", "graph_heat_normalised_p1"]
    run_variants(Store(tmp_path / "s.sqlite", TINY), names, data_sets=iter(["heart", "iris", own]), repeats=2)
    assert [options["data_sets"] for _, options in runs] == [
        ["heart", "iris", own],
        ["heart", "iris", own],
        ["heart"],
        ["heart", "iris"],
    ]
    assert {options["repeats"] for _, options in runs} == {2}


# ---------------------------------------------------------------- end to end

NAMES = ["labels_random", "labels_dense", "density_paper", "graph_binary_normalised_p2"]


@pytest.fixture(scope="module")
def readings(tmp_path_factory):
    """Four readings of a tiny protocol on one data set, and the steps of their run."""
    store, steps = Store(tmp_path_factory.mktemp("readings") / "s.sqlite", TINY), []
    run_variants(store, NAMES, repeats=1, data_sets=["iris"], n_jobs=1, on_step=steps.append)
    return store, steps


def test_readings_compute_what_they_touch_and_nothing_else(readings):
    """Two folds: their densities; four kernels for both choices of labels; then two kernels, and one."""
    store, steps = readings
    cells = [step.what for step in steps if "density" not in step.what]
    assert len(cells) == 2 * (4 + 2 + 1)
    assert store.results() == []  # of the protocol itself, which is no reading
    for name in ("labels_random", "labels_dense"):
        own = store.with_protocol(variants()[name].protocol(TINY))
        assert {(key.experiment, key.method) for key in own.done()} == {(1, kernel) for kernel in KERNELS}
    paper = store.with_protocol(variants()["density_paper"].protocol(TINY))
    assert {(key.experiment, key.method) for key in paper.done()} == {(e, k) for e in (1, 2, 3) for k in ("rwm", "gmm")}
    assert {result.density for result in paper.results()} == {"paper"}
    graph = store.with_protocol(variants()["graph_binary_normalised_p2"].protocol(TINY))
    assert {key.method for key in graph.done()} == {"lap"}
    assert len(store.with_protocol(replace(TINY, labels="random")).runs()) == 1


def test_a_second_run_of_readings_computes_nothing(readings):
    store, _ = readings
    steps = []
    run_variants(store, NAMES, repeats=1, data_sets=["iris"], n_jobs=1, on_step=steps.append)
    assert steps == []


def test_the_papers_density_shares_kernels_without_a_density(readings):
    """Once the protocol itself was run, the reading has RBF and LAP as well."""
    store, _ = readings
    variant_module.run(store, experiments=[1], data_sets=["iris"], kernels=["rbf", "lap"], n_jobs=1)
    paper = store.with_protocol(variants()["density_paper"].protocol(TINY))
    assert {key.method for key in paper.done() if key.experiment == 1} == set(KERNELS)
    for kernel in ("rbf", "lap"):
        assert repr(paper.results(method=kernel)) == repr(store.results(method=kernel)) != "[]"


def test_choices_of_labels_together_are_those_of_their_own_protocol(readings, tmp_path):
    store, _ = readings
    protocol = replace(TINY, labels="random")
    alone = Store(tmp_path / "s.sqlite", protocol)
    variant_module.run(alone, experiments=[1], data_sets=["iris"], kernels=["rbf"], n_jobs=1)

    def figures(where):
        found = where.results(method="rbf", experiment=1)
        return [(r.fold, r.reading, r.C, r.gamma, r.accuracy, r.n_support, r.rated_error) for r in found]

    assert figures(alone) == figures(store.with_protocol(protocol))
