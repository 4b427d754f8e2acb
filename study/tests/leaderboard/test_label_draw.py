"""Labels: as many as promised, the same for all, two classes always."""

from dataclasses import replace

import numpy as np
import pytest

from mixkern import datasets
from mixkern_study import Protocol, study_fold
from mixkern_study.fold import fitted_density
from mixkern_study.leaderboard import LabelDraw, label_draw, rows_to_label
from mixkern_study.protocol import StudyError

PROTOCOL = Protocol()


@pytest.fixture(scope="module")
def fold():
    return study_fold(datasets.load("iris"), 0, PROTOCOL)


def lonely(fold, n_others=3):
    """The same rows, nearly all of one class."""
    codes = np.zeros(len(fold.train), dtype=int)
    codes[:n_others] = 1
    return replace(fold, train_codes=codes, n_classes=2)


@pytest.mark.parametrize("budget", [2, 4, 8, 16])
def test_a_budget_counts_labels_per_class_on_average(fold, budget):
    rows = rows_to_label(fold, None, LabelDraw(budget, "random", 0), PROTOCOL)
    assert len(rows) == len(set(rows.tolist())) == 3 * budget
    assert (np.diff(rows) > 0).all()


def test_suggestions_need_a_density(fold):
    with pytest.raises(StudyError, match="Suggested rows need a density"):
        rows_to_label(fold, None, LabelDraw(4, "suggested", 0), PROTOCOL)


def test_no_more_labels_than_rows(fold):
    assert len(rows_to_label(fold, None, LabelDraw(1000, "random", 0), PROTOCOL)) == len(fold.train)


def test_classes_are_not_guaranteed_their_share(fold):
    counts = [
        np.bincount(fold.train_codes[rows_to_label(fold, None, LabelDraw(2, "random", 5 * i), PROTOCOL)], minlength=3)
        for i in range(30)
    ]
    assert len({tuple(each) for each in counts}) > 5
    assert min(each.min() for each in counts) == 0


def test_labels_follow_from_data_set_budget_and_draw(fold):
    def rows(**changes):
        return rows_to_label(fold, None, replace(LabelDraw(4, "random", 0), **changes), PROTOCOL).tolist()

    assert rows() == rows()
    assert rows() != rows(draw=5)
    assert rows() != rows(budget=8)[:12]
    assert rows() != rows_to_label(fold, None, LabelDraw(4, "random", 0), Protocol(seed=1)).tolist()


def test_a_draw_of_one_class_is_drawn_again(fold):
    few = lonely(fold)
    for i in range(20):
        assert len(np.unique(few.train_codes[rows_to_label(few, None, LabelDraw(2, "random", 5 * i), PROTOCOL)])) == 2


def test_a_single_class_is_an_error(fold):
    with pytest.raises(StudyError, match="have found a single class"):
        rows_to_label(lonely(fold, 0), None, LabelDraw(2, "random", 0), PROTOCOL)


def test_draws_go_round_the_folds():
    assert [LabelDraw(4, "random", draw).fold(PROTOCOL) for draw in range(7)] == [0, 1, 2, 3, 4, 0, 1]


def advice(monkeypatch, positions):
    calls = []

    def suggested_rows(rows, mixture, n, *, random_state):
        calls.append((rows, mixture, n, random_state))
        return positions[:n]

    monkeypatch.setattr(label_draw, "suggested_rows", suggested_rows)
    return calls


def test_suggested_rows_are_taken_as_they_are(fold, monkeypatch):
    calls = advice(monkeypatch, [99, 5, 50, 7, 1, 2, 3])
    assert rows_to_label(fold, "a mixture", LabelDraw(2, "suggested", 0), PROTOCOL).tolist() == [1, 2, 5, 7, 50, 99]
    ((rows, mixture, n, seed),) = calls
    assert rows is fold.train
    assert (mixture, n) == ("a mixture", 6)
    assert seed == PROTOCOL.seed_of("leaderboard", "iris", 2, 0)


def test_a_suggestion_of_one_class_exchanges_its_last_row(fold, monkeypatch):
    few = lonely(fold)
    advice(monkeypatch, [13, 11, 12, 10])
    rows = rows_to_label(few, object(), LabelDraw(2, "suggested", 0), PROTOCOL)
    assert len(rows) == 4
    assert {11, 12, 13} < set(rows.tolist())
    assert few.train_codes[rows].sum() == 1


def test_our_own_advice_finds_the_classes(fold):
    mixture = fitted_density(fold, "default", PROTOCOL)
    rows = rows_to_label(fold, mixture, LabelDraw(2, "suggested", 0), PROTOCOL)
    assert len(set(rows.tolist())) == 6
    assert set(fold.train_codes[rows]) == {0, 1, 2}
