import numpy as np
import pytest

import mixkern_study
from mixkern_study import plot

TEST = mixkern_study.rank_test(np.array([[4.0, 3.0, 2.0, 1.0]] * 3 + [[3.0, 4.0, 1.0, 2.0]] * 3), ["a", "b", "c", "d"])


def texts(ax):
    return [text.get_text() for text in ax.texts]


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


def test_it_draws_where_it_is_told():
    ax = plot.critical_difference(TEST)
    assert plot.critical_difference(TEST, ax=ax) is ax


@pytest.mark.parametrize("k", [2, 3, 9])
def test_any_number_of_methods(k):
    scores = np.random.RandomState(0).uniform(size=(8, k))
    ax = plot.critical_difference(mixkern_study.rank_test(scores, [f"m{i}" for i in range(k)]))
    assert sum("m" in text for text in texts(ax)) == k
