"""Distances and kernels: check the arguments, plan the work, and compute it in the compiled core or in NumPy."""

import logging
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.engine import check, gpu_arguments, reference
from mixkern.engine.check import Pairs, Side
from mixkern.engine.low_rank import LowRankWhiteners, Metric
from mixkern.engine.plan import Order, Plan, plan
from mixkern.errors import EngineError, EngineTypeError
from mixkern.gpu_array import is_gpu_array
from mixkern.threads import available_threads
from mixkern.typing import Codes, Floats

# Rows of A that kernel_times computes at a time: bounds its memory, and lets Ctrl-C interrupt it in between.
_ROWS_AT_A_TIME = 2**16
# Components that change a float32 distance by less than this share are lost in its roundings.
_FLOAT32_RTOL = 1e-7
# Distances of one component of low rank that are held at a time: 8 MiB.
_LOW_RANK_CELLS = 2**20

Factors = tuple[float, float]  # of the squared distance and of the squared count, in the exponent of a kernel


@cache
def core() -> ModuleType | None:
    """Import the compiled core; without it, log a warning once and return None."""
    try:
        from mixkern.engine import _core
    except ImportError as error:
        logging.getLogger("mixkern.engine").warning(
            "The compiled engine is missing (%s); NumPy is used instead, which is some hundred times slower.", error
        )
        return None
    return _core


