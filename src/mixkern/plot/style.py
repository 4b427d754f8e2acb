"""What all pictures have in common: colours, shapes, figures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mixkern.imports import optional

# Okabe and Ito's colours, told apart by colour-blind readers too; markers differ as well, for print in grey.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
UNLABELLED = "#B0B0B0"
INK = "#000000"
GREY = "#808080"
BEST = "#D00000"

SMALL, MEDIUM, LARGE = 15.0, 26.0, 75.0  # areas of points, in square points of print
WIDTH = 5.2  # inches, of a figure with one panel
MARGIN = 0.05  # of the width and height, around what is shown
MOST_OBLONG = 4.0  # beyond this ratio of its sides, a picture fills its frame instead of keeping equal units


def look(i: int, colours: Sequence[str] = COLOURS) -> dict[str, str]:
    """Give the colour and the marker of the i-th thing in a picture; no pair comes twice among the first 49.

    >>> look(0), look(7)
    ({'color': '#0072B2', 'marker': 'o'}, {'color': '#0072B2', 'marker': '^'})
    """
    n = len(colours)
    return {"color": colours[i % n], "marker": MARKERS[(i + i // n) % len(MARKERS)]}


def halo(width: float, **options: Any) -> list[Any]:
    """Give a white rim that lifts lines, points and texts off any ground, so wide in points of print."""
    effects = optional("matplotlib.patheffects", purpose="mixkern.plot")
    return [effects.withStroke(linewidth=width, foreground="white", **options)]


def outlined(size: float) -> dict[str, Any]:
    """Give the look of points that must not drown among others: their area, a black outline, a white rim."""
    outline, rim = (1.4, 3.6) if size >= LARGE else (0.6, 1.6)
    return {"s": size, "edgecolors": INK, "linewidths": outline, "path_effects": halo(rim)}


def new_figure(figsize: tuple[float, float] = (WIDTH, WIDTH)) -> Any:
    """Make a figure that pyplot knows of, so that notebooks and ``pyplot.show()`` show it."""
    return optional("matplotlib.pyplot", purpose="mixkern.plot").figure(figsize=figsize, layout="constrained")


def extent(ax: Any) -> tuple[float, float]:
    """Give the width and the height of what is shown, in its own units."""
    return float(np.ptp(ax.get_xlim())), float(np.ptp(ax.get_ylim()))


def units(ax: Any) -> str:
    """Keep equal units, unless one column spans so much more than the other that nothing could be seen."""
    width, height = extent(ax)
    return "equal" if max(width, height) <= MOST_OBLONG * min(width, height) else "auto"
