import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from matplotlib.patches import Ellipse

from mixkern import Mixture, VBMixture, plot
from mixkern.errors import KernelError, MixtureError, NotBoundError
from mixkern.kernels import GMMKernel, RBFKernel, RWMKernel

POINT = (-1.0, -0.5)
PLANE = Mixture([0.7, 0.3], [[0.0, 0.0], [3.0, 1.0]], [[[2.0, 0.8], [0.8, 1.0]], [[0.5, 0.0], [0.0, 0.1]]])
PAPER = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5]


def curves(ax):
    """Give the points of each level's curve."""
    (drawn,) = (each for each in ax.collections if isinstance(each, QuadContourSet))
    return {float(level): path.vertices for level, path in zip(drawn.levels, drawn.get_paths(), strict=True)}


def numbers(ax):
    return {float(text.get_text()) for text in ax.texts if text.get_visible()}


def centres(ax, label):
    (drawn,) = (each for each in ax.collections if each.get_label() == label)
    return drawn.get_offsets()


def test_euclidean_curves_are_circles_whose_radii_are_the_levels():
    found = curves(plot.level_curves(RBFKernel(), POINT))
    assert list(found) == PAPER
    for level, vertices in found.items():
        assert len(vertices) > 30
        assert np.linalg.norm(vertices - POINT, axis=1) == pytest.approx(level, abs=0.01)


def test_equal_round_components_make_circles_in_units_of_their_deviation():
    mixture = Mixture([0.2, 0.8], [[0.0, 0.0], [4.0, 1.0]], [np.eye(2) * 4, np.eye(2) * 4])
    found = curves(plot.level_curves(RWMKernel(mixture), (1.0, 1.0), levels=[0.5, 1.0, 2.0]))
    for level, vertices in found.items():
        assert np.linalg.norm(vertices - (1.0, 1.0), axis=1) == pytest.approx(2 * level, abs=0.02)


@pytest.mark.parametrize("kernel", [RBFKernel(), GMMKernel(PLANE), RWMKernel(PLANE)])
def test_every_point_of_a_curve_is_as_far_as_its_level_says(kernel):
    found = curves(plot.level_curves(kernel, POINT, mixture=PLANE))
    assert sum(len(vertices) for vertices in found.values()) > 1000
    for level, vertices in found.items():
        if len(vertices):
            # Between lines of the grid distances are interpolated.
            assert kernel.distance([POINT], vertices)[0] == pytest.approx(level, abs=0.05)


def test_the_curve_of_a_tight_component_is_not_lost_in_the_grid():
    mixture = Mixture([0.5, 0.5], [[0.0, 0.0], [50.0, 0.0]], [np.eye(2) * 1e-4, np.eye(2) * 100])
    (vertices,) = curves(plot.level_curves(RWMKernel(mixture), (0.0, 0.0), levels=[1.0])).values()
    assert RWMKernel(mixture).distance([[0.0, 0.0]], vertices)[0] == pytest.approx(1.0, abs=0.05)
    assert len(vertices) > 8


def test_the_point_the_components_and_the_rows_are_drawn():
    X = np.array([[9.0, 1.0], [2.0, -8.0], [np.nan, 0.0]])
    ax = plot.level_curves(RWMKernel(PLANE), POINT, X=X, title="Near")
    assert centres(ax, "point").tolist() == [list(POINT)]
    assert centres(ax, "centre, unit ellipse").tolist() == PLANE.means.tolist()
    assert centres(ax, "row").tolist() == X[:2].tolist()
    ellipses = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    areas = [np.pi * each.width * each.height / 4 for each in ellipses]
    assert areas == pytest.approx(np.pi * np.sqrt(np.linalg.det(PLANE.full_covariances)))
    assert ax.get_title() == "Near"
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["row", "centre, unit ellipse", "point"]


def test_few_labelled_rows_are_large_points_above_the_curves():
    X = PLANE.sample(60, 0)[0]
    few, many = (plot.level_curves(RWMKernel(PLANE), POINT, X=X, y=np.where(np.arange(60) < n, 0, -1)) for n in (5, 30))
    (own,) = (each for each in few.collections if each.get_label() == "class 0")
    (curve,) = (each for each in few.collections if isinstance(each, QuadContourSet))
    assert own.get_sizes()[0] >= 40
    assert own.get_alpha() is None
    assert own.get_edgecolor()[0].tolist() == [0, 0, 0, 1]
    assert own.get_zorder() > curve.get_zorder()
    (faint,) = (each for each in many.collections if each.get_label() == "class 0")
    assert faint.get_sizes()[0] < 10


