"""Concatenate two tables with the same columns."""

from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding.frame import column_labels, opened
from mixkern.errors import ColumnMismatchError, TableError, hint
from mixkern.wording import listing, nearest

# Cells of an array by the kind of its type; an array of objects may hold any.
_CELLS = {**dict.fromkeys("biuf", "numbers"), "U": "texts", "M": "dates", "m": "durations"}


def stacked(X: Any, more: Any) -> Any:
    """Return one table with the rows of both; these are frames of the same library, or arrays.

    >>> stacked([[1, "a"]], [[2, "b"], [3, "c"]]).tolist()
    [[1, 'a'], [2, 'b'], [3, 'c']]
    """
    first = opened(X)
    try:
        second = opened(more)
    except TableError as error:
        raise error.prefixed("The further rows: ") from error
    names, more_names = column_labels(first), column_labels(second)  # None for arrays
    if (names is None) != (more_names is None) or (names is not None and type(first) is not type(second)):
        raise ColumnMismatchError(
            f"X is a {_kind(first)}, but the further rows are a {_kind(second)}. "
            "Give both as frames of the same library, or both as arrays."
        )
    if names is None or more_names is None:
        return _stacked_arrays(first, second)
    _check_names(names, more_names)
    try:
        return nw.concat([nw.from_native(first), nw.from_native(second)], how="vertical").to_native()
    except Exception as error:  # each library has its own error for a column of two types
        raise ColumnMismatchError(
            f"The further rows have columns of other types than X ({error}). Convert them to the types of X."
        ) from error


def _kind(table: Any) -> str:
    return f"{type(table).__name__} of {type(table).__module__.partition('.')[0]}"


def _stacked_arrays(first: Any, second: Any) -> Any:
    if first.shape[1] != second.shape[1]:
        raise ColumnMismatchError(
            f"X has {first.shape[1]} columns, but the further rows have {second.shape[1]}. They must have the same."
        )
    kinds = [_CELLS.get(table.dtype.kind) for table in (first, second)]
    if kinds[0] != kinds[1] and None not in kinds:
        raise ColumnMismatchError(
            f"X is an array of {kinds[0]}, but the further rows are an array of {kinds[1]}. Convert them to the type "
            "of X."
        )
    is_object = object in (first.dtype, second.dtype)
    return np.vstack([first.astype(object), second.astype(object)] if is_object else [first, second])


def _check_names(names: list[Any], more_names: list[Any]) -> None:
    if names == more_names:
        return
    missing = [name for name in names if name not in more_names]
    unknown = [name for name in more_names if name not in names]
    if not missing and not unknown:
        raise ColumnMismatchError(
            "The further rows have the columns of X in another order.",
            hint=hint(python="Order them: more[X.columns]."),
        )
    facts = [f"{listing(found)} {fact}" for found, fact in ((missing, "missing"), (unknown, "not in X")) if found]
    near = nearest(unknown[0], [str(name) for name in missing]) if unknown else ""
    raise ColumnMismatchError(f"The further rows must have the columns of X, but: {' and '.join(facts)}.{near}")
