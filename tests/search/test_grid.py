"""Hyperparameters to try: every kernel once, and Keerthi and Lin's line."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mixkern.errors import OptionError
from mixkern.kernels import PairTerms
from mixkern.search.grid import KernelPoint, kernel_points, line

DECADES = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
TENTHS = [i / 10 for i in range(11)]

# One pair of rows that differs in numbers alone, one in categories alone, one in both: what two kernels disagree on.
APART = PairTerms(np.array([[0.0, 1e-3, 2e-3]]), np.array([[1e-3, 0.0, 1e-3]]))

# Products of these meet often: 0.1 * 0.3 is 0.01 * 3, and in floats it is not.
decimals = st.sampled_from([0.0, 0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.6, 1.0, 2.0, 3.0, 10.0])
weights = st.lists(decimals, min_size=1, max_size=4, unique=True)
gammas = st.lists(decimals.filter(bool), min_size=1, max_size=4, unique=True)
ratios = st.lists(st.sampled_from([0.0, 1.0, 100.0]), min_size=1, max_size=2, unique=True) | st.just([None])


def kernel_of(point):
    return APART.kernel(point.gamma, point.alpha, point.beta)


# ---------------------------------------------------------------- points


@settings(deadline=None, derandomize=True, max_examples=25)
@given(gammas, weights, weights, ratios)
@example([0.1, 1.0], [3.0, 0.3], [0.0], [None])  # 0.1 * 3 is not 0.3 in floats
@example([1.0, 10.0], [0.1, 1.0], [0.1, 1.0], [None])
def test_no_two_points_make_the_same_kernel(gamma, alpha, beta, ratio):
    assume(any(alpha) or any(beta))
    for a, b in combinations(kernel_points(gamma, alpha, beta, ratio), 2):
        assert a.ratio != b.ratio or not np.allclose(kernel_of(a), kernel_of(b), rtol=1e-12, atol=0)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(gammas, weights, weights, ratios)
@pytest.mark.slow
def test_no_kernel_is_lost(gamma, alpha, beta, ratio):
    assume(any(alpha) or any(beta))
    points = kernel_points(gamma, alpha, beta, ratio)
    for g, a, b, r in product(gamma, alpha, beta, ratio):
        alike = [p for p in points if p.ratio == r and np.allclose(kernel_of(p), APART.kernel(g, a, b), rtol=1e-9)]
        assert len(alike) >= (a > 0 or b > 0)  # a kernel that is one everywhere is left out


@settings(deadline=None, derandomize=True, max_examples=25)
@given(gammas, weights, weights, ratios)
def test_points_come_in_the_order_of_the_values(gamma, alpha, beta, ratio):
    assume(any(alpha) or any(beta))
    points = [(p.gamma, p.alpha, p.beta, p.ratio) for p in kernel_points(gamma, alpha, beta, ratio)]
    everything = list(product(gamma, alpha, beta, ratio))
    places = [everything.index(point) for point in points]
    assert places == sorted(places)
    assert len(set(places)) == len(places)


def test_the_papers_grid_by_brute_force():
    """Weights from 0 to 1 by tenths, and six decades: whole numbers, so that nothing is rounded."""
    distinct = {
        (10**g * a, 10**g * b) for g, a, b in product(range(6), range(11), range(11)) if a or b
    }  # in units of 1e-4
    points = kernel_points(DECADES, TENTHS, TENTHS, [None])
    assert len(points) == len(distinct) == 705
    assert 6 * 11 * 11 == 726


def test_without_categories_there_is_one_point_for_each_gamma():
    assert [p.gamma for p in kernel_points(DECADES, [1.0], [1.0], [None])] == DECADES


def test_weights_of_zero_leave_no_point():
    with pytest.raises(OptionError, match=r"^alpha and beta are both 0, so all rows would be equal\.$"):
        kernel_points(DECADES, [0.0], [0.0], [None])
    assert [(p.alpha, p.beta) for p in kernel_points([1.0], [0.0, 1.0], [0.0], [None])] == [(1.0, 0.0)]


def test_a_linear_point_has_a_key_of_its_own():
    assert KernelPoint(None, 1.0, 1.0).key != KernelPoint(1.0, 1.0, 1.0).key
    assert KernelPoint(None, 1.0, 0.5).key != KernelPoint(None, 1.0, 1.0).key


# ---------------------------------------------------------------- the line


def literal_line(best, C, gamma):
    """log gamma = log best - log 2 C, kept within half a step of the range."""
    logs = np.log10(gamma)
    half = (max(logs) - min(logs)) / (len(logs) - 1) / 2 if len(logs) > 1 else 0.0
    kept = []
    for c in C:
        log_gamma = np.log10(best) - np.log10(2) - np.log10(c)
        if min(logs) - half <= log_gamma <= max(logs) + half:
            kept.append((c, 10**log_gamma))
    return kept


@pytest.mark.parametrize("best", DECADES)
def test_the_line_against_its_formula(best):
    found = line(best, DECADES, DECADES)
    assert found == [(c, pytest.approx(g)) for c, g in literal_line(best, DECADES, DECADES)]
    assert 2 <= len(found) <= 6


@settings(deadline=None, derandomize=True, max_examples=25)
@given(st.floats(-4, 4), st.lists(st.integers(-6, 6), min_size=1, max_size=6, unique=True), st.integers(1, 5))
def test_every_point_of_the_line_is_the_same_linear_svm(log_best, logs, n):
    """2 gamma C is the linear SVM's C, whatever the units; slope minus one in the logarithms."""
    best, C, gamma = 10**log_best, [10 ** (each / 2) for each in logs], np.geomspace(1e-2, 1e1, n).tolist()
    points = line(best, C, gamma)
    assert points
    assert all(2 * c * g == pytest.approx(best) for c, g in points)
    assert [c for c, _ in points] == [c for c in C if c in dict(points)]


@pytest.mark.parametrize("best", [0.1, 3.0])
def test_the_line_has_a_slope_of_minus_one(best):
    """As the paper's text and Keerthi and Lin have it: log C = log C_linear - log(2 gamma)."""
    log_C, log_gamma = np.log(line(best, DECADES, DECADES)).T
    slope, intercept = np.polyfit(log_gamma, log_C, 1)
    assert slope == pytest.approx(-1.0)
    assert intercept == pytest.approx(np.log(best) - np.log(2))


def test_a_line_that_misses_the_grid_gives_its_nearest_point():
    assert line(1e9, [1.0, 100.0], [0.01, 0.1]) == [(100.0, 5e6)]
    assert line(1e-9, [1.0, 100.0], [0.01, 0.1]) == [(1.0, 5e-10)]


def test_one_gamma_has_no_steps():
    assert line(2.0, [0.1, 1.0, 10.0], [1.0]) == [(1.0, 1.0)]
