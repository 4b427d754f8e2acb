"""One slope for all pairs, learned from few labels, against a grid and a literal loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.svm import pairs
from mixkern.svm.calibration import LOG_SPREAD, TYPICAL, OwnValues, own_values, slope

values_of_rows = st.lists(st.floats(-5, 5), min_size=1, max_size=30).map(np.array)
weighted_rows = st.lists(st.tuples(st.floats(-5, 5), st.floats(1e-3, 4)), min_size=1, max_size=30).map(
    lambda rows: OwnValues(*np.array(rows).T)
)


def counted(*draws):
    """Values of rows that all count alike."""
    return [OwnValues(np.asarray(draw, dtype=float), np.ones(len(draw))) for draw in draws]


def literal_loss(log_slope, draws):
    """Surprise of smoothed targets under the sigmoid, of one draw on average, and a log-normal prior."""
    most = max(weight for draw in draws for weight in draw.weights)
    n = sum(weight / most for draw in draws for weight in draw.weights) / len(draws)
    target = (n + 1) / (n + 2)
    surprise = 0.0
    for draw in draws:
        for value, weight in zip(draw.values, draw.weights, strict=True):
            f = np.exp(log_slope) * value
            row = target * np.log(1 + np.exp(-f)) + (1 - target) * np.log(1 + np.exp(f))
            surprise += weight / most * row
    return surprise / len(draws) + 0.5 * ((log_slope - np.log(TYPICAL)) / LOG_SPREAD) ** 2


# ---------------------------------------------------------------- the slope


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(weighted_rows, min_size=1, max_size=3))
def test_slope_is_the_best_of_a_fine_grid(draws):
    found = np.log(slope(draws))
    assert literal_loss(found, draws) <= min(literal_loss(at, draws) for at in np.linspace(-4, 3, 71)) + 1e-6


def test_without_values_the_slope_is_the_typical_one():
    assert slope(counted([])) == pytest.approx(TYPICAL, rel=1e-4)
    assert slope(counted([], [])) == pytest.approx(TYPICAL, rel=1e-4)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(values_of_rows)
def test_several_draws_of_the_same_rows_count_as_one(own):
    assert slope(counted(own, own, own)) == pytest.approx(slope(counted(own)), rel=1e-3)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(weighted_rows, st.floats(1e-6, 1e6))
def test_only_the_ratios_of_weights_matter(own, factor):
    assert slope([OwnValues(own.values, factor * own.weights)]) == pytest.approx(slope([own]), rel=1e-6)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(values_of_rows, values_of_rows)
def test_rows_that_count_next_to_nothing_say_nothing(own, others):
    both = OwnValues(np.append(own, others), np.append(np.ones(len(own)), np.full(len(others), 1e-12)))
    assert slope([both]) == pytest.approx(slope(counted(own)), rel=1e-3)


def test_the_more_values_are_right_the_steeper():
    values = np.linspace(0.5, 2.0, 20)
    wrong = [np.where(np.arange(20) < n, -values, values) for n in (0, 1, 3, 6, 10)]
    slopes = [slope(counted(own)) for own in wrong]
    assert (np.diff(slopes) < 0).all()


def test_the_more_rows_say_the_same_the_surer():
    slopes = [slope(counted(np.full(n, 1.0))) for n in (1, 3, 10, 30, 100)]
    assert (np.diff(slopes) > 0).all()


def test_values_that_are_all_wrong_leave_a_slope_that_says_little():
    """Never a negative one: that would turn the predictions around."""
    assert 0 < slope(counted(-np.ones(50))) < TYPICAL / 10


def test_huge_values_do_no_harm():
    assert 0 < slope(counted([1e8, -1e8])) < TYPICAL
    assert np.isfinite(slope(counted(np.full(5, 1e300))))


# ---------------------------------------------------------------- values that speak for the own class


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(2, 6), st.integers(0, 8), st.integers(0, 10**6))
def test_own_values_are_those_of_a_plain_loop(c, n, seed):
    random = np.random.RandomState(seed)
    values, codes = random.standard_normal((n, len(pairs(c)))), random.randint(c, size=n)
    weights = random.uniform(size=n)
    expected = []
    for row, code, weight in zip(values, codes, weights, strict=True):
        for value, (i, j) in zip(row, pairs(c), strict=True):
            if code == i:
                expected.append((value, weight))
            if code == j:
                expected.append((-value, weight))
    found = own_values(values, codes, weights)
    assert sorted(zip(found.values, found.weights, strict=True)) == sorted(expected)
    assert len(expected) == n * (c - 1)
    alike = own_values(values, codes)
    np.testing.assert_array_equal(alike.values, found.values)
    assert (alike.weights == 1).all()
    assert len(alike.weights) == len(alike.values)
