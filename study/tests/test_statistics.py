"""Ranks, Friedman, Iman-Davenport and Nemenyi, against the paper's figures, SciPy and literal formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mixkern_study import critical_value, published_accuracies, rank_test
from mixkern_study.protocol import StudyError
from mixkern_study.published import PUBLISHED_STATISTICS

KERNELS = ["rwm", "gmm", "rbf", "lap"]


def published(experiment):
    rows = published_accuracies(experiment).values()
    scores, best = (
        np.array([[getattr(row[k], name) for k in KERNELS] for row in rows]) for name in ("percent", "is_best")
    )
    return scores, best


def test_experiment_1_is_as_published():
    test = rank_test(published(1)[0], KERNELS)
    np.testing.assert_allclose(test.ranks, [1.375, 2.750, 2.825, 3.050])
    np.testing.assert_allclose(test.wins, [14.5, 2.5, 2.0, 1.0])
    assert round(test.chi_square, 2) in (20.83, 20.84)  # 20.835
    assert test.groups(0.01) == [("gmm", "rbf", "lap")]


@pytest.mark.parametrize(("experiment", "wins"), [(2, [13.2, 2.8, 3.2, 0.8]), (3, [5.5, 6.8, 6.8, 0.8])])
def test_published_wins_come_out_where_bold_ones_are_ties(experiment, wins):
    scores, best = published(experiment)
    np.testing.assert_allclose(rank_test(scores, KERNELS, ties=best).wins, wins, atol=0.0501)
    assert not np.allclose(rank_test(scores, KERNELS).wins, wins, atol=0.0501)


def test_critical_values_are_those_of_the_studentised_range():
    """Demsar's table 5(a): 2.569 and 2.291 for four methods at 0.05 and 0.10."""
    assert round(critical_value(4, 0.05), 3) == 2.569
    assert round(critical_value(4, 0.10), 3) == 2.291
    assert round(critical_value(2, 0.05), 3) == 1.960


def test_critical_values_of_the_paper_are_not_exact():
    """It prints 3.275 and 2.351 for Nemenyi's test, 11.1 and 6.24 for Friedman's."""
    for alpha, nemenyi, friedman in ((0.01, 3.113, 11.34), (0.1, 2.291, 6.25)):
        assert round(critical_value(4, alpha), 3) == nemenyi
        assert round(stats.chi2.ppf(1 - alpha, 3), 2) == friedman
    paper = PUBLISHED_STATISTICS[1], PUBLISHED_STATISTICS[2]
    assert [(each.critical_value, each.chi_square_limit) for each in paper] == [(3.275, 11.1), (2.351, 6.24)]


def test_critical_difference_is_the_formula():
    test = rank_test(published(1)[0], KERNELS)
    assert test.critical_difference(0.01) == pytest.approx(3.1132503 * np.sqrt(4 * 5 / (6 * 20)))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(n=st.integers(2, 12), k=st.integers(3, 6), levels=st.integers(2, 9), seed=st.integers(0, 10**6))
def test_against_scipy(n, k, levels, seed):
    scores = np.random.RandomState(seed).randint(levels, size=(n, k)).astype(float)
    test = rank_test(scores, [str(i) for i in range(k)])
    with np.errstate(all="ignore"):
        expected, p = stats.friedmanchisquare(*scores.T)
    if np.isfinite(expected):
        assert test.chi_square_tied == pytest.approx(expected)
        assert test.p_value == pytest.approx(p)
    assert test.ranks.sum() == pytest.approx(k * (k + 1) / 2)
    assert test.wins.sum() == pytest.approx(n)


def test_iman_davenport_is_the_formula():
    test = rank_test(published(1)[0], KERNELS)
    assert test.iman_davenport == pytest.approx(19 * test.chi_square / (20 * 3 - test.chi_square))
    assert test.iman_davenport_p == pytest.approx(stats.f.sf(test.iman_davenport, 3, 57))


def test_groups_are_the_largest_that_differ_by_less():
    scores = np.array([[4.0, 3.0, 2.0, 1.0]] * 3 + [[3.0, 4.0, 1.0, 2.0]] * 3)  # ranks 1.5, 1.5, 3.5, 3.5
    test = rank_test(scores, list("abcd"))
    assert test.groups(value=0.5) == [("a", "b"), ("c", "d")]
    assert test.groups(value=2.5) == [("a", "b", "c", "d")]
    assert test.groups(value=1e-9) == [("a", "b"), ("c", "d")]


def test_equal_methods_are_all_equal():
    test = rank_test(np.ones((5, 3)), list("abc"))
    assert test.ranks.tolist() == [2, 2, 2]
    assert test.p_value == 1
    assert test.groups() == [("a", "b", "c")]


def test_a_method_that_always_wins():
    test = rank_test(np.tile([3.0, 2.0, 1.0], (6, 1)), list("abc"))
    assert test.chi_square == pytest.approx(12)
    assert test.iman_davenport_p < 1e-6


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((4, 3)), r"one column for each of 2 methods, at least two of both, but its shape is \(4, 3\)"),
        (np.ones((1, 2)), r"its shape is \(1, 2\)"),
        (np.array([[1.0, np.nan], [1.0, 2.0]]), "scores must be finite"),
    ],
)
def test_what_cannot_be_ranked(scores, message):
    with pytest.raises(StudyError, match=message):
        rank_test(scores, ["a", "b"])


def test_levels_of_significance():
    with pytest.raises(StudyError, match="alpha must lie between 0 and 1, but it is 2"):
        critical_value(4, 2)
