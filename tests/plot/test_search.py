import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.contour import QuadContourSet
from sklearn.exceptions import NotFittedError

from mixkern import DensitySearch, LaplacianSVC, Mixture, MixtureSVC, SVCSearch, datasets, plot
from mixkern.errors import OptionError


@pytest.fixture(scope="module")
def search():
    X, _ = datasets.make_ripley(n=120, random_state=0)
    settings = {"mean_precision_prior": [0.1, 1.0], "precision_prior": [1.0, 10.0, "typical"], "scoring": "bound"}
    return DensitySearch(random_state=0, **settings).fit(X)


def test_every_trial_is_drawn_and_the_best_is_ringed(search):
    ax = plot.density_trials(search)
    *lines, ring = ax.get_lines()
    assert [line.get_label() for line in lines] == ["weights 1/k, mean 0.1", "weights 1/k, mean 1"]
    drawn = sorted(value for line in lines for value in line.get_ydata())
    assert drawn == pytest.approx(sorted(search.cv_results_["mean_test_score"]))
    assert ring.get_ydata() == pytest.approx([search.best_score_])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "10", "typical"]
    assert ax.get_ylabel() == "bound (higher is better)"


def test_it_draws_where_it_is_told(search):
    ax = plot.density_trials(search)
    assert plot.density_trials(search, ax=ax) is ax


# ---------------------------------------------------------------- the map of a search for C and gamma

C, GAMMA = [0.1, 1.0, 10.0], [0.01, 0.1, 1.0, 10.0]
PLANE = Mixture([1.0], [[0.5, 0.5]], [[[1.0, 0.0], [0.0, 1.0]]])


def few_labels(n=60):
    random = np.random.RandomState(0)
    y = np.arange(n) % 2
    return random.standard_normal((n, 2)) + 1.2 * y[:, None], np.where(np.arange(n) < 24, y, -1)


def searched(estimator=None, table=None, **how):
    X, few = few_labels()
    estimator = MixtureSVC("rwm", density=PLANE, probability=False) if estimator is None else estimator
    how = {"C": C, "gamma": GAMMA, "random_state": 0, **how}
    return SVCSearch(estimator, **how).fit(X if table is None else table, few)


def mixed():
    X, _ = few_labels()
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["c"] = np.where(np.arange(60) % 3 == 0, "u", "v")
    return searched(MixtureSVC("rbf", probability=False, random_state=0), frame, beta=[0.1, 1.0])


@pytest.fixture(scope="module")
def grid():
    return searched()


@pytest.fixture(scope="module")
def line():
    return searched(strategy="line", C=[0.1, 1.0, 10.0, 100.0])


def points(ax, label):
    """Give the places that carry a label, as they are read from the axes."""
    (drawn,) = (each for each in ax.get_lines() if each.get_label().startswith(label))
    return [(10**x, 10**y) for x, y in zip(*drawn.get_data(), strict=True)]


def contours(ax):
    return [each for each in ax.collections if isinstance(each, QuadContourSet)]


def places(trials):
    return [pytest.approx((t.gamma, t.C)) for t in trials]


def test_a_grid_is_drawn_over_its_own_contours(grid):
    ax = plot.search_map(grid)
    assert points(ax, "visited") == places(grid.trials_)
    assert points(ax, "best visited") == places([grid.best_])
    (filled,) = contours(ax)
    scores = [t.score for t in grid.trials_]
    assert filled.levels[0] <= min(scores)
    assert filled.levels[-1] >= max(scores)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "accuracy"
    assert ax.get_xlabel() == r"$\log_{10}\,\gamma$"
    assert ax.get_ylabel() == r"$\log_{10}\,C$"
    assert f"best visited, {grid.best_score_:.3f}" in [text.get_text() for text in ax.figure.legends[0].get_texts()]


