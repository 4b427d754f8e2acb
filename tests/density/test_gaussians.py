"""Factors against the full covariances that they stand for: every quantity of a mixture is the same."""

import pickle
import tracemalloc

import numpy as np
import pytest

from mixkern.density import Mixture
from mixkern.density.gaussians import FEW_COLUMNS, thin
from mixkern.engine import LowRankWhiteners
from mixkern.errors import MixtureError

NAN = np.nan
WIDTHS = [1, 5, FEW_COLUMNS + 6]


@pytest.fixture(params=WIDTHS)
def pair(request):
    """A mixture of factors, and the same as full covariances."""
    d, k, q = request.param, 3, 2
    random = np.random.default_rng(d)
    loadings = random.normal(size=(k, d, q))
    loadings[2, :, 1] = 0.0  # a component with one factor
    noise = random.uniform(0.2, 2.0, (k, d))
    weights, means = random.dirichlet(np.ones(k)), random.normal(size=(k, d))
    tables = [random.dirichlet(np.ones(3), size=k)]
    factor = Mixture(weights, means, noise, "factor", tables, loadings)
    full = [L @ L.T + np.diag(D) for L, D in zip(loadings, noise, strict=True)]
    rows, _ = factor.sample(40, 0)
    rows[random.random(rows.shape) < 0.2] = NAN
    rows[0, :d] = NAN
    return factor, Mixture(weights, means, full, "full", tables), rows


def test_densities_and_conditional_means(pair):
    factor, full, rows = pair
    np.testing.assert_allclose(factor.log_joint(rows), full.log_joint(rows), rtol=1e-9)
    np.testing.assert_allclose(factor.responsibilities(rows), full.responsibilities(rows), atol=1e-9)
    np.testing.assert_allclose(factor.conditional_mean(rows), full.conditional_mean(rows), rtol=1e-8, atol=1e-9)


def test_covariances(pair):
    factor, full, _ = pair
    np.testing.assert_allclose(factor.full_covariances, full.covariances, rtol=1e-12)
    np.testing.assert_allclose(factor.variances, full.variances, rtol=1e-12)
    variances, loadings = factor.total_covariance
    centred = full.means - full.weights @ full.means
    total = np.einsum("k,kij->ij", full.weights, full.covariances) + (full.weights[:, None] * centred).T @ centred
    np.testing.assert_allclose(np.diag(variances) + loadings @ loadings.T, total, rtol=1e-10, atol=1e-12)


def test_the_metric_is_the_inverse_covariance(pair):
    factor, full, _ = pair
    d = factor.n_continuous
    x = np.random.default_rng(0).normal(size=(7, d))
    metric = factor.whiteners
    assert isinstance(metric, LowRankWhiteners) == (d > FEW_COLUMNS)
    columns = np.arange(d)
    for k in range(3):
        expected = np.linalg.solve(full.covariances[k], x.T).T
        np.testing.assert_allclose(factor.precision_times(k, x, columns), expected, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(full.precision_times(k, x, columns), expected, rtol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, [0.1, 0.0, 0.9]])
def test_pooling(pair, share):
    factor, full, _ = pair
    pooled = factor.pooled(share)
    assert pooled.covariance_type == "factor"
    assert pooled.loadings.shape[2] <= max(factor.n_continuous, 2)
    np.testing.assert_allclose(pooled.full_covariances, full.pooled(share).covariances, rtol=1e-10, atol=1e-12)


def test_few_rows_lean_on_the_mean(pair):
    factor, full, _ = pair
    d = factor.n_continuous
    numbers = np.minimum([3 * d - 1, 3 * d - 1, 2 * d], d * (d + 1) / 2)
    expected = full.pooled(numbers / (full.weights * 50 + numbers)).covariances
    np.testing.assert_allclose(factor.steadied(50).full_covariances, expected, rtol=1e-10, atol=1e-12)


