"""Sufficient statistics of rows and of their factors, for the M-step of mixtures of factor analysers.

Legend: x a row about its component's origin, z its factors, r responsibilities; V the posterior covariance of z and
M = V^-1. Factors have no coordinates of their own: z and the loadings may be moved, scaled and rotated together, and
:meth:`FactorStatistics.transformed` does that to the sums.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mixkern.density.statistics import Statistics
from mixkern.typing import Floats, Positions

ARRAYS = (  # of which each has one row for each component
    "counts",
    "sums",
    "squares",
    "origins",
    "factor_sums",
    "factor_squares",
    "products",
    "relevances",
    "log_pivots",
)
SMALLEST_NOISE = 1e-9  # of a column that merged factors explain, relative to its variance
SMALLEST = 1e-100  # noise of a column that is constant in both components of a pair
PAIR_CELLS = 2**19  # floats of the stacked loadings of pairs of components that are handled at a time


@dataclass(frozen=True)
class FactorStatistics(Statistics):
    """Sums of rows, with those of their expected factors; ``squares`` are (k, d).

    A factor whose relevance is zero has been removed: its loadings are zero, and z has its prior distribution.
    """

    factor_sums: Floats  # (k, q): sum of r <z>
    factor_squares: Floats  # (k, q, q): sum of r <z z'>
    products: Floats  # (k, d, q): sum of r x <z>'
    relevances: Floats  # (k, q): 1 / alpha, the prior variance of loadings in units of the noise
    log_pivots: Floats  # (k, q): sum of r ln p_j, where p_j ... p_q is the determinant of M without the first j rows
    most_factors: int

    @property
    def n_factors(self) -> int:
        """Largest number of factors of a component, q; others have relevances of zero."""
        return self.relevances.shape[1]

    @property
    def moments(self) -> Floats:  # (k, q + 1, q + 1)
        """C, the sum of r <z~ z~'> with z~ = (z, 1)."""
        k, q = self.relevances.shape
        moments = np.empty((k, q + 1, q + 1))
        moments[:, :q, :q] = self.factor_squares
        moments[:, :q, q] = moments[:, q, :q] = self.factor_sums
        moments[:, q, q] = self.counts
        return moments

    @property
    def scatters(self) -> Floats:  # (k, d)
        """Squared deviations from what the factors explain."""
        loadings, _ = self.regression()
        explained = np.einsum("kdq,kdq->kd", loadings, self._centred_products())
        return np.maximum(self.total_scatters - explained, 0.0)

    @property
    def total_scatters(self) -> Floats:  # (k, d)
        """Squared deviations from the component's own mean."""
        return super().scatters

    def _centred_products(self) -> Floats:  # (k, d, q)
        return self.products - self._offsets[:, :, None] * self.factor_sums[:, None, :]

    def regression(self) -> tuple[Floats, Floats]:
        """Give loadings (k, d, q) and the scatter of the factors (k, q, q), both about the means."""
        n = np.maximum(self.counts, np.finfo(float).tiny)[:, None, None]
        spread = self.factor_squares - self.factor_sums[:, :, None] * self.factor_sums[:, None, :] / n
        root = np.sqrt(self.relevances)
        inner = np.eye(self.n_factors) + root[:, :, None] * spread * root[:, None, :]
        inverse = root[:, :, None] * np.linalg.inv(inner) * root[:, None, :]
        return self._centred_products() @ inverse, spread

    # ---------------------------------------------------------------- sums

    def about(self, origins: Floats) -> Self:
        """Give the same sums about other origins."""
        shift = self.origins - origins
        products = self.products + shift[:, :, None] * self.factor_sums[:, None, :]
        return replace(super().about(origins), products=products)

    def __add__(self, other: Self) -> Self:
        same = other if other.origins is self.origins else other.about(self.origins)
        return replace(
            super().__add__(same),
            factor_sums=self.factor_sums + same.factor_sums,
            factor_squares=self.factor_squares + same.factor_squares,
            products=self.products + same.products,
            log_pivots=self.log_pivots + same.log_pivots,
        )

    def __mul__(self, factor: float) -> Self:
        return replace(
            super().__mul__(factor),
            factor_sums=self.factor_sums * factor,
            factor_squares=self.factor_squares * factor,
            products=self.products * factor,
            log_pivots=self.log_pivots * factor,
        )

    def keep(self, components: Positions) -> Self:
        """Give the statistics of some of the components."""
        return replace(
            super().keep(components),
            factor_sums=self.factor_sums[components],
            factor_squares=self.factor_squares[components],
            products=self.products[components],
            relevances=self.relevances[components],
            log_pivots=self.log_pivots[components],
        )

    # ---------------------------------------------------------------- factors

    def transformed(self, shifts: Floats, turns: Floats, relevances: Floats) -> Self:
        """Replace the factors z of each component by R (z - b), with shifts b (k, q) and turns R (k, q, q)."""
        n = self.counts[:, None, None]
        cross = shifts[:, :, None] * self.factor_sums[:, None, :]
        squares = self.factor_squares - cross - np.swapaxes(cross, 1, 2) + n * shifts[:, :, None] * shifts[:, None, :]
        # The determinant of M is divided by that of R twice. Its pivots are known again after the next E-step.
        log_turns = np.linalg.slogdet(turns)[1] / max(self.n_factors, 1)
        return replace(
            self,
            factor_sums=np.einsum("kij,kj->ki", turns, self.factor_sums - self.counts[:, None] * shifts),
            factor_squares=turns @ squares @ np.swapaxes(turns, 1, 2),
            products=(self.products - self.sums[:, :, None] * shifts[:, None, :]) @ np.swapaxes(turns, 1, 2),
            relevances=relevances,
            log_pivots=self.log_pivots - 2 * (self.counts * log_turns)[:, None],
        )

    def truncated(self, ranks: Positions) -> Self:
        """Keep the first factors of each component only, as many as ``ranks`` (k,) gives."""
        q = self.n_factors
        stays = np.arange(q) < ranks[:, None]
        if stays.all():
            return self
        squares = self.factor_squares * (stays[:, :, None] & stays[:, None, :])
        squares += self.counts[:, None, None] * np.eye(q) * ~stays[:, :, None]
        whole = replace(
            self,
            factor_sums=self.factor_sums * stays,
            factor_squares=squares,
            products=self.products * stays[:, None, :],
            relevances=self.relevances * stays,
            log_pivots=self.log_pivots * stays,
        )
        return whole.resized(int(ranks.max(initial=0)))

    def resized(self, n_factors: int) -> Self:
        """Cut off removed factors at the end, or add some."""
        q = self.n_factors
        if n_factors <= q:
            cut = slice(None, n_factors)
            return replace(
                self,
                factor_sums=self.factor_sums[:, cut],
                factor_squares=self.factor_squares[:, cut, cut],
                products=self.products[:, :, cut],
                relevances=self.relevances[:, cut],
                log_pivots=self.log_pivots[:, cut],
            )
        more = [(0, 0), (0, n_factors - q)]
        squares = np.pad(self.factor_squares, [*more, more[1]])
        new = np.arange(q, n_factors)
        squares[:, new, new] = self.counts[:, None]
        return replace(
            self,
            factor_sums=np.pad(self.factor_sums, more),
            factor_squares=squares,
            products=np.pad(self.products, [(0, 0), *more]),
            relevances=np.pad(self.relevances, more),
            log_pivots=np.pad(self.log_pivots, more),
        )

    # ---------------------------------------------------------------- mergers

    def merge(self, first: int, second: int) -> Self:
        """Merge the second component into the first."""
        [both] = self.pairs(np.array([first]), np.array([second]))
        rest = self.keep(np.delete(np.arange(len(self.counts)), second))
        q = max(rest.n_factors, both.n_factors)
        both, rest = both.resized(q), rest.resized(q)
        at = first - (first > second)

        def put(into: Floats, value: Floats) -> Floats:
            changed = into.copy()
            changed[at] = value[0]
            return changed

        arrays: dict[str, Any] = {name: put(getattr(rest, name), getattr(both, name)) for name in ARRAYS}
        tables = tuple(map(put, rest.category_counts, both.category_counts))
        return replace(rest, **arrays, category_counts=tables)

    def pairs(self, first: Positions, second: Positions) -> "Iterator[FactorStatistics]":
        """Give the statistics of pairs of components, each merged into one, some pairs at a time."""
        size = max(1, PAIR_CELLS // max(1, self.sums.shape[1] * (2 * self.n_factors + 1)))
        for i in range(0, len(first), size):
            yield _joined(self.keep(first[i : i + size]), self.keep(second[i : i + size]))


def concatenated(parts: list[FactorStatistics]) -> FactorStatistics:
    """Put the statistics of different components, with equally many factors, into one."""
    if len(parts) == 1:
        return parts[0]
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS}
    tables = tuple(np.concatenate(tables) for tables in zip(*(part.category_counts for part in parts), strict=True))
    return replace(parts[0], **arrays, category_counts=tables)


