"""LaplacianKernel on four fifths of two tables: one setting and seventeen ratios, as a search asks for them."""

import numpy as np

from benchmarks.ratio import seconds
from mixkern import datasets
from mixkern.kernels import LaplacianKernel, RBFKernel
from mixkern.search.gram_cache import LaplacianGramCache, LaplacianKernels
from mixkern.search.grid import KernelPoint

RATIOS = np.logspace(-8, 8, 17)
N_LABELLED, N_OTHERS = 400, 2_000


def run() -> None:
    """Print seconds, and times of one numpy.linalg.solve of as many rows."""
    print(f"LaplacianKernel among {N_LABELLED} rows and {N_OTHERS:,} others: seconds (over numpy.linalg.solve)")
    for name in ("satimage", "phoneme"):
        X = _rows(name)
        system = RBFKernel(1.0)(X) + np.eye(len(X))
        peer = seconds(lambda system=system: np.linalg.solve(system, np.eye(len(system))))
        print(f"  {name}, {len(X):,} rows: numpy.linalg.solve {peer:.1f}", flush=True)
        for gamma in (1.0, 0.1):
            one = seconds(lambda X=X, gamma=gamma: _walk(X, gamma, RATIOS[8:9]))
            print(f"    gamma {gamma}, one ratio {one:.1f} ({one / peer:.2f})   target 5.0", flush=True)
            all_ratios = seconds(lambda X=X, gamma=gamma: _walk(X, gamma, RATIOS))
            print(f"    gamma {gamma}, {len(RATIOS)} ratios {all_ratios:.1f} ({all_ratios / peer:.2f})   target 30.0")


def _rows(name: str) -> np.ndarray:
    """Give four fifths of a table, each column with mean 0 and deviation 1."""
    X = datasets.load(name).X.to_numpy(dtype=float)
    X = X[np.random.RandomState(0).permutation(len(X))[: len(X) * 4 // 5]]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _walk(X: np.ndarray, gamma: float, ratios: np.ndarray) -> None:
    """Compute all matrices of a search, from scratch."""
    others = X[N_LABELLED : N_LABELLED + N_OTHERS]
    matrices = LaplacianGramCache(LaplacianKernels(LaplacianKernel(RBFKernel(gamma), X)), X[:N_LABELLED], others)
    for ratio in ratios:
        matrices.among(KernelPoint(gamma, ratio=float(ratio)))
        matrices.towards(KernelPoint(gamma, ratio=float(ratio)))


if __name__ == "__main__":
    run()
