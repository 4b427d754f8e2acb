"""The leaderboard at one look: who is right most often, and how methods rank."""

from typing import Any

from mixkern.errors import StudyError
from mixkern.plot.figure import new_figure
from mixkern.plot.style import COLOURS, GREY, INK, MARKERS
from mixkern.wording import counted
from mixkern_study.leaderboard import METHODS, Leaderboard, Place
from mixkern_study.leaderboard.table import title_of_method

LINE = 0.29  # inches, for each method
ROOM = 0.06  # of the span of accuracies, left and right of it
RANKS = 1.14  # where they end, in widths of the axes
OWN: dict[str, Any] = {"color": COLOURS[0], "marker": MARKERS[0], "ms": 7, "ls": "none"}
OTHER: dict[str, Any] = {"color": GREY, "marker": MARKERS[3], "ms": 5.5, "ls": "none"}


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
    >>> from mixkern_study.leaderboard import LeaderboardStore, leaderboard, run_leaderboard
    >>> small = {"data_sets": ["iris", "wine"], "budgets": [4], "choices": ["random"], "n_draws": 1, "n_jobs": 1}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = LeaderboardStore(f"{folder}/leaderboard.sqlite")
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
    # dots that lead the eye, rather than bars: the scale does not begin at zero
    ax.plot([left, place.accuracy], [y, y], color=GREY, lw=0.8, ls=":", zorder=1)
    ax.plot([place.accuracy], [y], **look)
    ax.text(place.accuracy, y, f"   {place.accuracy:.1f}", va="center", fontsize="small", color=INK)
    rank = "" if place.rank != place.rank else f"{place.rank:.2f}"  # NaN: nothing to rank against
    ax.text(RANKS, y, rank, transform=ax.get_yaxis_transform(), va="center", ha="right", color=INK)
