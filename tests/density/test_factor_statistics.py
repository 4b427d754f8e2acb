"""Sums of rows and their factors: origins, parts, coordinates, and mergers by moments."""

from dataclasses import replace

import numpy as np
import pytest

from mixkern.density.block import InnerRows
from mixkern.density.covariance import PRECISIONS, CovarianceType
from mixkern.density.factor import FactorPrior
from mixkern.density.factor_start import first_factors, principal_rows
from mixkern.density.factor_statistics import ARRAYS, leading, pivots
from mixkern.density.inference import Policy, ascend, merger_gains
from mixkern.density.start import hard_statistics
from mixkern.threads import ThreadPool

POLICY = Policy(precision_prior=None, learns_degrees=False, prune_below=1.0, merges=True, tol=1e-6, max_iter=200)


def prior_of(d, most):
    return FactorPrior(
        PRECISIONS[CovarianceType.FACTOR],
        0.3,
        np.zeros(d),
        1.0,
        1.0,
        np.full(d, 0.1),
        1.0,
        most,
        most_mean_precision=1.0,
    )


def factor_rows(n, d, q, seed=0, noise=0.3):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, q)) @ random.normal(size=(q, d)) + noise * random.normal(size=(n, d))


def started(X, components, most, weights=None):
    rows = InnerRows(X, np.empty((len(X), 0)), weights, ())
    k = components.max() + 1
    statistics = hard_statistics(rows, components, k, is_diagonal=True)
    return first_factors(rows, components, statistics, prior_of(X.shape[1], most), np.random.RandomState(0)), rows


@pytest.fixture
def parts(factor_statistics_of):
    random = np.random.default_rng(0)
    found = []
    for n in (7, 4):
        X, shares = random.normal(size=(n, 3)), random.dirichlet(np.ones(2), size=n)
        found.append(factor_statistics_of(X, shares, random.normal(size=(2, n, 2))))
    return found


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-10, atol=1e-12, err_msg=name)


def test_origins_and_parts(parts):
    one, other = parts
    origins = np.random.default_rng(1).normal(size=(2, 3))
    assert_same(one.about(origins).about(one.origins), one)
    assert_same((one + other).about(origins), one.about(origins) + other)
    np.testing.assert_allclose(one.about(origins).scatters, one.scatters, rtol=1e-9)
    assert_same(one * 2.0, one + one)
    assert_same(one.keep(np.array([1, 0])).keep(np.array([1, 0])), one)


def test_more_factors_and_fewer_again(parts):
    one, _ = parts
    larger = one.resized(4)
    assert larger.n_factors == 4
    assert_same(larger.resized(2), one)
    assert_same(larger.truncated(np.array([2, 2])), one)
    np.testing.assert_allclose(larger.scatters, one.scatters, rtol=1e-10)
    fewer = one.truncated(np.array([1, 0]))
    assert fewer.n_factors == 1
    assert fewer.relevances[1, 0] == 0
    np.testing.assert_allclose(fewer.scatters[1], one.total_scatters[1])


def test_other_coordinates_of_factors_explain_as_much(parts):
    one, _ = parts
    random = np.random.default_rng(2)
    turns, shifts = random.normal(size=(2, 2, 2)) + 2 * np.eye(2), random.normal(size=(2, 2))
    moved = one.transformed(shifts, turns, one.relevances)
    n = one.counts[:, None]
    np.testing.assert_allclose(
        moved.factor_sums, np.einsum("kij,kj->ki", turns, one.factor_sums - n * shifts), rtol=1e-10
    )
    back = moved.transformed(-np.einsum("kij,kj->ki", turns, shifts), np.linalg.inv(turns), one.relevances)
    assert_same(back, one)


def test_pivots_add_up_to_determinants():
    root = np.random.default_rng(0).normal(size=(3, 4, 4))
    matrices = root @ np.swapaxes(root, 1, 2) + np.eye(4)
    found, factors = pivots(matrices)
    np.testing.assert_allclose(factors @ np.swapaxes(factors, 1, 2), matrices, rtol=1e-10)
    for j in range(4):
        np.testing.assert_allclose(found[:, j:].sum(axis=1), np.linalg.slogdet(matrices[:, j:, j:])[1], rtol=1e-10)


