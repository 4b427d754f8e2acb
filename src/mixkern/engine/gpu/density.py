"""Densities of rows under Gaussian components, and the sums of an M-step, on a GPU.

Complete rows are computed by one kernel. Rows with gaps are sorted by their pattern of gaps: for each pattern and
component, a matrix fills the gaps with their expected values and whitens the row, so that they need no solver either.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from mixkern.engine.density import Components, Moments, RowDensities
from mixkern.engine.gpu.compiled import function, kept, most_shared, placed, pointer, real_of
from mixkern.typing import Floats
from mixkern.validation import is_finite

ROWS = 128  # of a block of threads
THREADS = 256
BLOCKS = 1024  # of threads, that sums are divided among at most
SHARES = 2**29  # shares that are held at a time: 2 GiB in float32
WIDE_CELLS = 2**26  # numbers of wide rows that are held at a time
PATTERN_CELLS = 2**26  # entries of the matrices of patterns that are held at a time
MOST_COLUMNS = 64  # that kernels are compiled for
PARAMETERS = 40 * 1024  # bytes of means and whiteners in shared memory
LOG_2PI = float(np.log(2 * np.pi))


def row_densities(X: Any, components: Components, *, offsets: Any = None, fill: bool = False) -> RowDensities:
    """Compute densities of rows, as :func:`mixkern.engine.row_densities`; the results are on the GPU, in X's type."""
    rows, k = cp.ascontiguousarray(X), len(components.means)
    log_joint = cp.empty((k, len(rows)), dtype=rows.dtype)
    found = _evaluated(rows, components, offsets, None, log_joint, kept)
    filled = rows.copy() if fill else None
    n_gaps, n_zero = map(int, found.flags.get())
    for gaps in _gap_rows(rows, components, n_gaps):
        joint = gaps.log_joint(offsets)
        log_joint[:, gaps.at] = joint
        found.log_density[gaps.at], shares = _normalised(joint)
        found.shares[:, gaps.at] = shares
        if filled is not None:
            expected = cp.einsum("kn,knd->nd", shares, gaps.deviations() + gaps.means[:, None, :])
            filled[gaps.at] = cp.where(cp.isnan(gaps.rows), expected, gaps.rows)
    is_positive = n_zero == 0 and (n_gaps == 0 or is_finite(found.log_density))
    return RowDensities(log_joint.T, found.shares.T, found.log_density, filled, is_positive)


