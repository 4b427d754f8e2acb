"""Concatenate two tables with the same columns."""

from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding.frame import column_labels, opened
from mixkern.errors import ColumnMismatchError, TableError, hint
from mixkern.wording import listing, nearest


def stacked(X: Any, more: Any) -> Any:
    """Return a table with further rows below it; both are frames of one library, or both arrays.

    >>> stacked([[1, "a"]], [[2, "b"], [3, "c"]]).tolist()
    [[1, 'a'], [2, 'b'], [3, 'c']]
    """
    first = opened(X)
    try:
        second = opened(more)
    except TableError as error:
        raise error.prefixed("The further rows: ") from error
    labels, others = column_labels(first), column_labels(second)
    if (labels is None) != (others is None) or (labels is not None and type(first) is not type(second)):
        raise ColumnMismatchError(
            f"X is a {_kind(first)}, but the further rows are a {_kind(second)}. "
            "Give both as frames of the same library, or both as arrays."
        )
    if labels is None or others is None:
        return _stacked_arrays(first, second)
    _check_same(labels, others)
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
    is_object = object in (first.dtype, second.dtype)
    return np.vstack([first.astype(object), second.astype(object)] if is_object else [first, second])


def _check_same(labels: list[Any], others: list[Any]) -> None:
    if labels == others:
        return
    missing = [label for label in labels if label not in others]
    unknown = [label for label in others if label not in labels]
    if not missing and not unknown:
        raise ColumnMismatchError(
            "The further rows have the columns of X in another order.",
            hint=hint(python="Order them: more[X.columns]."),
        )
    facts = [f"{listing(missing)} missing"] * bool(missing) + [f"{listing(unknown)} not in X"] * bool(unknown)
    near = nearest(unknown[0], [str(label) for label in missing]) if unknown else ""
    raise ColumnMismatchError(f"The further rows must have the columns of X, but: {' and '.join(facts)}.{near}")
