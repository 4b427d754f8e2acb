"""How rows reach the inference: in inner coordinates, and in blocks.

Inner coordinates are centred, and every column has a spread of one. The model does not depend on them, but its accuracy
does: with values around 1e9, or with one column a billion times wider than another, no digits are left for the spread
within a component. Priors, the mixture and the bound are given to the user in the table's own units.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mixkern.density.covariance import CovarianceType
from mixkern.typing import Floats, Positions

RESOLUTION = 1e-10  # smallest variance of a prior, relative to the table's: below, rounding errors dominate
SMALLEST_SCALE = 1e-150  # smaller squares underflow; below, a column counts as constant
BLOCK = 4096  # rows at a time: temporaries stay in cache, whatever the size of the table
BLOCK_CELLS = 2**22  # floats that the temporaries of one block may take: 32 MiB
SMALLEST_BLOCK = 16  # rows
RARE = 16  # patterns of gaps with fewer rows are put together in blocks of rows with equally many gaps
ENGINE_BLOCK = 2**16  # rows at a time in the engine: bounds the memory of their shares


class HasVolume(Protocol):
    """Coordinates of rows, whose unit of volume enters the bound."""

    def log_volume(self, X: Floats, weights: Floats | None) -> float:
        """Give the excess of a bound in inner coordinates."""


@dataclass(frozen=True)
class Coordinates:
    """Centre and scale of each column. Columns with one value have no inner coordinate: they carry no information."""

    centre: Floats  # (d,)
    scale: Floats  # (d,)
    varying: Positions | None = None  # columns with an inner coordinate; None for all
    constant_variance: float = 1.0  # of the other columns in every component

    @classmethod
    def of(cls, X: Floats, weights: Floats | None, kind: CovarianceType) -> Self:
        """Take mean and standard deviation of each column; spherical covariances need one scale for all columns."""
        there = ~np.isnan(X)
        shares = there if weights is None else there * weights[:, None]
        count = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
        low = np.min(X, axis=0, where=there, initial=np.inf)
        low = np.where(np.isfinite(low), low, 0.0)  # a column of gaps
        above = np.where(there, X - low, 0.0)  # exact where values are close together
        mean = (shares * above).sum(axis=0) / count
        deviation = np.sqrt((shares * np.where(there, above - mean, 0.0) ** 2).sum(axis=0) / count)
        if kind is CovarianceType.SPHERICAL and len(deviation):
            deviation = np.full_like(deviation, np.sqrt(np.mean(deviation**2)))
        is_constant = (deviation <= SMALLEST_SCALE) & there.any(axis=0)
        scale = np.where(deviation > SMALLEST_SCALE, deviation, 1.0)
        if kind is CovarianceType.SPHERICAL or not is_constant.any():
            return cls(low + mean, scale)
        # As after one more row that is off by 1
        return cls(low + mean, scale, np.flatnonzero(~is_constant), 1 / (1 + float(count[is_constant].max())))

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.centre)

    @property
    def n_inner(self) -> int:
        """Number of inner coordinates."""
        return self.n_columns if self.varying is None else len(self.varying)

    def inner(self, X: Floats) -> Floats:
        """Give rows in inner coordinates."""
        return self._varying((X - self.centre) / self.scale)

    def with_all_columns(self) -> Self:
        """Give columns with one value an inner coordinate too, for rows that may still have another value there."""
        return replace(self, varying=None)

    def keeps_constants(self, X: Floats) -> bool:
        """Whether columns without an inner coordinate have no other value in further rows."""
        if self.varying is None:
            return True
        others = np.delete(X - self.centre, self.varying, axis=1)
        return not (np.abs(others) > SMALLEST_SCALE).any()

    def _varying(self, values: Floats) -> Floats:
        """Leave out columns without an inner coordinate."""
        return values if self.varying is None else values[..., self.varying]

    def inner_inverse_scale(self, inverse_scale: Floats) -> Floats:
        """Give W^-1 in inner coordinates.

        A prior far below the table's resolution would let components collapse along collinear columns, so variances
        have a floor.
        """
        if inverse_scale.ndim == 1:
            return np.maximum(self._varying(inverse_scale / self.scale**2), RESOLUTION)
        inner: Floats = self._varying(self._varying(inverse_scale / np.outer(self.scale, self.scale)).T).T
        values, vectors = np.linalg.eigh(inner)
        if values.min(initial=np.inf) >= RESOLUTION:
            return inner
        return (vectors * np.maximum(values, RESOLUTION)) @ vectors.T

    def log_volume(self, X: Floats, weights: Floats | None) -> float:
        """Give the excess of a bound in inner coordinates: ln of the scale of each value, summed."""
        there = ~np.isnan(X)
        count = there.sum(axis=0) if weights is None else weights @ there
        return float(count @ np.log(self._varying(self.scale)))

    def outer(self, inner: Any) -> dict[str, Any]:
        """Give means, covariances and loadings of a mixture in the table's own units."""
        scale, kind = self._varying(self.scale), inner.covariance_type
        if kind is CovarianceType.SPHERICAL:
            factors: Any = scale[0] ** 2 if len(scale) else 1.0
        else:
            factors = scale**2 if kind.has_vectors else np.outer(scale, scale)
        loadings = inner.loadings
        if loadings is not None:
            loadings = np.swapaxes(self._with_constants(np.swapaxes(loadings, 1, 2) * scale), 1, 2)
        return {
            "means": self._with_constants(inner.means * scale, 0.0) + self.centre,
            "covariances": self._covariances(inner.covariances * factors, kind),
            "loadings": loadings,
        }

    def _covariances(self, covariances: Floats, kind: CovarianceType) -> Floats:
        """Add the variances of columns without an inner coordinate."""
        if self.varying is None or kind.has_vectors:
            return self._with_constants(covariances, self.constant_variance)
        wide = self._with_constants(np.swapaxes(self._with_constants(covariances), -1, -2))
        constant = np.delete(np.arange(self.n_columns), self.varying)
        wide[..., constant, constant] = self.constant_variance
        return wide

    def _with_constants(self, values: Floats, fill: float = 0.0) -> Floats:
        """Give values of all columns, a constant for those without an inner coordinate."""
        if self.varying is None:
            return values
        wide = np.full((*values.shape[:-1], self.n_columns), fill)
        wide[..., self.varying] = values
        return wide


