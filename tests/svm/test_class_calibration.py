"""Slopes of class probabilities, against a literal loop over the posterior."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.svm import class_calibration, pairs
from mixkern.svm.class_calibration import QUANTILES, SLOPES, slopes
from mixkern.svm.one_vs_one import class_probabilities

NAN_ROW = 0.2  # share of rows that are not left out


def drawn(c, r, n, seed, noise=1.0):
    """Values of pairs that are for the right class, plus noise."""
    random = np.random.RandomState(seed)
    codes = random.randint(c, size=n)
    sides = np.array([[(code == i) * 1.0 - (code == j) for i, j in pairs(c)] for code in codes]).reshape(n, -1)
    values = sides + noise * random.standard_normal((r, n, len(pairs(c))))
    return values, codes, random.uniform(0.1, 3, size=n)


def literal_slopes(values, codes, weights):
    """The posterior, one slope, repeat and row at a time."""
    r, n, q = values.shape
    c = next(c for c in range(2, 10) if c * (c - 1) // 2 == q)
    tested = [(k, i) for k in range(r) for i in range(n) if not np.isnan(values[k, i]).any()]
    most = max((weights[i] for _, i in tested), default=1.0)
    log_posterior = []
    for t in np.geomspace(0.1, 60, 40):
        total = 0.0
        for k, i in tested:
            share = class_probabilities(values[k, [i]], t, c)[0, codes[i]]
            total += weights[i] / most * math.log(max(share, 1e-6))
        log_posterior.append(0.7 * total / r - 0.5 * math.log(t) ** 2)
    posterior = np.exp(np.array(log_posterior) - max(log_posterior))
    posterior /= posterior.sum()
    found = []
    for quantile in (0.1, 0.3, 0.5, 0.7, 0.9):
        below = 0.0
        for t, share in zip(np.geomspace(0.1, 60, 40), posterior, strict=True):
            below += share
            if below >= quantile:
                found.append(t)
                break
    return found


# ---------------------------------------------------------------- the posterior


@settings(deadline=None, derandomize=True, max_examples=15)
@given(st.integers(2, 4), st.integers(1, 3), st.integers(1, 12), st.integers(0, 10**6))
def test_slopes_are_quantiles_of_the_posterior(c, r, n, seed):
    values, codes, weights = drawn(c, r, n, seed)
    values[np.random.RandomState(seed).uniform(size=(r, n)) < NAN_ROW] = np.nan
    np.testing.assert_allclose(slopes(values, codes, weights), literal_slopes(values, codes, weights))
    np.testing.assert_allclose(slopes(values, codes), literal_slopes(values, codes, np.ones(n)))


@pytest.mark.parametrize("values", [np.full((3, 4, 1), np.nan), np.empty((1, 0, 1))], ids=["never left out", "no rows"])
def test_without_left_out_rows_slopes_are_those_of_the_prior(values):
    codes = np.zeros(values.shape[1], dtype=int)
    found = slopes(values, codes)
    assert found.shape == (len(QUANTILES),)
    np.testing.assert_allclose(found, literal_slopes(values, codes, np.ones(len(codes))))
    normal = np.exp([-1.2816, -0.5244, 0.0, 0.5244, 1.2816])  # quantiles of a log-normal distribution
    assert (np.abs(np.log(found / normal)) < np.log(SLOPES[1] / SLOPES[0])).all()


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(2, 4), st.integers(1, 20), st.integers(0, 10**6))
def test_repeats_of_the_same_rows_count_once(c, n, seed):
    values, codes, weights = drawn(c, 1, n, seed)
    np.testing.assert_array_equal(slopes(np.tile(values, (4, 1, 1)), codes, weights), slopes(values, codes, weights))


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(2, 4), st.integers(1, 20), st.integers(-20, 20), st.integers(0, 10**6))
def test_only_the_ratios_of_weights_matter(c, n, exponent, seed):
    values, codes, weights = drawn(c, 2, n, seed)
    np.testing.assert_array_equal(slopes(values, codes, 2.0**exponent * weights), slopes(values, codes, weights))


def test_rows_of_negligible_weight_do_not_count():
    values, codes, _ = drawn(3, 2, 20, 0)
    weights = np.where(np.arange(20) < 10, 1.0, 1e-12)
    np.testing.assert_array_equal(slopes(values, codes, weights), slopes(values[:, :10], codes[:10]))


def test_the_more_values_are_right_the_steeper():
    values = np.linspace(0.5, 2.0, 20)
    codes = np.zeros(20, dtype=int)
    found = [slopes(np.where(np.arange(20) < n, -values, values)[None, :, None], codes) for n in (0, 1, 3, 6, 10)]
    assert (np.diff(found, axis=0) <= 0).all()
    assert (np.diff(found, axis=0)[:, 2] < 0).all()


def test_the_more_rows_are_right_the_steeper():
    found = [slopes(np.ones((1, n, 1)), np.zeros(n, dtype=int)) for n in (1, 10, 100, 1000)]
    assert (np.diff(found, axis=0) > 0).all()


def test_the_more_rows_the_narrower():
    widths = []
    for n in (5, 50, 500):
        values, codes, _ = drawn(2, 1, n, 0)
        found = slopes(values, codes)
        widths.append(found[-1] / found[0])
    assert widths[0] > widths[1] > widths[2]


def test_slopes_of_wrong_values_are_positive():
    found = slopes(-np.ones((1, 50, 1)), np.zeros(50, dtype=int))
    assert (found > 0).all()
    assert (found < 0.3).all()


def test_huge_values():
    assert np.isfinite(slopes(np.array([[[1e8], [-1e8]]]), np.zeros(2, dtype=int))).all()
    assert np.isfinite(slopes(np.full((1, 5, 3), 1e300), np.zeros(5, dtype=int))).all()


def test_of_many_values_every_kth_row_is_used(monkeypatch):
    values, codes, weights = drawn(3, 2, 20, 1)
    expected = slopes(values[:, ::3], codes[::3], weights[::3])
    monkeypatch.setattr(class_calibration, "MAX_VALUES", 29)  # of 60
    np.testing.assert_array_equal(slopes(values, codes, weights), expected)
