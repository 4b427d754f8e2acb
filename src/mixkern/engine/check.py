"""Checks of the engine's arguments.

Strict, because the callers are mixkern's own kernels: nothing is converted except the order of memory.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.engine.low_rank import LowRankWhiteners, ProjectedWhiteners
from mixkern.errors import EngineError, EngineTypeError, hint
from mixkern.typing import Codes, Floats

# Squares of whitened distances must neither overflow nor be lost; see core/tile.cpp.
LARGEST = 1e140


@dataclass(frozen=True)
class Side:
    """The rows that one side of the matrix stands for."""

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
    low_rank: LowRankWhiteners | None = None  # the metrics, where they are of low rank plus a diagonal

    @property
    def n_components(self) -> int:
        """Number of metrics, k."""
        return len(self.whiteners)

    @property
    def columns(self) -> Side:
        """The rows that the columns of the matrix stand for."""
        return self.a if self.b is None else self.b

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return len(self.a.rows), len(self.columns.rows)


def array(name: str, given: object, dtype: DTypeLike, shapes: str, n_dims: tuple[int, ...]) -> NDArray[Any]:
    """Check that an argument is a NumPy array of one type, and make it contiguous."""
    if not isinstance(given, np.ndarray) or isinstance(given, np.ma.MaskedArray):
        raise EngineTypeError(f"{name} must be a NumPy array {shapes}, but it is a {type(given).__name__}.")
    if given.dtype != np.dtype(dtype) or not given.dtype.isnative:
        raise EngineTypeError(
            f"{name} must have dtype {np.dtype(dtype)}, but it has {given.dtype}.",
            hint=hint(python=f"Convert it first: {name}.astype({np.dtype(dtype).name!r})"),
        )
    if given.ndim not in n_dims:
        raise EngineError(f"{name} must have the shape {shapes}, but its shape is {given.shape}.")
    return np.require(given, requirements=["C", "A"])


def length(name: str, values: Floats) -> float:
    """Give the norm of all values, and check that they are finite."""
    flat = values.reshape(-1)
    with np.errstate(all="ignore"):
        # Not numpy.dot: it starts the threads of BLAS, which then occupy the processors that the engine's threads need.
        norm = float(np.sqrt(np.einsum("i,i->", flat, flat)))
    if not np.isfinite(norm):
        if np.isnan(flat).any():
            raise EngineError(f"{name} contains NaN. Fill gaps or leave out their rows first.")
        raise EngineError(f"{name} contains values that are infinite or too large to be squared.")
    return norm


def metrics(whiteners: object) -> Floats:
    """Check whiteners: lower triangular matrices, or their diagonals."""
    found: Floats = array("whiteners", whiteners, np.float64, "(k, d, d) or (k, d)", (2, 3))
    if found.shape[0] == 0:
        raise EngineError(f"whiteners must have at least one component, but the shape is {found.shape}.")
    if found.ndim == 3 and found.shape[1] != found.shape[2]:
        raise EngineError(f"whiteners must have the shape (k, d, d) or (k, d), but the shape is {found.shape}.")
    length("whiteners", found)
    if found.ndim == 3 and np.triu(found, 1).any():
        raise EngineError(
            "whiteners must be lower triangular, but there are values above the diagonal. Transpose upper ones first."
        )
    return found


def shares_of(name: str, given: object, n_rows: int, n_components: int) -> Floats:
    """Check responsibilities, one row for each row or one for all."""
    shapes = f"({n_rows}, {n_components}) or ({n_components},)"
    found: Floats = array(name, given, np.float64, shapes, (1, 2))
    if found.shape not in ((n_rows, n_components), (n_components,)):
        raise EngineError(
            f"{name} must have the shape {shapes}, for {n_rows} rows and {n_components} components, "
            f"but its shape is {found.shape}."
        )
    length(name, found)
    if found.size and found.min() < 0:
        raise EngineError(f"{name} must not be negative, but the smallest value is {found.min():.3g}.")
    return found.reshape(-1, n_components)


def rows_of(letter: str, rows: object, n_features: int) -> Floats:
    """Check that the rows of one side have as many columns as the metrics."""
    found: Floats = array(letter, rows, np.float64, f"(rows, {n_features})", (2,))
    if found.shape[1] != n_features:
        raise EngineError(f"{letter} has {found.shape[1]} continuous columns, but the whiteners have {n_features}.")
    return found


def side(letter: str, rows: object, shares: object, codes: object, whiteners: Floats) -> Side:
    """Check the rows of one side."""
    found = rows_of(letter, rows, whiteners.shape[1])
    norm = length(letter, found)
    if norm * np.abs(whiteners).max(initial=0.0) > LARGEST:
        raise EngineError(f"{letter} is too large for whiteners of this size: distances beyond {LARGEST:g} overflow.")
    checked: Codes | None = None
    if codes is not None:
        checked = array(f"codes_{letter}", codes, np.int32, f"({len(found)}, e)", (2,))
        if len(checked) != len(found):
            raise EngineError(f"codes_{letter} has {len(checked)} rows, but {letter} has {len(found)}.")
    return Side(found, shares_of(f"shares_{letter}", shares, len(found), len(whiteners)), checked)


def projected(letter: str, rows: object, whiteners: ProjectedWhiteners) -> Floats:
    """Check the rows of one side, and give the coordinates in which they are measured."""
    projection: Floats = array("projection", whiteners.projection, np.float64, "(q, d)", (2,))
    found = rows_of(letter, rows, projection.shape[1])
    length("projection", projection)
    length(letter, found)
    return whiteners.projected(found)


def pairs(
    A: object,
    shares_A: object,
    B: object,
    shares_B: object,
    whiteners: object,
    codes_A: object = None,
    codes_B: object = None,
) -> Pairs:
    """Check both sides and the metrics between them; rows are projected where the metrics are."""
    if isinstance(whiteners, ProjectedWhiteners):
        A, B = projected("A", A, whiteners), None if B is None else projected("B", B, whiteners)
        whiteners = whiteners.whiteners
    low_rank = whiteners if isinstance(whiteners, LowRankWhiteners) else None
    checked = metrics(whiteners) if low_rank is None else _low_rank_metrics(low_rank)
    a = side("A", A, shares_A, codes_A, checked)
    if B is None:
        for name, given in (("shares_B", shares_B), ("codes_B", codes_B)):
            if given is not None:
                raise EngineError(f"{name} is given, but B is not. Give both, or none for A against itself.")
        return Pairs(a, None, checked, low_rank)
    if shares_B is None and np.ndim(shares_A) == 1:  # type: ignore[arg-type]
        shares_B = shares_A
    if shares_B is None:
        raise EngineError("shares_B is missing: B needs one row of responsibilities for each of its rows.")
    b = side("B", B, shares_B, codes_B, checked)
    if (a.codes is None) != (b.codes is None):
        raise EngineError("codes_A and codes_B belong together, but only one of them is given.")
    if a.codes is not None and b.codes is not None and a.codes.shape[1] != b.codes.shape[1]:
        raise EngineError(f"codes_A has {a.codes.shape[1]} categorical columns, but codes_B has {b.codes.shape[1]}.")
    return Pairs(a, b, checked, low_rank)


def _low_rank_metrics(whiteners: LowRankWhiteners) -> Floats:
    """Check whiteners of low rank, and give their diagonals."""
    scales = metrics(whiteners.scales)
    directions = array("directions", whiteners.directions, np.float64, "(k, d, q)", (3,))
    if directions.shape[:2] != scales.shape:
        k, d = scales.shape
        raise EngineError(f"directions must have the shape ({k}, {d}, q), but the shape is {directions.shape}.")
    length("directions", directions)
    return scales


def number(name: str, given: object, at_least: float = 0.0) -> float:
    """Check that an argument is a finite number and not too small."""
    if isinstance(given, bool) or not isinstance(given, (int, float, np.integer, np.floating)):
        raise EngineTypeError(f"{name} must be a number, but it is a {type(given).__name__}.")
    if not np.isfinite(float(given)) or given < at_least:
        raise EngineError(f"{name} must be finite and at least {at_least:g}, but it is {given}.")
    return float(given)


def float_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Check the type of a result."""
    found = np.dtype(dtype)
    if found not in (np.float64, np.float32):
        raise EngineTypeError(f"dtype must be float64 or float32, but it is {found}.")
    return found


