"""One slope for all pairs, learned from few labels, against a grid and a literal loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.kernels import RBFKernel
from mixkern.svm import classifier, label_folds, pairs
from mixkern.svm.calibration import (
    FEW,
    FOLDS,
    LOG_SPREAD,
    REPEATS,
    TYPICAL,
    OwnValues,
    cross_fitted,
    own_values,
    slope,
)
from mixkern.svm.folds import fewer_folds

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


def table(counts, seed=0):
    random = np.random.RandomState(seed)
    codes = np.repeat(np.arange(len(counts)), counts)
    return random.standard_normal((len(codes), 2)) + 2 * codes[:, None], codes


def train(K, codes, kept):
    return classifier(K, codes)


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


def test_cross_fitted_values_are_those_of_a_plain_loop():
    X, codes = table([6, 5, 3])
    K = RBFKernel(0.5)(X)
    weights = np.random.RandomState(1).uniform(0.5, 2, size=len(X))
    random = np.random.RandomState(3)
    n_folds = fewer_folds(codes, FOLDS)
    expected = []
    for _ in range(REPEATS):
        folds = label_folds(codes, n_folds, random)
        draw = []
        for fold in range(n_folds):
            kept = [i for i in range(len(X)) if folds[i] != fold]
            dual = classifier(K[np.ix_(kept, kept)], codes[kept])
            for i in np.flatnonzero(folds == fold):
                values = dual.decision(K[[i]][:, kept])[0]
                for value, (a, b) in zip(values, pairs(3), strict=True):
                    if codes[i] in (a, b):
                        draw.append((value if codes[i] == a else -value, weights[i]))
        expected.append(sorted(draw))
    found = cross_fitted(K, codes, train, 3, weights)
    assert len(found) == REPEATS
    for draw, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(sorted(zip(draw.values, draw.weights, strict=True)), other, atol=1e-12)
    for draw, alike in zip(found, cross_fitted(K, codes, train, 3), strict=True):
        np.testing.assert_array_equal(alike.values, draw.values)
        assert (alike.weights == 1).all()


def test_the_rows_that_were_kept_come_with_the_matrix():
    X, codes = table([4, 4])
    seen = []

    def remember(K, kept_codes, kept):
        assert K.shape == (len(kept), len(kept))
        np.testing.assert_array_equal(kept_codes, codes[kept])
        seen.append(kept)
        return classifier(K, kept_codes)

    cross_fitted(RBFKernel(0.5)(X), codes, remember, 0)
    assert len(seen) == REPEATS * fewer_folds(codes, FOLDS)


@pytest.mark.parametrize("counts", [[1, 1], [2, 1], [2, 2], [1, 1, 1], [5, 1, 2]])
def test_as_few_labels_as_there_can_be(counts):
    X, codes = table(counts)
    draws = cross_fitted(RBFKernel(0.5)(X), codes, train, 0)
    tested = sum(count for count in counts if count > 1) * (len(counts) - 1)
    assert [len(draw.values) for draw in draws] == [tested] * REPEATS
    assert np.isfinite(slope(draws))


def test_folds_of_many_labels_are_drawn_once():
    X, codes = table([FEW // 2, FEW // 2])
    assert len(cross_fitted(RBFKernel(0.5)(X), codes, train, 0)) == 1
    X, codes = table([FEW // 2, FEW // 2 - 1])
    assert len(cross_fitted(RBFKernel(0.5)(X), codes, train, 0)) == REPEATS


def test_the_same_seed_gives_the_same_values():
    X, codes = table([5, 6])
    K = RBFKernel(0.5)(X)
    for a, b in zip(cross_fitted(K, codes, train, 7), cross_fitted(K, codes, train, 7), strict=True):
        np.testing.assert_array_equal(a.values, b.values)
