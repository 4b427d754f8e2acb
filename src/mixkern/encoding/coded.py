"""A column as the codes of its distinct cells, so that each of them is read once."""

import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import NoneType
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from mixkern.encoding.cell import is_gap
from mixkern.imports import optional
from mixkern.typing import Ints

GAP = -1


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
        return cls._of_arrow(native if series.implementation is nw.Implementation.PYARROW else series.to_arrow())

    @classmethod
    def _of_arrow(cls, column: Any) -> "Coded":
        """Return the codes of a pyarrow array or chunked array."""
        pa = optional("pyarrow", purpose="Columns of Arrow")
        column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries().combine_chunks()
        dictionary = column.dictionary
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
