"""Accuracies and readings against plain loops; missing results, baselines and strange names."""

import math
import statistics

import pytest

from mixkern.errors import OptionError
from mixkern_study import KERNELS, Store, accuracy_table, critical_value, published_accuracies, readings_table
from mixkern_study.ranking import rankings

from .example import READINGS, SETS, STRANGE, cells_of, fold_means, ranks_and_wins, result


def test_an_accuracy_is_the_mean_over_folds_of_means_over_repeats(store):
    table = accuracy_table(store, 1, "optimistic")
    for data_set, title in zip(SETS, ("Iris", "Wine", "Credit A"), strict=True):
        row = cells_of(table, title)
        for method in KERNELS:
            cell = row[method.upper()]
            means = fold_means(data_set, method)
            assert cell.value == pytest.approx(statistics.mean(means))
            assert cell.deviation == pytest.approx(statistics.stdev(means))
            assert cell.published == published_accuracies(1)[title][method].percent
            assert cell.is_published_best == published_accuracies(1)[title][method].is_best
            assert row[f"{method.upper()} SV"].value == pytest.approx(9)
            assert row[f"{method.upper()} SV"].published == published_accuracies(1)[title][method].n_support


def test_the_footer_is_mean_ranks_and_wins(store):
    table = accuracy_table(store, 1, "optimistic")
    ours = [[round(statistics.mean(fold_means(data_set, method)), 9) for method in KERNELS] for data_set in SETS]
    theirs = [[published_accuracies(1)[t][m].percent for m in KERNELS] for t in ("Iris", "Wine", "Credit A")]
    assert ours[1][1] == ours[1][2]  # a tie
    (ranks, wins), (published_ranks, published_wins) = ranks_and_wins(ours), ranks_and_wins(theirs)
    for i, method in enumerate(KERNELS):
        cells = {label: cells_of(table, label)[method.upper()] for label in ("Mean", "Mean rank", "Wins")}
        assert cells["Mean"].value == pytest.approx(statistics.mean(row[i] for row in ours))
        assert cells["Mean"].published == pytest.approx(statistics.mean(row[i] for row in theirs))
        assert (cells["Mean rank"].value, cells["Wins"].value) == pytest.approx((ranks[i], wins[i]))
        assert (cells["Mean rank"].published, cells["Wins"].published) == pytest.approx(
            (published_ranks[i], published_wins[i])
        )
    assert "3 data sets" in table.caption
    assert "asterisk" not in table.caption


def test_all_best_of_a_row_are_marked(store):
    row = cells_of(accuracy_table(store, 1, "optimistic"), "Wine")
    best = max(statistics.mean(fold_means("wine", method)) for method in KERNELS)
    for method in KERNELS:
        assert row[method.upper()].is_best == (statistics.mean(fold_means("wine", method)) == pytest.approx(best))


def test_missing_cells_are_dashes_and_leave_their_data_set_out(store):
    store.add([result("heart", "rwm", fold, 0.8) for fold in range(5)])
    table = accuracy_table(store, 1, "optimistic")
    assert len(table.rows) == 20
    row = cells_of(table, "Heart")
    assert row["RWM"].to_text() == "80.00 ± 0.00 (82.96)"
    assert row["GMM"].to_text() == "- (81.85)"
    assert cells_of(table, "Yeast")["RWM SV"].to_text() == "- (39.0)"
    assert "3 data sets" in table.caption


def test_other_folds_are_no_comparison(store):
    store.add([result("heart", method, fold, 0.8) for method in KERNELS for fold in range(1 + (method == "rwm"))])
    table = accuracy_table(store, 1, "optimistic")
    assert "3 data sets" in table.caption
    assert "fewer than 5 folds" in table.caption
    assert cells_of(table, "Heart")["RWM"].to_text() == "80.00* ± 0.00 (82.96)"
    assert cells_of(table, "Heart")["GMM"].to_text() == "80.00* (81.85)"  # one fold has no deviation


