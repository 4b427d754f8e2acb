"""Map of a table with any columns: rows, density and predictions in the first two principal components."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixkern.density import Mixture
from mixkern.imports import optional
from mixkern.plot.figure import axes_or_new
from mixkern.plot.projection import GRID, Box, MapRows, Projection, cell_counts
from mixkern.plot.style import LIGHT, UNLABELLED, Theme, class_layers, labelled_texts
from mixkern.typing import Bools, Floats, Ints

SIZE = (6.4, 4.9)  # inches
NEAR = 3.0  # cells by which the density is smoothed
MASSES = (0.95, 0.8, 0.5, 0.2)  # probability inside the contours
TINT = 0.30  # opacity of the background where all predictions agree
N_LAYERS = 8  # in which rows are drawn, so that no class covers the others
CLOSE = 0.055  # of the map's sides: least distance between numbers of components


def table_map(
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
    the space of all columns. Rows far away from all others are drawn at the edge.

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
    >>> from mixkern.plot.table_map import table_map
    >>> from mixkern.encoding import encode_labels
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(iris.X, y)
    >>> predicted = model.predict_proba(iris.X).argmax(axis=1)
    >>> ax = table_map(model.mixture_, model.encoder_.transform(iris.X), predicted, encode_labels(y).codes)
    """
    found = MapRows.of(mixture, rows, predicted, given, random_state)
    return draw_map(found, named_components=named_components, theme=theme, ax=ax)


def draw_map(
    rows: MapRows,
    *,
    named_components: Sequence[int] = (),
    contours: bool = True,
    codes: Ints | None = None,
    is_small: Bools | None = None,
    names: Sequence[str] = (),
    theme: Theme = LIGHT,
    ax: Any = None,
) -> Any:
    """Draw rows whose places are known.

    Parameters
    ----------
    rows : MapRows
        What is drawn.
    named_components : sequence of int, default=()
        Components whose numbers are written.
    contours : bool, default=True
        Whether to draw contours of the mixture.
    codes : ndarray of int, default=None
        Classes that colour the small points, -1 for grey; by default the predicted ones.
    is_small : ndarray of bool, default=None
        Rows that have small points; by default all, those below large ones included.
    names : sequence of str, default=()
        Names of the classes in a legend.
    theme : Theme, default=LIGHT
        Colours.
    ax : matplotlib.axes.Axes, default=None
        Axes for the map.
    """
    ax = axes_or_new(ax, SIZE)
    _regions(rows, theme, ax)
    if contours:
        _contours(rows.sample, rows.box, theme, ax)
    shown = np.ones(len(rows.places), dtype=bool) if is_small is None else is_small
    colours = rows.predicted if codes is None else codes
    _rows(rows.places, colours, shown, names, theme, ax)
    texts = labelled_texts(names, has_others=bool((colours[shown] >= 0).any()))
    _labelled(rows.labelled, rows.given, texts, theme, ax)
    _numbers(rows.plane.centres(), named_components, rows.box, theme, ax)
    theme.apply(ax)
    _name_axes(rows.plane, ax)
    ax.set(xlim=rows.box[:2], ylim=rows.box[2:], xticks=[], yticks=[])
    return ax


def _name_axes(plane: Projection, ax: Any) -> None:
    names = [f"{word} principal component" for word in ("first", "second")]
    texts = [f"{name} ({100 * share:.0f} % of the variance)" for name, share in zip(names, plane.shares, strict=True)]
    ax.set(xlabel=texts[0], ylabel="random" if plane.is_line else texts[1])


def _regions(rows: MapRows, theme: Theme, ax: Any) -> None:
    colours = optional("matplotlib.colors", purpose="mixkern.plot")
    counts = rows.counts(int(rows.predicted.max()) + 1)
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
    ax.imshow(image, extent=rows.box, origin="lower", interpolation="bilinear", aspect="auto", zorder=0)


def _contours(sample: Floats, box: Box, theme: Theme, ax: Any) -> None:
    cells = cell_counts(sample, box, NEAR)
    heights = np.sort(cells.ravel())[::-1]
    mass = np.cumsum(heights) / len(sample)
    levels = sorted({float(heights[min(int(np.searchsorted(mass, each)), len(heights) - 1)]) for each in MASSES})
    inside = [level for level in levels if cells.min() < level < cells.max()]
    if inside:
        x, y = (np.linspace(low, high, 2 * GRID + 1)[1::2] for low, high in (box[:2], box[2:]))
        ax.contour(x, y, cells, levels=inside, colors=theme.muted, linewidths=0.9, alpha=0.75, zorder=1)


def _rows(places: Floats, codes: Ints, is_small: Bools, names: Sequence[str], theme: Theme, ax: Any) -> None:
    """Draw rows in layers, each with some rows of every class: opaque, in exactly the colours of the legend."""
    size = float(np.clip(9_000 / len(places), 4.0, 13.0))
    for i, code, at in class_layers(codes, is_small, N_LAYERS):
        style = theme.marker_style(code) if code >= 0 else {"color": UNLABELLED, "marker": "o"}
        label = _text(code, names) if names and i == 0 else None
        ax.scatter(*places[at].T, s=size, linewidths=0, zorder=2, clip_on=False, label=label, **style)


def _labelled(places: Floats, codes: Ints, texts: Sequence[str], theme: Theme, ax: Any) -> None:
    size = float(np.clip(4_000 / max(1, len(places)), 20.0, 70.0))
    for code in np.unique(codes):
        at = places[codes == code]
        style = theme.marker_style(int(code)) | {"edgecolors": theme.ink, "linewidths": 1.1 if size > 40 else 0.6}
        label = texts[code] if texts else None
        ax.scatter(*at.T, s=size, zorder=4, clip_on=False, label=label, **style)


def _text(code: int, names: Sequence[str]) -> str:
    return f"class {names[code]}" if code >= 0 else "unlabelled"


def number_places(centres: Floats, named: Sequence[int], box: Box) -> dict[int, tuple[float, float]]:
    """Return the places of the numbers of components that lie on a map and do not cover each other.

    Returns
    -------
    dict of int and pair of float
        By the number of a component, as shares of the width and height of the map from the left and the bottom.
    """
    size = np.array([box[1] - box[0], box[3] - box[2]])
    found: dict[int, tuple[float, float]] = {}
    for k in named:
        x, y = ((centres[k] - [box[0], box[2]]) / size).tolist()
        is_free = all(max(abs(x - other[0]), abs(y - other[1])) > CLOSE for other in found.values())
        if is_free and 0 < x < 1 and 0 < y < 1:
            found[k] = x, y
    return found


def _numbers(centres: Floats, named: Sequence[int], box: Box, theme: Theme, ax: Any) -> None:
    """Write numbers of components in small discs, unlike the names of classes."""
    disc = {"boxstyle": "circle,pad=0.25", "facecolor": theme.ground, "edgecolor": theme.muted, "linewidth": 0.8}
    text = {"color": theme.ink, "fontsize": "small", "ha": "center", "va": "center", "zorder": 5}
    for k, place in number_places(centres, named, box).items():
        ax.text(*place, str(k), transform=ax.transAxes, bbox=disc | {"alpha": 0.85}, **text)
