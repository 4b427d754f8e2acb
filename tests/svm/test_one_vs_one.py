"""Scores and probabilities of classes from decisions between pairs, against the formulas and scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import SVC

from mixkern.svm import one_vs_rest, pairs
from mixkern.svm.one_vs_one import SMALLEST, averaged_probabilities, chosen, class_probabilities, class_scores


def n_pairs(c):
    return c * (c - 1) // 2


@st.composite
def pair_values(draw, low=2, high=6, size=10.0):
    """A few rows of decisions between pairs of c classes, and c."""
    c = draw(st.integers(low, high))
    number = st.floats(-size, size, allow_subnormal=False)
    rows = draw(st.lists(st.lists(number, min_size=n_pairs(c), max_size=n_pairs(c)), min_size=1, max_size=4))
    return np.array(rows), c


def literal_scores(values, c):
    """Votes, and less than a third of a vote for how clear they were; one row of pairs."""
    votes, clearness = [0.0] * c, [0.0] * c
    for value, (i, j) in zip(values, pairs(c), strict=True):
        votes[i if value >= 0 else j] += 1
        clearness[i] += value
        clearness[j] -= value
    return [v + s / (3 * (abs(s) + 1)) for v, s in zip(votes, clearness, strict=True)]


def literal_coupling(values, slope, c):
    """Price, Knerr, Personnaz and Dreyfus: p_i is proportional to 1 / (sum_j 1 / r_ij - (c - 2)); one row of pairs."""
    r = np.full((c, c), np.nan)
    for value, (i, j) in zip(values, pairs(c), strict=True):
        r[i, j] = max(1 / (1 + math.exp(-slope * value)), SMALLEST)
        r[j, i] = max(1 / (1 + math.exp(slope * value)), SMALLEST)
    p = [1 / (sum(1 / r[i, j] for j in range(c) if j != i) - (c - 2)) for i in range(c)]
    return np.array(p) / sum(p)


# ---------------------------------------------------------------- scores


@settings(deadline=None, derandomize=True)
@given(pair_values(low=3))
def test_scores_are_votes_and_how_clear_they_were(drawn):
    values, c = drawn
    expected = [literal_scores(row, c) for row in values]
    np.testing.assert_allclose(class_scores(values, c), expected, rtol=1e-12, atol=1e-12)


def test_two_classes_have_one_score_positive_for_the_second():
    scores = class_scores(np.array([[2.0], [-3.0], [0.0]]), 2)
    assert scores.tolist() == [-2.0, 3.0, 0.0]
    assert chosen(scores).tolist() == [0, 1, 0]


def test_the_highest_score_is_chosen_and_the_first_of_equal_ones():
    assert chosen(np.array([[0.1, 2.0, 1.0], [1.0, 1.0, 0.5]])).tolist() == [1, 0]


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_scores_are_those_of_scikit_learn(load):
    X, y = load(return_X_y=True)
    one = SVC(decision_function_shape="ovo", gamma="scale", C=0.3).fit(X[::3], y[::3])
    rest = SVC(decision_function_shape="ovr", break_ties=True, gamma="scale", C=0.3).fit(X[::3], y[::3])
    values = one.decision_function(X)
    np.testing.assert_allclose(class_scores(values, 3), rest.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(chosen(class_scores(values, 3)), rest.predict(X))


def test_of_equal_votes_the_clearer_ones_win():
    """Each class beats one other: who wins by more is chosen."""
    values = np.array([[1.0, -0.2, 5.0]])  # 0 beats 1, 2 beats 0, 1 beats 2 clearly
    assert chosen(class_scores(values, 3)).tolist() == [1]


# ---------------------------------------------------------------- probabilities


@settings(deadline=None, derandomize=True)
@given(pair_values(), st.floats(0.01, 3.0))
def test_probabilities_sum_to_one(drawn, slope):
    values, c = drawn
    p = class_probabilities(values, slope, c)
    assert p.shape == (len(values), c)
    assert (p > 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)


@settings(deadline=None, derandomize=True)
@given(pair_values(low=3, size=5.0), st.floats(0.01, 2.0))
def test_probabilities_are_coupled_in_closed_form(drawn, slope):
    """Up to one exchange, of the most probable class and the chosen one."""
    values, c = drawn
    for row, p in zip(values, class_probabilities(values, slope, c), strict=True):
        expected = literal_coupling(row, slope, c)
        np.testing.assert_allclose(np.sort(p), np.sort(expected), rtol=1e-10)
        assert (~np.isclose(p, expected, rtol=1e-9)).sum() in (0, 2)


def test_two_classes_are_a_plain_sigmoid():
    p = class_probabilities(np.array([[0.0], [1.0], [-2.0]]), 1.5, 2)
    expected = [0.5, 1 / (1 + math.exp(-1.5)), 1 / (1 + math.exp(3.0))]
    np.testing.assert_allclose(p[:, 0], expected, rtol=1e-14)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(pair_values(), st.floats(0.01, 3.0))
def test_the_chosen_class_has_the_largest_probability(drawn, slope):
    values, c = drawn
    p, winner = class_probabilities(values, slope, c), chosen(class_scores(values, c))
    assert (p[np.arange(len(p)), winner] == p.max(axis=1)).all()


@settings(deadline=None, derandomize=True, max_examples=300)
@example((np.array([[-1e-17]]), 2), 1.0)
@example((np.array([[1e-18, -1e-18, -1e-18]]), 3), 1.0)
@example((np.array([[100.0, -90.0, 80.0]]), 3), 1.5)
@given(pair_values(), st.floats(0.01, 3.0))
def test_the_argument_of_the_maximum_is_the_chosen_class(drawn, slope):
    """Ties too: what is the largest probability only together with others is not what argmax finds."""
    values, c = drawn
    p, winner = class_probabilities(values, slope, c), chosen(class_scores(values, c))
    np.testing.assert_array_equal(p.argmax(axis=1), winner)


@settings(deadline=None, derandomize=True)
@given(pair_values(), st.floats(0.01, 3.0), st.randoms(use_true_random=False))
def test_names_of_classes_do_not_matter(drawn, slope, random):
    """Classes in another order: the same probabilities in that order."""
    values, c = drawn
    if (np.abs(values) < 1e-3).any():  # a value of zero is a vote for the first of two, whoever that is
        return
    order = random.sample(range(c), c)
    at = {pair: q for q, pair in enumerate(pairs(c))}
    turned = np.empty_like(values)
    for q, (i, j) in enumerate(pairs(c)):
        a, b = order[i], order[j]
        turned[:, q] = values[:, at[a, b]] if a < b else -values[:, at[b, a]]
    scores = literal_scores(values[0], c)
    if len({round(score, 9) for score in scores}) < c:
        return
    p = class_probabilities(values[:1], slope, c)
    # A probability of next to nothing is what is left of one: good to the last digit of one, and no further.
    np.testing.assert_allclose(class_probabilities(turned[:1], slope, c), p[:, order], rtol=1e-9, atol=1e-15)


@settings(deadline=None, derandomize=True)
@given(pair_values(low=3))
def test_a_slope_of_almost_nothing_says_nothing(drawn):
    values, c = drawn
    np.testing.assert_allclose(class_probabilities(values, 1e-9, c), 1 / c, rtol=1e-6)


def test_a_steeper_slope_is_surer():
    values = np.array([[1.0, 0.5, -0.3], [2.0, 1.0, 0.2]])
    sure = [class_probabilities(values, slope, 3).max(axis=1) for slope in (0.1, 0.5, 1.0, 3.0)]
    assert (np.diff(sure, axis=0) > 0).all()


def test_values_beyond_all_measure():
    """No division by zero, no overflow: warnings are errors here."""
    values = np.array([[1e300, -1e300, 1e300], [1e5, 1e5, 1e5], [0.0, 0.0, 0.0]])
    p = class_probabilities(values, 1000.0, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert np.isfinite(p).all()
    assert class_probabilities(np.array([[1e300], [-1e300]]), 1000.0, 2).tolist() == [[1, 0], [0, 1]]


def test_no_rows():
    assert class_probabilities(np.empty((0, 3)), 1.0, 3).shape == (0, 3)
    assert class_probabilities(np.empty((0, 1)), 1.0, 2).shape == (0, 2)
    assert class_scores(np.empty((0, 3)), 3).shape == (0, 3)


# ---------------------------------------------------------------- the mean of probabilities

some_slopes = st.lists(st.floats(0.01, 100), min_size=1, max_size=6).map(np.array)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(2, 6), st.integers(0, 10), some_slopes, st.integers(0, 10**6))
def test_probabilities_are_means_over_slopes(c, n, given_slopes, seed):
    values = 2 * np.random.RandomState(seed).standard_normal((n, len(pairs(c))))
    found = averaged_probabilities(values, given_slopes, c)
    expected = sum(class_probabilities(values, t, c) for t in given_slopes) / len(given_slopes)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), chosen(class_scores(values, c)))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(2, 6), some_slopes, st.integers(0, 10**6))
def test_of_equal_classes_the_predicted_one_has_the_largest_probability(c, given_slopes, seed):
    values = np.random.RandomState(seed).randint(-1, 2, (20, len(pairs(c)))).astype(float)
    values[0] = 0.0
    found = averaged_probabilities(values, given_slopes, c)
    np.testing.assert_array_equal(found.argmax(axis=1), chosen(class_scores(values, c)))


@pytest.mark.parametrize("c", [2, 3, 5])
def test_one_slope_gives_its_probabilities_bit_for_bit(c):
    values = np.random.RandomState(c).standard_normal((50, len(pairs(c))))
    values[0] = 0.0
    found = averaged_probabilities(values, np.atleast_1d(1.234), c)
    assert found.tobytes() == class_probabilities(values, 1.234, c).tobytes()


@pytest.mark.parametrize("c", [2, 4])
def test_means_of_one_vs_rest(c):
    values = np.random.RandomState(c).standard_normal((50, one_vs_rest.n_functions(c)))
    found = averaged_probabilities(values, np.array([0.5, 3.0]), c, one_vs_rest.class_probabilities)
    expected = np.mean([one_vs_rest.class_probabilities(values, t, c) for t in (0.5, 3.0)], axis=0)
    np.testing.assert_allclose(found, expected)
