"""What users call: ``RWMKernel(mixture)(X)`` against scikit-learn's RBF kernel, with made and with learned mixtures.

Responsibilities and the order of the rows are included, unlike in ``benchmarks.kernel``, which measures the engine.
"""

import warnings

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


def learned(names: list[str]) -> None:
    """Time mixtures learned from the paper's data sets; categories count as one more column of the RBF kernel each."""
    print("RWMKernel(mixture)(X) of learned mixtures: time as a share of rbf_kernel")
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MixkernWarning)
            encoder = TableEncoder()
            X = encoder.fit_transform(datasets.load(name).X)
        density = VBMixture(n_categorical=len(encoder.categorical_), random_state=0).fit(X)
        kernel, plain = RWMKernel(density.mixture_, 0.1), np.nan_to_num(X)
        what = f"{name}, {len(X):,} rows, k = {density.n_components_}, d = {X.shape[1]}"
        target = LARGE_TARGET if len(X) > LARGE else SMALL_TARGET
        line(what, ratio(lambda f=kernel, X=X: f(X), lambda X=plain: rbf_kernel(X), 15), target)


def run(*, tiny: bool = False) -> None:
    """Print every figure beside its target."""
    made(200 if tiny else 5_000)
    learned(["iris"] if tiny else datasets.names())
