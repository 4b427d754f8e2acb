"""A GPU: kernels beside torch, a density and predictions of many rows, and from which sizes on it pays.

Needs an NVIDIA GPU, CuPy and, for the peers, PyTorch. Times are medians after a first call, which compiles.
"""

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import mixkern
from mixkern import Mixture, MixtureSVC, VBMixture, device, engine
from mixkern.density import Rows
from mixkern.engine import reference
from mixkern.kernels import RWMKernel, base

SHAPES = ((10, 2), (10, 5), (10, 18), (30, 18))  # k, d
N_PAIRS, TINY_N_PAIRS = 30_000, 300
N_COUNTED = 16_384  # rows of the kernels whose instructions are counted
N_ROWS, TINY_N_ROWS = 100_000_000, 3_000
N_COLUMNS = 10
N_SUPPORT = 500
N_CHECKED = 200  # rows that are compared with the reference
GAMMA = 0.05


def run(*, tiny: bool = False) -> None:
    """Run all parts; say why not where there is no GPU."""
    reason = device.missing_gpu()
    if reason is not None:
        print(f"GPU: left out. {reason[0]}.")
        return
    _machine()
    _kernels(TINY_N_PAIRS if tiny else N_PAIRS)
    _density(TINY_N_ROWS if tiny else N_ROWS)
    _prediction(TINY_N_ROWS if tiny else N_ROWS)
    _crossover(tiny=tiny)


def _cupy() -> Any:
    import cupy

    return cupy


def _machine() -> None:
    cp = _cupy()
    facts = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    clock = cp.cuda.Device().attributes["ClockRate"] / 1e6
    n = facts["multiProcessorCount"]
    print(f"{facts['name'].decode()}, {n} multiprocessors, {clock:.2f} GHz, CuPy {cp.__version__}")


def _seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Time work on the GPU, after a first call that compiles."""
    synchronize = _cupy().cuda.Device().synchronize
    work()
    synchronize()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        synchronize()
        times.append(perf_counter() - start)
    return median(times)


# ------------------------------------------------------------------------------------------------ kernels


def _mixture_rows(n: int, k: int, d: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Draw rows, responsibilities and whiteners, in float32 and float64."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, d)).astype(np.float32)
    logits = 2 * random.normal(size=(n, k))
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = (shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)
    whiteners = np.tril(random.normal(size=(k, d, d)), -1) / (2 * d) + np.eye(d)
    return rows, shares, whiteners


def _kernels(n: int) -> None:
    """Kernels beside torch's RBF, and torch.cdist for each component."""
    cp = _cupy()
    print(f"Kernels of {n:,} x {n:,} rows, float32, gamma {GAMMA}; entries/s")
    for k, d in SHAPES:
        rows, shares, whiteners = _mixture_rows(n, k, d)
        others, other_shares, _ = _mixture_rows(n, k, d, seed=1)
        a, b = (cp.asarray(rows), cp.asarray(shares)), (cp.asarray(others), cp.asarray(other_shares))
        how = {"whiteners": whiteners, "gamma": GAMMA}
        out = cp.empty((n, n), dtype=cp.float32)

        def both(a: Any = a, b: Any = b, how: Any = how, out: Any = out) -> Any:
            return engine.kernel(*a, *b, **how, out=out)

        def one(a: Any = a, how: Any = how, out: Any = out) -> Any:
            return engine.kernel(*a, **how, out=out)

        at = np.random.default_rng(2).integers(n, size=N_CHECKED)
        rate, error = n * n / _seconds(both), _error(out, at, (rows, shares), (others, other_shares), how)
        own_rate, own_error = n * n / _seconds(one), _error(out, at, (rows, shares), (rows, shares), how)
        own = f"kernel(X) {own_rate:.3g} (error {own_error:.1e})"
        print(f"  k {k:2}, d {d:2}: kernel(X, Y) {rate:.3g} (error {error:.1e}), {own}", flush=True)
        del out
        _whole_calls(n, k, d)
        _peers(rows, others, shares, other_shares, whiteners, (rate, own_rate))
        gc.collect()


def _mixture(k: int, d: int) -> Mixture:
    """Return a mixture with metrics like those of the other kernels, and components that overlap."""
    inverses = np.linalg.inv(_mixture_rows(1, k, d)[2])
    means = np.random.default_rng(3).normal(size=(k, d)) / np.sqrt(d)
    return Mixture(np.full(k, 1 / k), means, inverses @ np.swapaxes(inverses, 1, 2), "full")


def _whole_calls(n: int, k: int, d: int) -> None:
    """Kernels as users call them: responsibilities are computed, and the result is a new array."""
    mixture = _mixture(k, d)
    kernel = RWMKernel(mixture, GAMMA)
    X, Y = (_cupy().asarray(mixture.sample(n, seed)[0], dtype=np.float32) for seed in (0, 1))
    both, one = n * n / _seconds(lambda: kernel(X, Y), 20), n * n / _seconds(lambda: kernel(X), 20)
    print(f"         with responsibilities: kernel(X, Y) {both:.3g}, kernel(X) {one:.3g}", flush=True)


