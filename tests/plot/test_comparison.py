import re

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from matplotlib.patches import Ellipse
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier

from mixkern import Mixture, MixtureSVC, VBMixture, datasets, plot
from mixkern.errors import KernelError, LabelError, OptionError, TableError
from mixkern.kernels import GMMKernel, RBFKernel, RWMKernel

X, TRUTH = datasets.make_two_rings(200, random_state=0)
TEST = datasets.make_two_rings(300, random_state=1)
Y = np.where(np.arange(len(X)) < 20, TRUTH, -1)
MIXTURE = Mixture([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], [np.eye(2), 0.25 * np.eye(2)])


@pytest.fixture(scope="module")
def models():
    svc = {name.upper(): MixtureSVC(name, probability=False, random_state=0).fit(X, Y) for name in ("rwm", "rbf")}
    return svc | {"Neighbours": KNeighborsClassifier(3).fit(X[:20], TRUTH[:20])}


def titles(figure):
    return [panel.get_title() for panel in figure.axes]


def curves(panel):
    (drawn,) = (each for each in panel.collections if isinstance(each, QuadContourSet))
    return drawn


def points(panel, label):
    (drawn,) = (each for each in panel.collections if each.get_label() == label)
    return np.asarray(drawn.get_offsets())


# ---------------------------------------------------------------- decisions


def test_every_model_has_a_panel_with_its_accuracy(models):
    figure = plot.compare_decisions(models, X, Y, truth=TRUTH, test=TEST, resolution=20)
    expected = [f"{name}: {100 * model.score(*TEST):.1f} % correct" for name, model in models.items()]
    assert titles(figure) == expected


def test_without_test_rows_accuracies_are_those_of_rows_without_a_label(models):
    figure = plot.compare_decisions(models, X, Y, truth=TRUTH, resolution=20)
    expected = [f"{name}: {100 * model.score(X[20:], TRUTH[20:]):.1f} % correct" for name, model in models.items()]
    assert titles(figure) == expected
    gap = X.copy()
    gap[30, 1] = np.nan  # is not drawn, and not predicted
    there = np.setdiff1d(np.arange(20, len(X)), [30])
    named = {"Neighbours": models["Neighbours"]}
    share = 100 * named["Neighbours"].score(X[there], TRUTH[there])
    assert titles(plot.compare_decisions(named, gap, Y, truth=TRUTH, resolution=20)) == [
        f"Neighbours: {share:.1f} % correct"
    ]


def test_tables_of_many_columns_are_projected():
    iris = datasets.load("iris")
    y = iris.few_labels(per_class=8, random_state=0)
    is_known = np.isin(np.asarray(y, dtype=object), iris.classes)
    models = {
        "Mixture": MixtureSVC("rwm", density=VBMixture(3, random_state=0), probability=False).fit(iris.X, y),
        "Neighbours": KNeighborsClassifier(3).fit(iris.X[is_known], iris.y[is_known]),
    }
    figure = plot.compare_decisions(models, iris.X, y, truth=iris.y)
    expected = [
        f"{name}: {100 * model.score(iris.X[~is_known], iris.y[~is_known]):.1f} % correct"
        for name, model in models.items()
    ]
    assert titles(figure) == expected
    limits = np.array([(*panel.get_xlim(), *panel.get_ylim()) for panel in figure.axes])
    np.testing.assert_allclose(limits[0], limits[1], rtol=1e-3)  # the same plane for both


def test_without_true_classes_there_are_names_alone(models):
    assert titles(plot.compare_decisions(models, X, resolution=20)) == ["RWM", "RBF", "Neighbours"]


def test_all_panels_show_the_same_rows_in_the_same_units(models):
    panels = plot.compare_decisions(models, X, Y, truth=TRUTH, resolution=20).axes
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in panels}) == 1
    for panel in panels:
        assert points(panel, "class 0, labelled").tolist() == X[:20][TRUTH[:20] == 0].tolist()


def test_components_are_drawn_where_a_kernel_measures_by_them(models):
    def has_ellipse(figure):
        return [any(isinstance(patch, Ellipse) for patch in panel.patches) for panel in figure.axes]

    assert has_ellipse(plot.compare_decisions(models, X, Y, resolution=20)) == [True, False, False]
    assert has_ellipse(plot.compare_decisions(models, X, Y, resolution=20, components=False)) == [False] * 3


def test_one_legend_explains_all_decisions(models):
    figure = plot.compare_decisions(models, X, Y, truth=TRUTH, resolution=20)
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert len(texts) == len(set(texts))
    assert {"class 0", "class 1, labelled", "support vector", "boundary", "centre, unit ellipse"} <= set(texts)


def test_the_figure_has_the_shape_of_its_rows(models):
    flat = KNeighborsClassifier(1).fit(X * [1, 0.4], TRUTH)
    heights = [
        plot.compare_decisions(each, rows, resolution=10).get_figheight()
        for each, rows in (({"a": flat, "b": flat}, X * [1, 0.4]), ({"a": models["RBF"], "b": models["RBF"]}, X))
    ]
    assert heights[0] < heights[1]