def result(out: object, dtype: DTypeLike, shape: tuple[int, int], inputs: Pairs) -> NDArray[Any]:
    """Check or make the array that the result is written to."""
    if out is None:
        return np.empty(shape, float_type(dtype))
    if not isinstance(out, np.ndarray):
        raise EngineTypeError(f"out must be a NumPy array, but it is a {type(out).__name__}.")
    if out.dtype not in (np.float64, np.float32) or not out.dtype.isnative:
        raise EngineTypeError(f"out must have dtype float64 or float32, but it has {out.dtype}.")
    if out.shape != shape:
        raise EngineError(f"out must have the shape {shape}, but its shape is {out.shape}.")
    if not out.flags.writeable:
        raise EngineError("out is read-only.")
    _check_layout(out)
    for side in (inputs.a, inputs.columns):
        for given in (side.rows, side.shares, side.codes, inputs.whiteners):
            if given is not None and np.may_share_memory(out, given):
                raise EngineError("out overlaps with an input in memory. Give an array of its own.")
    return out


def _check_layout(out: NDArray[Any]) -> None:
    """Check that each row is in one piece; rows may be apart."""
    n, m = out.shape
    is_row_whole = m <= 1 or out.strides[1] == out.itemsize
    are_rows_apart = n <= 1 or (out.strides[0] >= m * out.itemsize and out.strides[0] % out.itemsize == 0)
    if out.size and not (is_row_whole and are_rows_apart and out.flags.aligned):
        raise EngineError(
            f"out must be aligned and hold each row in one piece, in order, but its strides are {out.strides} bytes.",
            hint=hint(python="Make it with numpy.empty."),
        )