def count() -> None:
    """Compute each kernel by products, and each distance by differences, for a profiler that counts instructions."""
    for k, d in SHAPES:
        mixture = _mixture(k, d)
        X, Y = (_cupy().asarray(mixture.sample(N_COUNTED, seed)[0], dtype=np.float32) for seed in (0, 1))
        RWMKernel(mixture, GAMMA)(X, Y)
        RWMKernel(mixture, GAMMA).distance(X, Y)


def _error(out: Any, at: Any, a: tuple[Any, Any], b: tuple[Any, Any], how: dict[str, Any]) -> float:
    """Return the largest error of some rows of a kernel matrix, against the reference."""
    sides = [each.astype(float) for each in (a[0][at], a[1][at], *b)]
    return float(np.abs(out[_cupy().asarray(at)].get() - reference.kernel(*sides, **how)).max())


def _peers(rows: Any, others: Any, shares: Any, other_shares: Any, whiteners: Any, rates: tuple[float, float]) -> None:
    try:
        import torch
    except ImportError:
        print("         torch is not installed")
        return
    n = len(rows)
    x, y = (torch.as_tensor(each, device="cuda") for each in (rows, others))
    p, q = (torch.as_tensor(each, device="cuda") for each in (shares, other_shares))
    W = torch.as_tensor(whiteners, dtype=torch.float32, device="cuda")

    def rbf() -> Any:
        return torch.exp(-GAMMA * torch.cdist(x, x) ** 2)

    def by_components() -> Any:
        total = torch.zeros((n, n), device="cuda")
        for i in range(len(W)):
            total += 0.5 * (p[:, i, None] + q[None, :, i]) * torch.cdist(x @ W[i].T, y @ W[i].T)
        return torch.exp(-GAMMA * total**2)

    plain, slow = n * n / _seconds(rbf), n * n / _seconds(by_components, 2)
    times = f"kernel(X, Y) {rates[0] / plain:.2f} times, kernel(X) {rates[1] / plain:.2f} times as fast"
    print(f"         torch RBF {plain:.3g}: {times}")
    print(f"         torch.cdist by components {slow:.3g}: kernel(X, Y) {rates[0] / slow:.1f} times as fast")
    gc.collect()
    torch.cuda.empty_cache()


# ------------------------------------------------------------------------------------------------ many rows


