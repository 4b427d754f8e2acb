"""Kernels of mixtures of factors against those of the full covariances that they stand for."""

import numpy as np
import pytest

from mixkern.density import Mixture
from mixkern.density.rows import Rows
from mixkern.kernels import BlendKernel, GMMKernel, RWMKernel


@pytest.fixture(scope="module", params=[4, 70])
def pair(request):
    d, k, q = request.param, 3, 2
    random = np.random.default_rng(d)
    loadings, noise = 0.5 * random.normal(size=(k, d, q)), random.uniform(0.5, 2.0, (k, d))
    weights, means = random.dirichlet(np.full(k, 5.0)), 0.2 * random.normal(size=(k, d))
    tables = [random.dirichlet(np.ones(3), size=k)]
    factor = Mixture(weights, means, noise, "factor", tables, loadings)
    full = Mixture(weights, means, factor.full_covariances, "full", tables)
    X, _ = factor.sample(25, 0)
    X[3, 0] = X[4, d] = np.nan
    return factor, full, X


@pytest.mark.parametrize("kernel", [RWMKernel, GMMKernel, BlendKernel])
def test_kernels_are_those_of_the_full_covariances(pair, kernel):
    factor, full, X = pair
    one, other = (kernel(mixture, gamma=0.02, alpha=0.8, beta=0.4) for mixture in (factor, full))
    V = np.random.default_rng(0).normal(size=(10, 2))
    close = {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(one(X), other(X), **close)
    np.testing.assert_allclose(one(X[:7], X[9:]), other(X[:7], X[9:]), **close)
    np.testing.assert_allclose(one.distance(X), other.distance(X), **close)
    np.testing.assert_allclose(one.times(X, X[:10], V), other.times(X, X[:10], V), **close)
    ours, theirs = one.parts(X[:5], X[5:10]), other.parts(X[:5], X[5:10])
    np.testing.assert_allclose(ours.components, theirs.components, **close)
    np.testing.assert_allclose(ours.columns, theirs.columns, **close)
    np.testing.assert_allclose(ours.components.sum(axis=1), np.diagonal(one.distance(X[:5], X[5:10])), **close)
    np.testing.assert_array_equal(one(Rows(X, factor)), one(X))
