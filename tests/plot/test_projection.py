"""A table of any columns in the plane."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from mixkern import Mixture
from mixkern.plot import projection as module
from mixkern.plot.projection import Projection, projection

MIXTURE = Mixture([0.5, 0.5], [[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]], np.stack([np.diag([1.0, 0.5, 0.1])] * 2))
ROWS = MIXTURE.sample(300, 0)[0]
CODES = (ROWS[:, 0] > 0).astype(int)


def points(ax):
    return [each.get_offsets() for each in ax.collections if isinstance(each, PathCollection)]


def test_directions_are_the_principal_ones():
    plane = Projection.of(MIXTURE, ROWS)
    assert abs(plane.axes[0, 0]) > 0.99
    assert abs(plane.axes[1, 1]) > 0.95
    assert plane.shares[0] > plane.shares[1] > 0
    places = plane.places(ROWS, np.random.RandomState(0))
    assert np.allclose(places, (ROWS - ROWS.mean(axis=0)) @ plane.axes.T, atol=1e-6)


def test_centres_lie_among_their_rows():
    plane = Projection.of(MIXTURE, ROWS)
    places = plane.places(ROWS, np.random.RandomState(0))
    for k, centre in enumerate(plane.centres()):
        assert np.allclose(centre, places[k == CODES].mean(axis=0), atol=0.3)


def test_categories_and_gaps_have_a_place():
    mixture = Mixture([0.5, 0.5], np.empty((2, 0)), np.empty((2, 0, 0)), categories=[[[0.9, 0.1], [0.1, 0.9]]] * 2)
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [np.nan, 1.0], [0.0, 1.0]])
    places = Projection.of(mixture, rows).places(rows, np.random.RandomState(0))
    assert np.isfinite(places).all()


def test_one_column_is_spread_at_random():
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]])
    ax = projection(mixture, np.linspace(-2, 2, 40)[:, None], np.zeros(40, int), np.full(40, -1))
    assert Projection.of(mixture, np.linspace(-2, 2, 40)[:, None]).is_line
    assert ax.get_ylabel() == "random"


def test_all_labelled_rows_are_drawn_and_some_of_the_others(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 50)
    given = np.where(np.arange(300) < 20, CODES, -1)
    rows, *labelled = points(projection(MIXTURE, ROWS, CODES, given))
    assert len(rows) == 50
    assert sum(map(len, labelled)) == 20


def test_numbers_of_components_do_not_cover_each_other():
    twice = Mixture([0.5, 0.5], [[0.0, 0.0], [0.01, 0.0]], np.stack([np.eye(2)] * 2))
    ax = projection(twice, twice.sample(60, 0)[0], np.zeros(60, int), np.full(60, -1), named_components=[1, 0])
    assert [text.get_text() for text in ax.texts] == ["1"]


@pytest.mark.parametrize("rows", [np.zeros((5, 3)), np.zeros((1, 3))])
def test_rows_that_do_not_differ_can_be_drawn(rows):
    projection(MIXTURE, rows, np.zeros(len(rows), int), np.full(len(rows), -1)).figure.canvas.draw()


def test_rows_of_wide_mixtures_are_sampled_in_pieces(monkeypatch):
    monkeypatch.setattr(module, "N_SAMPLE", 1_000)
    monkeypatch.setattr(module, "SAMPLE_CELLS", 900)
    mixture = Mixture([1.0], [[1.0, 2.0, 3.0]], [[9.0, 1.0, 0.1]], "diag")
    plane = Projection.of(mixture, mixture.sample(500, 0)[0])
    places = module._sampled_places(plane, np.random.RandomState(0))
    assert places.shape == (1_000, 2)
    np.testing.assert_allclose(places.std(axis=0), [3.0, 1.0], rtol=0.1)
