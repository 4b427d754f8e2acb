"""Map of a table with any columns: rows, density and predictions in the first two principal components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from sklearn.decomposition import PCA

from mixkern.density import Mixture, one_hot_rows
from mixkern.imports import optional
from mixkern.plot.figure import axes_or_new
from mixkern.plot.style import LIGHT, Theme
from mixkern.sampling import check_random_state
from mixkern.typing import Floats, Ints

SIZE = (6.4, 4.9)  # inches
MOST_ROWS = 4_000  # drawn, and used to find the principal components
N_SAMPLE = 20_000  # rows sampled from the mixture, for its density in the plane
SAMPLE_CELLS = 2**21  # values of them that are held at a time: 16 MiB
GRID = 160  # cells along each side
OUTER = 0.005  # share of the rows beyond each side of the picture
ROOM = 0.06  # margin, in widths and heights of the rows
NEAR, WIDE = 3.0, 6.0  # cells by which densities and regions are smoothed
MASSES = (0.95, 0.8, 0.5, 0.2)  # probability inside the contours
TINT = 0.30  # opacity of the background where all predictions agree
JITTER = 0.25  # deviation of the second coordinate where a table has one column
CLOSE = 0.045  # of the picture's sides: least distance between numbers of components


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


def projection(
    mixture: Mixture,
    rows: ArrayLike,
    predicted: ArrayLike,
    given: ArrayLike,
    *,
    named_components: Sequence[int] = (),
    theme: Theme = LIGHT,
    random_state: Any = 0,
    ax: Any = None,
) -> Any:
    """Draw a table of any columns in its first two principal components.

    Small points are rows in the colour of their predicted class, large points are labelled rows in the colour and shape
    of their label. Contours are those of the mixture in this plane: they hold 20, 50, 80 and 95 % of its rows. The
    background has the colour of most predictions nearby, paler where predictions differ: the boundary itself lies in
    the space of all columns.

    Parameters
    ----------
    mixture : Mixture
        The density of the rows.
    rows : array-like of shape (n, d + e)
        Encoded rows; at most 4,000 of them, and all labelled ones, are drawn.
    predicted, given : array-like of int, shape (n,)
        Codes of the predicted classes, and of the labels, -1 for unlabelled rows.
    named_components : sequence of int, default=()
        Components whose numbers are written at their centres, the most important first; a number that would cover
        another one is left out.
    theme : Theme, default=LIGHT
        Colours for a light or a dark page.
    random_state : int, RandomState or None, default=0
        Seed of the choice of rows.
    ax : matplotlib.axes.Axes, default=None
        Axes for the map; by default those of a new figure, 6.4 by 4.9 inches.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets
    >>> from mixkern.plot.projection import projection
    >>> from mixkern.encoding import encode_labels
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
    >>> predicted = model.predict_proba(iris.X).argmax(axis=1)
    >>> ax = projection(model.mixture_, model.encoder_.transform(iris.X), predicted, encode_labels(y).codes)
    """
    values, codes, labels = np.asarray(rows, dtype=float), np.asarray(predicted), np.asarray(given)
    random = check_random_state(random_state)
    plane = Projection.of(mixture, values, random)
    drawn = random.permutation(len(values))[:MOST_ROWS]
    labelled = np.flatnonzero(labels >= 0)[:MOST_ROWS]
    places = plane.places(values[drawn], random)
    ax = axes_or_new(ax, SIZE)
    box = _box(places)
    _regions(places, codes[drawn], box, theme, ax)
    _contours(_sampled_places(plane, random), box, theme, ax)
    _rows(places, codes[drawn], theme, ax)
    _labelled(plane.places(values[labelled], random), labels[labelled], theme, ax)
    _numbers(plane.centres(), named_components, box, theme, ax)
    theme.apply(ax)
    names = [f"{word} principal component" for word in ("first", "second")]
    texts = [f"{name} ({100 * share:.0f} % of the variance)" for name, share in zip(names, plane.shares, strict=True)]
    ax.set(xlabel=texts[0], ylabel="random" if plane.is_line else texts[1])
    ax.set(xlim=box[:2], ylim=box[2:], xticks=[], yticks=[])
    return ax


def _sampled_places(plane: Projection, random: np.random.RandomState) -> Floats:  # (N_SAMPLE, 2)
    """Return the places of rows that are sampled from the mixture, fewer at a time where they have many columns."""
    step = max(1, SAMPLE_CELLS // max(1, plane.mixture.n_features))
    sizes = [min(step, N_SAMPLE - start) for start in range(0, N_SAMPLE, step)]
    return np.vstack([plane.places(plane.mixture.sample(size, random)[0], random) for size in sizes])


def _box(places: Floats) -> tuple[float, float, float, float]:
    """Return the limits of the axes; a few rows far away are left out."""
    low, high = np.quantile(places, [OUTER, 1 - OUTER], axis=0)
    room = ROOM * np.where(high > low, high - low, 1.0) + 1e-9
    (left, bottom), (right, top) = low - room, high + room
    return float(left), float(right), float(bottom), float(top)


def _cells(places: Floats, box: tuple[float, float, float, float], smooth: float) -> Floats:  # (GRID, GRID)
    """Return smoothed counts of rows on a grid."""
    counts = np.histogram2d(places[:, 1], places[:, 0], GRID, [box[2:], box[:2]])[0]
    return np.asarray(gaussian_filter(counts, smooth, mode="constant"), dtype=float)


def _regions(places: Floats, codes: Ints, box: tuple[float, float, float, float], theme: Theme, ax: Any) -> None:
    colours = optional("matplotlib.colors", purpose="mixkern.plot")
    counts = np.stack([_cells(places[codes == code], box, WIDE) for code in range(int(codes.max()) + 1)], axis=-1)
    total = counts.sum(axis=-1)
    image = np.zeros((GRID, GRID, 4))
    image[..., :3] = np.array([colours.to_rgb(theme.marker_style(i)["color"]) for i in range(counts.shape[-1])])[
        counts.argmax(axis=-1)
    ]
    lead = counts.max(axis=-1) / np.maximum(total, 1e-12)  # 1 where all agree
    n_classes = max(2, int((counts.sum(axis=(0, 1)) > 0).sum()))
    agreed = np.clip((lead - 1 / n_classes) / (1 - 1 / n_classes), 0, 1)
    is_near = np.clip(total / (0.1 * np.quantile(total[total > 0], 0.5)), 0, 1)  # 0 where there are no rows
    image[..., 3] = TINT * agreed * is_near
    ax.imshow(image, extent=box, origin="lower", interpolation="bilinear", aspect="auto", zorder=0)


def _contours(sample: Floats, box: tuple[float, float, float, float], theme: Theme, ax: Any) -> None:
    cells = _cells(sample, box, NEAR)
    heights = np.sort(cells.ravel())[::-1]
    mass = np.cumsum(heights) / len(sample)
    levels = sorted({float(heights[min(int(np.searchsorted(mass, each)), len(heights) - 1)]) for each in MASSES})
    inside = [level for level in levels if cells.min() < level < cells.max()]
    if inside:
        x, y = (np.linspace(low, high, 2 * GRID + 1)[1::2] for low, high in (box[:2], box[2:]))
        ax.contour(x, y, cells, levels=inside, colors=theme.muted, linewidths=0.9, alpha=0.75, zorder=1)


def _rows(places: Floats, codes: Ints, theme: Theme, ax: Any) -> None:
    size = float(np.clip(9_000 / len(places), 3.0, 12.0))
    colours = [theme.marker_style(int(code))["color"] for code in codes]
    ax.scatter(*places.T, s=size, c=colours, alpha=0.55, linewidths=0, zorder=2)


def _labelled(places: Floats, codes: Ints, theme: Theme, ax: Any) -> None:
    size = float(np.clip(4_000 / max(1, len(places)), 20.0, 70.0))
    for code in np.unique(codes):
        at = places[codes == code]
        style = theme.marker_style(int(code)) | {"edgecolors": theme.ink, "linewidths": 1.1 if size > 40 else 0.6}
        ax.scatter(*at.T, s=size, zorder=4, **style)


def _numbers(
    centres: Floats, named: Sequence[int], box: tuple[float, float, float, float], theme: Theme, ax: Any
) -> None:
    effects = optional("matplotlib.patheffects", purpose="mixkern.plot")
    rim = [effects.withStroke(linewidth=3, foreground=theme.ground)]
    size = np.array([box[1] - box[0], box[3] - box[2]])
    taken: list[Floats] = []
    for k in named:
        (x, y), place = centres[k], (centres[k] - [box[0], box[2]]) / size
        is_free = all(np.abs(place - other).max() > CLOSE for other in taken)
        if is_free and (place > 0).all() and (place < 1).all():
            taken.append(place)
            text = {"color": theme.ink, "fontsize": "large", "fontweight": "bold", "ha": "center", "va": "center"}
            ax.text(x, y, str(k), path_effects=rim, zorder=5, **text)
