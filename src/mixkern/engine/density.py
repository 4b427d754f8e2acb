r"""Densities of rows under Gaussian components: responsibilities, filled gaps, and the sums that an M-step needs.

.. math:: \ln \rho_{nk} = c_k + o_{nk} - \tfrac12 \|W_k (x_n - m_k)\|^2

with one constant per component and, optionally, offsets, such as the part of the categories. A gap, NaN, is integrated
out: with m the missing and o the observed columns of a row and :math:`\Lambda_k = W_k^T W_k`, it takes the value
:math:`(m_k)_m - \Lambda_{mm}^{-1} \Lambda_{mo} (x - m_k)_o`, which minimises the square, and
:math:`\tfrac12 (|m| \ln 2 \pi - \ln |\Lambda_{mm}|)` is added.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.engine import check, gpu_arguments, reference
from mixkern.engine.dispatch import core, n_threads_of
from mixkern.errors import EngineError
from mixkern.gpu_array import is_gpu_array
from mixkern.typing import Floats
from mixkern.validation import is_finite

# Up to this many multiplications, starting threads takes longer than the work.
_SMALL_WORK = 1_000_000


@dataclass(frozen=True)
class Components:
    """Gaussian components of a mixture.

    Attributes
    ----------
    means : ndarray of shape (k, d)
        Their means.
    whiteners : ndarray of shape (k, d, d) or (k, d)
        Lower triangular W with W'W the precision matrix, or the roots of the precisions of independent columns.
    log_constants : ndarray of shape (k,)
        ln rho at the mean.
    """

    means: Floats
    whiteners: Floats
    log_constants: Floats

    def __post_init__(self) -> None:
        k, d = self.means.shape
        if self.whiteners.shape not in ((k, d), (k, d, d)) or self.log_constants.shape != (k,):
            raise EngineError(
                f"The means have shape {self.means.shape}, so the whiteners must have shape ({k}, {d}) or ({k}, {d}, "
                f"{d}) and the constants ({k},), but they have {self.whiteners.shape} and {self.log_constants.shape}."
            )
        for name in ("means", "whiteners", "log_constants"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float64))


@dataclass(frozen=True)
class RowDensities:
    """Densities of rows.

    Attributes
    ----------
    log_joint : ndarray of shape (n, k)
        ln rho of each row and component.
    responsibilities : ndarray of shape (n, k)
        rho, divided by its sum over the components; NaN where all of them are zero.
    log_density : ndarray of shape (n,)
        Logarithm of the sum.
    filled : ndarray of shape (n, d) or None
        The rows with gaps at their expectation under the mixture; None where this was not asked for.
    is_positive : bool
        Whether all densities are above zero.
    """

    log_joint: Floats
    responsibilities: Floats
    log_density: Floats
    filled: Floats | None
    is_positive: bool

    def converted(self, convert: Callable[[Any], Any]) -> "RowDensities":
        """Return the same densities as other arrays."""
        log_joint, shares, log_density = map(convert, (self.log_joint, self.responsibilities, self.log_density))
        filled = None if self.filled is None else convert(self.filled)
        return RowDensities(log_joint, shares, log_density, filled, self.is_positive)


@dataclass(frozen=True)
class Moments:
    """Sums over rows, each with its responsibilities times its weight, about the components' means.

    Attributes
    ----------
    counts : ndarray of shape (k,)
        Sums of the shares.
    sums, squares : ndarray of shapes (k, d) and (k, d, d) or (k, d)
        Sums of the deviations and of their products; gaps count with their expected values.
    log_normaliser : float
        Weighted sum of the log densities.
    shares : ndarray of shape (n, k) or None
        The shares; None where they were not asked for.
    """

    counts: Floats
    sums: Floats
    squares: Floats
    log_normaliser: float
    shares: Floats | None


def row_densities(
    X: Floats,
    components: Components,
    *,
    offsets: Floats | None = None,
    fill: bool = False,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> RowDensities:
    """Compute densities and responsibilities of rows, and fill their gaps if `fill` is True.

    Parameters
    ----------
    X : array of float64, shape (n, d)
        Rows; NaN is a gap. Rows or columns may lie apart in memory.
    components : Components
        The components.
    offsets : array of float64, shape (n, k), optional
        Added to ln rho.
    fill : bool, default=False
        Whether to fill gaps.
    n_threads : int, optional
        Limit for the threads, as in :func:`~mixkern.engine.distance`. Results do not depend on it.

    Examples
    --------
    >>> components = Components(np.array([[-1.0], [1.0]]), np.ones((2, 1)), np.log([0.5, 0.5]))
    >>> row_densities(np.array([[0.0], [2.0]]), components).responsibilities.round(3)
    array([[0.5  , 0.5  ],
           [0.018, 0.982]])
    """
    if is_gpu_array(X):
        return gpu_arguments.row_densities(X, components, offsets, fill=fill)
    rows, offsets, _ = _checked(X, components, offsets, None)
    n_threads = n_threads_of(n_threads)
    compiled = core()
    if compiled is None:
        parts = reference.row_densities(rows, components, offsets, fill=fill)
        return RowDensities(*parts, is_finite(parts[2]))
    n, k = len(rows), len(components.means)
    log_joint, shares, log_density = np.empty((n, k)), np.empty((n, k)), np.empty(n)
    filled = np.empty((n, rows.shape[1])) if fill else None
    compiled.density(
        rows,
        components.means,
        components.whiteners,
        components.log_constants,
        offsets,
        None,
        log_joint,
        shares,
        log_density,
        filled,
        None,
        None,
        None,
        _threads(rows, components, n_threads),
        _isa,
    )
    return RowDensities(log_joint, shares, log_density, filled, is_finite(log_density))


def moments(
    X: Floats,
    components: Components,
    *,
    offsets: Floats | None = None,
    weights: Floats | None = None,
    with_shares: bool = False,
    n_threads: int | None = None,
    _isa: str | None = None,
) -> Moments:
    """Compute the sums of an M-step, without storing responsibilities unless `with_shares` is True.

    Parameters
    ----------
    X, components, offsets, n_threads
        As in :func:`row_densities`.
    weights : array of float64, shape (n,), optional
        Weights of the rows; by default all are 1.
    with_shares : bool, default=False
        Whether to return the responsibilities times the weights.

    Examples
    --------
    >>> components = Components(np.array([[-1.0], [1.0]]), np.ones((2, 1)), np.log([0.5, 0.5]))
    >>> moments(np.array([[0.0], [2.0]]), components).counts.round(3)
    array([0.518, 1.482])
    """
    if is_gpu_array(X):
        return gpu_arguments.moments(X, components, offsets, weights, with_shares=with_shares)
    rows, offsets, weights = _checked(X, components, offsets, weights)
    n_threads = n_threads_of(n_threads)
    compiled = core()
    if compiled is None:
        return Moments(*reference.moments(rows, components, offsets, weights, with_shares=with_shares))
    n, (k, d) = len(rows), components.means.shape
    shares = np.empty((n, k)) if with_shares else None
    counts, sums, squares = np.zeros(k), np.zeros((k, d)), np.zeros(components.whiteners.shape)
    log_normaliser = compiled.density(
        rows,
        components.means,
        components.whiteners,
        components.log_constants,
        offsets,
        weights,
        None,
        shares,
        None,
        None,
        counts,
        sums,
        squares,
        _threads(rows, components, n_threads),
        _isa,
    )
    return Moments(counts, sums, squares, log_normaliser, shares)


def _checked(
    X: Floats, components: Components, offsets: Floats | None, weights: Floats | None
) -> tuple[Floats, Floats | None, Floats | None]:
    """Check the arguments that both functions share."""
    rows = np.asarray(X, dtype=np.float64)
    k, d = components.means.shape
    if rows.ndim != 2 or rows.shape[1] != d:
        raise EngineError(f"The components have {d} features, so X must have shape (n, {d}), but it has {rows.shape}.")
    if not k:
        raise EngineError("There must be at least one component.")
    if offsets is not None:
        offsets = check.array("offsets", offsets, np.float64, f"({len(rows)}, {k})", (2,))
        if offsets.shape != (len(rows), k):
            raise EngineError(f"offsets must have shape ({len(rows)}, {k}), but they have {offsets.shape}.")
    if weights is not None:
        weights = check.array("weights", weights, np.float64, f"({len(rows)},)", (1,))
        if len(weights) != len(rows):
            raise EngineError(f"There are {len(rows)} rows, but {len(weights)} weights.")
    return rows, offsets, weights


def _threads(rows: Floats, components: Components, n_threads: int) -> int:
    """Use one thread where there is little to do."""
    n, d = rows.shape
    per_pair = d * (d + 1) // 2 if components.whiteners.ndim == 3 else d
    return n_threads if n * len(components.means) * (per_pair + d + 16) > _SMALL_WORK else 1
