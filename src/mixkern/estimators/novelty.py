"""How unlike the training rows a row is."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixkern.density import Mixture
from mixkern.density.block import gap_patterns
from mixkern.typing import Floats

MOST_ROWS = 2_000  # whose densities give the quantiles: one in a thousand can be told
ENOUGH_ROWS = 200  # with fewer that have all the columns of a row with gaps, the mixture makes up others


@dataclass(frozen=True, eq=False)
class Novelty:
    """Some training rows, whose densities say what is usual."""

    rows: Floats  # (m, d + e)
    drawn: Floats  # (m, d + e), from the mixture: without gaps

    @classmethod
    def of(cls, rows: Floats, mixture: Mixture, random: np.random.RandomState) -> Self:
        """Draw rows, if there are many; copy them, because they may be the user's."""
        has_gaps = np.isnan(rows).any()
        drawn = mixture.sample(MOST_ROWS if has_gaps else 0, random)[0]
        return cls(rows[random.choice(len(rows), min(len(rows), MOST_ROWS), replace=False)], drawn)

    def of_rows(self, X: Floats, mixture: Mixture) -> Floats:  # (n,)
        """Give the share of training rows in denser places, comparing only the columns that a row has.

        The density of a few columns and that of all are not comparable: they have different units. So the training
        rows lose the columns that a row lacks; where few have all the others, rows from the mixture take their place.
        """
        share = np.empty(len(X))
        for at, observed, missing in gap_patterns(X):
            usual = np.array(self._complete(observed))
            usual[:, missing] = np.nan
            log_usual = np.sort(mixture.log_density(usual))
            below = np.searchsorted(log_usual, mixture.log_density(X[at]), side="right")
            share[at] = (len(log_usual) - below) / len(log_usual)
        return share

    def _complete(self, observed: NDArray[np.intp]) -> Floats:
        """Give rows that have all of some columns."""
        complete = self.rows[~np.isnan(self.rows[:, observed]).any(axis=1)]
        return complete if len(complete) >= ENOUGH_ROWS or not len(self.drawn) else self.drawn
