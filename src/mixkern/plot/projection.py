"""The plane of the first two principal components of a table, and the places of its rows there."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from sklearn.decomposition import PCA

from mixkern.density import Mixture, one_hot_rows
from mixkern.sampling import check_random_state
from mixkern.typing import Floats, Ints

MOST_ROWS = 4_000  # drawn, and used to find the principal components
N_SAMPLE = 20_000  # rows sampled from the mixture, for its density in the plane
SAMPLE_CELLS = 2**21  # values of them that are held at a time: 16 MiB
GRID = 160  # cells along each side
OUTER = 0.01  # share of the rows at each side that may lie far away
FAR = 0.15  # widths and heights of all other rows; rows beyond are drawn at the edge
ROOM = 0.06  # margin, in widths and heights of what is shown
WIDE = 6.0  # cells by which numbers of rows are smoothed
JITTER = 0.25  # deviation of the second coordinate where a table has one column

Box = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True, eq=False)
class Projection:
    """The plane of the first two principal components of a table.

    Attributes
    ----------
    mixture : Mixture
        The density of the rows.
    axes : ndarray of shape (2, number of one-hot columns)
        Directions; the second is zero for a table of one column.
    centre : ndarray
        Origin of the plane.
    shares : tuple of float
        Share of the variance along each direction.
    """

    mixture: Mixture
    axes: Floats
    centre: Floats
    shares: tuple[float, float]

    @classmethod
    def of(cls, mixture: Mixture, rows: ArrayLike, random_state: Any = 0) -> Self:
        """Find the plane from encoded rows: z-scores of numbers, zeros and ones of categories."""
        values = np.asarray(rows, dtype=float)
        random = check_random_state(random_state)
        some = values if len(values) <= MOST_ROWS else values[random.choice(len(values), MOST_ROWS, replace=False)]
        numbers = np.nan_to_num(one_hot_rows(mixture, np.repeat(some, 2, axis=0) if len(some) == 1 else some))
        n_axes = min(2, numbers.shape[1])
        # Equal rows have no principal component; a little noise gives them one.
        pca = PCA(n_axes, random_state=random).fit(numbers + 1e-9 * random.normal(size=numbers.shape))
        axes = np.zeros((2, numbers.shape[1]))
        axes[:n_axes] = pca.components_
        first, second = [*pca.explained_variance_ratio_, 0.0][:2]
        return cls(mixture, axes, pca.mean_, (float(first), float(second)))

    @property
    def is_line(self) -> bool:
        """Whether there is one direction only, and rows are spread at random along the other."""
        return not self.axes[1].any()

    def places(self, rows: ArrayLike, random: np.random.RandomState) -> Floats:  # (n, 2)
        """Return the places of encoded rows in the plane."""
        numbers = np.nan_to_num(one_hot_rows(self.mixture, np.asarray(rows, dtype=float)))
        places = (numbers - self.centre) @ self.axes.T
        if self.is_line:
            places[:, 1] = JITTER * random.normal(size=len(places))
        return np.asarray(places, dtype=float)

    def centres(self) -> Floats:  # (k, 2)
        """Return the places of the components' centres: means, and probabilities of categories."""
        numbers = np.hstack([self.mixture.means, *self.mixture.categories])
        return np.asarray((numbers - self.centre) @ self.axes.T, dtype=float)


