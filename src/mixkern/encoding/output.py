"""Make frames of the library that a table came from.

Estimators, explanations and advice return frames: a frame in gives a frame of its library out, an array or a list gives
a pandas frame. So polars is enough for those who use polars.
"""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding.cell import is_gap, text
from mixkern.encoding.frame import PANDAS
from mixkern.imports import optional


def make_frame(
    columns: Mapping[str, Any], kind: str, *, index: Any = None, index_name: str | None = None, purpose: str
) -> Any:
    """Make a frame of columns.

    Parameters
    ----------
    columns : dict
        Arrays or lists by name; a masked array holds whole numbers or labels of which some are missing.
    kind : str
        Library of the frame, as :func:`frame_kind` returns it.
    index : sequence, default=None
        Index of a pandas frame.
    index_name : str, default=None
        Name of the index; in frames without an index, that of its column, the first. Without a name, only pandas
        frames have it.
    purpose : str
        What the frame is for, for the error where pandas is needed and missing.

    Examples
    --------
    >>> make_frame({"size": np.ma.array([3, 0], mask=[False, True])}, "pandas", index=["a", "b"], purpose="this")
       size
    a     3
    b  <NA>
    """
    if kind == PANDAS:
        return _pandas_frame(columns, index, index_name, purpose)
    named = {} if index_name is None else {index_name: index}
    cells = {name: _plain(values) for name, values in {**named, **columns}.items()}
    return nw.from_dict(cells, backend=kind).to_native()  # type: ignore[arg-type]


def _pandas_frame(columns: Mapping[str, Any], index: Any, index_name: str | None, purpose: str) -> Any:
    pandas = optional("pandas", purpose=purpose)
    if index_name is not None:
        index = pandas.Index(index, name=index_name)
    given = {name: _pandas_column(pandas, values, index) for name, values in columns.items()}
    try:
        return pandas.DataFrame(given, index=index)
    except UnicodeEncodeError:  # texts with lone surrogates, which the text type of pandas cannot hold
        return pandas.DataFrame(given, index=index, dtype=object)


def _pandas_column(pandas: Any, values: Any, index: Any) -> Any:
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if values.dtype.kind == "O":  # otherwise pandas would make texts of labels, and NaN of None
        return pandas.Series(values.tolist(), index=index, dtype=object)
    return pandas.array(values.tolist(), dtype="Int64")


def _plain(values: Any) -> Any:
    """Return a column as an array of numbers or dates, or as a list of cells of one type, ``None`` for gaps."""
    if not isinstance(values, np.ma.MaskedArray):
        values = np.asarray(values) if hasattr(values, "dtype") else values
        if isinstance(values, np.ndarray) and values.dtype.kind in "biumM":
            return values
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and not np.isnan(values).any():
            return values
    cells = values.tolist() if hasattr(values, "tolist") else list(values)
    if set(map(type, cells)) == {str}:
        return cells
    cells = [None if is_gap(cell) else cell for cell in cells]
    types = {type(cell) for cell in cells if cell is not None}
    if types <= {int, float} and len(types) == 2:
        return [cell if cell is None else float(cell) for cell in cells]
    if len(types) > 1 or types == {dict}:  # such columns hold one type
        return [_text(cell) for cell in cells]
    return cells


def _text(cell: Any) -> str | None:
    if isinstance(cell, dict):
        return ", ".join(f"{key}: {value}" for key, value in cell.items())
    return text(cell)
