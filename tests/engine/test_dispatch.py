"""The functions of the engine against the reference, and properties of their results."""

import logging
import multiprocessing
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern import engine
from mixkern.engine import dispatch, plan, reference

from .mixtures import ISAS, case, separated

pytestmark = pytest.mark.skipif(not ISAS, reason="the extension was not built")
EVERY_ISA = pytest.mark.parametrize("isa", ISAS)
# Around the blocks of 4 to 32 rows, and the tile of 192.
SIZES = [0, 1, 2, 7, 31, 33, 97, 191, 193, 389]
# The builds of CMakeLists.txt by processor, fastest first.
X86, ARM = ["avx512", "avx2", "baseline"], ["neon"]
BUILDS = {"x86_64": X86, "AMD64": X86, "amd64": X86, "aarch64": ARM, "arm64": ARM, "ARM64": ARM}
# Where a long double has more than 64 bits it is computed in software, which takes some ten times as long.
EXAMPLES = 25 if np.finfo(np.longdouble).nmant < 64 else 5


def test_the_builds_are_those_of_the_processor():
    expected = BUILDS.get(platform.machine(), [])
    found = [isa for isa in ISAS if isa != "scalar"]  # a processor may lack the first ones
    assert found == expected[len(expected) - len(found) :]
    assert found[-1:] == expected[-1:]
    assert ISAS[len(found) :] in ([], ["scalar"])


def exact_distance(A, shares_A, B, shares_B, whiteners):
    """The reference in long double, whose own errors do not count."""
    D = np.zeros((len(A), len(B)), dtype=np.longdouble)
    difference = A.astype(np.longdouble)[:, None] - B.astype(np.longdouble)[None]
    for k, W in enumerate(whiteners.astype(np.longdouble)):
        z = difference * W if W.ndim == 1 else np.einsum("ijc,bc->ijb", difference, W)
        D += (shares_A[:, None, k].astype(np.longdouble) + shares_B[None, :, k]) / 2 * np.sqrt((z * z).sum(axis=2))
    return D


def assert_accurate(found, rows, spread):
    """1e-12 for rows further apart than 1e-3 of the spread, a constant times 1e-15 spread / distance below that."""
    exact = exact_distance(*rows.both, rows.whiteners)
    apart = np.linalg.norm(rows.A[:, None] - rows.B[None], axis=2)
    error = np.abs(found - exact).astype(float)
    relative = np.divide(error, exact.astype(float), out=np.zeros_like(error), where=exact > 0)
    assert relative[apart > 1e-3 * spread].max(initial=0) < 1e-12
    close = (apart <= 1e-3 * spread) & (apart > 0)
    bound = 1e-12 + 8e-15 * spread / np.where(close, apart, 1.0)
    assert (relative <= bound)[close].all()
    assert (found[apart == 0] == 0).all()


@pytest.mark.slow
@EVERY_ISA
@settings(derandomize=True, deadline=None, max_examples=EXAMPLES)
@given(
    seed=st.integers(0, 2**31),
    k=st.integers(1, 60),
    d=st.integers(1, 60),
    is_diagonal=st.booleans(),
    log_offset=st.integers(-3, 6),
    log_apart=st.integers(-14, -1),
)
def test_accuracy_far_from_the_origin_and_close_together(isa, seed, k, d, is_diagonal, log_offset, log_apart):
    rows = case(seed, 45, 37, k, d, is_diagonal=is_diagonal, offset=10.0**log_offset)
    random = np.random.RandomState(seed)
    rows.B[:10] = rows.A[:10]
    rows.B[10:30] = rows.A[10:30] + 10.0**log_apart * random.standard_normal((20, d))
    found = engine.distance(*rows.both, whiteners=rows.whiteners, _isa=isa)
    assert_accurate(found, rows, spread=rows.A.std())


def test_eight_digits_at_a_hundred_millionth_of_the_spread():
    rows = case(0, 200, 200, 10, 5)
    rows.B[:] = rows.A + 1e-8 * np.random.RandomState(1).standard_normal(rows.A.shape)
    exact = exact_distance(*rows.both, rows.whiteners)
    for isa in ISAS:
        found = engine.distance(*rows.both, whiteners=rows.whiteners, _isa=isa)
        assert np.abs(np.diag(found) / np.diag(exact) - 1).max() < 1e-12


