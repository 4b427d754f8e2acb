"""Open any table, and make frames of the library that a table came from.

A table is a frame of pandas, polars or another library that narwhals supports, an Arrow table or stream, a NumPy array
or a list of rows. Estimators, explanations and advice return frames: of the library of the table, or of pandas for an
array or a list. So polars is enough for those who use polars.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any
from weakref import WeakKeyDictionary

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mixkern.encoding.cell import is_gap, text
from mixkern.errors import CellTypeError, ColumnNameError, EmptyTableError, NotATableError, hint
from mixkern.gpu_array import is_gpu_array, on_host
from mixkern.imports import optional
from mixkern.partitions import is_collection
from mixkern.wording import counted, listing, shortened

PANDAS = "pandas"
FRAME_KINDS = (PANDAS, "polars", "pyarrow", "modin", "cudf")  # as narwhals names them

_read_streams: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # a stream may be read once: its table is kept


def native_table(X: Any) -> Any:
    """Return a frame of narwhals as the frame that it wraps, and an Arrow stream as a table of pyarrow.

    Objects of other libraries with the method ``__arrow_c_stream__`` are read by it: results of DuckDB, record batches
    and their readers, and others.
    """
    X = nw.to_native(on_host(X), pass_through=True)
    if not hasattr(X, "__arrow_c_stream__") or isinstance(X, type):
        return X
    if nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X):
        return X
    try:
        if X not in _read_streams:
            _read_streams[X] = _table_of_stream(X)
        return _read_streams[X]
    except TypeError:  # no weak reference to it
        return _table_of_stream(X)


def _table_of_stream(stream: Any) -> Any:
    is_polars = find_spec("pyarrow") is None and find_spec("polars") is not None
    if not is_polars:
        optional("pyarrow", purpose="A table from an Arrow stream")
    try:
        return nw.from_arrow(stream, backend="polars" if is_polars else "pyarrow").to_native()
    except Exception as error:  # of the library that the stream comes from
        raise NotATableError(f"X is an Arrow stream that cannot be read as a table: {error}") from error


def is_matrix_of_gpu(X: Any) -> bool:
    """Whether a table is an array on a GPU with rows and columns, whose shape is known without a copy."""
    return is_gpu_array(X) and len(X.shape) == 2 and min(X.shape) > 0


def opened(X: Any) -> Any:
    """Return a table as a native frame or as an array, before its cells are read; raise an error if it is neither."""
    X = native_table(X)
    _check_is_table(X)
    labels = column_labels(X)
    if labels is None:
        return _array(X)
    check_names(labels)
    _check_size(nw.from_native(X, eager_only=True).shape)
    return X


def column_labels(X: Any) -> list[Any] | None:
    """Return the column labels of a frame, which may be no texts in pandas; ``None`` for other tables."""
    if nw.dependencies.is_pandas_like_dataframe(X):
        return list(X.columns)
    if nw.dependencies.is_pyarrow_table(X):  # narwhals has its own error for duplicates
        return list(X.column_names)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else None


def check_names(names: list[Any]) -> None:
    """Raise an error for column names that are duplicates, or partly text and partly not."""
    texts = [str(name) for name in names]
    double = [name for name, count in Counter(texts).items() if count > 1]
    if double:
        places = [i for i, name in enumerate(texts) if name == double[0]]
        raise ColumnNameError(
            f"Column names must be unique, but more than one column has the name {listing(double)}: columns {places} "
            f"are all called {double[0]!r}. Rename them."
        )
    others = [name for name in names if not isinstance(name, str)]
    if 0 < len(others) < len(names):
        raise ColumnNameError(
            f"Column names must be all text, or none, but these are not: {listing(others)}.",
            hint=hint(python="Convert them: X.columns = X.columns.astype(str)."),
        )


def frame_kind(X: Any) -> str:
    """Return the library of a frame; "pandas" for arrays and lists.

    >>> frame_kind([[1, 2]])
    'pandas'
    """
    frame = None if is_gpu_array(X) else nw.from_native(native_table(X), eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else PANDAS


def _check_is_table(X: Any) -> None:
    if issparse(X):
        raise NotATableError(
            "X is a sparse matrix, but mixkern needs a dense table.", hint=hint(python="Convert it first: X.toarray().")
        )
    check_in_memory(X)
    step = _conversion(X)
    if step or X is None or isinstance(X, (bytes, Set, Iterator)):
        kind = "a list of dicts" if _are_dicts(X) else f"of type {type(X).__name__}"
        given = "None" if X is None else kind
        raise NotATableError(
            f"X must be a frame, an array or a list of rows, but it is {given}.", hint=hint(python=step)
        )
    if hasattr(X, "collect") and not hasattr(X, "to_numpy"):
        raise NotATableError(
            "X is a lazy frame, and mixkern needs its rows.", hint=hint(python="Read them first: X.collect().")
        )


def check_in_memory(X: Any) -> None:
    """Raise an error for a Dask collection."""
    if is_collection(X):
        raise NotATableError(
            "X is a Dask collection, and this needs its rows in memory.",
            hint=hint(python="Compute it first: X.compute(). Estimators that take collections are in docs/scale.md."),
        )


def _conversion(X: Any) -> str:
    """Return how to convert an object to a table, empty where there is no simple way."""
    if isinstance(X, (str, PurePath)):
        return f"Read the file first: pd.read_csv({shortened(str(X))!r})."
    if isinstance(X, Mapping) or _are_dicts(X):
        return "Make it a table first: pd.DataFrame(X)."
    if isinstance(nw.from_native(X, series_only=True, pass_through=True), nw.Series) and hasattr(X, "to_frame"):
        row = " if it is one column, X.to_frame().T if it is one row" if nw.dependencies.is_pandas_series(X) else ""
        return f"Make it a table: X.to_frame(){row}."
    return ""


def _are_dicts(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)


def _array(X: Any) -> NDArray[Any]:
    """Return lists of rows and array-likes as a two-dimensional array; each cell keeps its own type."""
    try:
        # Without dtype=object, [[1, "a"]] would become an array of texts.
        array = np.asarray(X, dtype=object) if isinstance(X, (list, tuple)) else np.asanyarray(X)
    except (TypeError, ValueError, RuntimeError) as error:  # the last of PyTorch
        why = (
            "its rows differ in shape"
            if isinstance(X, (list, tuple))
            else f"NumPy cannot read an object of type {type(X).__name__}"
        )
        raise NotATableError(f"X is not a table: {why} ({str(error).rstrip('.')}).") from error
    if array.ndim == 1 and not len(array):
        raise EmptyTableError(f"X is empty: it has 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.ndim != 2:
        raise _ragged(X) or _not_two_dimensional(X, array)
    _check_size(array.shape)
    if array.dtype.kind in "SVc":
        raise CellTypeError(
            f"X is an array of {array.dtype}. Complex data not supported, and neither are bytes and records. "
            "Expected numbers, texts, booleans, dates or objects.",
            hint=hint(python="Convert them first, for example X.astype(str)."),
        )
    return _unmasked(array) if isinstance(array, np.ma.MaskedArray) else np.asarray(array)


def _not_two_dimensional(X: Any, array: NDArray[Any]) -> NotATableError:
    if not array.ndim and array.dtype.kind not in "biufc":
        return NotATableError(f"X must be a frame, an array or a list of rows, but it is of type {type(X).__name__}.")
    return NotATableError(
        f"X must have two dimensions, rows and columns, but it has {array.ndim}.",
        hint=hint(python="Reshape your data: X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."),
    )


def _ragged(X: Any) -> NotATableError | None:
    """Return an error about the first row whose length differs, ``None`` where all are equal."""
    rows = X if isinstance(X, (list, tuple)) else []
    lengths = [len(row) if isinstance(row, (list, tuple, np.ndarray)) else 0 for row in rows]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            first = counted(lengths[0], "cell")
            return NotATableError(f"X is not a table: its first row has {first}, but {{row}} has {length}.", row=i)
    return None


def _unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Replace masked cells by gaps."""
    cells: NDArray[Any] = array.data.copy() if array.dtype.kind in "fmM" else array.data.astype(object)
    cells[np.ma.getmaskarray(array)] = None  # becomes NaN or NaT where the array has a type
    return cells


