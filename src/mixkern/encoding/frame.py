"""Read the named columns of any table.

A table is a frame of pandas, polars or another library that narwhals supports, an Arrow table or stream, a NumPy array
or a list of rows. A :class:`RawColumn` returns its cells as numbers or as text.
"""

import datetime as dt
import decimal
import numbers
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import PurePath
from types import NoneType
from typing import Any
from weakref import WeakKeyDictionary

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from mixkern.encoding.cell import Kind, are_dates, date_text, days, is_gap, number, parsed, text
from mixkern.encoding.coded import Coded
from mixkern.encoding.grammar import is_gap_word, plain_dates, plain_numbers, unit_of
from mixkern.encoding.spelling import Spelling, decimal_signs, spelling_of
from mixkern.errors import (
    CellTypeError,
    ColumnNameError,
    EmptyTableError,
    NotATableError,
    NotNumericError,
    TooLargeError,
    hint,
)
from mixkern.imports import optional
from mixkern.typing import Floats
from mixkern.wording import counted, listing, shortened

PANDAS = "pandas"
FRAME_KINDS = (PANDAS, "polars", "pyarrow", "modin", "cudf")  # as narwhals names them


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column before it is encoded: its name, its kind, its cells, and the Python expression for it."""

    name: str
    kind: Kind
    cells: Floats | Coded  # floats where the kind is numeric and nothing is lost, else codes of Python objects
    place: str = "X"  # for hints: X['age'] in a frame, X[:, 3] in an array

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts, which may be written numbers or dates."""
        return self.kind in (Kind.TEXT, Kind.CATEGORY)

    def spelling(self) -> Spelling | None:
        """Return how texts are written; ``None`` where they are no numbers, booleans or dates, or no texts."""
        if not self.is_text or not isinstance(self.cells, Coded):
            return None
        there = [cell for cell in self.cells.distinct if isinstance(cell, str) and not is_gap_word(cell)]
        return spelling_of(there, decimal_signs([there])[0])

    def numbers(self, spelling: Spelling | None = None) -> Floats:  # (n,)
        """Return the cells as floats, gaps as NaN; dates in days since 1970, durations in days.

        Parameters
        ----------
        spelling : Spelling, default=None
            How texts are written; by default, the decimal sign and the unit are found.
        """
        cells = self.cells
        if isinstance(cells, np.ndarray):
            return cells
        found = self._written(cells.distinct, spelling) if self.is_text else [number(cell) for cell in cells.distinct]
        wrong = [i for i, value in enumerate(found) if value is None]
        if wrong:
            raise self._not_numeric(cells, wrong)
        values = np.array(found, dtype=float)
        huge = [i for i in np.flatnonzero(np.isinf(values)).tolist() if _is_finite(cells.distinct[i])]
        if huge:
            raise TooLargeError(
                f"Column {self.name!r} holds a number beyond 1.8e308 in {{row}}, too large for double "
                "precision. Express the column in a larger unit, or take its logarithm.",
                row=int(cells.rows_of(huge)[0]),
            )
        return cells.taken(values, np.nan, float)

    def _written(self, distinct: list[Any], spelling: Spelling | None) -> Sequence[float | None]:
        """Return the numbers in texts, NaN for words for gaps, ``None`` where there is none."""
        there = [cell for cell in distinct if isinstance(cell, str) and not is_gap_word(cell)]
        if spelling is None:
            unit = unit_of(there[0]) if there else ""
            spelling = Spelling(Kind.NUMBER, decimal_signs([there])[0], unit)
        plain = plain_numbers(there, spelling.decimal) if len(there) == len(distinct) else None
        if plain is not None:
            return plain.tolist()
        return [
            parsed(cell) if not isinstance(cell, str) else np.nan if is_gap_word(cell) else spelling.value(cell)
            for cell in distinct
        ]

    def dates(self, spelling: Spelling) -> "RawColumn":
        """Return texts as dates, words for gaps as gaps."""
        cells = self.coded().mapped(lambda cell: None if is_gap_word(cell) else cell)
        plain = plain_dates(cells.distinct)
        found = [spelling.value(cell) for cell in cells.distinct] if plain is None else plain
        wrong = [i for i, value in enumerate(found) if value is None]
        if wrong:
            rows = cells.rows_of(wrong)
            raise CellTypeError(
                f"Column {self.name!r} is a column of dates, but {{row}} holds "
                f"{shortened(cells.distinct[wrong[0]])!r}{_and_others(len(rows) - 1)}.",
                hint=hint(
                    python=f"Convert them: {self.place} = pd.to_datetime({self.place}, format=...).",
                    cli="Write its cells as they were in the table that the model was fitted on.",
                ),
                row=int(rows[0]),
            )
        moments = np.array(found, dtype="datetime64[us]")
        return RawColumn(self.name, Kind.DATE, cells.taken(days(moments), np.nan, float), self.place)

    def _not_numeric(self, cells: Coded, wrong: list[int]) -> NotNumericError:
        rows, place = cells.rows_of(wrong), self.place
        cell = cells.distinct[wrong[0]]
        if are_dates({str(cells.distinct[i]) for i in wrong}):
            step = f"Convert texts that look like dates: {place} = pd.to_datetime({place})."
        else:
            step = f"Correct these cells, or make gaps of them: {place} = pd.to_numeric({place}, errors='coerce')."
        return NotNumericError(
            f"Column {self.name!r} is a column of numbers, but {{row}} holds "
            f"{shortened(cell) if isinstance(cell, str) else cell!r}{_and_others(len(rows) - 1)}.",
            hint=hint(
                python=f"{step} Or read the column as categories: TableEncoder(categorical=[{self.name!r}]).",
                cli="Correct these cells, or make gaps of them: --gap TEXT. "
                f"Or read the column as categories: --categorical {shlex.quote(self.name)}.",
            ),
            row=int(rows[0]),
        )

    def coded(self) -> Coded:
        """Return the codes of the cells as text; 3 and 3.0 have the same text."""
        if isinstance(self.cells, np.ndarray):
            return Coded.of_array(self.cells).mapped(date_text if self.kind is Kind.DATE else text)
        if set(map(type, self.cells.distinct)) <= {str}:
            return self.cells
        return self.cells.mapped(text)

    def texts(self) -> list[str | None]:
        """Return the cells as text, gaps as ``None``."""
        coded = self.coded()
        return coded.taken(coded.distinct, None, object).tolist()


