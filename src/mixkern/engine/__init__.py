"""Distances and kernels of mixtures, compiled.

Pure functions of NumPy arrays, or of arrays of CuPy or PyTorch on a GPU (``gpu/``), whose results are of the same kind:

- ``distance``: distances of rows in the units of the components that are responsible for them
- ``kernel``: a Gaussian of these distances, with a count of differing categories
- ``kernel_times``: a kernel matrix times other columns, without storing the matrix
- ``count``: how many categories differ; always in NumPy, because it is computed once
- ``row_densities``: log densities and responsibilities of rows under Gaussian components, and filled gaps
- ``moments``: the sums over rows that an M-step needs

Metrics are matrices, diagonals, of low rank plus a diagonal (:class:`LowRankWhiteners`) or of low rank
(:class:`ProjectedWhiteners`).

All but ``count`` run in C++ (``core/``), in the fastest build that the processor supports (AVX-512, AVX2 or SSE2 on
x86-64, NEON on aarch64), or in NumPy (``reference.py``) where the extension was not built. ``check.py`` checks the
arguments, ``plan.py`` decides what can be skipped.
"""

from mixkern.engine.density import Components, Moments, RowDensities, moments, row_densities
from mixkern.engine.dispatch import distance, kernel, kernel_times
from mixkern.engine.low_rank import LowRankWhiteners, Metric, ProjectedWhiteners, whitened, whitened_back
from mixkern.engine.reference import count

__all__ = [
    "Components",
    "LowRankWhiteners",
    "Metric",
    "Moments",
    "ProjectedWhiteners",
    "RowDensities",
    "count",
    "distance",
    "kernel",
    "kernel_times",
    "moments",
    "row_densities",
    "whitened",
    "whitened_back",
]
