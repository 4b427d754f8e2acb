"""A legend below a figure, and a figure with room for it."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mixkern.plot.style import WIDTH, extent

LETTER, HANDLE = 0.068, 0.45  # inches that an entry takes per letter, and for what stands before the text
AROUND, LINE = 1.0, 0.2  # inches of height for title and axis, and for each line of the legend
FLATTEST, TALLEST = 0.4, 1.6  # heights of a panel, in its widths


def fit_figure(ax: Any, **options: Any) -> None:
    """Give a figure of one panel a legend, with options of ``draw_legend``, and the shape of what is in it."""
    n_lines = draw_legend(ax.figure, ax, **options)
    width, height = extent(ax)
    shape = 1.0 if ax.get_aspect() == "auto" else np.clip(height / width, FLATTEST, TALLEST)
    ax.figure.set_size_inches(WIDTH, AROUND + LINE * n_lines + (WIDTH - 0.8) * shape)


def draw_legend(
    figure: Any, *panels: Any, text: Callable[[str], str] = str, areas: tuple[float, float] = (0.0, math.inf)
) -> int:
    """Explain below a figure what is in its panels, each label once, and tell how many lines that takes.

    Labels may be put into other words by ``text``. Points are drawn with no smaller and no larger ``areas``.
    """
    pairs = (pair for panel in panels for pair in zip(*panel.get_legend_handles_labels(), strict=True))
    entries = {text(label): handle for handle, label in pairs}
    if not entries:
        return 0
    n_columns = legend_columns(list(entries), figure.get_figwidth())
    look = {"frameon": False, "columnspacing": 1.4, "handletextpad": 0.5, "fontsize": "small"}
    legend = figure.legend(entries.values(), entries, loc="outside lower center", ncols=n_columns, **look)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes(np.clip(handle.get_sizes(), *areas))
    return math.ceil(len(entries) / n_columns)


def legend_columns(texts: Sequence[str], width: float = WIDTH) -> int:
    """Put all entries in one line if they fit, else into even columns as wide as the longest.

    >>> legend_columns(["class 0", "class 1"]), legend_columns(["class Iris versicolor"] * 4)
    (2, 2)
    """
    widths = [HANDLE + LETTER * len(text) for text in texts]
    if sum(widths) <= width:
        return len(texts)
    n_lines = math.ceil(len(texts) / max(1, int(width / max(widths))))
    return math.ceil(len(texts) / n_lines)
