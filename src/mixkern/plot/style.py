"""Colours, markers and outlines of all figures, on light and on dark backgrounds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.imports import optional
from mixkern.typing import Bools, Ints, Positions

# The first seven are Okabe and Ito's, which colour-blind readers can distinguish. The others are as far as possible
# from these and from each other, as most readers, deuteranopes and protanopes see them. Markers differ too: the two
# classes among twenty that share one have colours that are far apart for all readers.
COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#A55AFF", "#785A00", "#870F2D"),
    *("#3C1E00", "#C30096", "#00FF96", "#004B5A", "#4B005A", "#000096", "#0000FF", "#F0B4C3", "#6900C3", "#96F0FF"),
)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*", "<", ">")
N_STYLES = len(COLOURS) * len(MARKERS)  # pairs of a colour and a marker
UNLABELLED = "#B0B0B0"
INK = "#000000"
GREY = "#808080"
BEST = "#D00000"

SMALL, MEDIUM, LARGE = 15.0, 26.0, 75.0  # areas of points, in square points of print (1/72 inch)
FEW_LABELS = 0.1  # if no larger share of rows is labelled, these have large points
LARGE_POINT = 40.0  # area of such a point


def marker_style(i: int, colours: Sequence[str] = COLOURS) -> dict[str, str]:
    """Return the colour and the marker of the i-th class; the first 20 colours and the first 200 pairs differ.

    >>> marker_style(0), marker_style(20)
    ({'color': '#0072B2', 'marker': 'o'}, {'color': '#0072B2', 'marker': '^'})
    """
    n = len(colours)
    return {"color": colours[i % n], "marker": MARKERS[(i % n + i // n) % len(MARKERS)]}


def class_layers(codes: Ints, is_drawn: Bools, n_layers: int) -> Iterator[tuple[int, int, Positions]]:
    """Divide rows into layers with rows of every class, so that no class covers the others.

    Yields the number of a layer, the code of a class and the positions of its rows, class by class in each layer. All
    classes are in the first layer, so that a legend made from it lists them in their order.

    >>> [(i, code, at.tolist()) for i, code, at in class_layers(np.array([1, 0, 1]), np.ones(3, dtype=bool), 2)]
    [(0, 0, [1]), (0, 1, [0]), (1, 1, [2])]
    """
    places = {int(code): np.flatnonzero(is_drawn & (codes == code)) for code in np.unique(codes[is_drawn])}
    for i in range(n_layers):
        yield from ((i, code, at[i::n_layers]) for code, at in places.items() if len(at) > i)


def labelled_style(is_labelled: Bools, usual: Mapping[str, Any], zorder: float = 2) -> dict[str, Any]:
    """Return options of ``ax.scatter`` for labelled rows: large and outlined if few, else the usual ones."""
    if not 0 < is_labelled.mean() <= FEW_LABELS:
        return dict(usual)
    return {"s": max(usual["s"], LARGE_POINT), "edgecolors": INK, "linewidths": 0.8, "zorder": zorder}


def labelled_texts(names: Iterable[Any], *, has_others: bool) -> list[str]:
    """Return the entries of a legend for labelled rows, beside other rows of known classes or not.

    >>> labelled_texts(["a"], has_others=True), labelled_texts(["a"], has_others=False)
    (['class a, labelled'], ['class a'])
    """
    return [f"class {name}, labelled" if has_others else f"class {name}" for name in names]


def halo(width: float, **options: Any) -> list[Any]:
    """Return path effects that draw a white rim around lines, points and texts; ``width`` is in points of print."""
    effects = optional("matplotlib.patheffects", purpose="mixkern.plot")
    return [effects.withStroke(linewidth=width, foreground="white", **options)]


def outlined(size: float) -> dict[str, Any]:
    """Return options of ``ax.scatter`` for points of area ``size`` with a black outline and a white rim."""
    outline, rim = (1.4, 3.6) if size >= LARGE else (0.6, 1.6)
    return {"s": size, "edgecolors": INK, "linewidths": outline, "path_effects": halo(rim)}


@dataclass(frozen=True)
class Theme:
    """The colours of a figure on a light or a dark background.

    Attributes
    ----------
    ground, ink, muted, line : str
        Colours of the background; of texts and outlines; of contours and tick labels; of axes and grids.
    classes : tuple of str
        Colours of the classes, in the order of :data:`COLOURS`.
    """

    ground: str
    ink: str
    muted: str
    line: str
    classes: tuple[str, ...]

    def marker_style(self, i: int) -> dict[str, str]:
        """Return the colour and the marker of the i-th class.

        >>> LIGHT.marker_style(0), DARK.marker_style(20)
        ({'color': '#0072B2', 'marker': 'o'}, {'color': '#4FA3E3', 'marker': '^'})
        """
        return marker_style(i, self.classes)

    def apply(self, ax: Any) -> None:
        """Give axes and their figure the colours of the theme, and hide the upper and right spines."""
        ax.figure.set_facecolor(self.ground)
        ax.set_facecolor(self.ground)
        ax.tick_params(colors=self.muted, labelcolor=self.muted, labelsize="medium", length=3)
        for side, spine in ax.spines.items():
            spine.set_visible(side in ("left", "bottom"))
            spine.set_color(self.line)
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_color(self.muted)


LIGHT = Theme(ground="#ffffff", ink="#1b1b1b", muted="#5f6368", line="#c9cdd2", classes=COLOURS)
# Similar hues, light enough for a dark background, and chosen in the same way.
PALE = (
    *("#4FA3E3", "#F2B33D", "#2FBF91", "#E29BC6", "#F17F42", "#9AD8F8", "#F5EC72", "#A569FF", "#A5D278", "#D26987"),
    *("#A5A569", "#FF4BB4", "#2DFFA5", "#00B400", "#A587C3", "#4B9696", "#00FFFF", "#FFC3D2", "#F078FF", "#D2F0D2"),
)
DARK = Theme(ground="#16181b", ink="#f0f0f0", muted="#a3a9b0", line="#4a5057", classes=PALE)
