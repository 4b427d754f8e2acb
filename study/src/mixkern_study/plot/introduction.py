"""The paper's first figure: two labels, with and without the structure of unlabelled rows."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mixkern import datasets
from mixkern.encoding import UNLABELLED
from mixkern.estimators import MixtureSVC
from mixkern.plot.decision import IN_LEGEND, decision
from mixkern.plot.figure import draw_legend, new_figure
from mixkern.plot.level import level_curves
from mixkern.plot.style import LARGE, halo, marker_style, outlined
from mixkern.typing import Floats, Ints

N_TEST = 10_000  # rows: the standard error of an accuracy is below half a per cent
PANEL = 3.4  # inches
METHODS = {"rbf": "Euclidean distance", "rwm": "RWM distance"}


def introduction(*, n: int = 800, random_state: Any = 0) -> Any:
    """Draw the paper's first figure: two labels, and a classifier with and without the structure of unlabelled rows.

    Rows come from two processes with one centre, a narrow and a wide one. Two rows have a label: of the narrow process
    the row nearest to its mean, of the wide process the row at the median distance from its mean. Each line of panels
    shows what is near the first of them, what is near the second, and what :class:`~mixkern.MixtureSVC` makes of it.

    Parameters
    ----------
    n : int, default=800
        Rows, half of them from each process.
    random_state : int, RandomState or None, default=0
        Which rows, and which start the density has.

    Returns
    -------
    matplotlib.figure.Figure
        Two by three panels: above Euclidean distances (RBF kernel), below RWM distances. The titles on the right tell
        the accuracy on 10 000 further rows.

    Notes
    -----
    Between two labelled rows, the boundary is where both are equally near, whatever ``C`` and ``gamma`` are: a straight
    line for RBF, and for RWM a closed curve. The best possible accuracy is 92.5 %.

    Examples
    --------
    >>> from mixkern_study import plot
    >>> figure = plot.introduction()
    >>> [panel.get_title().split(":")[0] for panel in figure.axes[2::3]]
    ['RBF kernel', 'RWM kernel']
    """
    random = check_random_state(random_state)
    X, truth = datasets.make_two_rings(n, random_state=random)
    test = datasets.make_two_rings(N_TEST, random_state=random)
    chosen = two_labels(X, truth)
    y = np.full(len(X), UNLABELLED)
    y[chosen] = truth[chosen]
    figure = new_figure(figsize=(3 * PANEL, 2 * PANEL + 0.5))
    figure.get_layout_engine().set(h_pad=0.08, w_pad=0.05)  # inches
    panels = figure.subplots(2, 3, sharex=True, sharey=True)
    for (kernel, words), (*near, right) in zip(METHODS.items(), panels, strict=True):
        model = MixtureSVC(kernel, encoder="passthrough", probability=False, random_state=random).fit(X, y)
        for i, panel in enumerate(near):
            level_curves(model.kernel_, X[chosen[i]], X=X, mark=False, ax=panel, title=f"{words} from $x_{i + 1}$")
            _labelled(X[chosen], panel)
        accuracy = model.score(*test)
        decision(model, X, y, truth=truth, ax=right, title=f"{kernel.upper()} kernel: {100 * accuracy:.1f} % correct")
        _names(X[chosen], right)
    _finish(figure, panels, reach=np.abs([X.min(axis=0), X.max(axis=0)]).min())
    return figure


def two_labels(X: Floats, truth: Ints) -> Ints:
    """Choose one row of each process: nearest to the mean of the narrow one, at the median distance in the wide one."""
    chosen = []
    for process, place in ((0, 0.0), (1, 0.5)):
        rows = np.flatnonzero(truth == process)
        far = np.linalg.norm(X[rows] - X[rows].mean(axis=0), axis=1)
        chosen.append(rows[np.argsort(far)[int(place * len(rows))]])
    return np.array(chosen)


def _labelled(places: Floats, ax: Any) -> None:
    """Draw the two labelled rows in place of the cross that marks where distances begin."""
    for code, place in enumerate(places):
        ax.scatter(*place, zorder=4, **outlined(LARGE), **marker_style(code))
    _names(places, ax)


def _names(places: Floats, ax: Any) -> None:
    for i, place in enumerate(places):
        look = {"xytext": (11, -17), "textcoords": "offset points", "fontsize": 13, "zorder": 6}
        ax.annotate(f"$x_{i + 1}$", place, path_effects=halo(3.6), **look)


def _finish(figure: Any, panels: Any, reach: float) -> None:
    """Show the same square everywhere, one that all panels have been computed for, and explain it once."""
    for panel in panels.flat:
        panel.set(xlim=(-reach, reach), ylim=(-reach, reach))
        panel.label_outer()
    draw_legend(figure, panels[0, 2], panels[1, 2], panels[1, 0], areas=IN_LEGEND)