@pytest.mark.parametrize("given", [{}, [1], None])
def test_models_without_names_are_refused(given):
    with pytest.raises(OptionError, match=r"^models must be a dict of names and models, but it is .* MixtureSVC\(\)"):
        plot.compare_decisions(given, X)


@pytest.mark.parametrize("test", [X, (X,), (X, TRUTH, TRUTH)])
def test_a_test_part_is_a_pair(models, test):
    with pytest.raises(OptionError, match=r"^test must be a pair of a table and its labels. Pass test="):
        plot.compare_decisions(models, X, test=test)


def test_models_must_be_fitted_and_in_the_plane(models):
    with pytest.raises(NotFittedError):
        plot.compare_decisions({"a": MixtureSVC()}, X)
    with pytest.raises(TableError, match="X has 4 features, but TableEncoder is expecting 2 features"):
        plot.compare_decisions(models, np.hstack([X, X]))


# ---------------------------------------------------------------- distances


def test_every_kernel_has_a_panel_and_a_mixture_stands_for_rwm():
    figure = plot.compare_levels({"mixture": MIXTURE, "RWM": RWMKernel(MIXTURE), "GMM": GMMKernel(MIXTURE)}, (0, 0))
    assert titles(figure) == ["mixture", "RWM", "GMM"]
    same, rwm, gmm = (np.concatenate([p.vertices for p in curves(panel).get_paths()]) for panel in figure.axes)
    np.testing.assert_array_equal(same, rwm)
    assert rwm.shape != gmm.shape or not np.allclose(rwm, gmm)


def test_panels_share_a_view_that_all_curves_are_computed_for():
    wide = Mixture([1.0], [[0.0, 0.0]], [9 * np.eye(2)])
    figure = plot.compare_levels({"narrow": MIXTURE, "wide": wide}, (0, 0), levels=[1.0, 2.0])
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in figure.axes}) == 1
    radius = np.linalg.norm(curves(figure.axes[1]).get_paths()[1].vertices, axis=1)
    np.testing.assert_allclose(radius, 6.0, atol=0.05)
    assert figure.axes[0].get_xlim()[1] > 9


def test_components_of_another_mixture_can_stand_behind_all_curves():
    figure = plot.compare_levels({"Euclidean": RBFKernel(), "RWM": MIXTURE}, (0, 0), mixture=MIXTURE)
    for panel in figure.axes:
        assert sum(isinstance(patch, Ellipse) for patch in panel.patches) == 2


def test_rows_are_the_same_for_all_panels_or_each_has_its_own():
    both = plot.compare_levels({"a": MIXTURE, "b": MIXTURE}, (0, 0), X=X, y=TRUTH).axes
    own = plot.compare_levels(
        {"a": MIXTURE, "b": MIXTURE}, (0, 0), X={"a": X[:9], "b": X[9:]}, y={"a": TRUTH[:9], "b": None}
    ).axes
    assert [len(points(panel, "class 0")) for panel in both] == [100, 100]
    assert len(points(own[0], "class 0")) + len(points(own[0], "class 1")) == 9
    assert len(points(own[1], "row")) == 191


def test_rows_without_a_place_keep_no_label():
    rows, labels = np.array([[0.0, 0.0], [np.nan, 1.0], [1.0, 1.0]]), ["a", "b", "c"]
    panel = plot.compare_levels({"RWM": MIXTURE}, (0, 0), X=rows, y=labels).axes[0]
    assert points(panel, "class a").tolist() == [[0, 0]]
    assert points(panel, "class c").tolist() == [[1, 1]]
    assert not len(points(panel, "class b"))


def test_one_panel_takes_labels_too():
    panel = plot.level_curves(RWMKernel(MIXTURE), (0, 0), X=X, y=Y)
    assert [text.get_text() for text in panel.figure.legends[0].get_texts()][:3] == ["row", "class 0", "class 1"]


def refused(error, message, *args, **options):
    with pytest.raises(error, match=re.escape(message)):
        plot.compare_levels(*args, **options)


def test_what_cannot_be_compared_is_refused():
    refused(OptionError, "kernels must be a dict of names and kernels, but it is a Mixture.", MIXTURE, (0, 0))
    refused(KernelError, "a VBMixture has none. Use RWMKernel(density.mixture_).", {"a": VBMixture()}, (0, 0))
    refused(KernelError, "point must be two numbers", {"a": MIXTURE}, (0, 0, 0))
    refused(OptionError, "X must have the names of the panels, 'a', or be one for all.", {"a": MIXTURE}, (0, 0), X={})
    refused(LabelError, "y must have one label per row of X, 200, but it has 2.", {"a": MIXTURE}, (0, 0), X=X, y=[0, 1])
    refused(LabelError, "but there are no rows. Pass X, too.", {"a": MIXTURE}, (0, 0), y=[0, 1])