@EVERY_ISA
def test_roots_err_by_less_than_two_units_in_the_last_place(isa):
    """Of squares between 1 and 4, in which a root has all its mantissas; the square itself errs by half a unit."""
    A = np.random.RandomState(0).uniform(1, 2, (20_000, 1))
    found = engine.distance(A, np.ones(1), np.zeros((1, 1)), whiteners=np.ones((1, 1)), _isa=isa)
    assert np.abs(found / A - 1).max() < 2 * np.finfo(float).eps


@EVERY_ISA
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", [0, 1, 61, 193])
def test_sizes(isa, n, m):
    rows = case(n, n, m, 3, 6)
    how = {"whiteners": rows.whiteners}
    np.testing.assert_allclose(
        engine.distance(*rows.both, **how, _isa=isa), reference.distance(*rows.both, **how), rtol=1e-13
    )
    found, V = engine.distance(*rows.one, **how, _isa=isa), np.random.RandomState(0).standard_normal((m, 3))
    np.testing.assert_allclose(found, reference.distance(*rows.one, **how), rtol=1e-13)
    assert (found == found.T).all()
    assert (np.diag(found) == 0).all()
    product = engine.kernel_times(*rows.both, V, **how, gamma=0.01, _isa=isa)
    np.testing.assert_allclose(
        product, reference.kernel_times(*rows.both, V, **how, gamma=0.01), rtol=1e-12, atol=1e-12
    )


@EVERY_ISA
@pytest.mark.parametrize("d", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17])
@pytest.mark.parametrize("is_diagonal", [False, True])
def test_dimensions(isa, d, is_diagonal):
    rows = case(0, 40, 50, 5, d, is_diagonal=is_diagonal)
    how = {"whiteners": rows.whiteners}
    np.testing.assert_allclose(
        engine.distance(*rows.both, **how, _isa=isa), reference.distance(*rows.both, **how), rtol=1e-13
    )


@EVERY_ISA
def test_the_symmetric_matrix_is_the_rectangular_one(isa):
    rows = case(0, 400, 1, 7, 5)
    square = engine.kernel(*rows.one, whiteners=rows.whiteners, gamma=0.1, _isa=isa)
    block = engine.kernel(*rows.one, *rows.one, whiteners=rows.whiteners, gamma=0.1, _isa=isa)
    assert (square == block).all()
    assert (np.diag(square) == 1).all()


@EVERY_ISA
@pytest.mark.parametrize("rtol", [0.0, 1e-12])
def test_results_do_not_depend_on_threads(isa, rtol):
    rows, V = separated(0, 500, 20, 5), np.random.RandomState(0).standard_normal((166, 2))
    how = {"whiteners": rows.whiteners, "gamma": 0.1, "rtol": rtol, "_isa": isa}
    for call in (
        lambda **more: engine.kernel(*rows.one, **how, **more),
        lambda **more: engine.kernel(*rows.both, **how, **more),
        lambda **more: engine.kernel_times(*rows.both, V, **how, **more),
    ):
        one = call(n_threads=1)
        for n_threads in (2, 3):
            assert (call(n_threads=n_threads) == one).all()


@pytest.mark.slow
@EVERY_ISA
@pytest.mark.parametrize("leak", [0.0, 1e-20, 1e-15, 1e-13])
@pytest.mark.parametrize("rtol", [1e-12, 1e-6])
def test_skipping_errs_within_its_bound(isa, leak, rtol):
    rows = separated(3, 700, 30, 4, leak)
    how = {"whiteners": rows.whiteners, "_isa": isa}
    for sides in (rows.one, rows.both):
        full, skipped = (engine.distance(*sides, **how, rtol=r) for r in (0.0, rtol))
        np.testing.assert_allclose(skipped, full, rtol=rtol / 2 + 1e-14)
        full, skipped = (engine.kernel(*sides, **how, gamma=0.3, rtol=r) for r in (0.0, rtol))
        assert np.abs(skipped - full).max() <= 0.37 * rtol + 1e-14
    V = np.ones(len(rows.B))
    product = engine.kernel_times(*rows.both, V, **how, gamma=0.3, rtol=rtol)
    np.testing.assert_allclose(product, full @ V, rtol=len(V) * rtol)