def raw_columns(X: Any) -> list[RawColumn]:
    """Return the columns of a frame, an array or a list of rows.

    >>> [(column.name, column.kind.value) for column in raw_columns([[1, "a"], [2, "b"]])]
    [('x0', 'integer'), ('x1', 'text')]
    """
    table = opened(X)
    if isinstance(table, np.ndarray):
        return _array_columns(table)
    pairs = zip(column_labels(table) or [], nw.from_native(table, eager_only=True).iter_columns(), strict=True)
    return [_series_column(str(label), f"X[{label!r}]", series) for label, series in pairs]


_read_streams: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # a stream may be read once: its table is kept


def native_table(X: Any) -> Any:
    """Return a frame of narwhals as the frame that it wraps, and an Arrow stream as a table of pyarrow.

    Objects of other libraries with the method ``__arrow_c_stream__`` are read by it: results of DuckDB, record batches
    and their readers, and others.
    """
    X = nw.to_native(X, pass_through=True)
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


def _check_is_table(X: Any) -> None:
    if issparse(X):
        raise NotATableError(
            "X is a sparse matrix, but mixkern needs a dense table.", hint=hint(python="Convert it first: X.toarray().")
        )
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
    except (TypeError, ValueError) as error:
        raise NotATableError(f"X is not a table: its rows differ in shape ({error}).") from error
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


def _array_columns(array: NDArray[Any]) -> list[RawColumn]:
    kind = array.dtype.kind
    columns = []
    for i, values in enumerate(array.T):
        name, place = f"x{i}", f"X[:, {i}]"
        if kind == "f":
            with np.errstate(over="ignore"):  # extended precision; infinite values raise an error later
                columns.append(RawColumn(name, Kind.NUMBER, values.astype(float), place))
        elif kind in "iu":
            is_exact = _is_exact(values.min(), values.max())
            cells = values.astype(float) if is_exact else Coded.of_cells(values.tolist())
            columns.append(RawColumn(name, Kind.INTEGER, cells, place))
        elif kind in "mM":
            columns.append(_moment_column(name, place, values))
        else:
            columns.append(_object_column(name, place, values.tolist()))
    return columns


def _series_column(name: str, place: str, series: nw.Series[Any]) -> RawColumn:
    dtype = series.dtype
    if dtype.is_integer():
        is_exact = _is_exact(series.min(), series.max())
        return RawColumn(name, Kind.INTEGER, floats(series) if is_exact else Coded.of_cells(series.to_list()), place)
    if dtype.is_float() or (isinstance(dtype, nw.Decimal) and not _holds_long_integers(series)):
        return RawColumn(name, Kind.NUMBER, floats(series), place)
    if isinstance(dtype, nw.Decimal):
        return RawColumn(name, Kind.INTEGER, Coded.of_cells(series.to_list()).mapped(int), place)
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        cells = Coded.of_series(series)
        return RawColumn(name, Kind.CATEGORY if cells.distinct else Kind.EMPTY, cells, place)
    if isinstance(dtype, (nw.Date, nw.Datetime, nw.Duration)):
        moments = series.to_numpy()  # in UTC where there was a time zone; Arrow dates in pandas stay objects
        if moments.dtype.kind in "mM":
            return _moment_column(name, place, moments)
        return _object_column(name, place, moments.tolist())
    if isinstance(dtype, (nw.String, nw.Boolean)) and not _holds_objects(series):
        cells = Coded.of_series(series)
        kind = Kind.TEXT if isinstance(dtype, nw.String) else Kind.BOOLEAN
        return RawColumn(name, kind if cells.distinct else Kind.EMPTY, cells, place)
    return _object_column(name, place, series.to_list())


