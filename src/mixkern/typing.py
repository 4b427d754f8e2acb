"""Types of arrays and parameters, in one place.

Shapes stand beside the names in signatures, with fixed letters: n rows, m other rows, d continuous columns,
e categorical columns, k components, c classes, q decision functions, s support vectors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Bounds", "Codes", "Floats", "Ints", "Objects", "Positions", "RandomState", "Step"]

Floats = NDArray[np.float64]
"""Numbers: encoded rows, kernel matrices, decision values."""

Ints = NDArray[np.intp]
"""Counts and class codes, -1 where a row is unlabelled."""

Positions = NDArray[np.intp]
"""Positions of rows or columns."""

Codes = NDArray[np.int32]
"""Category codes as the engine takes them, -1 for a gap."""

Bools = NDArray[np.bool_]
"""A mask."""

Objects = NDArray[np.object_]
"""Cells of a table, in their own types."""

RandomState = np.random.RandomState
"""A stream of random numbers that is the same with every NumPy version."""

Bounds = tuple[float, float] | str
"""Where scikit-learn's Gaussian processes may look for a hyperparameter: a pair, or ``"fixed"``."""

Step = Callable[[], Any]
"""Called after each step of long work."""