@dataclass(frozen=True, eq=False)
class MapRows:
    """What a map of a table shows: places of some rows, and what was predicted and given for them.

    Attributes
    ----------
    plane : Projection
        Directions of the map.
    places : ndarray of shape (n, 2)
        Places of at most 4,000 rows, in random order; rows far away from all others are moved to the edge.
    at : ndarray of int, shape (n,)
        Their positions in the table.
    predicted : ndarray of int, shape (n,)
        Their predicted classes.
    labelled : ndarray of shape (m, 2)
        Places of the labelled rows.
    given : ndarray of int, shape (m,)
        Their labels.
    sample : ndarray of shape (N_SAMPLE, 2)
        Places of rows that are sampled from the mixture.
    box : tuple of float
        Limits of the map: left, right, bottom, top.
    n_far : int
        Number of rows that were moved to the edge.
    """

    plane: Projection
    places: Floats
    at: Ints
    predicted: Ints
    labelled: Floats
    given: Ints
    sample: Floats
    box: Box
    n_far: int

    @classmethod
    def of(
        cls, mixture: Mixture, rows: ArrayLike, predicted: ArrayLike, given: ArrayLike, random_state: Any = 0
    ) -> Self:
        """Choose the rows and find their places, from encoded rows and codes of classes; -1 is no label."""
        values, codes, labels = np.asarray(rows, dtype=float), np.asarray(predicted), np.asarray(given)
        random = check_random_state(random_state)
        plane = Projection.of(mixture, values, random)
        at = random.permutation(len(values))[:MOST_ROWS]
        labelled = np.flatnonzero(labels >= 0)[:MOST_ROWS]
        places, own = plane.places(values[at], random), plane.places(values[labelled], random)
        sample = sampled_places(plane, random)
        box = limits(places)
        inside, own_inside = _moved_inside(places, box), _moved_inside(own, box)
        n_far = int((inside != places).any(axis=1).sum())
        return cls(plane, inside, at, codes[at], own_inside, labels[labelled], sample, box, n_far)

    def counts(self, n_classes: int) -> Floats:  # (GRID, GRID, c)
        """Return the smoothed number of rows of each predicted class on a grid."""
        groups = (self.places[self.predicted == code] for code in range(n_classes))
        return np.stack([cell_counts(places, self.box, WIDE) for places in groups], axis=-1)

    def class_places(self, n_classes: int) -> dict[int, tuple[float, float]]:
        """Return a place for the name of each predicted class, where it leads the others most.

        Returns
        -------
        dict of int and pair of float
            By the code of a class, as shares of the width and height of the map from the left and the bottom.
        """
        counts = self.counts(n_classes)
        found = {}
        for code in np.unique(self.predicted):
            others = np.delete(counts, code, axis=2).max(axis=2, initial=0.0)
            row, column = np.unravel_index((counts[..., code] - others).argmax(), (GRID, GRID))
            found[int(code)] = (float(column + 0.5) / GRID, float(row + 0.5) / GRID)
        return found


def sampled_places(plane: Projection, random: np.random.RandomState) -> Floats:  # (N_SAMPLE, 2)
    """Return the places of rows that are sampled from the mixture, fewer at a time where they have many columns."""
    step = max(1, SAMPLE_CELLS // max(1, plane.mixture.n_features))
    sizes = [min(step, N_SAMPLE - start) for start in range(0, N_SAMPLE, step)]
    return np.vstack([plane.places(plane.mixture.sample(size, random)[0], random) for size in sizes])


def limits(places: Floats) -> Box:
    """Return the limits of a map that shows all rows, but for a few that are far away from all others.

    >>> left, right, _, _ = limits(np.column_stack([np.append(np.linspace(0, 1, 999), 99.0), np.zeros(1000)]))
    >>> left < 0, 1 < right < 2
    (True, True)
    """
    low, high = np.quantile(places, [OUTER, 1 - OUTER], axis=0)
    reach = FAR * (high - low)
    low, high = np.maximum(places.min(axis=0), low - reach), np.minimum(places.max(axis=0), high + reach)
    room = ROOM * np.where(high > low, high - low, 1.0) + 1e-9
    (left, bottom), (right, top) = low - room, high + room
    return float(left), float(right), float(bottom), float(top)


def _moved_inside(places: Floats, box: Box) -> Floats:
    """Move places beyond the limits, or in the margin, to the inner edge of the margin."""
    low, high = np.array([box[0], box[2]]), np.array([box[1], box[3]])
    room = (high - low) * ROOM / (1 + 2 * ROOM) * (1 - 1e-6)  # rows at the edge stay where they are
    return np.clip(places, low + room, high - room)


def cell_counts(places: Floats, box: Box, smooth: float) -> Floats:  # (GRID, GRID)
    """Return smoothed counts of rows on a grid."""
    counts = np.histogram2d(places[:, 1], places[:, 0], GRID, [box[2:], box[:2]])[0]
    return np.asarray(gaussian_filter(counts, smooth, mode="constant"), dtype=float)
