"""Tables of readings, against plain loops over the results."""

import statistics
from dataclasses import replace

import pytest

from mixkern_study import (
    KERNELS,
    LabelChoice,
    Protocol,
    Store,
    choosers_table,
    densities_table,
    density_table,
    graph_table,
    labels_table,
    published_accuracies,
    responsibilities_table,
)
from mixkern_study.variant import GRAPHS, MIXED, SMALL

from .example import SETS, accuracy_of, cells_of, fold_means, ranks_and_wins, result

TITLES = {"iris": "Iris", "wine": "Wine", "credit_a": "Credit A"}


def add(store, changes, methods, sets=SETS, experiment=1, shift=0.0, readings=("expected_error", "optimistic")):
    """Add results of a reading of the protocol that are better by a shift."""
    store.with_protocol(replace(Protocol(), **changes)).add(
        result(
            data_set,
            method,
            fold,
            accuracy_of(data_set, method, fold, 0) + shift,
            reading=reading,
            experiment=experiment,
        )
        for data_set in sets
        for method in methods
        for fold in range(5)
        for reading in readings
    )


def test_labels_are_compared_on_the_same_sets(store):
    for i, choice in enumerate(("dense", "dense_per_class", "random")):
        add(store, {"labels": choice}, KERNELS, SETS[: 3 - (i == 2)], shift=-0.01 * i)
    table = labels_table(store, "optimistic")
    common = SETS[:2]  # random lacks one
    own, published = cells_of(table, "by components"), published_accuracies(1)
    means = {k: statistics.mean(statistics.mean(fold_means(s, k)) for s in common) for k in KERNELS}
    assert [own[k.upper()].value for k in KERNELS] == pytest.approx([means[k] for k in KERNELS])
    assert own["RWM ahead"].value == pytest.approx(means["rwm"] - means["rbf"])
    ranks, _ = ranks_and_wins([[round(statistics.mean(fold_means(s, k)), 9) for k in KERNELS] for s in common])
    assert [own[f"{k.upper()} rank"].value for k in KERNELS] == pytest.approx(ranks)
    gaps = [abs(statistics.mean(fold_means(s, "rbf")) - published[TITLES[s]]["rbf"].percent) for s in common]
    assert own["RBF differs"].value == pytest.approx(statistics.mean(gaps))
    assert own["SV"].value == 9.0
    assert cells_of(table, "at random")["RWM"].value < cells_of(table, "denser half")["RWM"].value
    paper = cells_of(table, "published")
    assert paper["RWM"].value == pytest.approx(statistics.mean(published[TITLES[s]]["rwm"].percent for s in common))
    assert paper["all differ"].to_text() == "-"


def test_a_choice_of_labels_that_was_not_run_is_a_row_of_dashes(store):
    row = cells_of(labels_table(store, "optimistic"), "at random")
    assert {cell.to_text() for name, cell in row.items() if name != "Labels"} == {"-"}
    assert cells_of(labels_table(store, "optimistic"), "by components")["RWM"].value > 0
    assert len(labels_table(store, "ceiling").rows) == len(LabelChoice) + 1


def test_the_papers_density_stands_beside_ours(store):
    add(store, {"density": "paper"}, ("rwm", "gmm"), SETS[:2], shift=0.02)
    table = density_table(store, 1, "optimistic")
    wine = cells_of(table, "Wine")
    single = 100 * statistics.mean(accuracy_of("wine", "rwm", fold, 0) for fold in range(5))
    assert wine["RWM"].value == pytest.approx(statistics.mean(fold_means("wine", "rwm")))
    assert wine["RWM, paper's density"].value == pytest.approx(single + 2)
    assert wine["RWM"].published == published_accuracies(1)["Wine"]["rwm"].percent
    assert cells_of(table, "Credit A")["GMM, paper's density"].to_text() == "-"
    mean = cells_of(table, "Mean")  # of the sets that both have
    assert mean["GMM"].value == pytest.approx(statistics.mean(statistics.mean(fold_means(s, "gmm")) for s in SETS[:2]))
    assert mean["GMM"].published == pytest.approx(
        statistics.mean(published_accuracies(1)[TITLES[s]]["gmm"].percent for s in SETS[:2])
    )