def test_marginals(pair):
    factor, full, rows = pair
    d = factor.n_continuous
    columns = [d - 1, 0] if d > 1 else [0]
    one, other = factor.marginal(columns), full.marginal(columns)
    np.testing.assert_allclose(one.log_joint(rows[:, columns]), other.log_joint(rows[:, columns]), rtol=1e-9)


def test_samples_have_the_covariance():
    mixture = Mixture([1.0], [[1.0, -1.0]], [[0.5, 0.1]], "factor", loadings=[[[2.0], [1.0]]])
    X, _ = mixture.sample(200_000, 0)
    np.testing.assert_allclose(np.cov(X.T), mixture.full_covariances[0], rtol=0.03)
    np.testing.assert_allclose(X.mean(axis=0), [1.0, -1.0], atol=0.03)


def test_content(pair):
    factor, _, _ = pair
    for again in (Mixture.from_dict(factor.to_dict()), pickle.loads(pickle.dumps(factor))):
        assert again == factor
        assert again.loadings.tolist() == factor.loadings.tolist()
    other = Mixture(factor.weights, factor.means, factor.covariances, "factor", factor.categories, 2 * factor.loadings)
    assert other != factor
    assert repr(factor).startswith(f"Mixture(3 factor components with up to 2 factors in {factor.n_continuous} columns")


def test_no_factors_are_a_diagonal():
    mixture = Mixture([1.0], [[0.0, 1.0]], [[1.0, 4.0]], "factor", loadings=np.zeros((1, 2, 0)))
    diagonal = Mixture([1.0], [[0.0, 1.0]], [[1.0, 4.0]], "diag")
    X = [[1.0, NAN], [0.5, -2.0]]
    np.testing.assert_allclose(mixture.log_joint(X), diagonal.log_joint(X), rtol=1e-14)
    np.testing.assert_allclose(mixture.pooled(0.5).full_covariances, diagonal.full_covariances)
    assert Mixture.from_dict(mixture.to_dict()) == mixture


def test_loadings_that_do_not_fit():
    with pytest.raises(MixtureError, match=r"loadings must have shape \(1, 2, q\) for covariance_type='factor'"):
        Mixture([1.0], [[0.0, 1.0]], [[1.0, 4.0]], "factor")
    with pytest.raises(MixtureError, match=r"loadings must have shape \(1, 2, q\)"):
        Mixture([1.0], [[0.0, 1.0]], [[1.0, 4.0]], "factor", loadings=[[1.0, 2.0]])
    with pytest.raises(MixtureError, match="Only the covariance types 'factor' and 'common' have loadings, not 'diag'"):
        Mixture([1.0], [[0.0]], [[1.0]], "diag", loadings=[[[1.0]]])
    with pytest.raises(MixtureError, match="covariances must be positive"):
        Mixture([1.0], [[0.0]], [[0.0]], "factor", loadings=[[[1.0]]])


def test_more_loadings_than_columns_become_fewer():
    loadings = np.random.default_rng(0).normal(size=(2, 3, 8))
    found = thin(loadings)
    assert found.shape == (2, 3, 3)
    np.testing.assert_allclose(found @ np.swapaxes(found, 1, 2), loadings @ np.swapaxes(loadings, 1, 2), rtol=1e-10)


def test_a_wide_mixture_never_forms_a_matrix_of_all_columns():
    d = 3000
    random = np.random.default_rng(0)
    tracemalloc.start()
    mixture = Mixture(
        [0.5, 0.5], random.normal(size=(2, d)), np.ones((2, d)), "factor", loadings=random.normal(size=(2, d, 3))
    )
    rows, _ = mixture.sample(20, 0)
    rows[3, 5] = NAN
    mixture.conditional_mean(rows)
    mixture.pooled(0.5).log_density(rows)
    mixture.precision_times(0, rows[:2] - mixture.means[0], np.arange(d))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < d * d * 8 / 4
