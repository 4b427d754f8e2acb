"""Distances and kernels of mixtures, compiled.

Four pure functions of NumPy arrays:

- ``distance``: distances of rows in the units of the components that are responsible for them
- ``kernel``: a Gaussian of these distances, with a count of differing categories
- ``kernel_times``: a kernel matrix times other columns, without storing the matrix
- ``count``: how many categories differ; always in NumPy, because it is computed once

Metrics are matrices, diagonals, of low rank plus a diagonal (:class:`LowRankWhiteners`) or of low rank
(:class:`ProjectedWhiteners`).

The first three run in C++ (``core/``), in the fastest build that the processor supports (AVX-512, AVX2 or SSE2 on
x86-64, NEON on aarch64), or in NumPy (``reference.py``) where the extension was not built. ``check.py`` checks the
arguments, ``plan.py`` decides what can be skipped.
"""

from mixkern.engine.dispatch import distance, kernel, kernel_times
from mixkern.engine.low_rank import LowRankWhiteners, Metric, ProjectedWhiteners, whitened, whitened_back
from mixkern.engine.reference import count

__all__ = [
    "LowRankWhiteners",
    "Metric",
    "ProjectedWhiteners",
    "count",
    "distance",
    "kernel",
    "kernel_times",
    "whitened",
    "whitened_back",
]
