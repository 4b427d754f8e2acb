"""Results for each row of a Dask collection, as a lazy collection of the same partitions."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Rows
from mixkern.distributed.collection import head_of, partitions_of
from mixkern.encoding import TableEncoder
from mixkern.encoding.matching import check_columns
from mixkern.imports import optional
from mixkern.wording import shown


def mapped(estimator: Any, method: str, X: Any, args: tuple[Any, ...] = (), options: Any = None) -> Any:
    """Return the result of a method for each row of a Dask collection.

    Parameters
    ----------
    estimator : object
        A fitted estimator. Workers get a copy of it once.
    method : str
        Name of a method whose first argument is a table.
    X : Dask DataFrame or Array
        The table.
    args : tuple
        Further arguments.
    options : dict
        Further arguments by name.

    Returns
    -------
    Dask Array or DataFrame
        With the partitions of ``X``. Nothing is computed before its ``compute``, or before it is written.
    """
    dask = optional("dask", purpose="A table in partitions")
    head = head_of(X)
    check_fitted_columns(estimator, head)
    options = options or {}
    meta = _example(estimator, method, args, options, head)
    name = f"mixkern-{method.replace('_', '-')}"
    model = dask.delayed(estimator, traverse=False, pure=False)
    if hasattr(X, "chunks"):
        return _array(X, model, method, args, options, meta, name)
    return X.map_partitions(_part, model, method, args, options, meta, meta=meta, enforce_metadata=False, token=name)


def _array(
    X: Any, model: Any, method: str, args: tuple[Any, ...], options: dict[str, Any], meta: Any, name: str
) -> Any:
    """Return the results for the rows of a Dask Array."""
    dask, da = optional("dask", purpose="A table in partitions"), optional("dask.array", purpose="A Dask Array")
    run = dask.delayed(_part, pure=False, name=name)
    parts = [run(part, model, method, args, options, meta) for part in partitions_of(X)]
    if hasattr(meta, "columns"):
        return optional("dask.dataframe", purpose="A Dask DataFrame").from_delayed(parts, meta=meta)
    pairs = zip(parts, X.chunks[0], strict=True)
    blocks = [da.from_delayed(part, shape=(n, *meta.shape[1:]), dtype=meta.dtype) for part, n in pairs]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def check_fitted_columns(estimator: Any, head: Any) -> None:
    """Raise an error at once for columns that are not those of ``fit``."""
    check_is_fitted(estimator)
    encoder = estimator if isinstance(estimator, TableEncoder) else getattr(estimator, "encoder_", None)
    if encoder is None:
        check_columns(estimator, head)
    else:
        check_columns(encoder, head, [column.name for column in encoder.columns_])


def _example(estimator: Any, method: str, args: tuple[Any, ...], options: dict[str, Any], head: Any) -> Any:
    """Return an empty result of the method: an array, or a frame of pandas."""
    if isinstance(estimator, TableEncoder):
        return np.empty((0, len(estimator.encoded_columns_)))
    mixture = estimator.mixture_
    one = np.zeros((1, mixture.n_features))
    if hasattr(estimator, "rows_of"):
        found = getattr(estimator, method)(Rows(one, mixture), *args, **options)
    else:  # a density
        rows = one if isinstance(head, np.ndarray) else head_row(head, one)
        found = getattr(estimator, method)(rows, *args, **options)
    return found.iloc[:0] if hasattr(found, "iloc") else _plain(found)[:0]


def head_row(head: Any, values: Any) -> Any:
    """Return a frame of one row with the columns of another."""
    return optional("pandas", purpose="A Dask DataFrame").DataFrame(values, columns=head.columns)


def _part(part: Any, model: Any, method: str, args: tuple[Any, ...], options: dict[str, Any], meta: Any) -> Any:
    """Return the result of the method for one partition."""
    if not len(part):
        return meta
    found = getattr(model, method)(part, *args, **options)
    return found if hasattr(found, "iloc") else _plain(found)


def _plain(found: Any) -> Any:
    """Return categories of pandas as an array, which a Dask Array can hold."""
    array = np.asarray(found)
    assert array.ndim, f"one result for each row, not {shown(found)}"
    return array
