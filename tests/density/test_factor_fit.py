"""VBMixture with factors: limits that are known, and every way to fit."""

import tracemalloc

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis
from sklearn.exceptions import NotFittedError

from mixkern.density import Mixture, VBMixture

NAN = np.nan


def rows(n=300, d=8, q=2, k=1, seed=0, noise=0.5, far=4.0):
    """Rows of k clusters with q factors each, and the cluster of each."""
    random = np.random.default_rng(seed)
    parts = []
    for _ in range(k):
        factors = random.normal(size=(n // k, q)) @ random.normal(size=(q, d))
        parts.append(factors + noise * random.uniform(0.5, 1.5, d) * random.normal(size=(n // k, d)))
        parts[-1] += far * random.normal(size=d)
    order = random.permutation(n // k * k)
    return np.vstack(parts)[order], np.repeat(np.arange(k), n // k)[order]


def factors_of(density):
    return density.mixture_.loadings.any(axis=1).sum(axis=1)


# ---------------------------------------------------------------- limits


def test_the_limit_of_many_rows_is_the_maximum_likelihood_of_factor_analysis():
    """With each row a hundred million times, priors do not count: scikit-learn's log likelihood to 1e-6."""
    X, _ = rows(400, 10, 3)
    ours = VBMixture(
        1, covariance_type="factor", n_factors=3, precision_prior=1.0, tol=0.0, max_iter=3000, random_state=0
    )
    ours.fit(X, sample_weight=np.full(len(X), 1e8))
    theirs = FactorAnalysis(3, tol=1e-12, max_iter=20_000, svd_method="lapack").fit(X)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-6)
    covariance = ours.mixture_.full_covariances[0]
    np.testing.assert_allclose(covariance, theirs.get_covariance(), rtol=1e-3, atol=1e-3)


def test_one_factor_less_than_columns_is_a_full_covariance():
    X, _ = rows(300, 5, 4)
    weights = np.full(len(X), 1e8)
    factor = VBMixture(1, covariance_type="factor", n_factors=4, precision_prior=1.0, tol=1e-14, random_state=0)
    full = VBMixture(1, precision_prior=1.0, tol=1e-14, random_state=0).fit(X, sample_weight=weights)
    factor.fit(X, sample_weight=weights)
    assert factor.score(X) == pytest.approx(full.score(X), abs=1e-6)
    np.testing.assert_allclose(factor.mixture_.full_covariances, full.mixture_.covariances, rtol=1e-3, atol=1e-3)


# ---------------------------------------------------------------- structure that is found


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("n", "d", "q", "k"), [(600, 10, 2, 3), (240, 30, 3, 2), (300, 100, 4, 3)])
def test_components_and_their_factors_are_found(n, d, q, k, seed):
    X, labels = rows(n, d, q, k, seed)
    density = VBMixture(covariance_type="factor", random_state=0, precision_prior="evidence").fit(X)
    assert density.n_components_ == k
    assert factors_of(density).tolist() == [q] * k
    assert np.diff(density.bound_trace_).min() >= -1e-9 * abs(density.lower_bound_)
    pairs = set(zip(density.predict(X).tolist(), labels.tolist(), strict=True))
    assert len(pairs) == k


def test_independent_columns_have_no_factors():
    X = np.random.default_rng(0).normal(size=(300, 6)) * np.arange(1, 7)
    density = VBMixture(covariance_type="factor", random_state=0).fit(X)
    assert factors_of(density).tolist() == [0]
    assert density.mixture_.loadings.shape == (1, 6, 0)


def test_the_number_of_factors_is_limited():
    X, _ = rows(300, 8, 4)
    for most in (0, 1, 3):
        density = VBMixture(1, covariance_type="factor", n_factors=most, random_state=0).fit(X)
        assert factors_of(density).tolist() == [most]


def test_units_do_not_matter():
    X, _ = rows(300, 6, 2, 2)
    scales, shift = 10.0 ** np.arange(-3, 3), 1e3 * np.arange(6)
    one, other = (
        VBMixture(5, covariance_type="factor", precision_prior="evidence", random_state=0).fit(each)
        for each in (X, X * scales + shift)
    )
    np.testing.assert_allclose(other.mixture_.loadings, one.mixture_.loadings * scales[:, None], rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(other.mixture_.means, one.mixture_.means * scales + shift, rtol=1e-7)
    assert other.lower_bound_ == pytest.approx(one.lower_bound_ - len(X) * np.log(scales).sum(), rel=1e-8)


# ---------------------------------------------------------------- gaps, categories, weights, labels, blocks of rows


def test_gaps_are_filled_from_the_factors():
    X, _ = rows(400, 10, 2, 1, noise=0.2)
    holes = X.copy()
    is_gap = np.random.default_rng(1).random(X.shape) < 0.2
    holes[is_gap] = NAN
    density = VBMixture(covariance_type="factor", random_state=0, precision_prior="evidence").fit(holes)
    assert factors_of(density).tolist() == [2]
    filled = density.mixture_.conditional_mean(holes)
    error = np.sqrt(np.mean((filled - X)[is_gap] ** 2))
    assert error < 0.4 * X[is_gap].std()
    assert np.diff(density.bound_trace_).min() >= -1e-9 * abs(density.lower_bound_)


def test_categories_and_labels():
    X, labels = rows(300, 6, 2, 2, far=0.5)
    categories = np.where(np.arange(300) % 5 == 0, NAN, labels)
    density = VBMixture(4, covariance_type="factor", n_categorical=1, random_state=0)
    density.fit(np.column_stack([X, categories]))
    assert density.mixture_.n_features == 7
    assert np.isfinite(density.bound_trace_).all()
    y = np.where(np.arange(300) % 3 == 0, labels, -1)
    labelled = VBMixture(4, covariance_type="factor", use_labels=True, random_state=0).fit(X, y)
    assert labelled.class_table_.shape == (labelled.n_components_, 2)
    assert isinstance(labelled.mixture_, Mixture)
    assert not labelled.mixture_.categories


@pytest.mark.slow
def test_blocks_of_rows_one_by_one():
    X, _ = rows(12_000, 6, 2, 2)
    density = VBMixture(6, covariance_type="factor", precision_prior="evidence", random_state=0)
    for start in range(0, len(X), 2_000):
        density.partial_fit(X[start : start + 2_000])
    whole = VBMixture(6, covariance_type="factor", precision_prior="evidence", random_state=0).fit(X)
    assert density.n_components_ == whole.n_components_ == 2
    assert factors_of(density).tolist() == [2, 2]
    assert density.score(X) == pytest.approx(whole.score(X), abs=0.01)
    assert density.n_samples_seen_ == len(X)


def test_samples_that_grow(monkeypatch):
    monkeypatch.setattr("mixkern.density.progressive.FIRST_SAMPLE", 300)
    X, _ = rows(3_000, 6, 2, 2)
    density = VBMixture(6, covariance_type="factor", precision_prior="evidence", random_state=0).fit(X)
    assert density.n_components_ == 2
    assert factors_of(density).tolist() == [2, 2]


def test_a_fit_that_goes_on():
    X, _ = rows(300, 6, 2, 2)
    density = VBMixture(6, covariance_type="factor", precision_prior="evidence", random_state=0, warm_start=True)
    before = density.fit(X).lower_bound_
    assert density.fit(X).lower_bound_ == pytest.approx(before, rel=1e-4)


@pytest.mark.parametrize("X", [np.zeros((5, 3)), np.ones((1, 4)), np.eye(4), np.full((4, 3), NAN)])
def test_tables_without_anything_to_explain(X):
    density = VBMixture(3, covariance_type="factor", random_state=0).fit(X)
    assert np.isfinite(density.lower_bound_)
    assert np.isfinite(density.score_samples(X)).all()


def test_not_fitted():
    with pytest.raises(NotFittedError):
        VBMixture(covariance_type="factor").score(np.zeros((2, 2)))


# ---------------------------------------------------------------- many columns


def test_a_table_of_2000_columns_needs_little_memory():
    X, _ = rows(500, 2_000, 5, 2)
    tracemalloc.start()
    density = VBMixture(covariance_type="factor", random_state=0, max_iter=3, n_components=4)
    with pytest.warns(match="has not converged"):
        density.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # one matrix of all columns has 32 MB, one for each component 128 MB
    assert density.n_components_ >= 2
