"""VBMixture against scikit-learn's BayesianGaussianMixture: same priors, 30 components at first, full covariances."""

import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture

from benchmarks.ratio import seconds
from mixkern import VBMixture
from mixkern.density.block import InnerRows
from mixkern.density.covariance import FullPrecision
from mixkern.density.expectation import expectation
from mixkern.density.inference import learn
from mixkern.density.posterior import Posterior, Prior
from mixkern.density.settings import policy_of
from mixkern.threads import ThreadPool

K = 30  # components at first
ROOT = Path(__file__).parents[1]


def rows(n: int, d: int, k: int = 8, seed: int = 0) -> np.ndarray:
    """Draw z-scored rows from k Gaussians of random shape."""
    random = np.random.RandomState(seed)
    means = 3 * random.standard_normal((k, d))
    shapes = random.standard_normal((k, d, d)) / np.sqrt(d)
    component = random.randint(k, size=n)
    X = means[component]
    for j in range(k):
        X[component == j] += random.standard_normal((np.sum(component == j), d)) @ shapes[j].T
    return (X - X.mean(axis=0)) / X.std(axis=0)


def peer(d: int, max_iter: int) -> BayesianGaussianMixture:
    """Make scikit-learn's estimator with our priors."""
    return BayesianGaussianMixture(
        n_components=K,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=1 / K,
        mean_precision_prior=1.0,
        degrees_of_freedom_prior=d,
        covariance_prior=d * np.eye(d),
        reg_covar=0,
        max_iter=max_iter,
        random_state=0,
    )


def ours(d: int) -> VBMixture:
    """Make our estimator: W0 is the inverse of scikit-learn's covariance_prior."""
    return VBMixture(K, precision_prior=1 / d, random_state=0)


def bound_of(model: BayesianGaussianMixture, X: np.ndarray) -> float:
    """Compute the evidence bound of scikit-learn's posterior like ours, with all constants."""
    d = X.shape[1]
    precision = FullPrecision()
    prior = Prior(precision, 1 / K, X.mean(axis=0), 1.0, float(d), d * np.eye(d), 1.0)
    posterior = Posterior(
        precision,
        model.weight_concentration_,
        model.means_,
        model.mean_precision_,
        model.degrees_of_freedom_,
        model.covariances_ * model.degrees_of_freedom_[:, None, None],
        (),
    )
    table = InnerRows(X, np.empty((len(X), 0)), None, ()).blocks()
    with ThreadPool(1) as pool:
        found = expectation(table, posterior, pool)
    return found.log_normaliser - posterior.divergence(prior)


def compare(n: int, d: int, max_iter: int | None = None, n_iter: int = 0) -> int:
    """Print times and bounds of both; with ``max_iter``, the peer's time is extrapolated to ``n_iter``."""
    X = rows(n, d)
    mine, theirs = ours(d), peer(d, max_iter or 1000)
    mine.fit(X[:1000])  # the first use of threads and libraries is not counted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = seconds(lambda: peer(d, 1).fit(X)) if max_iter else 0.0
        # Ours takes milliseconds, which other load doubles at times: the shortest of several for both, alternating.
        repeats = 9 if n <= 5_000 else 1
        times = [(seconds(lambda: mine.fit(X)), seconds(lambda: theirs.fit(X))) for _ in range(repeats)]
        t_ours, t_theirs = (min(each) for each in zip(*times, strict=True))
    note = f"{theirs.n_iter_} iterations"
    if max_iter:
        t_theirs = start + (t_theirs - start) / (max_iter - 1) * (n_iter - 1)
        note = f"{n_iter} iterations, extrapolated from {max_iter}"
    took = f"{t_ours:.4f} s against {t_theirs:.1f} s, {note}"
    bounds = f"bound per row {mine.lower_bound_ / n:.4f} against {bound_of(theirs, X) / n:.4f}"
    print(f"  {n:>7} x {d:>2}: {t_theirs / t_ours:6.0f} times faster ({took}); {bounds}", flush=True)
    return int(theirs.n_iter_)


