import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.contour import QuadContourSet
from matplotlib.dates import num2date
from matplotlib.patches import Ellipse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from mixkern import LaplacianSVC, MixtureOneClassSVM, MixtureSVC, QuasiNewtonS3VC, TableEncoder, datasets
from mixkern.errors import LabelError, OptionError
from mixkern.plot.decision import decision
from mixkern.plot.style import COLOURS, UNLABELLED

X, TRUTH = datasets.make_two_moons(n=80, random_state=0)
Y = np.where(np.arange(80) < 12, TRUTH, -1)
for shared in (X, TRUTH, Y):
    shared.flags.writeable = False

THREE = np.array([[0.0, 0.0], [0.0, 1.0], [6.0, 0.0], [6.0, 1.0], [3.0, 5.0], [3.0, 6.0]])
THREE_CLASSES = np.repeat(["a", "b", "c"], 2)


@pytest.fixture(scope="module")
def moons():
    return MixtureSVC(probability=False, random_state=0).fit(X, Y)


def draw(model, X, *args, **options):
    return decision(model, X, *args, **{"resolution": 60, **options})


def points(ax, label):
    """Give the places of the points that a legend would list under a text."""
    (drawn,) = (each for each in ax.collections if each.get_label() == label)
    return np.asarray(drawn.get_offsets())


def labels(ax):
    return set(ax.get_legend_handles_labels()[1])


def lines(ax, style=None):
    """Give points on the boundary, or on lines of a style."""
    found = [each for each in ax.collections if isinstance(each, QuadContourSet)]
    chosen = [
        each for each in found if style is None or (each.get_linestyle()[0][1] is not None) == (style == "dashed")
    ]
    return np.concatenate([path.vertices for each in chosen for path in each.get_paths()] or [np.empty((0, 2))])


def ground(ax, place):
    """Give the colour of the ground at a place."""
    (image,) = ax.images
    assert image.origin == "lower"
    left, right, low, high = image.get_extent()
    colours = np.asarray(image.get_array())
    column = int((place[0] - left) / (right - left) * colours.shape[1])
    row = int((place[1] - low) / (high - low) * colours.shape[0])
    return colours[row, column]


def is_tint(colour, code):
    full = np.array(to_rgb(COLOURS[code]))
    share = (1 - colour).sum() / (1 - full).sum()
    return 0.1 < share < 0.5 and np.allclose(1 - colour, share * (1 - full), atol=0.01)


# ---------------------------------------------------------------- regions and boundaries


def test_the_ground_has_the_colour_of_the_class_that_is_predicted(moons):
    ax = decision(moons, X, Y)
    codes = moons.predict(X)
    scores = np.abs(moons.decision_function(X))
    clear = np.flatnonzero(scores > np.quantile(scores, 0.2))  # near the boundary, a pixel's centre may be beyond it
    assert set(codes[clear]) == {0, 1}
    assert all(is_tint(ground(ax, X[i]), codes[i]) for i in clear)


def test_the_decision_function_is_zero_on_the_boundary_and_one_on_the_margins():
    model = SVC(kernel="linear", C=100).fit(THREE[:4], [0, 0, 1, 1])
    ax = draw(model, THREE[:4], margins=True)
    assert len(lines(ax)) > 20
    assert model.decision_function(lines(ax, "solid")) == pytest.approx(0, abs=1e-6)
    assert np.abs(model.decision_function(lines(ax, "dashed"))) == pytest.approx(1, abs=1e-6)
    assert np.unique(lines(ax, "solid")[:, 0]) == pytest.approx(3)
    assert {"boundary", "margin"} <= labels(ax)


def test_the_boundary_of_a_machine_of_mixkern_is_where_its_decision_is_zero(moons):
    ax = decision(moons, X, Y)
    assert len(lines(ax)) > 50
    assert np.abs(moons.decision_function(lines(ax))).max() < 0.02 * np.abs(moons.decision_function(X)).max()
    assert "margin" not in labels(ax)


