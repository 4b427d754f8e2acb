import numpy as np
import pytest
from matplotlib.patches import Ellipse
from scipy.stats import multivariate_normal, norm

from mixkern import Mixture, VBMixture, datasets, plot
from mixkern.density import BoundRecorder
from mixkern.errors import MixtureError
from mixkern.plot.plane import CENTRES

WEIGHTS = [0.7, 0.3]
MEANS = [[0.0, 0.0], [3.0, 1.0]]
COVARIANCES = [[[2.0, 0.8], [0.8, 1.0]], [[0.5, 0.0], [0.0, 0.1]]]
PLANE = Mixture(WEIGHTS, MEANS, COVARIANCES)


def wide(kind="full"):
    """Three components in four continuous columns and one categorical column."""
    random = np.random.default_rng(0)
    factors = random.normal(size=(3, 4, 6))
    full = factors @ factors.transpose(0, 2, 1)
    covariances = {
        "full": full,
        "tied": full[0],
        "diag": np.diagonal(full, axis1=1, axis2=2),
        "spherical": np.array([1.0, 2.0, 0.5]),
    }
    tables = [[[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]]
    return Mixture([0.5, 0.3, 0.2], random.normal(size=(3, 4)), covariances[kind], kind, tables)


def ellipses(ax):
    return [patch for patch in ax.patches if isinstance(patch, Ellipse)]


def centres(ax):
    return next(c for c in ax.collections if c.get_label() == CENTRES)


def contours(ax):
    """The filled contours and the lines."""
    return [c for c in ax.collections if hasattr(c, "levels")]


# ---------------------------------------------------------------- ellipses and centres


def test_the_axes_of_an_ellipse_are_roots_of_eigenvalues():
    for ellipse, covariance in zip(ellipses(plot.density(PLANE)), COVARIANCES, strict=True):
        small, large = np.sqrt(np.linalg.eigvalsh(covariance))
        assert ellipse.width == pytest.approx(2 * large)
        assert ellipse.height == pytest.approx(2 * small)


def test_an_ellipse_is_at_mahalanobis_distance_one():
    for ellipse, mean, covariance in zip(ellipses(plot.density(PLANE)), MEANS, COVARIANCES, strict=True):
        edge = ellipse.get_patch_transform().transform(np.array([[1, 0], [0, 1], [-0.6, 0.8]])) - mean
        sq_distance = np.einsum("ij,ij->i", edge @ np.linalg.inv(covariance), edge)
        np.testing.assert_allclose(sq_distance, 1)


def test_crosses_lie_on_the_means_and_tell_the_weight():
    light_first = Mixture(WEIGHTS[::-1], MEANS, COVARIANCES)
    drawn = centres(plot.density(light_first))
    np.testing.assert_array_equal(drawn.get_offsets(), MEANS[::-1])  # the light one is drawn last, on top
    heavy, light = drawn.get_sizes()
    assert light / heavy == pytest.approx(3 / 7)
    assert drawn.get_alpha()[0] == 1.0
    assert drawn.get_alpha()[1] == pytest.approx(0.35 + 0.65 * 3 / 7)


def test_even_a_component_of_hardly_any_weight_is_seen():
    drawn = centres(plot.density(Mixture([1 - 1e-9, 1e-9], MEANS, COVARIANCES)))
    assert drawn.get_sizes()[1] == 25
    assert drawn.get_alpha()[1] == pytest.approx(0.35)


# ---------------------------------------------------------------- contours


def test_contours_lie_where_the_mixture_has_that_log_density():
    fills, lines = contours(plot.density(PLANE, levels=[-3.0, -5.0]))
    np.testing.assert_array_equal(lines.levels, [-5, -3])
    assert fills.levels[-1] == pytest.approx(PLANE.log_density(MEANS).max(), abs=1e-3)
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        np.testing.assert_allclose(PLANE.log_density(path.vertices), level, atol=0.02)


def test_contours_of_one_gaussian_are_evenly_spaced_and_the_outermost_encloses_99_per_cent():
    gaussian = Mixture([1.0], [[5.0, -2.0]], [[[2.0, 0.3], [0.3, 0.5]]])
    _, lines = contours(plot.density(gaussian, levels=4))
    below_peak = lines.levels - gaussian.log_density([[5.0, -2.0]])
    # The share outside the contour at exp(-t) of the peak is exp(-t), in two dimensions.
    np.testing.assert_allclose(below_peak, np.log(0.01) * np.array([1, 0.75, 0.5, 0.25]), atol=0.05)


def test_a_tight_component_does_not_fall_between_the_lines_of_the_grid():
    needle = Mixture([0.9, 0.1], [[0.0, 0.0], [3.0, 0.0]], [[1.0, 1.0], [1e-10, 1e-10]], "diag")
    fills, lines = contours(plot.density(needle))
    assert fills.levels[-1] == pytest.approx(needle.log_density([[3.0, 0.0]])[0], abs=1e-6)
    # And it leaves contours to the other one.
    assert (lines.levels < needle.log_density([[0.0, 0.0]])).sum() >= 4


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        (0, "levels must be at least 1, or a list of log densities, but it is 0."),
        ([5.0], r"levels must be log densities below the peak, -1\.\d+, but they are \[5.0\]"),
        ([], r"but they are \[\]"),
    ],
)
def test_levels_that_cannot_be(levels, sentence):
    with pytest.raises(MixtureError, match=sentence):
        plot.density(PLANE, levels=levels)


