"""Panels side by side, in the same units."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mixkern.errors import OptionError
from mixkern.plot.legend import FLATTEST, TALLEST
from mixkern.plot.style import new_figure

PANEL = 3.4  # inches
ABOVE, BELOW = 0.45, 0.6  # inches of height for the title of each line of panels, and for axis and legend once
MOST_COLUMNS = 4


def new_panels(n: int, shape: float, panel: float = PANEL) -> tuple[Any, Sequence[Any]]:
    """Make a figure of n panels that share their axes, at most four in a line; ``shape`` is height over width."""
    n_columns = min(n, MOST_COLUMNS)
    n_lines = math.ceil(n / n_columns)
    height = n_lines * (ABOVE + panel * float(np.clip(shape, FLATTEST, TALLEST))) + BELOW
    figure = new_figure(figsize=(max(n_columns, 2) * panel, height))  # a legend needs some room, too
    panels = figure.subplots(n_lines, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    for spare in panels[n:]:
        spare.set_axis_off()
    return figure, panels[:n]


def name_outer_axes(panels: Sequence[Any]) -> None:
    """Leave names of axes at the left and below alone: inside they would be said again and again."""
    n_columns = min(len(panels), MOST_COLUMNS)
    for i, panel in enumerate(panels):
        if i % n_columns:
            panel.set_ylabel("")
        if i + n_columns < len(panels):
            panel.set_xlabel("")
        else:  # also above a place that is empty
            panel.xaxis.set_tick_params(labelbottom=True)


def named(things: Any, what: str, example: str) -> Mapping[str, Any]:
    """Give what is to be compared by its names; refuse anything else."""
    if not isinstance(things, Mapping) or not things:
        came = "empty" if isinstance(things, Mapping) else f"a {type(things).__name__}"
        raise OptionError(f"{what} must be a dict of names and {what}, but it is {came}. Pass {example}.")
    return things