def _joined(a: FactorStatistics, b: FactorStatistics) -> FactorStatistics:
    """Merge components in pairs by their moments.

    The covariance of both together has the loadings of each and the difference of the means as a low-rank part, of
    which the strongest directions become the factors; the rest goes into the noise.
    """
    b = b.about(a.origins)
    n = np.maximum(a.counts + b.counts, np.finfo(float).tiny)
    share_a, share_b = (a.counts / n)[:, None, None], (b.counts / n)[:, None, None]
    (low_a, noise_a), (low_b, noise_b) = _low_rank(a), _low_rank(b)
    between = np.sqrt(share_a * share_b) * (a.means - b.means)[:, :, None]
    stack = np.concatenate([np.sqrt(share_a) * low_a, np.sqrt(share_b) * low_b, between], axis=2)  # (p, d, 2 q + 1)
    noise = share_a[:, :, 0] * noise_a + share_b[:, :, 0] * noise_b
    noise = np.maximum(noise, SMALLEST_NOISE * (noise + (stack**2).sum(axis=2)) + SMALLEST)
    rank = int(max(((a.relevances > 0).sum(axis=1) + (b.relevances > 0).sum(axis=1)).max(initial=0) + 1, 0))
    d = stack.shape[1]
    kept, left = leading(stack, noise, min(rank, a.most_factors, max(d - 1, 0), stack.shape[2]))
    return with_factors(
        Statistics(
            counts=a.counts + b.counts,
            sums=a.sums + b.sums,
            squares=a.squares + b.squares,
            origins=a.origins,
            category_counts=tuple(x + y for x, y in zip(a.category_counts, b.category_counts, strict=True)),
            log_normaliser=0.0,
        ),
        kept,
        noise + left,
        stack,
        noise,
        a.most_factors,
    )


