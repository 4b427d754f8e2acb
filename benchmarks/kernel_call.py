"""What users call: ``RWMKernel(mixture)(X)`` against scikit-learn's RBF kernel, with made and with learned mixtures.

Responsibilities and the order of the rows are included, unlike in ``benchmarks.kernel``, which measures the engine.
"""

import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.kernel import line
from benchmarks.ratio import ratio
from mixkern import Mixture, RWMKernel, TableEncoder, VBMixture, datasets
from mixkern.errors import MixkernWarning

# (components, columns): share of rbf_kernel's time for 5,000 rows
TARGETS = {(10, 2): 0.5, (10, 5): 0.5, (10, 18): 0.8, (30, 2): 0.8, (30, 5): 0.9, (30, 18): 1.2}
APART, OVERLAPPING = 2.0, 0.3  # standard deviation of the means in each column, in units of the components'
LARGE, LARGE_TARGET, SMALL_TARGET = 500, 1.0, 1.5  # rows of a data set, and the shares above and below
SINGLE_TIME, SINGLE_MEMORY = 0.6, 0.55  # float32: shares of float64


def made_mixture(k: int, d: int, apart: float) -> Mixture:
    """Make a mixture of well-conditioned components whose means are drawn around the origin."""
    random = np.random.RandomState(0)
    shapes = np.eye(d) + 0.3 * np.tril(random.standard_normal((k, d, d)), -1) / np.sqrt(d)
    return Mixture(np.full(k, 1 / k), apart * random.standard_normal((k, d)), shapes @ np.swapaxes(shapes, 1, 2))


def made(n: int) -> None:
    """Time made mixtures; where components overlap in all columns, none can be skipped."""
    print(f"RWMKernel(mixture)(X), {n:,} rows drawn from the mixture: time as a share of rbf_kernel")
    for (k, d), target in TARGETS.items():
        line(f"k = {k}, d = {d}", _share(made_mixture(k, d, APART), n), target)
    k, d = list(TARGETS)[-1]
    found = _share(made_mixture(k, d, OVERLAPPING), n)
    print(f"  k = {k}, d = {d}, all components overlap: {found:.2f}", flush=True)


def _share(mixture: Mixture, n: int) -> float:
    X, _ = mixture.sample(n, random_state=0)
    kernel = RWMKernel(mixture, 0.1)
    return ratio(lambda: kernel(X), lambda: rbf_kernel(X), 7)


def single(n: int) -> None:
    """Time and memory of kernels in float32, beside float64 in the same run."""
    print(f"RWMKernel(mixture)(X, dtype=float32), {n:,} rows: time and memory as shares of float64, largest error")
    for k, d in TARGETS:
        mixture = made_mixture(k, d, APART)
        X, _ = mixture.sample(n, random_state=0)
        _single(f"k = {k}, d = {d}", RWMKernel(mixture, 0.1), X)
    k, d = list(TARGETS)[-1]
    mixture = made_mixture(k, d, OVERLAPPING)
    _single(f"k = {k}, d = {d}, all components overlap", RWMKernel(mixture, 0.1), mixture.sample(n, random_state=0)[0])


def _single(what: str, kernel: RWMKernel, X: np.ndarray) -> None:
    K, K32 = kernel(X), kernel(X, dtype=np.float32)
    error = max(float(np.abs(K[i] - K32[i]).max()) for i in range(len(K)))
    del K, K32
    memory = _peak(lambda: kernel(X, dtype=np.float32)) / _peak(lambda: kernel(X))
    line(f"{what}, time", ratio(lambda: kernel(X, dtype=np.float32), lambda: kernel(X), 7), SINGLE_TIME)
    line(f"{what}, memory (error {error:.1g})", memory, SINGLE_MEMORY)


def _peak(call: Callable[[], object]) -> int:
    """Give the largest memory of arrays during a call, in bytes."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def learned(names: list[str]) -> None:
    """Time mixtures learned from the paper's data sets; categories count as one more column of the RBF kernel each."""
    print("RWMKernel(mixture) of learned mixtures, (X) and (X, Y) with a fifth of the rows: share of rbf_kernel's time")
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixkernWarning)
            encoder = TableEncoder()
            X = encoder.fit_transform(datasets.load(name).X)
        density = VBMixture(n_categorical=len(encoder.categorical_), random_state=0).fit(X)
        kernel, plain = RWMKernel(density.mixture_, 0.1), np.nan_to_num(X)
        what = f"{name}, {len(X):,} rows, k = {density.n_components_}, d = {X.shape[1]}"
        target, few = LARGE_TARGET if len(X) > LARGE else SMALL_TARGET, len(X) // 5
        line(what, ratio(lambda f=kernel, X=X: f(X), lambda X=plain: rbf_kernel(X), 15), target)
        tall = ratio(lambda f=kernel, X=X, Y=X[:few]: f(X, Y), lambda X=plain, Y=plain[:few]: rbf_kernel(X, Y), 15)
        half = ratio(lambda f=kernel, X=X: f(X, dtype=np.float32), lambda f=kernel, X=X: f(X), 15)
        print(f"    (X, Y): {tall:.2f}; float32 against float64: {half:.2f}", flush=True)


def run(*, tiny: bool = False) -> None:
    """Print every figure beside its target."""
    made(200 if tiny else 5_000)
    single(200 if tiny else 5_000)
    learned(["iris"] if tiny else datasets.names())
