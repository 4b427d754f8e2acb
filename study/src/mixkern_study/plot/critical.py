"""Which methods differ, in one line: Demsar's critical difference diagram."""

from typing import Any

import numpy as np

from mixkern.plot.figure import new_figure
from mixkern.plot.style import INK
from mixkern_study.statistics import RankTest


def critical_difference(test: RankTest, *, alpha: float = 0.05, value: float | None = None, ax: Any = None) -> Any:
    """Draw mean ranks on a line, best to the right, and join methods that do not differ significantly.

    Parameters
    ----------
    test : RankTest
        From :func:`mixkern_rank_test`.
    alpha : float, default=0.05
        Level of significance.
    value : float, default=None
        The critical difference, where another than Nemenyi's exact one is to be drawn, such as a published one.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from mixkern_study import plot
    >>> from mixkern_study import published_accuracies, rank_test
    >>> table = published_accuracies(1)
    >>> scores = [[cell.percent for cell in row.values()] for row in table.values()]
    >>> ax = plot.critical_difference(rank_test(scores, ["RWM", "GMM", "RBF", "LAP"]), alpha=0.01)
    """
    k = len(test.methods)
    if ax is None:
        ax = new_figure((6.4, 0.9 + 0.34 * k)).subplots()
    limit = test.critical_difference(alpha) if value is None else value
    order = np.argsort(test.ranks, kind="stable")
    n_right = (k + 1) // 2
    for place, i in enumerate(order):
        is_right = place < n_right
        depth = 1.1 + 0.62 * (place if is_right else k - 1 - place)
        end = 0.8 if is_right else k + 0.2
        rank = test.ranks[i]
        ax.plot([rank, rank, end], [0, depth, depth], color=INK, lw=1, solid_capstyle="butt")
        text = f"{test.methods[i]}  {rank:.2f}" if is_right else f"{rank:.2f}  {test.methods[i]}"
        ax.text(end - 0.05 if is_right else end + 0.05, depth, text, ha="left" if is_right else "right", va="center")
    for level, group in enumerate(test.groups(alpha, limit)):
        inside = [test.ranks[test.methods.index(name)] for name in group]
        height = 0.32 + 0.22 * level
        ax.plot([min(inside) - 0.03, max(inside) + 0.03], [height, height], color=INK, lw=3.5, solid_capstyle="butt")
    _scale(ax, k, limit, alpha)
    return ax


def _scale(ax: Any, k: int, limit: float, alpha: float) -> None:
    """Draw the line of ranks, and above it how long the critical difference is."""
    ax.plot([1, k], [0, 0], color=INK, lw=1)
    for rank in range(1, k + 1):
        ax.plot([rank, rank], [0, -0.14], color=INK, lw=1)
        ax.text(rank, -0.24, str(rank), ha="center", va="bottom")
    left = k - limit
    ax.plot([left, k], [-1.0, -1.0], color=INK, lw=1.5)
    for end in (left, k):
        ax.plot([end, end], [-1.1, -0.9], color=INK, lw=1.5)
    ax.text(k - limit / 2, -1.14, f"critical difference {limit:.2f} ($\\alpha$ = {alpha:g})", ha="center", va="bottom")
    ax.set_xlim(k + 0.9, 0.1)  # rank 1, the best, to the right
    ax.set_ylim(1.5 + 0.62 * ((k - 1) // 2), -1.7)
    ax.set_axis_off()