def test_one_level_is_enough():
    fills, lines = contours(plot.density(PLANE, levels=1))
    assert (len(fills.levels), len(lines.levels)) == (2, 1)


# ---------------------------------------------------------------- marginals


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_the_marginal_is_exact(kind):
    mixture = wide(kind)
    points = np.random.default_rng(1).normal(size=(20, 2))
    direct = sum(
        weight * multivariate_normal(mean[[3, 1]], covariance[np.ix_([3, 1], [3, 1])]).pdf(points)
        for weight, mean, covariance in zip(mixture.weights, mixture.means, mixture.full_covariances, strict=True)
    )
    np.testing.assert_allclose(mixture.marginal([3, 1]).log_density(points), np.log(direct))


def test_the_marginal_is_the_density_of_rows_with_gaps():
    mixture = wide()
    rows = np.full((5, 5), np.nan)
    rows[:, [0, 2]] = np.random.default_rng(2).normal(size=(5, 2))
    np.testing.assert_allclose(mixture.marginal([0, 2]).log_density(rows[:, [0, 2]]), mixture.log_density(rows))


def test_twenty_thousand_columns_need_no_matrices():
    d = 20_000
    mixture = Mixture([1.0], np.zeros((1, d)), np.ones((1, d)), "diag")
    shown = mixture.marginal([7, d - 1])
    assert shown.log_density([[1.0, 2.0]])[0] == pytest.approx(norm.logpdf([1, 2]).sum())
    assert "full_covariances" not in vars(mixture)


def test_chosen_columns_are_drawn_and_named():
    mixture = wide()
    names = ["age", "height", "weight", "income", "town"]
    X, _ = mixture.sample(30, random_state=0)
    ax = plot.density(mixture, X, columns=("income", 1), names=names)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("income", "height")
    np.testing.assert_array_equal(centres(ax).get_offsets(), mixture.means[:, [3, 1]])
    rows = next(c for c in ax.collections if c.get_label() == "unlabelled")
    np.testing.assert_array_equal(rows.get_offsets(), X[:, [3, 1]])


def test_categories_are_integrated_out_unasked():
    mixed = Mixture(WEIGHTS, MEANS, COVARIANCES, categories=[[[0.2, 0.8], [0.9, 0.1]]])
    ax = plot.density(mixed, [[0.0, 0.0, 1.0]])
    assert [len(c.get_offsets()) for c in ax.collections if c.get_label() == "unlabelled"] == [1]
    for one, other in zip(contours(ax), contours(plot.density(PLANE)), strict=True):
        np.testing.assert_array_equal(one.levels, other.levels)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, r"shows two continuous columns, but the mixture has 4. Choose two, .*: columns=\(0, 1\)\."),
        ({"columns": (0,)}, r"columns must be two different columns, such as \(0, 1\), but it is \(0,\)\."),
        ({"columns": (2, 2)}, r"two different columns, such as \(0, 1\), but it is \(2, 2\)\."),
        ({"columns": (0, 4)}, "columns must be between 0 and 3, but one of them is 4."),
        ({"columns": (0, -1)}, "columns must be between 0 and 3, but one of them is -1."),
        ({"columns": (0, "x33")}, "There is no continuous column 'x33'. Did you mean 'x3'?"),
        ({"columns": (0, 1), "names": ["a", "b"]}, "names has 2 names, but the mixture has 5 columns."),
        ({"columns": (0, 1), "X": np.zeros((3, 2))}, r"X has shape \(3, 2\), but the mixture has 5 columns."),
    ],
)
def test_columns_that_cannot_be_drawn(arguments, sentence):
    with pytest.raises(MixtureError, match=sentence):
        plot.density(wide(), **arguments)


def test_one_column_is_no_plane():
    with pytest.raises(MixtureError, match=r"needs two continuous columns, but the mixture has 1."):
        plot.density(Mixture([1.0], [[0.0]], [[[1.0]]]))


def test_an_estimator_is_not_its_mixture():
    X, _ = datasets.make_two_rings(n=50, random_state=0)
    with pytest.raises(MixtureError, match=r"Expected a Mixture, but got a VBMixture. Pass .*: density.mixture_."):
        plot.density(VBMixture(random_state=0).fit(X))


# ---------------------------------------------------------------- rows, frame, legend