@pytest.mark.parametrize(
    "model", [SVC(kernel="linear"), SVC(kernel="linear", decision_function_shape="ovo"), KNeighborsClassifier(1)]
)
def test_three_classes_have_three_regions_that_meet_at_the_boundary(model):
    model = model.fit(THREE, THREE_CLASSES)
    ax = decision(model, THREE, THREE_CLASSES)
    for place, code in zip(THREE, np.repeat([0, 1, 2], 2), strict=True):
        assert is_tint(ground(ax, place), code)
    step = np.ptp(ax.get_xlim()) / 249
    line = lines(ax)
    around = [line + 2.5 * step * np.array(side) for side in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    found = np.array([model.predict(side) for side in around])
    assert (found != found[0]).any(axis=0).all()  # whoever crosses the line meets another class


def test_machines_of_mixkern_take_three_classes_in_a_frame():
    iris = datasets.load("iris")
    table, y = iris.X.iloc[:, :2], iris.few_labels(per_class=5, random_state=0)
    model = MixtureSVC(probability=False, random_state=0).fit(table, y)
    ax = draw(model, table, y, truth=iris.y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(table.columns)
    assert {"class setosa, labelled", "class versicolor", "class virginica, labelled"} < labels(ax)
    assert len(points(ax, "class setosa")) == 45


def test_a_model_that_knows_one_class_here_has_no_boundary(moons):
    ax = draw(moons, X[TRUTH == 0][:3])
    assert len(lines(ax)) == 0
    assert "boundary" not in labels(ax)


def test_the_boundary_is_where_predictions_change_whatever_the_scores_are():
    places = np.column_stack([np.linspace(-3, 3, 40), np.tile([0.0, 5.0], 20)])
    late = FixedThresholdClassifier(LogisticRegression(), threshold=0.9).fit(places, places[:, 0] > 0)
    line = lines(draw(late, places))
    assert late.predict_proba(line)[:, 1] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), KNeighborsClassifier(3), LinearSVC(), make_pipeline(StandardScaler(), SVC())]
)
@pytest.mark.slow
def test_classifiers_of_scikit_learn_are_drawn(model):
    ax = draw(model.fit(X, TRUTH), X, TRUTH)
    assert len(lines(ax)) > 20
    assert not ax.patches


# ---------------------------------------------------------------- rows and support vectors


def test_rows_are_drawn_once_by_what_is_known_of_them(moons):
    ax = draw(moons, X, Y)
    np.testing.assert_array_equal(points(ax, "unlabelled"), X[12:])
    for code in (0, 1):
        np.testing.assert_array_equal(points(ax, f"class {code}"), X[:12][TRUTH[:12] == code])


def test_the_truth_colours_rows_without_a_label(moons):
    ax = draw(moons, X, Y, truth=TRUTH)
    assert "unlabelled" not in labels(ax)
    for code in (0, 1):
        np.testing.assert_array_equal(points(ax, f"class {code}"), X[12:][TRUTH[12:] == code])
        np.testing.assert_array_equal(points(ax, f"class {code}, labelled"), X[:12][TRUTH[:12] == code])
    sizes = {each.get_label(): each.get_sizes()[0] for each in ax.collections if len(each.get_offsets()) > 1}
    assert sizes["class 0, labelled"] > 3 * sizes["class 0"]


@pytest.mark.parametrize("has_truth", [False, True])
def test_the_legend_has_the_same_classes_in_the_same_order_on_a_projection(has_truth):
    iris = datasets.load("iris")
    few = iris.few_labels(per_class=4, random_state=0)
    truth = iris.y if has_truth else None
    found = []
    for table in (iris.X, iris.X.iloc[:, 2:]):
        order = np.random.RandomState(1).permutation(150)
        model = MixtureSVC(unlabelled="ignore", probability=False, random_state=0).fit(table, few)
        ax = draw(model, table.iloc[order], few.iloc[order], truth=None if truth is None else truth.iloc[order])
        names = ax.get_legend_handles_labels()[1]
        found.append([name for name in names if name.startswith(("class", "unlabelled"))])
    species = [f"class {name}" for name in model.classes_]
    assert (
        found[0]
        == found[1]
        == ([*species, *(f"{name}, labelled" for name in species)] if has_truth else ["unlabelled", *species])
    )


def test_without_labels_all_rows_are_grey(moons):
    np.testing.assert_array_equal(points(draw(moons, X), "unlabelled"), X)


def test_a_class_keeps_its_colour_whichever_labels_are_there():
    model = LogisticRegression().fit(THREE, THREE_CLASSES)
    ax = draw(model, THREE, [None, None, None, None, "c", "d"])
    colours = {each.get_label(): each.get_facecolor()[0, :3] for each in ax.collections if len(each.get_facecolor())}
    np.testing.assert_allclose(colours["class c"], to_rgb(COLOURS[2]))
    np.testing.assert_allclose(colours["class d"], to_rgb(COLOURS[3]))  # one that the model does not know


