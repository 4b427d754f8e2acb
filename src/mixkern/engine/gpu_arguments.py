"""Calls of the engine's functions for arrays on a GPU: check the arguments, and return arrays of the given kind.

The checks are those that need no transfer: types and shapes, with the same texts as for arrays of the host.
"""

from importlib import import_module
from typing import Any

import numpy as np

from mixkern.engine import check
from mixkern.engine.low_rank import LowRankWhiteners, Metric, ProjectedWhiteners
from mixkern.errors import EngineError, EngineTypeError, hint
from mixkern.gpu_array import is_gpu_array, like, on_device, stream_of


def _gpu() -> Any:
    """Import the functions for a GPU, and CuPy with them."""
    return import_module("mixkern.engine.gpu")


def distance(A: Any, shares_A: Any, B: Any, shares_B: Any, whiteners: Metric, out: Any) -> Any:
    """Return distances between rows on a GPU, in the type of A."""
    with stream_of(A):
        whiteners = _metric(whiteners)
        a, b = _sides(A, shares_A, None, B, shares_B, None, whiteners)
        found = _gpu().distance(*a[:2], *b[:2], whiteners=whiteners, out=_result(out, a, b))
        return like(found, A) if out is None else out


def kernel(
    A: Any,
    shares_A: Any,
    B: Any,
    shares_B: Any,
    whiteners: Metric,
    factors: tuple[float, float],
    codes: tuple[Any, Any],
    out: Any,
) -> Any:
    """Return kernel values between rows on a GPU, in the type of A."""
    with stream_of(A):
        whiteners = _metric(whiteners)
        a, b = _sides(A, shares_A, codes[0], B, shares_B, codes[1], whiteners)
        how = _options(factors, a, b)
        found = _gpu().kernel(*a[:2], *b[:2], whiteners=whiteners, **how, out=_result(out, a, b))
        return like(found, A) if out is None else out


def kernel_times(
    A: Any,
    shares_A: Any,
    B: Any,
    shares_B: Any,
    V: Any,
    whiteners: Metric,
    factors: tuple[float, float],
    codes: tuple[Any, Any],
) -> Any:
    """Multiply a kernel matrix on a GPU by V, in the type of A."""
    with stream_of(A):
        whiteners = _metric(whiteners)
        a, b = _sides(A, shares_A, codes[0], B, shares_B, codes[1], whiteners)
        values, m = on_device(V, a[0].dtype), len(b[0])
        if values.ndim not in (1, 2):
            raise EngineError(f"V must have the shape ({m}, q) or ({m},), but its shape is {values.shape}.")
        if len(values) != m:
            raise EngineError(f"V has {len(values)} rows, but B has {m}.")
        how = _options(factors, a, b)
        return like(_gpu().kernel_times(*a[:2], *b[:2], values, whiteners=whiteners, **how), A)


def _options(factors: tuple[float, float], a: tuple[Any, ...], b: tuple[Any, ...]) -> dict[str, Any]:
    """Return the parameters of a kernel and the codes of both sides, as keywords."""
    return {"gamma": 1.0, "alpha": factors[0], "beta": factors[1], "codes_A": a[2], "codes_B": b[2]}


