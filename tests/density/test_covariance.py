"""Wishart and Gamma distributions of precisions, against scipy's and against numerical integration."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from mixkern.density.covariance import PRECISIONS, CovarianceType

FULL, TIED, DIAG, SPHERICAL = (PRECISIONS[CovarianceType(kind)] for kind in ("full", "tied", "diag", "spherical"))


def random_matrices(k, d, seed=0):
    factors = np.random.default_rng(seed).normal(size=(k, d, d)) + np.eye(d)
    return factors @ np.swapaxes(factors, 1, 2)


def gamma(shape, rate):
    return stats.gamma(shape, scale=1 / rate)


def expectation(function, distribution):
    """Integrate numerically, in the probability so that no tail is lost."""
    return integrate.quad(lambda p: function(distribution.ppf(p)), 0, 1, limit=500, epsabs=1e-9, epsrel=1e-9)[0]


def gamma_divergence(q, p):
    return expectation(lambda x: q.logpdf(x) - p.logpdf(x), q)


def test_there_is_one_of_each_kind(kind):
    assert PRECISIONS[CovarianceType(kind)].covariance_type == kind


# ---------------------------------------------------------------- Wishart distributed matrices


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_wishart_expectations(literal, d):
    degrees, inverse_scales = np.array([d + 0.2, d + 7.0]), random_matrices(2, d)
    W = np.linalg.inv(inverse_scales)
    np.testing.assert_allclose(
        FULL.expected(degrees, inverse_scales),
        [np.reshape(stats.wishart(nu, w).mean(), (d, d)) for nu, w in zip(degrees, W, strict=True)],
    )
    np.testing.assert_allclose(
        FULL.expected_log_det(degrees, inverse_scales),
        [literal.expected_log_det(nu, w) for nu, w in zip(degrees, W, strict=True)],
        rtol=1e-10,
    )


def test_wishart_expected_log_determinant_is_that_of_draws():
    inverse_scales = random_matrices(1, 3)
    draws = stats.wishart(5.5, np.linalg.inv(inverse_scales[0])).rvs(20_000, random_state=0)
    log_dets = np.linalg.slogdet(draws)[1]
    error = log_dets.std() / math.sqrt(len(draws))
    assert abs(FULL.expected_log_det(np.array([5.5]), inverse_scales)[0] - log_dets.mean()) < 4 * error


@pytest.mark.parametrize("d", [1, 2, 4])
def test_wishart_normaliser(literal, d):
    inverse_scale, point = random_matrices(2, d, seed=1)
    W = np.linalg.inv(inverse_scale)
    exponent = (2.5 + d - d - 1) / 2 * np.linalg.slogdet(point)[1] - 0.5 * np.trace(inverse_scale @ point)
    log_b = FULL.log_normaliser(2.5 + d, inverse_scale)
    assert log_b == pytest.approx(stats.wishart(2.5 + d, W).logpdf(point) - exponent, rel=1e-10)
    assert log_b == pytest.approx(literal.log_wishart_constant(W, 2.5 + d), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
def test_wishart_divergence(literal, d):
    degrees, inverse_scales, inverse_scale0 = np.array([d + 4.0]), random_matrices(1, d), random_matrices(1, d, 5)[0]
    W, W0 = np.linalg.inv(inverse_scales[0]), np.linalg.inv(inverse_scale0)
    divergence = FULL.divergence(degrees, inverse_scales, d + 0.3, inverse_scale0)[0]
    q, p = stats.wishart(d + 4.0, W), stats.wishart(d + 0.3, W0)
    # E_q[ln p] from (B.78), with entropies by scipy
    cross = literal.log_wishart_constant(W0, d + 0.3) + (0.3 - 1) / 2 * literal.expected_log_det(d + 4.0, W)
    cross -= 0.5 * (d + 4.0) * np.trace(inverse_scale0 @ W)
    assert divergence == pytest.approx(-float(q.entropy()) - cross, rel=1e-10)
    draws = np.reshape(q.rvs(5_000, random_state=0), (5_000, d, d))
    gaps = np.array([q.logpdf(draw) - p.logpdf(draw) for draw in draws[:5_000]])
    assert abs(divergence - gaps.mean()) < 4 * gaps.std() / math.sqrt(len(gaps))


def test_in_one_dimension_all_kinds_are_one_gamma_distribution():
    degrees, inverse_scales = np.array([1.5, 4.0]), np.array([[0.7], [3.0]])
    for precision in (DIAG, SPHERICAL):
        np.testing.assert_allclose(
            precision.expected_log_det(degrees, inverse_scales),
            FULL.expected_log_det(degrees, inverse_scales[:, :, None]),
        )
        np.testing.assert_allclose(
            precision.divergence(degrees, inverse_scales, 1.2, np.array([2.0])),
            FULL.divergence(degrees, inverse_scales[:, :, None], 1.2, np.array([[2.0]])),
        )
        offset = precision.log_normaliser(3.0, np.array([2.0])) - FULL.log_normaliser(3.0, np.array([[2.0]]))
        assert offset == pytest.approx(0, abs=1e-12)


# ---------------------------------------------------------------- Gamma distributed diagonals

DEGREES = np.array([2.4, 9.0])
INVERSE = np.array([[0.5, 2.0, 1.0], [3.0, 0.1, 7.0]])


@pytest.mark.slow
def test_diagonal_expectations_by_integration():
    log_dets = DIAG.expected_log_det(DEGREES, INVERSE)
    for k in range(2):
        columns = [gamma(DEGREES[k] / 2, rate / 2) for rate in INVERSE[k]]
        assert log_dets[k] == pytest.approx(sum(expectation(math.log, each) for each in columns), rel=1e-6)
        np.testing.assert_allclose(DIAG.expected(DEGREES, INVERSE)[k], [each.mean() for each in columns])


@pytest.mark.slow
def test_diagonal_divergence_by_integration():
    inverse0 = np.array([1.0, 0.4, 2.0])
    divergences = DIAG.divergence(DEGREES, INVERSE, 1.7, inverse0)
    for k in range(2):
        expected = sum(
            gamma_divergence(gamma(DEGREES[k] / 2, w / 2), gamma(1.7 / 2, w0 / 2))
            for w, w0 in zip(INVERSE[k], inverse0, strict=True)
        )
        assert divergences[k] == pytest.approx(expected, rel=1e-6)


def test_diagonal_normaliser():
    point = np.array([0.3, 1.0, 2.0])
    density = sum(gamma(1.2, w / 2).logpdf(x) for x, w in zip(point, INVERSE[0], strict=True))
    exponent = np.sum(0.2 * np.log(point) - INVERSE[0] / 2 * point)
    assert DIAG.log_normaliser(2.4, INVERSE[0]) == pytest.approx(density - exponent)


# ---------------------------------------------------------------- one Gamma variable for all columns

SPHERES = np.array([[0.5] * 3, [4.0] * 3])


def test_spherical_expectations_by_integration():
    log_dets = SPHERICAL.expected_log_det(DEGREES, SPHERES)
    for k in range(2):
        one = gamma(3 * DEGREES[k] / 2, 3 * SPHERES[k, 0] / 2)
        assert log_dets[k] == pytest.approx(3 * expectation(math.log, one), rel=1e-6)
        np.testing.assert_allclose(SPHERICAL.expected(DEGREES, SPHERES)[k], one.mean())


def test_spherical_divergence_by_integration():
    divergences = SPHERICAL.divergence(DEGREES, SPHERES, 1.7, np.full(3, 0.9))
    for k in range(2):
        q, p = gamma(3 * DEGREES[k] / 2, 3 * SPHERES[k, 0] / 2), gamma(3 * 1.7 / 2, 3 * 0.9 / 2)
        assert divergences[k] == pytest.approx(gamma_divergence(q, p), rel=1e-6)


def test_spherical_normaliser():
    one = gamma(3 * 1.2, 3 * 0.25)
    exponent = (3 * 1.2 - 1) * math.log(0.6) - 3 * 0.25 * 0.6
    assert SPHERICAL.log_normaliser(2.4, np.full(3, 0.5)) == pytest.approx(one.logpdf(0.6) - exponent)


# ---------------------------------------------------------------- what all have in common


def prior_of(kind, d):
    precision = PRECISIONS[CovarianceType(kind)]
    return precision, precision.isotropic(0.8, d)


@pytest.mark.parametrize("d", [0, 1, 3])
def test_no_divergence_from_oneself(kind, d):
    precision, inverse0 = prior_of(kind, d)
    np.testing.assert_allclose(
        precision.divergence(np.array([d + 1.5]), inverse0[None], d + 1.5, inverse0), 0, atol=1e-12
    )


def test_covariances_are_inverse_expected_precisions(kind):
    precision = PRECISIONS[CovarianceType(kind)]
    k = 1 if kind == "tied" else 2
    inverse = {"full": random_matrices(2, 3), "tied": random_matrices(1, 3), "diag": INVERSE, "spherical": SPHERES}[
        kind
    ]
    expected = precision.invert(precision.expected(DEGREES[:k], inverse))
    covariances = precision.covariances(DEGREES[:k], inverse)
    assert covariances.shape == CovarianceType(kind).shape(2, 3)
    if kind == "tied":
        expected = expected[0]
    elif kind == "spherical":
        expected = expected[:, 0]
    np.testing.assert_allclose(covariances, expected)


def test_squares_and_determinants(kind):
    precision = PRECISIONS[CovarianceType(kind)]
    offsets = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    is_diagonal = precision.covariance_type.is_diagonal
    matrices = INVERSE if is_diagonal else random_matrices(2, 3)
    whole = np.array([np.diag(each) for each in matrices]) if is_diagonal else matrices
    np.testing.assert_allclose(
        precision.quadratic(matrices, offsets), [x @ m @ x for x, m in zip(offsets, whole, strict=True)]
    )
    np.testing.assert_allclose(precision.log_det(matrices), np.log([np.linalg.det(m) for m in whole]))
    inverse = precision.invert(matrices)
    np.testing.assert_allclose(
        inverse, 1 / matrices if is_diagonal else np.array([np.linalg.inv(m) for m in whole]), rtol=1e-8
    )


def test_what_the_posterior_learns():
    scatters, shrinkage = random_matrices(2, 3), np.array([0.5, 0.2])
    offsets = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
    counts = np.array([4.0, 6.0])
    pulls = [s + c * np.outer(o, o) for s, c, o in zip(scatters, shrinkage, offsets, strict=True)]
    diagonals = np.diagonal(scatters, axis1=1, axis2=2)
    eye, ones = np.eye(3), np.ones(3)
    np.testing.assert_allclose(FULL.inverse_scales(eye, scatters, shrinkage, offsets), eye + pulls)
    np.testing.assert_allclose(TIED.inverse_scales(eye, scatters, shrinkage, offsets), [eye + sum(pulls)])
    np.testing.assert_allclose(
        DIAG.inverse_scales(ones, diagonals, shrinkage, offsets), [1 + np.diagonal(pull) for pull in pulls]
    )
    np.testing.assert_allclose(
        SPHERICAL.inverse_scales(ones, diagonals, shrinkage, offsets),
        [np.full(3, 1 + np.trace(pull) / 3) for pull in pulls],
    )
    assert FULL.degrees(2.0, counts).tolist() == DIAG.degrees(2.0, counts).tolist() == [6, 8]
    assert TIED.degrees(2.0, counts).tolist() == [12]
