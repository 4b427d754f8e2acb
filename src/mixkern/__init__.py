"""Kernels from mixture densities: learn a table's structure from all its rows, classify it from a handful of labels."""

from importlib.metadata import version

from mixkern import datasets
from mixkern.table import TableEncoder

__version__ = version("mixkern")
__all__ = ["TableEncoder", "__version__", "datasets"]