def test_the_mark_of_the_point_is_left_out_or_looks_otherwise():
    plain = plot.level_curves(RBFKernel(), POINT, mark=False)
    assert "point" not in plain.get_legend_handles_labels()[1]
    assert not plain.figure.legends  # nothing is left to be explained
    ax = plot.level_curves(RWMKernel(PLANE), POINT, mark={"s": 20, "label": "query"})
    assert centres(ax, "query").tolist() == [list(POINT)]
    assert next(each for each in ax.collections if each.get_label() == "query").get_sizes() == [20]
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()] == ["centre, unit ellipse", "query"]


def test_limits_hold_three_deviations_of_the_components_the_rows_and_the_point():
    mixture = Mixture([1.0], [[0.0, 0.0]], [[[1.0, 0.0], [0.0, 4.0]]])
    ax = plot.level_curves(RWMKernel(mixture), (7.0, 0.0), X=[[0.0, -14.0]])
    assert ax.get_xlim() == pytest.approx((-3.5, 7.5))  # -3 to 7, and a twentieth
    assert ax.get_ylim() == pytest.approx((-15, 7))  # -14 to 6
    assert ax.get_aspect() == 1.0


def test_a_kernel_without_components_is_shown_as_far_as_the_largest_level():
    ax = plot.level_curves(RBFKernel(), (1.0, 2.0), levels=[1.0, 4.0])
    assert ax.get_xlim() == pytest.approx((-3.4, 5.4))
    assert ax.get_ylim() == pytest.approx((-2.4, 6.4))
    assert not ax.patches


def test_curves_are_numbered_each_of_few_and_every_second_of_many():
    assert numbers(plot.level_curves(RBFKernel(), POINT, levels=[2.0, 0.25])) == {0.25, 2.0}
    assert numbers(plot.level_curves(RBFKernel(), POINT)) <= {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}
    assert {1.0, 2.0, 3.0} <= numbers(plot.level_curves(RBFKernel(), POINT))


def test_it_draws_where_it_is_told():
    ax = plot.level_curves(RBFKernel(), POINT).figure.add_subplot()
    assert plot.level_curves(RBFKernel(), POINT, ax=ax) is ax


@pytest.mark.parametrize(
    ("point", "came"),
    [
        (3.0, "3.0"),
        ((1.0, 2.0, 3.0), r"\(1.0, 2.0, 3.0\)"),
        ("origin", "'origin'"),
        ((0.0, np.nan), r"\(0.0, nan\)"),
        (np.zeros((5, 2)), r"an array of shape \(5, 2\)"),
    ],
)
def test_a_point_is_two_numbers(point, came):
    sentence = f"point must be two numbers, but it is {came}. Pass a pair, such as \\(-1, -0.5\\), or X\\[0\\]."
    with pytest.raises(ValueError, match=sentence):
        plot.level_curves(RBFKernel(), point)


@pytest.mark.parametrize("levels", [[], [0.0, 1.0], [-1.0], [1.0, np.nan], [np.inf]])
def test_levels_are_positive_distances(levels):
    with pytest.raises(KernelError, match=r"levels must be positive distances, such as \[0.5, 1.0, 2.0\], but"):
        plot.level_curves(RBFKernel(), POINT, levels=levels)


def test_levels_out_of_the_picture_are_refused():
    with pytest.raises(
        KernelError, match=r"levels must be distances below the farthest shown, \d+.*, but begin at 1000"
    ):
        plot.level_curves(RWMKernel(PLANE), POINT, levels=[1000])


def test_what_is_not_of_the_plane_is_refused():
    wide = Mixture([1.0], [[0.0, 0.0, 0.0]], [np.eye(3)])
    with pytest.raises(MixtureError, match=r"it has 3 continuous and 0 categorical. .*mixture.marginal\(\[0, 1\]\)"):
        plot.level_curves(RWMKernel(wide), POINT)
    with pytest.raises(KernelError, match=r"X must have two columns, but its shape is \(1, 3\)"):
        plot.level_curves(RWMKernel(PLANE), POINT, X=[[0.0, 0.0, 0.0]])


def test_kernels_without_a_distance_or_a_mixture_are_refused():
    with pytest.raises(KernelError, match="kernel must have a distance, but a str has none"):
        plot.level_curves("rbf", POINT)
    with pytest.raises(NotBoundError, match="RWMKernel has no mixture"):
        plot.level_curves(RWMKernel(), POINT)
    with pytest.raises(MixtureError, match=r"density.mixture_"):
        plot.level_curves(RBFKernel(), POINT, mixture=VBMixture().fit(np.random.default_rng(0).normal(size=(30, 2))))


# ---------------------------------------------------------------- the paper's