def _holds_long_integers(series: nw.Series[Any]) -> bool:
    """Return whether a column of decimals holds whole numbers only, and some that are no floats, as in keys."""
    if _is_exact(series.min(), series.max()):
        return False
    return all(cell is None or is_gap(cell) or cell == int(cell) for cell in series.to_list())


def _holds_objects(series: nw.Series[Any]) -> bool:
    """Return whether a series of pandas holds Python objects, which may be of any type."""
    return str(getattr(series.to_native(), "dtype", "")) == "object"


def floats(series: nw.Series[Any]) -> Floats:  # (n,)
    """Return a series of numbers as floats, gaps as NaN."""
    return series.cast(nw.Float64).to_numpy().astype(float)


def _is_exact(*extremes: Any) -> bool:
    """Return whether floats can hold these integers; otherwise a long identifier would lose its last digits."""
    return all(abs(int(extreme)) < 2**53 for extreme in extremes if not is_gap(extreme))


def _moment_column(name: str, place: str, moments: NDArray[Any]) -> RawColumn:
    return RawColumn(name, Kind.DATE if moments.dtype.kind == "M" else Kind.DURATION, days(moments), place)


_KINDS: list[tuple[Kind, Callable[[type], bool]]] = [
    (Kind.BOOLEAN, lambda t: issubclass(t, (bool, np.bool_))),
    # To NumPy, timedelta64 is an integer.
    (Kind.INTEGER, lambda t: t is not np.timedelta64 and issubclass(t, (numbers.Integral, np.bool_))),
    (Kind.NUMBER, lambda t: t is not np.timedelta64 and issubclass(t, (numbers.Real, decimal.Decimal, np.bool_))),
    (Kind.DATE, lambda t: issubclass(t, (dt.date, np.datetime64))),
    (Kind.DURATION, lambda t: issubclass(t, (dt.timedelta, dt.time, np.timedelta64))),
    (Kind.TEXT, lambda t: issubclass(t, str)),
]


def _object_column(name: str, place: str, cells: list[Any]) -> RawColumn:
    """Return a column of the narrowest kind that fits every cell; a mixture of kinds is text."""
    unknown = {t for t in set(map(type, cells)) if not any(fits(t) for _, fits in _KINDS)} - {NoneType}
    strange = (i for i, cell in enumerate(cells) if type(cell) in unknown and not is_gap(cell))
    row = next(strange, None) if unknown else None
    if row is not None:
        raise CellTypeError(
            f"Column {name!r} holds {_cell_name(cells[row])} in {{row}}. "
            "Expected numbers, texts, booleans, categories or dates.",
            hint=hint(
                python=f"Convert them: {place}.astype(str), or drop them.",
                cli=f"Replace them by numbers or texts, or fit a model without the column: --drop {shlex.quote(name)}.",
            ),
            row=row,
        )
    coded = Coded.of_cells(cells)
    types = set(map(type, coded.distinct))
    if not types:
        return RawColumn(name, Kind.EMPTY, coded, place)
    kind = next((kind for kind, fits in _KINDS if all(map(fits, types))), Kind.TEXT)
    return RawColumn(name, kind, coded, place)


def _cell_name(cell: Any) -> str:
    """Return what a cell that cannot be read is called."""
    if isinstance(cell, (list, tuple, set, np.ndarray)):
        return "a list"
    if isinstance(cell, Mapping):
        return "a record"
    return "bytes" if isinstance(cell, bytes) else f"a cell of type {type(cell).__name__}"


def _is_finite(cell: Any) -> bool:
    """Return whether a cell that is infinite as a float is a finite number."""
    return not isinstance(cell, str) and bool(cell not in (np.inf, -np.inf))


def _and_others(n: int) -> str:
    return f" (and {counted(n, 'more row')} like it)" if n else ""


def frame_kind(X: Any) -> str:
    """Return the library of a frame; "pandas" for arrays and lists.

    >>> frame_kind([[1, 2]])
    'pandas'
    """
    frame = nw.from_native(native_table(X), eager_only=True, pass_through=True)
    return str(frame.implementation.value) if isinstance(frame, nw.DataFrame) else PANDAS