def test_rows_with_gaps_are_left_out():
    table = X.copy()
    table[20, 1] = np.nan
    model = MixtureSVC(probability=False, random_state=0).fit(table, Y)
    assert len(points(draw(model, table, Y), "unlabelled")) == 67


@pytest.mark.parametrize("scale", [(1.0, 1.0), (1e-3, 1e4)])
def test_squares_frame_support_vectors_in_the_units_of_the_table(scale):
    table = X * scale + [500.0, -3.0]
    model = MixtureSVC(probability=False, random_state=0).fit(table, Y)
    ax = draw(model, table, Y)
    np.testing.assert_allclose(points(ax, "support vector"), table[model.support_])
    assert len(model.support_)


def test_frames_are_as_large_as_what_they_frame(moons):
    ax = draw(moons, X, np.where(np.arange(80) < 6, Y, -1))
    (drawn,) = (each for each in ax.collections if each.get_label() == "support vector")
    assert (moons.support_ < 6).any() > (moons.support_ < 6).all()
    expected = np.where(moons.support_ < 6, drawn.get_sizes().max(), drawn.get_sizes().min())
    np.testing.assert_array_equal(drawn.get_sizes(), expected)
    assert drawn.get_sizes().max() > 3 * drawn.get_sizes().min()


def supported(n_rows, n_support):
    """Draw a model whose support vectors are some of the rows."""
    rows = np.random.default_rng(0).normal(size=(n_rows, 2))
    model = LogisticRegression().fit(rows, rows[:, 0] > 0)
    model.support_vectors_ = rows[:n_support]
    return draw(model, rows)


@pytest.mark.parametrize(("n_rows", "n_support"), [(12, 12), (40, 20), (1000, 200)])
def test_support_vectors_are_framed_where_they_are_few(n_rows, n_support):
    assert len(points(supported(n_rows, n_support), "support vector")) == n_support


@pytest.mark.parametrize(("n_rows", "n_support"), [(13, 13), (40, 21), (1000, 201), (9, 0)])
def test_frames_around_nearly_everything_are_left_out(n_rows, n_support):
    assert "support vector" not in labels(supported(n_rows, n_support))


def test_landmarks_are_not_framed():
    model = QuasiNewtonS3VC(random_state=0).fit(X, Y)
    assert len(model.support_vectors_) == len(X)
    assert "support vector" not in labels(draw(model, X, Y))


def test_many_labels_are_drawn_smaller():
    X, y = datasets.make_two_moons(n=200, random_state=0)
    model = LogisticRegression().fit(X, y)
    many, few = (draw(model, X[:n], y[:n]) for n in (200, 20))
    sizes = [next(e for e in ax.collections if e.get_label() == "class 0").get_sizes()[0] for ax in (many, few)]
    assert sizes[0] < sizes[1] / 2


# ---------------------------------------------------------------- components


@pytest.mark.parametrize(("shift", "scale"), [((0.0, 0.0), (1.0, 1.0)), ((1000.0, -7.0), (1e-2, 50.0))])
def test_ellipses_are_in_the_units_of_the_table(shift, scale):
    table = X * scale + shift
    model = MixtureSVC(probability=False, random_state=0).fit(table, Y)
    ax = draw(model, table, Y)
    mixture, deviation = model.mixture_, table.std(axis=0)
    means = mixture.means * deviation + table.mean(axis=0)
    np.testing.assert_allclose(points(ax, "centre, unit ellipse"), means)
    drawn = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    assert len(drawn) == mixture.n_components > 1
    for ellipse, mean, covariance in zip(drawn, mixture.means, mixture.full_covariances, strict=True):
        edge = ellipse.get_patch_transform().transform(np.array([[1, 0], [0, 1], [-0.6, 0.8]]))
        away = (edge - table.mean(axis=0)) / deviation - mean
        np.testing.assert_allclose(np.einsum("ij,ij->i", away @ np.linalg.inv(covariance), away), 1, rtol=1e-5)


