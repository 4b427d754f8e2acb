"""How rows reach the inference: in inner coordinates, and in blocks.

Inner coordinates are centred, and every column has a spread of one. The model does not depend on them, but its accuracy
does: with values around 1e9, or with one column a billion times wider than another, no digits are left for the spread
within a component. Priors, the mixture and the bound are given to the user in the table's own units.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mixkern.density.covariance import CovarianceType
from mixkern.density.gpu_table import column_counts, column_moments, largest, random_order, scaled
from mixkern.gpu_array import is_cupy, to_host
from mixkern.typing import Floats, Positions, RandomState

RESOLUTION = 1e-10  # smallest variance of a prior, relative to the table's: below, rounding errors dominate
SMALLEST_SCALE = 1e-150  # smaller squares underflow; below, a column counts as constant
BLOCK = 4096  # rows at a time: temporaries stay in cache, whatever the size of the table
BLOCK_CELLS = 2**22  # floats that the temporaries of one block may take: 32 MiB
SMALLEST_BLOCK = 16  # rows
RARE = 16  # patterns of gaps with fewer rows are put together in blocks of rows with equally many gaps
GPU_BLOCK = 2**24  # rows at a time on a GPU, of tables with categories
HOST_ROWS = 50_000  # up to which rows of a GPU are fitted on the host: samples for starts and mergers
ENGINE_BLOCK = 2**16  # rows at a time in the engine: bounds the memory of their shares


class HasVolume(Protocol):
    """Coordinates of rows, whose unit of volume enters the bound."""

    def log_volume(self, X: Floats, weights: Floats | None) -> float:
        """Give the excess of a bound in inner coordinates."""


@dataclass(frozen=True)
class Moments:
    """Weight, smallest value, mean and squared deviations of each column. Those of parts of a table add up."""

    counts: Floats  # (d,): sum of the weights of rows that have a value
    low: Floats  # (d,): infinite for a column of gaps
    means: Floats  # (d,): above the smallest value, which is exact where values are close together
    squares: Floats  # (d,): sum of squared deviations from the mean

    @classmethod
    def of(cls, X: Floats, weights: Floats | None = None) -> Self:
        """Compute the moments of rows."""
        if is_cupy(X):
            return cls(*column_moments(X, weights))
        there = ~np.isnan(X)
        shares = there if weights is None else there * weights[:, None]
        counts = shares.sum(axis=0)
        low = np.min(X, axis=0, where=there, initial=np.inf)
        above = np.where(there, X - np.where(np.isfinite(low), low, 0.0), 0.0)
        means = (shares * above).sum(axis=0) / np.maximum(counts, np.finfo(float).tiny)
        squares = (shares * np.where(there, above - means, 0.0) ** 2).sum(axis=0)
        return cls(counts.astype(float), low, means, squares)

    def __add__(self, other: Self) -> Self:
        counts = self.counts + other.counts
        share = other.counts / np.maximum(counts, np.finfo(float).tiny)
        low = np.minimum(self.low, other.low)
        origin = np.where(np.isfinite(low), low, 0.0)
        # From the common smallest value; a part that has none counts nothing.
        mine, theirs = (each.means + np.where(np.isfinite(each.low), each.low - origin, 0.0) for each in (self, other))
        apart = np.where((self.counts > 0) & (other.counts > 0), theirs - mine, 0.0)
        means = np.where(self.counts > 0, mine + share * apart, theirs)
        squares = self.squares + other.squares + self.counts * share * apart**2
        return replace(self, counts=counts, low=low, means=means, squares=squares)


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
        return cls.of_moments(Moments.of(X, weights), kind)

    @classmethod
    def of_moments(cls, moments: "Moments", kind: CovarianceType) -> Self:
        """Take the coordinates of columns with given moments."""
        count = np.maximum(moments.counts, np.finfo(float).tiny)
        low = np.where(np.isfinite(moments.low), moments.low, 0.0)  # a column of gaps
        mean, deviation = moments.means, np.sqrt(moments.squares / count)
        is_constant = (deviation <= SMALLEST_SCALE) & np.isfinite(moments.low)
        if kind is CovarianceType.SPHERICAL and not is_constant.all():
            deviation = np.full_like(deviation, np.sqrt(np.mean(deviation[~is_constant] ** 2)))
        scale = np.where(deviation > SMALLEST_SCALE, deviation, 1.0)
        if not is_constant.any():
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

    @property
    def constant(self) -> tuple[int, ...]:
        """Columns without an inner coordinate."""
        return () if self.varying is None else tuple(np.delete(np.arange(self.n_columns), self.varying).tolist())

    def moved(self, origin: Floats) -> Self:
        """Give the same coordinates of rows that an origin was added to."""
        return replace(self, centre=self.centre + origin)

    def inner(self, X: Floats) -> Floats:
        """Give rows in inner coordinates."""
        if is_cupy(X):
            return scaled(self._varying(X), self._varying(self.centre), self._varying(self.scale))
        return self._varying((X - self.centre) / self.scale)

    def with_all_columns(self) -> Self:
        """Give columns with one value an inner coordinate too, for rows that may still have another value there."""
        return replace(self, varying=None)

    def keeps_constants(self, X: Floats) -> bool:
        """Whether columns without an inner coordinate have no other value in further rows."""
        if self.varying is None:
            return True
        at = np.delete(np.arange(self.n_columns), self.varying)
        if is_cupy(X):
            return largest(scaled(X[:, at.tolist()], self.centre[at], np.ones(len(at)))) <= SMALLEST_SCALE
        return not (np.abs(X[:, at] - self.centre[at]) > SMALLEST_SCALE).any()

    def _varying(self, values: Floats) -> Floats:
        """Leave out columns without an inner coordinate."""
        if self.varying is None:
            return values
        return values[:, self.varying.tolist()] if is_cupy(values) else values[..., self.varying]

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
        if is_cupy(X):
            return self.volume_of(column_counts(X, weights))
        there = ~np.isnan(X)
        return self.volume_of(there.sum(axis=0) if weights is None else weights @ there)

    def volume_of(self, counts: Floats) -> float:
        """Give the excess of a bound in inner coordinates, for the number of values in each of them."""
        return float(counts @ np.log(self._varying(self.scale)))

    def inner_counts(self, counts: Floats) -> Floats:
        """Give the numbers of values of those columns that have an inner coordinate."""
        return self._varying(counts)

    def outer(self, inner: Any) -> dict[str, Any]:
        """Give means, covariances and loadings of a mixture in the table's own units."""
        scale, kind, covariances = self._varying(self.scale), inner.covariance_type, inner.covariances
        if kind is CovarianceType.SPHERICAL and self.varying is not None:  # constant columns have another variance
            kind, covariances = CovarianceType.DIAG, np.repeat(covariances[:, None], len(scale), axis=1)
        if kind is CovarianceType.SPHERICAL:
            factors: Any = scale[0] ** 2 if len(scale) else 1.0
        else:
            factors = scale**2 if kind.has_vectors else np.outer(scale, scale)
        loadings = inner.loadings
        if loadings is not None:
            loadings = np.swapaxes(self._with_constants(np.swapaxes(loadings, 1, 2) * scale), 1, 2)
        return {
            "means": self._with_constants(inner.means * scale, 0.0) + self.centre,
            "covariances": self._covariances(covariances * factors, kind),
            "covariance_type": kind,
            "loadings": loadings,
            "constant": self.constant,
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


@dataclass(frozen=True)
class CodeColumns:
    """Columns of category codes. Those with one category have no inner column: they carry no information."""

    varying: tuple[int, ...]  # columns that the inference reads
    constant: dict[int, tuple[int, float]]  # code and number of values of each other column

    @classmethod
    def of(cls, codes: Floats, weights: Floats | None, *, is_stream: bool = False) -> Self:
        """Find the columns with one category; of a stream, later rows may have others."""
        if is_stream or not codes.size:
            return cls(tuple(range(codes.shape[1])), {})
        there = ~np.isnan(codes)
        low, high = (np.where(there, codes, end) for end in (np.inf, -np.inf))
        counts = column_counts(codes, weights) if is_cupy(codes) else _counts(there, weights)
        return cls.of_extremes(to_host(low.min(axis=0), float), to_host(high.max(axis=0), float), counts)

    @classmethod
    def of_extremes(cls, low: Floats, high: Floats, counts: Floats) -> Self:
        """Find the columns with one category by the smallest and largest codes, and the numbers of values."""
        constant = {int(j): (int(low[j]), float(counts[j])) for j in np.flatnonzero(low == high)}
        return cls(tuple(j for j in range(len(low)) if j not in constant), constant)

    def inner(self, codes: Floats) -> Floats:
        """Give the columns that the inference reads."""
        return codes[:, list(self.varying)] if self.constant else codes

    def keeps_constants(self, codes: Floats) -> bool:
        """Whether columns with one category have no other in further rows."""
        return all(not ((codes[:, j] != code) & ~np.isnan(codes[:, j])).any() for j, (code, _) in self.constant.items())

    def outer(self, tables: Sequence[Floats], prior: float, k: int) -> list[Floats]:
        """Give the tables of all columns: of those with one category, the same posterior mean in all k components."""
        found = dict(zip(self.varying, tables, strict=True))
        for j, (code, count) in self.constant.items():
            concentrations = np.full(code + 2, prior)  # with room for "other"
            concentrations[code] += count
            found[j] = np.tile(concentrations / concentrations.sum(), (k, 1))
        return [found[j] for j in sorted(found)]


def _counts(there: Any, weights: Floats | None) -> Floats:
    """Count the values of each column, by weight."""
    found: Floats = there.sum(axis=0) if weights is None else weights @ there
    return found


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

    @property
    def is_on_gpu(self) -> bool:
        """Whether the rows are on a GPU."""
        return is_cupy(self.X)

    def take(self, positions: Positions) -> Self:
        """Give some of the rows; few of those on a GPU are copied to the host."""
        weights = None if self.weights is None else self.weights[positions]
        part = replace(self, X=self.X[positions], codes=self.codes[positions], weights=weights)
        return part.on_host() if self.is_on_gpu and len(part) <= HOST_ROWS else part

    def on_host(self) -> Self:
        """Give the rows in the memory of the host."""
        if not self.is_on_gpu:
            return self
        weights = None if self.weights is None else to_host(self.weights, float)
        return replace(self, X=to_host(self.X, float), codes=to_host(self.codes, float), weights=weights)

    def random_order(self, random: RandomState) -> Any:  # (n,)
        """Give the positions of all rows in a random order, as an array of the same place."""
        return random_order(self.X, random) if self.is_on_gpu else random.permutation(len(self))

    def prepared(self, samples: Sequence[Positions]) -> Self:  # noqa: ARG002
        """Give the same rows, ready to give growing samples of them; nothing is to be done where they are in memory."""
        return self

    def blocks(self) -> list[Block]:
        """Cut into blocks for the engine, which treats gaps row by row."""
        if self.is_on_gpu:
            return self._gpu_blocks()
        starts = range(0, max(1, len(self)), ENGINE_BLOCK)
        parts = [slice(start, start + ENGINE_BLOCK) for start in starts]
        return [_block(self.X, self.codes, self.weights, at, np.arange(0)) for at in parts]

    def _gpu_blocks(self) -> list[Block]:
        """Give all rows as one block, without a copy; those with categories in some blocks, whose shares are held."""
        step = GPU_BLOCK if self.codes.shape[1] else max(1, len(self))
        parts = [slice(start, start + step) for start in range(0, max(1, len(self)), step)]
        weights = [None if self.weights is None else self.weights[at] for at in parts]
        return [
            Block(self.X[at].T, self.codes[at].T, own, np.arange(0)) for at, own in zip(parts, weights, strict=True)
        ]

    def gap_blocks(self, n_components: int, n_factors: int) -> list[Block]:
        """Cut into blocks of rows with the same gaps, whose temporaries stay small, however many columns there are."""
        if self.is_on_gpu:
            return self.on_host().gap_blocks(n_components, n_factors)
        d = self.X.shape[1]
        n_cells = 2 * d + 1 + n_components * (d + 1 + 2 * n_factors)
        most = int(np.clip(BLOCK_CELLS // n_cells, SMALLEST_BLOCK, BLOCK))
        # An even number of blocks of equal size: two threads finish together.
        n_blocks = 2 * max(1, -(-len(self) // (2 * most)))
        size = max(SMALLEST_BLOCK, -(-len(self) // n_blocks))
        return list(gap_blocks(self.X, self.codes, self.weights, size))


def n_slots_of(codes: Floats) -> tuple[int, ...]:
    """Count the categories of each column, and one more for later categories."""
    if is_cupy(codes):
        some = np.where(np.isnan(codes), -1.0, codes).max(axis=0)[None] if codes.size else codes[:0]
        codes = to_host(some, float)
    highest = np.max(codes, axis=0, where=~np.isnan(codes), initial=-1.0)
    return tuple(int(code) + 2 for code in highest)
