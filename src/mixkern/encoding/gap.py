"""What counts as a missing cell or a missing label."""

import decimal

import numpy as np


def is_gap(value: object) -> bool:
    """Tell whether a cell holds nothing: ``None``, NaN, NaT or ``pandas.NA``.

    >>> [is_gap(value) for value in (None, float("nan"), 0, "", "nan")]
    [True, True, False, False, False]
    """
    if isinstance(value, str):  # most cells that are asked about
        return False
    # The two of pandas are known by name, so that pandas need not be installed; NA refuses to be compared.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()  # a signalling NaN refuses to be compared
    return isinstance(value, (float, complex, np.generic)) and bool(value != value)