def distance(
    A: Floats,
    shares_A: Floats,
    B: Floats | None = None,
    shares_B: Floats | None = None,
    *,
    whiteners: Metric,
    rtol: float = 1e-12,
    out: NDArray[Any] | None = None,
    dtype: DTypeLike = np.float64,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> NDArray[Any]:
    r"""Return distances between rows: those of all components, averaged by their responsibilities for both rows.

    .. math:: D_{ij} = \sum_k \tfrac12 (\rho_{ik} + \rho_{jk})\, \|W_k (x_i - x_j)\|

    Parameters
    ----------
    A : array of float64, shape (n, d)
        Rows of continuous columns.
    shares_A : array of float64, shape (n, k) or (k,)
        Responsibilities of the components for the rows. With shape (k,) they apply to all rows: the weights of a
        mixture give the GMM distance.
    B : array of float64, shape (m, d), optional
        The other rows. None compares A with itself: half the work, exactly symmetric, exactly zero on the diagonal.
    shares_B : array of float64, shape (m, k) or (k,), optional
        Responsibilities for B. Required unless `shares_A` has shape (k,), which then applies to B as well.
    whiteners : array of float64, shape (k, d, d) or (k, d), or LowRankWhiteners
        Lower triangular inverse Cholesky factors of the covariances, or the diagonals of diagonal ones. Those of low
        rank are applied to the rows; the core then measures component by component.
    rtol : float, default=1e-12
        Components that change a distance by less than this share may be skipped; in float32, at least 1e-7. 0 skips
        none.
    out : array of float64 or float32, shape (n, m), optional
        Array to write the result to, which saves the time to allocate a large one.
    dtype : float64 or float32, default=float64
        Type of the result where no `out` is given, and of the computation. float32 takes half the memory and about
        half the time (metrics of low rank: as long). Inputs are float64 in any case: rows are centred and whitened
        before they are rounded.
    n_threads : int, optional
        Limit for the threads; None is as many as the available processors, ``OMP_NUM_THREADS`` and threadpoolctl
        allow. Results do not depend on it.

    Returns
    -------
    array of shape (n, m)
        The distance of equal rows is exactly zero. Distances above 1e-3 of the spread have a relative error of at most
        1e-12. So have smaller ones, computed again from raw differences, if the metric is well conditioned. In float32
        the relative error is at most 3e-6, and that of a kernel value at most 2e-6, for up to a hundred columns and
        components.

    Examples
    --------
    >>> A = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> distance(A, np.array([0.5, 0.5]), whiteners=np.stack([np.eye(2), 3 * np.eye(2)]))
    array([[ 0., 10.],
           [10.,  0.]])
    """
    if is_gpu_array(A):
        return gpu_arguments.distance(A, shares_A, B, shares_B, whiteners, out)
    pairs = check.pairs(A, shares_A, B, shares_B, whiteners)
    result = check.result(out, dtype, pairs.shape, pairs)
    return _matrix(pairs, None, rtol, result, n_threads, _isa)


def kernel(
    A: Floats,
    shares_A: Floats,
    B: Floats | None = None,
    shares_B: Floats | None = None,
    *,
    whiteners: Metric,
    gamma: float,
    alpha: float = 1.0,
    beta: float = 1.0,
    codes_A: Codes | None = None,
    codes_B: Codes | None = None,
    rtol: float = 1e-12,
    out: NDArray[Any] | None = None,
    dtype: DTypeLike = np.float64,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> NDArray[Any]:
    r"""Return a Gaussian of the distance D and of the number C of differing categories.

    .. math:: K_{ij} = \exp\{-\gamma\, (\alpha D_{ij}^2 + \beta C_{ij}^2)\}

    Parameters
    ----------
    A, shares_A, B, shares_B, whiteners, rtol, out, dtype, n_threads
        As in :func:`distance`. Skipping by `rtol` changes a value by at most 0.37 `rtol`, whatever `gamma` is.
    gamma, alpha, beta : float
        Decay, and the weights of continuous and categorical columns in it; not negative.
    codes_A, codes_B : array of int32, shapes (n, e) and (m, e), optional
        Categories, compared for equality. A negative code is a gap, and gaps are a category of their own.

    Examples
    --------
    >>> A = np.array([[0.0], [1.0]])
    >>> kernel(A, np.array([1.0]), whiteners=np.ones((1, 1, 1)), gamma=np.log(2.0))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if is_gpu_array(A):
        factors, codes = _factors(gamma, alpha, beta), (codes_A, codes_B)
        return gpu_arguments.kernel(A, shares_A, B, shares_B, whiteners, factors, codes, out)
    pairs = check.pairs(A, shares_A, B, shares_B, whiteners, codes_A, codes_B)
    result = check.result(out, dtype, pairs.shape, pairs)
    return _matrix(pairs, _factors(gamma, alpha, beta), rtol, result, n_threads, _isa)


def kernel_times(
    A: Floats,
    shares_A: Floats,
    B: Floats,
    shares_B: Floats | None,
    V: Floats,
    *,
    whiteners: Metric,
    gamma: float,
    alpha: float = 1.0,
    beta: float = 1.0,
    codes_A: Codes | None = None,
    codes_B: Codes | None = None,
    rtol: float = 1e-12,
    dtype: DTypeLike = np.float64,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> NDArray[Any]:
    """Multiply a kernel matrix by V, without storing the matrix.

    Parameters
    ----------
    A, shares_A, B, shares_B, whiteners, gamma, alpha, beta, codes_A, codes_B, rtol, n_threads
        As in :func:`kernel`, but B is required.
    V : array of float64, shape (m, q) or (m,)
        For example, dual coefficients.
    dtype : float64 or float32, default=float64
        Type of the result and of the kernel; products with V are added up in float64.

    Returns
    -------
    array of shape (n, q) or (n,)
        ``kernel(A, shares_A, B, shares_B, ...) @ V``. The value of a row depends on other rows of A only by rounding
        and within `rtol`.

    Examples
    --------
    >>> A, B = np.array([[0.0], [1.0]]), np.array([[0.0]])
    >>> kernel_times(A, np.array([1.0]), B, None, np.array([8.0]), whiteners=np.ones((1, 1, 1)), gamma=np.log(2.0))
    array([8., 4.])
    """
    if B is None:
        raise EngineError("kernel_times needs B. For A against itself, pass A twice.")
    if is_gpu_array(A):
        factors, codes = _factors(gamma, alpha, beta), (codes_A, codes_B)
        return gpu_arguments.kernel_times(A, shares_A, B, shares_B, V, whiteners, factors, codes)
    pairs = check.pairs(A, shares_A, B, shares_B, whiteners, codes_A, codes_B)
    n, m = pairs.shape
    values: Floats = check.array("V", V, np.float64, f"({m}, q) or ({m},)", (1, 2))
    if len(values) != m:
        raise EngineError(f"V has {len(values)} rows, but B has {m}.")
    check.length("V", values)
    columns = values.reshape(m, 1) if values.ndim == 1 else values
    product = np.zeros((n, columns.shape[1]))
    kind = check.float_type(dtype)
    _product(pairs, _factors(gamma, alpha, beta), columns, _rtol(rtol, kind), kind, product, n_threads, _isa)
    return (product.reshape(n) if values.ndim == 1 else product).astype(kind, copy=False)


def _factors(gamma: float, alpha: float, beta: float) -> Factors:
    """Check the parameters of a kernel, and multiply them."""
    gamma = check.number("gamma", gamma)
    return gamma * check.number("alpha", alpha), gamma * check.number("beta", beta)


def _rtol(rtol: float, dtype: np.dtype[Any]) -> float:
    """Check rtol; it is at least that of the type, unless it is zero."""
    rtol = check.number("rtol", rtol)
    return max(rtol, _FLOAT32_RTOL) if rtol and dtype == np.float32 else rtol


def n_threads_of(n_threads: int | None) -> int:
    """Check the number of threads; where it is None, use those available."""
    if n_threads is None:
        return available_threads()
    if isinstance(n_threads, bool) or not isinstance(n_threads, (int, np.integer)):
        raise EngineTypeError(f"n_threads must be an int or None, but it is a {type(n_threads).__name__}.")
    if not 1 <= n_threads <= 4096:
        raise EngineError(f"n_threads must lie between 1 and 4096, but it is {n_threads}.")
    return int(n_threads)


def _matrix(
    pairs: Pairs, factors: Factors | None, rtol: float, out: NDArray[Any], n_threads: int | None, isa: str | None
) -> NDArray[Any]:
    """Write kernel values to out; distances where factors is None."""
    rtol, n_threads = _rtol(rtol, out.dtype), n_threads_of(n_threads)
    if out.size == 0:
        return out
    if pairs.low_rank is not None:
        return _low_rank_matrix(pairs, pairs.low_rank, factors, out, n_threads, isa)
    compiled = core()
    if compiled is None:
        out[...] = _reference(pairs, factors)
    else:
        arguments = _core_arguments(pairs, factors or (0.0, 0.0), plan(pairs, rtol, is_matrix=True), n_threads, isa)
        compiled.matrix(**arguments, is_kernel=factors is not None, out=out)
    return out


def _product(
    pairs: Pairs,
    factors: Factors,
    values: Floats,
    rtol: float,
    dtype: np.dtype[Any],
    out: Floats,
    n_threads: int | None,
    isa: str | None,
) -> None:
    """Write the product of kernel and values to out, some rows of A at a time."""
    n_threads = n_threads_of(n_threads)
    compiled = core()
    step = _ROWS_AT_A_TIME if pairs.low_rank is None else max(1, _LOW_RANK_CELLS // len(values))
    for first in range(0, len(out) if values.size else 0, step):
        rows = slice(first, first + step)
        part = replace(pairs, a=pairs.a.part(rows), b=pairs.columns)
        if pairs.low_rank is not None:
            kernel_part = np.empty(part.shape)
            out[rows] = _low_rank_matrix(part, pairs.low_rank, factors, kernel_part, n_threads, isa) @ values
            continue
        if compiled is None:
            out[rows] = _reference(part, factors) @ values
            continue
        planned = plan(part, rtol, is_matrix=False)
        ordered = values if planned.b is None else values[planned.b.rows]
        arguments = _core_arguments(part, factors, planned, n_threads, isa)
        is_float32 = dtype == np.float32
        compiled.times(**arguments, values=np.ascontiguousarray(ordered.T), is_float32=is_float32, out=out[rows])


def _low_rank_matrix(
    pairs: Pairs,
    whiteners: LowRankWhiteners,
    factors: Factors | None,
    out: NDArray[Any],
    n_threads: int,
    isa: str | None,
) -> NDArray[Any]:
    """Write kernel values or distances to out: rows are whitened by each component, and measured by the core.

    Distances of one component are float64 in any case; they are added up in the type of out.
    """
    out[...] = 0.0
    with np.errstate(over="ignore"):  # infinite in float32
        for k in range(len(whiteners)):
            _add_component(pairs, whiteners, k, out, n_threads, isa)
    if factors is None:
        return out
    step = max(1, _LOW_RANK_CELLS // out.shape[1])
    for first in range(0, len(out), step):
        rows = slice(first, first + step)
        _exponentiate(out[rows], pairs.a.part(rows).codes, pairs.columns.codes, factors)
    return out


def _exponentiate(distances: NDArray[Any], codes_A: Codes | None, codes_B: Codes | None, factors: Factors) -> None:
    """Replace some rows of distances by kernel values."""
    exponent = np.square(distances, dtype=np.float64)
    exponent *= -factors[0]
    if codes_A is not None and codes_B is not None:
        counts = reference.count(codes_A, codes_B)
        counts *= counts
        counts *= factors[1]
        exponent -= counts
    distances[...] = np.exp(exponent, out=exponent)


def _add_component(
    pairs: Pairs, whiteners: LowRankWhiteners, k: int, total: NDArray[Any], n_threads: int, isa: str | None
) -> None:
    """Add the weighted distances of one component, some rows at a time."""
    n, m = pairs.shape
    share_a, share_b = (np.broadcast_to(each.shares[:, k], size) for each, size in ((pairs.a, n), (pairs.columns, m)))
    white = Side(whiteners.whitened(k, pairs.a.rows), np.ones((1, 1)), None)
    other = white if pairs.b is None else Side(whiteners.whitened(k, pairs.b.rows), np.ones((1, 1)), None)
    is_whole = pairs.b is None and n * m <= _LOW_RANK_CELLS  # exactly symmetric either way, at half the work
    step = n if is_whole else max(1, _LOW_RANK_CELLS // m)
    plain = np.ones((1, whiteners.n_features))
    for start in range(0, n, step):
        at = slice(start, start + step)
        part = Pairs(white.part(at), None if is_whole else other, plain)
        lengths = _matrix(part, None, 0.0, np.empty(part.shape), n_threads, isa)
        lengths *= 0.5 * (share_a[at, None] + share_b)
        total[at] += lengths


def _core_arguments(pairs: Pairs, factors: Factors, planned: Plan, n_threads: int, isa: str | None) -> dict[str, Any]:
    """Return the arguments that all functions of the core share."""
    k = pairs.n_components
    return {
        "a": _side(pairs.a, planned.a),
        "b": None if pairs.b is None else _side(pairs.b, planned.b),
        "whiteners": pairs.whiteners,
        "norms": np.sqrt((pairs.whiteners.reshape(k, -1) ** 2).sum(axis=1)),
        "centre": pairs.columns.rows.mean(axis=0),  # of B, so that it is the same for all blocks of A
        "per_sq_distance": factors[0],
        "per_sq_count": factors[1],
        "tile": planned.tile,
        "chunk": planned.chunk,
        "n_threads": 1 if planned.is_little else n_threads,
        "isa": isa,
    }


def _side(side: check.Side, order: Order | None) -> tuple[Any, ...]:
    """Return rows with their order as a tuple for the core."""
    return (side.rows, side.shares, side.codes, order.rows if order else None, order.keep if order else None)


def _reference(pairs: Pairs, factors: Factors | None) -> Floats:
    """Return distances or kernel values, computed in NumPy."""
    a, b = pairs.a, pairs.b
    rows = (a.rows, a.shares, None if b is None else b.rows, None if b is None else b.shares)
    if factors is None:
        return reference.distance(*rows, whiteners=pairs.whiteners)
    codes: dict[str, Any] = {"codes_A": a.codes, "codes_B": None if b is None else b.codes}
    return reference.kernel(*rows, whiteners=pairs.whiteners, gamma=1.0, alpha=factors[0], beta=factors[1], **codes)
