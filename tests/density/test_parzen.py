import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mixkern.density.parzen import ParzenWindow, best_bandwidth
from mixkern.errors import MixtureError


@pytest.fixture(name="X")
def fixture_rows():
    return np.random.RandomState(0).standard_normal((60, 2)) * [1.0, 2.0]


def test_log_density_is_the_mean_of_gaussians(X):
    points = np.random.RandomState(1).standard_normal((7, 2))
    literal = np.log(np.mean([multivariate_normal(row, 0.3**2 * np.eye(2)).pdf(points) for row in X], axis=0))
    np.testing.assert_allclose(ParzenWindow(X, bandwidth=0.3).log_density(points), literal, rtol=1e-12)


def test_log_density_far_away_is_finite(X):
    assert np.isfinite(ParzenWindow(X, bandwidth=0.1).log_density([[1e4, 0.0]])).all()


def test_log_density_of_no_rows(X):
    assert ParzenWindow(X, bandwidth=0.1).log_density(np.empty((0, 2))).shape == (0,)


def test_the_bandwidth_has_the_highest_leave_one_out_likelihood(X):
    def literal(h):
        others = [np.delete(X, i, axis=0) for i in range(len(X))]
        return np.mean([ParzenWindow(rest, bandwidth=h).log_density(X[i : i + 1])[0] for i, rest in enumerate(others)])

    h = best_bandwidth(X)
    assert literal(h) >= max(literal(0.8 * h), literal(1.25 * h), literal(0.99 * h), literal(1.01 * h)) - 1e-7


def test_more_rows_allow_a_narrower_window():
    random = np.random.RandomState(0)
    few, many = (np.mean([best_bandwidth(random.standard_normal((n, 1))) for _ in range(10)]) for n in (30, 300))
    assert many < few


def test_equal_rows_have_a_bandwidth():
    assert ParzenWindow(np.ones((5, 2))).bandwidth > 0


def test_sample_has_the_windows_moments(X):
    drawn = ParzenWindow(X, bandwidth=0.5).sample(50_000, np.random.RandomState(0))
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.04)
    np.testing.assert_allclose(drawn.var(axis=0), X.var(axis=0) + 0.25, rtol=0.03)


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], [1.0, 2.0], [[np.nan], [1.0]]])
def test_rows_that_make_no_window(bad):
    with pytest.raises(MixtureError, match=r"two or more rows of finite numbers.*mixture\.conditional_mean\(X\)"):
        ParzenWindow(bad)


def test_a_bandwidth_is_positive(X):
    with pytest.raises(MixtureError, match="bandwidth must be a positive number or None, but it is -1"):
        ParzenWindow(X, bandwidth=-1)
