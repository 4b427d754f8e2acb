"""The functions of the engine: arguments are checked, the work is planned, the compiled core or NumPy computes."""

import logging
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mixkern.engine import check, reference
from mixkern.engine.check import Pairs
from mixkern.engine.plan import Order, plan
from mixkern.errors import EngineError, EngineTypeError
from mixkern.threads import available_threads
from mixkern.typing import Codes, Floats

# Below this many squares of differences, starting a thread takes longer than the work.
_WORTH_A_THREAD = 200_000
# Rows of A that kernel_times plans at a time: bounds its memory, and lets an interrupt through.
_AT_A_TIME = 2**16


@cache
def core() -> ModuleType | None:
    """Import the compiled core; where it is missing, log that once and give None."""
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
    whiteners: Floats,
    rtol: float = 1e-12,
    out: NDArray[Any] | None = None,
    dtype: DTypeLike = np.float64,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> NDArray[Any]:
    r"""Give the distances of all components, averaged by their responsibilities for either row.

    .. math:: D_{ij} = \sum_k \tfrac12 (\rho_{ik} + \rho_{jk})\, \|W_k (x_i - x_j)\|

    Parameters
    ----------
    A : array of float64, shape (n, d)
        Rows of continuous columns.
    shares_A : array of float64, shape (n, k) or (k,)
        Responsibilities of the components for the rows. One row of them stands for all rows: the weights of a mixture
        give the GMM distance.
    B : array of float64, shape (m, d), optional
        The other rows. None for A against itself: half the work, exactly symmetric, exactly zero on the diagonal.
    shares_B : array of float64, shape (m, k) or (k,), optional
        Responsibilities for B; those of A if they are one row.
    whiteners : array of float64, shape (k, d, d) or (k, d)
        Lower triangular inverse Cholesky factors of the covariances, or the diagonals of diagonal ones.
    rtol : float, default=1e-12
        Components that change a distance by less than this share may be skipped. 0 skips none.
    out : array of float64 or float32, shape (n, m), optional
        Array to write the result to. Allocating memory is a large part of the time of a large result.
    dtype : float64 or float32, default=float64
        Type of the result where no `out` is given. The sums are in float64 either way.
    n_threads : int, optional
        None for as many as the processors granted, ``OMP_NUM_THREADS`` and threadpoolctl allow. Results do not depend
        on it.

    Returns
    -------
    array of shape (n, m)
        The distance of equal rows is exactly zero. Distances above 1e-3 of the spread are right to 1e-12. So are
        smaller ones as far as the metric is well conditioned: they are computed again from raw differences.

    Examples
    --------
    >>> A = np.array([[0.0, 0.0], [3.0, 4.0]])
    >>> distance(A, np.array([0.5, 0.5]), whiteners=np.stack([np.eye(2), 3 * np.eye(2)]))
    array([[ 0., 10.],
           [10.,  0.]])
    """
    pairs = check.pairs(A, shares_A, B, shares_B, whiteners)
    result = check.result(out, dtype, pairs.shape, pairs)
    return _matrix(pairs, None, rtol, result, n_threads, _isa)


