"""Open Dask collections as tables in partitions, and check the arguments beside them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mixkern.distributed.table import DaskTable
from mixkern.errors import LabelTypeError, LengthError, NotATableError, OptionError, UnknownColumnError, hint
from mixkern.imports import optional
from mixkern.partitions import PartitionedLabels, is_collection
from mixkern.wording import nearest, shown

_IN_MEMORY = "X is a Dask collection, and"


def opened_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a ``fit`` whose table is a Dask collection: a table in partitions, and its labels.

    Parameters
    ----------
    given : mapping
        The arguments by name; that of the estimator is ``self``.
    """
    X, y, more = given["X"], given.get("y"), given.get("X_unlabelled")
    if not is_collection(X):
        raise NotATableError(
            "X is a table in memory, but another argument is a Dask collection.",
            hint=hint(python="Compute it first: y.compute()."),
        )
    if given.get("sample_weight") is not None:
        raise OptionError(
            f"{_IN_MEMORY} sample_weight is for tables in memory.",
            hint=hint(python="Leave it out, or fit on rows in memory: X.compute()."),
        )
    if getattr(given.get("self"), "warm_start", False):
        raise OptionError(f"{_IN_MEMORY} warm_start is for tables in memory.", hint=hint(python="Leave it out."))
    table = table_of(X, y, more)
    opened: dict[str, Any] = {"X": table}
    if y is not None:
        opened["y"] = PartitionedLabels(table) if table.has_labels else y
    if more is not None:
        opened["X_unlabelled"] = None  # it is the end of the table
    return opened


def table_of(X: Any, y: Any = None, X_unlabelled: Any = None) -> DaskTable:
    """Return a Dask DataFrame or Array as a table in partitions.

    Parameters
    ----------
    X : Dask DataFrame or Array
        The table.
    y : Dask Series or Array, str or None
        Its labels, in the same partitions, or the name of the column that holds them. Labels in memory are not a part
        of the table.
    X_unlabelled : Dask DataFrame or Array
        Further rows.
    """
    head = head_of(X)
    target = y if isinstance(y, str) else None
    if target is not None:
        head = _without(head, target)
    parts = partitions_of(X)
    label_parts, label_head = None, None if target is None else head_of(X)[target]
    if is_collection(y):
        label_parts, label_head = label_partitions(y, len(parts))
    if X_unlabelled is not None:
        if head_of(X_unlabelled).shape != head_of(X).shape:
            raise NotATableError("X_unlabelled must be a Dask collection with the columns of X.")
        parts = [*parts, *partitions_of(X_unlabelled)]
    return DaskTable(parts, head, label_parts, target, label_head)


def _without(head: Any, target: str) -> Any:
    """Return the columns of a table without that of the labels."""
    if isinstance(head, np.ndarray) or target not in head.columns:
        names = [] if isinstance(head, np.ndarray) else [str(name) for name in head.columns]
        raise UnknownColumnError(f"X has no column {target!r}, which y names.{nearest(target, names)}")
    return head.drop(columns=[target])


def head_of(X: Any) -> Any:
    """Return the columns of a collection, without rows, from their types."""
    dtypes = getattr(X, "dtypes", None)
    if dtypes is not None and getattr(X, "ndim", 0) == 2 and not hasattr(X, "chunks"):
        pandas = optional("pandas", purpose="A Dask DataFrame")
        return pandas.DataFrame({name: pandas.Series(dtype=kind) for name, kind in dtypes.items()})
    if getattr(X, "ndim", None) == 2 and hasattr(X, "chunks"):
        return np.empty((0, X.shape[1]), dtype=X.dtype)
    raise NotATableError(
        f"X must be a Dask DataFrame or a Dask Array with two dimensions, but it is {shown(X)}.",
        hint=hint(python="A Dask Bag has the method to_dataframe."),
    )


def partitions_of(X: Any) -> list[Any]:
    """Return the partitions of a collection as Delayed objects; those of an array have all columns."""
    if not hasattr(X, "chunks"):
        return list(X.to_delayed())
    whole = X if X.ndim == 1 or len(X.chunks[1]) == 1 else X.rechunk({1: -1})
    return list(whole.to_delayed().ravel())


def label_partitions(y: Any, n_parts: int, name: str = "y") -> tuple[list[Any], Any]:
    """Return the partitions of labels or of another column beside a table, and a column of their type."""
    if getattr(y, "ndim", 1) != 1:
        raise LabelTypeError(
            f"{name} must be one column, but it is a collection with several.",
            hint=hint(python="Give a column, ddf['label'], or its name."),
        )
    if str(y.dtype) == "category" and not y.cat.known:
        y = y.astype(object)  # each partition has categories of its own
    parts = partitions_of(y)
    if len(parts) != n_parts:
        raise LengthError(
            f"X has {n_parts} partitions, but {name} has {len(parts)}.",
            hint=hint(python="Give a column of the same collection."),
        )
    if hasattr(y, "chunks"):
        return parts, np.empty(0, dtype=y.dtype)
    return parts, optional("pandas", purpose="Labels in partitions").Series(dtype=y.dtype, name=y.name)
