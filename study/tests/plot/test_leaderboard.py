import io

import pytest
from matplotlib.colors import to_hex

from mixkern.errors import StudyError
from mixkern.plot.style import COLOURS
from mixkern_study import plot
from mixkern_study.leaderboard import Entry, leaderboard

SCORES = {"mixture_svc": (0.9, 0.8), "svc": (0.8, 0.85), "mine": (0.7, 0.75)}


def board(n_sets=2):
    plain = {"budget": 4, "choice": "random", "draw": 0, "settings": "", "n_labelled": 8, "n_seen": 2}
    plain |= {"structure_s": 1.0, "learning_s": 0.5, "balanced_accuracy": 0.5}
    return leaderboard(
        Entry(data_set=name, method=method, accuracy=score, **plain)
        for method, scores in SCORES.items()
        for name, score in list(zip("ab", scores, strict=True))[:n_sets]
    )


def texts(ax):
    return [text.get_text().strip() for text in ax.texts]


def test_methods_stand_in_their_order_with_accuracy_and_rank():
    ax = plot.leaderboard(board())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["MixtureSVC", "SVC", "mine"]
    assert {"85.0", "82.5", "72.5", "1.50", "3.00", "mean rank"} <= set(texts(ax))
    bottom, top = ax.get_ylim()
    assert bottom > top  # the best is on top
    assert "2 data sets" in ax.get_xlabel()


def test_own_methods_are_in_colour_and_of_another_shape():
    ax = plot.leaderboard(board())
    points = [line for line in ax.lines if line.get_marker() != "None" and len(line.get_xdata())]
    assert [to_hex(point.get_color()) == COLOURS[0].lower() for point in points] == [True, False, False]
    assert points[0].get_marker() != points[1].get_marker()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mixkern", "others"]


def test_one_data_set_has_no_ranks():
    ax = plot.leaderboard(board(1))
    assert "1.50" not in texts(ax)
    ax.figure.savefig(io.BytesIO())


def test_it_draws_where_it_is_told():
    ax = plot.leaderboard(board())
    assert plot.leaderboard(board(), ax=ax) is ax


def test_nothing_to_draw():
    with pytest.raises(StudyError, match="no data set that all methods have finished"):
        plot.leaderboard(leaderboard([]))
