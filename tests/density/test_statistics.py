"""Sums that add up, wherever their origins are."""

import numpy as np
import pytest

from mixkern.density.statistics import Statistics


@pytest.fixture(params=[False, True], ids=["matrices", "diagonals"])
def is_diagonal(request):
    return request.param


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(23, 3)) + np.array([0, 5, -3])
    return X, random.dirichlet(np.ones(4), size=23), random.integers(0, 3, (23, 2)).astype(float)


@pytest.fixture
def statistics(rows, statistics_of, is_diagonal):
    X, shares, codes = rows
    return statistics_of(X, shares, is_diagonal=is_diagonal, codes=codes, n_slots=(3, 4))


def assert_same(one, other, rtol=1e-10):
    other = other.about(one.origins)
    for name in ("counts", "sums", "squares", "log_normaliser"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol)
    for a, b in zip(one.category_counts, other.category_counts, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol)


def test_means_and_scatters_are_the_literal_ones(rows, statistics, literal, is_diagonal):
    X, shares, _ = rows
    counts, means, spreads = literal.statistics(X, shares)
    scatters = counts[:, None, None] * spreads
    np.testing.assert_allclose(statistics.counts, counts, rtol=1e-12)
    np.testing.assert_allclose(statistics.means, means, rtol=1e-12)
    expected = np.diagonal(scatters, axis1=1, axis2=2) if is_diagonal else scatters
    np.testing.assert_allclose(statistics.scatters, expected, rtol=1e-10, atol=1e-10)


def test_another_origin_changes_nothing(rows, statistics, statistics_of, is_diagonal):
    X, shares, codes = rows
    moved = statistics.about(np.random.default_rng(1).normal(size=(4, 3)))
    np.testing.assert_allclose(moved.means, statistics.means, rtol=1e-10)
    np.testing.assert_allclose(moved.scatters, statistics.scatters, rtol=1e-10, atol=1e-10)
    there = statistics_of(X, shares, is_diagonal=is_diagonal, codes=codes, n_slots=(3, 4), origin=2.0)
    assert_same(there, statistics)
    assert_same(moved.about(statistics.origins), statistics)


def test_parts_add_up_to_the_whole(rows, statistics, statistics_of, is_diagonal):
    X, shares, codes = rows
    settings = {"is_diagonal": is_diagonal, "n_slots": (3, 4)}
    parts = [
        statistics_of(X[at], shares[at], codes=codes[at], origin=origin, **settings)
        for at, origin in [(slice(5), 0.0), (slice(5, 6), 3.0), (slice(6, None), -1.0)]
    ]
    assert_same(parts[0] + parts[1] + parts[2], statistics)
    assert_same(parts[2] + (parts[0] + parts[1]), statistics)


def test_a_factor_is_so_many_copies(statistics):
    assert_same(statistics * 3, statistics + statistics + statistics)


def test_keeping_some_components(statistics):
    kept = statistics.keep(np.array([3, 1]))
    np.testing.assert_array_equal(kept.counts, statistics.counts[[3, 1]])
    np.testing.assert_array_equal(kept.scatters, statistics.scatters[[3, 1]])
    np.testing.assert_array_equal(kept.category_counts[1], statistics.category_counts[1][[3, 1]])


@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 3), (3, 0), (2, 1), (1, 2)])
def test_merging_is_adding_responsibilities(rows, statistics, statistics_of, is_diagonal, first, second):
    X, shares, codes = rows
    together = shares.copy()
    together[:, first] += together[:, second]
    together = np.delete(together, second, axis=1)
    expected = statistics_of(X, together, is_diagonal=is_diagonal, codes=codes, n_slots=(3, 4))
    origins = np.random.default_rng(2).normal(size=(4, 3))
    assert_same(statistics.about(origins).merge(first, second), expected, rtol=1e-9)


def test_far_from_zero_the_digits_live_in_the_origins(statistics_of, is_diagonal):
    X = 1e9 + np.random.default_rng(0).integers(-8, 8, (40, 2)).astype(float)
    shares = np.ones((40, 1))
    near = statistics_of(X, shares, is_diagonal=is_diagonal, origin=1e9)
    expected = 40 * np.cov(X.T, bias=True)
    np.testing.assert_allclose(near.scatters[0], np.diagonal(expected) if is_diagonal else expected, rtol=1e-12)


def test_a_component_without_rows_stays_at_its_origin(is_diagonal):
    squares = np.zeros((1, 2) if is_diagonal else (1, 2, 2))
    empty = Statistics(np.zeros(1), np.zeros((1, 2)), squares, np.array([[3.0, 4.0]]), (), 0.0)
    np.testing.assert_array_equal(empty.means, [[3, 4]])
    assert not empty.scatters.any()
