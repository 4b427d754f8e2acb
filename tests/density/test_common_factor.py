"""Mixtures whose components share factors and noise."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixkern import Mixture, VBMixture
from mixkern.density.common_factor import CommonFactors
from mixkern.errors import MixtureError
from mixkern.kernels import BlendKernel, GMMKernel, RWMKernel

D, Q = 12, 3
NOISE = np.linspace(0.3, 1.2, D)


@pytest.fixture(scope="module")
def table():
    """Rows with three factors, in three clusters."""
    random = np.random.RandomState(0)
    loadings = random.normal(size=(D, Q))
    factors = random.normal(size=(400, Q)) * [1.0, 0.7, 0.5] + 4 * np.eye(Q)[random.randint(0, Q, 400)]
    return factors @ loadings.T + np.sqrt(NOISE) * random.normal(size=(400, D)) + 5


@pytest.fixture(scope="module")
def density(table):
    return VBMixture(covariance_type="common", precision_prior="evidence", random_state=0).fit(table)


@pytest.fixture
def mixture():
    """Two components in one space of two factors, without a fit."""
    random = np.random.RandomState(1)
    loadings = random.normal(size=(6, 2))
    roots = random.normal(size=(2, 2, 2))
    means = random.normal(size=(2, 2)) @ loadings.T + 1
    return Mixture([0.3, 0.7], means, np.linspace(0.5, 1.5, 6), "common", loadings=loadings @ roots)


def dense(mixture):
    """The same Gaussians with matrices."""
    return Mixture(mixture.weights, mixture.means, mixture.full_covariances)


def with_gaps(X, share=0.2):
    gaps = np.random.RandomState(2).uniform(size=X.shape) < share
    return np.where(gaps, np.nan, X)


def test_number_of_factors_and_components(density):
    assert density.mixture_.loadings.shape == (3, D, Q)
    assert density.covariance_type_ == "common"
    assert repr(density.mixture_) == f"Mixture(3 common components with up to 3 factors in {D} columns)"


def test_noise_and_covariance_of_the_rows(table, density):
    assert_allclose(density.mixture_.covariances, NOISE, rtol=0.35)
    variances, loadings = density.mixture_.total_covariance
    assert_allclose(np.diag(variances) + loadings @ loadings.T, np.cov(table.T), rtol=0.05, atol=0.15)


def test_expected_factors_by_the_joint_gaussian(table, density):
    """The literal formula: regression of z on x, from their joint covariance; a row with gaps by its other columns."""
    coordinates = density._coordinates
    A, noise, X = coordinates.loadings, coordinates.noise, with_gaps(table[:5])
    found = coordinates.inner(X)
    for row, factors in zip(X, found, strict=True):
        there = ~np.isnan(row)
        covariance = A[there] @ A[there].T + np.diag(noise[there])
        assert_allclose(factors, A[there].T @ np.linalg.solve(covariance, (row - coordinates.centre)[there]), rtol=1e-9)


def test_density_of_rows_is_that_of_their_factors_up_to_a_factor(table, density):
    factors = density._coordinates.inner(table)
    inner = density._ascent.posterior.mixture()
    difference = density.mixture_.log_joint(table) - inner.log_joint(factors)
    assert_allclose(difference, np.broadcast_to(difference[:, :1], difference.shape), atol=1e-8)
    assert_allclose(density.predict_proba(table), inner.responsibilities(factors), atol=1e-10)


@pytest.mark.parametrize("gaps", [False, True])
def test_densities_and_means_as_with_matrices(mixture, gaps):
    X, _ = mixture.sample(50, random_state=0)
    X = with_gaps(X) if gaps else X
    assert_allclose(mixture.log_joint(X), dense(mixture).log_joint(X), rtol=1e-10)
    assert_allclose(mixture.conditional_mean(X), dense(mixture).conditional_mean(X), rtol=1e-9)


def test_marginal_and_pooled_as_with_matrices(mixture):
    assert_allclose(mixture.marginal([4, 1]).full_covariances, dense(mixture).marginal([4, 1]).full_covariances)
    for share in (0.5, [0.2, 1.0]):
        pooled = mixture.pooled(share)
        assert pooled.covariance_type == "common"
        assert_allclose(pooled.full_covariances, dense(mixture).pooled(share).full_covariances, rtol=1e-9, atol=1e-12)


def test_kernels_measure_the_factors_alone(table, density):
    """Distances are those of the kernel of the factors' mixture, between the rows' expected factors."""
    factors, inner = density._coordinates.inner(table[:40]), density._ascent.posterior.mixture()
    for kernel in (RWMKernel, GMMKernel):
        found, expected = kernel(density.mixture_).distance(table[:40]), kernel(inner).distance(factors)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_differences_that_are_noise_do_not_count(mixture):
    projection = mixture.whiteners.projection
    outside = np.linalg.svd(projection)[2][-1]  # a direction that the factors do not see
    X = np.vstack([mixture.means[0], mixture.means[0] + 3 * outside])
    assert_allclose(RWMKernel(mixture).distance(X), 0.0, atol=1e-9)
    assert dense(mixture).log_density(X)[1] < dense(mixture).log_density(X)[0] - 1


def test_blend_splits_its_distances_by_columns(mixture):
    X, _ = mixture.sample(6, random_state=0)
    kernel = BlendKernel(mixture)
    parts, terms = kernel.parts(X[:3], X[3:]), kernel.pair_terms(X[:3], X[3:])
    assert_allclose(parts.mixture.sum(axis=1), np.diag(terms.sq_distance), rtol=1e-9)
    assert_allclose(kernel.times(X, X, np.eye(6)), kernel(X), rtol=1e-9, atol=1e-12)


def test_gaps_categories_weights_and_labels(table):
    codes = (table[:, :1] > 5).astype(float)
    X, y = np.hstack([with_gaps(table), codes]), np.where(np.arange(400) % 10 == 0, codes.ravel(), np.nan)
    weights = np.random.RandomState(0).uniform(0.5, 2, 400)
    density = VBMixture(covariance_type="common", n_categorical=1, use_labels=True, random_state=0)
    density.fit(X, y, sample_weight=weights)
    assert density.mixture_.n_features == D + 1
    assert density.class_table_.shape[1] == 2
    assert np.isfinite(density.score_samples(X)).all()


def test_blocks_of_a_stream_keep_the_factors_of_the_first(table):
    density = VBMixture(covariance_type="common", precision_prior="evidence", random_state=0)
    many = np.vstack([table] * 11)  # beyond the rows that are fitted again with each block
    density.partial_fit(many[:4400])
    before = density._coordinates
    density.partial_fit(table)
    assert density._coordinates is before
    assert density.n_samples_seen_ == 4800


def test_more_columns_than_rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(30, 2)) @ random.normal(size=(2, 100)) + 0.5 * random.normal(size=(30, 100))
    density = VBMixture(covariance_type="common", random_state=0).fit(X)
    assert density.mixture_.loadings.shape[2] == 2
    assert np.isfinite(density.score_samples(X)).all()


def test_independent_columns_have_no_factors():
    X = np.random.RandomState(0).normal(size=(200, 30))
    density = VBMixture(covariance_type="common", random_state=0).fit(X)
    assert density.mixture_.loadings.shape[2] == 0
    distance = np.linalg.norm((X[0] - X[1]) / np.sqrt(density.mixture_.covariances))
    assert_allclose(RWMKernel(density.mixture_).distance(X[:2])[0, 1], distance)
    assert np.isfinite(density.score_samples(X)).all()


def test_components_narrower_than_the_noise_have_no_negative_variance():
    coordinates = CommonFactors(np.zeros(3), np.ones((3, 1)), np.ones(3))
    narrow = Mixture([1.0], [[0.5]], [[[1e-6]]])
    outer = replace(narrow, **coordinates.outer(narrow))
    assert_allclose(outer.loadings, 0.0)
    assert_allclose(outer.means, (1 + 1 / 3) * 0.5)


def test_same_after_dict_and_pickle(mixture):
    assert Mixture.from_dict(mixture.to_dict()) == mixture
    assert pickle.loads(pickle.dumps(mixture)) == mixture


@pytest.mark.parametrize("n_observed", [0, 1, 2, 3, 5])
def test_density_of_few_columns_as_with_matrices(mixture, n_observed):
    """With fewer columns than factors, too."""
    rows = mixture.sample(5, random_state=0)[0]
    rows[:, n_observed:] = np.nan
    assert_allclose(mixture.log_joint(rows), dense(mixture).log_joint(rows), rtol=1e-9)


def test_tables_of_categories_have_no_factors():
    codes = np.random.RandomState(0).randint(0, 3, (60, 2)) * 1.0
    common, diagonal = (
        VBMixture(3, covariance_type=kind, n_categorical=2, random_state=0).fit(codes) for kind in ("common", "diag")
    )
    assert_allclose(common.score_samples(codes), diagonal.score_samples(codes))


def test_a_table_far_from_the_origin(table):
    """The differences of means have few digits left."""
    density = VBMixture(3, covariance_type="common", random_state=0).fit(table + 1e12)
    near = VBMixture(3, covariance_type="common", random_state=0).fit(table)
    assert_allclose(density.predict_proba(table + 1e12), near.predict_proba(table), atol=0.01)


def test_the_prior_of_common_factors_is_a_number_or_a_word(table):
    with pytest.raises(MixtureError, match="precision_prior must be a positive number or one of 'evidence', "):
        VBMixture(3, covariance_type="common", precision_prior=np.ones(Q)).fit(table)


def test_factors_that_are_not_shared(mixture):
    random = np.random.RandomState(0)
    with pytest.raises(MixtureError, match="must lie in one space of 2 dimensions, that of the factors"):
        replace(mixture, loadings=random.normal(size=mixture.loadings.shape))
    with pytest.raises(MixtureError, match="must lie in one space of 2 dimensions, that of the factors"):
        replace(mixture, means=random.normal(size=mixture.means.shape))