def gap_patterns(X: Floats) -> Iterator[tuple[Positions, Positions, Positions]]:
    """Give (rows, observed columns, missing columns) for every pattern of gaps that occurs.

    >>> [tuple(part.tolist() for part in group) for group in gap_patterns(np.array([[1, np.nan], [2, 3], [4, 5]]))]
    [([1, 2], [0, 1], []), ([0], [0], [1])]
    """
    is_gap = np.isnan(X)
    if not is_gap.any():
        yield np.arange(len(X)), np.arange(X.shape[1]), np.arange(0)
        return
    keys = _pattern_keys(is_gap)
    order: Positions = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    starts = np.flatnonzero(sorted_keys[1:] != sorted_keys[:-1]) + 1
    for rows in np.split(order, starts):
        gaps = is_gap[rows[0]]
        yield rows, np.flatnonzero(~gaps), np.flatnonzero(gaps)


def _pattern_keys(is_gap: NDArray[np.bool_]) -> NDArray[Any]:  # (n,)
    """Give equal keys to rows with the same gaps: an integer of as few bits as possible, which sorts fast."""
    packed = np.packbits(is_gap, axis=1)
    n_bytes = packed.shape[1]
    if n_bytes > 8:
        group: NDArray[Any] = np.unique(packed, axis=0, return_inverse=True)[1].ravel()
        return group
    size = next(size for size in (1, 2, 4, 8) if size >= n_bytes)
    padded = np.pad(packed, [(0, 0), (0, size - n_bytes)])
    return np.ascontiguousarray(padded).view(f">u{size}").ravel().astype(f"u{size}")


