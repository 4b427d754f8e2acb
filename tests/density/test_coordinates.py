"""Inner coordinates: there and back, without loss of digits or of meaning."""

import numpy as np
import pytest
from scipy import stats

from mixkern.density.coordinates import RESOLUTION, Coordinates
from mixkern.density.mixture import CovarianceType, Mixture

NAN = np.nan
FULL, SPHERICAL = CovarianceType.FULL, CovarianceType.SPHERICAL


@pytest.mark.parametrize(("centre", "scale"), [(0, 1), (1e9, 1), (1e9, 1e-3), (0, 1e-9), (-1e9, 1e6), (3, 1e9)])
def test_inner_columns_have_mean_zero_and_deviation_one(centre, scale):
    X = centre + scale * np.random.default_rng(0).normal(size=(50, 3))
    inner = Coordinates.of(X, None, FULL).inner(X)
    resolution = np.spacing(abs(centre) + scale) / scale
    np.testing.assert_allclose(inner.mean(axis=0), 0, atol=1e-12 + 10 * resolution)
    np.testing.assert_allclose(inner.std(axis=0), 1, rtol=1e-12 + 10 * resolution)


def test_gaps_and_weights_count_as_they_should():
    random = np.random.default_rng(1)
    X = random.normal(size=(30, 2))
    X[::3, 0] = NAN
    weights = random.integers(0, 4, 30).astype(float)
    weighted = Coordinates.of(X, weights, FULL)
    repeated = Coordinates.of(np.repeat(X, weights.astype(int), axis=0), None, FULL)
    np.testing.assert_allclose(weighted.centre, repeated.centre, rtol=1e-12)
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)
    np.testing.assert_allclose(repeated.centre, np.nanmean(np.repeat(X, weights.astype(int), axis=0), axis=0))


def test_constant_columns_and_columns_of_gaps_have_scale_one():
    X = np.array([[5.0, NAN, 0.1], [5.0, NAN, 0.1], [5.0, NAN, 0.1]])
    coordinates = Coordinates.of(X, None, FULL)
    assert coordinates.scale.tolist() == [1, 1, 1]
    assert coordinates.centre.tolist() == [5, 0, 0.1]


def test_a_column_whose_weights_are_all_zero_is_a_column_of_gaps():
    X = np.array([[1.0, NAN], [2.0, NAN], [NAN, 7.0]])
    coordinates = Coordinates.of(X, np.array([1.0, 1.0, 0.0]), FULL)
    assert np.isfinite(coordinates.centre).all()
    assert coordinates.scale.tolist() == [0.5, 1]


def test_spheres_stay_spheres():
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 10, 100]
    scale = Coordinates.of(X, None, SPHERICAL).scale
    assert (scale == scale[0]).all()
    np.testing.assert_allclose(scale[0] ** 2, X.var(axis=0).mean())


def test_no_columns(kind):
    coordinates = Coordinates.of(np.empty((4, 0)), None, CovarianceType(kind))
    assert coordinates.inner(np.empty((4, 0))).shape == (4, 0)
    assert coordinates.log_volume(np.empty((4, 0)), None) == 0
    mixture = Mixture([1.0], np.empty((1, 0)), np.ones(CovarianceType(kind).shape(1, 0)), kind, [[[0.5, 0.5]]])
    assert coordinates.outer(mixture) == mixture


def test_densities_differ_by_the_volume(kind, make_mixture):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 2, 3] + [5, 0, -5]
    coordinates = Coordinates.of(X, None, CovarianceType(kind))
    inner = make_mixture(kind, 3, 3, (2,))
    rows = np.column_stack([X, np.arange(40) % 2])
    rows[::3, 1] = NAN
    inner_rows = np.column_stack([coordinates.inner(rows[:, :3]), rows[:, 3]])
    total = inner.log_density(inner_rows).sum() - coordinates.log_volume(rows[:, :3], None)
    np.testing.assert_allclose(coordinates.outer(inner).log_density(rows).sum(), total, rtol=1e-12)
    np.testing.assert_allclose(
        coordinates.outer(inner).responsibilities(rows), inner.responsibilities(inner_rows), atol=1e-12
    )


def test_weights_enter_the_volume():
    X = np.array([[1.0, NAN], [3.0, 4.0]])
    coordinates = Coordinates(np.zeros(2), np.array([2.0, 5.0]))
    assert coordinates.log_volume(X, None) == pytest.approx(2 * np.log(2) + np.log(5))
    assert coordinates.log_volume(X, np.array([3.0, 0.5])) == pytest.approx(3.5 * np.log(2) + 0.5 * np.log(5))


def test_wishart_scales_transform_like_precisions():
    """If Lambda ~ W(W, nu), then S Lambda S, the precision of x / s, is W(S W S, nu)."""
    coordinates = Coordinates(np.zeros(2), np.array([2.0, 5.0]))
    W = np.array([[2.0, 0.3], [0.3, 1.0]])
    inner = np.linalg.inv(coordinates.inner_inverse_scale(np.linalg.inv(W)))
    S = np.diag(coordinates.scale)
    np.testing.assert_allclose(inner, S @ W @ S)
    precision = np.array([[1.0, 0.2], [0.2, 3.0]])
    jacobian = 3 * np.log(np.linalg.det(S))  # d (d + 1) / 2 directions, ln |S| to the power of d + 1
    np.testing.assert_allclose(
        stats.wishart(4, W).logpdf(precision) - jacobian, stats.wishart(4, inner).logpdf(S @ precision @ S)
    )
    np.testing.assert_allclose(coordinates.inner_inverse_scale(np.array([1.0, 2.0])), [1 / 4, 2 / 25])


@pytest.mark.parametrize("is_diagonal", [False, True])
def test_priors_below_the_resolution_of_the_table_have_a_floor(is_diagonal):
    coordinates = Coordinates(np.zeros(2), np.array([1e9, 1.0]))
    given = np.array([0.01, 3.0])
    inner = coordinates.inner_inverse_scale(given if is_diagonal else np.diag(given))
    np.testing.assert_allclose(inner if is_diagonal else np.diag(inner), [RESOLUTION, 3.0])
