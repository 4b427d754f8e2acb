"""The number of rows of a table, and checks of arguments that have one value for each row."""

from typing import Any

import numpy as np

from mixkern.encoding.frame import opened
from mixkern.errors import LabelError, LengthError, MixkernError, hint
from mixkern.typing import Floats
from mixkern.wording import counted


def n_rows_of(X: Any) -> int:
    """Return the number of rows of a table; raise an error if it is no table.

    >>> n_rows_of([[1, "a"], [2, "b"], [3, "c"]])
    3
    """
    return int(opened(X).shape[0])


def check_length(X: Any, n: int, name: str = "y", unit: str = "label") -> None:
    """Raise an error if an argument has not one value for each row of a table.

    >>> check_length([[1.0], [2.0]], 3)
    Traceback (most recent call last):
    mixkern.errors.LengthError: X has 2 rows, but y has 3 labels. Give one label per row, None where there is none.
    """
    n_rows = n_rows_of(X)
    if n != n_rows:
        raise _wrong_length(n_rows, n, name, unit, ", None where there is none")


def _wrong_length(n_rows: int, n: int, name: str, unit: str, gap: str = "") -> LengthError:
    return LengthError(
        f"X has {counted(n_rows, 'row')}, but {name} has {counted(n, unit)}.",
        hint=hint(python=f"Give one {unit} per row{gap}."),
    )


def checked_weights(sample_weight: Any, n: int, error: type[MixkernError] = LabelError) -> Floats | None:
    """Return the sample weights as an array of n numbers, or raise an error.

    >>> checked_weights(2.0, 3)
    array([2., 2., 2.])
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError, OverflowError) as cause:
        raise error(
            f"sample_weight must hold finite numbers that are not negative, but it is of type "
            f"{type(sample_weight).__name__} with other values ({cause})."
        ) from cause
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise error(f"Sample weights must be 1D array or scalar, one number per row, but have shape {weights.shape}.")
    if len(weights) != n:
        raise _wrong_length(n, len(weights), "sample_weight", "number")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        raise error(
            "sample_weight must hold finite numbers that are not negative, but it holds "
            f"{float(weights[wrong[0]])} in {{row}}.",
            row=int(wrong[0]),
        )
    if not weights.any():
        raise error("All sample weights are zero: nothing is left to learn from.")
    return weights
