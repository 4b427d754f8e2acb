"""Sufficient statistics of rows for the M-step: sums that add up.

Blocks of a table, blocks of a file or the parts of a cluster each have their :class:`Statistics`; their sum is the
statistics of all rows.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mixkern.typing import Floats, Positions


@dataclass(frozen=True)
class Statistics:
    """Responsibility-weighted sums of rows. Moments are taken about one origin per component.

    Far from the origin, the square of a value leaves no digits for the spread around it; an origin in the middle of the
    component keeps them.
    """

    counts: Floats  # (k,): N_k, (10.51)
    sums: Floats  # (k, d): about the origins
    squares: Floats  # (k, d, d), or (k, d) where columns are independent: about the origins
    origins: Floats  # (k, d)
    category_counts: tuple[Floats, ...]  # (k, n_categories) each
    log_normaliser: float  # sum over rows of ln sum_k rho_nk

    @property
    def n_factors(self) -> int:
        """Number of factors that the sums include."""
        return 0

    @property
    def means(self) -> Floats:  # (k, d)
        """Mean of each component's rows, (10.52)."""
        return self.origins + self._offsets

    @property
    def scatters(self) -> Floats:
        """N_k S_k, (10.53): squared deviations from the component's own mean."""
        offsets = self._offsets
        if self.squares.ndim == 2:
            return np.maximum(self.squares - offsets * self.sums, 0.0)
        scatters = self.squares - offsets[:, :, None] * self.sums[:, None, :]
        return 0.5 * (scatters + np.swapaxes(scatters, 1, 2))

    @property
    def _offsets(self) -> Floats:
        return self.sums / np.maximum(self.counts, np.finfo(float).tiny)[:, None]

    def about(self, origins: Floats) -> Self:
        """Give the same sums about other origins."""
        shift = self.origins - origins
        counts = self.counts[:, None]
        sums = self.sums + counts * shift
        if self.squares.ndim == 2:
            squares = self.squares + 2 * shift * self.sums + counts * shift**2
        else:
            cross = shift[:, :, None] * self.sums[:, None, :]
            squares = self.squares + cross + np.swapaxes(cross, 1, 2)
            squares = squares + counts[:, :, None] * shift[:, :, None] * shift[:, None, :]
        return replace(self, sums=sums, squares=squares, origins=origins)

    def __add__(self, other: Self) -> Self:
        same = other if other.origins is self.origins else other.about(self.origins)
        return replace(
            self,
            counts=self.counts + same.counts,
            sums=self.sums + same.sums,
            squares=self.squares + same.squares,
            category_counts=tuple(a + b for a, b in zip(self.category_counts, same.category_counts, strict=True)),
            log_normaliser=self.log_normaliser + same.log_normaliser,
        )

    def __mul__(self, factor: float) -> Self:
        return replace(
            self,
            counts=self.counts * factor,
            sums=self.sums * factor,
            squares=self.squares * factor,
            category_counts=tuple(table * factor for table in self.category_counts),
            log_normaliser=self.log_normaliser * factor,
        )

    def keep(self, components: Positions) -> Self:
        """Give the statistics of some of the components."""
        return replace(
            self,
            counts=self.counts[components],
            sums=self.sums[components],
            squares=self.squares[components],
            origins=self.origins[components],
            category_counts=tuple(table[components] for table in self.category_counts),
        )

    def merge(self, first: int, second: int) -> Self:
        """Merge the second component into the first."""
        both = self.keep(np.array([first])) + self.keep(np.array([second]))
        rest = self.keep(np.delete(np.arange(len(self.counts)), second))
        at = first - (first > second)

        def put(into: Floats, value: Floats) -> Floats:
            changed = into.copy()
            changed[at] = value[0]
            return changed

        return replace(
            rest,
            counts=put(rest.counts, both.counts),
            sums=put(rest.sums, both.sums),
            squares=put(rest.squares, both.squares),
            origins=put(rest.origins, both.origins),
            category_counts=tuple(map(put, rest.category_counts, both.category_counts)),
        )
