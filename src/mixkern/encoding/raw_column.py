"""The cells of a column as they are read: floats, or the codes of its distinct cells.

Each distinct cell is read once. A :class:`RawColumn` returns its cells as numbers or as text.
"""

import datetime as dt
import decimal
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import NoneType
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from mixkern.encoding.cell import Kind, are_dates, date_text, days, is_gap, number, parsed, text
from mixkern.encoding.frame import column_labels, opened
from mixkern.encoding.grammar import is_gap_word, plain_dates, plain_numbers, unit_of
from mixkern.encoding.spelling import Spelling, decimal_signs, spelling_of
from mixkern.errors import CellTypeError, NotNumericError, TooLargeError, hint
from mixkern.imports import optional
from mixkern.typing import Floats, Ints
from mixkern.wording import counted, names_argument, shortened

GAP = -1
FIRST = 1000  # cells that are looked at first


@dataclass(frozen=True, eq=False)
class Coded:
    """The cells of a column: a code for each row, and the cell of each code.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Position of each cell in ``distinct``, -1 for a gap.
    distinct : list
        The cells that occur, without gaps, in the order of their first rows.
    """

    codes: Ints
    distinct: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of_cells(cls, cells: Sequence[Any]) -> "Coded":
        """Return the codes of a list of cells.

        >>> Coded.of_cells(["b", None, "a", "b"])
        Coded(codes=array([ 0, -1,  1,  0]), distinct=['b', 'a'])
        """
        types = set(map(type, cells)) - {str, NoneType}
        if decimal.Decimal in types:  # a signalling NaN has no hash
            cells = [None if is_gap(cell) else cell for cell in cells]
        if len(types) < 2:  # no other type is equal to texts and None
            first: dict[Any, Any] = {cell: cell for cell in dict.fromkeys(cells)}
            keys: Sequence[Any] = cells
        else:  # equal cells of two types, such as 1 and True, are two cells
            keys = list(zip(map(type, cells), cells, strict=True))
            first = {key: key[1] for key in dict.fromkeys(keys)}
        there = {key: cell for key, cell in first.items() if not is_gap(cell)}
        code = dict.fromkeys(first, GAP) | {key: i for i, key in enumerate(there)}
        return cls(np.fromiter(map(code.__getitem__, keys), np.intp, len(cells)), list(there.values()))

    @classmethod
    def of_codes(cls, codes: NDArray[Any], cells: Callable[[Ints], list[Any]], n: int) -> "Coded":
        """Return the codes of cells that have codes from -1 to ``n - 1`` already, in any order.

        Parameters
        ----------
        codes : ndarray of int
            One for each row.
        cells : callable
            Returns the cells of some codes.
        n : int
            Number of codes.
        """
        first = np.full(n + 1, len(codes))
        first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment is that of the first row
        used = np.flatnonzero(first[:n] < len(codes))
        used = used[np.argsort(first[used])]
        new = np.full(n + 1, GAP)
        new[used] = np.arange(len(used))
        distinct = cells(used)
        if set(map(type, distinct)) <= {str, bool}:  # no gaps
            return cls(new[codes], distinct)
        return cls(new[codes], distinct).mapped(lambda cell: cell)

    @classmethod
    def of_array(cls, values: NDArray[Any]) -> "Coded":
        """Return the codes of an array of numbers, NaN as gaps."""
        distinct, codes = np.unique(values, return_inverse=True)
        return cls.of_codes(codes, lambda used: distinct[used].tolist(), len(distinct))

    @classmethod
    def of_series(cls, series: nw.Series[Any]) -> "Coded":
        """Return the codes of a series of texts, categories or booleans; those that it has already, where possible."""
        native = series.to_native()
        if isinstance(series.dtype, nw.Boolean):
            return cls._of_booleans(series)
        if type(getattr(native, "dtype", None)).__name__ == "CategoricalDtype":  # of pandas
            categories = native.cat.categories
            codes = native.cat.codes.to_numpy()
            return cls.of_codes(codes, lambda used: categories.take(used).tolist(), len(categories))
        if find_spec("pyarrow") is None:
            return cls.of_cells(series.to_list())
        if series.implementation is nw.Implementation.PYARROW:
            return cls.of_arrow(native)
        return cls.of_arrow(series.alias("").to_arrow())  # polars cannot export a name with a NUL

    @classmethod
    def of_arrow(cls, column: Any) -> "Coded":
        """Return the codes of a pyarrow array or chunked array."""
        pa = optional("pyarrow", purpose="Columns of Arrow")
        column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks()
        dictionary = column.dictionary
        if pa.types.is_string_view(dictionary.type):  # as in frames of polars; Arrow has no take for it
            dictionary = dictionary.cast(pa.large_string())
        codes = column.indices.cast(pa.int64()).fill_null(GAP).to_numpy(zero_copy_only=False)
        return cls.of_codes(codes, lambda used: dictionary.take(pa.array(used)).to_pylist(), len(dictionary))

    @classmethod
    def _of_booleans(cls, series: nw.Series[Any]) -> "Coded":
        codes = series.fill_null(False).to_numpy().astype(np.intp)
        codes[series.is_null().to_numpy()] = GAP
        return cls.of_codes(codes, lambda used: (used == 1).tolist(), 2)

    def counts(self) -> Ints:  # (k,)
        """Return the number of rows of each distinct cell."""
        return np.bincount(self.codes[self.codes != GAP], minlength=len(self.distinct))

    def n_gaps(self) -> int:
        """Return the number of gaps."""
        return int((self.codes == GAP).sum())

    def all_cells(self) -> list[Any]:
        """Return the cells of all rows that are not gaps."""
        return [self.distinct[code] for code in self.codes.tolist() if code != GAP]

    def rows_of(self, codes: Sequence[int]) -> Ints:
        """Return the rows whose cells have one of some codes."""
        is_one = np.zeros(len(self.distinct) + 1, dtype=bool)
        is_one[list(codes)] = True
        return np.flatnonzero(is_one[self.codes])

    def taken(self, values: Sequence[Any] | NDArray[Any], gap: Any, dtype: Any) -> NDArray[Any]:  # (n,)
        """Return a value for each row, given those of the distinct cells and that of a gap."""
        table = np.empty(len(values) + 1, dtype=dtype)
        table[:-1] = values
        table[-1] = gap
        return table[self.codes]

    def mapped(self, function: Callable[[Any], Any]) -> "Coded":
        """Return the codes of other cells, ``function`` of these; equal ones get the same code.

        >>> Coded.of_cells([1, 1.0, "x", None]).mapped(lambda cell: None if cell == "x" else str(int(cell)))
        Coded(codes=array([ 0,  0, -1, -1]), distinct=['1'])
        """
        cells = [function(cell) for cell in self.distinct]
        new = Coded.of_cells(cells)
        if len(new.distinct) == len(cells):
            return Coded(self.codes, cells)
        return Coded(np.append(new.codes, GAP)[self.codes], new.distinct)


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

    def n_gaps(self) -> int:
        """Return the number of gaps."""
        return int(np.isnan(self.cells).sum()) if isinstance(self.cells, np.ndarray) else self.cells.n_gaps()

    def are_whole(self) -> bool:
        """Return whether all numbers are whole; not if one is beyond 2^53, where every float is whole."""
        values = self.numbers()
        for some in (values[:FIRST], values):  # most columns of decimals have some at once
            there = some[~np.isnan(some)]
            if not ((np.abs(there) < 2**53) & (there == np.floor(there))).all():
                return False
        return len(there) > 0

    def whole_values(self) -> tuple[int, int, float]:
        """Return the numbers of distinct values and of values, and the range of the values."""
        if isinstance(self.cells, np.ndarray) or self.kind is Kind.NUMBER:
            values = self.numbers()
            there = values[~np.isnan(values)]
            distinct: Sequence[Any] = np.unique(there).tolist()
            n_values = len(there)
        else:
            cells = self.cells.mapped(int)  # large integers may become equal as floats
            distinct, n_values = sorted(cells.distinct), len(cells) - cells.n_gaps()
        return len(distinct), n_values, distinct[-1] - distinct[0] if distinct else 0

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
        of_text = {cell: spelling.value(cell) for cell in there}
        return [of_text.get(cell, np.nan) if isinstance(cell, str) else parsed(cell) for cell in distinct]

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
                f"Or read the column as categories: --categorical {names_argument([self.name])}.",
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