def _sides(
    A: Any, shares_A: Any, codes_A: Any, B: Any, shares_B: Any, codes_B: Any, whiteners: Metric
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Check rows, shares and codes of both sides, and return them as arrays of CuPy."""
    d, k = _size(whiteners)
    a = _side("A", A, shares_A, codes_A, d, k)
    if B is None:
        for name, given in (("shares_B", shares_B), ("codes_B", codes_B)):
            if given is not None:
                raise EngineError(f"{name} is given, but B is not. Give both, or none for A against itself.")
        return a, (None, None, None)
    if shares_B is None:
        if a[1].ndim != 1:
            raise EngineError("shares_B is missing: B needs one row of responsibilities for each of its rows.")
        shares_B = a[1]
    b = _side("B", B, shares_B, codes_B, d, k)
    if (a[2] is None) != (b[2] is None):
        raise EngineError("codes_A and codes_B belong together, but only one of them is given.")
    if a[2] is not None and a[2].shape[1] != b[2].shape[1]:
        raise EngineError(f"codes_A has {a[2].shape[1]} categorical columns, but codes_B has {b[2].shape[1]}.")
    return a, b


def _metric(whiteners: Any) -> Any:
    """Check metrics of the host, and return those on a GPU as an array of CuPy."""
    if isinstance(whiteners, (ProjectedWhiteners, LowRankWhiteners)):
        return whiteners
    return on_device(whiteners) if is_gpu_array(whiteners) else check.metrics(whiteners)


def _size(whiteners: Metric) -> tuple[int, int]:
    """Return the numbers of columns and of components."""
    if isinstance(whiteners, ProjectedWhiteners):
        return whiteners.projection.shape[1], len(whiteners)
    if isinstance(whiteners, LowRankWhiteners):
        return whiteners.n_features, len(whiteners)
    return int(whiteners.shape[1]), len(whiteners)


def _side(letter: str, rows: Any, shares: Any, codes: Any, d: int, k: int) -> tuple[Any, Any, Any]:
    """Check the rows of one side."""
    if not is_gpu_array(rows):
        raise EngineTypeError(f"{letter} must be on the GPU, as the other rows are, but it is a {type(rows).__name__}.")
    found = on_device(rows)
    if found.dtype not in (np.float32, np.float64):
        raise EngineTypeError(
            f"{letter} must have dtype float32 or float64, but it has {found.dtype}.",
            hint=hint(python=f"Convert it first: {letter}.astype('float32')"),
        )
    if found.ndim != 2:
        raise EngineError(f"{letter} must have the shape (rows, {d}), but its shape is {found.shape}.")
    if found.shape[1] != d:
        raise EngineError(f"{letter} has {found.shape[1]} continuous columns, but the whiteners have {d}.")
    own = on_device(shares, None if is_gpu_array(shares) else found.dtype)
    if own.dtype not in (np.float32, np.float64):
        own = own.astype(found.dtype)
    if own.shape not in ((len(found), k), (k,)):
        raise EngineError(
            f"shares_{letter} must have the shape ({len(found)}, {k}) or ({k},), for {len(found)} rows and {k} "
            f"components, but its shape is {own.shape}."
        )
    if codes is not None:
        codes = on_device(codes, np.int32)
        if codes.ndim != 2 or len(codes) != len(found):
            raise EngineError(f"codes_{letter} has {len(codes)} rows, but {letter} has {len(found)}.")
    return found, own, codes


def _result(out: Any, a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """Check the array that the result is written to, and return it as one of CuPy."""
    if out is None:
        return None
    shape = len(a[0]), len(a[0] if b[0] is None else b[0])
    if not is_gpu_array(out):
        raise EngineTypeError(f"out must be on the GPU, as the rows are, but it is a {type(out).__name__}.")
    found = on_device(out)
    if found.dtype != a[0].dtype:
        raise EngineTypeError(f"out must have dtype {a[0].dtype}, but it has {found.dtype}.")
    if found.shape != shape:
        raise EngineError(f"out must have the shape {shape}, but its shape is {found.shape}.")
    if found.size and found.strides[1] != found.itemsize:
        raise EngineError("out must hold each row in one piece, in order.", hint=hint(python="Make it with empty."))
    return found


def density_arguments(X: Any, components: Any, offsets: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Check rows on a GPU, offsets and weights, and return them as arrays of CuPy."""
    rows = on_device(X)
    k, d = components.means.shape
    if rows.ndim != 2 or rows.shape[1] != d:
        raise EngineError(f"The components have {d} features, so X must have shape (n, {d}), but it has {rows.shape}.")
    if rows.dtype not in (np.float32, np.float64):
        raise EngineTypeError(f"X must have dtype float32 or float64, but it has {rows.dtype}.")
    if not k:
        raise EngineError("There must be at least one component.")
    if offsets is not None:
        offsets = on_device(offsets, rows.dtype)
        if offsets.shape != (len(rows), k):
            raise EngineError(f"offsets must have shape ({len(rows)}, {k}), but they have {offsets.shape}.")
    if weights is not None:
        weights = on_device(weights, rows.dtype)
        if weights.ndim != 1:
            raise EngineError(f"weights must have the shape ({len(rows)},), but its shape is {weights.shape}.")
        if len(weights) != len(rows):
            raise EngineError(f"There are {len(rows)} rows, but {len(weights)} weights.")
    return rows, offsets, weights


def row_densities(X: Any, components: Any, offsets: Any, *, fill: bool) -> Any:
    """Compute densities of rows on a GPU."""
    with stream_of(X):
        rows, offsets, _ = density_arguments(X, components, offsets, None)
        found = _gpu().row_densities(rows, components, offsets=offsets, fill=fill)
        return found.converted(lambda part: like(part, X))


def moments(X: Any, components: Any, offsets: Any, weights: Any, *, with_shares: bool) -> Any:
    """Compute the sums of an M-step on a GPU; they are arrays of the host, except the shares."""
    with stream_of(X):
        rows, offsets, weights = density_arguments(X, components, offsets, weights)
        found = _gpu().moments(rows, components, offsets=offsets, weights=weights, with_shares=with_shares)
        shares = None if found.shares is None else like(found.shares, X)
        return type(found)(found.counts, found.sums, found.squares, found.log_normaliser, shares)
