import numpy as np
import pytest

from mixkern import Mixture, VBMixture
from mixkern.errors import ExportError
from mixkern.export import density
from mixkern.export.density import row_tensors


def spread(random, d):
    """A covariance that is far from diagonal."""
    A = random.randn(d, d) * np.geomspace(1, 0.05, d)
    return A @ A.T + 1e-3 * np.eye(d)


def mixture_of(kind, d, k, random, categories=()):
    covariances = {
        "full": lambda: [spread(random, d) for _ in range(k)],
        "tied": lambda: spread(random, d),
        "diag": lambda: random.gamma(1.0, size=(k, d)) + 0.01,
        "spherical": lambda: random.gamma(1.0, size=k) + 0.01,
        "factor": lambda: random.gamma(1.0, size=(k, d)) + 0.01,
    }[kind]()
    loadings = random.randn(k, d, 2) if kind == "factor" else None
    return Mixture(random.dirichlet(np.ones(k)), random.randn(k, d), covariances, kind, categories, loadings)


def with_gaps(X, random, share):
    X = X.copy()
    X[random.rand(*X.shape) < share] = np.nan
    return X


def exported_rows(computed, mixture, X):
    d = mixture.n_continuous
    inputs = {}
    if d:
        inputs["numbers"] = X[:, :d]
    if mixture.categories:
        inputs["codes"] = np.where(np.isnan(X[:, d:]), -1, X[:, d:]).astype(np.int64)

    def make(graph, numbers=None, codes=None):
        rows = row_tensors(graph, mixture, numbers, codes)
        return [rows.responsibilities, rows.log_density] + ([rows.numbers] if d else [])

    return computed(make, **inputs)


def assert_equal_densities(computed, mixture, X, rtol=1e-10):
    expected = mixture.row_densities(X, fill=bool(mixture.n_continuous))
    shares, log_density, *numbers = exported_rows(computed, mixture, X)
    np.testing.assert_allclose(shares, expected.responsibilities, atol=rtol)
    np.testing.assert_allclose(log_density[:, 0], expected.log_density, rtol=rtol, atol=rtol)
    if numbers:
        np.testing.assert_allclose(numbers[0], expected.filled, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "factor"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_densities_with_any_gaps_are_those_of_the_mixture(computed, kind, share):
    random = np.random.RandomState(0)
    mixture = mixture_of(kind, 5, 3, random)
    X = with_gaps(mixture.sample(101, random)[0], random, share)
    assert_equal_densities(computed, mixture, X)


def test_densities_of_common_factors(computed):
    random = np.random.RandomState(1)
    factors = random.randn(300, 3) + 3 * (np.arange(300) % 2)[:, None]
    X = factors @ random.randn(3, 30) + 0.3 * random.randn(300, 30)
    mixture = VBMixture(covariance_type="common", random_state=0).fit(X).mixture_
    assert mixture.covariance_type == "common"
    assert_equal_densities(computed, mixture, with_gaps(X[:40], random, 0.2))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_densities_of_few_rows(computed, n):
    random = np.random.RandomState(2)
    mixture = mixture_of("full", 3, 2, random)
    assert_equal_densities(computed, mixture, with_gaps(mixture.sample(n, random)[0], random, 0.4))


def test_categories_gaps_and_larger_codes(computed):
    random = np.random.RandomState(3)
    tables = [random.dirichlet(np.ones(size), 3) for size in (2, 4)]
    mixture = mixture_of("full", 2, 3, random, tables)
    X = with_gaps(mixture.sample(50, random)[0], random, 0.2)
    X[:5, 2:] = 7  # the last category stands for all larger codes
    X[5] = np.nan
    assert_equal_densities(computed, mixture, X)


def test_categories_alone(computed):
    random = np.random.RandomState(4)
    mixture = Mixture([0.4, 0.6], np.empty((2, 0)), np.empty((2, 0, 0)), "full", [random.dirichlet(np.ones(3), 2)])
    X = np.array([[0.0], [1.0], [2.0], [np.nan]])
    expected = mixture.row_densities(X)
    shares, log_density = exported_rows(computed, mixture, X)
    np.testing.assert_allclose(shares, expected.responsibilities, atol=1e-14)
    np.testing.assert_allclose(log_density[:, 0], expected.log_density, atol=1e-14)


def test_impossible_rows_have_the_weights(computed):
    tables = [np.array([[1.0, 0.0], [1.0, 0.0]])]
    mixture = Mixture([0.3, 0.7], [[0.0, 1.0], [4.0, 2.0]], [[1.0, 2.0], [1.0, 1.0]], "diag", tables)
    X = np.array([[0.0, np.nan, 1.0], [0.0, 1.0, 0.0], [np.nan, np.nan, 1.0]])
    assert_equal_densities(computed, mixture, X)
    assert exported_rows(computed, mixture, X)[1][0, 0] == -np.inf


def test_narrow_components_far_from_the_others_keep_their_digits(computed):
    random = np.random.RandomState(5)
    covariances = [1e-8 * spread(random, 4), spread(random, 4)]
    mixture = Mixture([0.5, 0.5], [[50.0, 50, 50, 50], [0.0, 0, 0, 0]], covariances)
    X = with_gaps(mixture.sample(60, random)[0], random, 0.25)
    expected = mixture.row_densities(X, fill=True)
    shares, log_density, numbers = exported_rows(computed, mixture, X)
    np.testing.assert_allclose(shares, expected.responsibilities, atol=1e-8)
    np.testing.assert_allclose(log_density[:, 0], expected.log_density, rtol=1e-8)
    np.testing.assert_allclose(numbers, expected.filled, rtol=1e-9)


def test_matrices_that_are_too_large_are_refused(computed, monkeypatch):
    monkeypatch.setattr(density, "MOST_CELLS", 10)
    mixture = mixture_of("full", 3, 2, np.random.RandomState(6))
    with pytest.raises(ExportError, match=r"2 components of 3 continuous columns.*18 numbers.*Fit a model of fewer"):
        exported_rows(computed, mixture, np.zeros((1, 3)))
