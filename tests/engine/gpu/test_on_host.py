"""The kernels in CUDA C++, compiled for the processor, against the reference: on machines without a GPU, too."""

from importlib import import_module

import numpy as np
import pytest

from mixkern import engine
from mixkern.engine import Components, LowRankWhiteners, reference

from ..mixtures import case, whiteners  # noqa: TID252
from . import emulation, on_host

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not on_host.compiler(), reason="needs a C++ compiler")]
ERROR = {"float32": 4e-6, "float64": 1e-12}
DTYPES = list(ERROR)


# Compute capability, and bytes of shared memory for a block of threads.
CARDS = {"H200": (90, 232_448), "RTX 5090": (120, 101_376), "T4": (75, 65_536)}


@pytest.fixture(scope="module", params=CARDS)
def compiled(request, tmp_path_factory):
    """Kernels for a card."""
    capability, shared_memory = CARDS[request.param]
    folder = tmp_path_factory.mktemp("kernels")
    return on_host.Compiled(folder, capability=capability, shared_memory=shared_memory)


@pytest.fixture
def pairs(compiled, monkeypatch):
    """The module of pairs of rows, with the compiled kernels; CuPy is played by NumPy."""
    with emulation.installed(monkeypatch, compiled.function, **compiled.card) as module:
        yield module


def placed(pairs, arrays, dtype):
    """Put arrays on the GPU; return them as doubles, too, with the digits of the type."""
    rounded = [np.asarray(each, dtype=dtype) for each in arrays]
    return [pairs.cp.asarray(each) for each in rounded], [each.astype(float) for each in rounded]


def check(found, expected, error):
    np.testing.assert_allclose(found.get(), expected, rtol=0, atol=error * max(1, np.abs(expected).max(initial=0)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (7, 3), (2, 37)])
@pytest.mark.parametrize("size", [(1, 1), (131, 70)], ids=str)
def test_differences(pairs, size, k, d, is_diagonal, dtype):
    found = case(0, *size, k, d, is_diagonal=is_diagonal)
    metric, random = found.whiteners / np.sqrt(d), np.random.RandomState(1)
    (A, P, B, Q), exact = placed(pairs, found.both, dtype)
    check(engine.distance(A, P, B, Q, whiteners=metric), reference.distance(*exact, whiteners=metric), ERROR[dtype])
    D = engine.distance(A, P, whiteners=metric)
    check(D, reference.distance(*exact[:2], whiteners=metric), ERROR[dtype])
    np.testing.assert_array_equal(D.get(), D.get().T)
    codes = [random.randint(-2, 3, (n, 2)).astype(np.int32) for n in size]
    how = {"whiteners": metric, "gamma": 0.05, "beta": 0.5, "codes_A": codes[0], "codes_B": codes[1]}
    pairs.PRODUCT_ERROR = -1.0
    on_gpu = {**how, "codes_A": pairs.cp.asarray(codes[0]), "codes_B": pairs.cp.asarray(codes[1])}
    check(engine.kernel(A, P, B, Q, **on_gpu), reference.kernel(*exact, **how), ERROR[dtype])


@pytest.mark.parametrize(("k", "d"), [(1, 1), (10, 2), (3, 10), (2, 18)])
@pytest.mark.parametrize("size", [(1, 1), (131, 70), (70, 200)], ids=str)
def test_products(pairs, size, k, d):
    found = case(2, *size, k, d)
    metric, random = whiteners(np.random.RandomState(3), k, d, condition=1.5), np.random.RandomState(4)
    (A, P, B, Q), exact = placed(pairs, found.both, "float32")
    pairs.PRODUCT_ERROR = np.inf
    codes = [random.randint(-2, 3, (n, 2)).astype(np.int32) for n in size]
    how = {"whiteners": metric, "gamma": 0.2 / d, "codes_A": codes[0], "codes_B": codes[1]}
    on_gpu = {**how, "codes_A": pairs.cp.asarray(codes[0]), "codes_B": pairs.cp.asarray(codes[1])}
    check(engine.kernel(A, P, B, Q, **on_gpu), reference.kernel(*exact, **how), ERROR["float32"])
    how = {"whiteners": metric, "gamma": 0.2 / d}
    K = engine.kernel(A, P, **how)
    check(K, reference.kernel(*exact[:2], **how), ERROR["float32"])
    np.testing.assert_array_equal(K.get(), K.get().T)
    np.testing.assert_array_equal(K.get().diagonal(), 1)
    out = pairs.cp.asarray(np.full((len(A), 2 * len(B) + 1), np.nan, dtype=np.float32))  # rows start anywhere
    engine.kernel(A, P, B, Q, **how, out=out[:, 1 : len(B) + 1])
    check(out[:, 1 : len(B) + 1], reference.kernel(*exact, **how), ERROR["float32"])
    assert np.isnan(out.get()[:, len(B) + 1 :]).all()


