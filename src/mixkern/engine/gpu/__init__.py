"""The engine's functions for arrays on a GPU, in CUDA C++ that is compiled when first used.

Arrays are CuPy's. Other modules import from here only after :func:`mixkern.device.on_gpu` or
:func:`mixkern.gpu_array.is_gpu_array` returned True, so that CuPy is imported only where it is used.
"""

from mixkern.engine.gpu.density import moments, row_densities
from mixkern.engine.gpu.pairs import distance, kernel, kernel_times

__all__ = ["distance", "kernel", "kernel_times", "moments", "row_densities"]
