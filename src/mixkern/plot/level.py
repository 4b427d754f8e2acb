"""Level curves: points at the same distance from a point, by the distance of a kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mixkern.density import Mixture
from mixkern.density.describe import as_mixture
from mixkern.encoding import Labels
from mixkern.errors import KernelError, LabelError, MixtureError, hint
from mixkern.imports import optional
from mixkern.plot.figure import MARGIN, axes_or_new, draw_legend, fit_figure, name_outer_axes, new_panels
from mixkern.plot.plane import around_centres, grey_components, row_labels
from mixkern.plot.style import INK, UNLABELLED, halo, labelled_style, marker_style
from mixkern.typing import Floats
from mixkern.validation import as_floats

Box = tuple[Floats, Floats]  # lower left and upper right corner

LEVELS = np.arange(0.5, 7.0, 0.5)  # those of the paper
DARKEST_TO_LIGHTEST = (0.0, 0.8)  # of the colour map; its yellow is too pale for lines on white
REACH = 3.0  # deviations around each centre that are shown
EDGE = 0.03  # of the width and height: numbers closer to the frame are left out
FEW_LEVELS = 6  # up to which each curve has a number; else every second
PANEL = 3.5  # inches, side by side
FAINT = {"s": 9, "alpha": 0.5, "linewidths": 0, "zorder": 1}
CROSS = {"s": 110, "marker": "x", "color": INK, "linewidths": 3.2, "label": "point", "zorder": 4}


def level_curves(
    kernel: Any,
    point: ArrayLike,
    *,
    mixture: Mixture | None = None,
    X: ArrayLike | None = None,
    y: Any = None,
    levels: Sequence[float] | None = None,
    mark: bool | Mapping[str, Any] = True,
    ax: Any = None,
    title: str = "",
) -> Any:
    """Draw level curves of a kernel's distance from a point in the plane.

    Distances change fast where curves are dense. A cross marks the point. Grey unit ellipses join the points at
    Mahalanobis distance one from the centre of a component.

    Parameters
    ----------
    kernel : kernel on two continuous columns
        A kernel with a method ``distance``, such as :class:`~mixkern.kernels.RWMKernel`.
    point : pair of float
        Where distances are measured from.
    mixture : Mixture, default=None
        Mixture whose components are drawn; by default that of the kernel, if it has one.
    X : array-like of shape (n, 2), default=None
        Rows to draw as faint points.
    y : array-like of shape (n,), default=None
        Labels of the rows, which give them colours; ``None``, NaN or -1 where there is none. Where at most a tenth of
        the rows has a label, labelled rows are large and outlined.
    levels : sequence of float, default=None
        Distances to draw curves at; by default those of the paper, 0.5, 1.0, ..., 6.5.
    mark : bool or dict, default=True
        Whether to draw the cross; or options of ``ax.scatter`` that change it, such as ``{"marker": "o", "s": 60}``.
    ax : matplotlib.axes.Axes, default=None
        Axes for the curves; by default those of a new figure with a legend.
    title : str, default=""
        Title above the curves.

    Returns
    -------
    matplotlib.axes.Axes
        They show the components up to three deviations, the rows and the point; without components and rows, a square
        with the largest level on each side.

    Examples
    --------
    >>> from mixkern import VBMixture, datasets, plot
    >>> from mixkern.kernels import RWMKernel
    >>> X, _ = datasets.make_two_rings(random_state=0)
    >>> density = VBMixture(random_state=0).fit(X)
    >>> ax = plot.level_curves(RWMKernel(density.mixture_), X[0], X=X, title="Near the first row")
    """
    scene = Scene.of(kernel, point, mixture=mixture, X=X, y=y, levels=levels)
    has_own_figure = ax is None
    ax = axes_or_new(ax)
    scene.draw(view([scene]), ax)
    _mark(scene.start, mark, ax)
    ax.set(title=title, xlabel="x0", ylabel="x1")
    if has_own_figure:
        fit_figure(ax)
    return ax


def _point(point: Any) -> Floats:
    try:
        found = np.asarray(point, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (2,) or not np.isfinite(found).all():
        came = f"an array of shape {point.shape}" if getattr(point, "size", 0) > 2 else repr(point)
        raise KernelError(
            f"point must be two numbers, but it is {came}.",
            hint=hint(python="Pass a pair, such as (-1, -0.5), or X[0]."),
        )
    return found


def _heights(levels: Sequence[float] | None) -> Floats:
    """Return the distances of the curves, ascending."""
    if levels is None:
        return LEVELS
    heights = np.unique(np.asarray(levels, dtype=float))
    if not len(heights) or not 0 < heights[0] <= heights[-1] < np.inf:  # NaN is sorted last
        raise KernelError(f"levels must be positive distances, such as [0.5, 1.0, 2.0], but they are {levels!r}.")
    return heights


def _plane(mixture: Any) -> Mixture:
    mixture = as_mixture(mixture)
    if mixture.n_continuous != 2 or mixture.n_features != 2:
        kinds = f"{mixture.n_continuous} continuous and {len(mixture.categories)} categorical"
        raise MixtureError(
            f"Level curves need a mixture of two continuous columns, but it has {kinds}.",
            hint=hint(python="Integrate the others out: RWMKernel(mixture.marginal([0, 1]))."),
        )
    return mixture


def _rows(X: ArrayLike, y: Any) -> tuple[Floats, Labels]:
    """Return the rows without gaps, and their labels."""
    rows = as_floats(X, "X", KernelError)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise KernelError(
            f"X must have two columns, but its shape is {rows.shape}.",
            hint=hint(python="Pass two of them: X[:, [0, 1]]."),
        )
    labels = row_labels(y, len(rows))
    is_there = np.isfinite(rows).all(axis=1)
    return rows[is_there], Labels(labels.codes[is_there], labels.classes)


@dataclass(frozen=True, eq=False)
class Scene:
    """The content of one panel: distances from a point, components and rows."""

    kernel: Any
    start: Floats  # (2,)
    heights: Floats
    mixture: Mixture | None
    rows: Floats | None  # (n, 2)
    labels: Labels | None

    @classmethod
    def of(
        cls,
        kernel: Any,
        point: Any,
        *,
        mixture: Mixture | None = None,
        X: ArrayLike | None = None,
        y: Any = None,
        levels: Sequence[float] | None = None,
    ) -> Self:
        """Check the arguments of :func:`level_curves`."""
        if not hasattr(kernel, "distance"):
            raise KernelError(
                f"kernel must have a distance, but a {type(kernel).__name__} has none.",
                hint=hint(python="Use RWMKernel(density.mixture_)."),
            )
        if X is None and y is not None:
            raise LabelError("y gives rows their colours, but there are no rows.", hint=hint(python="Pass X, too."))
        start, heights = _point(point), _heights(levels)
        shown = getattr(kernel, "mixture", None) if mixture is None else mixture
        rows, labels = (None, None) if X is None else _rows(X, y)
        return cls(kernel, start, heights, None if shown is None else _plane(shown), rows, labels)

    def corners(self) -> Floats:  # (m, 2)
        """Return places that must be inside the picture: the point, components, rows."""
        shown = [self.start[None]]
        if self.mixture is not None:
            reach = REACH * np.sqrt(self.mixture.variances)
            shown += [self.mixture.means - reach, self.mixture.means + reach]
        if self.rows is not None:
            shown.append(self.rows)
        return np.concatenate(shown)

    def draw(self, box: Box, ax: Any) -> None:
        """Draw rows, components and curves inside a box."""
        if self.rows is not None and self.labels is not None:
            _draw_rows(self.rows, self.labels, ax)
        if self.mixture is not None:
            grey_components(self.mixture, ax)
        _curves(self.kernel, self.start, self.mixture, self.heights, box, ax)
        (left, low), (right, high) = box
        ax.set(xlim=(left, right), ylim=(low, high))
        ax.set_aspect("equal", adjustable="box")  # there are no distances outside these limits


def view(scenes: Sequence[Scene]) -> Box:
    """Return one box for all scenes; with a point only, the largest level reaches to its sides."""
    corners = np.concatenate([scene.corners() for scene in scenes])
    low, high = corners.min(axis=0), corners.max(axis=0)
    if (low == high).any():
        radius = max(scene.heights[-1] for scene in scenes)
        low, high = np.minimum(low, scenes[0].start - radius), np.maximum(high, scenes[0].start + radius)
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def draw_scenes(scenes: Mapping[str, Scene]) -> Any:
    """Draw scenes side by side, in the same units, with one legend."""
    box = view(list(scenes.values()))
    width, height = box[1] - box[0]
    figure, panels = new_panels(len(scenes), height / width, PANEL)
    for panel, (title, scene) in zip(panels, scenes.items(), strict=True):
        scene.draw(box, panel)
        _mark(scene.start, True, panel)
        panel.set(title=title, xlabel="x0", ylabel="x1")
    name_outer_axes(panels)
    draw_legend(figure, *panels, areas=(30.0, 60.0))
    return figure


def _draw_rows(rows: Floats, labels: Labels, ax: Any) -> None:
    """Draw rows as faint points below the curves, and few labelled ones as large points above them."""
    rest = rows[~labels.is_labelled]
    if len(rest):
        ax.scatter(*rest.T, color=UNLABELLED, label="row", **{**FAINT, "s": 6})
    style = labelled_style(labels.is_labelled, FAINT, zorder=2.5)  # above the curves, below their numbers
    for code, label in enumerate(labels.classes):
        ax.scatter(*rows[labels.codes == code].T, label=f"class {label}", **style, **marker_style(code))


def _mark(start: Floats, mark: bool | Mapping[str, Any], ax: Any) -> None:
    if isinstance(mark, Mapping):
        ax.scatter(*start, **{**CROSS, **mark})
    elif mark:
        ax.scatter(*start, **CROSS)


def _curves(kernel: Any, start: Floats, mixture: Mixture | None, heights: Floats, box: Box, ax: Any) -> None:
    x, y = (_ticks(start, mixture, box, column) for column in (0, 1))
    ends = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    distances = np.asarray(kernel.distance(start[None], ends)).reshape(len(y), len(x))
    farthest = distances.max()
    if heights[0] >= farthest:
        raise KernelError(
            f"levels must be distances below the farthest shown, {farthest:.3g}, but begin at {heights[0]:g}."
        )
    colours = optional("matplotlib", purpose="mixkern.plot").colormaps["viridis"]
    shades = colours(np.interp(heights, [0.0, heights[-1]], DARKEST_TO_LIGHTEST))
    lines = ax.contour(x, y, distances, levels=heights, colors=shades, linewidths=1.2, zorder=2)
    numbered = heights if len(heights) <= FEW_LEVELS else heights[1::2]
    # Halos, not gaps: a gap would also interrupt other lines that a number crosses.
    texts = ax.clabel(lines, levels=numbered[numbered < farthest], inline=False, fmt="%g", fontsize=8, zorder=3)
    edge = EDGE * (box[1] - box[0])
    for text in texts:
        text.set_path_effects(halo(3))
        place = np.array(text.get_position())
        text.set_visible(bool((place > box[0] + edge).all() and (place < box[1] - edge).all()))


def _ticks(start: Floats, mixture: Mixture | None, box: Box, column: int, n_even: int = 201) -> Floats:
    """Return coordinates of a grid that is fine around narrow components and goes through the point."""
    even = np.linspace(box[0][column], box[1][column], n_even)
    fine = np.empty(0) if mixture is None else around_centres(mixture, column, REACH).ravel()
    return np.unique(np.concatenate([even, start[[column]], fine]))
