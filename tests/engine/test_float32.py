"""Distances and kernels that are computed in float32: errors against the reference, and properties of the results."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern import engine
from mixkern.engine import reference

from .mixtures import ISAS, case, separated

pytestmark = pytest.mark.skipif(not ISAS, reason="the extension was not built")
EVERY_ISA = pytest.mark.parametrize("isa", ISAS)
SINGLE = {"dtype": np.float32}
# The errors that the documentation states: relative ones of distances, absolute ones of kernel values.
DISTANCE, KERNEL = 3e-6, 2e-6
GAMMAS = [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e8]
SIZES = [0, 1, 2, 31, 33, 97, 193, 389]  # around the blocks of 8 to 32 rows and the tiles of 96 and 192


def assert_accurate(rows, isa=None, **how):
    """Distances, kernels for many gammas, and products."""
    how = {"whiteners": rows.whiteners, "_isa": isa, **how}
    expected = engine.distance(*rows.both, whiteners=rows.whiteners)
    found = engine.distance(*rows.both, **how, **SINGLE)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=DISTANCE, atol=1e-44)
    assert (found[expected == 0] == 0).all()
    V = np.random.RandomState(0).standard_normal((len(rows.B), 2))
    for gamma in GAMMAS:
        K = np.exp(-gamma * expected**2)
        found = engine.kernel(*rows.both, **how, gamma=gamma, **SINGLE)
        np.testing.assert_allclose(found, K, rtol=0, atol=KERNEL)
        assert (found[expected == 0] == 1).all()
        product = engine.kernel_times(*rows.both, V, **how, gamma=gamma, **SINGLE)
        assert product.dtype == np.float32
        assert (np.abs(product - K @ V) <= KERNEL * np.abs(V).sum(axis=0)).all()


def assert_symmetric(found, diagonal):
    assert (found == found.T).all()
    assert (np.diag(found) == diagonal).all()


@EVERY_ISA
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", [0, 1, 61, 193])
def test_sizes(isa, n, m):
    rows = case(n, n, m, 3, 6)
    how = {"whiteners": rows.whiteners}
    expected = reference.distance(*rows.both, **how)
    np.testing.assert_allclose(engine.distance(*rows.both, **how, _isa=isa, **SINGLE), expected, rtol=DISTANCE)
    found = engine.distance(*rows.one, **how, _isa=isa, **SINGLE)
    np.testing.assert_allclose(found, reference.distance(*rows.one, **how), rtol=DISTANCE)
    assert_symmetric(found, 0)
    V = np.random.RandomState(0).standard_normal((m, 3))
    product = engine.kernel_times(*rows.both, V, **how, gamma=0.01, _isa=isa, **SINGLE)
    np.testing.assert_allclose(
        product, np.exp(-0.01 * expected**2) @ V, rtol=0, atol=KERNEL * np.abs(V).sum(initial=1.0)
    )


@EVERY_ISA
@pytest.mark.parametrize("d", [0, 1, 2, 3, 4, 5, 6, 9, 17, 60])
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_dimensions(isa, d, is_diagonal):
    assert_accurate(case(0, 40, 50, 5, d, is_diagonal=is_diagonal), isa)


@pytest.mark.slow
@EVERY_ISA
@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**31),
    k=st.integers(1, 100),
    d=st.integers(1, 100),
    is_diagonal=st.booleans(),
    log_offset=st.integers(-3, 6),
    log_apart=st.integers(-9, 0),
    sharpness=st.sampled_from([1.0, 10.0, 100.0]),
)
def test_accuracy_far_from_the_origin_and_close_together(
    isa, seed, k, d, is_diagonal, log_offset, log_apart, sharpness
):
    rows = case(seed, 45, 37, k, d, is_diagonal=is_diagonal, offset=10.0**log_offset, sharpness=sharpness)
    random = np.random.RandomState(seed)
    rows.B[:10] = rows.A[:10]
    rows.B[10:30] = rows.A[10:30] + 10.0**log_apart * random.standard_normal((20, d))
    assert_accurate(rows, isa)


@EVERY_ISA
@pytest.mark.parametrize("width", [1e-6, 1e-3, 0.1])
def test_narrow_clusters_far_from_the_centre(isa, width):
    """Most pairs are close in units of the whole table: one component for all, and one for each cluster."""
    random = np.random.RandomState(0)
    cluster = random.randint(4, size=500)
    X = 1e6 + random.standard_normal((4, 3))[cluster] + width * random.standard_normal((500, 3))
    shares = np.eye(4)[cluster]
    rows = case(0, 500, 200, 1, 3)
    rows.A, rows.B = X, X[:200].copy()
    rows.B[100:] += 0.1 * width
    assert_accurate(rows, isa)
    rows.whiteners = np.broadcast_to(np.eye(3) / width, (4, 3, 3)).copy()
    rows.shares_A, rows.shares_B = shares, shares[:200]
    assert_accurate(rows, isa)


@EVERY_ISA
def test_skipping_stays_within_the_bound(isa):
    rows = separated(0, 700, 20, 6)
    assert_accurate(rows, isa)
    assert_accurate(rows, isa, rtol=0.0)
    for leak in (1e-9, 1e-5):
        assert_accurate(separated(1, 500, 30, 4, leak=leak), isa)


@EVERY_ISA
@pytest.mark.parametrize(("n", "k", "d"), [(300, 5, 3), (2053, 2, 9), (800, 30, 5)])
def test_symmetric_and_the_same_for_any_number_of_threads(isa, n, k, d):
    rows = separated(0, n, k, d) if k == 30 else case(0, n, 1, k, d)
    how = {"whiteners": rows.whiteners, "_isa": isa, **SINGLE}
    found = engine.kernel(*rows.one, **how, gamma=0.1, n_threads=1)
    assert_symmetric(found, 1)
    distance = engine.distance(*rows.one, **how, n_threads=1)
    assert_symmetric(distance, 0)
    V = np.ones(n)
    product = engine.kernel_times(*rows.one, *rows.one, V, **how, gamma=0.1, n_threads=1)
    for n_threads in (2, 3):
        assert (engine.kernel(*rows.one, **how, gamma=0.1, n_threads=n_threads) == found).all()
        assert (engine.distance(*rows.one, **how, n_threads=n_threads) == distance).all()
        again = engine.kernel_times(*rows.one, *rows.one, V, **how, gamma=0.1, n_threads=n_threads)
        assert (again == product).all()


@EVERY_ISA
def test_categories(isa):
    rows, random = case(1, 250, 130, 4, 3), np.random.RandomState(0)
    codes_A, codes_B = (random.randint(-1, 3, size=(len(x), 5)).astype(np.int32) for x in (rows.A, rows.B))
    how = {"whiteners": rows.whiteners, "gamma": 0.05, "alpha": 0.7, "beta": 0.4}
    expected = reference.kernel(*rows.both, **how, codes_A=codes_A, codes_B=codes_B)
    found = engine.kernel(*rows.both, **how, codes_A=codes_A, codes_B=codes_B, _isa=isa, **SINGLE)
    np.testing.assert_allclose(found, expected, rtol=0, atol=KERNEL)
    no_numbers = {"whiteners": np.empty((4, 0)), "gamma": 0.1, "codes_A": codes_A}
    found = engine.kernel(np.empty((250, 0)), rows.shares_A, **no_numbers, _isa=isa, **SINGLE)
    np.testing.assert_allclose(found, np.exp(-0.1 * reference.count(codes_A) ** 2), rtol=1e-7)


@EVERY_ISA
def test_the_exponential_goes_down_to_zero(isa):
    A = np.linspace(0, 12, 601)[:, None]
    found = engine.kernel(A, np.ones(1), whiteners=np.ones((1, 1)), gamma=1.0, _isa=isa, **SINGLE)[0]
    expected = np.exp(-(A[:, 0] ** 2))
    normal = expected > 2e-38
    np.testing.assert_allclose(found[normal], expected[normal], rtol=2e-4)  # 87 times twice the error of a distance
    assert (found[~normal] < 2e-38).all()
    assert found[-1] == 0


@EVERY_ISA
@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e25, 1e60])
def test_any_size(isa, size):
    """Where squares would not fit into a float, float64 is used."""
    rows = case(0, 60, 50, 3, 4)
    expected = engine.distance(*rows.both, whiteners=rows.whiteners)
    rows.A *= size
    rows.B *= size
    for gamma in (0.05 / size**2, 1.0 / size**2):
        found = engine.kernel(*rows.both, whiteners=rows.whiteners, gamma=gamma, _isa=isa, **SINGLE)
        np.testing.assert_allclose(found, np.exp(-gamma * size**2 * expected**2), rtol=0, atol=KERNEL)
    if size < 1e30:
        found = engine.distance(*rows.both, whiteners=rows.whiteners, _isa=isa, **SINGLE)
        np.testing.assert_allclose(found / size, expected, rtol=DISTANCE)


@EVERY_ISA
def test_shares_need_not_add_up_to_one(isa):
    rows = case(0, 60, 50, 3, 4)
    rows.B[:20] = rows.A[:20]
    expected = engine.distance(*rows.both, whiteners=rows.whiteners)
    for factor in (0.0, 1e-6, 1e6):
        sides = rows.A, factor * rows.shares_A, rows.B, factor * rows.shares_B
        found = engine.distance(*sides, whiteners=rows.whiteners, _isa=isa, **SINGLE)
        np.testing.assert_allclose(found, factor * expected, rtol=DISTANCE)


def test_out_decides_as_dtype_does():
    rows = case(0, 50, 40, 3, 3)
    out = np.empty((50, 40), np.float32)
    assert engine.kernel(*rows.both, whiteners=rows.whiteners, gamma=0.1, out=out) is out
    assert (out == engine.kernel(*rows.both, whiteners=rows.whiteners, gamma=0.1, **SINGLE)).all()


def test_the_type_of_a_product_is_checked():
    rows = case(0, 5, 4, 3, 3)
    with pytest.raises(TypeError, match="dtype must be float64 or float32, but it is int64"):
        engine.kernel_times(*rows.both, np.ones(4), whiteners=rows.whiteners, gamma=0.1, dtype=np.int64)