def test_rows_lie_on_top_in_the_colours_of_their_classes():
    X, y = datasets.make_two_rings(n=40, random_state=0)
    ax = plot.density(PLANE, X, y, title="Rings")
    assert {c.get_label() for c in ax.collections if c.get_label()[0] != "_"} == {"0", "1", CENTRES}
    assert [t.get_text() for t in ax.figure.legends[0].get_texts()] == ["class 0", "class 1", CENTRES]
    assert ax.get_title() == "Rings"


def test_a_few_labels_do_not_drown():
    X, _ = datasets.make_two_rings(n=40, random_state=0)
    ax = plot.density(PLANE, X, ["yes", "no", *[None] * 38])
    drawn = {c.get_label(): c for c in ax.collections if c.get_label() in ("yes", "no", "unlabelled")}
    assert {label: len(c.get_offsets()) for label, c in drawn.items()} == {"unlabelled": 38, "no": 1, "yes": 1}
    np.testing.assert_array_equal(drawn["yes"].get_offsets(), X[:1])
    assert drawn["yes"].get_sizes() > 4 * drawn["unlabelled"].get_sizes()


def test_labels_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="one label per row of X, 3, but it has 2"):
        plot.density(PLANE, np.zeros((3, 2)), [0, 1])


def test_it_draws_where_it_is_told_and_leaves_the_legend_to_the_owner():
    ax = plot.scatter([[0, 1], [1, 0]], ["a", "b"])
    assert plot.density(PLANE, ax=ax) is ax
    assert ax.figure.legends == []


def test_units_are_equal_unless_nothing_could_be_seen():
    assert plot.density(PLANE).get_aspect() == 1
    in_own_units = Mixture([1.0], [[0.0, 0.0]], [[[1.0, 0.0], [0.0, 1e6]]])
    assert plot.density(in_own_units).get_aspect() == "auto"


def test_a_flat_density_has_a_flat_picture():
    flat = plot.density(Mixture([1.0], [[0.0, 0.0]], [[4.0, 1.0]], "diag")).figure
    assert flat.get_figheight() < flat.get_figwidth()


# ---------------------------------------------------------------- the bound


def test_the_trace_of_a_model():
    X, _ = datasets.make_two_rings(n=200, random_state=0)
    model = VBMixture(random_state=0).fit(X)
    ax = plot.bound_trace(model, title="Climb")
    (line,) = ax.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, model.n_iter_ + 1))
    np.testing.assert_array_equal(line.get_ydata(), model.bound_trace_)
    assert ax.get_xlabel() == f"iteration; {model.n_components_} components remain"
    assert ax.get_ylabel() == "evidence bound (nats)"
    assert ax.get_title() == "Climb"


def test_the_trace_of_numbers_where_it_is_told():
    ax = plot.bound_trace([-3.0, -2.0, -1.5])
    assert plot.bound_trace(np.array([-3.0]), ax=ax) is ax
    assert [list(line.get_ydata()) for line in ax.get_lines()] == [[-3, -2, -1.5], [-3]]
    assert ax.get_xlabel() == "iteration"


def test_one_component_remains():
    model = VBMixture(n_components=1, random_state=0).fit(np.random.default_rng(0).normal(size=(50, 2)))
    assert plot.bound_trace(model).get_xlabel() == "iteration; 1 component remains"


def test_the_trace_of_a_callback_counts_components():
    steps = [{"iteration": i + 1, "bound": -9.0 + i, "n_components": 5 - i} for i in range(3)]
    ax = plot.bound_trace(steps)
    left, right = ax.figure.axes
    assert left is ax
    np.testing.assert_array_equal(left.get_lines()[0].get_ydata(), [-9, -8, -7])
    np.testing.assert_array_equal(right.get_lines()[0].get_ydata(), [5, 4, 3])
    assert (left.get_ylabel(), right.get_ylabel()) == ("evidence bound (nats)", "components (dashed)")
    assert right.get_ylim()[0] == 0


def test_a_new_climb_interrupts_the_line():
    steps = [{"iteration": i, "bound": b, "n_components": 2} for i, b in ((1, -5.0), (2, -4.0), (1, -9.0), (2, -8.0))]
    (line,) = plot.bound_trace(steps).get_lines()
    np.testing.assert_array_equal(line.get_ydata(), [-5, -4, np.nan, -9, -8])
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, np.nan, 3, 4])


def test_what_a_fit_reports_can_be_drawn():
    X, _ = datasets.make_two_rings(n=200, random_state=0)
    recorder = BoundRecorder()
    model = VBMixture(random_state=0).set_callbacks(recorder).fit(X)
    _, right = plot.bound_trace(recorder.steps).figure.axes
    assert right.get_lines()[0].get_ydata()[-1] == model.n_components_


@pytest.mark.parametrize("given", [VBMixture(), [], [[1.0, 2.0]], "bound", None])
def test_what_is_no_trace(given):
    with pytest.raises(
        MixtureError, match=r"Expected a fitted VBMixture, .* Fit the density first: plot.bound_trace\("
    ):
        plot.bound_trace(given)
