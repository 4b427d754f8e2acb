"""A table of any columns in the plane."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba

from mixkern import Mixture
from mixkern.plot import projection as projection_module
from mixkern.plot.projection import MapRows
from mixkern.plot.style import DARK, LIGHT, UNLABELLED
from mixkern.plot.table_map import draw_map, number_places, table_map

MIXTURE = Mixture([0.5, 0.5], [[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]], np.stack([np.diag([1.0, 0.5, 0.1])] * 2))
ROWS = MIXTURE.sample(300, 0)[0]
CODES = (ROWS[:, 0] > 0).astype(int)


def drawn(ax):
    """Return the points by z-order: rows (2) and labelled rows (4)."""
    found = [each for each in ax.collections if isinstance(each, PathCollection)]
    return {z: [each for each in found if each.get_zorder() == z] for z in (2, 4)}


def test_one_column_is_spread_at_random():
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]])
    ax = table_map(mixture, np.linspace(-2, 2, 40)[:, None], np.zeros(40, int), np.full(40, -1))
    assert ax.get_ylabel() == "random"


def test_all_labelled_rows_are_drawn_and_some_of_the_others(monkeypatch):
    monkeypatch.setattr(projection_module, "MOST_ROWS", 50)
    given = np.where(np.arange(300) < 20, CODES, -1)
    points = drawn(table_map(MIXTURE, ROWS, CODES, given))
    assert sum(len(each.get_offsets()) for each in points[2]) == 50
    assert sum(len(each.get_offsets()) for each in points[4]) == 20


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_points_have_exactly_the_colours_and_shapes_of_their_classes(theme):
    codes = np.arange(300) % 20
    found = MapRows.of(MIXTURE, ROWS, codes, np.where(np.arange(300) < 60, codes, -1))
    points = drawn(draw_map(found, theme=theme))
    for own, places in ((found.predicted, points[2]), (found.given, points[4])):
        colours = {}
        for each in places:
            (colour,) = {tuple(value) for value in each.get_facecolor()}
            for place in each.get_offsets():
                colours[tuple(place)] = colour
        rows = found.places if places is points[2] else found.labelled
        assert all(colours[tuple(place)] == to_rgba(theme.classes[code]) for place, code in zip(rows, own, strict=True))


def test_rows_may_have_other_colours_than_their_predictions():
    found = MapRows.of(MIXTURE, ROWS, CODES, np.full(300, -1))
    points = drawn(draw_map(found, codes=np.full(300, -1), names=["a", "b"]))[2]
    assert {tuple(each.get_facecolor()[0]) for each in points} == {to_rgba(UNLABELLED)}
    assert [each.get_label() for each in points if not each.get_label().startswith("_")] == ["unlabelled"]


def test_rows_with_large_points_may_have_no_small_ones():
    given = np.where(np.arange(300) < 20, CODES, -1)
    found = MapRows.of(MIXTURE, ROWS, CODES, given)
    is_small = given[found.at] < 0
    for codes, expected in (
        (np.full(300, -1), ["unlabelled", "class a", "class b"]),
        (found.predicted, ["class a", "class b", "class a, labelled", "class b, labelled"]),
    ):
        ax = draw_map(found, codes=codes, is_small=is_small, names=["a", "b"])
        assert sum(len(each.get_offsets()) for each in drawn(ax)[2]) == 280
        assert ax.get_legend_handles_labels()[1] == expected


def test_numbers_of_components_do_not_cover_each_other():
    twice = Mixture([0.5, 0.5], [[0.0, 0.0], [0.01, 0.0]], np.stack([np.eye(2)] * 2))
    ax = table_map(twice, twice.sample(60, 0)[0], np.zeros(60, int), np.full(60, -1), named_components=[1, 0])
    assert [text.get_text() for text in ax.texts] == ["1"]
    assert number_places(np.array([[0.5, 0.5], [9.0, 0.5]]), [0, 1], (0.0, 1.0, 0.0, 1.0)) == {0: (0.5, 0.5)}


@pytest.mark.parametrize("rows", [np.zeros((5, 3)), np.zeros((1, 3))])
def test_rows_that_do_not_differ_can_be_drawn(rows):
    table_map(MIXTURE, rows, np.zeros(len(rows), int), np.full(len(rows), -1)).figure.canvas.draw()
