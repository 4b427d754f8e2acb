"""Encoded rows as cells in the units of the table."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.encoding import ContinuousColumn, TableEncoder

DIGITS = 12  # of a number that was encoded and decoded again: a few less than a float has
MOST_DECIMALS = 300  # more would leave the range of a float


def column_names(model: Any) -> list[str]:
    """Name the columns of encoded rows: as the table does, or x0, x1, ..."""
    if model.encoder_ is not None:
        return [str(name) for name in model.encoder_.get_feature_names_out()]
    given = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if given is None else [str(name) for name in given]


def in_units(encoder: TableEncoder | None, rows: NDArray[np.float64]) -> NDArray[np.object_]:  # (n, d + e)
    """Decode rows to cells of the table, None for a gap.

    >>> encoder = TableEncoder(continuous="x0").fit([[0.1, "a"], [0.2, None]])
    >>> in_units(encoder, encoder.transform([[0.1, None], [0.3, "a"]])).tolist()
    [[0.1, None], [0.3, 'a']]
    """
    cells = np.empty(rows.shape, dtype=object)
    if encoder is None:
        cells[:] = rows
    else:
        frame = encoder.inverse_transform(rows)
        columns = {column.name: column for column in encoder.columns_}
        for j, name in enumerate(encoder.get_feature_names_out()):
            cells[:, j] = _cells(columns[name], frame[name])
    cells[np.isnan(rows)] = None
    return cells


def _cells(column: Any, cells: Any) -> Any:
    """Convert to Python's own types, without rounding errors of encoding and decoding."""
    if not isinstance(column, ContinuousColumn) or cells.dtype.kind != "f":
        return list(cells)
    size = max(abs(column.origin), column.deviation)
    decimals = DIGITS - 1 - math.floor(math.log10(size))
    return np.round(cells.to_numpy(), min(decimals, MOST_DECIMALS)).tolist()
