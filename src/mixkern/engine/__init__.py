"""Distances and kernels of mixtures, compiled.

Four verbs, pure functions of NumPy arrays:

- ``distance``: how far rows are apart, in the units of the components that are responsible for them
- ``kernel``: the same under a Gaussian, with a count of differing categories
- ``kernel_times``: a kernel matrix times other columns, without the matrix
- ``count``: how many categories differ; NumPy is fast enough for what is computed once

The first three run in C++ (``core/``), in the fastest of three builds that the processor has, or in NumPy
(``reference.py``) where the extension was not built. ``check.py`` refuses what is not meant, ``plan.py`` decides what
can be skipped.
"""

from mixkern.engine.reference import count
from mixkern.engine.verbs import distance, kernel, kernel_times

__all__ = ["count", "distance", "kernel", "kernel_times"]