def iteration_cost(n: int, d: int) -> None:
    """Print the time of one E-step, relative to the two matrix products that expanded squares would need."""
    X = rows(n, d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = VBMixture(K, precision_prior=1 / d, prune=False, merge=False, max_iter=2, random_state=0).fit(X)
    posterior = fitted._ascent.posterior  # noqa: SLF001
    table = InnerRows(X, np.empty((n, 0)), None, ()).blocks()
    p = d * (d + 3) // 2 + 1
    theta, phi = np.ones((K, p)), np.ones((p, n))
    with ThreadPool(2) as pool:
        step = min(seconds(lambda: expectation(table, posterior, pool)) for _ in range(5))
    product = min(seconds(lambda: (theta @ phi) @ phi.T) for _ in range(5))
    print(f"  {n:>7} x {d:>2}: {step / product:.1f} times two dgemm by expansion ({1e3 * step:.1f} ms)", flush=True)


def factor_rows(n: int, d: int, k: int = 5, q: int = 8) -> np.ndarray:
    """Draw rows from k components with q factors each."""
    random = np.random.RandomState(0)
    parts = []
    for _ in range(k):
        factors = random.standard_normal((n // k, q)) @ random.standard_normal((q, d))
        parts.append(factors + 0.5 * random.standard_normal((n // k, d)) + 2 * random.standard_normal(d))
    return np.vstack(parts)


def factor_cost(n: int, d: int, k: int = 5) -> None:
    """Print the time of one iteration with factors, relative to one with full covariances of as many components."""
    X, each = factor_rows(n, d, k), {}
    for kind in ("full", "factor"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            density = VBMixture(k, covariance_type=kind, prune=False, merge=False, tol=0.0, max_iter=15, random_state=0)
            density.fit(X)
        ascent, policy = density._ascent, policy_of(density)  # noqa: SLF001
        coordinates = density._coordinates  # noqa: SLF001
        inner = InnerRows(coordinates.inner(X), np.empty((n, 0)), None, ())
        q = ascent.posterior.n_factors
        table = inner.gap_blocks(k, q) if kind == "factor" else inner.blocks()
        with ThreadPool(2) as pool:

            def step(table=table, ascent=ascent, policy=policy, pool=pool) -> None:
                _, posterior, _ = learn(ascent.prior, ascent.statistics, policy)
                expectation(table, posterior, pool)

            each[kind] = min(seconds(step) for _ in range(10))
    ratio = each["full"] / each["factor"]
    print(f"  {n:>7} x {d:>2}, {k} components: {ratio:.1f} times faster ({1e3 * each['factor']:.1f} ms)", flush=True)


def gap_cost(n: int, d: int, share: float = 0.3) -> None:
    """Print the time of a fit with gaps, relative to one of the complete rows."""
    X = rows(n, d, 7)
    holes = np.where(np.random.RandomState(0).uniform(size=X.shape) < share, np.nan, X)
    (whole, t_whole), (gaps, t_gaps) = (_fitted(each) for each in (X, holes))
    steps = f"{gaps.n_iter_} steps against {whole.n_iter_}"
    figures = f"{t_gaps / t_whole:.1f} times the time ({t_gaps:.2f} s against {t_whole:.2f} s, {steps})"
    print(f"  {n} x {d}, {share:.0%} gaps: {figures}", flush=True)


def _fitted(X: np.ndarray) -> tuple[VBMixture, float]:
    density = VBMixture(random_state=0)
    took = min(seconds(lambda: density.fit(X)) for _ in range(3))
    return density, took


def wide(n: int, d: int) -> None:
    """Fit factors to n rows of d columns, and print time and memory of this process."""
    X = factor_rows(n, d, 4)
    density = VBMixture(covariance_type="factor", random_state=0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = seconds(lambda: density.fit(X))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = f"{took:.1f} s, {after / 1024:.0f} MB at most, {(after - before) / 1024:.0f} of them for the fit"
    print(f"  {n} x {d}: {figures}, {density.n_components_} components", flush=True)


def stream(n: int, d: int = 10) -> None:
    """Fit n rows in blocks, and print time and memory of this process."""
    size = n // 20
    density = VBMixture(K, random_state=0)
    block = rows(size, d)
    random = np.random.RandomState(1)

    def fit() -> None:
        for _ in range(n // size):  # every block has another order and other noise
            density.partial_fit(block[random.permutation(size)] + 0.01 * random.standard_normal(block.shape))

    took = seconds(fit)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {n} x {d} by partial_fit: {took:.1f} s, {gigabytes:.2f} GB at most, {density.n_components_} components")


def run(*, tiny: bool = False) -> None:
    """Print every figure."""
    n = 500 if tiny else 50_000
    print("VBMixture.fit, start included: BayesianGaussianMixture's time over ours")
    n_iter = {(m, d): compare(m, d) for m, d in ((n // 10, 5), (n // 10, 20), (n, 5), (n, 20))}
    compare(10 * n, 5, max_iter=4, n_iter=n_iter[n, 5])  # as many as on a tenth of the rows
    print("One iteration, all components kept")
    for d in (5, 20):
        iteration_cost(n, d)
    print("A fit with gaps")
    gap_cost(n // 20, 18)
    print("One iteration with factors: the time with full covariances over it")
    factor_cost(n // 10, 64)
    print("Factors of a wide table", flush=True)
    code = f"from benchmarks.density import wide; wide({n // 100}, {n // 25})"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)  # noqa: S603
    print("Blocks", flush=True)
    # In a process of its own, for the memory
    code = f"from benchmarks.density import stream; stream({20 * n})"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)  # noqa: S603