def test_skipping_was_tested():
    rows = separated(3, 700, 30, 4)
    pairs = dispatch.check.pairs(*rows.both, rows.whiteners)
    assert plan.plan(pairs, 1e-12, is_matrix=True).a is not None
    assert plan.plan(pairs, 0.0, is_matrix=True).a is None


@EVERY_ISA
@pytest.mark.parametrize("n", [5, 250])
def test_mixed_kernel(isa, n):
    rows, random = case(1, n, 130, 4, 3), np.random.RandomState(0)
    codes_A, codes_B = (random.randint(-1, 3, size=(len(x), 5)).astype(np.int32) for x in (rows.A, rows.B))
    how = {"whiteners": rows.whiteners, "gamma": 0.05, "alpha": 0.7, "beta": 0.4}
    expected = reference.kernel(*rows.both, **how, codes_A=codes_A, codes_B=codes_B)
    found = engine.kernel(*rows.both, **how, codes_A=codes_A, codes_B=codes_B, _isa=isa)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found = engine.kernel(*rows.one, **how, codes_A=codes_A, _isa=isa)
    np.testing.assert_allclose(found, reference.kernel(*rows.one, **how, codes_A=codes_A), rtol=1e-12)
    assert (np.diag(found) == 1).all()
    assert (found == found.T).all()
    again = engine.kernel(*rows.one, *rows.one, **how, codes_A=codes_A, codes_B=codes_A, _isa=isa)
    assert (found == again).all()  # a row is equal to its copy, gaps and all
    other = np.where(codes_A < 0, -5, codes_A).astype(np.int32)  # a gap, however it is written
    assert (engine.kernel(*rows.one, *rows.one, **how, codes_A=codes_A, codes_B=other, _isa=isa) == found).all()
    V = random.standard_normal((len(rows.B), 2))
    product = engine.kernel_times(*rows.both, V, **how, codes_A=codes_A, codes_B=codes_B, _isa=isa)
    np.testing.assert_allclose(product, expected @ V, rtol=1e-10, atol=1e-12)
    no_numbers = {"whiteners": np.empty((4, 0)), "gamma": 0.1, "codes_A": codes_A}
    found = engine.kernel(np.empty((n, 0)), rows.shares_A, **no_numbers, _isa=isa)
    np.testing.assert_allclose(found, np.exp(-0.1 * reference.count(codes_A) ** 2), rtol=1e-13)


@EVERY_ISA
def test_the_exponential_goes_down_to_zero(isa):
    A = np.linspace(0, 30, 601)[:, None]
    found = engine.kernel(A, np.ones(1), whiteners=np.ones((1, 1)), gamma=1.0, _isa=isa)[0]
    expected = np.exp(-(A[:, 0] ** 2))
    normal = expected > 1e-300
    np.testing.assert_allclose(
        found[normal], expected[normal], rtol=3e-13
    )  # 500 units in the last place of the exponent
    np.testing.assert_allclose(found[~normal], expected[~normal], rtol=0, atol=1e-312)
    assert found[-1] == 0
    huge = engine.kernel(1e60 * A, np.ones(1), whiteners=np.ones((1, 1)), gamma=1e300, _isa=isa)
    assert (huge == np.eye(len(A))).all()


@EVERY_ISA
def test_one_row_of_shares_stands_for_all(isa):
    rows = case(2, 200, 100, 5, 3)
    weights = rows.shares_A[0].copy()
    every = [np.tile(weights, (len(x), 1)) for x in (rows.A, rows.B)]
    how = {"whiteners": rows.whiteners, "_isa": isa}
    assert (
        engine.distance(rows.A, weights, rows.B, **how) == engine.distance(rows.A, every[0], rows.B, every[1], **how)
    ).all()
    assert (engine.distance(rows.A, weights, **how) == engine.distance(rows.A, every[0], **how)).all()


@EVERY_ISA
@pytest.mark.parametrize("n", [1500, 2053])
def test_large_results_are_written_past_the_caches(isa, n):
    """More than sixteen megabytes, rows that do not begin at a cache line, and large tiles for the second size."""
    rows, some = case(0, n, 1, 2, 9), slice(0, None, 97)
    how = {"whiteners": rows.whiteners, "_isa": isa}
    found = engine.distance(*rows.one, **how)
    expected = engine.distance(rows.A[some], rows.shares_A[some], *rows.one, **how)
    np.testing.assert_allclose(found[some], expected, rtol=1e-13)
    assert (found == found.T).all()


