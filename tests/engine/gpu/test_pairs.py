"""Distances and kernels on a GPU against the reference: sizes, types, metrics, categories, digits, repeatability."""

import numpy as np
import pytest

from mixkern import engine
from mixkern.engine import LowRankWhiteners, ProjectedWhiteners, reference

from ..mixtures import case, whiteners  # noqa: TID252
from . import emulation

SIZES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 131), (37, 53), (257, 131), (1031, 517)]  # blocks have 64 or 128 rows
SHAPES = [(1, 1), (1, 5), (3, 2), (10, 5), (7, 11), (10, 18), (30, 18), (2, 37), (3, 65)]  # k, d
KERNEL_ERROR = {"float32": 4e-6, "float64": 1e-12}
DISTANCE_ERROR = {"float32": 3e-6, "float64": 1e-12}  # as a share of the largest one
DTYPES = list(KERNEL_ERROR)


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def cp(request, monkeypatch):
    """CuPy, played by NumPy with emulated kernels, and on a GPU."""
    if request.param == "cuda":
        yield pytest.importorskip("cupy")
        return
    with emulation.installed(monkeypatch) as pairs:
        yield pairs.cp


@pytest.fixture
def real_cp():
    """CuPy on a GPU, for tests of what is not emulated."""
    return pytest.importorskip("cupy")


def rounded(values, dtype):
    """Round to a type, so that the reference has the same digits."""
    return values.astype(dtype).astype(float)


def sides(found, dtype):
    return [rounded(each, dtype) for each in found.both]


def placed(cp, values, dtype):
    return [cp.asarray(each, dtype=dtype) for each in values]


def codes(seed, n, e):
    return np.random.RandomState(seed).randint(-2, 3, (n, e)).astype(np.int32)