def test_products_are_those_of_the_emulation(compiled, pairs, monkeypatch):
    """Near-duplicates, whose squares have only the digits that tensor cores leave; metrics that need no roundings.

    Older cards compare them by differences.
    """
    found = case(5, 40, 40, 2, 5)
    arrays = [found.A, found.shares_A, found.A + 1e-4 * found.B, found.shares_B]
    metric = np.stack([np.eye(5), 2 * np.eye(5)])
    pairs.PRODUCT_ERROR = np.inf
    K = pairs.kernel(*placed(pairs, arrays, "float32")[0], whiteners=metric, gamma=5.0).get()
    monkeypatch.setattr(pairs, "function", emulation.emulated)
    expected = pairs.kernel(*placed(pairs, arrays, "float32")[0], whiteners=metric, gamma=5.0).get()
    exact = reference.kernel(*placed(pairs, arrays, "float32")[1], whiteners=metric, gamma=5.0)
    is_product = compiled.card["capability"] >= 90
    assert (np.abs(K - exact).max() > 1e-5) == is_product
    np.testing.assert_allclose(K, expected if is_product else exact, rtol=0, atol=3e-7)


@pytest.mark.parametrize("cells", [1, 2**28])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_with_a_matrix(pairs, monkeypatch, dtype, cells):
    """In several steps of 128 rows, and in one."""
    monkeypatch.setattr(pairs, "CELLS", cells)
    found = case(7, 300, 70, 3, 4)
    given, exact = placed(pairs, found.both, dtype)
    V, how = np.random.RandomState(8).standard_normal((70, 2)), {"whiteners": found.whiteners, "gamma": 0.05}
    product = engine.kernel_times(*given, pairs.cp.asarray(V, dtype=dtype), **how)
    check(product, reference.kernel(*exact, **how) @ V, 10 * ERROR[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_low_rank(pairs, dtype):
    found, random = case(9, 70, 67, 2, 5), np.random.RandomState(10)
    metric = LowRankWhiteners.of(random.uniform(0.5, 2, (2, 5)), random.standard_normal((2, 5, 2)))
    given, exact = placed(pairs, found.both, dtype)
    full = np.stack([metric.whitened(i, np.eye(5)).T for i in range(2)])
    check(engine.distance(*given, whiteners=metric), reference.distance(*exact, whiteners=full), ERROR[dtype])


def components(d, k, *, is_diagonal):
    random = np.random.default_rng(0)
    found = random.uniform(0.5, 2, (k, d))
    if not is_diagonal:
        found = np.tril(random.normal(size=(k, d, d)), -1) / d + found[:, :, None] * np.eye(d)
    return Components(random.normal(size=(k, d)), found, np.log(random.uniform(0.1, 1, k)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
# 14 components of 40 columns do not fit into shared memory together, nor sums of 63 columns in float64 on a T4.
@pytest.mark.parametrize(("k", "d"), [(1, 1), (10, 5), (3, 18), (14, 40), (2, 63), (2, 70)])
@pytest.mark.parametrize("n", [0, 1, 131, 517])
@pytest.mark.parametrize("compiled", ["H200", "T4"], indirect=True)  # others differ in pairs alone
def test_densities_and_moments(pairs, monkeypatch, n, k, d, gaps, is_diagonal, dtype):
    monkeypatch.setattr(import_module("mixkern.engine.gpu.density"), "BLOCKS", 2)  # so that each has several tiles
    random, given = np.random.default_rng(1), components(d, k, is_diagonal=is_diagonal)
    X = random.normal(size=(n, d))
    X[random.random((n, d)) < gaps] = np.nan
    (on_gpu, offsets, both), exact = placed(pairs, (X, random.normal(size=(n, k)), random.random((n, 2))), dtype)
    weights, exact[2] = both[:, 0], exact[2][:, 0]  # apart in memory
    error = {"float32": 3e-5, "float64": 1e-10}[dtype]
    found = engine.row_densities(on_gpu, given, offsets=offsets, fill=True)
    expected = reference.row_densities(exact[0], given, exact[1], fill=True)
    for one, other in zip(
        (found.log_joint, found.responsibilities, found.log_density, found.filled), expected, strict=True
    ):
        check(one, other, error)
    assert found.is_positive
    sums = engine.moments(on_gpu, given, offsets=offsets, weights=weights, with_shares=True)
    expected = reference.moments(exact[0], given, exact[1], exact[2], with_shares=True)
    for one, other in zip(
        (sums.counts, sums.sums, sums.squares, sums.log_normaliser, sums.shares.get()), expected, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=error * max(1, np.abs(other).max(initial=0)))


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("value", [1e30, np.inf])
@pytest.mark.parametrize("d", [2, 70])  # kernels are compiled for up to 64 columns
def test_densities_of_zero_are_noticed(pairs, d, value, gaps):
    X = np.random.default_rng(2).normal(size=(131, d))
    X[np.random.default_rng(3).random((131, d)) < gaps] = np.nan
    given = components(d, 3, is_diagonal=False)
    assert engine.row_densities(pairs.cp.asarray(X, dtype="float32"), given).is_positive
    X[70] = value
    found = engine.row_densities(pairs.cp.asarray(X, dtype="float32"), given)
    assert not found.is_positive
    assert not np.isfinite(found.log_density.get()[70])
