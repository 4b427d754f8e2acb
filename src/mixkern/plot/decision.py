"""What a classifier decides, everywhere in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from sklearn.base import is_classifier
from sklearn.gaussian_process.kernels import Kernel
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Mixture
from mixkern.errors import LabelError, OptionError, TableError, listing
from mixkern.optional import optional
from mixkern.plot.density import CENTRES, MOST_OBLONG, ellipses
from mixkern.plot.style import UNLABELLED, look, new_figure
from mixkern.table import UNLABELLED as NO_CLASS
from mixkern.table import ContinuousColumn, Kind, Labels, encode_labels
from mixkern.table.frame import RawColumn, column_labels, opened, raw_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

INK = "#000000"
GREY = "#8A8A8A"
TINT = 0.24  # share of a class's colour in the ground; the rest is white
BLUR = 1.2  # pixels
MARGIN = 0.05  # of the width and height, around the rows
SMALL = 15.0  # square points of print: rows without a label
LARGE, MEDIUM = 75.0, 26.0  # labelled rows, and those of a table with many
MANY = 80  # labels, or support vectors: more than these would hide each other
LARGEST_IN_LEGEND = 60.0
FRAME = 3.2  # area of the square around a support vector, in areas of its point
WIDTH = 5.2  # inches
LETTER, HANDLE = 0.068, 0.45  # inches that a legend takes per letter, and for what stands before the text
BOUNDARY, MARGINS, SUPPORT = "boundary", "margin", "support vector"


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
    plane = _plane(model, X)
    given, true = (_labels(each, name, len(plane.places)) for each, name in ((y, "y"), (truth, "truth")))
    groups = (np.asarray(model.classes_), given.classes, true.classes)
    classes = list(dict.fromkeys(label for group in groups for label in group.tolist()))
    low, high = _box(plane.places)
    ground = _ground(model, plane, low, high, resolution)
    has_own_figure = ax is None
    if ax is None:
        ax = new_figure(figsize=(WIDTH, WIDTH)).subplots()
    _regions(ground, ax)
    _boundary(ground, margins, ax)
    if has_components:
        _components(plane.mixture(model.mixture_), ax)
    size = MEDIUM if given.is_labelled.sum() > MANY else LARGE
    _rows(plane.places, _codes(given, classes), _codes(true, classes), classes, size, ax)
    _support(plane, model, plane.places[given.is_labelled], size, ax)
    _frame(plane, low, high, ax)
    ax.set_title(title)
    if has_own_figure:
        _fit_figure(ax, high - low)
    return ax


# ---------------------------------------------------------------- the table, in its own units


@dataclass(frozen=True)
class _Plane:
    """Two columns in their own units, and the way to those that the model computes in."""

    table: Any  # the native frame, or an array
    raws: Sequence[RawColumn]
    columns: Sequence[ContinuousColumn] | None  # how the model reads them; None where it takes them as they are
    places: Floats  # (n, 2)

    def own(self, encoded: Floats) -> Floats:
        """Put encoded rows into the units of the table."""
        if self.columns is None:
            return encoded
        scaled = encoded * [column.deviation for column in self.columns]
        return (scaled + [column.mean for column in self.columns]) + [column.origin for column in self.columns]

    def mixture(self, encoded: Mixture) -> Mixture:
        """Put a mixture of encoded rows into the units of the table."""
        if self.columns is None:
            return encoded
        scale = np.array([column.deviation for column in self.columns])
        return Mixture(encoded.weights, self.own(encoded.means), encoded.full_covariances * np.outer(scale, scale))

    def like(self, places: Floats) -> Any:
        """Make a table of these places that the model takes: same type, same names; dates are dates again."""
        cells = [self._cells(j, places[:, j]) for j in (0, 1)]
        labels = column_labels(self.table)
        if labels is None:
            is_moment = any(each.dtype.kind in "mM" for each in cells)
            return np.column_stack([each.astype(object) for each in cells] if is_moment else cells)
        if nw.dependencies.is_pandas_dataframe(self.table):  # its labels need not be texts
            pandas = optional("pandas", purpose="mixkern.plot")
            return pandas.DataFrame(dict(zip(labels, cells, strict=True)))
        backend = nw.get_native_namespace(self.table)
        return nw.from_dict(dict(zip(labels, cells, strict=True)), backend=backend).to_native()

    def _cells(self, j: int, values: Floats) -> Any:
        if self.columns is None:
            return values
        column = self.columns[j]
        return column.decode(((values - column.origin) - column.mean) / column.deviation)


def _plane(model: Any, X: Any) -> _Plane:
    table = opened(X)
    raws = raw_columns(table)
    columns = _columns(model, raws)
    places = np.column_stack([raw.numbers() for raw in raws])
    if not np.isfinite(places).all(axis=1).any():
        raise TableError("X has no row with a number in both columns, so that there is nothing to draw.")
    return _Plane(table, raws, columns, places)


def _columns(model: Any, raws: Sequence[RawColumn]) -> list[ContinuousColumn] | None:
    """Tell how the model reads the columns, and refuse those that have no place in the plane."""
    names = [raw.name for raw in raws]
    if len(raws) != 2:
        choice = "X[:, [0, 1]]" if raws[0].place.startswith("X[:") else f"X[{names[:2]}]"
        raise TableError(
            f"A picture of decisions needs a table of two continuous columns, but X has {len(raws)}. "
            f"Fit the model on two of them{': ' + choice if len(raws) > 2 else ''}."
        )
    encoder = getattr(model, "encoder_", None)
    if encoder is None:
        wrong = [raw.name for raw in raws if raw.kind not in (Kind.NUMBER, Kind.INTEGER)]
        n_categorical = len(getattr(getattr(model, "mixture_", None), "categories", ()))
        wrong = wrong or names[2 - n_categorical :]
    else:
        wrong = list(encoder.categorical_)
    if wrong:
        raise TableError(
            f"A picture of decisions needs a table of two continuous columns, but {listing(wrong)} "
            f"{'is' if len(wrong) == 1 else 'are'} not continuous. Fit the model on other columns."
        )
    return None if encoder is None else [c for c in encoder.columns_ if isinstance(c, ContinuousColumn)]


def _box(places: Floats) -> tuple[Floats, Floats]:
    """Give the corners of what is shown: the rows, and a margin."""
    there = places[np.isfinite(places).all(axis=1)]
    low, high = there.min(axis=0), there.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)  # one row, or a column of equal numbers, has room around it too
    return low - MARGIN * extent, high + MARGIN * extent


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


def _ground(model: Any, plane: _Plane, low: Floats, high: Floats, resolution: int) -> _Ground:
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
    _lines(ground, [(i, 0.0) for i in range(n_classes - 1)], BOUNDARY, ax, linewidth=1.8, linestyle="solid")
    if margins:
        _lines(ground, [(1, -1.0), (1, 1.0)], MARGINS, ax, linewidth=1.0, linestyle="dashed")


def _lines(
    ground: _Ground, leads: Sequence[tuple[int, float]], label: str, ax: Any, linewidth: float, linestyle: str
) -> None:
    """Draw where classes are so far ahead, and an empty line for the legend, which does not list contours."""
    inside = [(i, far) for i, far in leads if ground.lead[..., i].min() < far < ground.lead[..., i].max()]
    style = {"colors": INK, "linewidths": linewidth, "linestyles": linestyle, "zorder": 2.5}
    for i, far in inside:  # of a level that is nowhere matplotlib would warn
        ax.contour(ground.x, ground.y, ground.lead[..., i], levels=[far], **style)
    if inside:
        ax.plot([], [], color=INK, linewidth=linewidth, linestyle=linestyle, label=label)


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


def _components(mixture: Mixture, ax: Any) -> None:
    for ellipse in ellipses(mixture.means, mixture.full_covariances, np.ones(len(mixture.means))):
        ellipse.set(edgecolor=GREY, linewidth=1.4, zorder=1.5)
        ax.add_patch(ellipse)
    ax.scatter(*mixture.means.T, s=40, marker="+", color=GREY, linewidths=1.6, label=CENTRES, zorder=1.6)


def _rows(places: Floats, given: Ints, true: Ints, classes: Sequence[Any], size: float, ax: Any) -> None:
    """Draw rows without a label small, in the colours of their true classes if these are known; the others large."""
    is_there = np.isfinite(places).all(axis=1)
    is_hidden = is_there & (given == NO_CLASS)
    rest = places[is_hidden & (true == NO_CLASS)]
    if len(rest):
        ax.scatter(*rest.T, s=SMALL, color=UNLABELLED, linewidths=0, label="unlabelled", zorder=1)
    for code, label in enumerate(classes):
        hidden = places[is_hidden & (true == code)]
        if len(hidden):
            ax.scatter(
                *hidden.T, s=SMALL, edgecolors=INK, linewidths=0.25, label=f"class {label}", zorder=1.2, **look(code)
            )
    has_truth = bool((is_hidden & (true != NO_CLASS)).any())
    outline = {"edgecolors": INK, "linewidths": 1.4 if size == LARGE else 0.6, "path_effects": halo(size)}
    for code, label in enumerate(classes):
        labelled = places[is_there & (given == code)]
        if len(labelled):
            text = f"class {label}, labelled" if has_truth else f"class {label}"
            ax.scatter(*labelled.T, s=size, label=text, zorder=4, **outline, **look(code))


def _support(plane: _Plane, model: Any, labelled: Floats, size: float, ax: Any) -> None:
    """Frame support vectors, each as large as it is drawn: machines may learn from rows without a label, too."""
    rows = np.asarray(getattr(model, "support_vectors_", np.empty((0, 2))), dtype=float)
    if not len(rows):
        return
    places = plane.own(rows)
    places = places[np.isfinite(places).all(axis=1)]
    is_labelled = np.any(np.isclose(places[:, None], labelled).all(axis=2), axis=1)
    frame = {"marker": "s", "facecolors": "none", "edgecolors": INK, "label": SUPPORT, "zorder": 3.9}
    sizes = FRAME * np.where(is_labelled, size, SMALL)
    widths = np.where(is_labelled & (size == LARGE), 1.5, 0.8)
    rims = halo(size) if len(rows) <= MANY else None  # those of many frames would hide what is in them
    ax.scatter(*places.T, s=sizes, linewidths=widths, path_effects=rims, **frame)


def halo(size: float) -> list[Any]:
    """Lift large points off the crowd by a white rim."""
    effects = optional("matplotlib.patheffects", purpose="mixkern.plot")
    return [effects.withStroke(linewidth=3.6 if size == LARGE else 1.6, foreground="white")]


def _frame(plane: _Plane, low: Floats, high: Floats, ax: Any) -> None:
    """Set limits, units and names of the axes."""
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    width, height = high - low
    is_oblong = max(width, height) > MOST_OBLONG * min(width, height)
    ax.set_aspect("auto" if is_oblong else "equal", adjustable="box")  # other limits would show where no one decided
    for raw, axis in zip(plane.raws, (ax.xaxis, ax.yaxis), strict=True):
        axis.set_label_text(f"{raw.name} (days)" if raw.kind is Kind.DURATION else raw.name)
        if raw.kind is Kind.DATE:
            dates = optional("matplotlib.dates", purpose="mixkern.plot")  # days since 1970 there as well
            locator = dates.AutoDateLocator(maxticks=6)
            axis.set_major_locator(locator)
            axis.set_major_formatter(dates.ConciseDateFormatter(locator))


def _fit_figure(ax: Any, extent: Floats) -> None:
    """Give a figure of our own the shape of what is in it, and a legend below."""
    handles, texts = legend_entries(ax)
    n_columns = max(1, min(len(texts), int(WIDTH / (HANDLE + LETTER * max(map(len, texts))))))
    n_lines = -(-len(texts) // n_columns)
    height = 1.0 if ax.get_aspect() == "auto" else np.clip(extent[1] / extent[0], 0.4, 1.6)
    ax.figure.set_size_inches(WIDTH, 0.8 + 0.22 * n_lines + (WIDTH - 0.8) * height)
    draw_legend(ax.figure, handles, texts, n_columns)


def legend_entries(ax: Any) -> tuple[list[Any], list[str]]:
    """Give what is to be explained: classes first, lines last."""
    last = [SUPPORT, BOUNDARY, MARGINS, CENTRES]
    pairs = list(zip(*ax.get_legend_handles_labels(), strict=True))
    pairs.sort(key=lambda pair: last.index(pair[1]) + 1 if pair[1] in last else 0)
    return [handle for handle, _ in pairs], [text for _, text in pairs]


def draw_legend(figure: Any, handles: Sequence[Any], texts: Sequence[str], n_columns: int) -> None:
    """Put a legend below a figure, its large points as large as its lines of text allow."""
    look = {"frameon": False, "columnspacing": 1.4, "handletextpad": 0.5, "fontsize": "small"}
    legend = figure.legend(handles, texts, loc="outside lower center", ncols=n_columns, **look)
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes(np.clip(handle.get_sizes(), SMALL, LARGEST_IN_LEGEND))
