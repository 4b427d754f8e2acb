"""Novelty of rows: how unlike the training rows they are."""

from dataclasses import dataclass
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np

from mixkern.density import Mixture, Rows
from mixkern.density.block import gap_patterns
from mixkern.partitions import PartitionedValues
from mixkern.parts import model_part
from mixkern.typing import Floats, Positions, RandomState

MAX_ROWS = 2_000  # training rows that novelty is measured by: it is accurate to about one in a thousand
MAX_CELLS = 2**19  # of these rows, which are written to model files: fewer rows of wide tables
MAX_PATTERNS = 1_000  # patterns of gaps whose densities are kept, 16 kB each
MIN_ROWS = 200  # with fewer training rows that have all columns of a row with gaps, sampled rows are used


@model_part("Novelty")
@dataclass(frozen=True, eq=False)
class Novelty:
    """Some of the training rows, whose densities others are compared with.

    Attributes
    ----------
    rows : ndarray of shape (m, d + e)
        Training rows, drawn at random where there are many.
    sampled : ndarray of shape (m, d + e)
        Rows sampled from the mixture, without gaps; none where the training rows have no gaps.
    """

    rows: Floats
    sampled: Floats

    @classmethod
    def of(cls, rows: Rows, random: RandomState) -> Self:
        """Draw training rows; they are copied, because they may belong to the user."""
        assert rows.mixture is not None  # that of the estimator
        most = min(MAX_ROWS, max(MIN_ROWS, MAX_CELLS // max(1, rows.shape[1])))
        values = rows.values
        has_gaps = values.has_gaps if isinstance(values, PartitionedValues) else np.isnan(values).any()
        sampled = rows.mixture.sample(most if has_gaps else 0, random)[0]
        return cls(values[random.choice(len(rows), min(len(rows), most), replace=False)], sampled)

    def share_denser(self, rows: Rows) -> Floats:  # (n,)
        """Share of the training rows with a higher density, by the columns that a row has.

        Densities of different columns have different units. So the training rows are compared without the columns
        that a row lacks; where few have all its other columns, rows sampled from the mixture take their place.
        """
        share = np.empty(len(rows))
        for at, observed, missing in gap_patterns(rows.values):
            log_density = self._log_densities(rows.mixture, observed, missing)
            below = np.searchsorted(log_density, rows.log_density[at], side="right")
            share[at] = (len(log_density) - below) / len(log_density)
        return share

    def log_densities(self, mixture: Mixture) -> Floats:  # (m,)
        """Sorted log densities that rows without gaps are compared with."""
        columns = np.arange(self.rows.shape[1])
        return self._log_densities(mixture, columns, columns[:0])

    def _log_densities(self, mixture: Mixture | None, observed: Positions, missing: Positions) -> Floats:  # (m,)
        """Sorted log densities of the training rows without some columns; kept, because blocks of a file repeat."""
        known = _KNOWN.setdefault(self, {})
        key = mixture, missing.tobytes()
        found = known.get(key)
        if found is None:
            compared = np.array(self._complete(observed))
            compared[:, missing] = np.nan
            found = np.sort(Rows(compared, mixture).log_density)
            if len(known) >= MAX_PATTERNS:
                known.clear()
            known[key] = found
        return found

    def _complete(self, observed: Positions) -> Floats:
        """Rows that have all of some columns."""
        complete = self.rows[~np.isnan(self.rows[:, observed]).any(axis=1)]
        return complete if len(complete) >= MIN_ROWS or not len(self.sampled) else self.sampled


# Not in the object, which is written to files.
_KNOWN: WeakKeyDictionary[Novelty, dict[tuple[Mixture | None, bytes], Floats]] = WeakKeyDictionary()
