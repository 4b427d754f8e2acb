"""The plane of a table's principal components, and the places of its rows."""

import numpy as np

from mixkern import Mixture
from mixkern.plot import projection as module
from mixkern.plot.projection import ROOM, MapRows, Projection, limits

MIXTURE = Mixture([0.5, 0.5], [[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]], np.stack([np.diag([1.0, 0.5, 0.1])] * 2))
ROWS = MIXTURE.sample(300, 0)[0]
CODES = (ROWS[:, 0] > 0).astype(int)


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


def test_one_column_is_a_line():
    assert Projection.of(Mixture([1.0], [[0.0]], [[[1.0]]]), np.linspace(-2, 2, 40)[:, None]).is_line


def test_rows_of_wide_mixtures_are_sampled_in_pieces(monkeypatch):
    monkeypatch.setattr(module, "N_SAMPLE", 1_000)
    monkeypatch.setattr(module, "SAMPLE_CELLS", 900)
    mixture = Mixture([1.0], [[1.0, 2.0, 3.0]], [[9.0, 1.0, 0.1]], "diag")
    plane = Projection.of(mixture, mixture.sample(500, 0)[0])
    places = module.sampled_places(plane, np.random.RandomState(0))
    assert places.shape == (1_000, 2)
    np.testing.assert_allclose(places.std(axis=0), [3.0, 1.0], rtol=0.1)


def test_all_rows_lie_inside_with_a_margin():
    found = MapRows.of(MIXTURE, ROWS, CODES, np.where(np.arange(300) < 20, CODES, -1))
    left, right, bottom, top = found.box
    room = ROOM / (1 + 2 * ROOM) * (1 - 1e-4)
    for places in (found.places, found.labelled):
        assert ((places - [left, bottom]) / [right - left, top - bottom] > room).all()
        assert (([right, top] - places) / [right - left, top - bottom] > room).all()
    assert found.n_far == 0
    expected = found.plane.places(ROWS[found.at], np.random.RandomState(0))
    np.testing.assert_allclose(found.places, expected)


def test_rows_far_away_are_moved_to_the_edge_and_counted():
    far = np.vstack([ROWS, [[500.0, 0.0, 0.0]]])
    found = MapRows.of(MIXTURE, far, np.append(CODES, 1), np.append(np.full(300, -1), 1))
    assert found.n_far == 1
    assert found.box[1] - found.box[0] < 100
    assert (found.labelled[:, 0] < found.box[1]).all()
    np.testing.assert_allclose(found.labelled[0], found.places[found.at == 300][0])


def test_limits_of_equal_places():
    left, right, bottom, top = limits(np.ones((4, 2)))
    assert left < 1 < right
    assert bottom < 1 < top


def test_names_of_classes_lie_among_their_rows():
    found = MapRows.of(MIXTURE, ROWS, CODES, np.full(300, -1))
    left, right, bottom, top = found.box
    for code, (x, y) in found.class_places(2).items():
        place = [left + x * (right - left), bottom + y * (top - bottom)]
        own, other = (np.linalg.norm(found.places[found.predicted == c] - place, axis=1) for c in (code, 1 - code))
        assert own.min() < other.min()


def test_classes_without_a_row_have_no_place():
    found = MapRows.of(MIXTURE, ROWS, CODES, np.full(300, -1))
    assert set(found.class_places(5)) == {0, 1}
