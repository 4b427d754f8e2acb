"""Types of arrays and parameters.

Shapes are written with fixed letters: n rows, m other rows, d continuous columns,
e categorical columns, k components, c classes, q decision functions, s support vectors.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Bounds", "Codes", "Floats", "Ints", "Objects", "Positions", "RandomState"]

Floats = NDArray[np.float64]
"""Floats: encoded rows, kernel matrices, decision values."""

Ints = NDArray[np.intp]
"""Counts and class codes, -1 where a row is unlabelled."""

Positions = NDArray[np.intp]
"""Positions of rows or columns."""

Codes = NDArray[np.int32]
"""Category codes of the engine, -1 for a gap."""

Bools = NDArray[np.bool_]
"""A boolean mask."""

Objects = NDArray[np.object_]
"""Cells of a table, of any type."""

RandomState = np.random.RandomState
"""A random number generator whose numbers are the same with every NumPy version."""

Bounds = tuple[float, float] | str
"""Bounds of a hyperparameter for scikit-learn's Gaussian processes: a pair, or ``"fixed"``."""
