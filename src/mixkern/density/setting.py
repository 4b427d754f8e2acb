"""What the settings of a density may be; every error names the setting, the rule and the value."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixkern.errors import MixtureError
from mixkern.typing import Floats


def positive(value: Any, name: str, above: float = 0.0) -> float:
    """Give a number above another one."""
    if not isinstance(value, numbers.Real) or not above < float(value) < np.inf:
        raise MixtureError(f"{name} must be a number above {above:g}, but it is {value!r}.")
    return float(value)


def not_negative(value: Any, name: str) -> float:
    """Give a number, zero or more."""
    if not isinstance(value, numbers.Real) or not float(value) >= 0:
        raise MixtureError(f"{name} must be a number, 0 or more, but it is {value!r}.")
    return float(value)


def whole(value: Any, name: str, least: int) -> int:
    """Give a whole number from some number on."""
    if not isinstance(value, numbers.Integral) or int(value) < least:
        raise MixtureError(f"{name} must be a whole number, {least} or more, but it is {value!r}.")
    return int(value)


def centre(value: ArrayLike, name: str, d: int) -> Floats:
    """Give one finite number per column."""
    numbers_ = np.asarray(value, dtype=float)
    if numbers_.shape != (d,) or not np.isfinite(numbers_).all():
        raise MixtureError(f"{name} must be {d} finite numbers, one per continuous column, but it is {value!r}.")
    return numbers_


def is_positive_definite(matrix: Floats) -> bool:
    """Tell whether a number, a diagonal or a symmetric matrix is positive (definite)."""
    if not np.isfinite(matrix).all():
        return False
    if matrix.ndim < 2:
        return bool((matrix > 0).all())
    values = np.linalg.eigvalsh(matrix)
    is_definite = values.min(initial=np.inf) > np.finfo(float).eps * len(matrix) * values.max(initial=0.0)
    return bool(is_definite and np.allclose(matrix, matrix.T))
