"""Chart of the importance of columns."""

from typing import Any

import narwhals as nw

from mixkern.errors import OptionError, hint
from mixkern.plot.figure import axes_or_new
from mixkern.plot.style import COLOURS, LIGHT
from mixkern.validation import COUNT
from mixkern.wording import shortened

WIDTH, BAR, AROUND = 5.6, 0.24, 0.9  # inches: width, height of a bar, and of what is around all bars
LONGEST = 30  # letters of a name


def importance(table: Any, *, n: int = 20, ax: Any = None, title: str = "") -> Any:
    """Draw the importance of columns as horizontal bars, the most important on top.

    Parameters
    ----------
    table : frame
        Result of :func:`mixkern.explain.column_importance`.
    n : int, default=20
        Number of columns to draw at most.
    ax : matplotlib.axes.Axes, default=None
        Axes for the bars; by default those of a new figure.
    title : str, default=""
        Title above the bars.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern import MixtureSVC, datasets, plot
    >>> from mixkern.explain import column_importance
    >>> iris = datasets.load("iris")
    >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(random_state=0))
    >>> ax = plot.importance(column_importance(model, iris.X))
    """
    COUNT.check(n, "n")
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not {"column", "importance"} <= set(frame.columns):
        raise OptionError(
            "table must be a frame with the columns 'column' and 'importance'.",
            hint=hint(python="Pass mixkern.explain.column_importance(model, X)."),
        )
    names = [shortened(str(name), LONGEST) for name in frame["column"].to_list()[:n]]
    shares = [float(share) for share in frame["importance"].to_list()[:n]]
    ax = axes_or_new(ax, (WIDTH, AROUND + BAR * len(names)))
    places = range(len(names))
    ax.barh(places, shares, height=0.7, color=COLOURS[0])
    ax.set_yticks(places, names)
    ax.set(ylim=(len(names) - 0.4, -0.6), xlabel="mean change of predicted probabilities", title=title)
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    LIGHT.apply(ax)
    ax.tick_params(axis="y", labelcolor=LIGHT.ink, length=0)
    return ax
