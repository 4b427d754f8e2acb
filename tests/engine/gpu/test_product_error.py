"""The bound of the error that products add to kernel values, and the choice of products or differences, emulated."""

from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from mixkern import VBMixture, engine
from mixkern.engine import reference

from ..mixtures import case, separated, whiteners  # noqa: TID252
from . import emulation

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "gpu.py"
LAST_DIGIT = 2.0**-24  # of kernel values in float32
KINDS = ["random", "near", "equal", "far", "grid"]


@pytest.fixture
def pairs(monkeypatch):
    """The module of pairs of rows, with its kernels emulated, and the bounds that it has computed."""
    with emulation.installed(monkeypatch) as module:
        bound, module.bounds = module.product_error, []
        module.product_error = lambda *given: module.bounds.append(bound(*given)) or module.bounds[-1]
        yield module


@pytest.fixture
def ways(pairs):
    """Kernels that compare rows, by name, which are not computed."""
    found, compute = [], pairs.function

    def function(name, kernel, **how):
        if kernel in ("centres_of_rows", "halves_of_rows"):
            return compute(name, kernel, **how)
        return emulation.Launch(lambda *_: found.append(kernel), how, how.get("shared_memory", 0))

    pairs.function = function
    return found


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def products(request, monkeypatch):
    """The module of pairs of rows, emulated and on a GPU, where differences are an error."""

    def differences(*_):
        raise AssertionError("Rows are compared by differences.")

    if request.param == "emulated":
        with emulation.installed(monkeypatch) as module:
            monkeypatch.setattr(module, "_by_differences", differences)
            yield module
        return
    module = real_pairs()
    monkeypatch.setattr(module, "_by_differences", differences)
    yield module


def real_pairs():
    """Import the module of pairs of rows for a GPU that has products."""
    cp = pytest.importorskip("cupy")
    if int(cp.cuda.Device().compute_capability) < 90:
        pytest.skip("products need compute capability 9")
    return import_module("mixkern.engine.gpu.pairs")


@pytest.fixture(scope="module")
def benchmark():
    """The benchmark of a GPU, as a module."""
    spec = spec_from_file_location("benchmark_gpu", BENCHMARK)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def placed(pairs, arrays, dtype="float32"):
    return [each if each is None else pairs.cp.asarray(each, dtype=dtype) for each in arrays]


def by_products(pairs, arrays, **how):
    pairs.PRODUCT_ERROR = np.inf
    return pairs.kernel(*placed(pairs, arrays), **how).get().astype(float)


def by_differences(pairs, arrays, **how):
    pairs.PRODUCT_ERROR = -1.0
    return pairs.kernel(*placed(pairs, arrays), **how).get().astype(float)


def sq_norms(pairs, arrays, **how):
    """Largest squared norms of both sides, added, weighted by responsibilities alone."""
    found = []
    pairs.metric_ratios = lambda metric: np.full(len(metric), 0.5)
    pairs.product_error = lambda _d, _gamma, norms, _ratio: found.append(norms) or np.inf
    by_differences(pairs, arrays, **how)
    return found[0]


# ------------------------------------------------------------------------------------------------ emulation