@dataclass(frozen=True)
class Block:
    """Some rows in the layout of the E-step."""

    values: Floats  # (d, n), column by column; NaN where missing
    codes: Floats  # (e, n)
    weights: Floats | None  # (n,)
    missing: Positions  # (m,) of all rows, or (n, m) one by one; empty where rows are not grouped by their gaps

    @property
    def is_scattered(self) -> bool:
        """Whether each row misses columns of its own."""
        return self.missing.ndim == 2

    @cached_property
    def largest_sq_norm(self) -> float:
        """Largest squared distance of a row from the centre; gaps count as zero."""
        return float(np.nansum(self.values**2, axis=0).max(initial=0.0))


def gap_blocks(X: Floats, codes: Floats, weights: Floats | None, size: int = BLOCK) -> Iterator[Block]:
    """Cut a table into blocks of rows that miss the same columns, or as many columns where a pattern is rare."""
    rare: list[Positions] = [np.arange(0)]
    for rows, _, missing in gap_patterns(X):
        if len(missing) and len(rows) < RARE:
            rare.append(rows)
            continue
        is_all = len(rows) == len(X)
        for start in range(0, len(rows), size):
            at = slice(start, start + size) if is_all else rows[start : start + size]
            yield _block(X, codes, weights, at, missing)
    scattered = np.sort(np.concatenate(rare))
    n_missing = np.isnan(X[scattered]).sum(axis=1)
    for m in np.unique(n_missing):
        rows = scattered[n_missing == m]
        for start in range(0, len(rows), size):
            at = rows[start : start + size]
            yield _block(X, codes, weights, at, np.nonzero(np.isnan(X[at]))[1].reshape(-1, m))


def _block(X: Floats, codes: Floats, weights: Floats | None, at: Any, missing: Positions) -> Block:
    return Block(
        values=np.ascontiguousarray(X[at].T),
        codes=np.ascontiguousarray(codes[at].T),
        weights=None if weights is None else weights[at],
        missing=missing,
    )


@dataclass(frozen=True)
class InnerRows:
    """Rows in inner coordinates, with category codes and weights."""

    X: Floats  # (n, d), NaN where missing
    codes: Floats  # (n, e), NaN where missing
    weights: Floats | None  # (n,)
    n_slots: tuple[int, ...]  # categories of each categorical column, with room for "other"
    coordinates: HasVolume | None = None  # of X

    def __len__(self) -> int:
        return len(self.X)

    @property
    def values(self) -> Floats:  # (n, d + e)
        """Numbers and codes, as a mixture takes them."""
        return np.hstack([self.X, self.codes])

    @property
    def log_volume(self) -> float:
        """Excess of a bound in the coordinates of X; see :meth:`Coordinates.log_volume`."""
        return 0.0 if self.coordinates is None else self.coordinates.log_volume(self.X, self.weights)

    def take(self, positions: Positions) -> Self:
        """Give some of the rows."""
        weights = None if self.weights is None else self.weights[positions]
        return replace(self, X=self.X[positions], codes=self.codes[positions], weights=weights)

    def blocks(self) -> list[Block]:
        """Cut into blocks for the engine, which treats gaps row by row."""
        starts = range(0, max(1, len(self)), ENGINE_BLOCK)
        parts = [slice(start, start + ENGINE_BLOCK) for start in starts]
        return [_block(self.X, self.codes, self.weights, at, np.arange(0)) for at in parts]

    def gap_blocks(self, n_components: int, n_factors: int) -> list[Block]:
        """Cut into blocks of rows with the same gaps, whose temporaries stay small, however many columns there are."""
        d = self.X.shape[1]
        n_cells = 2 * d + 1 + n_components * (d + 1 + 2 * n_factors)
        most = int(np.clip(BLOCK_CELLS // n_cells, SMALLEST_BLOCK, BLOCK))
        # An even number of blocks of equal size: two threads finish together.
        n_blocks = 2 * max(1, -(-len(self) // (2 * most)))
        size = max(SMALLEST_BLOCK, -(-len(self) // n_blocks))
        return list(gap_blocks(self.X, self.codes, self.weights, size))


def n_slots_of(codes: Floats) -> tuple[int, ...]:
    """Count the categories of each column, and one more for later categories."""
    highest = np.max(codes, axis=0, where=~np.isnan(codes), initial=-1.0)
    return tuple(int(code) + 2 for code in highest)