def test_rows_that_came_encoded_are_drawn_as_they_are():
    model = MixtureSVC(encoder="passthrough", probability=False, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(points(draw(model, X, Y), "centre, unit ellipse"), model.mixture_.means)


def test_components_are_shown_where_the_kernel_measures_by_them():
    settings = {"probability": False, "random_state": 0}
    rbf = MixtureSVC("rbf", **settings).fit(X, Y)
    assert not draw(rbf, X).patches
    assert draw(rbf, X, components=True).patches
    assert not draw(LaplacianSVC(**settings).fit(X, Y), X).patches
    bent = LaplacianSVC("rwm", **settings).fit(X, Y)
    assert draw(bent, X).patches
    assert not draw(bent, X, components=False).patches


# ---------------------------------------------------------------- tables and axes


def test_limits_hold_the_rows_and_a_twentieth(moons):
    ax = draw(moons, [[0.0, -1.0], [2.0, 1.0]])
    assert ax.get_xlim() == pytest.approx((-0.1, 2.1))
    assert ax.get_ylim() == pytest.approx((-1.1, 1.1))
    assert ax.get_aspect() == 1.0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def test_units_that_differ_much_fill_the_frame():
    table = X * [1.0, 1000.0]
    assert draw(LogisticRegression().fit(table, TRUTH), table).get_aspect() == "auto"


def test_one_row_has_room_around_it(moons):
    assert draw(moons, [[0.0, 1.0]]).get_xlim() == pytest.approx((-0.05, 0.05))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame(X, columns=["length", "width"]),
        lambda: pd.DataFrame(X, columns=[7, 8]),
        lambda: pl.DataFrame({"length": X[:, 0], "width": X[:, 1]}),
        lambda: X.tolist(),
    ],
    ids=["pandas", "numbered", "polars", "list"],
)
def test_tables_of_any_kind_are_drawn(make, moons):
    table = make()
    model = MixtureSVC(probability=False, random_state=0).fit(table, Y)
    ax = draw(model, table, Y)
    names = [str(name) for name in getattr(table, "columns", ("x0", "x1"))]
    assert [ax.get_xlabel(), ax.get_ylabel()] == names
    np.testing.assert_array_equal(points(ax, "unlabelled"), X[12:])
    np.testing.assert_allclose(lines(ax), lines(draw(moons, X, Y)))


def test_frames_of_scikit_learn_keep_their_names():
    table = pd.DataFrame(X, columns=["length", "width"])
    assert draw(LogisticRegression().fit(table, TRUTH), table, TRUTH).get_xlabel() == "length"


def test_dates_are_dates_on_the_axis():
    days = [dt.datetime(2024, 3, 1) + dt.timedelta(days=float(x)) for x in 10 * X[:, 0]]
    table = pd.DataFrame({"day": days, "wait": pd.to_timedelta(X[:, 1], unit="D")})
    encoder = TableEncoder(continuous=["day"])  # without the weekday
    model = MixtureSVC(encoder=encoder, probability=False, random_state=0).fit(table, Y)
    ax = draw(model, table, Y)
    ax.figure.canvas.draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("day", "wait (days)")
    assert [num2date(day).strftime("%Y-%m") for day in ax.get_xlim()] == ["2024-02", "2024-03"]
    assert "Mar" in [text.get_text() for text in ax.get_xticklabels()]
    assert len(lines(ax)) > 20


def test_many_rows_do_not_cover_the_regions():
    rows, truth = datasets.make_two_moons(n=5000, random_state=0)
    y = np.where(np.arange(5000) < 10, truth, -1)
    model = LogisticRegression().fit(rows[:10], truth[:10])
    for ax in (draw(model, rows, y, truth=truth), draw(model, rows, y)):
        names = ax.get_legend_handles_labels()[1]
        assert len(names) == len(set(names)), "a legend lists each class once"
        hidden = [each for each in ax.collections if isinstance(each, PathCollection) and each.get_zorder() in (1, 1.2)]
        assert sum(len(each.get_offsets()) for each in hidden) == 1500
        covered = sum(each.get_sizes()[0] * len(each.get_offsets()) for each in hidden)
        width, height = (side * 72 for side in ax.get_position().size * ax.figure.get_size_inches())
        assert covered < 0.2 * width * height  # square points of print
    drawn = np.vstack([each.get_offsets() for each in hidden])
    known = {tuple(row) for row in rows[10:]}
    assert {tuple(row) for row in drawn} <= known


# ---------------------------------------------------------------- tables of many columns


IRIS = datasets.load("iris")
FEW = IRIS.few_labels(per_class=5, random_state=0)


def small_points(ax):
    return [each for each in ax.collections if isinstance(each, PathCollection) and each.get_zorder() == 2]


@pytest.fixture(scope="module")
def iris_model():
    return MixtureSVC(probability=False, random_state=0).fit(IRIS.X, FEW)


