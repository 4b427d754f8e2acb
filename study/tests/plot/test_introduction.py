import re

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from matplotlib.patches import Ellipse

from mixkern import datasets
from mixkern_study.plot.introduction import introduction, two_labels


@pytest.fixture(scope="module")
def rows():
    return datasets.make_two_rings(800, random_state=0)


@pytest.fixture(scope="module")
def panels():
    return np.reshape(introduction().axes, (2, 3))


def accuracy(panel):
    return float(re.fullmatch(r"R\w+ kernel: (\S+) % correct", panel.get_title())[1])


def points(ax, label):
    (drawn,) = (each for each in ax.collections if each.get_label() == label)
    return np.asarray(drawn.get_offsets())


def line(ax):
    (drawn,) = (each for each in ax.collections if isinstance(each, QuadContourSet))
    (path,) = drawn.get_paths()
    return path.vertices


def test_the_labelled_rows_are_the_central_one_and_one_at_the_median(rows):
    X, truth = rows
    chosen = two_labels(X, truth)
    assert truth[chosen].tolist() == [0, 1]
    far = [np.linalg.norm(X[truth == i] - X[truth == i].mean(axis=0), axis=1) for i in (0, 1)]
    places = [np.linalg.norm(X[row] - X[truth == i].mean(axis=0)) for i, row in enumerate(chosen)]
    assert places[0] == far[0].min()
    assert np.mean(far[1] < places[1]) == pytest.approx(0.5, abs=0.005)


def test_the_rwm_kernel_succeeds_where_the_rbf_kernel_fails(panels):
    assert 60 <= accuracy(panels[0, 2]) <= 70  # the paper: about 60
    assert 88 <= accuracy(panels[1, 2]) <= 92.5  # the paper: about 91; the best possible is 92.5


def test_panels_show_distances_and_decisions(panels, rows):
    titles = [[panel.get_title() for panel in line] for line in panels[:, :2]]
    assert titles[0] == ["Euclidean distance from $x_1$", "Euclidean distance from $x_2$"]
    assert titles[1] == ["RWM distance from $x_1$", "RWM distance from $x_2$"]
    chosen = rows[0][two_labels(*rows)]
    for panel in panels[:, 2]:
        assert np.sort(points(panel, "support vector"), axis=0).tolist() == np.sort(chosen, axis=0).tolist()
        assert [points(panel, f"class {i}, labelled")[0].tolist() for i in (0, 1)] == chosen.tolist()
    assert [[any(isinstance(p, Ellipse) for p in ax.patches) for ax in line] for line in panels] == [
        [False] * 3,
        [True] * 3,
    ]
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in panels.flat}) == 1


def test_the_rows_with_labels_stand_in_place_of_crosses(panels, rows):
    chosen = rows[0][two_labels(*rows)].tolist()
    for panel in panels[:, :2].flat:
        assert "point" not in panel.get_legend_handles_labels()[1]
        lone = [each.get_offsets()[0].tolist() for each in panel.collections if len(each.get_offsets()) == 1]
        assert [place for place in lone if place in chosen] == chosen


def test_one_legend_explains_all_panels_in_one_line(panels):
    (legend,) = panels[0, 0].figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:4] == ["class 0", "class 1", "class 0, labelled", "class 1, labelled"]
    assert texts[4:] == ["support vector", "boundary", "centre, unit ellipse", "row"]
    box = legend.get_window_extent()
    assert box.height < 0.5 * legend.figure.dpi
    assert box.width < legend.figure.bbox.width


def test_euclidean_curves_are_circles_around_their_row(panels, rows):
    for panel, row in zip(panels[0, :2], two_labels(*rows), strict=True):
        (drawn,) = (each for each in panel.collections if isinstance(each, QuadContourSet))
        vertices = dict(zip(drawn.levels, drawn.get_paths(), strict=True))[1.0].vertices
        assert np.linalg.norm(vertices - rows[0][row], axis=1) == pytest.approx(1, abs=0.01)


def test_one_boundary_is_the_bisector_the_other_surrounds_the_narrow_process(panels, rows):
    first, second = rows[0][two_labels(*rows)]
    bisector, ring = line(panels[0, 2]), line(panels[1, 2])
    near, far = (np.linalg.norm(bisector - place, axis=1) for place in (first, second))
    np.testing.assert_allclose(near, far, atol=0.01)
    np.testing.assert_allclose(ring[0], ring[-1])  # closed
    radius = np.linalg.norm(ring, axis=1)
    assert 0.4 < radius.min() < radius.max() < 1.3


@pytest.mark.slow
def test_other_rows_give_another_picture_and_the_same_ones_the_same():
    titles = [introduction(n=200, random_state=seed).axes[5].get_title() for seed in (1, 1, 2)]
    assert titles[0] == titles[1] != titles[2]