def _check_size(shape: tuple[int, ...]) -> None:
    """Raise an error for an empty table, in scikit-learn's words, which its estimator checks expect."""
    for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise EmptyTableError(f"X is empty: it has 0 {what} (shape={shape}) while a minimum of 1 is required.")


# ---------------------------------------------------------------- frames as results


def make_frame(
    columns: Mapping[str, Any], kind: str, *, index: Any = None, index_name: str | None = None, purpose: str
) -> Any:
    """Make a frame of columns.

    Parameters
    ----------
    columns : dict
        Arrays or lists by name; a masked array holds whole numbers or labels of which some are missing. Where all are,
        the column has the type of the masked values, so that frames of several blocks have the same types.
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
    frame = nw.from_dict(cells, backend=kind)  # type: ignore[arg-type]
    for name, values in columns.items():
        if isinstance(values, np.ma.MaskedArray) and len(values) and np.ma.getmaskarray(values).all():
            behind = nw.from_dict({name: _plain(values.data)}, backend=kind)  # type: ignore[arg-type]
            frame = frame.with_columns(nw.col(name).cast(behind.schema[name]))
    return frame.to_native()


def _pandas_frame(columns: Mapping[str, Any], index: Any, index_name: str | None, purpose: str) -> Any:
    pandas = optional("pandas", purpose=purpose)
    if index_name is not None:
        index = pandas.Index(index, name=index_name)
    given = {name: _pandas_column(pandas, values, index) for name, values in columns.items()}
    try:
        return pandas.DataFrame(given, index=index)
    except (UnicodeEncodeError, OverflowError):
        # Texts with lone surrogates, which the text type of pandas cannot hold, and, before pandas 3.1, huge integers
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
