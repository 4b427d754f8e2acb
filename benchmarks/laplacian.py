"""LaplacianKernel among 400 of 4,323 rows, against one numpy.linalg.solve of that size."""

import statistics

import numpy as np

from benchmarks.ratio import seconds
from mixkern import datasets
from mixkern.kernels import LaplacianKernel, RBFKernel

RATIOS = np.logspace(-8, 8, 17)


def run() -> None:
    """Print what one ratio costs, and what seventeen do."""
    X = datasets.load("phoneme").X.to_numpy()[:4323]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    system, identity = RBFKernel(0.5)(X) + np.eye(len(X)), np.eye(len(X))

    def kernel() -> LaplacianKernel:
        return LaplacianKernel(RBFKernel(0.5), X, ratio=1.0)

    def sweep() -> None:
        first = kernel()
        for ratio in RATIOS:
            first.with_ratio(ratio)(X[:400])

    peer = statistics.median(seconds(lambda: np.linalg.solve(system, identity)) for _ in range(3))
    one = statistics.median(seconds(lambda: kernel()(X[:400])) for _ in range(3))
    print("LaplacianKernel, 4,323 rows: time over that of one numpy.linalg.solve")
    print(f"  one ratio {one / peer:.2f}   target 2.00", flush=True)
    print(f"  seventeen ratios {seconds(sweep) / peer:.2f}   target 8.00", flush=True)