@pytest.mark.parametrize("size", [(1, 1), (7, 131), (131, 70)], ids=str)
@pytest.mark.parametrize(("k", "d"), [(1, 1), (3, 2), (10, 5), (4, 18), (2, 37), (3, 65)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.slow
def test_the_emulation_gives_the_reference(pairs, k, d, size, dtype):
    found, random = case(1, *size, k, d), np.random.RandomState(2)
    metric, codes = found.whiteners / np.sqrt(d), [random.randint(-2, 3, (n, 2)) for n in size]
    given = placed(pairs, found.both, dtype)
    exact = [each.get().astype(float) for each in given]
    error = {"float32": 3e-6, "float64": 1e-12}[dtype]
    D = pairs.distance(*given, whiteners=metric).get()
    np.testing.assert_allclose(D, reference.distance(*exact, whiteners=metric), atol=error)
    how = {"whiteners": metric, "gamma": 0.02, "beta": 0.5, "codes_A": codes[0], "codes_B": codes[1]}
    for most in (np.inf, -1.0):
        pairs.PRODUCT_ERROR = most
        np.testing.assert_allclose(pairs.kernel(*given, **how).get(), reference.kernel(*exact, **how), atol=error)
    V = random.standard_normal((size[1], 3))
    how = {"whiteners": metric, "gamma": 0.02}
    product = pairs.kernel_times(*given, pairs.cp.asarray(V, dtype=dtype), **how).get()
    np.testing.assert_allclose(product, reference.kernel(*exact, **how) @ V, atol=error * np.abs(V).sum())


def test_a_matrix_among_rows_has_ones_on_its_diagonal(pairs):
    found = case(3, 131, 1, 3, 4)
    K = by_products(pairs, found.one, whiteners=found.whiteners, gamma=0.01)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K.diagonal(), 1)


# ------------------------------------------------------------------------------------------------ bound


def mixture(random):
    """Draw rows, responsibilities and metrics of all sorts: alike or very different, round or narrow."""
    k, d, n = random.choice([1, 2, 3, 5, 10]), random.choice([1, 2, 3, 5, 8, 10, 13, 18, 40]), random.choice([17, 40])
    condition = random.choice([1.2, 3, 30, 1000])
    metric = whiteners(random, k, d, is_diagonal=random.rand() < 0.3, condition=condition)
    sizes = np.exp(random.choice([0, 0.3, 1, 3]) * random.standard_normal(k) - random.choice([0, 4]) * random.rand())
    metric *= sizes.reshape(k, *(1,) * (metric.ndim - 1)) / np.sqrt(condition)
    kind, A = random.choice(KINDS), random.standard_normal((n, d))
    if kind == "grid":  # digits whose low halves are as large as they can be
        A = np.round(8 * A) / 8 * (1 + 2.0**-11 * (1 - 2.0**-9))
    near = A + 10.0 ** random.uniform(-6, -1) * random.standard_normal((n, d))
    B = {"random": random.standard_normal((n, d)), "near": near, "far": 3 * A}.get(kind, A)
    logits = random.choice([0.3, 2, 30]) * random.standard_normal((2, n, k))
    shares = np.exp(logits - logits.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    return (A, shares[0], B, shares[random.randint(2)]), metric


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_errors_stay_below_their_bound(pairs, seed):
    random, accepted = np.random.RandomState(seed), []
    for _ in range(8):
        arrays, metric = mixture(random)
        for gamma in 10.0 ** random.uniform(-4, 1, 2):
            how = {"whiteners": metric, "gamma": float(gamma)}
            expected = by_differences(pairs, arrays, **how)
            if not pairs.bounds[-1] < 1:  # it says nothing about kernel values
                continue
            error = np.abs(by_products(pairs, arrays, **how) - expected).max()
            assert error <= pairs.bounds[-1] + LAST_DIGIT
            accepted.append(error if pairs.bounds[-1] <= 4e-5 else 0.0)
    assert max(accepted) <= 1e-5


def test_metrics_that_differ_raise_the_error(pairs):
    """Rows of a wide component beside rows of a narrow one: 2^-22 of the squared norms is far too small a bound."""
    random = np.random.RandomState(2)
    wide, narrow = 0.5 * random.standard_normal((60, 2)), [3, 0] + random.standard_normal((60, 2)) / 40
    A, B = np.vstack([wide, narrow]), np.vstack([wide, narrow + 3e-4 * random.standard_normal((60, 2))])
    arrays = A, np.eye(2)[[0] * 120], B, np.eye(2)[[0] * 60 + [1] * 60]
    how = {"whiteners": np.stack([np.eye(2), 40 * np.eye(2)]), "gamma": 0.3}
    error = np.abs(by_products(pairs, arrays, **how) - by_differences(pairs, arrays, **how)).max()
    assert error <= pairs.bounds[-1]
    assert error > 3 * 2.0**-22 * how["gamma"] * sq_norms(pairs, arrays, **how)


def test_small_coordinates_raise_the_bound(pairs):
    """Whitened rows so small that halves lose digits, and a gamma so large that they count."""
    A = 1e-3 * np.random.RandomState(0).standard_normal((40, 3))
    how = {"whiteners": np.eye(3)[None], "gamma": 1e5}
    arrays = A, np.ones((40, 1)), A + 1e-5, np.ones((40, 1))
    error = np.abs(by_products(pairs, arrays, **how) - by_differences(pairs, arrays, **how)).max()
    assert 1e-4 < error <= pairs.bounds[-1]


@pytest.mark.parametrize("is_diagonal", [False, True])
def test_ratios_of_metrics(pairs, is_diagonal):
    metric = whiteners(np.random.RandomState(0), 5, 6, is_diagonal=is_diagonal)
    full = metric[:, :, None] * np.eye(6) if is_diagonal else metric
    norms = np.linalg.norm(full @ np.linalg.inv(full)[:, None], 2, axis=(2, 3)).max(axis=1)  # of k, over j
    found = pairs.metric_ratios(metric)
    assert (found >= norms * (1 - 1e-12)).all()
    assert (found <= np.sqrt(6) * norms).all()
    np.testing.assert_allclose(pairs.metric_ratios(np.stack([full[0]] * 3 if is_diagonal else [np.eye(6)] * 3)), 1)
    np.testing.assert_array_equal(pairs.metric_ratios(metric[:1]), 0.5)
    metric[2] = 0
    np.testing.assert_array_equal(pairs.metric_ratios(metric)[2], np.inf)


@pytest.mark.parametrize("near", [0.0, 1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize(("k", "d"), [(1, 3), (5, 2), (10, 5), (4, 18), (3, 40)])
def test_near_duplicates(products, k, d, near):
    found, random = case(4, 150, 150, k, d), np.random.RandomState(5)
    metric = whiteners(random, k, d, condition=1.5)
    arrays = [found.A, found.shares_A, found.A + near * found.B, found.shares_B]
    given = placed(products, arrays)
    how = {"whiteners": metric, "gamma": 0.4 / d}
    error = products.kernel(*given, **how).get() - reference.kernel(
        *(each.get().astype(float) for each in given), **how
    )
    assert np.abs(error).max() <= 4e-6


@pytest.mark.gpu
@pytest.mark.parametrize("d", [1, 2, 5, 10, 18, 40])
def test_tensor_cores_are_emulated(monkeypatch, d):
    """Errors of near-duplicates that are large beside those of all other arithmetic are the same on a GPU."""
    real, found = real_pairs(), case(6, 200, 200, 2, d)
    metric = whiteners(np.random.RandomState(7), 2, d, condition=1.5)
    arrays, how = (
        [found.A, found.shares_A, found.A + 1e-4 * found.B, found.shares_B],
        {"whiteners": metric, "gamma": 5.0},
    )
    with emulation.installed(monkeypatch) as emulated:
        expected = by_products(emulated, arrays, **how)
        error = np.abs(expected - by_differences(emulated, arrays, **how)).max()
    monkeypatch.setattr(real, "PRODUCT_ERROR", np.inf)
    found = real.kernel(*placed(real, arrays), **how).get()
    assert np.abs(found - expected).max() <= 0.1 * error + 1e-6


# ------------------------------------------------------------------------------------------------ choice


PRODUCTS, DIFFERENCES = ["pairs_by_products"], ["whitened_rows", "whitened_rows", "pairs_by_differences"]


def chosen(pairs, ways, arrays, **how):
    ways.clear()
    pairs.kernel(*placed(pairs, arrays), **how, out=pairs.cp.empty((1, 1), dtype=np.float32))
    return list(ways)


@pytest.mark.parametrize("n", [3000, pytest.param(30_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", [(10, 2), (10, 5), (10, 18), (30, 18)], ids=str)
def test_kernels_of_the_benchmark_are_products(pairs, ways, benchmark, shape, n):
    assert shape in benchmark.SHAPES
    rows, shares, metric = benchmark._mixture_rows(n, *shape)
    others, other_shares, _ = benchmark._mixture_rows(n, *shape, seed=1)
    for arrays in ((rows, shares, others, other_shares), (rows, shares)):
        assert chosen(pairs, ways, arrays, whiteners=metric, gamma=benchmark.GAMMA) == PRODUCTS


def test_the_learned_mixture_of_the_benchmark_takes_products(pairs, ways, benchmark):
    random = np.random.default_rng(0)  # centres and spreads as in _groups_on_gpu
    centres, spreads = random.normal(scale=4, size=(8, 10)), random.uniform(0.5, 2, size=(8, 10))
    X = np.repeat(centres, 2500, axis=0) + np.repeat(spreads, 2500, axis=0) * random.standard_normal((20_000, 10))
    found = VBMixture(8, random_state=0).fit(X).mixture_
    for n in (100, 1000, 10_000):
        rows = X[np.random.default_rng(0).integers(len(X), size=n)]
        arrays = rows, found.responsibilities(rows)
        assert chosen(pairs, ways, arrays, whiteners=found.whiteners, gamma=benchmark.GAMMA) == PRODUCTS


def test_predictions_of_the_benchmark_are_products(pairs, ways, benchmark, monkeypatch):
    model, calls, times = benchmark._classifier(5000), [], engine.kernel_times

    def recorded(*given, **how):
        calls.append((given, how))
        return times(*given, **how)

    monkeypatch.setattr(engine, "kernel_times", recorded)
    model.decision_function(np.random.default_rng(1).standard_normal((20_000, 10)))
    assert len(model.support_) == pytest.approx(538, abs=10)  # as in benchmarks/results/h200.txt
    assert len(calls) == 2
    for (*arrays, _), how in calls:
        kept = {name: how[name] for name in ("whiteners", "gamma", "alpha", "beta")}
        assert chosen(pairs, ways, arrays, **kept) == PRODUCTS


@pytest.mark.parametrize(("between", "expected"), [(0.0, PRODUCTS), (2.0, DIFFERENCES)])
def test_metrics_that_differ_much_take_differences(pairs, ways, between, expected):
    random, found = np.random.RandomState(0), separated(0, 60, 5, 4)
    sizes = np.exp(between * random.standard_normal(5))[:, None, None]
    metric = whiteners(random, 5, 4, condition=1.5) * sizes
    assert chosen(pairs, ways, found.both, whiteners=metric, gamma=0.05) == expected


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_rows_beyond_the_range_of_halves_take_differences(pairs, ways, gamma):
    """Their bound is infinite, or not a number where gamma is zero."""
    rows = np.array([[0.0, 0.0], [1e6, 0.0]])
    assert chosen(pairs, ways, (rows, np.ones((2, 1))), whiteners=np.eye(2)[None], gamma=gamma) == DIFFERENCES[1:]


def test_singular_metrics_take_differences(pairs, ways):
    metric = np.stack([np.eye(3), np.diag([1.0, 1.0, 0.0])])
    arrays = np.ones((4, 3)), np.full((4, 2), 0.5)
    assert chosen(pairs, ways, arrays, whiteners=metric, gamma=0.1) == DIFFERENCES[1:]
    assert chosen(pairs, ways, arrays, whiteners=pairs.cp.asarray(metric), gamma=0.1) == DIFFERENCES[1:]
