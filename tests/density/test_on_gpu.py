"""Densities of tables on a GPU: fits, predictions, mixtures and rows."""

import numpy as np
import pytest

import mixkern
from mixkern import Mixture, VBMixture, gpu_array
from mixkern.density import Rows, block, gaussians, gpu_table, progressive, reading
from mixkern.density import rows as density_rows
from mixkern.density.block import Coordinates
from mixkern.density.covariance import CovarianceType
from mixkern.density.gpu_table import column_moments
from mixkern.errors import EmptyTableError, InfiniteValueError, MixtureError, NotATableError

N = 3000
KINDS = [
    {},
    {"covariance_type": "diag"},
    {"covariance_type": "tied"},
    {"covariance_type": "factor", "n_factors": 1},
    {"covariance_type": "common", "n_factors": 1},
    {"covariance_type": "auto"},
    pytest.param({"progressive": False}, marks=pytest.mark.slow),
    pytest.param({"n_init": 2}, marks=pytest.mark.slow),
]


@pytest.fixture(scope="module")
def table():
    """Two groups, far from zero in one column; gaps and two categorical columns."""
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(N // 2, 3)) - 3, random.normal(size=(N // 2, 3)) * [1, 2, 0.5] + 3])
    codes = (random.random((N, 2)) < 0.3) + (X[:, 2:] > 0).astype(float)
    X[:, 0] += 1000.0
    X[random.random(X.shape) < 0.01], codes[5, 0] = np.nan, np.nan
    return np.hstack([X, codes])


@pytest.fixture
def small(monkeypatch):
    """Limits so small that tables of a few thousand rows are large."""
    for module in (block, progressive, reading):
        monkeypatch.setattr(module, "HOST_ROWS", 500)
    monkeypatch.setattr(block, "GPU_BLOCK", 1700)
    monkeypatch.setattr(reading, "GPU_ROWS", 1000)
    monkeypatch.setattr(progressive, "FIRST_SAMPLE", 200)
    monkeypatch.setattr(gpu_table, "CELLS", 3 * 1024)
    monkeypatch.setattr(gpu_table, "COUNTED", 100)
    monkeypatch.setattr(density_rows, "GPU_WORK", 0)


def density(**how):
    return VBMixture(5, n_categorical=2, random_state=0, **how)


@pytest.mark.parametrize("how", KINDS, ids=str)
@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_fit(gpu, small, table, how, kind):
    expected = density(**how).fit(table)
    X = (gpu.array, gpu.tensor)[kind](table)
    found = density(**how).fit(X)
    assert found.n_components_ == expected.n_components_
    assert found.lower_bound_ == pytest.approx(expected.lower_bound_, rel=1e-5)
    assert found.n_samples_seen_ == N
    assert isinstance(found.predict(X), gpu.types[kind])
    np.testing.assert_array_equal(gpu.host(found.predict(X)), found.predict(table))
    for method in ("predict_proba", "score_samples"):
        values = getattr(found, method)(X)
        assert isinstance(values, gpu.types[kind])
        np.testing.assert_allclose(gpu.host(values), getattr(found, method)(table), atol=1e-6)
    assert found.score(table) == pytest.approx(expected.score(table), rel=1e-4)


@pytest.mark.parametrize("how", KINDS, ids=str)
def test_fit_of_rows_of_the_host(gpu, small, table, how):
    expected = density(**how).fit(table)
    with mixkern.config(device="cuda"):
        found = density(**how).fit(table)
        again = density(**how).fit(table)
    assert found.n_components_ == expected.n_components_
    assert found.lower_bound_ == pytest.approx(expected.lower_bound_, rel=1e-4)
    np.testing.assert_allclose(np.sort(found.mixture_.means, 0), np.sort(expected.mixture_.means, 0), atol=0.02)
    assert again.mixture_ == found.mixture_
    assert again.lower_bound_ == found.lower_bound_


def test_float32(gpu, small, table):
    X = gpu.array(table.astype(np.float32))
    expected = density().fit(table.astype(np.float32))
    assert density().fit(X).lower_bound_ == pytest.approx(expected.lower_bound_, rel=1e-4)


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
def test_float32_far_from_zero(gpu, kind):
    """Values that are exact in float32, and means that are not; a column near zero, and one of categories."""
    random = np.random.default_rng(3)
    X = np.round(random.normal(size=(500, 3)) * 16) / 16 + [1e6, -1e4, 0]
    X[:, 2] = (X[:, 2] / 3).astype(np.float32)  # sums with a centre are not exact
    X[::9, 1] = np.nan
    X = np.hstack([X, (X[:, 2:] > 0).astype(float)])
    mixture = VBMixture(2, n_categorical=1, random_state=0).fit(X).mixture_
    expected = mixture.row_densities(X, fill=True)
    given = (gpu.array, gpu.tensor)[kind](X.astype(np.float32))
    found = mixture.row_densities(given, fill=True)
    assert isinstance(found.filled, gpu.types[kind])
    for name in ("log_joint", "log_density", "responsibilities"):
        np.testing.assert_allclose(gpu.host(getattr(found, name)), getattr(expected, name), atol=1e-4)
    np.testing.assert_allclose(gpu.host(found.filled), expected.filled, rtol=1e-6)
    is_known = ~np.isnan(X[:, :3])
    np.testing.assert_array_equal(gpu.host(found.filled)[is_known], X[:, :3][is_known])
    np.testing.assert_array_equal(gpu.host(given), X.astype(np.float32))


def test_means_beyond_the_digits_or_the_range_of_float32(gpu):
    """The rest of a mean is subtracted, too; there is no centre where float32 has no such number."""
    mixture = Mixture([1.0], [[123456789.0]], [[[0.01]]])
    X = np.array([[123456789.0], [0.0]], dtype=np.float32)
    expected = mixture.log_density(X.astype(float))
    np.testing.assert_allclose(gpu.host(mixture.log_density(gpu.array(X))), expected, rtol=1e-4)
    assert Mixture([1.0], [[1e39]], [[[1.0]]]).far_centre is None


def test_each_gpu_has_a_copy_of_rows(gpu, monkeypatch):
    rows = Rows(np.ones((3, 2)))
    first = rows.on_gpu()
    assert rows.on_gpu() is first
    monkeypatch.setattr(gpu_array, "current_gpu", lambda: 1)
    assert rows.on_gpu() is not first


def test_weights_and_labels(gpu, small, table):
    random = np.random.default_rng(1)
    weights = random.random(N)
    weights[:10] = 0.0
    expected = density().fit(table, sample_weight=weights).lower_bound_
    for given in (weights, gpu.array(weights)):
        found = density().fit(gpu.array(table), sample_weight=given)
        assert found.lower_bound_ == pytest.approx(expected, rel=1e-5)
    y = np.where(random.random(N) < 0.05, (table[:, 1] > 0).astype(int), -1)
    expected = density(use_labels=True).fit(table, y)
    for labels in (y, gpu.array(y)):
        found = density(use_labels=True).fit(gpu.array(table), labels)
        tables = (each.class_table_[np.argsort(each.mixture_.means[:, 0])] for each in (found, expected))
        np.testing.assert_allclose(*tables, atol=1e-3)  # components may come in another order


def test_warm_start_and_constant_columns(gpu, small, table):
    constant = table.copy()
    constant[:, 1] = 7.3
    found = density(warm_start=True).fit(gpu.array(constant))
    np.testing.assert_array_equal(found.mixture_.means[:, 1], 7.3)
    assert found.fit(gpu.array(constant)).n_iter_ <= 3
    assert found.fit(gpu.array(table)).mixture_.means[:, 1].std() > 1
    with mixkern.config(device="cuda"):
        np.testing.assert_allclose(density().fit(constant).mixture_.means[:, 1], 7.3, rtol=1e-12)


def test_partial_fit(gpu, small, table):
    shuffled = np.random.default_rng(2).permutation(table)
    found = density()
    for start in range(0, N, 1000):
        found.partial_fit(gpu.array(shuffled[start : start + 1000]))
    assert found.n_samples_seen_ == N
    assert found.score(table) > density().fit(table).score(table) - 0.2


def test_errors(gpu, table):
    with pytest.raises(NotATableError, match=r"X must have two dimensions, rows and columns, but it has shape \(3,\)"):
        VBMixture().fit(gpu.array(np.zeros(3)))
    with pytest.raises(EmptyTableError, match=r"X must have rows and columns, but it has shape \(0, 3\)"):
        VBMixture().fit(gpu.array(np.zeros((0, 3))))
    with pytest.raises(InfiniteValueError, match="X contains infinity"):
        VBMixture().fit(gpu.array(np.array([[1.0], [np.inf]])))
    with pytest.raises(MixtureError, match="values beyond 1e\\+150"):
        VBMixture().fit(gpu.array(np.array([[1.0], [1e160]])))
    with pytest.raises(MixtureError, match="must hold whole numbers"):
        VBMixture(n_categorical=1).fit(gpu.array(np.array([[1.0, 0.5], [2.0, 0.0]])))
    fitted = VBMixture(random_state=0).fit(gpu.array(table[:, 1:3][10:60]))
    with pytest.raises(ValueError, match="expecting 2 features"):
        fitted.predict(gpu.array(np.zeros((1, 3))))


@pytest.mark.parametrize("n", [1, 7, 1024, 2500])
@pytest.mark.parametrize("has_weights", [False, True])
def test_moments_of_columns(gpu, monkeypatch, n, has_weights):
    monkeypatch.setattr(gpu_table, "CELLS", 2048)
    random = np.random.default_rng(n)
    X, weights = random.normal((0, 1e8, 0), size=(n, 3)), random.random(n) if has_weights else None
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 2] = np.nan if n == 7 else 3.0
    for kind in (CovarianceType.FULL, CovarianceType.SPHERICAL):
        expected = Coordinates.of(X, weights, kind)
        found = Coordinates.of(gpu.array(X), None if weights is None else gpu.array(weights), kind)
        np.testing.assert_allclose(found.centre, expected.centre, rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(found.scale, expected.scale, rtol=1e-10)
        np.testing.assert_array_equal(found.varying, expected.varying)
        inner = gpu.host(found.inner(gpu.array(X)))
        np.testing.assert_allclose(inner, expected.inner(X), atol=1e-6)
        volume = found.log_volume(gpu.array(inner), None if weights is None else gpu.array(weights))
        assert volume == pytest.approx(expected.log_volume(expected.inner(X), weights))
    assert column_moments(gpu.array(X), None)[0].tolist() == (~np.isnan(X)).sum(axis=0).tolist()


def test_random_orders_are_permutations(gpu):
    X = gpu.array(np.zeros((1000, 2)))
    first, second, other = (gpu.host(gpu_table.random_order(X, np.random.RandomState(seed))) for seed in (0, 0, 1))
    assert sorted(first.tolist()) == list(range(1000))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_rows(gpu, small, table):
    mixture = density().fit(table).mixture_
    expected, given = Rows(table, mixture), Rows(gpu.array(table), mixture)
    names = ("responsibilities", "log_density", "log_joint", "numbers", "filled")
    for name in names:
        np.testing.assert_allclose(gpu.host(getattr(given, name)), getattr(expected, name), atol=1e-8)
    np.testing.assert_array_equal(gpu.host(given.codes), expected.codes)
    np.testing.assert_allclose(gpu.host(given[5:9].responsibilities), expected.responsibilities[5:9], atol=1e-10)
    with mixkern.config(device="cuda"):
        placed = Rows(table, mixture)
        for name in names[:2]:
            assert type(getattr(placed, name)) is np.ndarray
            np.testing.assert_allclose(getattr(placed, name), getattr(expected, name), atol=1e-3)
        np.testing.assert_allclose(placed.numbers, expected.numbers, atol=1e-3)
        assert placed.on_gpu() is placed.on_gpu()


@pytest.mark.parametrize("kind", ["factor", "common"])
@pytest.mark.parametrize("most_columns", [0, gaussians.GPU_COLUMNS], ids=["on the host", "on the GPU"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_densities_of_factors(gpu, monkeypatch, kind, most_columns, dtype):
    monkeypatch.setattr(gaussians, "GPU_COLUMNS", most_columns)
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 3)) @ random.normal(size=(3, 30)) + random.normal(size=(600, 30))
    X[:300] += 2.0
    mixture = VBMixture(3, covariance_type=kind, n_factors=3, random_state=0).fit(X).mixture_
    assert mixture.n_components > 1
    rows = X[::2].copy()
    rows[::3, random.integers(30, size=4)] = np.nan
    rows = rows.astype(dtype)
    expected, found = (mixture.row_densities(each, fill=True) for each in (rows, gpu.array(rows)))
    error = {"float32": 1e-5, "float64": 1e-9}[dtype]
    for name in ("log_joint", "log_density", "responsibilities", "filled"):
        values = getattr(expected, name)
        np.testing.assert_allclose(gpu.host(getattr(found, name)), values, rtol=0, atol=error * np.abs(values).max())
    assert found.is_positive


@pytest.mark.parametrize("kind", ["full", pytest.param("factor", marks=pytest.mark.slow)])
def test_infinite_values(gpu, table, kind):
    mixture = density(covariance_type=kind).fit(table).mixture_
    rows = table[:50].copy()
    rows[7, 1] = np.inf
    for method in (mixture.responsibilities, mixture.log_density, mixture.conditional_mean):
        with pytest.raises(MixtureError, match="X holds infinite values"):
            method(gpu.array(rows))


def test_impossible_rows(gpu):
    mixture = mixkern.Mixture([0.3, 0.7], [[0.0], [1.0]], [[[1.0]], [[1.0]]], categories=[[[1.0, 0.0], [1.0, 0.0]]])
    rows = np.array([[0.0, 1.0], [np.nan, 1.0], [0.0, 0.0]])
    expected, found = (mixture.row_densities(each, fill=True) for each in (rows, gpu.array(rows)))
    for name in ("responsibilities", "log_density", "filled"):
        np.testing.assert_allclose(gpu.host(getattr(found, name)), getattr(expected, name), atol=1e-10)
    np.testing.assert_allclose(gpu.host(mixture.conditional_mean(gpu.array(rows))), mixture.conditional_mean(rows))
