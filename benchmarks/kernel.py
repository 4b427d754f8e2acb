"""The engine against scikit-learn's RBF kernel, SciPy's cdist and the processor's own limit."""

import resource
import statistics
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from benchmarks.ratio import ratio, seconds
from mixkern import engine

Floats = NDArray[np.float64]

# (components, columns): target of the symmetric matrix of 5,000 rows, as a share of rbf_kernel's time
TARGETS = {(10, 2): 0.6, (10, 5): 0.6, (10, 18): 1.0, (30, 2): 1.2, (30, 5): 1.3, (30, 18): 2.5}
SEPARATED = 0.7  # k = 30, d = 18, responsibilities near one-hot
RECTANGULAR = 1.8  # 20,000 x 2,000 rows: times the target of the symmetric matrix
CDIST = 50
PREDICTION, MEGABYTES = 1.3, 500


class Rows:
    """Rows with a mixture: responsibilities that overlap everywhere, or one component for each row."""

    def __init__(self, n: int, k: int, d: int, is_separated: bool = False) -> None:
        random = np.random.RandomState(0)
        self.A = random.standard_normal((n, d))
        self.shares = random.dirichlet(np.ones(k), n)
        if is_separated:
            self.shares = np.full((n, k), 1e-18)
            self.shares[np.arange(n), random.randint(k, size=n)] = 1.0
        self.whiteners = np.tril(0.3 * random.standard_normal((k, d, d))) + np.eye(d)

    def kernel(self, n_others: int | None = None, n_threads: int | None = None) -> Floats:
        """Compute the kernel matrix of all rows with the first ones."""
        others = () if n_others is None else (self.A[:n_others], self.shares[:n_others])
        return engine.kernel(self.A, self.shares, *others, whiteners=self.whiteners, gamma=0.1, n_threads=n_threads)


def line(what: str, found: float, target: float) -> None:
    """Print one figure beside its target."""
    print(f"  {what:<58} {found:6.2f}   target {target:5.2f}   {'met' if found <= target else 'MISSED'}")


def share_of_peak(rows: Rows) -> float:
    """Give the share of the multiply-adds that a matrix product reaches, on one thread.

    A pair takes d multiply-adds, eight for the root and one for the weight in each component.
    """
    (n, d), k = rows.A.shape, rows.shares.shape[1]
    square = np.random.RandomState(0).standard_normal((1500, 1500))
    with threadpool_limits(1):
        product = min(seconds(lambda: square @ square) for _ in range(5))
        ours = min(seconds(lambda: rows.kernel(n_threads=1)) for _ in range(3))
    return (n * (n + 1) / 2 * k * (d + 9) / ours) / (1500**3 / product)


def symmetric_and_rectangular(n: int) -> None:
    """Time the matrix of n rows with themselves, and of 4 n rows with 0.4 n."""
    few, many = 2 * n // 5, 4 * n
    print(f"kernel, {n:,} rows with themselves and {many:,} x {few:,}: time as a share of rbf_kernel")
    for ((k, d), target), is_separated in [(item, False) for item in TARGETS.items()] + [(((30, 18), SEPARATED), True)]:
        square, tall = Rows(n, k, d, is_separated), Rows(many, k, d, is_separated)
        found = ratio(square.kernel, lambda r=square: rbf_kernel(r.A), 7)
        what = f"k = {k}, d = {d}{', well separated' if is_separated else ''}"
        peak = "" if is_separated else f", {share_of_peak(square):.0%} of the peak of multiply-add"
        line(what + peak, found, target)
        found = ratio(lambda r=tall: r.kernel(few), lambda r=tall: rbf_kernel(r.A, r.A[:few]), 3)
        line(what + ", rectangular", found, RECTANGULAR * target)


def by_cdist(rows: Rows) -> Floats:
    """Compute the same kernel matrix component by component."""
    D = np.zeros((len(rows.A), len(rows.A)))
    for k, W in enumerate(rows.whiteners):
        weight = 0.5 * (rows.shares[:, None, k] + rows.shares[None, :, k])
        D += weight * cdist(rows.A, rows.A, "mahalanobis", VI=W.T @ W)
    return np.exp(-0.1 * D**2)


def against_cdist(n: int) -> None:
    """Time SciPy's distances, summed in NumPy."""
    rows = Rows(n, 10, 5)
    faster = 1 / ratio(rows.kernel, lambda: by_cdist(rows), 3)
    verdict = "met" if faster >= CDIST else "MISSED"
    print(f"cdist per component, {n:,} rows, k = 10, d = 5: {faster:.0f} times slower   target {CDIST}   {verdict}")


def extra_megabytes(call: Callable[[], object]) -> float:
    """Give the growth of the largest memory of the process by a call, in MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def prediction(n: int) -> None:
    """Time the prediction of n rows from 500 others."""
    print(f"kernel_times, {n:,} x 500, k = 10, d = 10: time as a share of rbf_kernel in blocks of 10,000 rows")
    rows, V = Rows(n, 10, 10), np.ones(500)
    B, shares_B = rows.A[:500].copy(), rows.shares[:500].copy()

    def ours() -> object:
        return engine.kernel_times(rows.A, rows.shares, B, shares_B, V, whiteners=rows.whiteners, gamma=0.1)

    def peer() -> object:
        return [rbf_kernel(rows.A[i : i + 10_000], B) @ V for i in range(0, n, 10_000)]

    line("extra memory in hundreds of MB", extra_megabytes(ours) / 100, MEGABYTES / 100)
    line("time", statistics.median(seconds(ours) / seconds(peer) for _ in range(2)), PREDICTION)


def run(*, tiny: bool = False) -> None:
    """Print every figure beside its target. Memory first, because its largest value never falls."""
    prediction(1_000 if tiny else 1_000_000)
    symmetric_and_rectangular(100 if tiny else 5_000)
    against_cdist(100 if tiny else 2_000)
