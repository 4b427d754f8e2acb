"""The M-step, the divergence and the bound against the literal formulas and against closed-form evidence."""

import numpy as np
import pytest
from scipy.special import digamma

from mixkern.density.block import gap_blocks
from mixkern.density.covariance import PRECISIONS
from mixkern.density.expectation import expectation
from mixkern.density.posterior import Prior

NAN = np.nan


def literal_prior(prior):
    return {
        "alpha0": prior.concentration,
        "beta0": prior.mean_precision,
        "m0": prior.mean,
        "W0": np.linalg.inv(prior.inverse_scale),
        "nu0": prior.degrees,
    }


def log_rho(X, posterior):  # (n, k)
    """Our (10.46), from the posterior's parts."""
    columns = []
    for x in X:
        squares = posterior.precision.quadratic(posterior.precisions, x - posterior.means)
        columns.append(posterior.log_constants - 0.5 * squares)
    return np.array(columns)


def bound_after_m_step(X, shares, posterior, prior):
    """The bound for any responsibilities, not just those of the E-step."""
    entropy = -np.sum(np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0))
    return float(np.sum(shares * log_rho(X, posterior)) + entropy - posterior.divergence(prior))


@pytest.fixture(params=[(1, 1, 1), (7, 2, 3), (29, 3, 2), (40, 5, 4)], ids=str)
def case(request):
    n, d, k = request.param
    random = np.random.default_rng(n)
    return random.normal(size=(n, d)) @ random.normal(size=(d, d)) + 1, random.dirichlet(np.ones(k), size=n)


def test_full_posterior_is_the_literal_one(case, make_prior, statistics_of, literal):
    X, shares = case
    prior = make_prior("full", X.shape[1])
    posterior = prior.posterior(statistics_of(X, shares, is_diagonal=False))
    expected = literal.posterior(X, shares, **literal_prior(prior))
    close = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(posterior.concentrations, expected["alpha"], **close)
    np.testing.assert_allclose(posterior.means, expected["m"], **close)
    np.testing.assert_allclose(posterior.mean_precisions, expected["beta"], **close)
    np.testing.assert_allclose(posterior.degrees, expected["nu"], **close)
    np.testing.assert_allclose(posterior.precisions, expected["nu"][:, None, None] * expected["W"], **close)
    np.testing.assert_allclose(posterior.log_weights, literal.expected_log_weights(expected["alpha"]), **close)
    np.testing.assert_allclose(log_rho(X, posterior), literal.log_rho(X, expected), **close)


def test_full_bound_is_the_literal_one_after_either_step(case, make_prior, statistics_of, literal, pool):
    X, shares = case
    prior = make_prior("full", X.shape[1])
    posterior = prior.posterior(statistics_of(X, shares, is_diagonal=False))
    expected = literal.posterior(X, shares, **literal_prior(prior))
    after_m = literal.bound(X, shares, expected, **literal_prior(prior))
    assert bound_after_m_step(X, shares, posterior, prior) == pytest.approx(after_m, rel=1e-10, abs=1e-10)
    responsibilities = literal.responsibilities(X, expected)
    after_e = literal.bound(X, responsibilities, expected, **literal_prior(prior))
    statistics = expectation(list(gap_blocks(X, np.empty((len(X), 0)), None)), posterior, pool)
    assert statistics.log_normaliser - posterior.divergence(prior) == pytest.approx(after_e, rel=1e-10, abs=1e-10)
    assert after_e >= after_m - 1e-10


@pytest.mark.parametrize("shape", [(1, 1, 1), (12, 1, 3), (15, 3, 2), (20, 2, 4)], ids=str)
def test_bound_of_rows_with_one_owner_each_is_the_evidence(kind, shape, make_prior, statistics_of, literal):
    """For every kind: the exact posterior is in the family then, and the bound is ln p(X, Z)."""
    n, d, k = shape
    random = np.random.default_rng(n)
    X, owners = random.normal(size=(n, d)) * 2 + 1, random.integers(0, k, n)
    prior = make_prior(kind, d)
    shares = np.eye(k)[owners]
    posterior = prior.posterior(statistics_of(X, shares, is_diagonal=kind in ("diag", "spherical")))
    expected = literal.log_evidence_of_owners(
        kind, X, owners, k, prior.concentration, prior.mean_precision, prior.mean, prior.inverse_scale, prior.degrees
    )
    assert bound_after_m_step(X, shares, posterior, prior) == pytest.approx(expected, rel=1e-10)


def test_bound_of_one_gaussian_is_the_evidence(make_prior, statistics_of, literal, pool):
    X = np.random.default_rng(0).normal(size=(30, 3)) + 2
    prior = make_prior("full", 3)
    posterior = prior.posterior(statistics_of(X, np.ones((30, 1)), is_diagonal=False))
    statistics = expectation(list(gap_blocks(X, np.empty((30, 0)), None, size=7)), posterior, pool)
    parameters = literal_prior(prior)
    del parameters["alpha0"]
    bound = statistics.log_normaliser - posterior.divergence(prior)
    assert bound == pytest.approx(literal.log_evidence(X, **parameters), rel=1e-10)