def moments(
    X: Any, components: Components, *, offsets: Any = None, weights: Any = None, with_shares: bool = False
) -> Moments:
    """Compute the sums of an M-step, as :func:`mixkern.engine.moments`; they are NumPy arrays, the shares CuPy's."""
    rows, (k, d) = cp.ascontiguousarray(X), components.means.shape
    weights = None if weights is None else cp.ascontiguousarray(weights, dtype=rows.dtype)
    sums = np.zeros((k, d + 1, d + 1))
    log_normaliser, kept = 0.0, []
    step = max(ROWS, SHARES // k)
    for start in range(0, max(1, len(rows)), step):
        at = slice(start, start + step)
        part = rows[at]
        own = None if offsets is None else offsets[at]
        own_weights = None if weights is None else weights[at]
        found = _evaluated(part, components, own, own_weights, None, placed)
        sums += _sums(part, found.shares, components)
        for gaps in _gap_rows(part, components, int(found.flags[0])):
            joint = gaps.log_joint(own)
            log_density, shares = _normalised(joint)
            if own_weights is not None:
                shares *= own_weights[gaps.at]
            found.log_density[gaps.at], found.shares[:, gaps.at] = log_density, shares
            sums += gaps.sums(shares)
        logs = found.log_density if own_weights is None else found.log_density * own_weights
        log_normaliser += float(logs.sum(dtype=cp.float64))
        if with_shares:
            kept.append(found.shares)
    squares = sums[:, :d, :d]
    if components.whiteners.ndim == 2:
        squares = np.einsum("kdd->kd", squares)
    shares = cp.concatenate(kept, axis=1).T if with_shares else None
    return Moments(sums[:, d, d].copy(), sums[:, d, :d].copy(), np.ascontiguousarray(squares), log_normaliser, shares)


@dataclass(frozen=True)
class Evaluated:
    """Densities of complete rows."""

    shares: Any  # (k, n), times the weights of the rows
    log_density: Any  # (n,)
    flags: Any  # (2,): numbers of rows with gaps, and of others whose density is zero


def _evaluated(
    rows: Any, components: Components, offsets: Any, weights: Any, log_joint: Any, place: Callable[[Any, Any], Any]
) -> Evaluated:
    """Compute densities of complete rows; place copies the parameters of the components to the GPU."""
    (n, d), k = rows.shape, len(components.means)
    found = Evaluated(cp.empty((k, n), rows.dtype), cp.empty(n, rows.dtype), cp.zeros(2, dtype=cp.int32))
    if not n:
        return found
    if not 0 < d <= MOST_COLUMNS:
        return _evaluated_wide(rows, components, offsets, weights, log_joint)
    each = (d + (d if components.whiteners.ndim == 2 else d * (d + 1) // 2)) * rows.itemsize
    at_a_time = max(1, min(k, PARAMETERS // each))
    compute = function("density", "densities_of_rows", REAL=real_of(rows.dtype), COLUMNS=d, COMPONENTS=1)
    results = (at_a_time, pointer(log_joint), found.shares, found.log_density, found.flags)
    arguments = (*_arguments(rows, components, offsets, weights, place), *results)
    compute((-(-n // ROWS),), (ROWS,), arguments, shared_mem=at_a_time * each)
    return found


def _evaluated_wide(rows: Any, components: Components, offsets: Any, weights: Any, log_joint: Any) -> Evaluated:
    """Compute densities by matrix products, for more columns than a kernel is compiled for, or none."""
    has_gap = cp.isnan(rows).any(axis=1)
    joint = cp.empty((len(components.means), len(rows)), dtype=rows.dtype)
    for k, (mean, whitener) in enumerate(zip(components.means, components.whiteners, strict=True)):
        deviations, own = rows - cp.asarray(mean, dtype=rows.dtype), cp.asarray(whitener, dtype=rows.dtype)
        white = deviations * own if own.ndim == 1 else deviations @ own.T
        joint[k] = components.log_constants[k] - 0.5 * (white * white).sum(axis=1)
    if offsets is not None:
        joint += cp.asarray(offsets, dtype=rows.dtype).T
    if log_joint is not None:
        log_joint[...] = joint
    log_density, shares = _normalised(joint)
    shares = cp.where(has_gap, 0, shares if weights is None else shares * weights).astype(rows.dtype)
    counts = [each.sum(dtype=cp.int32) for each in (has_gap, ~has_gap & ~cp.isfinite(log_density))]
    return Evaluated(shares, log_density, cp.stack(counts))


def _arguments(
    rows: Any, components: Components, offsets: Any, weights: Any, place: Callable[[Any, Any], Any]
) -> tuple[Any, ...]:
    dtype, (k, d) = rows.dtype, components.means.shape
    whiteners = components.whiteners
    if whiteners.ndim == 3:
        whiteners = whiteners.reshape(k, d * d)[:, _lower(d)]
    parts = (components.means, whiteners, components.log_constants)
    # One copy to the GPU, because each takes some time, however small it is
    packed = place(np.concatenate([part.ravel() for part in parts]), dtype)
    ends = np.cumsum([part.size for part in parts]).tolist()
    means, whiteners, constants = packed[: ends[0]], packed[ends[0] : ends[1]], packed[ends[1] :]
    transposed = None if offsets is None else cp.ascontiguousarray(cp.asarray(offsets, dtype=dtype).T)
    return (
        rows,
        len(rows),
        len(rows),
        k,
        means,
        whiteners,
        int(components.whiteners.ndim == 2),
        constants,
        pointer(transposed),
        pointer(weights),
    )


@cache
def _lower(d: int) -> NDArray[np.intp]:
    """Return the positions of the lower triangle of a matrix, line by line."""
    return np.flatnonzero(np.tri(d, dtype=bool))


def _sums(rows: Any, shares: Any, components: Components) -> Floats:  # (k, d + 1, d + 1)
    """Sum shares times y y' over rows, where y are deviations from the means, and a one."""
    (n, d), k = rows.shape, len(components.means)
    if not n:
        return np.zeros((k, d + 1, d + 1))
    side = -(-(d + 1) // 4)
    triangles = side * (side + 1) // 2
    together = max(1, min(k, THREADS // triangles))
    memory = (ROWS * 4 * side + together * (ROWS + 1)) * rows.itemsize
    if d > MOST_COLUMNS or memory > most_shared():
        return _wide_sums(rows, shares, components)
    items = together * triangles
    mine = min(items, THREADS)
    groups = THREADS // mine
    n_blocks, n_groups = min(BLOCKS, -(-n // ROWS)), -(-k // together)
    partial = cp.zeros((n_blocks, n_groups, items, groups, 16))
    options = {"REAL": real_of(rows.dtype), "COLUMNS": d, "COMPONENTS": together}
    compute = function("density", "moments_of_rows", shared_memory=memory, **options)
    grid = (n_blocks, n_groups, -(-items // THREADS))
    compute(grid, (THREADS,), (*_arguments(rows, components, None, None, placed), shares, partial), shared_mem=memory)
    squares = cp.asnumpy(partial.sum(axis=(0, 3))).reshape(n_groups * together, triangles, 4, 4)[:k]
    full = np.zeros((k, 4 * side, 4 * side))
    for i, (line, column) in enumerate(zip(*np.tril_indices(side), strict=True)):
        full[:, 4 * line : 4 * line + 4, 4 * column : 4 * column + 4] = squares[:, i]
    lower = np.tril(full)[:, : d + 1, : d + 1]
    return lower + np.swapaxes(np.tril(lower, -1), 1, 2)


def _wide_sums(rows: Any, shares: Any, components: Components) -> Floats:  # (k, d + 1, d + 1)
    """Sum shares times y y' by matrix products, some rows at a time."""
    k, d = components.means.shape
    total = cp.zeros((k, d + 1, d + 1))
    step = max(ROWS, WIDE_CELLS // d)
    for start in range(0, len(rows), step):
        part = rows[start : start + step].astype(cp.float64)
        y = cp.ones((len(part), d + 1))
        for i, mean in enumerate(components.means):
            y[:, :d] = cp.nan_to_num(part - cp.asarray(mean))
            total[i] += (shares[i, start : start + step, None] * y).T @ y
    return np.asarray(cp.asnumpy(total))


def _normalised(joint: Any) -> tuple[Any, Any]:
    """Return log densities (n,) and responsibilities (k, n)."""
    largest = joint.max(axis=0)
    log_density = cp.log(cp.exp(joint - largest).sum(axis=0)) + largest
    return log_density, cp.exp(joint - log_density)


# ------------------------------------------------------------------------------------------------ gaps


@dataclass(frozen=True)
class GapRows:
    r"""Some rows with gaps, sorted by their patterns, and what each pattern needs under each component.

    With m the missing and o the observed columns, :math:`C = \Lambda_{mm}^{-1}` is the covariance of the gaps, and
    :math:`-C \Lambda_{mo}` times the observed deviations are their expected ones.
    """

    at: Any  # (n,) positions
    rows: Any  # (n, d)
    patterns: Any  # (n,) int32
    starts: Any  # (p + 1,) int32: where the rows of each pattern begin
    components: Components
    covariances: Any  # (p, k, d, d), of the gaps
    filling: Any  # (p, k, d, d)
    log_volumes: Any  # (p, k)

    @property
    def means(self) -> Any:
        """Means of the components, on the GPU."""
        return cp.asarray(self.components.means, dtype=self.rows.dtype)

    def _mapped(self, matrices: Any) -> Any:  # (k, n, d)
        n, k = len(self.rows), len(self.components.means)
        to = cp.empty((k, *self.rows.shape), dtype=self.rows.dtype)
        options = {"REAL": real_of(self.rows.dtype), "COLUMNS": self.rows.shape[1], "COMPONENTS": 1}
        compute = function("density", "mapped_deviations", **options)
        flat = cp.ascontiguousarray(matrices.astype(self.rows.dtype))
        compute((-(-n // ROWS), k), (ROWS,), (self.rows, self.patterns, self.means, flat, n, k, to))
        return to

    def deviations(self) -> Any:  # (k, n, d)
        """Deviations of rows from the means, with expected values in place of gaps."""
        return self._mapped(self.filling)

    def log_joint(self, offsets: Any) -> Any:  # (k, n)
        """Return ln rho of the rows."""
        white = self._mapped(_whitening(self.components) @ self.filling)
        constants = cp.asarray(self.components.log_constants)[:, None] + self.log_volumes[self.patterns].T
        joint = (constants - 0.5 * (white * white).sum(axis=2, dtype=cp.float64)).astype(self.rows.dtype)
        return joint if offsets is None else joint + cp.asarray(offsets, dtype=joint.dtype)[self.at].T

    def sums(self, shares: Any) -> Floats:  # (k, d + 1, d + 1)
        """Sum shares times y y', and the covariances of the gaps."""
        k, (n, d) = len(self.components.means), self.rows.shape
        y = cp.concatenate([self.deviations().astype(cp.float64), cp.ones((k, n, 1))], axis=2)
        total = cp.swapaxes(y, 1, 2) @ (shares[:, :, None] * y)
        n_patterns = len(self.starts) - 1
        counts = cp.empty((n_patterns, k))
        options = {"REAL": real_of(shares.dtype), "COLUMNS": d, "COMPONENTS": 1}
        compute = function("density", "pattern_counts", **options)
        shares = cp.ascontiguousarray(shares)
        compute((-(-n_patterns // ROWS), k), (ROWS,), (shares, self.starts, n, n_patterns, counts))
        total[:, :d, :d] += cp.einsum("pk,pkde->kde", counts, self.covariances)
        return np.asarray(cp.asnumpy(total))


def _whitening(components: Components) -> Any:  # (k, d, d)
    whiteners = cp.asarray(components.whiteners)
    return whiteners if whiteners.ndim == 3 else whiteners[:, :, None] * cp.eye(whiteners.shape[1])


def _gap_rows(rows: Any, components: Components, n_gaps: int) -> Iterator[GapRows]:
    """Divide rows with gaps into parts with few patterns and few rows."""
    if not n_gaps:
        return
    k, d = components.means.shape
    is_gap = cp.isnan(rows)
    at = cp.flatnonzero(is_gap.any(axis=1))
    groups = np.unique(_packed(is_gap[at]), axis=0, return_inverse=True)[1].ravel()
    at, patterns = at[cp.asarray(np.argsort(groups, kind="stable"))], np.sort(groups)
    n_patterns = max(1, PATTERN_CELLS // (k * d * d))
    n_rows = max(1, PATTERN_CELLS // (k * d))
    start = 0
    while start < len(patterns):
        end = min(int(np.searchsorted(patterns, patterns[start] + n_patterns)), start + n_rows)
        yield _gap_part(rows, components, at[start:end], patterns[start:end])
        start = end


def _packed(is_gap: Any) -> Any:  # (n, bytes)
    """Pack masks to bytes on the host, where their groups are found."""
    n, d = is_gap.shape
    padded = cp.zeros((n, -(-d // 8) * 8), dtype=bool)
    padded[:, :d] = is_gap
    return cp.asnumpy(cp.packbits(padded.ravel())).reshape(n, -1)


def _gap_part(rows: Any, components: Components, at: Any, patterns: Any) -> GapRows:
    _, starts, own = np.unique(patterns, return_index=True, return_inverse=True)
    part = cp.ascontiguousarray(rows[at])
    missing = cp.isnan(part[cp.asarray(starts)])  # (p, d)
    d = rows.shape[1]
    whitening = _whitening(components)
    precisions = cp.swapaxes(whitening, 1, 2) @ whitening  # (k, d, d)
    both = (missing[:, :, None] & missing[:, None, :])[:, None]  # (p, 1, d, d)
    within = cp.where(both, precisions[None], cp.eye(d))
    inverse = cp.linalg.inv(within)
    covariances = cp.where(both, inverse, 0.0)
    observed = cp.where(missing, 0.0, 1.0)  # (p, d)
    known = cp.eye(d) * observed[:, None, :]
    filling = known[:, None] - covariances @ (precisions[None] * observed[:, None, None, :])
    volumes = 0.5 * (missing.sum(axis=1)[:, None] * LOG_2PI - cp.linalg.slogdet(within)[1])
    ends = np.append(starts, len(patterns)).astype(np.int32)
    return GapRows(
        at, part, cp.asarray(own.ravel().astype(np.int32)), cp.asarray(ends), components, covariances, filling, volumes
    )
