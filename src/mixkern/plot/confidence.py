"""Histogram of the probabilities of predicted labels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixkern.errors import OptionError
from mixkern.plot.figure import axes_or_new
from mixkern.plot.style import COLOURS, LIGHT, Theme
from mixkern.typing import Ints

N_BINS = 20
SIZE = (6.4, 2.8)  # inches
MOST_CLASSES = len(COLOURS)  # classes with a colour of their own; the rarest others share one


def confidence(
    probabilities: ArrayLike,
    classes: Any = None,
    *,
    theme: Theme = LIGHT,
    legend: bool = True,
    ax: Any = None,
) -> Any:
    """Draw a histogram of the probabilities of the predicted labels, stacked by label.

    Parameters
    ----------
    probabilities : array-like of shape (n, c)
        Result of ``predict_proba``.
    classes : array-like of shape (c,), default=None
        Names in the legend; by default 0, 1, ...
    theme : Theme, default=LIGHT
        Colours for a light or a dark page.
    legend : bool, default=True
        Whether to draw a legend.
    ax : matplotlib.axes.Axes, default=None
        Axes for the histogram; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets, plot
    >>> from mixkern.plot.confidence import confidence
    >>> iris = datasets.load("iris")
    >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(random_state=0))
    >>> ax = confidence(model.predict_proba(iris.X), model.classes_)
    """
    shares = np.asarray(probabilities, dtype=float)
    if shares.ndim != 2 or shares.shape[1] < 2:
        raise OptionError(
            f"probabilities must have a column for each of two classes or more, not shape {shares.shape}."
        )
    ax = axes_or_new(ax, SIZE)
    n_classes = shares.shape[1]
    chosen, surest = shares.argmax(axis=1), shares.max(axis=1)
    edges = np.linspace(1 / n_classes, 1, N_BINS + 1)
    own, others = coloured_classes(chosen, n_classes)
    groups = [surest[chosen == code] for code in own] + ([surest[np.isin(chosen, others)]] if len(others) else [])
    colours = [theme.marker_style(int(code))["color"] for code in own] + ([theme.muted] if len(others) else [])
    names = [str(code if classes is None else classes[code]) for code in own] + (["others"] if len(others) else [])
    ax.hist(groups, edges, stacked=True, color=colours, label=names, edgecolor=theme.ground, linewidth=0.8)
    ax.set(xlabel="probability of the predicted label", ylabel="rows", xlim=(edges[0], 1))
    ax.yaxis.get_major_locator().set_params(integer=True)  # rows are whole
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    theme.apply(ax)
    ax.grid(axis="y", color=theme.line, linewidth=0.6, alpha=0.6)
    ax.set_axisbelow(True)
    if legend:
        ax.legend(frameon=False, labelcolor=theme.ink)
    return ax


def coloured_classes(chosen: Ints, n_classes: int) -> tuple[Ints, Ints]:
    """Return the classes with a colour of their own, and those that are drawn together as others.

    >>> coloured_classes(np.array([0, 1, 1]), 2)
    (array([0, 1]), array([], dtype=int64))
    """
    if n_classes <= MOST_CLASSES:
        return np.arange(n_classes), np.arange(0)
    frequent = np.argsort(-np.bincount(chosen, minlength=n_classes), kind="stable")
    return np.sort(frequent[: MOST_CLASSES - 1]), np.sort(frequent[MOST_CLASSES - 1 :])