def test_contours_stand_where_the_scores_are(grid, monkeypatch):
    drawn = {}
    original = Axes.contourf
    monkeypatch.setattr(Axes, "contourf", lambda self, *a, **k: drawn.update(xyz=a) or original(self, *a, **k))
    plot.search_map(grid)
    x, y, Z = drawn["xyz"]
    # half a step beyond the grid, with the scores at its edge
    assert x[[0, -1]] == pytest.approx([-2.5, 1.5])
    assert y[[0, -1]] == pytest.approx([-1.5, 1.5])
    assert (Z[[0, -1]] == Z[[1, -2]]).all()
    assert (Z[:, [0, -1]] == Z[:, [1, -2]]).all()
    x, y, Z = x[1:-1], y[1:-1], Z[1:-1, 1:-1]
    assert Z.shape == (len(C), len(GAMMA))
    scores = {(t.C, t.gamma): t.score for t in grid.trials_}
    for i, j in np.ndindex(Z.shape):
        assert Z[i, j] == scores[C[i], GAMMA[j]]
    assert (10**x).tolist() == pytest.approx(GAMMA)
    assert (10**y).tolist() == pytest.approx(C)


def test_a_line_alone_has_no_contours(line):
    ax = plot.search_map(line)
    assert not contours(ax)
    assert len(ax.figure.axes) == 1
    assert points(ax, "visited") == places([t for t in line.trials_ if not t.is_linear])
    assert points(ax, "best visited") == places([line.best_])


def test_a_line_is_drawn_over_the_contours_of_a_grid(grid, line):
    ax = plot.search_map(line, surface=grid)
    assert len(contours(ax)) == 1
    assert points(ax, "best of all") == places([grid.best_])
    assert points(ax, "best visited") == places([line.best_])
    (stroke,) = (each for each in ax.get_lines() if each.get_linestyle() == "-")
    x, y = stroke.get_data()
    assert (np.diff(x) > 0).all()
    assert np.diff(y) / np.diff(x) == pytest.approx(-1)  # slope minus one in the logarithms
    texts = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert texts == ["visited", f"best of all, {grid.best_score_:.3f}", f"best visited, {line.best_score_:.3f}"]


@pytest.mark.parametrize("decades", [-0.49, 0.49], ids=["right of it", "left of it"])
def test_contours_fill_the_axes_where_the_line_passes_beyond_the_grid(line, decades):
    on_line = [t.gamma for t in line.trials_ if not t.is_linear]
    how = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": sorted(10**decades * gamma for gamma in on_line)}
    grid, line = searched(**how), searched(strategy="line", **how)
    visited = [t.gamma for t in line.trials_ if not t.is_linear]
    assert min(visited) < min(how["gamma"]) or max(visited) > max(how["gamma"])
    ax = plot.search_map(line, surface=grid)
    (filled,) = contours(ax)
    corners = np.vstack([path.vertices for path in filled.get_paths()])
    assert ax.get_xlim() == pytest.approx((corners[:, 0].min(), corners[:, 0].max()))
    assert ax.get_ylim() == pytest.approx((corners[:, 1].min(), corners[:, 1].max()))


@pytest.mark.parametrize(("C", "gamma"), [([1.0], GAMMA), (C, [0.1])], ids=["one C", "one gamma"])
def test_one_row_of_a_grid_has_no_contours(C, gamma):
    search = searched(C=C, gamma=gamma)
    ax = plot.search_map(search)
    assert not contours(ax)
    assert points(ax, "visited") == places(search.trials_)


def test_slices_of_a_table_with_categories():
    search = mixed()
    ax = plot.search_map(search)
    assert points(ax, "visited") == places([t for t in search.trials_ if t.beta == search.best_.beta])
    other = ({0.1, 1.0} - {search.best_.beta}).pop()
    trials = [t for t in search.trials_ if t.beta == other]
    ax = plot.search_map(search, beta=other)
    assert points(ax, "visited") == places(trials)
    best = min(trials, key=lambda t: t.order)
    assert points(ax, "best visited") == places([best])
    assert len(contours(ax)) == 1


