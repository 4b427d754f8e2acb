"""Samples that grow to all rows."""

from itertools import pairwise

import numpy as np
import pytest

from mixkern.density.block import InnerRows
from mixkern.density.family import Family
from mixkern.density.inference import Policy
from mixkern.density.progressive import FIRST_SAMPLE, GROWTH, fit_progressively, samples
from mixkern.density.start import Start, restart

POLICY = Policy(precision_prior=None, learns_degrees=False, prune_below=1.0, merges=True, tol=1e-5, max_iter=1000)


def make_rows(n, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)) * 0.3 + np.array([[-1.0, 0], [1, 0], [0, 2]])[random.integers(0, 3, n)]
    return InnerRows(X, np.empty((n, 0)), None, ())


def fit(rows, prior, pool, *, n_init=1, is_progressive=True, seed=0, policy=POLICY, k=8):
    return fit_progressively(
        rows,
        [Family(prior, k)],
        policy,
        start=Start.KMEANS_PLUS_PLUS,
        n_init=n_init,
        is_progressive=is_progressive,
        random=np.random.RandomState(seed),
        pool=pool,
    )


@pytest.mark.parametrize("n", [1, FIRST_SAMPLE, FIRST_SAMPLE * GROWTH])
def test_small_tables_are_taken_whole(n):
    assert list(samples(make_rows(n), np.random.RandomState(0), is_progressive=True)) == [None]


def test_no_samples_unless_progressive():
    assert list(samples(make_rows(10**6), np.random.RandomState(0), is_progressive=False)) == [None]


@pytest.mark.parametrize("n", [FIRST_SAMPLE * GROWTH + 1, 200_000])
def test_samples_grow_and_contain_each_other(n):
    *parts, last = samples(make_rows(n), np.random.RandomState(0), is_progressive=True)
    assert last is None
    assert len(parts[0]) == FIRST_SAMPLE
    for small, large in pairwise(parts):
        assert len(large) == GROWTH * len(small)
        np.testing.assert_array_equal(large[: len(small)], small)
    assert len(parts[-1]) * GROWTH <= n
    assert len(np.unique(parts[-1])) == len(parts[-1])
    assert 0 <= parts[-1].min() <= parts[-1].max() < n


def test_ends_where_a_fit_of_all_rows_ends(make_prior, pool):
    rows = make_rows(20_000)
    prior = make_prior("full", 2)
    progressive = fit(rows, prior, pool)
    whole = fit(rows, prior, pool, is_progressive=False)
    assert progressive.n_components == whole.n_components == 3
    assert progressive.bound == pytest.approx(whole.bound, rel=1e-4)
    assert progressive.statistics.counts.sum() == pytest.approx(20_000, rel=1e-6)


def test_more_starts_are_never_worse(make_prior, pool):
    rows = make_rows(150)
    prior = make_prior("full", 2)
    one, five = (fit(rows, prior, pool, n_init=n, seed=3) for n in (1, 5))
    assert five.bound >= one.bound


def test_a_restart_gives_the_statistics_of_the_last_step(make_prior, pool):
    rows = make_rows(500)
    ascent = fit(rows, make_prior("full", 2), pool)
    again = restart(rows, ascent.posterior, pool)
    np.testing.assert_allclose(again.counts, ascent.statistics.counts, rtol=1e-10)
    np.testing.assert_allclose(again.means, ascent.statistics.means, rtol=1e-8)


def test_same_seed_same_ascent(make_prior, pool):
    rows = make_rows(17_000)
    one, same = (fit(rows, make_prior("full", 2), pool, seed=5) for _ in range(2))
    assert one.bounds == same.bounds