def _groups_on_gpu(n: int, seed: int = 0) -> Any:  # (n, d) float32
    """Draw rows of eight groups on the GPU."""
    cp = _cupy()
    random = np.random.default_rng(seed)
    centres, spreads = random.normal(scale=4, size=(8, N_COLUMNS)), random.uniform(0.5, 2, size=(8, N_COLUMNS))
    generator = cp.random.default_rng(seed)
    X = generator.standard_normal((n, N_COLUMNS), dtype=cp.float32)
    step = -(-n // 8)
    for i in range(8):
        X[i * step : (i + 1) * step] *= cp.asarray(spreads[i], dtype=cp.float32)
        X[i * step : (i + 1) * step] += cp.asarray(centres[i], dtype=cp.float32)
    return X


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    _cupy().cuda.Device().synchronize()
    return perf_counter() - start


def _density(n: int) -> None:
    """Density of rows on the card; of a tenth of them, and of a sample, learned by the CPU and by the GPU."""
    cp = _cupy()
    X = _groups_on_gpu(n)
    VBMixture(random_state=0).fit(X[:: max(1, n // 200_000)])  # compiles
    cp.cuda.Device().synchronize()
    density = VBMixture(random_state=0)
    time = _timed(lambda: density.fit(X))
    sample = X[:: max(1, n // 100_000)].get().astype(float)
    by_cpu, by_gpu = (VBMixture(random_state=0).fit(rows) for rows in (sample, cp.asarray(sample)))
    print(f"Density of {n:,} x {N_COLUMNS} rows on the card, float32")
    print(f"  {time:.2f} s, {density.n_components_} components, {density.n_iter_} iterations on all rows")
    print(f"  bound per row {density.lower_bound_ / n:.5f}; mean log density of a sample {density.score(sample):.5f}")
    part = X[::10].get()
    by_host = _timed(lambda: VBMixture(random_state=0).fit(part))
    with mixkern.config(device="cuda"):
        from_host = _timed(lambda: VBMixture(random_state=0).fit(part))
    print(f"  {len(part):,} rows of the host: GPU {from_host:.2f} s; CPU, {_threads()} threads, {by_host:.2f} s")
    print(f"  learned from the sample alone, {len(sample):,} rows: bound per row; mean log density of the sample")
    for name, own in (("CPU", by_cpu), ("GPU", by_gpu)):
        print(f"  {name} {own.lower_bound_ / len(sample):.5f}; {own.score(sample):.5f}")


def _classifier(n_rows: int) -> MixtureSVC:
    """Fit a classifier with about as many support vectors as are to be measured."""
    random = np.random.default_rng(0)
    centres = random.normal(size=(6, N_COLUMNS))
    group = random.integers(6, size=n_rows)
    X = (centres[group] + random.normal(size=(n_rows, N_COLUMNS))).astype(np.float32)
    y = np.where(random.random(n_rows) < 0.3, 1 - group % 2, group % 2)  # noise makes support vectors
    labels = np.where(np.arange(n_rows) < N_SUPPORT * 1.2, y, -1)
    return MixtureSVC("blend", unlabelled="ignore", probability=False, random_state=0).fit(X, labels)


def _prediction(n: int) -> None:
    """Predict rows of the host."""
    model = _classifier(min(n, 5_000))
    X = np.random.default_rng(1).standard_normal((n, N_COLUMNS), dtype=np.float32)
    some = X[:10_000]
    expected = model.decision_function(some)
    print(f"Prediction of {n:,} x {N_COLUMNS} rows of the host, float32, {len(model.support_)} support vectors")
    with mixkern.config(device="cuda"):
        model.predict(X[: 2**21])  # compiles, and pins memory
        time = _timed(lambda: model.predict(X))
        error = np.abs(model.decision_function(X[: 2**20 + 1])[: len(some)] - expected).max()
    n_cpu = min(n, 1_000_000)
    cpu = _timed(lambda: model.predict(X[:n_cpu])) * n / n_cpu
    print(f"  {time:.2f} s; decision values are off by {error:.1e} at most")
    print(f"  CPU, {_threads()} threads: {cpu:.0f} s, scaled from {n_cpu:,} rows")


def _threads() -> int:
    from mixkern.threads import available_threads

    return available_threads()


# ------------------------------------------------------------------------------------------------ crossover


def _crossover(*, tiny: bool) -> None:
    """Compare CPU and GPU from host memory, by size; limits on sizes are lifted for it."""
    from mixkern.density import reading
    from mixkern.density import rows as density_rows

    limits = (base, "GPU_WORK"), (density_rows, "GPU_WORK"), (reading, "GPU_ROWS")
    before = [getattr(module, name) for module, name in limits]
    for module, name in limits:
        setattr(module, name, 0)
    try:
        print(f"From host memory, CPU ({_threads()} threads) and GPU, in seconds, without limits on sizes")
        _compare("kernel(X), RWM, k = 8", (100, 300) if tiny else (100, 300, 1000, 3000, 10_000), _kernel_work)
        sizes = (300,) if tiny else (1000, 10_000, 100_000, 1_000_000)
        _compare("Mixture.responsibilities, k = 8", sizes, _responsibilities_work)
        _compare("VBMixture.fit", (2000,) if tiny else (20_000, 100_000, 300_000, 1_000_000), _fit_work)
        model = _classifier(1_000 if tiny else 5_000)

        def predict_work(n: int) -> Callable[[], object]:
            X = np.random.default_rng(1).standard_normal((n, N_COLUMNS), dtype=np.float32)
            return lambda: model.predict(X)

        _compare("MixtureSVC.predict", (100,) if tiny else (100, 1000, 10_000, 100_000, 1_000_000), predict_work)
    finally:
        for (module, name), value in zip(limits, before, strict=True):
            setattr(module, name, value)


def _compare(title: str, sizes: tuple[int, ...], work_of: Callable[[int], Callable[[], object]]) -> None:
    print(f"  {title}")
    for n in sizes:
        work = work_of(n)
        cpu = _seconds(work, 1)
        with mixkern.config(device="cuda"):
            gpu = _seconds(work, 2)
        print(f"    {n:>9,} rows: {cpu:8.4f}  {gpu:8.4f}  {cpu / gpu:6.2f} times", flush=True)


def _learned(n: int) -> tuple[Mixture, Any]:
    """Return a mixture, and rows of the host."""
    X = _groups_on_gpu(20_000).get().astype(float)
    return VBMixture(8, random_state=0).fit(X).mixture_, X[np.random.default_rng(0).integers(len(X), size=n)]


def _kernel_work(n: int) -> Callable[[], object]:
    mixture, X = _learned(n)
    kernel = RWMKernel(mixture, GAMMA)
    return lambda: kernel(X, dtype=np.float32)


def _responsibilities_work(n: int) -> Callable[[], object]:
    mixture, X = _learned(n)
    return lambda: Rows(X, mixture).responsibilities


def _fit_work(n: int) -> Callable[[], object]:
    X = _groups_on_gpu(n).get().astype(float)
    return lambda: VBMixture(random_state=0).fit(X)
