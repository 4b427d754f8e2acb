"""Scatter plots of rows with two columns."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixkern import datasets
from mixkern.encoding.frame import column_labels
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import TableError
from mixkern.plot.figure import axes_or_new, new_figure, units
from mixkern.plot.plane import name_axes, row_labels
from mixkern.plot.style import LARGE_POINT, UNLABELLED, labelled_style, marker_style
from mixkern.validation import as_floats

TWO_DIMENSIONAL: Mapping[str, Callable[..., Any]] = {  # title of a panel, and what makes its rows
    "Two Moons": datasets.make_two_moons,
    "Clouds": datasets.make_clouds,
    "Concentric": datasets.make_concentric,
    "Ripley": datasets.make_ripley,
    "Two rings": datasets.make_two_rings,
    "Cross": datasets.make_cross,
    "Three Moons": datasets.make_three_moons,
    "Adidas": datasets.make_adidas,
    "Five processes": datasets.make_five_processes,
}


def scatter(X: ArrayLike, y: Any = None, *, ax: Any = None, size: float = 12.0, title: str = "") -> Any:
    """Draw rows of two columns as points, each class in its own colour and shape, unlabelled rows in grey.

    Where at most a tenth of the rows has a label, labelled rows are large and outlined, on top of all others.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, 2)
        The rows. The columns of a frame name the axes.
    y : array-like of shape (n_samples,), default=None
        Labels; ``None``, NaN or -1 where there is none.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure with a legend.
    size : float, default=12.0
        Area of a marker in points squared, as ``s`` of matplotlib's ``scatter``; half of it for unlabelled rows, and at
        least 40 for few labelled ones.
    title : str, default=""
        Title of the axes.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Both axes of an array have the same units, unless one column spans more than three times as much as the other. The
    columns of a frame may be in units of their own, such as millimetres and grams, and fill the axes.

    Examples
    --------
    >>> from mixkern import datasets, plot
    >>> ax = plot.scatter(*datasets.make_two_moons(random_state=0), title="Two Moons")
    """
    raws = None if column_labels(X) is None else raw_columns(X)
    points = as_floats(X, "X", TableError) if raws is None else np.column_stack([raw.numbers() for raw in raws])
    if points.ndim != 2 or points.shape[1] != 2:
        raise TableError(f"X must have two columns to be drawn in the plane, but its shape is {points.shape}.")
    labels = row_labels(y, len(points))
    has_own_figure = ax is None
    ax = axes_or_new(ax, (4.5, 4.5))
    unlabelled = points[~labels.is_labelled]
    if len(unlabelled):
        ax.scatter(*unlabelled.T, s=size / 2, color=UNLABELLED, linewidths=0, label="unlabelled")
    style = labelled_style(labels.is_labelled, {"s": size, "alpha": 0.7, "linewidths": 0})
    for code, label in enumerate(labels.classes):
        ax.scatter(*points[labels.codes == code].T, label=str(label), **style, **marker_style(code))
    if raws is None:
        ax.set_aspect(units(ax), adjustable="datalim")
    else:
        name_axes(raws, ax)
    ax.set_title(title)
    if has_own_figure and y is not None:
        ax.legend(markerscale=1 if style["s"] >= LARGE_POINT else 2, fontsize="small")
    return ax


def gallery(n: int = 600, random_state: int = 0) -> Any:
    """Draw a sample of every two-dimensional problem of ``mixkern.datasets``, one panel each.

    Parameters
    ----------
    n : int, default=600
        Number of rows in each panel.
    random_state : int, default=0
        Seed of the samples.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = new_figure(figsize=(9, 9.4))
    panels = figure.subplots(3, 3).flat
    for panel, (title, make) in zip(panels, TWO_DIMENSIONAL.items(), strict=True):
        scatter(*make(n=n, random_state=random_state), ax=panel, size=9, title=title)
        panel.tick_params(labelsize=7, length=2)
    handles, labels = panel.get_legend_handles_labels()  # no panel has more classes than the last one
    names = [f"class {label}" for label in labels]
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, markerscale=2)
    return figure
