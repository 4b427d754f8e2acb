"""A mixture density in the plane, and the climb that led to it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixkern.density import Mixture
from mixkern.density.describe import as_mixture
from mixkern.errors import MixtureError, nearest
from mixkern.optional import optional
from mixkern.plot.sample import scatter
from mixkern.plot.style import COLOURS, new_figure
from mixkern.table import encode_labels

Floats = NDArray[np.float64]

CENTRES = "centre, unit ellipse"
INK = "#000000"
PAPER = ("#F5F8FB", "#D0DDEA")  # pale enough for points of any class, in colour and in grey
CONTOUR = "#93A9BF"
REACH = 4.0  # deviations that the grid goes beyond each centre
MASS = 0.99  # probability inside the outermost contour
FEW, LARGE_POINT = 0.1, 40.0  # a share of labelled rows, and the area of their points where it is no larger
LARGEST_CENTRE, SMALLEST_CENTRE = 220.0, 25.0  # square points of print
FAINTEST = 0.35  # opacity of a component of hardly any weight
WIDTH = 5.2  # inches
MOST_OBLONG = 4.0  # beyond this ratio of its sides, a picture fills its frame instead of keeping equal units


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

    A unit ellipse joins the points at Mahalanobis distance one from the centre of its component. The cross in the
    middle is the larger and darker, the more weight the component has.

    Parameters
    ----------
    mixture : Mixture
        What :attr:`VBMixture.mixture_` holds.
    X : array-like of shape (n, d + e), default=None
        Rows to draw on top, with all columns of the mixture.
    y : array-like of shape (n,), default=None
        Their labels; ``None``, NaN or -1 where there is none.
    columns : pair of int or str, default=None
        Positions, or with ``names`` names, of the continuous columns to show. All others, and the categorical ones,
        are integrated out: what is drawn is the exact marginal. Needed for more than two continuous columns.
    names : sequence of str, default=None
        Names of the mixture's columns, such as ``encoder.get_feature_names_out()``; by default x0, x1, ...
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure with a legend.
    levels : int or sequence of float, default=7
        Log densities to draw contours at, or how many. Then the outermost encloses 99 % of the probability and the
        others such shares that contours of a single Gaussian are evenly spaced log densities.
    title : str, default=""
        What to write above.

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
    if ax is None:
        ax = new_figure(figsize=(WIDTH, WIDTH)).subplots()
    _contours(shown, levels, ax)
    if rows is not None:
        _draw_rows(rows, y, ax)
    _components(shown, ax)
    ax.set_aspect(_aspect(ax), adjustable="box" if has_own_figure else "datalim")
    ax.set(title=title, xlabel=names[pair[0]], ylabel=names[pair[1]])
    if has_own_figure:
        _fit_figure(ax)
    return ax


def bound_trace(model_or_trace: Any, *, ax: Any = None, title: str = "") -> Any:
    """Draw how the evidence bound rose, iteration by iteration.

    The bound only rises, except where a component leaves or the prior follows the components (``"typical"``).

    Parameters
    ----------
    model_or_trace : VBMixture, array-like of float, or list of dict
        A fitted density; its ``bound_trace_``; or what its ``callback`` was called with, which shows the number of
        components, too.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure.
    title : str, default=""
        What to write above.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import VBMixture, datasets, plot
    >>> X, _ = datasets.make_two_rings(random_state=0)
    >>> steps = []
    >>> model = VBMixture(callback=steps.append, random_state=0).fit(X)
    >>> ax = plot.bound_trace(model)
    >>> ax = plot.bound_trace(steps, title="Twenty components, and what remains of them")
    """
    iterations, bounds, counts = _trace(model_or_trace)
    if ax is None:
        ax = new_figure(figsize=(6.0, 3.6)).subplots()
    marker = "o" if len(bounds) <= 50 else ""  # more would run into a thick line
    ax.plot(iterations, bounds, color=COLOURS[0], marker=marker, markersize=3)
    ax.set(title=title, xlabel="iteration", ylabel="evidence bound (nats)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    if counts is not None:
        _draw_counts(iterations, counts, ax)
    elif hasattr(model_or_trace, "n_components_"):
        k = model_or_trace.n_components_
        ax.set_xlabel("iteration; " + (f"{k} components remain" if k > 1 else "1 component remains"))
    return ax


# ---------------------------------------------------------------- which columns


def _names(mixture: Mixture, names: Sequence[str] | None) -> list[str]:
    d = mixture.n_continuous
    if names is None:
        return [f"x{j}" for j in range(d)]
    found = [str(name) for name in names]
    if len(found) not in (d, mixture.n_features):
        raise MixtureError(
            f"names has {len(found)} names, but the mixture has {mixture.n_features} columns. "
            "Use names=encoder.get_feature_names_out()."
        )
    return found[:d]


def _pair(mixture: Mixture, columns: Sequence[int | str] | None, names: Sequence[str]) -> list[int]:
    """Find the two columns to show."""
    d = mixture.n_continuous
    if d < 2:
        raise MixtureError(
            f"A picture in the plane needs two continuous columns, but the mixture has {d}. "
            "Fit the density on a table with more of them."
        )
    if columns is None:
        if d > 2:
            raise MixtureError(
                f"A picture in the plane shows two continuous columns, but the mixture has {d}. "
                "Choose two, the others are integrated out: columns=(0, 1)."
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
                f"There is no continuous column {column!r}.{nearest(column, names)} "
                "Names are those of names=encoder.get_feature_names_out()."
            )
        return list(names).index(column)
    if not 0 <= column < len(names):
        raise MixtureError(f"columns must be between 0 and {len(names) - 1}, but {column!r} was asked for.")
    return int(column)


def _rows(mixture: Mixture, X: ArrayLike) -> Floats:
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != mixture.n_features:
        raise MixtureError(
            f"X has shape {rows.shape}, but the mixture has {mixture.n_features} columns. "
            "Pass the rows that it was fitted on, all columns of them; the picture picks its two."
        )
    return rows


# ---------------------------------------------------------------- what is drawn


def _contours(mixture: Mixture, levels: int | Sequence[float], ax: Any) -> None:
    x, y = (_ticks(mixture, column) for column in (0, 1))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    log_density = mixture.log_density(points.reshape(-1, 2)).reshape(len(y), len(x))
    heights = _levels(levels, x, y, log_density)
    rows, columns = (_around(log_density.max(axis=axis) >= heights[0]) for axis in (1, 0))
    ground = (x[columns], y[rows], log_density[rows, columns])
    colours = optional("matplotlib.colors", purpose="mixkern.plot")
    shades = colours.LinearSegmentedColormap.from_list("paper", PAPER)(np.linspace(0, 1, len(heights)))
    # In grey print the fills come close to each other, so lines divide them.
    fills = ax.contourf(*ground, levels=[*heights, log_density.max()], colors=shades, zorder=0.5)
    lines = ax.contour(*ground, levels=heights, colors=CONTOUR, linewidths=0.6, linestyles="solid", zorder=0.6)
    for drawn in (fills, lines):  # leave a margin: contours would stick to the frame
        drawn.sticky_edges.x.clear()
        drawn.sticky_edges.y.clear()


def _around(inside: NDArray[np.bool_]) -> slice:
    """Give the range of what is inside, and one more to each side."""
    places = np.flatnonzero(inside)
    return slice(max(int(places[0]) - 1, 0), int(places[-1]) + 2)


def _ticks(mixture: Mixture, column: int, n_even: int = 120, n_each: int = 21) -> Floats:
    """Give coordinates of a grid that is fine where components are tight, so that none falls between two lines."""
    centres, deviations = mixture.means[:, column, None], np.sqrt(mixture.variances[:, column, None])
    around = centres + deviations * np.linspace(-REACH, REACH, n_each)  # (k, n_each)
    return np.unique(np.append(np.linspace(around.min(), around.max(), n_even), around))


def _levels(levels: int | Sequence[float], x: Floats, y: Floats, log_density: Floats) -> Floats:
    """Give log densities to draw contours at, ascending, all below the peak."""
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
    """Find the log densities whose contours enclose given shares of the probability."""
    mass = np.exp(log_density - log_density.max()) * np.outer(np.gradient(y), np.gradient(x))
    densest_first = np.argsort(-log_density, axis=None)
    inside = np.cumsum(mass.ravel()[densest_first])
    heights: Floats = log_density.ravel()[densest_first][np.searchsorted(inside, shares * inside[-1])]
    return heights


def _draw_rows(rows: Floats, y: Any, ax: Any) -> None:
    """Draw rows as points; where few have labels, those are large and outlined, lest they drown among the others."""
    labels = None if y is None else encode_labels(y, min_classes=0)
    is_few = labels is not None and len(labels.codes) == len(rows) and 0 < labels.is_labelled.mean() <= FEW
    if labels is None or not is_few:
        scatter(rows, y, ax=ax)
        return
    scatter(rows[~labels.is_labelled], ax=ax)
    n_before = len(ax.collections)
    scatter(rows[labels.is_labelled], labels.classes[labels.codes[labels.is_labelled]], ax=ax, size=LARGE_POINT)
    for points in ax.collections[n_before:]:
        points.set(edgecolor=INK, linewidth=0.8, alpha=1.0)


def _components(mixture: Mixture, ax: Any) -> None:
    """Draw an ellipse and a cross for each component, light ones on top; white halos lift them off any ground."""
    effects = optional("matplotlib.patheffects", purpose="mixkern.plot")
    halo = [effects.withStroke(linewidth=3, foreground="white", alpha=0.8)]
    order = np.argsort(-mixture.weights, kind="stable")
    share = mixture.weights[order] / mixture.weights.max()
    opacity = FAINTEST + (1 - FAINTEST) * share
    for ellipse in ellipses(mixture.means[order], mixture.full_covariances[order], opacity):
        ellipse.set(path_effects=halo)
        ax.add_patch(ellipse)
    area = np.maximum(LARGEST_CENTRE * share, SMALLEST_CENTRE)
    look = {"marker": "x", "color": INK, "linewidths": 2.2, "path_effects": halo, "zorder": 4}
    ax.scatter(*mixture.means[order].T, s=area, alpha=opacity, label=CENTRES, **look)


def ellipses(means: Floats, covariances: Floats, opacity: Floats) -> list[Any]:
    """Give an ellipse at Mahalanobis distance one around each mean."""
    patches = optional("matplotlib.patches", purpose="mixkern.plot")
    sq_axes, directions = np.linalg.eigh(covariances)  # ascending
    widths, heights = 2 * np.sqrt(sq_axes[:, 1]), 2 * np.sqrt(sq_axes[:, 0])
    angles = np.degrees(np.arctan2(directions[:, 1, 1], directions[:, 0, 1]))
    look = {"fill": False, "edgecolor": INK, "linewidth": 1.3, "zorder": 3}
    shapes = zip(means, widths, heights, angles, opacity, strict=True)
    return [
        patches.Ellipse(centre, width, height, angle=angle, alpha=alpha, **look)
        for centre, width, height, angle, alpha in shapes
    ]


def _fit_figure(ax: Any) -> None:
    """Give a figure of our own the shape of what is in it, and a legend below."""
    width, height = _extent(ax)
    if ax.get_aspect() != "auto":
        ax.figure.set_size_inches(WIDTH, 1.2 + (WIDTH - 0.8) * np.clip(height / width, 0.4, 1.2))
    handles, labels = ax.get_legend_handles_labels()
    texts = [label if label in (CENTRES, "unlabelled") else f"class {label}" for label in labels]
    look = {"frameon": False, "columnspacing": 1.2, "handletextpad": 0.3, "fontsize": "small"}
    legend = ax.figure.legend(handles, texts, loc="outside lower center", ncols=_legend_columns(texts), **look)
    for handle in legend.legend_handles:
        handle.set_sizes([LARGE_POINT])


def _legend_columns(texts: Sequence[str]) -> int:
    """Put all entries in one row if they fit, else into even columns as wide as the longest.

    >>> _legend_columns(["class 0", "class 1"]), _legend_columns(["class Iris versicolor"] * 4)
    (2, 2)
    """
    widths = [0.4 + 0.065 * len(text) for text in texts]  # inches, by the size of small print
    if sum(widths) <= WIDTH:
        return len(texts)
    n_rows = math.ceil(len(texts) / max(1, int(WIDTH / max(widths))))
    return math.ceil(len(texts) / n_rows)


def _extent(ax: Any) -> tuple[float, float]:
    return float(np.ptp(ax.get_xlim())), float(np.ptp(ax.get_ylim()))


def _aspect(ax: Any) -> str:
    """Keep equal units, unless one column spans so much more than the other that nothing could be seen."""
    width, height = _extent(ax)
    return "equal" if max(width, height) <= MOST_OBLONG * min(width, height) else "auto"


# ---------------------------------------------------------------- the climb


def _trace(given: Any) -> tuple[Floats, Floats, Floats | None]:
    """Give iterations, bounds and, if known, numbers of components."""
    steps = getattr(given, "bound_trace_", given)
    if isinstance(steps, Sequence) and steps and all(isinstance(step, Mapping) for step in steps):
        return _callback_trace(steps)
    try:
        bounds = np.asarray(steps, dtype=float)
    except (TypeError, ValueError):
        bounds = np.empty(0)
    if bounds.ndim != 1 or len(bounds) == 0:
        raise MixtureError(
            "Expected a fitted VBMixture, its bound_trace_, or a list of what its callback was called with, "
            f"but this came: {given!r}. Fit the density first: plot.bound_trace(VBMixture().fit(X))."
        )
    return np.arange(1.0, len(bounds) + 1), bounds, None


def _callback_trace(steps: Sequence[Mapping[str, Any]]) -> tuple[Floats, Floats, Floats]:
    """Put the steps in a row, with a gap (NaN) wherever another start or a larger sample counts from one again."""
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
    """Draw numbers of components as dashed steps, on an axis of their own; the axes' labels say which line is which."""
    right = ax.twinx()
    right.step(iterations, counts, where="post", color=COLOURS[4], linestyle="--")
    right.set_ylim(0, 1.08 * np.nanmax(counts))
    right.set_ylabel("components (dashed)", color=COLOURS[4])
    right.yaxis.get_major_locator().set_params(integer=True)
    ax.yaxis.label.set_color(COLOURS[0])
