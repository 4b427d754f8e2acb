"""First centres."""

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin

from mixkern.density.block import InnerRows
from mixkern.density.start import MOST_INDICATORS, Start, distant_rows, nearest, start_statistics

NAN = np.nan


@pytest.fixture
def start(make_prior, pool):
    def make(X, k, how="k-means++", *, codes=None, weights=None, n_slots=(), is_diagonal=False, seed=0):
        X = np.asarray(X, dtype=float)
        codes = np.empty((len(X), 0)) if codes is None else codes
        prior = make_prior("diag" if is_diagonal else "full", X.shape[1])
        rows = InnerRows(X, codes, weights, n_slots)
        return start_statistics(rows, prior, k, Start(how), np.random.RandomState(seed), pool)

    return make


@pytest.fixture(params=["k-means++", "random"])
def how(request):
    return request.param


@pytest.mark.parametrize("is_diagonal", [False, True])
def test_every_row_belongs_to_one_centre(start, how, is_diagonal):
    X = np.random.default_rng(0).normal(size=(50, 3))
    statistics = start(X, 6, how, is_diagonal=is_diagonal)
    assert statistics.counts.sum() == 50
    np.testing.assert_array_equal(statistics.counts, statistics.counts.round())
    np.testing.assert_allclose(statistics.about(np.zeros((6, 3))).sums.sum(axis=0), X.sum(axis=0))
    squares = statistics.about(np.zeros((6, 3))).squares.sum(axis=0)
    np.testing.assert_allclose(squares, (X**2).sum(axis=0) if is_diagonal else X.T @ X, rtol=1e-10, atol=1e-10)


def test_clusters_far_apart_get_a_component_each(start):
    X = np.repeat([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]], 10, axis=0) + np.random.default_rng(0).normal(size=(30, 2))
    statistics = start(X, 3)
    np.testing.assert_array_equal(statistics.counts, [10, 10, 10])


def test_rows_of_one_component_are_nearest_to_its_centre(start):
    X = np.random.default_rng(0).normal(size=(40, 1))
    statistics = start(X, 2)
    low, high = sorted(statistics.means[:, 0])
    assert low < high
    np.testing.assert_allclose(
        (statistics.scatters[:, 0, 0]).sum() + statistics.counts @ statistics.means[:, 0] ** 2, (X**2).sum()
    )


def test_weights_are_shares(start, how):
    random = np.random.default_rng(1)
    X, weights = random.normal(size=(30, 2)), random.random(30)
    statistics = start(X, 4, how, weights=weights)
    assert statistics.counts.sum() == pytest.approx(weights.sum())
    np.testing.assert_allclose(statistics.about(np.zeros((4, 2))).sums.sum(axis=0), weights @ X)


def test_categories_are_counted_and_gaps_are_not(start, how):
    codes = np.array([[0.0], [1.0], [1.0], [NAN]] * 5)
    statistics = start(np.random.default_rng(0).normal(size=(20, 1)), 3, how, codes=codes, n_slots=(3,))
    np.testing.assert_allclose(statistics.category_counts[0].sum(axis=0), [5, 10, 0])


def test_categories_take_part_in_the_choice(start):
    codes = np.repeat([[0.0], [1.0]], 10, axis=0)
    statistics = start(np.zeros((20, 1)), 2, codes=codes, n_slots=(3,))
    np.testing.assert_allclose(np.sort(statistics.category_counts[0], axis=0), [[0, 0, 0], [10, 10, 0]])


def test_very_many_categories_take_no_part_unless_there_is_nothing_else(start):
    n = MOST_INDICATORS + 1
    codes = np.arange(20, dtype=float)[:, None]
    with_numbers = start(np.repeat([[0.0], [9.0]], 10, axis=0), 2, codes=codes, n_slots=(n,))
    np.testing.assert_array_equal(with_numbers.counts, [10, 10])
    only_categories = start(np.empty((20, 0)), 2, codes=codes, n_slots=(n,))
    assert only_categories.counts.sum() == 20


def test_gaps_sit_at_the_centre(start, how):
    X = np.array([[NAN, 1.0], [NAN, -1.0], [2.0, NAN], [-2.0, 0.0]])
    statistics = start(X, 2, how)
    assert statistics.counts.sum() == 4
    assert np.isfinite(statistics.squares).all()


@pytest.mark.parametrize(("n_unique", "n"), [(1, 1), (1, 5), (3, 12), (3, 40)])
def test_no_more_components_than_there_are_different_rows(start, how, n_unique, n):
    X = np.arange(n)[:, None] % n_unique * np.ones((n, 2))
    statistics = start(X, 10, how)
    assert statistics.counts.sum() == n
    assert len(statistics.counts) <= min(n, 10)
    assert (statistics.counts > 0).sum() <= n_unique


def test_same_seed_same_start(start, how):
    X = np.random.default_rng(0).normal(size=(60, 2))
    one, same, other = (start(X, 5, how, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.sums, same.sums)
    assert not np.array_equal(one.sums, other.sums)


def test_rows_without_weight_take_no_part(start):
    X = np.array([[0.0], [0.1], [50.0]])
    statistics = start(X, 2, weights=np.array([1.0, 1.0, 0.0]))
    assert statistics.counts.sum() == 2


@pytest.mark.parametrize("d", [1, 2, 7, 33])
@pytest.mark.parametrize("n", [1, 255, 256, 257, 600])
@pytest.mark.parametrize("is_grid", [False, True])
def test_the_nearest_centre_is_that_of_scikit_learn(d, n, is_grid):
    random = np.random.default_rng(n + d)
    X = random.integers(0, 3, size=(600, d)) / 3.0 if is_grid else random.normal(1e3, size=(600, d))
    centres, rows = X[:20], X[:n]
    found = nearest(rows, centres)
    np.testing.assert_array_equal(found, pairwise_distances_argmin(rows, centres))
    sq_distances = ((rows[:, None] - centres) ** 2).sum(axis=2)
    np.testing.assert_allclose(sq_distances[np.arange(n), found], sq_distances.min(axis=1), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("d", [1, 5, 33])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (30, 30), (100, 7), (600, 30)])
@pytest.mark.parametrize("is_grid", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_distant_rows_are_those_of_scikit_learn(d, n, k, is_grid, is_weighted):
    random = np.random.default_rng(n + d)
    X = random.integers(0, 3, size=(n, d)) / 3.0 if is_grid else random.normal(size=(n, d))
    weights = random.uniform(size=n) if is_weighted else None
    for seed in range(5):
        expected, _ = kmeans_plusplus(X, k, sample_weight=weights, random_state=np.random.RandomState(seed))
        np.testing.assert_array_equal(distant_rows(X, k, weights, np.random.RandomState(seed)), expected)


def test_no_row_has_no_nearest_centre():
    assert nearest(np.empty((0, 2)), np.zeros((3, 2))).shape == (0,)
