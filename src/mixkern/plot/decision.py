"""What a classifier decides, everywhere in the plane."""

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
from mixkern.encoding import Kind, Labels, encode_labels
from mixkern.errors import LabelError, OptionError
from mixkern.imports import optional
from mixkern.plot.component import grey_components
from mixkern.plot.legend import fit_figure
from mixkern.plot.plane import Plane
from mixkern.plot.style import (
    INK,
    LARGE,
    MARGIN,
    MEDIUM,
    SMALL,
    UNLABELLED,
    look,
    new_figure,
    outlined,
    units,
)
from mixkern.typing import Floats, Ints

TINT = 0.24  # share of a class's colour in the ground; the rest is white
BLUR = 1.2  # pixels
MANY = 80  # labels, or support vectors: more than these would hide each other
FEW_FRAMES, MOST_FRAMES = 12, 200  # support vectors that are framed in any case, and at most
FRAME = 3.2  # area of the square around a support vector, in areas of its point
IN_LEGEND = (SMALL, 60.0)  # areas of points there; larger ones would need more room than a line of text


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
    """Draw what a classifier decides in the plane: regions, their boundary, and the rows that it has learned from.

    The ground has the colour of the class that is predicted there. Labelled rows are large, all others small. Squares
    frame support vectors. Grey unit ellipses join what is at Mahalanobis distance one from the centre of a component.
    All is in the units of ``X``, whatever the model computes with.

    Parameters
    ----------
    model : fitted classifier
        One of mixkern, or any of scikit-learn, on two continuous columns.
    X : frame or array-like of shape (n, 2)
        Rows to draw, such as those that the model was fitted on. The picture ends where they do. Rows with gaps have
        no place in it.
    y : array-like of shape (n,), default=None
        The labels that the model was given; -1 (among numbers), ``None`` or NaN where there was none.
    truth : array-like of shape (n,), default=None
        The true classes: rows without a label in ``y`` get their colours, where they would be grey.
    margins : bool, default=False
        Whether to draw, dashed, where the decision function is -1 and 1. For two classes.
    components : bool, default=None
        Whether to draw the components of the model's mixture; by default where its kernel measures by them.
    resolution : int, default=250
        Predictions along each side of the picture.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure with a legend.
    title : str, default=""
        What to write above.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    More than twelve support vectors are not framed if they are most of the rows, or more than 200: frames around nearly
    everything tell nothing. So it is with the landmarks of :class:`~mixkern.QuasiNewtonS3VC`.

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
    plane = Plane.of(model, X)
    given, true = (_labels(each, name, len(plane.places)) for each, name in ((y, "y"), (truth, "truth")))
    groups = (np.asarray(model.classes_), given.classes, true.classes)
    classes = list(dict.fromkeys(label for group in groups for label in group.tolist()))
    low, high = _box(plane)
    ground = _ground(model, plane, low, high, resolution)
    has_own_figure = ax is None
    if ax is None:
        ax = new_figure().subplots()
    # In the order of the legend; what lies on top is said by each zorder.
    _regions(ground, ax)
    size = MEDIUM if given.is_labelled.sum() > MANY else LARGE
    _rows(plane, _codes(given, classes), _codes(true, classes), classes, size, ax)
    _support(plane, model, given.is_labelled, size, ax)
    _boundary(ground, margins, ax)
    if has_components:
        grey_components(plane.mixture(model.mixture_), ax)
    ax.set(title=title, xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_aspect(units(ax), adjustable="box")  # other limits would show where no one decided
    _name_axes(plane, ax)
    if has_own_figure:
        fit_figure(ax, areas=IN_LEGEND)
    return ax


# ---------------------------------------------------------------- labels


def _labels(y: Any, name: str, n: int) -> Labels:
    labels = encode_labels(np.full(n, NO_CLASS) if y is None else y, min_classes=0)
    if len(labels.codes) != n:
        raise LabelError(f"{name} must have one label per row of X, {n}, but it has {len(labels.codes)}.")
    return labels


def _codes(labels: Labels, classes: list[Any]) -> Ints:
    """Give the position of each row's label among all classes of the picture, -1 where there is none."""
    positions = np.array([*(classes.index(label) for label in labels.classes), NO_CLASS])
    return positions[labels.codes]  # a code of -1 finds the last


# ---------------------------------------------------------------- what the model says


@dataclass(frozen=True)
class _Ground:
    """What is predicted on a grid."""

    x: Floats
    y: Floats
    codes: Ints  # (len(y), len(x)): the class that is predicted
    lead: Floats  # (len(y), len(x), c): how far each class is ahead of the others; negative where another is


def _check_model(model: Any, margins: bool) -> None:
    check_is_fitted(model)
    if not is_classifier(model) or not hasattr(model, "classes_"):
        raise TypeError(f"model must be a classifier, but a {type(model).__name__} is none: it has no classes to draw.")
    n_classes = len(model.classes_)
    if margins and (n_classes != 2 or not hasattr(model, "decision_function")):
        found = "no decision function" if n_classes == 2 else f"{n_classes} classes"
        raise OptionError(
            f"Margins lie beside the boundary between two classes, but this {type(model).__name__} has {found}. "
            "Leave out margins=True."
        )


def _box(plane: Plane) -> tuple[Floats, Floats]:
    """Give the corners of what is shown: the rows, and a margin."""
    there = plane.places[plane.is_there]
    low, high = there.min(axis=0), there.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)  # one row, or a column of equal numbers, has room around it too
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
    """Give a function that is positive where the second of two classes is predicted; None where there is none."""
    if len(model.classes_) != 2:
        return None  # votes of pairs of classes, which jump at the boundary
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(table), dtype=float)
    elif hasattr(model, "predict_proba"):
        scores = np.asarray(model.predict_proba(table), dtype=float)[:, 1] - 0.5
    else:
        return None
    scores = scores.reshape(codes.shape)
    return scores if ((scores > 0) == codes).all() else None