def test_baselines_and_other_data_sets_are_extra(store):
    store.add(result(STRANGE, method, fold, 0.9 + fold / 100) for method in KERNELS for fold in range(5))
    everything = (*SETS, STRANGE)
    forest = {"reading": "default", "n_support": -1}
    draws = [(d, fold, r) for d in everything for fold in range(5) for r in range(1 if d == STRANGE else 2)]
    store.add([result(d, "forest", fold, 0.99, repeat=r, **forest) for d, fold, r in draws])
    table = accuracy_table(store, 1, "optimistic")
    assert table.columns[-1] == "forest"
    assert len(table.rows) == 21
    assert cells_of(table, STRANGE)["RWM"].published is None
    assert cells_of(table, "Wine")["forest"].is_best
    assert cells_of(table, "Wins")["forest"].to_text() == "-"  # kernels among themselves, as published
    assert cells_of(table, "Wins, all")["forest"].value == 4
    assert cells_of(table, "Mean, all")["RWM"].published is None
    assert "3 data sets" in table.caption
    assert "4 data sets" in table.caption


def test_a_reading_must_be_known(store):
    with pytest.raises(OptionError, match="reading must be one of"):
        accuracy_table(store, 1, "hopeful")


def test_an_empty_store_makes_a_table_of_published_figures(tmp_path):
    table = accuracy_table(Store(tmp_path / "empty.sqlite"), 2, "ceiling")
    assert table.rows[0][1].to_text() == "- (86.23)"
    assert [cell.to_text() for cell in table.footer[0][1:]] == ["-"] * 8


def test_other_draws_of_labels_are_no_comparison(store):
    """Kernels have two draws, the forest one: it has a column, and no rank among them."""
    store.add([result(d, "forest", fold, 0.99, reading="default", n_support=-1) for d in SETS for fold in range(5)])
    table = accuracy_table(store, 1, "optimistic")
    assert cells_of(table, "Wine")["forest"].value == pytest.approx(99)
    assert cells_of(table, "Wins, all")["forest"].to_text() == "-"
    assert "mean of 1 to 2 draws of labels" in table.caption


def test_baselines_alone(store):
    store.add([result(d, "forest", fold, 0.99, reading="default", n_support=-1) for d in SETS for fold in range(5)])
    table = accuracy_table(store, 1, "default")
    assert table.title.endswith("as they are")
    assert cells_of(table, "Wine")["forest"].value == pytest.approx(99)
    assert cells_of(table, "Wine")["RWM"].to_text() == "- (96.05)"


def test_readings_stand_side_by_side(store):
    store.add([result("wine", "rbf", fold, 0.99, reading="ceiling", repeat=r) for fold in range(5) for r in range(2)])
    table = readings_table(store, 1)
    means = [[statistics.mean(fold_means(d, m)) for m in KERNELS] for d in SETS]
    row = cells_of(table, "RBF accuracy")
    assert row["optimistic"].value == pytest.approx(statistics.mean(each[2] for each in means))
    assert row["ceiling"].value == pytest.approx((means[0][2] + 99 + means[2][2]) / 3)
    found = rankings(store, 1)
    assert cells_of(table, "RWM ahead of RBF")["published"].value == pytest.approx(
        found["published"].means["rwm"] - found["published"].means["rbf"]
    )
    assert cells_of(table, "RWM mean rank")["optimistic"].value == pytest.approx(
        ranks_and_wins([[round(v, 9) for v in row] for row in means])[0][0]
    )
    assert cells_of(table, "Critical difference at 0.05")["ceiling"].value == pytest.approx(
        critical_value(4) * math.sqrt(4 * 5 / (6 * 3))
    )
    assert cells_of(table, "its p-value")["published"].value == found["published"].test.iman_davenport_p


def test_with_one_data_set_there_is_no_test(tmp_path):
    store = Store(tmp_path / "one.sqlite")
    store.add(result("iris", m, fold, 0.9, reading=r) for m in ("rwm", "rbf") for fold in range(5) for r in READINGS)
    table = readings_table(store, 1)
    assert cells_of(table, "RWM accuracy")["optimistic"].value == pytest.approx(90)
    assert cells_of(table, "Friedman's chi-square")["optimistic"].to_text() == "-"
    assert "1 data set of" in table.caption
    assert [row[0].value for row in table.rows[:3]] == ["RWM accuracy", "RBF accuracy", "RWM ahead of RBF"]