def test_tables_of_many_columns_are_projected(iris_model):
    ax = decision(iris_model, IRIS.X, FEW, truth=IRIS.y, title="Iris")
    assert ax.get_xlabel().startswith("first principal component (73 %")
    assert ax.get_title() == "Iris"
    assert {"class setosa", "class virginica", "class versicolor, labelled"} < labels(ax)
    assert sum(len(each.get_offsets()) for each in small_points(ax)) == 135  # all that are not labelled
    colour = next(each.get_facecolor()[0] for each in small_points(ax) if each.get_label() == "class setosa")
    own = [each for each in small_points(ax) if (each.get_facecolor()[0] == colour).all()]
    assert sum(len(each.get_offsets()) for each in own) == 45
    assert len(points(ax, "class setosa, labelled")) == 5
    assert [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert any(isinstance(each, QuadContourSet) for each in ax.collections)


def test_rows_of_a_projection_without_a_known_class_are_grey(iris_model):
    ax = decision(iris_model, IRIS.X, FEW, components=False)
    grey = [each for each in small_points(ax) if (each.get_facecolor()[0] == to_rgba(UNLABELLED)).all()]
    assert sum(len(each.get_offsets()) for each in grey) == 135
    assert not any(isinstance(each, QuadContourSet) for each in ax.collections)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["size", "town"], ["town"], ["size"], ["size", "town", "wait"]])
def test_categories_gaps_and_single_columns_are_projected(columns):
    random = np.random.RandomState(0)
    table = pd.DataFrame({"size": X[:, 0], "town": np.where(TRUTH == 1, "Kassel", "Ulm"), "wait": X[:, 1]})
    table.loc[random.permutation(80)[:9], "size"] = np.nan
    model = MixtureSVC(probability=False, random_state=0).fit(table[columns], Y)
    ax = decision(model, table[columns], Y)
    if columns == ["size"]:
        assert ax.get_ylabel() == "random"
    ax.figure.canvas.draw()


def test_classifiers_of_scikit_learn_are_projected():
    model = LogisticRegression(max_iter=500).fit(IRIS.X, IRIS.y)
    ax = decision(model, IRIS.X, IRIS.y)
    assert {"class setosa", "class virginica"} <= labels(ax)
    assert not any(isinstance(each, QuadContourSet) for each in ax.collections)


def test_a_projection_has_no_margins():
    two = IRIS.y != "virginica"
    with pytest.raises(OptionError, match=r"two continuous columns only\. Leave out margins=True\."):
        decision(SVC().fit(IRIS.X[two], IRIS.y[two]), IRIS.X[two], margins=True)


def test_it_draws_where_it_is_told(moons):
    ax = draw(moons, X).figure.add_subplot()
    assert draw(moons, X, Y, ax=ax, title="Moons") is ax
    assert ax.get_title() == "Moons"


def test_a_figure_of_its_own_has_a_legend_below(moons):
    (legend,) = draw(moons, X, Y).figure.legends
    expected = ["unlabelled", "class 0", "class 1", "support vector", "boundary", "centre, unit ellipse"]
    assert [text.get_text() for text in legend.get_texts()] == expected


# ---------------------------------------------------------------- what is refused


def test_models_that_are_not_fitted_or_no_classifiers_are_refused():
    with pytest.raises(NotFittedError, match="This MixtureSVC instance is not fitted yet"):
        draw(MixtureSVC(), X)
    model = MixtureOneClassSVM(random_state=0).fit(X)
    with pytest.raises(TypeError, match="model must be a classifier, but MixtureOneClassSVM is not one"):
        draw(model, X)


@pytest.mark.parametrize("name", ["y", "truth"])
def test_labels_must_be_as_many_as_rows(name, moons):
    with pytest.raises(LabelError, match=f"{name} must have one label per row of X, 80, but it has 2"):
        draw(moons, X, **{name: [0, 1]})


def test_margins_need_two_classes_and_a_decision_function():
    with pytest.raises(OptionError, match=r"but this LogisticRegression has 3 classes\. Leave out margins=True\."):
        draw(LogisticRegression().fit(THREE, THREE_CLASSES), THREE, margins=True)
    with pytest.raises(OptionError, match="but this KNeighborsClassifier has no decision function"):
        draw(KNeighborsClassifier().fit(X, TRUTH), X, margins=True)


def test_components_need_a_mixture_and_a_grid_two_lines(moons):
    with pytest.raises(OptionError, match="LogisticRegression has no mixture to draw the components of"):
        draw(LogisticRegression().fit(X, TRUTH), X, components=True)
    with pytest.raises(OptionError, match="resolution must be at least 2, but it is 1"):
        draw(moons, X, resolution=1)
