"""A table as the inference wants it: numbers in inner coordinates, category codes, weights."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mixkern.density.coordinates import Coordinates
from mixkern.density.expectation import Block, blocks
from mixkern.density.mixture import BLOCK
from mixkern.typing import Floats, Positions

CELLS = 2**22  # floats that the temporaries of one block may take: 32 MiB
SMALLEST_BLOCK = 16


@dataclass(frozen=True)
class Rows:
    """Rows with their weights."""

    X: Floats  # (n, d), NaN where missing
    codes: Floats  # (n, e), NaN where missing
    weights: Floats | None  # (n,)
    n_slots: tuple[int, ...]  # categories of each categorical column, with room for "other"
    coordinates: Coordinates | None = None  # those of X

    def __len__(self) -> int:
        return len(self.X)

    @property
    def log_volume(self) -> float:
        """Give what a bound in the coordinates of X has too much."""
        return 0.0 if self.coordinates is None else self.coordinates.log_volume(self.X, self.weights)

    def take(self, positions: Positions) -> Self:
        """Give some of the rows."""
        weights = None if self.weights is None else self.weights[positions]
        return replace(self, X=self.X[positions], codes=self.codes[positions], weights=weights)

    def blocks(self, n_components: int, *, is_diagonal: bool) -> list[Block]:
        """Cut into blocks whose temporaries stay small, however many columns there are."""
        d = self.X.shape[1]
        n_features = 2 * d + 1 if is_diagonal else d * (d + 3) // 2 + 1
        most = int(np.clip(CELLS // (n_features + n_components * (d + 1)), SMALLEST_BLOCK, BLOCK))
        # Blocks of equal size, in pairs, so that no thread waits for the other.
        n_blocks = 2 * max(1, -(-len(self) // (2 * most)))
        return list(blocks(self.X, self.codes, self.weights, max(SMALLEST_BLOCK, -(-len(self) // n_blocks))))


def n_slots_of(codes: Floats) -> tuple[int, ...]:
    """Count the categories of each column, and one more for what may come later."""
    highest = np.max(codes, axis=0, where=~np.isnan(codes), initial=-1.0)
    return tuple(int(code) + 2 for code in highest)