def largest(differences):
    return np.abs(differences).max(initial=0.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_sizes(cp, size, dtype, is_diagonal):
    found = case(0, *size, 3, 4, is_diagonal=is_diagonal)
    given, metric = sides(found, dtype), found.whiteners
    a, b = codes(1, size[0], 2), codes(2, size[1], 2)
    D = engine.distance(*placed(cp, given, dtype), whiteners=metric).get()
    expected = reference.distance(*given, whiteners=metric)
    assert D.dtype == dtype
    assert D.shape == size
    assert largest(D - expected) <= DISTANCE_ERROR[dtype] * max(1.0, largest(expected))
    how = {"whiteners": metric, "gamma": 0.05, "beta": 0.5}
    K = engine.kernel(*placed(cp, given, dtype), **how, codes_A=cp.asarray(a), codes_B=cp.asarray(b)).get()
    assert largest(K - reference.kernel(*given, **how, codes_A=a, codes_B=b)) <= KERNEL_ERROR[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("k", "d"), SHAPES)
@pytest.mark.parametrize(
    "gamma", [pytest.param(1e-3, marks=pytest.mark.slow), 0.1, pytest.param(3.0, marks=pytest.mark.slow)]
)
def test_components_and_columns(cp, k, d, dtype, gamma):
    found = case(3, 193, 129, k, d)
    given, how = sides(found, dtype), {"whiteners": found.whiteners / np.sqrt(d), "gamma": gamma}
    K = engine.kernel(*placed(cp, given, dtype), **how).get()
    assert largest(K - reference.kernel(*given, **how)) <= KERNEL_ERROR[dtype]
    D = engine.distance(*placed(cp, given, dtype), whiteners=how["whiteners"]).get()
    expected = reference.distance(*given, whiteners=how["whiteners"])
    assert largest(D - expected) <= DISTANCE_ERROR[dtype] * largest(expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("n", "k", "d"), [(1, 2, 3), (67, 10, 2), (331, 10, 18), pytest.param(1031, 3, 5, marks=pytest.mark.slow)]
)
def test_a_matrix_among_rows_is_symmetric(cp, n, k, d, dtype):
    found = case(4, n, 1, k, d)
    rows, shares = (rounded(each, dtype) for each in found.one)
    how = {"whiteners": found.whiteners, "gamma": 0.02}
    D = engine.distance(*placed(cp, (rows, shares), dtype), whiteners=found.whiteners).get()
    K = engine.kernel(*placed(cp, (rows, shares), dtype), **how).get()
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(K, K.T)
    assert not D.diagonal().any()
    assert largest(K.diagonal() - 1) <= KERNEL_ERROR[dtype]
    assert largest(K - reference.kernel(rows, shares, **how)) <= KERNEL_ERROR[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("q", [None, 1, 3])
@pytest.mark.parametrize("size", [(0, 3), (1, 1), (67, 131), (523, 257)], ids=str)
def test_a_product(cp, size, q, dtype):
    found = case(5, *size, 6, 7)
    given = sides(found, dtype)
    V = np.random.RandomState(0).standard_normal(size[1] if q is None else (size[1], q))
    how = {"whiteners": found.whiteners, "gamma": 0.02}
    product = engine.kernel_times(*placed(cp, given, dtype), cp.asarray(V, dtype=dtype), **how).get()
    expected = reference.kernel(*given, **how) @ V
    assert product.shape == expected.shape
    assert largest(product - expected) <= 2 * KERNEL_ERROR[dtype] * max(1, np.abs(V).sum())


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_million_rows(real_cp, dtype):
    found = case(6, 1_000_000, 300, 10, 3)
    given = sides(found, dtype)
    V = np.random.RandomState(0).standard_normal((300, 2))
    how = {"whiteners": found.whiteners, "gamma": 0.05}
    product = engine.kernel_times(*placed(real_cp, given, dtype), real_cp.asarray(V, dtype=dtype), **how)
    some = np.random.RandomState(1).randint(1_000_000, size=200)
    expected = reference.kernel(given[0][some], given[1][some], *given[2:], **how) @ V
    assert largest(product[real_cp.asarray(some)].get() - expected) <= 2 * KERNEL_ERROR[dtype] * np.abs(V).sum()


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.parametrize("condition", [1.0, 10.0])  # by products and by differences
def test_a_million_rows_of_a_matrix(real_cp, condition):
    """More than 2^32 entries, so that their positions need 64 bits."""
    n, m = 1_000_000, 4_500
    if real_cp.cuda.runtime.memGetInfo()[0] < 6 * n * m:
        pytest.skip("needs 25 GiB of memory on the GPU")
    found = case(15, n, m, 3, 3)
    given = sides(found, "float32")
    how = {"whiteners": whiteners(np.random.RandomState(16), 3, 3, condition=condition), "gamma": 0.05}
    K = engine.kernel(*placed(real_cp, given, "float32"), **how)
    some = np.append(np.random.RandomState(1).randint(n, size=50), [0, n - 1])
    expected = reference.kernel(given[0][some], given[1][some], *given[2:], **how)
    assert largest(K[real_cp.asarray(some)].get() - expected) <= KERNEL_ERROR["float32"]
    del K
    real_cp.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_weights_for_all_rows(cp, dtype):
    found = case(7, 131, 67, 4, 5)
    weights = rounded(np.array([0.1, 0.2, 0.3, 0.4]), dtype)
    a, b = rounded(found.A, dtype), rounded(found.B, dtype)
    for shares in (weights, cp.asarray(weights, dtype=dtype)):
        D = engine.distance(cp.asarray(a, dtype), shares, cp.asarray(b, dtype), None, whiteners=found.whiteners).get()
        expected = reference.distance(a, weights, b, None, whiteners=found.whiteners)
        assert largest(D - expected) <= DISTANCE_ERROR[dtype] * largest(expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", ["low rank", "projected"])
def test_metrics_of_low_rank(cp, form, dtype):
    random, found = np.random.RandomState(8), case(8, 131, 67, 3, 40)
    if form == "low rank":
        metric = LowRankWhiteners.of(random.uniform(0.5, 2, (3, 40)), random.standard_normal((3, 40, 4)) / 3)
    else:
        metric = ProjectedWhiteners(random.standard_normal((4, 40)) / 6, whiteners(random, 3, 4))
    given = sides(found, dtype)
    D = engine.distance(*placed(cp, given, dtype), whiteners=metric).get()
    expected = engine.distance(*given, whiteners=metric)
    assert largest(D - expected) <= 3 * DISTANCE_ERROR[dtype] * largest(expected)
    K = engine.kernel(*placed(cp, given, dtype), whiteners=metric, gamma=0.02).get()
    assert largest(K - engine.kernel(*given, whiteners=metric, gamma=0.02)) <= 3 * KERNEL_ERROR[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [2, 18])
def test_near_duplicates(cp, d, dtype):
    found = case(9, 200, 200, 5, d)
    near = found.A + 1e-5 * found.B
    near[:50] = found.A[:50]
    given = [rounded(each, dtype) for each in (found.A, found.shares_A, near, found.shares_A)]
    D = engine.distance(*placed(cp, given, dtype), whiteners=found.whiteners).get()
    expected = reference.distance(*given, whiteners=found.whiteners)
    assert not D.diagonal()[:50].any()
    size = largest(expected)
    assert largest(D - expected) <= DISTANCE_ERROR[dtype] * size
    if dtype == "float64":
        np.testing.assert_allclose(D.diagonal()[50:], expected.diagonal()[50:], rtol=1e-8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_far_from_zero(cp, dtype):
    """Values that are exact in either type, around 1e6: their differences are, too."""
    found = case(10, 131, 67, 4, 5)
    a, b = (np.round(each * 64) / 16 for each in (found.A, found.B))
    near = reference.distance(a, found.shares_A, b, found.shares_B, whiteners=found.whiteners)
    given = placed(cp, (a + 1e6, found.shares_A, b + 1e6, found.shares_B), dtype)
    D = engine.distance(*given, whiteners=found.whiteners).get()
    assert largest(D - near) <= 3 * DISTANCE_ERROR[dtype] * largest(near)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("condition", [1.5, 10.0])  # in float32 by products and by differences
def test_two_runs_are_equal(real_cp, condition, dtype):
    found, metric = case(11, 1031, 517, 10, 18), whiteners(np.random.RandomState(12), 10, 18, condition=condition)
    given, how = placed(real_cp, found.both, dtype), {"whiteners": metric, "gamma": 0.02}
    V = real_cp.asarray(np.random.RandomState(0).standard_normal((517, 3)), dtype=dtype)
    for _ in range(3):
        np.testing.assert_array_equal(engine.kernel(*given, **how).get(), engine.kernel(*given, **how).get())
        np.testing.assert_array_equal(
            engine.kernel_times(*given, V, **how).get(), engine.kernel_times(*given, V, **how).get()
        )


def test_results_are_written_to_out(cp):
    found = case(12, 37, 53, 3, 4)
    given = placed(cp, found.both, "float32")
    out = cp.empty((37, 60), dtype="float32")[:, :53]
    assert engine.distance(*given, whiteners=found.whiteners, out=out) is out
    np.testing.assert_array_equal(out.get(), engine.distance(*given, whiteners=found.whiteners).get())


def test_rows_in_columns_of_memory(cp):
    found = case(13, 37, 53, 3, 4)
    given = placed(cp, found.both, "float32")
    turned = [cp.asfortranarray(each) for each in given]
    np.testing.assert_array_equal(
        engine.distance(*turned, whiteners=found.whiteners).get(),
        engine.distance(*given, whiteners=found.whiteners).get(),
    )


@pytest.mark.gpu
def test_tensors(real_cp):
    torch = pytest.importorskip("torch")
    found = case(14, 37, 53, 3, 4)
    given = [torch.as_tensor(each, dtype=torch.float32, device="cuda") for each in found.both]
    K = engine.kernel(*given, whiteners=found.whiteners, gamma=0.1)
    assert isinstance(K, torch.Tensor)
    assert K.dtype == torch.float32
    same = engine.kernel(*placed(real_cp, found.both, "float32"), whiteners=found.whiteners, gamma=0.1).get()
    np.testing.assert_array_equal(K.cpu().numpy(), same)
    with torch.cuda.stream(torch.cuda.Stream()):
        later = engine.kernel(*(2 * each / 2 for each in given), whiteners=found.whiteners, gamma=0.1)
        np.testing.assert_array_equal(later.cpu().numpy(), same)


@pytest.mark.parametrize("card", [(90, 232_448), (120, 101_376), (89, 101_376), (75, 65_536)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_stages_fit_into_the_shared_memory_of_a_card(monkeypatch, card, dtype):
    """Of a block of threads; products are left where two stages do not fit."""
    capability, most = card
    with emulation.installed(monkeypatch, capability=capability, shared_memory=most) as pairs:
        for d in range(1, 130):
            how = pairs._difference_options(d, 10, np.dtype(dtype))
            used = pairs.HEAD + how["SLOTS"] * pairs._stage_bytes(how, np.dtype(dtype))
            assert used <= most
            assert how["SLOTS"] >= (2 if capability >= 90 else 1)
            how = pairs._product_options(d, (1.0, 1.0), pairs.Side(np.empty((0, d)), None, None))
            assert how is None or pairs.HEAD + how["SLOTS"] * pairs._slot_bytes(how) <= most
            if how is not None:
                assert pairs._slot_bytes(how) == 4 * (128 + 32 * how["WIDE"]) * pairs._numbers_of_row(d)
            assert pairs._numbers_of_row(d) > d + 1  # by differences
            assert (how is not None) == (capability >= 90 and d <= (35 if capability == 120 else 40))