def test_the_leading_directions_and_the_rest_are_all():
    random = np.random.default_rng(0)
    stack, noise = random.normal(size=(2, 6, 5)), random.uniform(0.5, 2, (2, 6))
    kept, left = leading(stack, noise, 3)
    assert kept.shape == (2, 6, 3)
    np.testing.assert_allclose((kept**2).sum(axis=2) + left, (stack**2).sum(axis=2), rtol=1e-10)
    whole, nothing = leading(stack, noise, 5)
    np.testing.assert_allclose(
        whole @ np.swapaxes(whole, 1, 2), stack @ np.swapaxes(stack, 1, 2), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(nothing, 0.0)


# ---------------------------------------------------------------- the start


def test_the_start_finds_the_directions_of_the_rows():
    X = factor_rows(200, 8, 2)
    statistics, _ = started(X, np.zeros(200, dtype=int), 4)
    assert statistics.n_factors == 4
    assert statistics.counts.tolist() == [200]
    prior = prior_of(8, 4)
    assert prior.ranks(statistics)[0] >= 2
    covariance = prior.posterior(statistics).mixture().full_covariances[0]
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True), atol=0.1)


@pytest.mark.parametrize(("n", "d"), [(150, 120), (3, 5), (1, 4), (4, 1)])
def test_starts_of_any_size(n, d):
    X = factor_rows(n, d, 1)
    statistics, _ = started(X, np.arange(n) % 2 if n > 1 else np.zeros(1, dtype=int), max(d - 1, 0))
    assert np.isfinite(prior_of(d, max(d - 1, 0)).posterior(statistics).precisions).all()


def test_weights_are_rows_several_times():
    X = factor_rows(40, 5, 2)
    copies = np.random.default_rng(0).integers(1, 4, 40)
    one, _ = started(X, np.zeros(40, dtype=int), 2, copies.astype(float))
    other, _ = started(np.repeat(X, copies, axis=0), np.zeros(copies.sum(), dtype=int), 2)
    np.testing.assert_allclose(one.scatters, other.scatters, rtol=1e-8)
    np.testing.assert_allclose(np.abs(one.products), np.abs(other.products), rtol=1e-7, atol=1e-8)


def test_principal_rows():
    X = factor_rows(100, 30, 2, noise=0.01)
    rows = principal_rows(InnerRows(X, np.zeros((100, 1)), None, (2,)), 20, np.random.RandomState(0))
    assert rows.X.shape == (100, 10)  # ten rows for each column
    np.testing.assert_allclose(rows.X.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(rows.X.std(axis=0), 1)
    assert rows.codes.shape == (100, 1)


# ---------------------------------------------------------------- mergers


def test_a_merger_keeps_sums_and_covariance():
    X = factor_rows(300, 6, 2)
    components = (X[:, 0] > 0).astype(int)
    both, _ = started(X, components, 5)
    merged = both.merge(0, 1)
    assert merged.counts.tolist() == [300]
    np.testing.assert_allclose(merged.means[0], X.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(merged.total_scatters[0], 300 * X.var(axis=0), rtol=1e-8)
    covariance = prior_of(6, 5).posterior(merged).mixture().full_covariances[0]
    np.testing.assert_allclose(covariance, np.cov(X.T, bias=True), atol=0.3)


def test_halves_of_one_cluster_become_one():
    X = np.vstack([factor_rows(120, 4, 1), factor_rows(120, 4, 1, seed=1) + 15])
    components = np.where(np.arange(240) < 120, (X[:, 0] > 0).astype(int), 2)
    statistics, rows = started(X, components, 3)
    prior = prior_of(4, 3)
    first, second, gains = merger_gains(statistics, prior)
    assert (first[np.argmax(gains)], second[np.argmax(gains)]) == (0, 1)
    with ThreadPool(1) as pool:
        ascent = ascend(rows.gap_blocks(3, 3), statistics, prior, POLICY, pool)
        kept = ascend(rows.gap_blocks(3, 3), statistics, prior, replace(POLICY, merges=False), pool)
    assert ascent.n_components == 2
    assert ascent.bound >= kept.bound
    assert np.diff(ascent.bounds).min() >= -1e-8 * abs(ascent.bound)


def test_pairs_come_in_parts(monkeypatch):
    X = factor_rows(200, 5, 2)
    statistics, _ = started(X, np.arange(200) % 4, 3)
    prior = prior_of(5, 3)
    _, _, whole = merger_gains(statistics, prior)
    monkeypatch.setattr("mixkern.density.factor_statistics.PAIR_CELLS", 1)
    _, _, by_one = merger_gains(statistics, prior)
    np.testing.assert_allclose(by_one, whole, rtol=1e-6, atol=1e-6)
