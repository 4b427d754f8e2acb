"""Compare the columns of a table with those in `fit`."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from mixkern.encoding.frame import column_labels, is_matrix_of_gpu, native_table
from mixkern.errors import ColumnMismatchError, ColumnNamesWarning, hint, warn
from mixkern.partitions import PartitionedTable
from mixkern.wording import counted, listing, nearest

MOST_NAMED = 12  # columns that are listed in a message


def keep_columns(estimator: Any, table: Any) -> None:
    """Set ``n_features_in_`` and, where the columns have names, ``feature_names_in_``."""
    if isinstance(table, PartitionedTable):
        table = table.head
    table = np.empty((0, table.shape[1])) if is_matrix_of_gpu(table) else native_table(table)
    validate_data(estimator, table, skip_check_array=True)


def check_names_given(table: str, given: Collection[str], known: Iterable[str]) -> None:
    """Raise an error for a table that lacks columns of a model; it may have others, in any order.

    Parameters
    ----------
    table : str
        What the table is called.
    given : collection of str
        Its columns.
    known : iterable of str
        The columns of the model.

    Examples
    --------
    >>> check_names_given("people.csv", ["town", "age"], ["age", "town"])
    """
    known = list(known)
    missing = [name for name in known if name not in given]
    if missing:
        step = f" Add {'it' if len(missing) == 1 else 'them'}; cells of unknown values can be empty."
        others = [name for name in given if name not in known]
        raise ColumnMismatchError(
            f"{table} lacks {counted(len(missing), 'column')} that the model was fitted on: {listing(missing)}."
            f"{nearest(missing[0], others) or step}"
        )


def check_columns(estimator: Any, table: Any, known: list[str] | None = None) -> None:
    """Raise an error for columns that are not those in ``fit``, in scikit-learn's words, which its checks expect.

    Parameters
    ----------
    estimator : object
        An estimator on which :func:`keep_columns` was called.
    table : frame or ndarray
        A table, as :func:`~mixkern.encoding.frame.opened` returns it.
    known : list of str, default=None
        The names of the columns in ``fit``, if the estimator keeps names that are no texts, too; ``None`` is
        ``feature_names_in_``.
    """
    labels = column_labels(table) or []
    given = [str(label) for label in labels]
    known = list(getattr(estimator, "feature_names_in_", [])) if known is None else known
    if _are_texts(labels) != hasattr(estimator, "feature_names_in_"):
        _check_width(estimator, table, labels)
        return
    try:
        validate_data(estimator, table, skip_check_array=True, reset=False)
    except ValueError as error:
        new, missing = [name for name in given if name not in known], [name for name in known if name not in given]
        lines = [f"{name!r}:{near}" for name in new[:5] if (near := nearest(name, missing))]
        if given and not (new or missing):
            lines.append(_first_difference(given, known))
        message = "\n".join([str(error).rstrip(), *lines])
        raise ColumnMismatchError(message, hint=hint(python=_next_step(table, given, known))) from error
    if given != known and sorted(given) == sorted(known):  # scikit-learn checks only names that are texts
        ordered = sorted(labels, key=lambda label: known.index(str(label)))
        raise ColumnMismatchError(
            f"Columns must be in the same order as in fit. {_first_difference(given, known)}",
            hint=hint(python=f"Put them in order: {_selection(table, ordered)}."),
        )


def _first_difference(given: list[str], known: list[str]) -> str:
    """Name the first column that is not at its place."""
    i = next(i for i, (name, other) in enumerate(zip(given, known, strict=True)) if name != other)
    return f"Column {i + 1} of X is {given[i]!r}, and was {known[i]!r} in fit."


def _next_step(table: Any, given: list[str], known: list[str]) -> str:
    """Return what to do about other names than in ``fit``."""
    if set(given) >= set(known):
        verb = "Select" if len(given) > len(known) else "Put"
        return f"\n{verb} the columns in order: {_selection(table, known)}."
    return "\nGive all columns of fit: rename or add the missing ones." if given else ""


def _selection(table: Any, columns: list[Any]) -> str:
    """Return the Python expression that selects columns; a long list of names is left to the fitted model."""
    names = str(columns) if len(columns) <= MOST_NAMED else "list(model.feature_names_in_)"
    return f"X.select({names})" if type(table).__module__.startswith("pyarrow") else f"X[{names}]"


def _are_texts(labels: list[Any]) -> bool:
    return bool(labels) and all(isinstance(label, str) for label in labels)


def _check_width(estimator: Any, table: Any, labels: list[Any]) -> None:
    """Check the number of columns, and warn that names cannot be compared: either table has none."""
    name, n, n_known = type(estimator).__name__, table.shape[1], estimator.n_features_in_
    if n != n_known:
        raise ColumnMismatchError(f"X has {n} features, but {name} is expecting {n_known} features as input.")
    if _are_texts(labels):
        text = f"X has feature names, but {name} was fitted without feature names"
    else:
        text = f"X does not have valid feature names, but {name} was fitted with feature names"
    warn(f"{text}: its columns are read in the order of those in fit.", ColumnNamesWarning)