def test_a_slice_that_nobody_has_searched(grid):
    with pytest.raises(OptionError, match=r"^No trial has beta 0\.5; there are \[1\.0\]\.$"):
        plot.search_map(grid, beta=0.5)
    with pytest.raises(OptionError, match=r"^No trial has alpha 2\.0; there are \[1\.0\]\.$"):
        plot.search_map(mixed(), alpha=2.0)
    with pytest.raises(OptionError, match=r"^No trial has beta 0\.1; there are \[1\.0\]\.$"):
        plot.search_map(mixed(), surface=grid, beta=0.1)
    with pytest.raises(OptionError, match=r"^No trial has ratio 5\.0; there are \[nan"):
        plot.search_map(grid, ratio=5.0)


def test_a_map_of_nothing():
    with pytest.raises(NotFittedError, match="SVCSearch instance is not fitted yet"):
        plot.search_map(SVCSearch())


def test_a_map_names_its_scores():
    X, few = few_labels()
    true = np.arange(60) % 2
    estimator = MixtureSVC("rwm", density=PLANE, probability=False)
    expected = searched(estimator, scoring="neg_expected_error")
    assert plot.search_map(expected).figure.axes[1].get_ylabel() == "neg expected error"
    optimistic = SVCSearch(estimator, C=C, gamma=GAMMA, scoring="optimistic_accuracy", random_state=0)
    optimistic.fit(X, few, optimistic_labels=true)
    assert plot.search_map(optimistic).figure.axes[1].get_ylabel() == "optimistic accuracy"


def test_a_map_draws_where_it_is_told(grid):
    ax = plt.figure().subplots()
    assert plot.search_map(grid, ax=ax) is ax


def test_all_scores_are_the_same(grid):
    """Classes that nothing can confuse: contours of one height are no reason to fail."""
    y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
    X = np.random.RandomState(0).standard_normal((40, 2)) + 30 * (np.arange(40) % 2)[:, None]
    search = SVCSearch(MixtureSVC("rbf", probability=False, random_state=0), C=[1.0, 10.0], gamma=[0.1, 1.0], cv=2)
    search.fit(X, y)
    assert {t.score for t in search.trials_} == {1.0}
    ax = plot.search_map(search)
    assert points(ax, "visited") == places(search.trials_)


def test_slices_of_a_bent_kernel(monkeypatch):
    search = searched(LaplacianSVC(density=PLANE, probability=False, random_state=0), ratio=[0.0, 1000.0])
    scores = {(t.C, t.gamma, t.ratio): t.score for t in search.trials_}
    surfaces = {ratio: [[scores[c, g, ratio] for g in GAMMA] for c in C] for ratio in (0.0, 1000.0)}
    assert surfaces[0.0] != surfaces[1000.0]
    drawn = {}
    original = Axes.contourf
    monkeypatch.setattr(Axes, "contourf", lambda self, *a, **k: drawn.update(xyz=a) or original(self, *a, **k))
    for ratio in (None, 0.0, 1000.0):
        ax = plot.search_map(search, ratio=ratio)
        wanted = search.best_.ratio if ratio is None else ratio
        assert drawn["xyz"][2][1:-1, 1:-1].tolist() == surfaces[wanted]
        assert points(ax, "visited") == places([t for t in search.trials_ if t.ratio == wanted])
    with pytest.raises(OptionError, match=r"^No trial has ratio 5\.0; there are \[0\.0, 1000\.0\]\.$"):
        plot.search_map(search, ratio=5.0)


def test_a_table_of_words_has_no_alpha():
    frame = pd.DataFrame(np.random.RandomState(0).choice(list("uvw"), (60, 3)), columns=list("abc"))
    search = searched(MixtureSVC("rbf", probability=False), frame, beta=[1.0])
    ax = plot.search_map(search)
    assert points(ax, "visited") == places(search.trials_)
    assert len(contours(ax)) == 1
    with pytest.raises(OptionError, match=r"^No trial has alpha 1\.0; there are \[0\.0\]\.$"):
        plot.search_map(search, alpha=1.0)
