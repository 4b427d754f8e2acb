"""Figures: axes, panels side by side, and a legend below them."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mixkern.errors import OptionError, hint
from mixkern.imports import optional

WIDTH = 5.2  # inches, of a figure with one panel
PANEL = 3.4  # inches, of one panel among several
MOST_COLUMNS = 4  # panels in a line
FLATTEST, TALLEST = 0.4, 1.6  # heights of a panel, in its widths
MARGIN = 0.05  # of the width and height, around what is shown
MOST_OBLONG = 3.0  # ratio of the sides beyond which a picture has different units along its axes
LETTER, HANDLE = 0.068, 0.45  # inches of a legend entry: for each letter, and for its symbol
AROUND, LINE = 1.0, 0.2  # inches of height: for title and axis, and for each line of the legend
ABOVE, BELOW = 0.45, 0.6  # inches of height: for the title of each line of panels, and for axis and legend


def new_figure(figsize: tuple[float, float] = (WIDTH, WIDTH)) -> Any:
    """Return a new figure of pyplot, which notebooks and ``pyplot.show()`` display."""
    return optional("matplotlib.pyplot", purpose="mixkern.plot").figure(figsize=figsize, layout="constrained")


def axes_or_new(ax: Any, figsize: tuple[float, float] = (WIDTH, WIDTH)) -> Any:
    """Return the given axes, or those of a new figure where they are ``None``."""
    return new_figure(figsize).subplots() if ax is None else ax


def extent(ax: Any) -> tuple[float, float]:
    """Return the width and the height of what axes show, in its own units."""
    return float(np.ptp(ax.get_xlim())), float(np.ptp(ax.get_ylim()))


def units(ax: Any) -> str:
    """Return the aspect of axes: "equal", unless one column spans much more than the other."""
    width, height = extent(ax)
    return "equal" if max(width, height) <= MOST_OBLONG * min(width, height) else "auto"


def new_panels(n: int, shape: float, panel: float = PANEL) -> tuple[Any, Sequence[Any]]:
    """Return a figure of n panels with shared axes, at most four in a line; ``shape`` is height over width."""
    n_columns = min(n, MOST_COLUMNS)
    n_lines = math.ceil(n / n_columns)
    height = n_lines * (ABOVE + panel * float(np.clip(shape, FLATTEST, TALLEST))) + BELOW
    figure = new_figure(figsize=(max(n_columns, 2) * panel, height))  # at least two panels wide, for the legend
    panels = figure.subplots(n_lines, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    for spare in panels[n:]:
        spare.set_axis_off()
    return figure, panels[:n]


def name_outer_axes(panels: Sequence[Any]) -> None:
    """Remove the names of axes except at the left and at the bottom."""
    n_columns = min(len(panels), MOST_COLUMNS)
    for i, panel in enumerate(panels):
        if i % n_columns:
            panel.set_ylabel("")
        if i + n_columns < len(panels):
            panel.set_xlabel("")
        else:  # also above an empty place
            panel.xaxis.set_tick_params(labelbottom=True)


def check_names(things: Any, what: str, example: str) -> Mapping[str, Any]:
    """Return a dict of what is compared; raise an error for anything else, and for an empty one."""
    if not isinstance(things, Mapping) or not things:
        came = "empty" if isinstance(things, Mapping) else f"a {type(things).__name__}"
        raise OptionError(
            f"{what} must be a dict of names and {what}, but it is {came}.", hint=hint(python=f"Pass {example}.")
        )
    return things


def fit_figure(ax: Any, **options: Any) -> None:
    """Add a legend, with options of ``draw_legend``, and fit the figure's height to what its one panel shows."""
    n_lines = draw_legend(ax.figure, ax, **options)
    width, height = extent(ax)
    shape = 1.0 if ax.get_aspect() == "auto" else np.clip(height / width, FLATTEST, TALLEST)
    ax.figure.set_size_inches(WIDTH, AROUND + LINE * n_lines + (WIDTH - 0.8) * shape)


def draw_legend(
    figure: Any, *panels: Any, text: Callable[[str], str] = str, areas: tuple[float, float] = (0.0, math.inf)
) -> int:
    """Draw one legend below all panels, with each label once, and return its number of lines.

    ``text`` changes the labels. ``areas`` are the smallest and the largest area of points in the legend.
    """
    pairs = (pair for panel in panels for pair in zip(*panel.get_legend_handles_labels(), strict=True))
    entries = {text(label): handle for handle, label in pairs}
    if not entries:
        return 0
    n_columns = legend_columns(list(entries), figure.get_figwidth())
    style = {"frameon": False, "columnspacing": 1.4, "handletextpad": 0.5, "fontsize": "small"}
    legend = figure.legend(entries.values(), entries, loc="outside lower center", ncols=n_columns, **style)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes(np.clip(handle.get_sizes(), *areas))
    return math.ceil(len(entries) / n_columns)


def legend_columns(texts: Sequence[str], width: float = WIDTH) -> int:
    """Return the number of columns: one line if all entries fit, else even columns as wide as the longest.

    >>> legend_columns(["class 0", "class 1"]), legend_columns(["class Iris versicolor"] * 4)
    (2, 2)
    """
    widths = [HANDLE + LETTER * len(text) for text in texts]
    if sum(widths) <= width:
        return len(texts)
    n_lines = math.ceil(len(texts) / max(1, int(width / max(widths))))
    return math.ceil(len(texts) / n_lines)