def test_out_is_filled_and_given_back_and_may_be_part_of_a_larger_array():
    rows = case(0, 50, 40, 3, 3)
    whole = np.full((60, 70), -1.0)
    out = whole[5:55, 10:50]
    assert engine.distance(*rows.both, whiteners=rows.whiteners, out=out) is out
    assert (out == engine.distance(*rows.both, whiteners=rows.whiteners)).all()
    out[...] = -1
    assert (whole == -1).all()


def test_strided_and_read_only_inputs_are_accepted():
    rows = case(0, 50, 40, 3, 4)
    expected = engine.distance(*rows.both, whiteners=rows.whiteners)
    strided = [np.repeat(np.asfortranarray(x), 2, axis=1)[:, ::2] for x in rows.both]
    for x in strided:
        x.flags.writeable = False
    assert (engine.distance(*strided, whiteners=np.asfortranarray(rows.whiteners)) == expected).all()


def test_rows_of_a_product_do_not_depend_on_the_others(monkeypatch):
    rows = case(0, 500, 60, 6, 4)
    V = np.random.RandomState(0).standard_normal(60)
    how = {"whiteners": rows.whiteners, "gamma": 0.2}
    whole = engine.kernel_times(*rows.both, V, **how)
    monkeypatch.setattr(dispatch, "_ROWS_AT_A_TIME", 37)
    assert (engine.kernel_times(*rows.both, V, **how) == whole).all()
    np.testing.assert_allclose(whole, engine.kernel(*rows.both, **how) @ V, rtol=1e-12, atol=1e-13)


def test_without_the_extension_numpy_is_used_and_one_line_is_logged(monkeypatch, caplog):
    rows, V = case(0, 30, 20, 3, 2), np.arange(20.0)
    how = {"whiteners": rows.whiteners, "gamma": 0.2}
    expected = [
        engine.kernel(*rows.both, **how),
        engine.kernel(*rows.one, **how),
        engine.kernel_times(*rows.both, V, **how),
    ]
    expected.append(engine.distance(*rows.one, whiteners=rows.whiteners))
    monkeypatch.setitem(__import__("sys").modules, "mixkern.engine._core", None)
    monkeypatch.delattr("mixkern.engine._core", raising=False)
    dispatch.core.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "mixkern.engine"):
            found = [engine.kernel(*rows.both, **how), engine.kernel(*rows.one, **how)]
            found += [engine.kernel_times(*rows.both, V, **how), engine.distance(*rows.one, whiteners=rows.whiteners)]
    finally:
        dispatch.core.cache_clear()
    assert [record.getMessage()[:31] for record in caplog.records] == ["The compiled engine is missing "]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def total(rows):
    return float(engine.distance(*rows.one, whiteners=rows.whiteners, n_threads=2).sum())


@pytest.mark.posix
@pytest.mark.skipif(os.environ.get("MIXKERN_SANITIZED") == "1", reason="sanitizers and fork do not go together")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_computes_too():
    rows = case(0, 400, 1, 5, 3)
    expected = total(rows)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert np.array_equal(pool.map_async(total, [rows] * 4).get(timeout=60), [expected] * 4)


# ---------------------------------------------------------------- interruption

INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from mixkern import engine

random = np.random.default_rng(0)
X, shares = random.normal(size=(n, 20)), random.dirichlet(np.ones(30), n)
W = np.broadcast_to(np.eye(20), (30, 20, 20)).copy()
components = engine.Components(np.zeros((30, 20)), W, np.zeros(30))
calls = {
    "kernel": lambda: engine.kernel(X, shares, whiteners=W, gamma=0.1, n_threads=1),
    "kernel_times": lambda: engine.kernel_times(X, shares, X, shares, np.ones(n), whiteners=W, gamma=0.1, n_threads=1),
    "moments": lambda: [engine.moments(X, components, n_threads=1) for _ in range(10**6)],
}
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    calls[name]()
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.posix
@pytest.mark.parametrize(
    "name", ["kernel", *(pytest.param(name, marks=pytest.mark.slow) for name in ("kernel_times", "moments"))]
)
def test_control_c_ends_a_computation(name):
    """These would take minutes; the limit is far above the fraction of a second that it takes to stop them."""
    code = f"n, name = 40_000, {name!r}\n" + INTERRUPTED
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout == "interrupted\n"
