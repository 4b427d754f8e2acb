"""Encoded rows on their way back: the right columns in the right order, whatever they come in."""

from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding.frame import check_names, column_labels, floats
from mixkern.errors import ColumnMismatchError, hint
from mixkern.typing import Floats
from mixkern.wording import listing


def encoded_rows(X: Any, names: list[str]) -> tuple[Floats, Any]:
    """Give encoded rows as an array, and the index that they had in pandas, ``None`` elsewhere.

    The names of a frame are checked, and its columns put into the order of ``names``. A frame whose columns are
    merely numbered, as ``pandas.DataFrame(array)`` makes it, is read as the array that it holds.
    """
    X = nw.to_native(X, pass_through=True)
    labels = column_labels(X)
    if labels is None:
        return _right_width(np.asarray(X, dtype=float), names), None
    check_names(labels)
    series = nw.from_native(X, eager_only=True).iter_columns()
    encoded = {str(one.name): floats(one) for one in series}
    rows = np.empty((X.shape[0], len(encoded)))
    order = list(encoded) if labels == list(range(len(labels))) else _in_order(list(encoded), names)
    for i, name in enumerate(order):
        rows[:, i] = encoded[name]
    return _right_width(rows, names), X.index if nw.dependencies.is_pandas_dataframe(X) else None


def _right_width(rows: Floats, names: list[str]) -> Floats:
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ColumnMismatchError(f"Expected encoded rows of {len(names)} columns, but X has shape {rows.shape}.")
    return rows


def _in_order(came: list[str], names: list[str]) -> list[str]:
    """Give the expected names if the same came in whichever order."""
    missing = [name for name in names if name not in came]
    strange = [name for name in came if name not in names]
    if missing or strange:
        raise ColumnMismatchError(
            "Expected the columns of the encoded table, but "
            + " and ".join(
                f"{listing(group)} {'is' if len(group) == 1 else 'are'} {what}"
                for group, what in ((missing, "missing"), (strange, "not among them"))
                if group
            )
            + ".",
            hint=hint(python="Encode the table first: encoder.transform(X)."),
        )
    return names