def test_kernels_without_a_density_are_shared_by_both(store):
    readings = ("expected_error", "optimistic", "ceiling")
    draws = [(fold, repeat) for fold in range(5) for repeat in range(2)]
    store.with_protocol(Protocol(density="paper")).add(
        result(s, k, fold, 0.9, reading=reading, repeat=repeat)
        for s in SETS
        for k in ("rwm", "gmm")
        for fold, repeat in draws
        for reading in readings
    )
    ours = cells_of(densities_table(store), "1: optimistic, our density")
    theirs = cells_of(densities_table(store), "1: optimistic, the paper's density")
    assert (
        theirs["RBF"].value
        == ours["RBF"].value
        == pytest.approx(statistics.mean(statistics.mean(fold_means(s, "rbf")) for s in SETS))
    )
    assert theirs["RWM"].value == pytest.approx(90.0)


def test_one_kernel_alone_may_choose_with_labels(tmp_path):
    store = Store(tmp_path / "paper.sqlite")
    sizes = {"rwm": 0.70, "gmm": 0.71, "rbf": 0.72, "lap": 0.73}
    store.add(
        result(s, k, fold, value + (0.1 if reading == "ceiling" and k in ("rwm", "gmm") else 0), reading=reading)
        for s in SETS
        for k, value in sizes.items()
        for fold in range(5)
        for reading in ("optimistic", "ceiling")
    )
    table = choosers_table(store)
    ranks = {row[0].value: [cell.value for cell in row[1:5]] for row in table.rows}
    assert ranks["1: all optimistic"] == [4, 3, 2, 1]
    assert ranks["1: RWM at the ceiling, others optimistic"] == [1, 4, 3, 2]
    assert ranks["1: GMM at the ceiling, others optimistic"] == [4, 1, 3, 2]
    assert ranks["1: RWM and GMM at the ceiling"] == [2, 1, 4, 3]
    published = [published_accuracies(1)[TITLES[s]] for s in SETS]
    expected, _ = ranks_and_wins(
        [
            [max(c.percent for c in row.values()) if row[k].is_best else row[k].percent for k in KERNELS]
            for row in published
        ]
    )
    assert ranks["1: published"] == pytest.approx(expected)


def test_responsibilities_are_compared_on_tables_with_categories(tmp_path):
    store = Store(tmp_path / "paper.sqlite")
    for experiment in (1, 2, 3):
        add(store, {}, ["rwm"], MIXED, experiment)
        add(store, {"responsibilities": "numbers"}, ["rwm"], MIXED, experiment, shift=-0.02)
    table = responsibilities_table(store)
    heart = cells_of(table, "2: Heart")
    assert heart["all columns"].value - heart["numbers alone"].value == pytest.approx(2)
    assert heart["published"].value == published_accuracies(2)["Heart"]["rwm"].percent
    assert cells_of(table, "Mean difference")["numbers alone, optimistic"].to_text() == "-2.00"


def test_the_graph_nearest_to_the_published_accuracies_comes_first(tmp_path):
    store = Store(tmp_path / "paper.sqlite")
    published = published_accuracies(1)
    titles = {name: name.replace("_", " ").title() for name in SMALL}
    for i, graph in enumerate(GRAPHS):
        store.with_protocol(replace(Protocol(), **graph)).add(
            result(name, "lap", 0, published[titles[name]]["lap"].percent / 100 - 0.01 * (8 - i), reading=reading)
            for name in SMALL
            for reading in ("expected_error", "optimistic")
        )
    table = graph_table(store)
    assert table.rows[0][0].value == "heat, not normalised, p = 2"
    assert table.rows[0][5].value == pytest.approx(-1)
    assert [row[6].value for row in table.rows[:-1]] == pytest.approx(list(range(1, 9)))
    assert table.rows[-1][0].value == "published"
