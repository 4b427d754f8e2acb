"""Scores, ranks and tests, against their formulas written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixkern_study import Entry
from mixkern_study.leaderboard import leaderboard
from mixkern_study.protocol import StudyError
from mixkern_study.statistics import holm, rank_biserial, signed_rank_p

SETS, METHODS = ["a", "b", "c", "d"], ["mixture_svc", "svc", "bayes"]
SCORES = np.array([[0.9, 0.8, 0.7], [0.6, 0.8, 0.5], [0.7, 0.7, 0.6], [0.95, 0.9, 0.97]])


def entry(data_set, method, accuracy, **changes):
    plain = {"budget": 4, "choice": "random", "draw": 0, "settings": "", "n_labelled": 8, "n_seen": 2}
    plain |= {"structure_s": 1.0, "learning_s": 0.5, "balanced_accuracy": accuracy / 2}
    return Entry(data_set=data_set, method=method, accuracy=accuracy, **{**plain, **changes})


def entries(**changes):
    return [entry(s, m, SCORES[i, j], **changes) for i, s in enumerate(SETS) for j, m in enumerate(METHODS)]


def test_places():
    board = leaderboard(entries())
    assert board.methods == ("svc", "mixture_svc", "bayes")
    svc, mixture, bayes = board.places
    assert svc.accuracy == pytest.approx(80.0)
    assert mixture.accuracy == pytest.approx(78.75)
    assert mixture.balanced_accuracy == pytest.approx(78.75 / 2)
    assert svc.rank == pytest.approx((2 + 1 + 1.5 + 3) / 4)
    assert mixture.wins == pytest.approx(1 + 0.5)
    assert (mixture.worst, mixture.worst_set) == (pytest.approx(-20.0), "b")
    assert math.isnan(svc.worst)
    assert svc.worst_set == ""
    assert bayes.seconds == 1.5
    np.testing.assert_allclose(board.accuracy, 100 * SCORES[:, [1, 0, 2]])


def test_comparisons_are_with_the_default():
    first, second = leaderboard(entries()).comparisons
    assert (first.method, second.method) == ("svc", "bayes")
    assert first.difference == pytest.approx(-1.25)
    # differences 10, -20, 0, 5: ranks of sizes 2, 3, -, 1
    assert first.effect == pytest.approx((2 - 3 + 1) / 6)
    assert second.difference == pytest.approx(9.5)
    assert leaderboard(entries(), methods=["svc", "bayes"]).comparisons == ()


def test_draws_are_averaged_and_budgets_count_alike():
    some = [entry("a", "svc", 0.5), entry("a", "svc", 0.7, draw=1), entry("a", "svc", 0.9, budget=8)]
    assert leaderboard(some).places[0].accuracy == pytest.approx((60 + 90) / 2)
    assert leaderboard(some, budgets=[4]).places[0].accuracy == pytest.approx(60)
    assert leaderboard(some, budgets=[4]).n_draws == 2


def test_calibration_errors_are_of_all_draws_of_a_budget():
    some = [
        entry("a", "svc", 0.5, log_loss=1.0, reliability="[[4,3.0,2]]"),
        entry("a", "svc", 0.5, log_loss=2.0, reliability="[[4,3.0,4]]", draw=1),
        entry("a", "svc", 0.5, log_loss=0.5, reliability="[[4,3.0,4]]", budget=8),
    ]
    (place,) = leaderboard(some).places
    assert place.ece == pytest.approx(100 * (0 + 0.25) / 2)
    assert place.log_loss == pytest.approx((1.5 + 0.5) / 2)


@pytest.mark.parametrize("reliability", ["", "[]"])
def test_a_method_that_lacks_probabilities_has_no_calibration_error(reliability):
    some = [entry("a", "svc", 0.5, log_loss=1.0, reliability="[[4,3.0,2]]")]
    some.append(entry("b", "svc", 0.5, reliability=reliability))
    (place,) = leaderboard(some).places
    assert math.isnan(place.ece)
    assert math.isnan(place.log_loss)


def test_filters():
    both = [*entries(), *entries(choice="suggested", budget=2)]
    assert leaderboard(both, choices=["suggested"]).n_draws == 1
    assert leaderboard(both, data_sets=["a", "c"]).data_sets == ("a", "c")
    assert leaderboard(both, budgets=[16]).places == ()


def test_data_sets_that_a_method_lacks_are_left_out():
    some = [*entries(), entry("b", "svc", 0.1, draw=1), entry("e", "svc", 0.3)]
    board = leaderboard(some)
    assert board.data_sets == ("a", "c", "d")
    assert set(board.left_out) == {"b", "e"}


def test_one_data_set_has_no_ranks():
    board = leaderboard(entries(), data_sets=["a"])
    assert board.test is None
    assert math.isnan(board.places[0].rank)


def test_failures_are_counted():
    some = [*entries(), *entries(draw=1, error="ValueError: no")]
    assert [place.n_failed for place in leaderboard(some).places] == [4, 4, 4]


def literal_rank_biserial(differences):
    """Kerby's simple difference: the favourable share of all ranks, less the unfavourable share."""
    sizes = sorted(abs(d) for d in differences if d)
    rank = {size: np.mean([i + 1 for i, other in enumerate(sizes) if other == size]) for size in sizes}
    total = sum(rank[abs(d)] for d in differences if d)
    favourable = sum(rank[d] for d in differences if d > 0)
    unfavourable = sum(rank[-d] for d in differences if d < 0)
    return (favourable - unfavourable) / total if total else 0.0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20))
def test_rank_biserial_is_the_formula(differences):
    assert rank_biserial(differences) == pytest.approx(literal_rank_biserial(differences))
    assert rank_biserial([-d for d in differences]) == pytest.approx(-rank_biserial(differences))


def test_signed_ranks_by_counting_all_signs():
    differences = np.array([3.0, -1.0, 2.0, 5.0, 4.0])
    ranks = np.array([3, 1, 2, 5, 4])
    sums = [ranks[np.array([bool(i >> j & 1) for j in range(5)])].sum() for i in range(32)]
    share = np.mean(np.array(sums) >= ranks[differences > 0].sum())
    assert signed_rank_p(differences) == pytest.approx(2 * share)
    assert signed_rank_p([0.0, 0.0]) == 1.0


def test_holm_is_the_procedure():
    p = [0.04, 0.001, 0.03, 0.5]
    assert holm(p) == pytest.approx([0.09, 0.004, 0.09, 0.5])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    with pytest.raises(StudyError, match="finite"):
        holm([math.nan])
