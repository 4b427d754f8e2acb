"""Scores and rankings: which results count, and what is compared with what."""

import math
import statistics

import pytest

from mixkern_study import KERNELS, Result, Store, published_accuracies
from mixkern_study.protocol import RATED
from mixkern_study.ranking import common_titles, kernels_of, method_title, ranking, rankings, scores, title_of


def results(data_set, method, accuracies, *, reading="optimistic", repeat=0, n_support=5):
    fact = {"experiment": 1, "data_set": data_set, "method": method, "reading": reading, "repeat": repeat}
    return [Result(fold=i, accuracy=a, n_labelled=12, n_support=n_support, **fact) for i, a in enumerate(accuracies)]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "paper.sqlite")


def test_a_score_is_the_mean_over_folds_of_means_over_repeats(store):
    store.add(results("iris", "rwm", [0.9, 0.8, 0.7]))
    store.add(results("iris", "rwm", [0.8], repeat=1, n_support=8))
    score = scores(store, 1, "optimistic")["Iris"]["rwm"]
    assert score.percent == pytest.approx((85 + 80 + 70) / 3)
    assert score.deviation == pytest.approx(statistics.stdev([85, 80, 70]))
    assert score.n_support == pytest.approx(23 / 4)
    assert {fold for fold, _ in score.draws} == {0, 1, 2}


def test_one_fold_has_no_deviation_and_a_baseline_no_support_vectors(store):
    store.add(results("iris", "forest", [0.9], reading="default", n_support=-1))
    score = scores(store, 1, "ceiling")["Iris"]["forest"]  # by whatever reading
    assert math.isnan(score.deviation)
    assert math.isnan(score.n_support)


def test_other_readings_and_experiments_are_left_out(store):
    store.add(results("iris", "rwm", [0.9]))
    assert scores(store, 1, "ceiling") == {}
    assert scores(store, 2, "optimistic") == {}


def test_the_papers_data_sets_come_first_and_in_its_order(store):
    for data_set in ("mine", "wine", "iris"):
        store.add(results(data_set, "rwm", [0.9]))
    assert list(scores(store, 1, "optimistic")) == ["Iris", "Wine", "mine"]


def test_only_equal_folds_are_common(store):
    store.add([*results("iris", "rwm", [0.9, 0.8]), *results("iris", "rbf", [0.7, 0.8])])
    store.add([*results("wine", "rwm", [0.9, 0.8]), *results("wine", "rbf", [0.7])])
    store.add(results("heart", "rwm", [0.9, 0.8]))
    table = scores(store, 1, "optimistic")
    assert kernels_of(table) == ["rwm", "rbf"]
    assert common_titles(table, ["rwm", "rbf"]) == ["Iris"]
    assert set(common_titles(table, ["rwm"])) == {"Heart", "Iris", "Wine"}


def test_ranks_need_two_data_sets(store):
    store.add([*results("iris", "rwm", [0.9]), *results("iris", "rbf", [0.7])])
    found = ranking(scores(store, 1, "optimistic"), ["rwm", "rbf"], ["Iris"])
    assert found.means == pytest.approx({"rwm": 90, "rbf": 70})
    assert found.test is None
    assert math.isnan(found.rank("rwm"))
    assert math.isnan(found.wins("rwm"))


def test_sums_in_another_order_are_a_tie(store):
    store.add([*results("iris", "rwm", [0.1, 0.2, 0.3]), *results("iris", "rbf", [0.3, 0.2, 0.1])])
    store.add([*results("wine", "rwm", [0.5, 0.5, 0.5]), *results("wine", "rbf", [0.4, 0.4, 0.4])])
    found = ranking(scores(store, 1, "optimistic"), ["rwm", "rbf"], ["Iris", "Wine"])
    assert (found.rank("rwm"), found.rank("rbf")) == (1.25, 1.75)
    assert (found.wins("rwm"), found.wins("rbf")) == (1.5, 0.5)


def test_all_readings_are_compared_on_the_same_data_sets(store):
    for reading in RATED:
        for method in KERNELS:
            store.add(results("iris", method, [0.9], reading=str(reading)))
            store.add(results("mine", method, [0.9], reading=str(reading)))  # was not published
    for method in KERNELS:
        store.add(results("wine", method, [0.9]))  # by one reading only
    found = rankings(store, 1)
    assert list(found) == [*map(str, RATED), "published"]
    assert {each.n_data_sets for each in found.values()} == {1}
    assert found["published"].means["rbf"] == published_accuracies(1)["Iris"]["rbf"].percent


def test_titles():
    assert (title_of("two_moons"), title_of("mine")) == ("Two Moons", "mine")
    assert (method_title("rwm"), method_title("forest")) == ("RWM", "forest")
