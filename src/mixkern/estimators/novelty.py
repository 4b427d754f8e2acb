"""How unlike the training rows a row is."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixkern.density import Mixture

Floats = NDArray[np.float64]

MOST_ROWS = 2_000  # whose densities give the quantiles: one in a thousand can be told


@dataclass(frozen=True, eq=False)
class Novelty:
    """Some training rows, whose densities say what is usual."""

    rows: Floats  # (m, d + e)

    @classmethod
    def of(cls, rows: Floats, random: np.random.RandomState) -> Self:
        """Draw rows, if there are many; copy them, because they may be the user's."""
        return cls(rows[random.choice(len(rows), min(len(rows), MOST_ROWS), replace=False)])

    def of_rows(self, X: Floats, mixture: Mixture) -> Floats:  # (n,)
        """Give the share of training rows in denser places, comparing only the columns that a row has.

        The density of a few columns and that of all are not comparable: they have different units. So the training
        rows lose the columns that a row lacks; where none has all the others, all of them are asked.
        """
        share = np.empty(len(X))
        patterns, which = np.unique(np.isnan(X), axis=0, return_inverse=True)
        for i, is_gap in enumerate(patterns):
            at = which == i
            complete = self.rows[~np.isnan(self.rows[:, ~is_gap]).any(axis=1)]
            usual = np.array(complete if len(complete) else self.rows)
            usual[:, is_gap] = np.nan
            log_usual = np.sort(mixture.log_density(usual))
            share[at] = 1 - np.searchsorted(log_usual, mixture.log_density(X[at]), side="right") / len(log_usual)
        return share
