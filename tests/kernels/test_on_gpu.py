"""Kernels of rows on a GPU: values, kinds of results, and where rows of the host are computed."""

import numpy as np
import pytest

import mixkern
from mixkern import Mixture, VBMixture, kernels
from mixkern.density import Rows
from mixkern.density import rows as density_rows
from mixkern.kernels import base

ERROR = {"float32": 1e-5, "float64": 1e-10}
SHIFT = np.array([1e6, -2e5, 0.0, 0.0])


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(60, 3)) - 2, random.normal(size=(60, 3)) + 2])
    random.shuffle(X)
    X[3, 1], codes = np.nan, random.integers(0, 3, (120, 1)).astype(float)
    codes[5] = np.nan
    return np.hstack([X, codes])


@pytest.fixture(scope="module")
def mixture(table):
    return VBMixture(n_categorical=1, random_state=0).fit(table).mixture_


@pytest.fixture(params=["rwm", "gmm", "blend", "rbf"])
def kernel(request, mixture):
    if request.param == "rbf":
        return kernels.RBFKernel(0.1, n_categorical=1)
    kind = {"rwm": kernels.RWMKernel, "gmm": kernels.GMMKernel, "blend": kernels.BlendKernel}[request.param]
    return kind(mixture, 0.1)


@pytest.fixture
def always(monkeypatch):
    """Use the GPU for rows of the host, however few they are."""
    monkeypatch.setattr(base, "GPU_WORK", 0)
    monkeypatch.setattr(density_rows, "GPU_WORK", 0)


@pytest.fixture
def sides(table, kernel):
    complete = table[10:] if isinstance(kernel, kernels.RBFKernel) else table
    return complete[:67], complete[67:]


def results(kernel, a, b, V):
    return kernel(a, b), kernel(a), kernel.distance(a, b), kernel.distance(a), kernel.times(a, b, V)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_the_host(gpu, always, kernel, sides, dtype):
    V = np.random.default_rng(1).normal(size=(len(sides[1]), 2))
    expected = results(kernel, *sides, V)
    terms = kernel.pair_terms(*sides)
    with mixkern.config(device="cuda", dtype=dtype):
        found = results(kernel, *sides, V)
        found_terms = kernel.pair_terms(*sides)
        small = kernel(*sides, dtype=np.float32)
        out = np.empty_like(expected[2])
        assert kernel.distance(*sides, out=out) is out
    for one, other in zip(found, expected, strict=True):
        assert type(one) is np.ndarray
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, other, atol=ERROR[dtype] * max(1, np.abs(other).max()))
    assert small.dtype == np.float32
    np.testing.assert_array_equal(out, found[2])
    np.testing.assert_allclose(found_terms.kernel(0.2), terms.kernel(0.2), atol=ERROR[dtype])
    assert type(found_terms.sq_distance) is np.ndarray


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arrays_on_a_gpu(gpu, kernel, sides, kind, dtype):
    put = (gpu.array, gpu.tensor)[kind]
    V = np.random.default_rng(1).normal(size=(len(sides[1]), 2)).astype(dtype)
    a, b = (each.astype(dtype) for each in sides)
    expected = results(kernel, a, b, V)
    for one, other in zip(results(kernel, put(a), put(b), put(V)), expected, strict=True):
        assert isinstance(one, gpu.types[kind])
        assert str(one.dtype).endswith(dtype)
        np.testing.assert_allclose(gpu.host(one), other, atol=ERROR[dtype] * max(1, np.abs(other).max()))
    assert isinstance(kernel(put(a), b), gpu.types[kind])  # rows of the host are put beside them
    assert type(kernel(a, put(b))) is np.ndarray
    assert isinstance(kernel.diag(put(a)), gpu.types[kind])
    terms = kernel.pair_terms(put(a), put(b))
    assert isinstance(terms.sq_distance, gpu.types[0])
    np.testing.assert_allclose(gpu.host(terms.kernel(0.1)), expected[0], atol=ERROR[dtype])


def test_rows_of_the_host_have_the_type_of_those_beside_them(gpu, kernel, sides):
    a, b = sides
    for one, other in ((gpu.array(a), b), (a, gpu.array(b))):
        found = kernel(one, other)
        np.testing.assert_allclose(found if one is a else gpu.host(found), kernel(a, b), atol=1e-12)
    assert gpu.host(kernel(gpu.array(a.astype(np.float32)), b)).dtype == np.float32


def test_gradient(gpu, kernel, sides):
    K, gradient = kernel(gpu.array(sides[0]), eval_gradient=True)
    expected, expected_gradient = kernel(sides[0], eval_gradient=True)
    np.testing.assert_allclose(gpu.host(K), expected, atol=1e-10)
    np.testing.assert_allclose(gpu.host(gradient), expected_gradient, atol=1e-10)


def test_parts_are_computed_on_the_host(gpu, kernel, sides):
    a, b = sides[0][:40], sides[1][:40]
    expected, found = kernel.parts(a, b), kernel.parts(gpu.array(a), gpu.array(b))
    np.testing.assert_allclose(found.columns, expected.columns, atol=1e-10)


def test_numbers_far_from_zero_keep_their_digits(gpu, always, mixture, sides, kernel):
    if isinstance(kernel, kernels.RBFKernel):
        moved = kernel
    else:
        far = Mixture(
            mixture.weights, mixture.means + SHIFT[:3], mixture.covariances, "full", categories=mixture.categories
        )
        moved = kernel.bind(far)
    V = np.random.default_rng(1).normal(size=(len(sides[1]), 2))
    expected = results(kernel, *sides, V)
    with mixkern.config(device="cuda"):
        found = results(moved, *(each + SHIFT for each in sides), V)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5 * max(1, np.abs(other).max()))


def test_few_rows_of_the_host_stay_there(gpu, kernel, sides, monkeypatch):
    monkeypatch.setattr(Rows, "on_gpu", None)
    with mixkern.config(device="cuda"):
        kernel(*sides)


def test_wrong_arrays(gpu, mixture):
    kernel = kernels.RWMKernel(mixture)
    with pytest.raises(ValueError, match=r"X has shape \(3, 2\)"):
        kernel(gpu.array(np.zeros((3, 2))))
    with pytest.raises(ValueError, match="X holds infinite values"):
        kernel(gpu.array(np.array([[np.inf, 0.0, 0.0, 0.0]])))
