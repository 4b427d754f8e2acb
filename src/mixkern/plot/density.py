"""Plot a mixture density in two columns, and the evidence bound of its fit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixkern.density import Mixture
from mixkern.density.describe import as_mixture
from mixkern.errors import MixtureError, hint
from mixkern.imports import optional
from mixkern.plot.figure import axes_or_new, fit_figure, units
from mixkern.plot.plane import CENTRES, around_centres, ellipses
from mixkern.plot.sample import scatter
from mixkern.plot.style import COLOURS, INK, LARGE_POINT, halo
from mixkern.typing import Bools, Floats
from mixkern.validation import as_floats
from mixkern.wording import nearest

FILLS = ("#F5F8FB", "#D0DDEA")  # pale enough for points of any class, in colour and in grey
CONTOUR = "#93A9BF"
REACH = 4.0  # standard deviations around each centre that the grid covers
MASS = 0.99  # probability inside the outermost contour
LARGEST_CENTRE, SMALLEST_CENTRE = 220.0, 25.0  # areas in square points of print
FAINTEST = 0.35  # opacity of a component whose weight is near 0


def density(
    mixture: Mixture,
    X: ArrayLike | None = None,
    y: Any = None,
    *,
    columns: Sequence[int | str] | None = None,
    names: Sequence[str] | None = None,
    ax: Any = None,
    levels: int | Sequence[float] = 7,
    title: str = "",
) -> Any:
    """Draw a mixture in two of its columns: contours of its log density, and an ellipse around each centre.

    An ellipse contains the points within Mahalanobis distance 1 of its centre. The cross at the centre is larger and
    darker for a component of more weight.

    Parameters
    ----------
    mixture : Mixture
        The density, such as :attr:`VBMixture.mixture_`.
    X : array-like of shape (n, d + e), default=None
        Rows to draw on top, with all columns of the mixture.
    y : array-like of shape (n,), default=None
        Labels of the rows; ``None``, NaN or -1 where there is none.
    columns : pair of int or str, default=None
        Positions or, if ``names`` is given, names of the continuous columns to show; needed if there are more than two.
        All other columns are integrated out, so the drawn density is the exact marginal.
    names : sequence of str, default=None
        Names of the mixture's columns, such as ``encoder.get_feature_names_out()``; by default x0, x1, ...
    ax : matplotlib.axes.Axes, default=None
        Axes to draw in; by default those of a new figure with a legend.
    levels : int or sequence of float, default=7
        Number of contours, or their log densities. With a number, the outermost contour encloses 99 % of the
        probability, and the levels are evenly spaced for a single Gaussian.
    title : str, default=""
        Title of the axes.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import VBMixture, datasets, plot
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> ax = plot.density(VBMixture(random_state=0).fit(X).mixture_, X, y, title="Two rings")
    """
    mixture = as_mixture(mixture)
    names = _names(mixture, names)
    pair = _pair(mixture, columns, names)
    rows = None if X is None else _rows(mixture, X)[:, pair]
    shown = mixture.marginal(pair)
    has_own_figure = ax is None
    ax = axes_or_new(ax)
    _contours(shown, levels, ax)
    if rows is not None:
        scatter(rows, y, ax=ax)
    _components(shown, ax)
    ax.set_aspect(units(ax), adjustable="box" if has_own_figure else "datalim")
    ax.set(title=title, xlabel=names[pair[0]], ylabel=names[pair[1]])
    if has_own_figure:
        fit_figure(ax, text=_legend_text, areas=(LARGE_POINT, LARGE_POINT))
    return ax


def bound_trace(model_or_trace: Any, *, ax: Any = None, title: str = "") -> Any:
    """Draw the evidence bound of every iteration of a fit.

    The bound rises, except where a component is removed or the prior adapts to the components (``"typical"``).

    Parameters
    ----------
    model_or_trace : VBMixture, array-like of float, or list of dict
        A fitted density; its ``bound_trace_``; or the ``steps`` of a
        :class:`~mixkern.density.BoundRecorder`, which also hold the number of components.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw in; by default those of a new figure, 6.0 by 3.6 inches.
    title : str, default=""
        Title of the axes.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import VBMixture, datasets, plot
    >>> from mixkern.density import BoundRecorder
    >>> X, _ = datasets.make_two_rings(random_state=0)
    >>> recorder = BoundRecorder()
    >>> model = VBMixture(random_state=0).set_callbacks(recorder).fit(X)
    >>> ax = plot.bound_trace(model)
    >>> ax = plot.bound_trace(recorder.steps, title="From twenty components to a few")
    """
    iterations, bounds, counts = _trace(model_or_trace)
    ax = axes_or_new(ax, (6.0, 3.6))
    marker = "o" if len(bounds) <= 50 else ""  # more markers would overlap
    ax.plot(iterations, bounds, color=COLOURS[0], marker=marker, markersize=3)
    ax.set(title=title, xlabel="iteration", ylabel="evidence bound (nats)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if counts is not None:
        _draw_counts(iterations, counts, ax)
    elif hasattr(model_or_trace, "n_components_"):
        k = model_or_trace.n_components_
        ax.set_xlabel("iteration; " + (f"{k} components remain" if k > 1 else "1 component remains"))
    return ax


# ---------------------------------------------------------------- columns


def _names(mixture: Mixture, names: Sequence[str] | None) -> list[str]:
    d = mixture.n_continuous
    if names is None:
        return [f"x{j}" for j in range(d)]
    found = [str(name) for name in names]
    if len(found) not in (d, mixture.n_features):
        raise MixtureError(
            f"names has {len(found)} names, but the mixture has {mixture.n_features} columns.",
            hint=hint(python="Use names=encoder.get_feature_names_out()."),
        )
    return found[:d]


def _pair(mixture: Mixture, columns: Sequence[int | str] | None, names: Sequence[str]) -> list[int]:
    """Return the positions of the two columns to show."""
    d = mixture.n_continuous
    if d < 2:
        raise MixtureError(
            f"A picture in the plane needs two continuous columns, but the mixture has {d}.",
            hint=hint(python="Fit the density on a table with more of them."),
        )
    if columns is None:
        if d > 2:
            raise MixtureError(
                f"A picture in the plane shows two continuous columns, but the mixture has {d}.",
                hint=hint(python="Choose two, the others are integrated out: columns=(0, 1)."),
            )
        return [0, 1]
    pair = [_position(column, names) for column in columns]
    if len(pair) != 2 or pair[0] == pair[1]:
        raise MixtureError(f"columns must be two different columns, such as (0, 1), but it is {columns!r}.")
    return pair


def _position(column: int | str, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column not in names:
            raise MixtureError(
                f"There is no continuous column {column!r}.{nearest(column, names)}",
                hint=hint(python="Names are those of names=encoder.get_feature_names_out()."),
            )
        return list(names).index(column)
    if not 0 <= column < len(names):
        raise MixtureError(f"columns must be between 0 and {len(names) - 1}, but one of them is {column!r}.")
    return int(column)


def _rows(mixture: Mixture, X: ArrayLike) -> Floats:
    rows = as_floats(X, "X", MixtureError)
    if rows.ndim != 2 or rows.shape[1] != mixture.n_features:
        raise MixtureError(
            f"X has shape {rows.shape}, but the mixture has {mixture.n_features} columns.",
            hint=hint(python="Pass the rows that it was fitted on, with all their columns."),
        )
    return rows


# ---------------------------------------------------------------- contours, rows, components


def _contours(mixture: Mixture, levels: int | Sequence[float], ax: Any) -> None:
    x, y = (_ticks(mixture, column) for column in (0, 1))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    log_density = mixture.log_density(points.reshape(-1, 2)).reshape(len(y), len(x))
    heights = _levels(levels, x, y, log_density)
    rows, columns = (_span(log_density.max(axis=axis) >= heights[0]) for axis in (1, 0))
    ground = (x[columns], y[rows], log_density[rows, columns])
    colours = optional("matplotlib.colors", purpose="mixkern.plot")
    shades = colours.LinearSegmentedColormap.from_list("fills", FILLS)(np.linspace(0, 1, len(heights)))
    # Lines, too: the shades of neighbouring fills are close in grey print.
    fills = ax.contourf(*ground, levels=[*heights, log_density.max()], colors=shades, zorder=0.5)
    lines = ax.contour(*ground, levels=heights, colors=CONTOUR, linewidths=0.6, linestyles="solid", zorder=0.6)
    for drawn in (fills, lines):  # keep a margin between contours and frame
        drawn.sticky_edges.x.clear()
        drawn.sticky_edges.y.clear()


def _span(inside: Bools) -> slice:
    """Return the slice from the first to the last true entry, one entry wider on each side."""
    at = np.flatnonzero(inside)
    return slice(max(int(at[0]) - 1, 0), int(at[-1]) + 2)


def _ticks(mixture: Mixture, column: int, n_even: int = 120) -> Floats:
    """Return the coordinates of the grid in a column: evenly spaced ones, and more around each centre."""
    around = around_centres(mixture, column, REACH)
    return np.unique(np.append(np.linspace(around.min(), around.max(), n_even), around))


def _levels(levels: int | Sequence[float], x: Floats, y: Floats, log_density: Floats) -> Floats:
    """Return the log densities of the contours, ascending, all below the peak."""
    peak = log_density.max()
    if isinstance(levels, (int, np.integer)):
        if levels < 1:
            raise MixtureError(f"levels must be at least 1, or a list of log densities, but it is {levels}.")
        outside = (1 - MASS) ** (1 - np.arange(levels) / levels)
        heights = _enclosing(1 - outside, x, y, log_density)
        return np.unique(heights[heights < peak])
    heights = np.unique(np.asarray(levels, dtype=float))
    if not len(heights) or heights[0] >= peak:
        raise MixtureError(f"levels must be log densities below the peak, {peak:.4g}, but they are {levels!r}.")
    return heights[heights < peak]


def _enclosing(shares: Floats, x: Floats, y: Floats, log_density: Floats) -> Floats:
    """Return the log densities whose contours enclose the given shares of the probability."""
    mass = np.exp(log_density - log_density.max()) * np.outer(np.gradient(y), np.gradient(x))
    densest_first = np.argsort(-log_density, axis=None)
    inside = np.cumsum(mass.ravel()[densest_first])
    heights: Floats = log_density.ravel()[densest_first][np.searchsorted(inside, shares * inside[-1])]
    return heights


def _components(mixture: Mixture, ax: Any) -> None:
    """Draw an ellipse and a cross with white halos for each component, those of small weight on top."""
    order = np.argsort(-mixture.weights, kind="stable")
    share = mixture.weights / mixture.weights.max()
    opacity = FAINTEST + (1 - FAINTEST) * share
    area = np.maximum(LARGEST_CENTRE * share, SMALLEST_CENTRE)
    rim = halo(3, alpha=0.8)
    drawn = ellipses(mixture, edgecolor=INK, linewidth=1.3, path_effects=rim, zorder=3)
    for i in order:
        drawn[i].set_alpha(opacity[i])
        ax.add_patch(drawn[i])
    style = {"marker": "x", "color": INK, "linewidths": 2.2, "path_effects": rim, "zorder": 4}
    ax.scatter(*mixture.means[order].T, s=area[order], alpha=opacity[order], label=CENTRES, **style)


def _legend_text(label: str) -> str:
    return label if label in (CENTRES, "unlabelled") else f"class {label}"


# ---------------------------------------------------------------- trace of the bound


def _trace(given: Any) -> tuple[Floats, Floats, Floats | None]:
    """Return iterations, bounds and, for the steps of a BoundRecorder, numbers of components."""
    steps = getattr(given, "bound_trace_", given)
    if isinstance(steps, Sequence) and steps and all(isinstance(step, Mapping) for step in steps):
        return _recorded_trace(steps)
    try:
        bounds = np.asarray(steps, dtype=float)
    except (TypeError, ValueError):
        bounds = np.empty(0)
    if bounds.ndim != 1 or len(bounds) == 0:
        raise MixtureError(
            f"Expected a fitted VBMixture, its bound_trace_, or the steps of a BoundRecorder, but found {given!r}.",
            hint=hint(python="Fit the density first: plot.bound_trace(VBMixture().fit(X))."),
        )
    return np.arange(1.0, len(bounds) + 1), bounds, None


def _recorded_trace(steps: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats, Floats]:
    """Join the steps of all starts and samples, with NaN wherever iterations start again at one."""
    own = np.array([step["iteration"] for step in steps])
    restarts = np.flatnonzero(np.diff(own) <= 0) + 1
    series = (
        np.arange(1.0, len(own) + 1),
        np.array([step["bound"] for step in steps], dtype=float),
        np.array([step["n_components"] for step in steps], dtype=float),
    )
    iterations, bounds, counts = (np.insert(values, restarts, np.nan) for values in series)
    return iterations, bounds, counts


def _draw_counts(iterations: Floats, counts: Floats, ax: Any) -> None:
    """Draw numbers of components as dashed steps, with an axis on the right."""
    right = ax.twinx()
    right.step(iterations, counts, where="post", color=COLOURS[4], linestyle="--")
    right.set_ylim(0, 1.08 * np.nanmax(counts))
    right.set_ylabel("components (dashed)", color=COLOURS[4])
    right.yaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.label.set_color(COLOURS[0])
