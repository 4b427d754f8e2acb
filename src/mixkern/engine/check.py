"""Arguments of the engine: what is accepted, and the sentences for what is not.

Strict, because the callers are mixkern's own kernels: nothing is converted except the order of memory.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.typing import Floats

Codes = NDArray[np.int32]

# Squares of whitened distances must neither overflow nor be lost; see core/tile.cpp.
LARGEST = 1e140


@dataclass(frozen=True)
class Side:
    """The rows of one side of the matrix."""

    rows: Floats  # (n, d)
    shares: Floats  # (n, k), or (1, k) for the same in every row
    codes: Codes | None  # (n, e)

    def part(self, rows: slice) -> "Side":
        """Give some of the rows."""
        return replace(
            self,
            rows=self.rows[rows],
            shares=self.shares if len(self.shares) == 1 else self.shares[rows],
            codes=None if self.codes is None else self.codes[rows],
        )


@dataclass(frozen=True)
class Pairs:
    """Rows against rows, and the metrics between them."""

    a: Side
    b: Side | None  # None for the rows of a against themselves
    whiteners: Floats  # (k, d, d) or (k, d)

    @property
    def n_components(self) -> int:
        """How many metrics there are."""
        return len(self.whiteners)

    @property
    def columns(self) -> Side:
        """The side that the columns of the matrix stand for."""
        return self.a if self.b is None else self.b

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return len(self.a.rows), len(self.columns.rows)


def array(name: str, given: object, dtype: DTypeLike, shapes: str, n_dims: tuple[int, ...]) -> NDArray[Any]:
    """Accept a NumPy array of one type, and bring its rows together in memory."""
    if not isinstance(given, np.ndarray) or isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{name} must be a NumPy array {shapes}, but it is a {type(given).__name__}.")
    if given.dtype != np.dtype(dtype) or not given.dtype.isnative:
        raise TypeError(
            f"{name} must have dtype {np.dtype(dtype)}, but it has {given.dtype}. "
            f"Convert it first: {name}.astype({np.dtype(dtype).name!r})"
        )
    if given.ndim not in n_dims:
        raise ValueError(f"{name} must have the shape {shapes}, but its shape is {given.shape}.")
    return np.require(given, requirements=["C", "A"])


def length(name: str, values: Floats) -> float:
    """Give the norm of all values, and refuse those that are not finite."""
    flat = values.reshape(-1)
    with np.errstate(all="ignore"):
        # Not numpy.dot: it wakes the threads of BLAS, which then spin on the processors that ours need.
        norm = float(np.sqrt(np.einsum("i,i->", flat, flat)))
    if not np.isfinite(norm):
        if np.isnan(flat).any():
            raise ValueError(f"{name} contains NaN. Fill in or leave out missing values first.")
        raise ValueError(f"{name} contains values that are infinite or too large to be squared.")
    return norm


def metrics(whiteners: object) -> Floats:
    """Accept whiteners: lower triangular matrices, or their diagonals."""
    found: Floats = array("whiteners", whiteners, np.float64, "(k, d, d) or (k, d)", (2, 3))
    if found.shape[0] == 0:
        raise ValueError(f"whiteners must have at least one component, but the shape is {found.shape}.")
    if found.ndim == 3 and found.shape[1] != found.shape[2]:
        raise ValueError(f"whiteners must have the shape (k, d, d) or (k, d), but the shape is {found.shape}.")
    length("whiteners", found)
    if found.ndim == 3 and np.triu(found, 1).any():
        raise ValueError(
            "whiteners must be lower triangular, but there are values above the diagonal. Transpose upper ones first."
        )
    return found


def shares_of(name: str, given: object, n_rows: int, n_components: int) -> Floats:
    """Accept responsibilities, one row for each row or one for all."""
    shapes = f"({n_rows}, {n_components}) or ({n_components},)"
    found: Floats = array(name, given, np.float64, shapes, (1, 2))
    if found.shape not in ((n_rows, n_components), (n_components,)):
        raise ValueError(
            f"{name} must have the shape {shapes}, for {n_rows} rows and {n_components} components, "
            f"but its shape is {found.shape}."
        )
    length(name, found)
    if found.size and found.min() < 0:
        raise ValueError(f"{name} must not be negative, but the smallest value is {found.min():.3g}.")
    return found.reshape(-1, n_components)


def side(letter: str, rows: object, shares: object, codes: object, whiteners: Floats) -> Side:
    """Accept the rows of one side."""
    n_features = whiteners.shape[1]
    found: Floats = array(letter, rows, np.float64, f"(rows, {n_features})", (2,))
    if found.shape[1] != n_features:
        raise ValueError(
            f"{letter} has {found.shape[1]} continuous features, but the whiteners are made for {n_features}."
        )
    norm = length(letter, found)
    if norm * np.abs(whiteners).max(initial=0.0) > LARGEST:
        raise ValueError(f"{letter} is too large for whiteners of this size: distances beyond {LARGEST:g} overflow.")
    checked: Codes | None = None
    if codes is not None:
        checked = array(f"codes_{letter}", codes, np.int32, f"({len(found)}, e)", (2,))
        if len(checked) != len(found):
            raise ValueError(f"codes_{letter} has {len(checked)} rows, but {letter} has {len(found)}.")
    return Side(found, shares_of(f"shares_{letter}", shares, len(found), len(whiteners)), checked)


def pairs(
    A: object,
    shares_A: object,
    B: object,
    shares_B: object,
    whiteners: object,
    codes_A: object = None,
    codes_B: object = None,
) -> Pairs:
    """Accept both sides and the metrics between them."""
    checked = metrics(whiteners)
    a = side("A", A, shares_A, codes_A, checked)
    if B is None:
        for name, given in (("shares_B", shares_B), ("codes_B", codes_B)):
            if given is not None:
                raise ValueError(f"{name} is given, but B is not. Give both, or none for A against itself.")
        return Pairs(a, None, checked)
    if shares_B is None and np.ndim(shares_A) == 1:  # type: ignore[arg-type]
        shares_B = shares_A
    if shares_B is None:
        raise ValueError("shares_B is missing: B needs one row of responsibilities for each of its rows.")
    b = side("B", B, shares_B, codes_B, checked)
    if (a.codes is None) != (b.codes is None):
        raise ValueError("codes_A and codes_B belong together, but only one of them is given.")
    if a.codes is not None and b.codes is not None and a.codes.shape[1] != b.codes.shape[1]:
        raise ValueError(f"codes_A has {a.codes.shape[1]} categorical features, but codes_B has {b.codes.shape[1]}.")
    return Pairs(a, b, checked)


def number(name: str, given: object, at_least: float = 0.0) -> float:
    """Accept a finite number that is not too small."""
    if isinstance(given, bool) or not isinstance(given, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, but it is a {type(given).__name__}.")
    if not np.isfinite(float(given)) or given < at_least:
        raise ValueError(f"{name} must be finite and at least {at_least:g}, but it is {given}.")
    return float(given)


def result(out: object, dtype: DTypeLike, shape: tuple[int, int], inputs: Pairs) -> NDArray[Any]:
    """Accept or make the array that the result is written to."""
    if out is None:
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise TypeError(f"dtype must be float64 or float32, but it is {np.dtype(dtype)}.")
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, but it is a {type(out).__name__}.")
    if out.dtype not in (np.float64, np.float32) or not out.dtype.isnative:
        raise TypeError(f"out must have dtype float64 or float32, but it has {out.dtype}.")
    if out.shape != shape:
        raise ValueError(f"out must have the shape {shape}, but its shape is {out.shape}.")
    if not out.flags.writeable:
        raise ValueError("out is read-only.")
    _check_layout(out)
    for side in (inputs.a, inputs.columns):
        for given in (side.rows, side.shares, side.codes, inputs.whiteners):
            if given is not None and np.may_share_memory(out, given):
                raise ValueError("out overlaps with an input in memory. Give an array of its own.")
    return out


def _check_layout(out: NDArray[Any]) -> None:
    """Rows may be apart, but each must be in one piece."""
    n, m = out.shape
    is_row_whole = m <= 1 or out.strides[1] == out.itemsize
    are_rows_apart = n <= 1 or (out.strides[0] >= m * out.itemsize and out.strides[0] % out.itemsize == 0)
    if out.size and not (is_row_whole and are_rows_apart and out.flags.aligned):
        raise ValueError(
            f"out must be aligned and hold each row in one piece, in order, but its strides are {out.strides} bytes. "
            "Make it with numpy.empty."
        )
