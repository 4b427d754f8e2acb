"""The score of an estimator on a Dask collection: sums of its partitions, computed in one pass."""

import numbers
from typing import Any

from sklearn.utils.validation import check_is_fitted

from mixkern.distributed.collection import label_partitions, table_of
from mixkern.distributed.prediction import check_fitted_columns
from mixkern.distributed.scheduling import total
from mixkern.distributed.table import opened_part
from mixkern.errors import EmptyTableError, LabelTypeError, NotATableError, hint
from mixkern.partitions import is_collection
from mixkern.wording import shown


def scored(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the score of an estimator on a Dask collection, as that of the same rows in memory.

    Parameters
    ----------
    estimator : object
        A fitted estimator with the method ``score_sums``.
    X : Dask DataFrame or Array
        The table.
    y : Dask Series or Array, or str
        A column of the collection, or the name of one.
    sample_weight : Dask Series or Array, number or None
        Weight of each row.
    """
    check_is_fitted(estimator)
    if not is_collection(X):
        raise NotATableError(
            "X is a table in memory, but another argument is a Dask collection.",
            hint=hint(python="Compute it first: y.compute()."),
        )
    if not is_collection(y) and not isinstance(y, str):
        raise LabelTypeError(
            f"X is a Dask collection, so y must be a column of it or the name of one, but it is {shown(y)}.",
            hint=hint(python='Give ddf["label"] or "label".'),
        )
    table = table_of(X, y)
    check_fitted_columns(estimator, table.head)
    parts = table.labelled_parts()
    weights = _weight_partitions(sample_weight, len(parts))
    pairs = [[part, weight] for part, weight in zip(parts, weights, strict=True)]
    found = total("score", pairs, _sums, (estimator, table.columns, table.target), [None] * len(pairs))
    if found is None:
        raise EmptyTableError("X is empty: its partitions have 0 sample(s) while a minimum of 1 is required.")
    return float(found.score(table.label_column))


def _weight_partitions(sample_weight: Any, n_parts: int) -> list[Any]:
    """Return the weights of each partition."""
    if is_collection(sample_weight):
        return label_partitions(sample_weight, n_parts, "sample_weight")[0]
    if sample_weight is None or isinstance(sample_weight, numbers.Real):
        return [sample_weight] * n_parts
    raise LabelTypeError(
        "X is a Dask collection, so sample_weight must be a column of it or a number, but it is "
        f"{shown(sample_weight)}.",
        hint=hint(python='Give ddf["weight"].'),
    )


def _sums(pair: list[Any], shared: tuple[Any, Any, Any], _own: Any) -> Any:
    """Return the sums of one partition, None for one without rows."""
    (part, weights), (estimator, columns, target) = pair, shared
    table, labels = opened_part(part, columns, target)
    return estimator.score_sums(table, labels, weights) if len(table) else None
