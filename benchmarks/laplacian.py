"""LaplacianKernel on four fifths of two tables: the matrices of a search, for one and for seventeen ratios."""

import numpy as np

from benchmarks.ratio import seconds
from mixkern import datasets
from mixkern.kernels import LaplacianKernel, RBFKernel
from mixkern.search.gram_cache import LaplacianGramCache
from mixkern.search.grid import KernelPoint

RATIOS = np.logspace(-8, 8, 17)
SIZES = 400, 2_000  # labelled rows, other rows
TINY_SIZES = 20, 50


def run(*, tiny: bool = False) -> None:
    """Print seconds, and their ratio to numpy.linalg.solve with as many rows."""
    n_labelled, n_others = TINY_SIZES if tiny else SIZES
    print(f"LaplacianKernel among {n_labelled} rows and {n_others:,} others: seconds (over numpy.linalg.solve)")
    for name in ("satimage", "phoneme"):
        X = _rows(name)[: 150 if tiny else None]
        parts = X[:n_labelled], X[n_labelled : n_labelled + n_others]
        system = RBFKernel(1.0)(X) + np.eye(len(X))
        peer = seconds(lambda system=system: np.linalg.solve(system, np.eye(len(system))))
        print(f"  {name}, {len(X):,} rows: numpy.linalg.solve {peer:.1f}", flush=True)
        for gamma in (1.0, 0.1):
            one = seconds(lambda X=X, parts=parts, gamma=gamma: _matrices(X, *parts, gamma, RATIOS[8:9]))
            print(f"    gamma {gamma}, one ratio {one:.1f} ({one / peer:.2f})   target 5.0", flush=True)
            all_ratios = seconds(lambda X=X, parts=parts, gamma=gamma: _matrices(X, *parts, gamma, RATIOS))
            print(f"    gamma {gamma}, {len(RATIOS)} ratios {all_ratios:.1f} ({all_ratios / peer:.2f})   target 30.0")


def _rows(name: str) -> np.ndarray:
    """Give four fifths of a table, each column with mean 0 and deviation 1."""
    X = datasets.load(name).X.to_numpy(dtype=float)
    X = X[np.random.RandomState(0).permutation(len(X))[: len(X) * 4 // 5]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _matrices(X: np.ndarray, labelled: np.ndarray, others: np.ndarray, gamma: float, ratios: np.ndarray) -> None:
    """Compute all matrices of a search, from scratch."""
    matrices = LaplacianGramCache(LaplacianKernel(RBFKernel(gamma), X), labelled, others)
    for _ in matrices.matrices([KernelPoint(gamma, ratio=float(ratio)) for ratio in ratios]):
        pass