def test_one_component_of_categories_has_a_closed_form(make_prior, statistics_of, literal, pool, kind):
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, (40, 2)).astype(float)
    codes[random.random((40, 2)) < 0.2] = NAN
    nothing = np.empty((40, 0))
    prior = make_prior(kind, 0, category=0.6, nu0=1.0)
    is_diagonal = kind in ("diag", "spherical")
    first = statistics_of(nothing, np.ones((40, 1)), is_diagonal=is_diagonal, codes=codes, n_slots=(3, 4))
    posterior = prior.posterior(first)
    counts = [[np.sum(codes[:, e] == c) for c in range(n)] for e, n in enumerate((3, 4))]
    for table, count in zip(posterior.category_concentrations, counts, strict=True):
        np.testing.assert_allclose(table, [[0.6 + each for each in count]])
    statistics = expectation(list(gap_blocks(nothing, codes, None, size=11)), posterior, pool)
    evidence = sum(literal.log_dirichlet_multinomial(count, 0.6) for count in counts)
    assert statistics.log_normaliser - posterior.divergence(prior) == pytest.approx(evidence, rel=1e-12)


def test_evidence_of_one_component_of_numbers_and_categories(make_prior, statistics_of, literal, pool, kind):
    random = np.random.default_rng(3)
    X, codes = random.normal(size=(20, 2)), random.integers(0, 2, (20, 1)).astype(float)
    prior = make_prior(kind, 2)
    is_diagonal = kind in ("diag", "spherical")
    posterior = prior.posterior(statistics_of(X, np.ones((20, 1)), is_diagonal=is_diagonal, codes=codes, n_slots=(3,)))
    statistics = expectation(list(gap_blocks(X, codes, None)), posterior, pool)
    expected = literal.log_evidence_of_owners(
        kind, X, np.zeros(20, int), 1, 1.0, prior.mean_precision, prior.mean, prior.inverse_scale, prior.degrees
    )
    expected += literal.log_dirichlet_multinomial([np.sum(codes == 0), np.sum(codes == 1), 0], 0.8)
    assert statistics.log_normaliser - posterior.divergence(prior) == pytest.approx(expected, rel=1e-10)


def test_expected_log_categories(make_prior, statistics_of):
    codes = np.array([[0.0], [1.0], [1.0]])
    posterior = make_prior("full", 1, category=0.5).posterior(
        statistics_of(np.zeros((3, 1)), np.ones((3, 1)), is_diagonal=False, codes=codes, n_slots=(2,))
    )
    np.testing.assert_allclose(posterior.log_categories[0], [digamma([1.5, 2.5]) - digamma(4.0)])


def test_without_rows_the_posterior_is_the_prior(kind, make_prior, statistics_of):
    prior = make_prior(kind, 3)
    is_diagonal = kind in ("diag", "spherical")
    posterior = prior.posterior(
        statistics_of(np.empty((0, 3)), np.empty((0, 4)), is_diagonal=is_diagonal, codes=np.empty((0, 1)), n_slots=(3,))
    )
    assert posterior.divergence(prior) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(posterior.means, np.tile(prior.mean, (4, 1)))


def test_keeping_some_components(kind, make_prior, statistics_of):
    random = np.random.default_rng(0)
    X, shares = random.normal(size=(20, 2)), random.dirichlet(np.ones(3), 20)
    codes = random.integers(0, 2, (20, 1)).astype(float)
    is_diagonal = kind in ("diag", "spherical")
    posterior = make_prior(kind, 2).posterior(
        statistics_of(X, shares, is_diagonal=is_diagonal, codes=codes, n_slots=(2,))
    )
    kept = posterior.keep(np.array([2, 0]))
    assert kept.n_components == 2
    np.testing.assert_array_equal(kept.means, posterior.means[[2, 0]])
    np.testing.assert_allclose(kept.precisions, posterior.precisions[[2, 0]])
    np.testing.assert_array_equal(kept.category_concentrations[0], posterior.category_concentrations[0][[2, 0]])
    assert kept.mixture().n_components == 2


def test_keeping_the_one_tied_component(make_prior, statistics_of):
    X = np.random.default_rng(0).normal(size=(9, 2))
    posterior = make_prior("tied", 2).posterior(statistics_of(X, np.ones((9, 1)), is_diagonal=False))
    np.testing.assert_array_equal(posterior.keep(np.array([0])).precisions, posterior.precisions)
    two = make_prior("tied", 2).posterior(statistics_of(X, np.full((9, 2), 0.5), is_diagonal=False))
    one = two.keep(np.array([1]))
    np.testing.assert_array_equal(one.keep(np.array([0])).precisions, two.precisions[:1])


def test_the_mixture_has_the_expected_parameters(kind, make_prior, statistics_of):
    random = np.random.default_rng(0)
    X, shares = random.normal(size=(20, 2)), random.dirichlet(np.ones(3), 20)
    codes = random.integers(0, 2, (20, 1)).astype(float)
    is_diagonal = kind in ("diag", "spherical")
    posterior = make_prior(kind, 2).posterior(
        statistics_of(X, shares, is_diagonal=is_diagonal, codes=codes, n_slots=(2,))
    )
    mixture = posterior.mixture()
    assert mixture.covariance_type == kind
    np.testing.assert_allclose(mixture.weights, (0.7 + shares.sum(axis=0)) / (20 + 3 * 0.7))
    np.testing.assert_array_equal(mixture.means, posterior.means)
    precisions = posterior.precisions[:, :, None] * np.eye(2) if is_diagonal else posterior.precisions
    np.testing.assert_allclose(mixture.full_covariances, np.linalg.inv(precisions))
    table = 0.8 + shares.T @ np.eye(2)[codes[:, 0].astype(int)]
    np.testing.assert_allclose(mixture.categories[0], table / table.sum(axis=1, keepdims=True))


def test_prior_is_a_value(make_prior):
    prior = make_prior("full", 2)
    assert isinstance(prior, Prior)
    assert prior.precision is PRECISIONS["full"]
    with pytest.raises(AttributeError):
        prior.degrees = 3.0
