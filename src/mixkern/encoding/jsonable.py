"""Cells, and what holds them, as JSON knows them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mixkern.encoding.gap import is_gap


def jsonable(value: Any) -> Any:
    """Give a value as JSON knows it: no arrays, no NaN, keys that are texts.

    >>> jsonable({1: np.float64("nan"), "a": (np.int64(3), np.array([True]))})
    {'1': None, 'a': [3, [True]]}
    """
    match value:
        case Mapping():
            return {str(key): jsonable(each) for key, each in value.items()}
        case list() | tuple() | np.ndarray():
            return [jsonable(each) for each in value]
        case np.generic():
            return jsonable(value.item())
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case _:
            return None if is_gap(value) else str(value)
