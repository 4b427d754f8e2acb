"""How sure predictions are."""

import numpy as np
import pytest

from mixkern.errors import OptionError
from mixkern.plot.confidence import coloured_classes, confidence


def heights(ax):
    return sum(patch.get_height() for container in ax.containers for patch in container)


def test_every_row_is_counted():
    shares = np.random.RandomState(0).dirichlet(np.ones(3), size=200)
    ax = confidence(shares)
    assert heights(ax) == 200
    assert all(tick == int(tick) for tick in ax.get_yticks())


def test_certain_and_undecided_rows_are_inside():
    ax = confidence([[0.5, 0.5], [0.0, 1.0]], ["no", "yes"])
    assert heights(ax) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["no", "yes"]


def test_twenty_classes_have_their_own_colours():
    own, others = coloured_classes(np.arange(20), 20)
    assert (len(own), len(others)) == (20, 0)


def test_many_classes_share_a_colour():
    chosen = np.repeat(np.arange(30), np.arange(30, 0, -1))
    own, others = coloured_classes(chosen, 30)
    assert own.tolist() == list(range(19))
    assert others.tolist() == list(range(19, 30))
    ax = confidence(np.eye(30)[chosen])
    assert heights(ax) == len(chosen)
    assert ax.get_legend().get_texts()[-1].get_text() == "others"


def test_what_is_wrong_is_refused():
    with pytest.raises(OptionError, match="a column for each of two classes or more"):
        confidence([0.5, 0.5])
