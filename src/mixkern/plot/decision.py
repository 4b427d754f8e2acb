"""Decisions of a classifier: regions in the plane of two columns, or a map of a table of many columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.base import is_classifier
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Mixture
from mixkern.encoding import UNLABELLED as NO_CLASS
from mixkern.errors import OptionError, hint
from mixkern.imports import optional
from mixkern.plot.decision_map import codes_among, decision_map, joined_classes
from mixkern.plot.figure import MARGIN, axes_or_new, fit_figure, units
from mixkern.plot.plane import Plane, grey_components, is_planar, name_axes, row_labels
from mixkern.plot.style import (
    INK,
    LARGE,
    MEDIUM,
    SMALL,
    UNLABELLED,
    class_layers,
    labelled_texts,
    marker_style,
    outlined,
)
from mixkern.typing import Floats, Ints

TINT = 0.24  # share of a class's colour in the background; the rest is white
BLUR = 1.2  # pixels
MANY = 80  # labels, or support vectors, from which on symbols are smaller
FEW_FRAMES, MOST_FRAMES = 12, 200  # support vectors: always framed up to the first, never beyond the second
FRAME = 3.2  # area of the square around a support vector, in areas of its point
CROWDED, MOST_HIDDEN = 600, 1_500  # rows without a label: beyond the first, points are tiny; at most the second
TINY = 5.0  # area of such a point
N_LAYERS = 8  # of tiny points
IN_LEGEND = (SMALL, 60.0)  # smallest and largest area of points in the legend


def decision(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    truth: Any = None,
    margins: bool = False,
    components: bool | None = None,
    resolution: int = 250,
    ax: Any = None,
    title: str = "",
) -> Any:
    """Draw the decisions of a classifier: regions, their boundary, and the rows of its training.

    The background has the colour of the predicted class. Labelled rows are large, all others small. Squares frame
    support vectors. Grey unit ellipses join the points at Mahalanobis distance one from the centre of a component.
    Everything is drawn in the units of ``X``.

    A table that has not two continuous columns is projected onto its first two principal components. There the
    background has the colour of most predictions nearby, paler where they differ, and contours are those of the
    density; there is no boundary, because it lies in the space of all columns.

    Parameters
    ----------
    model : fitted classifier
        A classifier of mixkern or scikit-learn.
    X : frame or array-like of shape (n, n_columns)
        Rows to draw, such as those that the model was fitted on; the picture shows their range. In the plane of two
        columns, rows with gaps are left out.
    y : array-like of shape (n,), default=None
        The labels that the model was given; -1 (among numbers), ``None`` or NaN where there was none.
    truth : array-like of shape (n,), default=None
        True classes, which colour the rows without a label in ``y``; otherwise these are grey.
    margins : bool, default=False
        Whether to draw dashed lines where the decision function is -1 and 1. For two classes and two columns.
    components : bool, default=None
        Whether to draw the components of the model's mixture, or the contours of their density on a projection; by
        default where its kernel uses them.
    resolution : int, default=250
        Number of predictions along each side of the picture.
    ax : matplotlib.axes.Axes, default=None
        Axes for the regions; by default those of a new figure with a legend.
    title : str, default=""
        Title above the regions.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Of more than 1,500 rows without a label, 1,500 are drawn, chosen at random, as smaller points. Of a projection, at
    most 4,000 rows are drawn, and all labelled ones; rows far away from all others are drawn at its edge.

    More than twelve support vectors are not framed if they are more than half of the rows, or more than 200. The same
    holds for the landmarks of :class:`~mixkern.QuasiNewtonS3VC`.

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets, plot
    >>> clouds = datasets.load("clouds")
    >>> y = clouds.few_labels(per_class=4, random_state=0)
    >>> model = MixtureSVC(random_state=0).fit(clouds.X, y)
    >>> ax = plot.decision(model, clouds.X, y, truth=clouds.y, title="Eight labels")
    """
    _check_model(model, margins)
    has_components = _shows_components(model, components)
    if not is_planar(model, X):
        _check_no_margins(margins)
        return decision_map(model, X, y, truth=truth, contours=has_components, ax=ax, title=title)
    plane = Plane.of(model, X)
    given, true = (
        row_labels(each, len(plane.places), name, model.classes_) for each, name in ((y, "y"), (truth, "truth"))
    )
    classes = joined_classes(model, given, true)
    low, high = _box(plane)
    ground = _ground(model, plane, low, high, resolution)
    has_own_figure = ax is None
    ax = axes_or_new(ax)
    # In the order of the legend; zorder decides what lies on top.
    _regions(ground, ax)
    size = MEDIUM if given.is_labelled.sum() > MANY else LARGE
    _rows(plane, codes_among(given, classes), codes_among(true, classes), classes, size, ax)
    _support(plane, model, given.is_labelled, size, ax)
    _boundary(ground, margins, ax)
    if has_components:
        grey_components(plane.mixture(model.mixture_), ax)
    ax.set(title=title, xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_aspect(units(ax), adjustable="box")  # there are no predictions outside these limits
    name_axes(plane.raws, ax)
    if has_own_figure:
        fit_figure(ax, areas=IN_LEGEND)
    return ax


@dataclass(frozen=True)
class _Ground:
    """Predictions on a grid."""

    x: Floats
    y: Floats
    codes: Ints  # (len(y), len(x)): predicted class
    lead: Floats  # (len(y), len(x), c): score of each class less that of the best other class


def _check_model(model: Any, margins: bool) -> None:
    check_is_fitted(model)
    if not is_classifier(model) or not hasattr(model, "classes_"):
        raise TypeError(f"model must be a classifier, but {type(model).__name__} is not one.")
    n_classes = len(model.classes_)
    if margins and (n_classes != 2 or not hasattr(model, "decision_function")):
        found = "no decision function" if n_classes == 2 else f"{n_classes} classes"
        raise OptionError(
            f"Margins are those of a boundary between two classes, but this {type(model).__name__} has {found}.",
            hint=hint(python="Leave out margins=True."),
        )


def _check_no_margins(margins: bool) -> None:
    if margins:
        raise OptionError(
            "Margins can be drawn for tables of two continuous columns only.",
            hint=hint(python="Leave out margins=True."),
        )


def _box(plane: Plane) -> tuple[Floats, Floats]:
    """Return the corners of the picture: the range of the rows, and a margin."""
    there = plane.places[plane.is_there]
    low, high = there.min(axis=0), there.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)  # a margin of 1 around equal numbers
    return low - MARGIN * extent, high + MARGIN * extent


def _ground(model: Any, plane: Plane, low: Floats, high: Floats, resolution: int) -> _Ground:
    if resolution < 2:
        raise OptionError(f"resolution must be at least 2, but it is {resolution!r}.")
    x, y = (np.linspace(low[j], high[j], resolution) for j in (0, 1))
    table = plane.like(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    classes = np.asarray(model.classes_)
    codes = (np.asarray(model.predict(table))[:, None] == classes).argmax(axis=1).reshape(len(y), len(x))
    scores = _scores(model, table, codes)
    if scores is None:
        return _Ground(x, y, codes, _smooth_lead(codes, len(classes)))
    return _Ground(x, y, codes, np.stack([-scores, scores], axis=-1))


def _scores(model: Any, table: Any, codes: Ints) -> Floats | None:
    """Return scores that are positive where the second of two classes is predicted, None if there are none."""
    if len(model.classes_) != 2:
        return None  # one-vs-one votes jump at the boundary
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(table), dtype=float)
    elif hasattr(model, "predict_proba"):
        scores = np.asarray(model.predict_proba(table), dtype=float)[:, 1] - 0.5
    else:
        return None
    scores = scores.reshape(codes.shape)
    return scores if ((scores > 0) == codes).all() else None


def _smooth_lead(codes: Ints, n_classes: int) -> Floats:
    """Blur the regions by a pixel, for smooth lines between them."""
    regions = np.eye(n_classes)[codes]
    blurred: Floats = gaussian_filter(regions, sigma=(BLUR, BLUR, 0), mode="nearest")
    others = [np.delete(blurred, i, axis=2).max(axis=2, initial=0.0) for i in range(n_classes)]
    return blurred - np.stack(others, axis=-1)


def _regions(ground: _Ground, ax: Any) -> None:
    colours = optional("matplotlib.colors", purpose="mixkern.plot")
    n_classes = ground.lead.shape[2]
    tints = np.array([1 - TINT * (1 - np.array(colours.to_rgb(marker_style(i)["color"]))) for i in range(n_classes)])
    half = [(axis[1] - axis[0]) / 2 for axis in (ground.x, ground.y)]  # from the centre of a pixel to its edge
    extent = (ground.x[0] - half[0], ground.x[-1] + half[0], ground.y[0] - half[1], ground.y[-1] + half[1])
    # An image, because filled contours would show a strip of class 1 between classes 0 and 2.
    ax.imshow(tints[ground.codes], extent=extent, origin="lower", interpolation="nearest", aspect="auto", zorder=0)


def _boundary(ground: _Ground, margins: bool, ax: Any) -> None:
    n_classes = ground.lead.shape[2]
    # Every boundary of the last class is also that of another class.
    _lines(ground, [(i, 0.0) for i in range(n_classes - 1)], ax, label="boundary", linewidth=1.8, linestyle="solid")
    if margins:
        _lines(ground, [(1, -1.0), (1, 1.0)], ax, label="margin", linewidth=1.0, linestyle="dashed")


def _lines(ground: _Ground, leads: Sequence[tuple[int, float]], ax: Any, **style: Any) -> None:
    """Draw contours of leads, and an empty line for the legend, which does not list contours."""
    inside = [(i, far) for i, far in leads if ground.lead[..., i].min() < far < ground.lead[..., i].max()]
    lines = {"linewidths": style["linewidth"], "linestyles": style["linestyle"], "zorder": 2.5}
    for i, far in inside:  # matplotlib warns of empty levels
        ax.contour(ground.x, ground.y, ground.lead[..., i], levels=[far], colors=INK, **lines)
    if inside:
        ax.plot([], [], color=INK, **style)


def _shows_components(model: Any, components: bool | None) -> bool:
    has_mixture = isinstance(getattr(model, "mixture_", None), Mixture)
    if components and not has_mixture:
        raise OptionError(
            f"{type(model).__name__} has no mixture to draw the components of.",
            hint=hint(python="Leave out components=True."),
        )
    return has_mixture and (_has_mixture(getattr(model, "kernel_", None)) if components is None else components)


def _has_mixture(kernel: Any) -> bool:
    """Whether a kernel, or a part of it, uses a mixture."""
    if not isinstance(kernel, Kernel):
        return False
    parts = kernel.get_params(deep=False).values()
    return any(isinstance(part, Mixture) or _has_mixture(part) for part in parts)


def _rows(plane: Plane, given: Ints, true: Ints, classes: Sequence[Any], size: float, ax: Any) -> None:
    """Draw labelled rows large and all others small, in the colours of their true classes where these are known."""
    is_hidden = _some(plane.is_there & (given == NO_CLASS))
    is_crowded = is_hidden.sum() > CROWDED
    has_truth = bool((is_hidden & (true != NO_CLASS)).any())

    def draw(rows: NDArray[Any], **style: Any) -> None:  # positions, or a mask
        drawn = plane.places[rows]
        if len(drawn):
            ax.scatter(*drawn.T, **style)

    hidden: dict[str, Any] = {"s": TINY if is_crowded else SMALL, "linewidths": 0}
    draw(is_hidden & (true == NO_CLASS), color=UNLABELLED, label="unlabelled", zorder=1, **hidden)
    hidden |= {"zorder": 1.2} if is_crowded else {"edgecolors": INK, "linewidths": 0.25, "zorder": 1.2}
    for i, code, at in class_layers(true, is_hidden & (true != NO_CLASS), N_LAYERS if is_crowded else 1):
        draw(at, label=None if i else f"class {classes[code]}", **hidden, **marker_style(code))
    for code, text in enumerate(labelled_texts(classes, has_others=has_truth)):
        draw(plane.is_there & (given == code), label=text, zorder=4, **outlined(size), **marker_style(code))


def _some(is_hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Choose some rows at random where they are too many to be seen."""
    at = np.flatnonzero(is_hidden)
    if len(at) <= MOST_HIDDEN:
        return is_hidden
    chosen = np.zeros_like(is_hidden)
    chosen[np.random.RandomState(0).permutation(at)[:MOST_HIDDEN]] = True
    return chosen


def _support(plane: Plane, model: Any, is_labelled: NDArray[np.bool_], size: float, ax: Any) -> None:
    """Frame support vectors, which may be labelled (large) or unlabelled rows (small)."""
    places = plane.own(np.asarray(getattr(model, "support_vectors_", np.empty((0, 2))), dtype=float))
    places = places[np.isfinite(places).all(axis=1)]
    most = np.clip(plane.is_there.sum() / 2, FEW_FRAMES, MOST_FRAMES)
    if not 0 < len(places) <= most:
        return
    is_large = np.any(np.isclose(places[:, None], plane.places[is_labelled]).all(axis=2), axis=1)
    frame = outlined(size) | {
        "s": FRAME * np.where(is_large, size, SMALL),
        "linewidths": np.where(is_large & (size == LARGE), 1.5, 0.8),
        "facecolors": "none",
    }
    if len(places) > MANY:
        del frame["path_effects"]  # rims of many frames would cover the points
    ax.scatter(*places.T, marker="s", label="support vector", zorder=3.9, **frame)