def _low_rank(statistics: FactorStatistics) -> tuple[Floats, Floats]:  # (k, d, q), (k, d)
    """Give the covariance within each component as a product of loadings and a diagonal."""
    n = np.maximum(statistics.counts, np.finfo(float).tiny)
    loadings, spread = statistics.regression()
    values, vectors = np.linalg.eigh(spread / n[:, None, None])
    low = loadings @ (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
    variances = np.maximum(statistics.total_scatters / n[:, None], 0.0)
    return low, np.maximum(variances - (low**2).sum(axis=2), 0.0)


def leading(stack: Floats, noise: Floats, n_factors: int) -> tuple[Floats, Floats]:  # (k, d, q), (k, d)
    """Give the directions of a low-rank covariance that are strongest in units of the noise, and the rest's variances.

    By the small matrix of products of the columns, never by one of d x d.
    """
    scale = np.sqrt(noise)[:, :, None]
    white = stack / scale
    _, vectors = np.linalg.eigh(np.swapaxes(white, 1, 2) @ white)
    rotated = white @ vectors[:, :, ::-1]
    kept = scale * rotated[:, :, :n_factors]
    left = ((scale * rotated[:, :, n_factors:]) ** 2).sum(axis=2)
    return kept, left


def with_factors(
    statistics: Statistics,
    loadings: Floats,  # (k, d, q)
    noise: Floats,  # (k, d)
    stack: Floats,  # (k, d, p)
    diagonal: Floats,  # (k, d)
    most_factors: int,
) -> FactorStatistics:
    """Add the factors that given loadings and noise find in rows with covariance ``stack stack' + diagonal``."""
    n = statistics.counts
    weighted = loadings / noise[:, :, None]
    precision = np.eye(loadings.shape[2]) + np.swapaxes(loadings, 1, 2) @ weighted  # M
    inverse = np.linalg.inv(precision)
    gains = weighted @ inverse  # (k, d, q): <z> = gains' x
    explained = stack @ (np.swapaxes(stack, 1, 2) @ gains) + diagonal[:, :, None] * gains  # E[x z']
    diagonals = np.diagonal(precision, axis1=1, axis2=2)
    d = max(loadings.shape[1], 1)
    base = {name: getattr(statistics, name) for name in Statistics.__dataclass_fields__}
    return FactorStatistics(
        **base,
        factor_sums=np.zeros(loadings.shape[::2]),
        factor_squares=n[:, None, None] * (inverse + np.swapaxes(gains, 1, 2) @ explained),
        products=n[:, None, None] * explained,
        relevances=(diagonals - 1) / d,
        log_pivots=n[:, None] * pivots(precision)[0],
        most_factors=most_factors,
    )


def pivots(precisions: Floats) -> tuple[Floats, Floats]:  # (k, q), (k, q, q)
    """Give the logarithms of the pivots of M, last row first, and upper triangular U with M = U U'.

    The pivots from j on add up to ln |M| without the first j rows and columns.

    >>> matrix = np.array([[[2.0, 1.0], [1.0, 3.0]]])
    >>> np.exp(pivots(matrix)[0]).round(3)
    array([[1.667, 3.   ]])
    """
    root: Floats = np.asarray(np.linalg.cholesky(precisions[..., ::-1, ::-1]), dtype=float)[..., ::-1, ::-1]
    log_pivots: Floats = 2 * np.log(np.diagonal(root, axis1=-2, axis2=-1))
    return log_pivots, root