def raw_columns(X: Any, *, copy: bool = True) -> list[RawColumn]:
    """Return the columns of a frame, an array or a list of rows.

    Columns of an array or frame of floats share its memory if ``copy`` is False; they may then lie apart in it.

    >>> [(column.name, column.kind.value) for column in raw_columns([[1, "a"], [2, "b"]])]
    [('x0', 'integer'), ('x1', 'text')]
    """
    table = opened(X)
    if isinstance(table, np.ndarray):
        return _array_columns(table, copy=copy)
    pairs = zip(column_labels(table) or [], nw.from_native(table, eager_only=True).iter_columns(), strict=True)
    return [_series_column(str(label), f"X[{label!r}]", series, copy=copy) for label, series in pairs]


def _array_columns(array: NDArray[Any], *, copy: bool) -> list[RawColumn]:
    kind = array.dtype.kind
    columns = []
    for i, values in enumerate(array.T):
        name, place = f"x{i}", f"X[:, {i}]"
        if kind == "f":
            with np.errstate(over="ignore"):  # extended precision; infinite values raise an error later
                columns.append(RawColumn(name, Kind.NUMBER, values.astype(float, copy=copy), place))
        elif kind in "iu":
            is_exact = _is_exact(values.min(), values.max())
            cells = values.astype(float) if is_exact else Coded.of_cells(values.tolist())
            columns.append(RawColumn(name, Kind.INTEGER, cells, place))
        elif kind in "mM":
            columns.append(_moment_column(name, place, values))
        else:
            columns.append(_object_column(name, place, values.tolist()))
    return columns


def _series_column(name: str, place: str, series: nw.Series[Any], *, copy: bool) -> RawColumn:
    dtype = series.dtype
    if dtype.is_integer():
        is_exact = _is_exact(series.min(), series.max())
        return RawColumn(name, Kind.INTEGER, floats(series) if is_exact else Coded.of_cells(series.to_list()), place)
    if dtype.is_float() or (isinstance(dtype, nw.Decimal) and not _holds_long_integers(series)):
        return RawColumn(name, Kind.NUMBER, floats(series, copy=copy), place)
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


def floats(series: nw.Series[Any], *, copy: bool = True) -> Floats:  # (n,)
    """Return a series of numbers as floats, gaps as NaN."""
    return series.cast(nw.Float64).to_numpy().astype(float, copy=copy)


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
                cli="Replace them by numbers or texts, or fit a model without the column: "
                f"--drop {names_argument([name])}.",
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
