"""Ranks of methods: Demsar's critical difference diagram, and the leaderboard."""

from typing import Any

import numpy as np

from mixkern.plot.figure import new_figure
from mixkern.plot.style import COLOURS, GREY, INK, MARKERS
from mixkern.wording import counted
from mixkern_study.leaderboard import Leaderboard, Place
from mixkern_study.method_list import METHODS, title_of_method
from mixkern_study.protocol import StudyError
from mixkern_study.statistics import RankTest

LINE = 0.29  # inches, for each method
ROOM = 0.06  # of the span of accuracies, left and right of it
RANKS = 1.14  # where they end, in widths of the axes
OWN: dict[str, Any] = {"color": COLOURS[0], "marker": MARKERS[0], "ms": 7, "ls": "none"}
OTHER: dict[str, Any] = {"color": GREY, "marker": MARKERS[3], "ms": 5.5, "ls": "none"}


def critical_difference(test: RankTest, *, alpha: float = 0.05, value: float | None = None, ax: Any = None) -> Any:
    """Draw mean ranks on a line, best to the right, and join methods that do not differ significantly.

    Parameters
    ----------
    test : RankTest
        From :func:`~mixkern_study.rank_test`.
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


# ---------------------------------------------------------------- leaderboard


def leaderboard(board: Leaderboard, *, ax: Any = None) -> Any:
    """Draw the mean accuracy of each method, the best on top, and beside it the mean rank.

    Methods of mixkern are drawn in colour, others in grey with a marker of another shape.

    Parameters
    ----------
    board : Leaderboard
        From :func:`mixkern_study.leaderboard.leaderboard`.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import tempfile
    >>> from mixkern_study import plot
    >>> from mixkern_study import Store, run_leaderboard
    >>> from mixkern_study.leaderboard import leaderboard
    >>> small = {"data_sets": ["iris", "wine"], "budgets": [4], "choices": ["random"], "n_draws": 1, "n_jobs": 1}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/leaderboard.sqlite")
    ...     run_leaderboard(store, methods=["rwm", "svc", "bayes"], **small)
    ...     ax = plot.leaderboard(leaderboard(store.entries()))
    """
    if not board.places:
        raise StudyError(
            "There is no data set that all methods have finished. Let them compete: run_leaderboard(store)."
        )
    if ax is None:
        ax = new_figure((6.4, 1.0 + LINE * len(board.places))).subplots()
    accuracies = [place.accuracy for place in board.places]
    room = ROOM * (max(accuracies) - min(accuracies) or 1.0)
    left, right = min(accuracies) - 2 * room, max(accuracies) + 2 * room
    for y, place in enumerate(board.places):
        _line(ax, y, place, left, is_own=_is_own(place.method))
    ax.text(RANKS, -1, "mean rank", transform=ax.get_yaxis_transform(), va="center", ha="right", fontsize="small")
    ax.set_yticks(range(len(board.places)), [title_of_method(place.method) for place in board.places])
    for label, place in zip(ax.get_yticklabels(), board.places, strict=True):
        label.set_color(COLOURS[0] if _is_own(place.method) else INK)
    ax.set_xlim(left, right)
    ax.set_ylim(len(board.places) - 0.4, -0.6)
    ax.set_xlabel(f"mean accuracy in % over {counted(len(board.data_sets), 'data set')}")
    for name, look in (("mixkern", OWN), ("others", OTHER)):
        ax.plot([], [], label=name, **look)
    ax.legend(loc="lower right", frameon=False)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def _is_own(method: str) -> bool:
    return method in METHODS and METHODS[method].is_own


def _line(ax: Any, y: int, place: Place, left: float, *, is_own: bool) -> None:
    look = OWN if is_own else OTHER
    # dotted lines rather than bars: the scale does not begin at zero
    ax.plot([left, place.accuracy], [y, y], color=GREY, lw=0.8, ls=":", zorder=1)
    ax.plot([place.accuracy], [y], **look)
    ax.text(place.accuracy, y, f"   {place.accuracy:.1f}", va="center", fontsize="small", color=INK)
    rank = "" if place.rank != place.rank else f"{place.rank:.2f}"  # NaN: nothing to rank against
    ax.text(RANKS, y, rank, transform=ax.get_yaxis_transform(), va="center", ha="right", color=INK)
