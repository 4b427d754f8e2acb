r"""Distances and kernels between rows, on a GPU.

Rows are whitened by every component once, then compared in one of two ways. By differences of whitened coordinates: no
digits of a small distance are lost. Or, for kernels in float32, by products of halves on tensor cores
(``pairs_by_products``), which is faster, but has errors of squared distances that are shares of the squared norms.
Products are used where a bound of the error that they add to a kernel value is small; see :func:`product_error`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cupy as cp
import numpy as np

from mixkern.engine.gpu.compiled import NULL, capability, elements, function, kept, most_shared, pointer, real_of
from mixkern.engine.low_rank import LowRankWhiteners, Metric, ProjectedWhiteners
from mixkern.gpu_array import to_host
from mixkern.typing import Floats

TILE = 128  # rows are padded to a multiple
BLOCK = 64  # rows of a block of whitened rows
HEAD = 128  # bytes of the barriers in shared memory
FEW_COORDINATES = 32  # of a stage
STAGE_LINES = 10  # coordinates of all components of a stage
MOST_STEPS = 8  # of 16 halves, of products
BULK_COPIES = 90  # compute capability from which on several stages are in shared memory
HALF_SHARED = 113 * 1024  # bytes of shared memory of a block of threads, so that a multiprocessor has two of them
PRODUCT_ERROR = 4e-5  # bound of the error that products add to a kernel value, up to which they are used
ROUNDING = 2.0**-24  # of float
CENTRE_ROWS = 4096  # that centres are the means of
CELLS = 2**28  # numbers of a kernel matrix, or of whitened rows, that kernel_times holds at a time: 1 GiB in float32

Factors = tuple[float, float]


@dataclass(frozen=True)
class Side:
    """Rows of one side: (n, d), their shares (n, k) or (k,), and category codes (n, e) or None."""

    rows: Any
    shares: Any
    codes: Any

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def of_zeros(self) -> "Side":
        """Return the rows with one column of zeros."""
        return Side(cp.zeros((len(self), 1), dtype=self.rows.dtype), self.shares, self.codes)

    def part(self, at: slice) -> "Side":
        """Return some of the rows."""
        shares = self.shares if self.shares.ndim == 1 else self.shares[at]
        return Side(self.rows[at], shares, None if self.codes is None else self.codes[at])


@dataclass(frozen=True)
class Metrics:
    """Metrics of the components on the GPU, and the point that rows are centred at in each."""

    whiteners: Any  # (k, d, d) or (k, d), or LowRankWhiteners of arrays on the GPU
    centres: Any  # (k, d), float64
    given: Any  # the whiteners as they were given

    @property
    def n_components(self) -> int:
        """Number of components, k."""
        return len(self.whiteners)

    @property
    def is_low_rank(self) -> bool:
        """Whether rows are whitened by thin matrices."""
        return isinstance(self.whiteners, LowRankWhiteners)


@dataclass(frozen=True)
class White:
    """Whitened rows as a kernel takes them; see ``pairs.cu``."""

    values: Any
    shares: Any  # (k, padded n): half of the responsibilities, of products
    codes: Any  # (e, padded n) or None
    n: int
    k: int  # components, padded

    @property
    def pitch(self) -> int:
        """Number of rows, padded."""
        return _padded(self.n)


def distance(A: Any, shares_A: Any, B: Any = None, shares_B: Any = None, *, whiteners: Metric, out: Any = None) -> Any:
    """Return distances between rows, as :func:`mixkern.engine.distance`; computed in the type of A."""
    a, b, metrics = _sides(A, shares_A, None, B, shares_B, None, whiteners)
    return _matrix(a, b, metrics, None, out)


def kernel(
    A: Any,
    shares_A: Any,
    B: Any = None,
    shares_B: Any = None,
    *,
    whiteners: Metric,
    gamma: float,
    alpha: float = 1.0,
    beta: float = 1.0,
    codes_A: Any = None,
    codes_B: Any = None,
    out: Any = None,
) -> Any:
    """Return kernel values between rows, as :func:`mixkern.engine.kernel`; computed in the type of A."""
    a, b, metrics = _sides(A, shares_A, codes_A, B, shares_B, codes_B, whiteners)
    return _matrix(a, b, metrics, (gamma * alpha, gamma * beta), out)


def kernel_times(
    A: Any,
    shares_A: Any,
    B: Any,
    shares_B: Any,
    V: Any,
    *,
    whiteners: Metric,
    gamma: float,
    alpha: float = 1.0,
    beta: float = 1.0,
    codes_A: Any = None,
    codes_B: Any = None,
) -> Any:
    """Multiply a kernel matrix by V, as :func:`mixkern.engine.kernel_times`, some rows of A at a time."""
    a, b, metrics = _sides(A, shares_A, codes_A, B, shares_B, codes_B, whiteners)
    other = a if b is None else b
    values = cp.asarray(V).astype(a.rows.dtype, copy=False)
    columns = values.reshape(len(other), -1)
    product = cp.zeros((len(a), columns.shape[1]), dtype=a.rows.dtype)
    of_row = max(1, len(other), metrics.n_components * _numbers_of_row(a.rows.shape[1]))
    step = max(TILE, CELLS // of_row // TILE * TILE)
    for start in range(0, len(a) if len(other) else 0, step):
        at = slice(start, start + step)
        product[at] = _matrix(a.part(at), other, metrics, (gamma * alpha, gamma * beta), None) @ columns
    return product.reshape(len(a)) if values.ndim == 1 else product


def _sides(
    A: Any, shares_A: Any, codes_A: Any, B: Any, shares_B: Any, codes_B: Any, whiteners: Metric
) -> tuple[Side, Side | None, Metrics]:
    """Put the arguments on the GPU, project rows where the metrics are, and choose where to centre them."""
    rows, others = cp.asarray(A), None if B is None else cp.asarray(B).astype(A.dtype, copy=False)
    if isinstance(whiteners, ProjectedWhiteners):
        projection = cp.asarray(whiteners.projection)
        rows, others = (each if each is None else (each @ projection.T).astype(rows.dtype) for each in (rows, others))
        whiteners = whiteners.whiteners
    a = Side(rows, cp.asarray(shares_A), None if codes_A is None else cp.asarray(codes_A, dtype=cp.int32))
    b = None
    if others is not None:
        shares = a.shares if shares_B is None else cp.asarray(shares_B)
        b = Side(others, shares, None if codes_B is None else cp.asarray(codes_B, dtype=cp.int32))
    if isinstance(whiteners, LowRankWhiteners):
        parts = (whiteners.scales, whiteners.directions, whiteners.log_dets)
        on_gpu: Any = LowRankWhiteners(*(cp.asarray(each, dtype=rows.dtype) for each in parts))
    else:
        on_gpu = kept(whiteners, rows.dtype)
    return a, b, Metrics(on_gpu, _centres(a if b is None else b, len(whiteners)), whiteners)


def _centres(side: Side, k: int) -> Any:  # (k, d)
    """Return the mean of some rows in each component, where norms are smallest for the rows that matter."""
    n, d = side.rows.shape
    if not n or not d:
        return cp.zeros((k, d))
    centres = cp.empty((k, d))
    options = _mode(None, side) | {"REAL": real_of(side.rows.dtype), "COORDINATES": 1, "CHUNKS": 1, "COMPONENTS": 1}
    compute = function("pairs", "centres_of_rows", **options, SLOTS=2, MY_ROWS=4)
    arguments = (*_row_arguments(side, None), -(-n // CENTRE_ROWS), centres)
    compute((k,), (256,), arguments, shared_mem=256 * centres.itemsize)
    return centres


def _matrix(a: Side, b: Side | None, metrics: Metrics, factors: Factors | None, out: Any) -> Any:
    """Write kernel values to out; distances where factors is None."""
    dtype, shape = a.rows.dtype, (len(a), len(a) if b is None else len(b))
    result = cp.empty(shape, dtype=dtype) if out is None else out
    if not result.size:
        return result
    d = a.rows.shape[1]
    if d == 0 or (isinstance(metrics.whiteners, cp.ndarray) and metrics.whiteners.size == 0):
        zeros = np.zeros((metrics.n_components, 1))
        metrics = Metrics(cp.asarray(zeros, dtype=dtype), cp.asarray(zeros), zeros)
        a, b, d = a.of_zeros(), None if b is None else b.of_zeros(), 1
    if factors is not None and dtype == np.float32 and not metrics.is_low_rank:
        options = _product_options(d, factors, a)
        if options is not None and _by_products(a, b, metrics, factors, result, options):
            return result
    _by_differences(a, b, metrics, factors, result)
    return result


def _mode(factors: Factors | None, side: Side) -> dict[str, Any]:
    return {"IS_KERNEL": int(factors is not None), "HAS_CODES": int(side.codes is not None and factors is not None)}


def _n_tiles(n: int, m: int, height: int, width: int, *, is_symmetric: bool) -> int:
    """Return the number of tiles of a matrix, or of those on and below its diagonal."""
    rows = _padded(n) // height
    return rows * (rows + 1) // 2 * (height // width) if is_symmetric else rows * -(-m // width)


# ------------------------------------------------------------------------------------------------ differences


def _by_differences(a: Side, b: Side | None, metrics: Metrics, factors: Factors | None, out: Any) -> None:
    """Write kernel values or distances to out."""
    options = _difference_options(a.rows.shape[1], metrics.n_components, a.rows.dtype) | _mode(factors, a)
    white = _white(a, metrics, options)
    other = white if b is None else _white(b, metrics, options)
    height = 16 * options["MY_ROWS"]
    memory = HEAD + options["SLOTS"] * _stage_bytes(options, a.rows.dtype)
    compute = function("pairs", "pairs_by_differences", shared_memory=memory, **options)
    n_tiles = _n_tiles(white.n, other.n, height, BLOCK, is_symmetric=b is None)
    compute((n_tiles,), (256,), (*_arguments(white, other, b is None, factors, out), out), shared_mem=memory)


def _difference_options(d: int, k: int, dtype: Any) -> dict[str, Any]:
    """Divide columns and components into stages."""
    chunks = -(-d // FEW_COORDINATES)
    coordinates = -(-d // chunks)
    n_stages = 1 if chunks > 1 else -(-k // max(1, STAGE_LINES // coordinates))
    components = 1 if chunks > 1 else -(-k // n_stages)
    options = {
        "REAL": real_of(dtype),
        "COORDINATES": coordinates,
        "CHUNKS": chunks,
        "COMPONENTS": components,
        "MY_ROWS": 8 if dtype == np.float32 else 4,
    }
    return options | {"SLOTS": _n_slots(_stage_bytes(options, dtype), 3, most_shared())}


def _stage_bytes(options: dict[str, Any], dtype: Any) -> int:
    """Return the bytes of a stage of both sides."""
    lines = options["COMPONENTS"] * (options["COORDINATES"] + 1)
    return int(lines * (16 * options["MY_ROWS"] + BLOCK) * np.dtype(dtype).itemsize)


def _n_slots(stage: int, most: int, memory: int) -> int:
    """Return the number of stages in shared memory: one on older processors, which do not use more."""
    return min(most, (memory - HEAD) // stage) if capability() >= BULK_COPIES else 1


def _white(side: Side, metrics: Metrics, options: dict[str, Any]) -> White:
    """Whiten rows by each component."""
    n, d = side.rows.shape
    k, n_blocks = metrics.n_components, _padded(n) // BLOCK
    padded_k = -(-k // options["COMPONENTS"]) * options["COMPONENTS"]
    n_lines = options["COORDINATES"] * options["CHUNKS"] + 1
    values = cp.empty((n_blocks, padded_k, n_lines, BLOCK), dtype=side.rows.dtype)
    if metrics.is_low_rank:
        values[...] = 0
        for i in range(k):
            values[:, i, :d] = _in_blocks(_thin_whitened(metrics, i, side.rows))
            own = side.shares[i] if side.shares.ndim == 1 else side.shares[:, i]
            values[:, i, -1:] = _in_blocks(cp.broadcast_to(0.5 * own, (n,))[:, None].astype(values.dtype))
    else:
        compute = function("pairs", "whitened_rows", **options)
        compute((-(-_padded(n) // 128), padded_k), (128,), (*_row_arguments(side, metrics), values))
    return White(values, None, _padded_codes(side), n, padded_k)


def _thin_whitened(metrics: Metrics, k: int, rows: Any) -> Any:  # (n, d)
    """Whiten rows by a thin matrix: (I - F F') diag(scales)."""
    directions = metrics.whiteners.directions[k]
    white = (rows - metrics.centres[k].astype(rows.dtype)) * metrics.whiteners.scales[k]
    return white - (white @ directions) @ directions.T


def _in_blocks(rows: Any) -> Any:  # (blocks, d, BLOCK)
    """Pad rows with zeros, and cut them into blocks, each column by column."""
    n, d = rows.shape
    padded = cp.zeros((_padded(n), d), dtype=rows.dtype)
    padded[:n] = rows
    return padded.reshape(-1, BLOCK, d).transpose(0, 2, 1)


# ------------------------------------------------------------------------------------------------ products


def _product_options(d: int, factors: Factors, side: Side) -> dict[str, Any] | None:
    """Choose the size of tiles and the number of stages; None where rows have too many columns."""
    steps = _n_steps(d)
    if steps > MOST_STEPS or capability() < BULK_COPIES:
        return None
    wide = 1 if steps <= 2 else 2
    options = {
        "REAL": "float",
        "COORDINATES": d,
        "CHUNKS": 1,
        "COMPONENTS": 1,
        "MY_ROWS": 8,
        "STEPS": steps,
        "WIDE": wide,
    }
    slots = _n_slots(_slot_bytes(options), 2 + wide, min(HALF_SHARED, most_shared()))
    return options | {"SLOTS": slots} | _mode(factors, side) if slots >= 2 else None


def _n_steps(d: int) -> int:
    return -(-(3 * d + 6) // 16)


def _numbers_of_row(d: int) -> int:
    """Return the most floats that a row whitened by one component takes, its share included: those of halves."""
    return 8 * _n_steps(d) + 5


def _slot_bytes(options: dict[str, Any]) -> int:
    """Return the bytes of a stage of products."""
    return int((128 + 32 * options["WIDE"]) * ((16 * options["STEPS"] + 8) * 2 + 4))


def _by_products(
    a: Side, b: Side | None, metrics: Metrics, factors: Factors, out: Any, options: dict[str, Any]
) -> bool:
    """Write kernel values to out, unless the bound of their error is too large."""
    ratios = metric_ratios(to_host(metrics.given))
    if not np.isfinite(ratios).all():
        return False
    largest = cp.zeros(2, dtype=cp.uint32)
    on_gpu = kept(ratios, cp.float32)
    white = _halves(a, metrics, options, on_gpu, largest[:1], is_left=True)
    other = _halves(a if b is None else b, metrics, options, on_gpu, largest[1:], is_left=False)
    sq_norms = float(largest.get().view(np.float32).sum())
    bound = product_error(a.rows.shape[1], factors[0], sq_norms, float(ratios.max()))
    if not bound <= PRODUCT_ERROR:  # the bound may be NaN
        return False
    memory = HEAD + options["SLOTS"] * _slot_bytes(options)
    compute = function("pairs", "pairs_by_products", shared_memory=memory, **options)
    n_tiles = _n_tiles(white.n, other.n, 128, 32 * options["WIDE"], is_symmetric=b is None)
    arguments = (*_arguments(white, other, b is None, factors, out), out)
    compute((n_tiles,), (128 * options["WIDE"],), arguments, shared_mem=memory)
    return True


def _halves(
    side: Side, metrics: Metrics, options: dict[str, Any], ratios: Any, largest: Any, *, is_left: bool
) -> White:
    """Whiten rows and split them into halves; the largest weighted sum of squared norms is written to largest."""
    k, pitch = metrics.n_components, _padded(len(side))
    values = cp.empty((k, pitch, 16 * options["STEPS"] + 8), dtype=cp.uint16)
    shares = cp.empty((k, pitch), dtype=cp.float32)
    compute = function("pairs", "halves_of_rows", **options)
    arguments = (*_row_arguments(side, metrics), int(is_left), ratios, values, shares, largest)
    compute((-(-pitch // 64),), (64,), arguments)
    return White(values, shares, _padded_codes(side), len(side), k)


# ------------------------------------------------------------------------------------------------ error of products


def product_error(d: int, gamma: float, sq_norms: float, ratio: float) -> float:
    r"""Return a bound of the error that products add to a kernel value.

    It is the largest difference from the value that exact arithmetic gives for the same whitened rows in float32.
    Terms of second order are left out. Responsibilities of a row must not have a larger sum than one.

    Parameters
    ----------
    d : int
        Number of columns.
    gamma : float
        Decay of the kernel by squared distances.
    sq_norms : float
        The largest :math:`s` of both sides, added. With the squared norm :math:`n_k` of a row in component k, its
        responsibility :math:`\rho_k` and the ratio :math:`r_k` of :func:`metric_ratios`,
        :math:`s = \sum_k \rho_k\, \{\tfrac12 \rho_k + (2 - \rho_k)\, r_k\}\, n_k`.
    ratio : float
        The largest ratio.

    Notes
    -----
    Let u be the rounding error of float, :math:`2^{-24}`.

    **Squares.** For rows x and y, let :math:`N = n(x) + n(y)` be the sum of their squared norms in one component, and
    :math:`\Delta` their distance. The error of :math:`\Delta^2` is at most
    :math:`c\,(N + \Delta^2) + 2u \Delta^2 + u`, where c is the sum of

    * 4 u, because products of two low halves are left out, each of which is at most :math:`2^{-11}` of its
      coordinate;
    * u / 2 for each term of a sum that is cut off at :math:`2^{-25}` of the largest term;
    * 2 u for each sum but the last that is cut off to a float.

    Steps with only products of a high and a low half come first. Their terms are so small that one further u covers
    them. The last term of the error, u, is for halves below :math:`2^{-14}`, whose rounding error is absolute. A
    coordinate itself moves by at most 4 u of its size, or by u / 2, when it is split into halves.

    **Kernel values.** With :math:`w_k = \{\rho_k(x) + \rho_k(y)\} / 2`, the squared distance of the kernel is
    :math:`D^2 = \sum_{jk} w_j w_k \Delta_j \Delta_k`. If :math:`\Delta_k^2` has the error :math:`e_k`, the term of
    j and k changes by at most :math:`e_k \Delta_j / \Delta_k + e_j \Delta_k / \Delta_j`, and by :math:`e_k` for j = k.
    No :math:`\Delta_j / \Delta_k` is above :math:`r_k`, so that :math:`D^2` changes by at most
    :math:`\sum_k w_k \{w_k + 2\,(1 - w_k)\, r_k\}\, e_k`, where :math:`w_k` is at least half of the responsibility for
    either row. The norm of the other row is at most :math:`\sqrt{n_k} + \Delta_k`. What depends on :math:`\Delta_k`
    then gives the small terms below, by :math:`t e^{-t^2} \le 0.43` and :math:`t^2 e^{-t^2} \le 0.37` with
    :math:`t = \sqrt\gamma D`.
    """
    low_steps = 2 * d // 16  # of products of high and low halves alone
    steps = _n_steps(d) - low_steps
    terms = 3 * d + 6 - 16 * low_steps + steps  # with the sums of the steps before
    c = 5 + terms / 2 + 2 * (steps - 1)
    scaled = gamma * sq_norms
    root = np.sqrt(scaled)
    of_squares = c * (scaled + 1.3 * root + 1.6)
    of_coordinates = 5 * root + 5 + np.sqrt(gamma * d)
    return float(ROUNDING * (of_squares + of_coordinates + 2 * gamma * ratio))


def metric_ratios(whiteners: Floats) -> Floats:  # (k,)
    r"""Return bounds of the ratios between distances in any other component and in each one.

    Distances in components j and k have at most the ratio :math:`\|W_j W_k^{-1}\|`, the spectral norm. Its square is
    at most the largest sum of absolute values in a line of :math:`(W_j W_k^{-1})^\top W_j W_k^{-1}`. The result is at
    least 1, and infinite where a metric is singular. One component, which has no other, has the ratio 1/2, so that
    weights in :func:`product_error` are 1. Ratios of the last few mixtures are kept.
    """
    given = np.ascontiguousarray(whiteners, dtype=np.float64)
    return _kept_ratios(given.tobytes(), given.shape)


@lru_cache(maxsize=16)
def _kept_ratios(content: bytes, shape: tuple[int, ...]) -> Floats:
    whiteners = np.frombuffer(content).reshape(shape)
    if len(whiteners) == 1:
        return np.array([0.5])
    with np.errstate(all="ignore"):
        found = _diagonal_ratios(whiteners) if whiteners.ndim == 2 else _full_ratios(np.tril(whiteners))
    ratios = np.where(np.isfinite(found), np.maximum(found, 1.0), np.inf)
    ratios.setflags(write=False)
    return ratios


def _diagonal_ratios(whiteners: Floats) -> Floats:
    return np.array([np.abs(whiteners / own).max() for own in whiteners])


def _full_ratios(whiteners: Floats) -> Floats:
    k, d = whiteners.shape[:2]
    try:
        inverses = np.linalg.inv(whiteners)
    except np.linalg.LinAlgError:
        return np.full(k, np.inf)
    found = np.empty(k)
    for i in range(k):
        relative = (whiteners.reshape(k * d, d) @ inverses[i]).reshape(k, d, d)
        found[i] = np.sqrt(np.abs(np.swapaxes(relative, 1, 2) @ relative).sum(axis=2).max())
    return found


# ------------------------------------------------------------------------------------------------ arguments


def _padded(n: int) -> int:
    return -(-n // TILE) * TILE


def _padded_codes(side: Side) -> Any:
    """Return codes column by column; all gaps have the code -1."""
    if side.codes is None:
        return None
    codes = cp.zeros((side.codes.shape[1], _padded(len(side))), dtype=cp.int32)
    codes[:, : len(side)] = cp.maximum(side.codes, -1).T
    return codes


def _row_arguments(side: Side, metrics: Metrics | None) -> tuple[Any, ...]:
    rows, shares = side.rows, side.shares
    is_same = shares.ndim == 1
    strides = (elements(shares, 0), 0) if is_same else (elements(shares, 1), elements(shares, 0))
    return (
        rows,
        elements(rows, 0),
        elements(rows, 1),
        int(rows.dtype == np.float64),
        len(side),
        _padded(len(side)),
        rows.shape[1],
        *((0, NULL, NULL, 0) if metrics is None else _metric_arguments(metrics)),
        shares,
        *strides,
        int(shares.dtype == np.float64),
    )


def _metric_arguments(metrics: Metrics) -> tuple[Any, ...]:
    return metrics.n_components, metrics.centres, metrics.whiteners, int(metrics.whiteners.ndim == 2)


def _arguments(a: White, b: White, is_symmetric: bool, factors: Factors | None, out: Any) -> tuple[Any, ...]:
    log2_e = float(np.log2(np.e))
    return (
        a.values,
        b.values,
        pointer(a.shares),
        pointer(b.shares),
        pointer(a.codes),
        pointer(b.codes),
        a.n,
        b.n,
        a.pitch,
        b.pitch,
        elements(out, 0),
        a.k,
        0 if a.codes is None else a.codes.shape[0],
        int(is_symmetric),
        *((0.0, 0.0) if factors is None else (factors[0] * log2_e, factors[1] * log2_e)),
    )
