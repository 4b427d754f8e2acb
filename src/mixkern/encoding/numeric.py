"""Read a table of numbers, or of encoded rows, as an array of floats."""

import warnings
from typing import Any, Literal

import narwhals as nw
import numpy as np
from sklearn.utils import check_array

from mixkern.encoding.cell import Kind
from mixkern.encoding.frame import check_names, column_labels, native_table, opened
from mixkern.encoding.matching import check_columns, keep_columns
from mixkern.encoding.raw_column import RawColumn, floats, raw_columns
from mixkern.errors import (
    CellTypeError,
    ColumnMismatchError,
    InfiniteValueError,
    NotEncodedError,
    NotNumericError,
    TableError,
    hint,
)
from mixkern.partitions import Partitioned, PartitionedTable
from mixkern.typing import Floats
from mixkern.validation import as_floats
from mixkern.wording import counted, listing

_MOMENTS = (Kind.DATE, Kind.DURATION)


def numeric_rows(estimator: Any, X: Any, *, reset: bool, order: Literal["C"] | None = None) -> Any:
    """Return the rows of a table of numbers; booleans and texts of a number are numbers, too.

    Parameters
    ----------
    estimator : object
        The estimator that reads them; it keeps the number and the names of the columns.
    X : frame or array-like of shape (n, n_columns)
        The table.
    reset : bool
        Whether the columns are kept, as in ``fit``, or compared with those that were.
    order : {"C"} or None, default=None
        "C" for rows that are contiguous in memory.

    Returns
    -------
    ndarray of shape (n, n_columns)
        Finite numbers; gaps are NaN.

    Raises
    ------
    TableError
        Of the class for the cause.
    """
    if isinstance(X, Partitioned):
        return _partitioned_rows(estimator, X, reset=reset)
    table = opened(X)
    if reset:
        keep_columns(estimator, table)
    else:
        check_columns(estimator, table)
    return numbers_of(table, order)


def numbers_of(table: Any, order: Literal["C"] | None = None) -> Floats:
    """Return the cells of a table as numbers."""
    rows = None if _has_own_types(table) else _checked(table, order)
    return np.column_stack([_numbers(column) for column in _columns(table)]) if rows is None else rows


def _partitioned_rows(estimator: Any, X: Partitioned, *, reset: bool) -> Partitioned:
    """Return a table in partitions as numbers; encoded rows as they are."""
    head = X.head if isinstance(X, PartitionedTable) else np.empty((0, X.shape[1]))
    if reset:
        keep_columns(estimator, head)
    else:
        check_columns(estimator, head)
    return X.values(numbers_of, X.shape[1]) if isinstance(X, PartitionedTable) else X


def _checked(table: Any, order: Literal["C"] | None) -> Floats | None:
    """Return the rows as scikit-learn reads them, ``None`` where it raises an error."""
    # The check for infinity adds all values. Some versions of NumPy convert arrays within cells, with this warning.
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("error", "Conversion of an array with ndim > 0", DeprecationWarning)
        try:
            rows: Floats = check_array(table, dtype=np.float64, order=order, ensure_all_finite="allow-nan")
        except Exception:  # of scikit-learn, NumPy or the library of the frame: the columns are read one by one
            return None
    return rows


def _has_own_types(table: Any) -> bool:
    """Return whether a table has dates, durations or categories, which NumPy would convert to numbers of any unit."""
    if column_labels(table) is None:
        return table.dtype.kind in "mM"
    dtypes = nw.from_native(table, eager_only=True).schema.values()
    own = nw.Date, nw.Datetime, nw.Duration, nw.Categorical, nw.Enum
    return any(isinstance(dtype, own) for dtype in dtypes)


def _columns(table: Any) -> list[RawColumn]:
    try:
        return raw_columns(table)
    except CellTypeError as error:
        fact, _, _ = str(error.args[0]).partition(" Expected")  # more is allowed in tables that are encoded
        raise _not_encoded(fact, error.row) from error


def _numbers(column: RawColumn) -> Floats:
    """Return the numbers of a column, or raise an error."""
    if column.kind in _MOMENTS:
        raise _not_encoded(f"Column {column.name!r} holds {column.kind}s.")
    if column.kind is Kind.CATEGORY:
        raise _not_encoded(f"Column {column.name!r} holds categories.")
    try:
        values = column.numbers()
    except NotNumericError as error:
        raise _not_encoded(str(error.args[0]), error.row) from error
    rows = np.flatnonzero(np.isinf(values))
    if len(rows):
        raise InfiniteValueError(
            f"X contains infinity: column {column.name!r} holds {counted(len(rows), 'infinite value')}, the first in "
            "{row}.",
            hint=hint(python="Replace them by numbers, or by gaps: np.where(np.isinf(X), np.nan, X)."),
            row=int(rows[0]),
        )
    return values


def _not_encoded(text: str, row: int | None = None) -> NotEncodedError:
    return NotEncodedError(
        f"{text} The cells of this argument must be numbers, or a string that holds a number; None and NaN are gaps.",
        hint=hint(python="Encode the table first: X = TableEncoder().fit_transform(X)."),
        row=row,
    )


def encoded_rows(X: Any, names: list[str]) -> tuple[Floats, Any]:
    """Return encoded rows as an array, and their index if they are a pandas frame, otherwise ``None``.

    The columns of a frame may be in any order; they are sorted as ``names``. A frame whose columns are numbered, such
    as ``pandas.DataFrame(array)``, is read as an array.
    """
    X = native_table(X)
    labels = column_labels(X)
    if labels is None:
        return _check_width(as_floats(X, "X", TableError), names), None
    check_names(labels)
    series = nw.from_native(X, eager_only=True).iter_columns()
    encoded = {str(one.name): floats(one) for one in series}
    rows = np.empty((X.shape[0], len(encoded)))
    order = list(encoded) if labels == list(range(len(labels))) else _check_same_names(list(encoded), names)
    for i, name in enumerate(order):
        rows[:, i] = encoded[name]
    return _check_width(rows, names), X.index if nw.dependencies.is_pandas_dataframe(X) else None


def _check_width(rows: Floats, names: list[str]) -> Floats:
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ColumnMismatchError(f"Expected encoded rows of {len(names)} columns, but X has shape {rows.shape}.")
    return rows


def _check_same_names(given: list[str], names: list[str]) -> list[str]:
    """Return the expected names, if the given ones are the same in any order."""
    missing = [name for name in names if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        raise ColumnMismatchError(
            "Expected the columns of the encoded table, but "
            + " and ".join(
                f"{listing(group)} {'is' if len(group) == 1 else 'are'} {what}"
                for group, what in ((missing, "missing"), (unknown, "not among them"))
                if group
            )
            + ".",
            hint=hint(python="Encode the table first: encoder.transform(X)."),
        )
    return names