def _smooth_lead(codes: Ints, n_classes: int) -> Floats:
    """Blur the regions by a pixel, so that the lines between them have no steps."""
    regions = np.eye(n_classes)[codes]
    blurred: Floats = gaussian_filter(regions, sigma=(BLUR, BLUR, 0), mode="nearest")
    others = [np.delete(blurred, i, axis=2).max(axis=2, initial=0.0) for i in range(n_classes)]
    return blurred - np.stack(others, axis=-1)


# ---------------------------------------------------------------- what is drawn


def _regions(ground: _Ground, ax: Any) -> None:
    colours = optional("matplotlib.colors", purpose="mixkern.plot")
    n_classes = ground.lead.shape[2]
    tints = np.array([1 - TINT * (1 - np.array(colours.to_rgb(look(i)["color"]))) for i in range(n_classes)])
    half = [(axis[1] - axis[0]) / 2 for axis in (ground.x, ground.y)]  # a pixel reaches as far around its point
    extent = (ground.x[0] - half[0], ground.x[-1] + half[0], ground.y[0] - half[1], ground.y[-1] + half[1])
    # An image rather than filled contours: between classes 0 and 2, contours would show a strip of class 1.
    ax.imshow(tints[ground.codes], extent=extent, origin="lower", interpolation="nearest", aspect="auto", zorder=0)


def _boundary(ground: _Ground, margins: bool, ax: Any) -> None:
    n_classes = ground.lead.shape[2]
    # The last class has no boundary that is not another's, too.
    _lines(ground, [(i, 0.0) for i in range(n_classes - 1)], ax, label="boundary", linewidth=1.8, linestyle="solid")
    if margins:
        _lines(ground, [(1, -1.0), (1, 1.0)], ax, label="margin", linewidth=1.0, linestyle="dashed")


def _lines(ground: _Ground, leads: Sequence[tuple[int, float]], ax: Any, **style: Any) -> None:
    """Draw where classes are so far ahead, and an empty line for the legend, which does not list contours."""
    inside = [(i, far) for i, far in leads if ground.lead[..., i].min() < far < ground.lead[..., i].max()]
    lines = {"linewidths": style["linewidth"], "linestyles": style["linestyle"], "zorder": 2.5}
    for i, far in inside:  # of a level that is nowhere matplotlib would warn
        ax.contour(ground.x, ground.y, ground.lead[..., i], levels=[far], colors=INK, **lines)
    if inside:
        ax.plot([], [], color=INK, **style)


def _shows_components(model: Any, components: bool | None) -> bool:
    has_mixture = isinstance(getattr(model, "mixture_", None), Mixture)
    if components and not has_mixture:
        raise OptionError(f"A {type(model).__name__} has no mixture whose components to draw. Leave out components.")
    return has_mixture and (_has_mixture(getattr(model, "kernel_", None)) if components is None else components)


def _has_mixture(kernel: Any) -> bool:
    """Tell whether a kernel, or one that it is made of, measures by a mixture."""
    if not isinstance(kernel, Kernel):
        return False
    parts = kernel.get_params(deep=False).values()
    return any(isinstance(part, Mixture) or _has_mixture(part) for part in parts)


def _rows(plane: Plane, given: Ints, true: Ints, classes: Sequence[Any], size: float, ax: Any) -> None:
    """Draw rows without a label small, in the colours of their true classes if these are known; the others large."""
    is_hidden = plane.is_there & (given == NO_CLASS)
    has_truth = (is_hidden & (true != NO_CLASS)).any()

    def draw(is_drawn: NDArray[np.bool_], **look: Any) -> None:
        if is_drawn.any():
            ax.scatter(*plane.places[is_drawn].T, **look)

    draw(is_hidden & (true == NO_CLASS), s=SMALL, color=UNLABELLED, linewidths=0, label="unlabelled", zorder=1)
    hidden = {"s": SMALL, "edgecolors": INK, "linewidths": 0.25, "zorder": 1.2}
    for code, label in enumerate(classes):
        draw(is_hidden & (true == code), label=f"class {label}", **hidden, **look(code))
    for code, label in enumerate(classes):
        text = f"class {label}, labelled" if has_truth else f"class {label}"
        draw(plane.is_there & (given == code), label=text, zorder=4, **outlined(size), **look(code))


def _support(plane: Plane, model: Any, is_labelled: NDArray[np.bool_], size: float, ax: Any) -> None:
    """Frame support vectors, each as large as it is drawn: machines may learn from rows without a label, too."""
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
        del frame["path_effects"]  # rims of many frames would hide what is in them
    ax.scatter(*places.T, marker="s", label="support vector", zorder=3.9, **frame)


def _name_axes(plane: Plane, ax: Any) -> None:
    for raw, axis in zip(plane.raws, (ax.xaxis, ax.yaxis), strict=True):
        axis.set_label_text(f"{raw.name} (days)" if raw.kind is Kind.DURATION else raw.name)
        if raw.kind is Kind.DATE:
            dates = optional("matplotlib.dates", purpose="mixkern.plot")  # days since 1970 there as well
            locator = dates.AutoDateLocator(maxticks=6)
            axis.set_major_locator(locator)
            axis.set_major_formatter(dates.ConciseDateFormatter(locator))