def kernel(
    A: Floats,
    shares_A: Floats,
    B: Floats | None = None,
    shares_B: Floats | None = None,
    *,
    whiteners: Floats,
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
    r"""Give the Gaussian of the distance and of the count of differing categories.

    .. math:: K_{ij} = \exp\{-\gamma\, (\alpha D_{ij}^2 + \beta C_{ij}^2)\}

    Parameters
    ----------
    A, shares_A, B, shares_B, whiteners, rtol, out, dtype, n_threads
        As in :func:`distance`. Skipping by `rtol` changes a value by at most 0.37 `rtol`, whatever `gamma` is.
    gamma, alpha, beta : float
        Decay, and the shares of continuous and categorical columns in it; not negative.
    codes_A, codes_B : array of int32, shapes (n, e) and (m, e), optional
        Categories, compared for equality. A negative code is a gap, and gaps are a category of their own.

    Examples
    --------
    >>> A = np.array([[0.0], [1.0]])
    >>> kernel(A, np.array([1.0]), whiteners=np.ones((1, 1, 1)), gamma=np.log(2.0))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    pairs = check.pairs(A, shares_A, B, shares_B, whiteners, codes_A, codes_B)
    result = check.result(out, dtype, pairs.shape, pairs)
    return _matrix(pairs, _per_square(gamma, alpha, beta), rtol, result, n_threads, _isa)


def kernel_times(
    A: Floats,
    shares_A: Floats,
    B: Floats,
    shares_B: Floats | None,
    V: Floats,
    *,
    whiteners: Floats,
    gamma: float,
    alpha: float = 1.0,
    beta: float = 1.0,
    codes_A: Codes | None = None,
    codes_B: Codes | None = None,
    rtol: float = 1e-12,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> Floats:
    """Multiply a kernel matrix with the columns of V, without storing the matrix.

    Parameters
    ----------
    A, shares_A, B, shares_B, whiteners, gamma, alpha, beta, codes_A, codes_B, rtol, n_threads
        As in :func:`kernel`, but B is required.
    V : array of float64, shape (m, q) or (m,)
        Dual coefficients, for example.

    Returns
    -------
    array of shape (n, q) or (n,)
        ``kernel(A, shares_A, B, shares_B, ...) @ V``. Other rows of A change the result of a row by no more than
        rounding and `rtol`.

    Examples
    --------
    >>> A, B = np.array([[0.0], [1.0]]), np.array([[0.0]])
    >>> kernel_times(A, np.array([1.0]), B, None, np.array([8.0]), whiteners=np.ones((1, 1, 1)), gamma=np.log(2.0))
    array([8., 4.])
    """
    if B is None:
        raise EngineError("kernel_times needs B. For A against itself, pass A twice.")
    pairs = check.pairs(A, shares_A, B, shares_B, whiteners, codes_A, codes_B)
    n, m = pairs.shape
    values: Floats = check.array("V", V, np.float64, f"({m}, q) or ({m},)", (1, 2))
    if len(values) != m:
        raise EngineError(f"V has {len(values)} rows, but B has {m}.")
    check.length("V", values)
    rtol, n_threads = check.number("rtol", rtol), _threads(n_threads)
    columns = values.reshape(m, 1) if values.ndim == 1 else values
    product = np.zeros((n, columns.shape[1]))
    per_square = _per_square(gamma, alpha, beta)
    if n * columns.size:
        _fill_product(pairs, per_square, columns, rtol, product, n_threads, _isa)
    return product.reshape(n) if values.ndim == 1 else product


def _per_square(gamma: float, alpha: float, beta: float) -> tuple[float, float]:
    """Give the factors of a squared distance and of a squared count in the exponent."""
    gamma = check.number("gamma", gamma)
    return gamma * check.number("alpha", alpha), gamma * check.number("beta", beta)


def _threads(n_threads: int | None) -> int:
    """Check the number of threads; where it is None, use those available."""
    if n_threads is None:
        return available_threads()
    if isinstance(n_threads, bool) or not isinstance(n_threads, (int, np.integer)):
        raise EngineTypeError(f"n_threads must be an int or None, but it is a {type(n_threads).__name__}.")
    if not 1 <= n_threads <= 4096:
        raise EngineError(f"n_threads must lie between 1 and 4096, but it is {n_threads}.")
    return int(n_threads)


def _threads_worth(pairs: Pairs, n_threads: int) -> int:
    """Give the number of threads, 1 for small matrices."""
    (n, m), (k, d) = pairs.shape, pairs.whiteners.shape[:2]
    return n_threads if n * m * k * (d + 4) > _WORTH_A_THREAD else 1


def _matrix(
    pairs: Pairs,
    per_square: tuple[float, float] | None,
    rtol: float,
    out: NDArray[Any],
    n_threads: int | None,
    isa: str | None,
) -> NDArray[Any]:
    """Fill out with distances, or with kernel values."""
    rtol, n_threads = check.number("rtol", rtol), _threads(n_threads)
    if out.size == 0:
        return out
    compiled = core()
    if compiled is None:
        out[...] = _reference(pairs, per_square)
        return out
    planned = plan(pairs, rtol)
    compiled.matrix(
        a=_side(pairs.a, planned.a),
        b=None if pairs.b is None else _side(pairs.b, planned.b),
        **_metrics(pairs),
        per_sq_distance=per_square[0] if per_square else 0.0,
        per_sq_count=per_square[1] if per_square else 0.0,
        is_kernel=per_square is not None,
        out=out,
        tile=planned.tile,
        chunk=planned.chunk,
        n_threads=_threads_worth(pairs, n_threads),
        isa=isa,
    )
    return out


def _fill_product(
    pairs: Pairs,
    per_square: tuple[float, float],
    values: Floats,
    rtol: float,
    out: Floats,
    n_threads: int,
    isa: str | None,
) -> None:
    """Fill out with kernel values times values, some rows of A at a time."""
    compiled = core()
    for first in range(0, len(out), _AT_A_TIME):
        rows = slice(first, first + _AT_A_TIME)
        part = Pairs(pairs.a.part(rows), pairs.columns, pairs.whiteners)
        if compiled is None:
            out[rows] = _reference(part, per_square) @ values
            continue
        planned = plan(part, rtol)
        compiled.times(
            a=_side(part.a, planned.a),
            b=_side(part.columns, planned.b),
            **_metrics(part),
            per_sq_distance=per_square[0],
            per_sq_count=per_square[1],
            values=np.ascontiguousarray((values if planned.b is None else values[planned.b.rows]).T),
            out=out[rows],
            tile=planned.tile,
            chunk=planned.chunk,
            n_threads=_threads_worth(part, n_threads),
            isa=isa,
        )


def _side(side: check.Side, order: Order | None) -> tuple[Any, ...]:
    """Give one side as the core takes it."""
    return (side.rows, side.shares, side.codes, order.rows if order else None, order.keep if order else None)


def _metrics(pairs: Pairs) -> dict[str, Floats]:
    """Give metrics and origin as the core takes them; the origin is the mean of B, so that blocks of A share it."""
    columns = pairs.columns.rows
    return {
        "whiteners": pairs.whiteners,
        "norms": np.sqrt((pairs.whiteners.reshape(pairs.n_components, -1) ** 2).sum(axis=1)),
        "centre": columns.mean(axis=0) if len(columns) else np.zeros(columns.shape[1]),
    }


def _reference(pairs: Pairs, per_square: tuple[float, float] | None) -> Floats:
    """Give distances or kernel values by the NumPy reference."""
    a, b = pairs.a, pairs.b
    rows = (a.rows, a.shares, None if b is None else b.rows, None if b is None else b.shares)
    if per_square is None:
        return reference.distance(*rows, whiteners=pairs.whiteners)
    return reference.kernel(
        *rows,
        whiteners=pairs.whiteners,
        gamma=1.0,
        alpha=per_square[0],
        beta=per_square[1],
        codes_A=a.codes,
        codes_B=None if b is None else b.codes,
    )
