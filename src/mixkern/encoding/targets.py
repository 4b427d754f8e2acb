"""Encode the targets of a regression as numbers."""

import numbers
from typing import Any

import numpy as np

from mixkern.encoding.cell import is_gap, number
from mixkern.errors import LabelTypeError, NoLabelsError
from mixkern.gpu_array import on_host
from mixkern.partitions import PartitionedLabels
from mixkern.typing import Floats
from mixkern.wording import counted

LARGEST_TARGET = 1e150  # its square is still a number


def encode_targets(y: Any, *, min_targets: int = 1) -> Floats:  # (n,)
    """Return the targets of a regression as floats, NaN where a row has none.

    A target is missing if it is ``None``, NaN or ``pandas.NA``. -1 is a target like any other number.

    >>> encode_targets([1.5, None, -1])
    array([ 1.5,  nan, -1. ])
    """
    y = on_host(y)
    if isinstance(y, PartitionedLabels):
        return y.read(lambda some: (None, encode_targets(some, min_targets=min_targets)), np.nan)[1]
    array = np.asanyarray(y) if isinstance(getattr(y, "dtype", None), np.dtype) else np.asarray(y, dtype=object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise LabelTypeError(f"y must be one column of numbers, but it has shape {array.shape}.")
    if array.dtype.kind in "mM":  # in nanoseconds, tolist() would turn them into integers
        raise LabelTypeError(f"y must hold numbers, None or NaN where there is none, but it holds {array.dtype}.")
    cells = array.tolist()
    there = [cell for cell in cells if not is_gap(cell)]
    wrong = next((cell for cell in there if not isinstance(cell, numbers.Real)), None)
    if wrong is not None:
        more = " Complex data not supported." if isinstance(wrong, complex) else ""
        raise LabelTypeError(f"y must hold numbers, None or NaN where there is none, but it holds {wrong!r}.{more}")
    if len(there) < min_targets:
        raise NoLabelsError(f"None of the {counted(len(cells), 'row')} has a target. Give at least one.")
    targets = np.array([np.nan if is_gap(cell) else number(cell) for cell in cells])
    if np.isinf(targets).any():
        raise LabelTypeError("Input y contains infinity. Give numbers, or NaN where a row has no target.")
    if (np.abs(targets) > LARGEST_TARGET).any():
        raise LabelTypeError(
            f"y holds numbers beyond {LARGEST_TARGET:g}, whose squares are too large. Express y in a larger unit."
        )
    return targets
