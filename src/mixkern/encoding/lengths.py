"""The number of rows of a table, and checks of arguments that have one value for each row."""

from typing import Any

import numpy as np

from mixkern.encoding.frame import is_matrix_of_gpu, opened
from mixkern.errors import LabelError, LengthError, MixkernError, hint
from mixkern.gpu_array import on_host
from mixkern.partitions import Partitioned
from mixkern.typing import Floats
from mixkern.wording import counted

LARGEST_WEIGHT = 1e100  # products with C and with other weights are floats
_ALLOWED = "finite numbers that are not negative"


def n_rows_of(X: Any) -> int:
    """Return the number of rows of a table; raise an error if it is no table.

    >>> n_rows_of([[1, "a"], [2, "b"], [3, "c"]])
    3
    """
    return len(X) if isinstance(X, Partitioned) or is_matrix_of_gpu(X) else int(opened(X).shape[0])


def check_length(n_rows: int, n: int, name: str = "y", unit: str = "label") -> None:
    """Raise an error if an argument has not one value for each row of a table.

    >>> check_length(2, 3)
    Traceback (most recent call last):
    mixkern.errors.LengthError: X has 2 rows, but y has 3 labels. Give one label per row, None where there is none.
    """
    if n != n_rows:
        raise _wrong_length(n_rows, n, name, unit, ", None where there is none")


def _wrong_length(n_rows: int, n: int, name: str, unit: str, gap: str = "") -> LengthError:
    return LengthError(
        f"X has {counted(n_rows, 'row')}, but {name} has {counted(n, unit)}.",
        hint=hint(python=f"Give one {unit} per row{gap}."),
    )


def checked_weights(
    sample_weight: Any, n: int, error: type[MixkernError] = LabelError, largest: float = LARGEST_WEIGHT
) -> Floats | None:
    """Return the sample weights as an array of n numbers, or raise an error.

    Weights other than 0 must lie between ``1 / largest`` and ``largest``.

    >>> checked_weights(2.0, 3)
    array([2., 2., 2.])
    """
    if sample_weight is None:
        return None
    weights = _as_floats(on_host(sample_weight), error)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise error(f"Sample weights must be 1D array or scalar, one number per row, but have shape {weights.shape}.")
    if len(weights) != n:
        raise _wrong_length(n, len(weights), "sample_weight", "number")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(wrong):
        raise error(
            f"sample_weight must hold {_ALLOWED}, but it holds {float(weights[wrong[0]])} in {{row}}.",
            row=int(wrong[0]),
        )
    if not weights.any():
        raise error("All sample weights are zero: nothing is left to learn from.")
    extreme = np.flatnonzero((weights > largest) | ((weights < 1 / largest) & (weights > 0)))
    if len(extreme):
        raise error(
            f"sample_weight must hold numbers from {1 / largest:g} to {largest:g}, or 0, but it holds "
            f"{float(weights[extreme[0]])} in {{row}}. Multiply all weights by a number.",
            row=int(extreme[0]),
        )
    return weights


def _as_floats(sample_weight: Any, error: type[MixkernError]) -> Floats:
    """Return numbers as an array; neither texts nor dates nor complex numbers are converted."""
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind in "biufO":
            return given.astype(float)
    except (TypeError, ValueError, OverflowError):  # ragged, or objects that are no numbers
        pass
    raise error(
        f"sample_weight must hold {_ALLOWED}, but it is of type {type(sample_weight).__name__} and holds others.",
        hint=hint(python="Give one number per row."),
    )
