"""Factorisations and products on the CPU and on a GPU, against their definitions; the Laplacian kernel on a GPU."""

import numpy as np
import pytest

import mixkern
from mixkern.kernels import LaplacianKernel, RBFKernel, RWMKernel, dense
from mixkern.kernels import base as kernel_base


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Compute on the CPU, or on a GPU however small the matrices are."""
    if request.param == "cpu":
        yield
        return
    request.getfixturevalue("gpu")
    with pytest.MonkeyPatch.context() as patch, mixkern.config(device="cuda"):
        patch.setattr(dense, "GPU_WORK", 1)
        yield


@pytest.fixture(params=[0, 1, 2, 13, 67])
def matrix(request):
    root = np.random.default_rng(0).normal(size=(request.param, request.param))
    return root @ root.T + np.eye(request.param)


def test_eigenvectors(gpu, device, matrix):
    values, vectors = dense.eigenvectors(matrix - 5 * np.eye(len(matrix)))
    assert type(values) is type(vectors) is np.ndarray
    np.testing.assert_allclose(vectors * values @ vectors.T, matrix - 5 * np.eye(len(matrix)), atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(matrix)), atol=1e-12)
    assert (np.diff(values) >= 0).all()


def test_cholesky_and_solutions(gpu, device, matrix):
    n = len(matrix)
    factor = np.tril(dense.cholesky(matrix.copy()))
    np.testing.assert_allclose(factor @ factor.T, matrix, rtol=1e-12, atol=1e-12)
    right = np.random.default_rng(1).normal(size=(n, 3))
    np.testing.assert_allclose(factor @ dense.solved(factor, right), right, atol=1e-10)
    np.testing.assert_allclose(factor.T @ dense.solved(factor, right, transposed=True), right, atol=1e-10)
    np.testing.assert_allclose(dense.product(factor, right), np.einsum("ij,jk->ik", factor, right), atol=1e-12)


def test_a_matrix_that_is_not_definite(gpu, device):
    with pytest.raises(np.linalg.LinAlgError):
        dense.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    return np.vstack([random.normal(size=(70, 2)), random.normal(size=(60, 2)) + 3])


@pytest.mark.parametrize("kind", ["definite", "indefinite", "sum"])
def test_laplacian_kernel_on_a_gpu(gpu, rows, kind, monkeypatch):
    mixture = mixkern.VBMixture(random_state=0).fit(rows).mixture_
    if kind == "sum":
        base = RBFKernel(1.0) + RBFKernel(1e-6)  # squared distances are differences of nearly equal values
    else:
        base = RBFKernel(1.0) if kind == "definite" else RWMKernel(mixture, 0.01)
    new = rows[:20] + 0.1
    expected = [LaplacianKernel(base, rows, ratio=10.0)(a, b) for a, b in ((rows, None), (new, rows), (new, None))]
    monkeypatch.setattr(dense, "GPU_WORK", 1)
    monkeypatch.setattr(kernel_base, "GPU_WORK", 0)
    with mixkern.config(device="cuda"):
        kernel = LaplacianKernel(base, rows, ratio=10.0)
        found = [kernel(rows), kernel(new, rows), kernel(new)]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    assert (kernel.graph != LaplacianKernel(base, rows).graph).nnz == 0


@pytest.mark.parametrize("kind", [0, 1], ids=["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ratio", [0.0, 10.0])
def test_laplacian_kernel_of_arrays_on_a_gpu(gpu, rows, ratio, dtype, kind):
    put, rows = (gpu.array, gpu.tensor)[kind], rows.astype(dtype)
    new = rows[:20] + np.float32(0.1)
    expected = LaplacianKernel(RBFKernel(1.0), rows, ratio=ratio)
    kernel = LaplacianKernel(RBFKernel(1.0), put(rows), ratio=ratio)
    for given in ((rows,), (new, rows), (new,)):
        found = kernel(*map(put, given))
        assert isinstance(found, gpu.types[kind])
        np.testing.assert_allclose(gpu.host(found), expected(*given), atol=1e-8)
    assert type(kernel(new, put(rows))) is np.ndarray
    for method in ("diag", "coordinates") if ratio else ("diag",):
        np.testing.assert_allclose(
            gpu.host(getattr(kernel, method)(put(new))), getattr(expected, method)(new), atol=1e-8
        )
    V = np.ones((20, 2))
    for one, other in zip(
        kernel.base_representation(put(new), put(V)), expected.base_representation(new, V), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-8)
    np.testing.assert_array_equal(kernel.to_parts()["rows"], rows)
