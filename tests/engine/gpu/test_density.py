"""Densities of rows and sums of the M-step on a GPU against the reference."""

import numpy as np
import pytest

from mixkern.engine import Components, moments, reference, row_densities

pytestmark = pytest.mark.gpu
SIZES = [0, 1, 7, 131, 1031]  # blocks have 128 rows
ERROR = {"float32": 3e-5, "float64": 1e-10}  # as a share of the largest value
DTYPES = list(ERROR)


@pytest.fixture
def cp():
    return pytest.importorskip("cupy")


def components(d, k, *, is_diagonal=False, seed=0):
    random = np.random.default_rng(seed)
    whiteners = random.uniform(0.5, 2, (k, d))
    if not is_diagonal:
        whiteners = np.tril(random.normal(size=(k, d, d)), -1) / max(1, d) + whiteners[:, :, None] * np.eye(d)
    return Components(random.normal(size=(k, d)), whiteners, np.log(random.uniform(0.1, 1, k)))


def rows(n, d, dtype, *, gaps=0.0, seed=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    X[random.random((n, d)) < gaps] = np.nan
    return X.astype(dtype).astype(float)


def check(found, expected, dtype):
    found = found if isinstance(found, (np.ndarray, float)) else found.get()
    size = max(1.0, np.nanmax(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=ERROR[dtype] * size)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (3, 2), (10, 5), (5, 18), (30, 10), (14, 40)])
@pytest.mark.parametrize("n", SIZES)
def test_densities(cp, n, k, d, gaps, is_diagonal, dtype):
    X, given = rows(n, d, dtype, gaps=gaps), components(d, k, is_diagonal=is_diagonal)
    offsets = np.random.default_rng(2).normal(size=(n, k)).astype(dtype).astype(float)
    found = row_densities(cp.asarray(X, dtype=dtype), given, offsets=cp.asarray(offsets, dtype=dtype), fill=True)
    expected = reference.row_densities(X, given, offsets, fill=True)
    assert found.responsibilities.dtype == dtype
    for one, other in zip(
        (found.log_joint, found.responsibilities, found.log_density, found.filled), expected, strict=True
    ):
        check(one, other, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (3, 2), (10, 5), (5, 18), (30, 10), (14, 40)])
@pytest.mark.parametrize("n", SIZES)
def test_moments(cp, n, k, d, gaps, is_diagonal, dtype):
    X, given = rows(n, d, dtype, gaps=gaps), components(d, k, is_diagonal=is_diagonal)
    random = np.random.default_rng(3)
    offsets, weights = (values.astype(dtype).astype(float) for values in (random.normal(size=(n, k)), random.random(n)))
    on_gpu = {name: cp.asarray(each, dtype=dtype) for name, each in (("offsets", offsets), ("weights", weights))}
    found = moments(cp.asarray(X, dtype=dtype), given, **on_gpu, with_shares=True)
    expected = reference.moments(X, given, offsets, weights, with_shares=True)
    for one, other in zip(
        (found.counts, found.sums, found.squares, found.log_normaliser, found.shares), expected, strict=True
    ):
        check(one, other, dtype)
    assert isinstance(found.counts, np.ndarray)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_two_runs_are_equal(cp, gaps, dtype):
    X, given = cp.asarray(rows(20_011, 6, dtype, gaps=gaps), dtype=dtype), components(6, 10)
    first, second = moments(X, given), moments(X, given)
    for name in ("counts", "sums", "squares", "log_normaliser"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(row_densities(X, given).log_density.get(), row_densities(X, given).log_density.get())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("d", [3, 70])  # kernels are compiled for up to 64 columns
def test_rows_far_from_zero(cp, d, gaps, is_diagonal, dtype):
    """Values and means that are exact in either type, around 1e6: their differences are, too."""
    near = components(d, 4, is_diagonal=is_diagonal)
    near = Components(np.round(near.means * 16) / 16, near.whiteners, near.log_constants)
    far = Components(near.means + 1e6, near.whiteners, near.log_constants)
    X = np.round(16 * rows(1031, d, dtype, gaps=gaps)) / 16
    given = cp.asarray(X + 1e6, dtype=dtype)
    found = row_densities(given, far)
    expected = reference.row_densities(X, near, None, fill=False)
    for one, other in zip((found.log_joint, found.responsibilities, found.log_density), expected, strict=False):
        check(one, other, dtype)
    sums = moments(given, far)
    expected = reference.moments(X, near, None, None, with_shares=False)
    for one, other in zip((sums.counts, sums.sums, sums.squares, sums.log_normaliser), expected, strict=False):
        check(one, other, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_without_numbers(cp, dtype):
    given = Components(np.zeros((2, 0)), np.zeros((2, 0)), np.log([0.25, 0.75]))
    found = row_densities(cp.zeros((3, 0), dtype=dtype), given)
    np.testing.assert_allclose(found.responsibilities.get(), [[0.25, 0.75]] * 3, rtol=1e-6)


def test_tensors(cp):
    torch = pytest.importorskip("torch")
    X, given = rows(131, 3, "float32", gaps=0.1), components(3, 4)
    tensor = torch.as_tensor(X, dtype=torch.float32, device="cuda")
    found = row_densities(tensor, given, fill=True)
    assert {type(part) for part in (found.log_joint, found.responsibilities, found.filled)} == {torch.Tensor}
    same = row_densities(cp.asarray(X, dtype="float32"), given).responsibilities.get()
    np.testing.assert_array_equal(found.responsibilities.cpu().numpy(), same)
