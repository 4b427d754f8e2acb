"""Decisions of a classifier on a table of many columns, in its first two principal components."""

import warnings
from typing import Any

import numpy as np

from mixkern.density import CovarianceType, Mixture
from mixkern.encoding import UNLABELLED as NO_CLASS
from mixkern.encoding import Labels, TableEncoder
from mixkern.plot.figure import axes_or_new, fit_figure
from mixkern.plot.plane import row_labels
from mixkern.plot.projection import MapRows
from mixkern.plot.style import SMALL
from mixkern.plot.table_map import SIZE, draw_map
from mixkern.typing import Floats, Ints

IN_LEGEND = (SMALL, 60.0)  # smallest and largest area of points in the legend


def decision_map(model: Any, X: Any, y: Any, *, truth: Any, contours: bool, ax: Any = None, title: str = "") -> Any:
    """Draw rows, and the predictions around them, in the plane of the first two principal components.

    Parameters
    ----------
    model : fitted classifier
        A classifier of mixkern or scikit-learn.
    X : frame or array-like of shape (n, n_columns)
        Rows.
    y, truth : array-like of shape (n,) or None
        Labels that the model was given, and true classes of the other rows.
    contours : bool
        Whether to draw the contours of the model's density.
    ax : matplotlib.axes.Axes, default=None
        Axes for the map; by default those of a new figure with a legend.
    title : str, default=""
        Title above the map.
    """
    mixture, rows = _encoded(model, X)
    given, true = (row_labels(each, len(rows), name, model.classes_) for each, name in ((y, "y"), (truth, "truth")))
    classes = joined_classes(model, given, true)
    own, known = codes_among(given, classes), codes_among(true, classes)
    predicted = (np.asarray(model.predict(X))[:, None] == np.asarray(model.classes_)).argmax(axis=1)
    places = MapRows.of(mixture, rows, predicted, own)
    is_small = own[places.at] == NO_CLASS
    has_own_figure = ax is None
    ax = axes_or_new(ax, SIZE)
    names = [str(label) for label in classes]
    draw_map(places, contours=contours, codes=known[places.at], is_small=is_small, names=names, ax=ax)
    ax.set_title(title)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_fontsize("small")  # several maps may stand side by side
    if has_own_figure:
        fit_figure(ax, areas=IN_LEGEND)
    return ax


def _encoded(model: Any, X: Any) -> tuple[Mixture, Floats]:
    """Return a mixture and encoded rows; those of a classifier without a mixture have one component."""
    if isinstance(getattr(model, "mixture_", None), Mixture):
        return model.mixture_, np.asarray(model.rows_of(X).values, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how columns are read matters little to a picture
        encoder = TableEncoder().fit(X)
        rows = np.asarray(encoder.transform(X), dtype=float)
    d = rows.shape[1] - len(encoder.categorical_)
    means, variances = (np.nan_to_num(each(rows[:, :d], axis=0)) for each in (np.nanmean, np.nanvar))
    tables = []
    for codes in rows[:, d:].T:
        counts = np.bincount(codes[~np.isnan(codes)].astype(int), minlength=2) + 1.0
        tables.append(np.array([counts / counts.sum()]))
    return Mixture(np.ones(1), means[None], variances[None] + 1e-9, CovarianceType.DIAG, tables), rows


def joined_classes(model: Any, given: Labels, true: Labels) -> list[Any]:
    """Return the classes of a model, and then those among labels that it does not know."""
    groups = (np.asarray(model.classes_), given.classes, true.classes)
    return list(dict.fromkeys(label for group in groups for label in group.tolist()))


def codes_among(labels: Labels, classes: list[Any]) -> Ints:
    """Return the position of each row's label among all classes of the picture, -1 for unlabelled rows."""
    positions = np.array([*(classes.index(label) for label in labels.classes), NO_CLASS])
    return positions[labels.codes]  # a code of -1 takes the last
