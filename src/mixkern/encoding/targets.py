"""``y`` as numbers to follow, most of them missing: what a regressor learns from."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.encoding.gap import is_gap
from mixkern.errors import LabelTypeError, NoLabelsError
from mixkern.wording import counted


def encode_targets(y: Any) -> NDArray[np.float64]:  # (n,)
    """Give targets as floats, NaN where a row has none.

    Missing are ``None``, NaN and ``pandas.NA``. -1 is a number like any other here.

    >>> encode_targets([1.5, None, -1])
    array([ 1.5,  nan, -1. ])
    """
    array = np.asarray(y, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise LabelTypeError(f"y must be one column of numbers, but it has shape {array.shape}.")
    cells = array.tolist()
    there = [cell for cell in cells if not is_gap(cell)]
    strange = next((cell for cell in there if not isinstance(cell, numbers.Real)), None)
    if strange is not None:
        more = " Complex data not supported." if isinstance(strange, complex) else ""
        raise LabelTypeError(f"y must hold numbers, None or NaN where there is none, but it holds {strange!r}.{more}")
    if not there:
        raise NoLabelsError(f"None of the {counted(len(cells), 'row')} has a target. Give at least one.")
    targets = np.array([np.nan if is_gap(cell) else float(cell) for cell in cells])
    if np.isinf(targets).any():
        raise LabelTypeError("Input y contains infinity. Give numbers, or NaN where a row has no target.")
    return targets
