"""Critical difference diagram and leaderboard."""

import io

import numpy as np
import pytest
from matplotlib.colors import to_hex

import mixkern_study
from mixkern.plot.style import COLOURS
from mixkern_study import Entry, plot
from mixkern_study.leaderboard import leaderboard
from mixkern_study.protocol import StudyError

TEST = mixkern_study.rank_test(np.array([[4.0, 3.0, 2.0, 1.0]] * 3 + [[3.0, 4.0, 1.0, 2.0]] * 3), ["a", "b", "c", "d"])


def texts(ax):
    return [text.get_text().strip() for text in ax.texts]


def test_every_method_stands_there_with_its_rank():
    found = texts(plot.critical_difference(TEST))
    assert {"a  1.50", "b  1.50", "3.50  c", "3.50  d"} <= set(found)
    assert {"1", "2", "3", "4"} <= set(found)


def test_groups_are_joined_and_the_difference_is_drawn():
    ax = plot.critical_difference(TEST, alpha=0.01, value=0.5)
    joined = [line for line in ax.lines if line.get_linewidth() > 3]
    assert [sorted(np.round(line.get_xdata(), 2)) for line in joined] == [[1.47, 1.53], [3.47, 3.53]]
    assert any("0.50" in text and "0.01" in text for text in texts(ax))


def test_the_best_rank_is_to_the_right():
    low, high = plot.critical_difference(TEST).get_xlim()
    assert low > high


def test_the_exact_difference_is_the_default():
    ax = plot.critical_difference(TEST, alpha=0.1)
    assert any(f"{TEST.critical_difference(0.1):.2f}" in text for text in texts(ax))


def test_the_diagram_draws_on_given_axes():
    ax = plot.critical_difference(TEST)
    assert plot.critical_difference(TEST, ax=ax) is ax


@pytest.mark.parametrize("k", [2, 3, 9])
def test_any_number_of_methods(k):
    scores = np.random.RandomState(0).uniform(size=(8, k))
    ax = plot.critical_difference(mixkern_study.rank_test(scores, [f"m{i}" for i in range(k)]))
    assert sum("m" in text for text in texts(ax)) == k


SCORES = {"mixture_svc": (0.9, 0.8), "svc": (0.8, 0.85), "mine": (0.7, 0.75)}


def board(n_sets=2):
    plain = {"budget": 4, "choice": "random", "draw": 0, "settings": "", "n_labelled": 8, "n_seen": 2}
    plain |= {"structure_s": 1.0, "learning_s": 0.5, "balanced_accuracy": 0.5}
    return leaderboard(
        Entry(data_set=name, method=method, accuracy=score, **plain)
        for method, scores in SCORES.items()
        for name, score in list(zip("ab", scores, strict=True))[:n_sets]
    )


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


def test_the_leaderboard_draws_on_given_axes():
    ax = plot.leaderboard(board())
    assert plot.leaderboard(board(), ax=ax) is ax


def test_nothing_to_draw():
    with pytest.raises(StudyError, match="no data set that all methods have finished"):
        plot.leaderboard(leaderboard([]))
