from functools import cache

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet

from mixkern import GMMKernel, Mixture, RWMKernel
from mixkern.errors import OptionError
from mixkern_study import plot

POINT = (-1.0, -0.5)
PAPER = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5]


@cache
def drawn(which):
    """Return a figure of the paper, which several tests look at."""
    return plot.paper_levels(which)


def curves(ax):
    """Give the points of each level's curve."""
    (found,) = (each for each in ax.collections if isinstance(each, QuadContourSet))
    return {float(level): path.vertices for level, path in zip(found.levels, found.get_paths(), strict=True)}


def centres(ax, label):
    (found,) = (each for each in ax.collections if each.get_label() == label)
    return found.get_offsets()


@pytest.mark.parametrize(
    ("which", "titles", "point"),
    [
        ("distances", ["Euclidean", "GMM", "RWM"], (-1.0, -0.5)),
        (
            "scale",
            ["Covariances I, I, I", "Covariances I, 0.25 I, 0.25 I", "Covariances I, 0.5 I, 2.5 I"],
            (2.0, 4.0),
        ),
        (
            "weights",
            ["Weights 1/3, 1/3, 1/3", "Weights 0.9, 0.05, 0.05", "Weights 0.05, 0.475, 0.475"],
            (2.0, 4.0),
        ),
    ],
)
def test_the_paper_s_figures_have_three_panels_in_the_same_units(which, titles, point):
    panels = drawn(which).axes
    assert [panel.get_title() for panel in panels] == titles
    assert all(centres(panel, "point").tolist() == [list(point)] for panel in panels)
    assert all(list(curves(panel)) == PAPER for panel in panels)
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in panels}) == 1


def test_panels_of_distances_show_their_kernel():
    euclidean, gmm, rwm = drawn("distances").axes
    assert np.linalg.norm(curves(euclidean)[1.0] - POINT, axis=1) == pytest.approx(1.0, abs=0.01)
    covariances = [[[0.46, 0.04], [0.04, 0.54]], [[0.34, -0.24], [-0.24, 0.33]]]
    mixture = Mixture([0.5, 0.5], [[-0.78, -0.76], [-0.76, 0.75]], covariances)
    for panel, kernel in ((gmm, GMMKernel(mixture)), (rwm, RWMKernel(mixture))):
        assert kernel.distance([POINT], curves(panel)[2.0])[0] == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(("panel", "factors"), [(0, (1, 1, 1)), (1, (1, 0.25, 0.25)), (2, (1, 0.5, 2.5))])
def test_panels_of_scale_show_their_mixture(panel, factors):
    ax = drawn("scale").axes[panel]
    kernel = RWMKernel(Mixture([1 / 3] * 3, [[1, 5], [5, 3], [1, 1]], [np.eye(2) * f for f in factors]))
    assert kernel.distance([[2.0, 4.0]], curves(ax)[2.0])[0] == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize(
    ("panel", "weights"), [(0, (1 / 3, 1 / 3, 1 / 3)), (1, (0.9, 0.05, 0.05)), (2, (0.05, 0.475, 0.475))]
)
def test_panels_of_weights_show_their_mixture(panel, weights):
    ax = drawn("weights").axes[panel]
    covariances = [[[8.13, 7.88], [7.88, 8.13]], [[7.00, -3.46], [-3.46, 3.00]], [[2.25, 0], [0, 4]]]
    kernel = RWMKernel(Mixture(weights, [[1, 5], [5, 3], [1, 1]], covariances))
    assert kernel.distance([[2.0, 4.0]], curves(ax)[2.0])[0] == pytest.approx(2.0, abs=0.05)


def test_other_figures_are_refused():
    sentence = "which must be one of 'distances', 'scale', 'weights', but it is 'weight'. Did you mean 'weights'?"
    with pytest.raises(OptionError) as caught:
        plot.paper_levels("weight")
    assert str(caught.value) == sentence
