"""Kernel matrices for all settings, from what is computed once: the same as those of the kernels themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

from mixkern import MixtureSVC, TableEncoder, VBMixture
from mixkern.density import Mixture
from mixkern.errors import KernelError
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel, definiteness, laplacian
from mixkern.search.gram_cache import DistanceGramCache, LaplacianGramCache, LaplacianKernels, gram_cache
from mixkern.search.grid import KernelPoint
from mixkern.svm import classifier

N = 50
LINEAR = KernelPoint(None)
POINTS = [KernelPoint(g, a, b) for g, a, b in [(0.1, 1.0, 1.0), (2.0, 0.3, 0.03), (10.0, 0.0, 1.0), (1.0, 2.0, 0.0)]]


def table(kind):
    """Numbers; numbers and words; or both with gaps."""
    random = np.random.RandomState(0)
    frame = pd.DataFrame(random.standard_normal((N, 2)) + 2 * (np.arange(N) % 2)[:, None], columns=["a", "b"])
    if kind != "numbers":
        frame["c"] = random.choice(["u", "v", "w"], N)
        frame["d"] = random.choice(["x", "y"], N)
    if kind == "gaps":
        frame.loc[::7, "a"] = np.nan
        frame.loc[::5, "c"] = None
    return frame


def learned(kind):
    """Encoded rows, and the density of all of them."""
    encoder = TableEncoder()
    rows = encoder.fit_transform(table(kind))
    mixture = VBMixture(n_components=4, n_categorical=len(encoder.categorical_), random_state=0).fit(rows).mixture_
    rows.flags.writeable = False
    return rows, mixture


LEARNED = {kind: learned(kind) for kind in ("numbers", "mixed", "gaps")}


def bound(name, kind):
    """A kernel with all that it needs, the rows that it can read, and the mixture."""
    rows, mixture = LEARNED[kind]
    if name == "rbf":
        return RBFKernel(n_categorical=len(mixture.categories)), mixture.conditional_mean(rows), mixture
    return {"rwm": RWMKernel, "gmm": GMMKernel}[name](mixture), rows, mixture


def same(kernel, point):
    """The kernel, made anew with the settings of a point."""
    changes = {"gamma": point.gamma, "alpha": point.alpha, "beta": point.beta}
    return type(kernel)(**{**kernel.get_params(deep=False), **changes})


# ---------------------------------------------------------------- kernels on distances


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("name", ["rbf", "gmm", "rwm"])
def test_matrices_are_those_of_the_kernel(name, kind):
    kernel, rows, _ = bound(name, kind)
    labelled, others = rows[:20], rows[20:]
    matrices = gram_cache(kernel, labelled, others)
    assert isinstance(matrices, DistanceGramCache)
    for point in POINTS:
        expected = same(kernel, point)
        np.testing.assert_allclose(matrices.at(point).among, expected(labelled), rtol=1e-12)
        np.testing.assert_allclose(matrices.at(point).towards, expected(others, labelled), rtol=1e-12)
        assert matrices.kernel(point).get_params(deep=False) == expected.get_params(deep=False)
    assert gram_cache(kernel, labelled, None).at(POINTS[0]).towards is None
    assert gram_cache(kernel, labelled, None).at(LINEAR).towards is None


@pytest.mark.parametrize("name", ["rbf", "gmm", "rwm"])
def test_distances_are_computed_once(name, monkeypatch):
    kernel, rows, _ = bound(name, "mixed")
    calls = []
    original = type(kernel).pair_terms
    monkeypatch.setattr(type(kernel), "pair_terms", lambda self, *rows: calls.append(1) or original(self, *rows))
    matrices = gram_cache(kernel, rows[:20], rows[20:])
    for point in POINTS:
        matrices.at(point)
    assert len(calls) == 2


def test_a_returned_matrix_may_be_changed():
    kernel, rows, _ = bound("rwm", "mixed")
    matrices = gram_cache(kernel, rows, None)
    for point in (POINTS[0], LINEAR):
        first = matrices.at(point).among.copy()
        matrices.at(point).among[:] = 7
        np.testing.assert_array_equal(matrices.at(point).among, first)


# ---------------------------------------------------------------- the linear kernel


@pytest.mark.parametrize("name", ["rbf", "gmm", "rwm"])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_without_gamma_it_is_the_linear_kernel(name, alpha):
    kernel, rows, _ = bound(name, "numbers")
    y = np.arange(20) % 3
    matrices = gram_cache(kernel, rows[:20], rows[20:])
    point = KernelPoint(None, alpha)
    ours = SVC(kernel="precomputed", C=0.7, tol=1e-10).fit(matrices.at(point).among, y)
    theirs = SVC(kernel="linear", C=0.7, tol=1e-10).fit(np.sqrt(alpha) * rows[:20], y)
    expected = theirs.decision_function(np.sqrt(alpha) * rows[20:])
    np.testing.assert_allclose(ours.decision_function(matrices.at(point).towards), expected, atol=1e-5)
    np.testing.assert_array_equal(ours.support_, theirs.support_)


@pytest.mark.parametrize("kind", ["numbers", "gaps"])
@pytest.mark.parametrize("name", ["rbf", "gmm", "rwm"])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_without_gamma_it_is_scalar_products_about_the_mean(name, kind, alpha):
    """Of the labelled rows, gaps filled; and of other rows with the labelled ones, about the same mean."""
    kernel, rows, mixture = bound(name, kind)
    numbers = mixture.conditional_mean(rows)[:, :2]
    centred = numbers - numbers[:20].mean(axis=0)
    matrices = gram_cache(kernel, rows[:20], rows[20:])
    point = KernelPoint(None, alpha, 0.0)
    np.testing.assert_allclose(matrices.at(point).among, alpha * centred[:20] @ centred[:20].T, atol=1e-12)
    np.testing.assert_allclose(matrices.at(point).towards, alpha * centred[20:] @ centred[:20].T, atol=1e-12)
    report = definiteness(matrices.at(point).among)
    assert report.is_definite
    assert report.rank == 2


@pytest.mark.parametrize("name", ["rbf", "rwm"])
@pytest.mark.parametrize(
    "point", [KernelPoint(None), KernelPoint(None, 0.5, 0.1), KernelPoint(None, 0.0, 1.0)], ids=str
)
def test_with_categories_it_is_minus_half_the_centred_squares(name, point):
    """-1/2 J D^2 J, where D^2 counts numbers and categories; J takes out the mean of the labelled rows."""
    kernel, rows, mixture = bound(name, "mixed")
    numbers = mixture.conditional_mean(rows)[:, :2]
    D2 = point.alpha * ((numbers[:, None] - numbers[None, :20]) ** 2).sum(axis=2)
    D2 += point.beta * (rows[:, None, 2:] != rows[None, :20, 2:]).sum(axis=2) ** 2
    J = np.eye(20) - 1 / 20
    matrices = gram_cache(kernel, rows[:20], rows[20:])
    np.testing.assert_allclose(matrices.at(point).among, -0.5 * J @ D2[:20] @ J, atol=1e-12)
    np.testing.assert_allclose(matrices.at(point).towards, -0.5 * (D2[20:] - D2[:20].mean(axis=0)) @ J, atol=1e-12)


@pytest.mark.parametrize("repair", ["auto", "none", "clip", "flip", "shift"])
@pytest.mark.parametrize("kind", ["numbers", "gaps"])
@pytest.mark.parametrize("name", ["rbf", "rwm"])
def test_no_repair_changes_the_linear_kernel(name, kind, repair):
    kernel, rows, mixture = bound(name, kind)
    numbers = mixture.conditional_mean(rows)[:, :2]
    y, point = np.arange(20) % 2, KernelPoint(None, 1.0, 0.0)
    matrices = gram_cache(kernel, rows[:20], rows[20:])
    for C in (0.1, 10.0):
        ours = classifier(matrices.at(point).among, y, C=C, tol=1e-10, repair=repair)
        theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(numbers[:20], y)
        expected = -theirs.decision_function(numbers[20:])  # ours are positive for the first class
        np.testing.assert_allclose(ours.decision(matrices.at(point).towards)[:, 0], expected, atol=1e-5)
        assert ours.change < 1e-12


def test_one_category_is_one_hot_in_the_linear_kernel():
    """Rows of different categories are 1 apart here, and 2 on one-hot columns: these are scaled by a half."""
    random = np.random.RandomState(1)
    X, codes, y = random.standard_normal((40, 2)), random.randint(0, 3, 40), np.arange(40) % 2
    alpha, beta = 0.5, 0.8
    matrices = gram_cache(RBFKernel(n_categorical=1), np.column_stack([X, codes]), None)
    ours = SVC(kernel="precomputed", tol=1e-10).fit(matrices.at(KernelPoint(None, alpha, beta)).among, y)
    columns = np.column_stack([np.sqrt(alpha) * X, np.sqrt(beta / 2) * np.eye(3)[codes]])
    theirs = SVC(kernel="linear", tol=1e-10).fit(columns, y)
    np.testing.assert_allclose(
        ours.decision_function(matrices.at(KernelPoint(None, alpha, beta)).among),
        theirs.decision_function(columns),
        atol=1e-5,
    )


def test_a_small_gamma_is_the_linear_kernel():
    """What the line rests on: exp(-gamma D^2) with C is linear with 2 gamma C, for ever smaller gamma."""
    _, rows, _ = bound("rbf", "numbers")
    y = np.arange(20) % 2
    matrices = gram_cache(RBFKernel(), rows[:20], rows[20:])
    flat = SVC(kernel="precomputed", C=0.5, tol=1e-9).fit(matrices.at(LINEAR).among, y)
    expected = flat.decision_function(matrices.at(LINEAR).towards)
    errors = []
    for small in (KernelPoint(0.1), KernelPoint(0.01), KernelPoint(0.001)):  # libsvm's floats are single: no smaller
        svc = SVC(kernel="precomputed", C=0.5 / (2 * small.gamma), tol=1e-9).fit(matrices.at(small).among, y)
        errors.append(np.abs(svc.decision_function(matrices.at(small).towards) - expected).max())
    assert errors[2] < 0.2 * errors[1] < 0.04 * errors[0]
    assert errors[2] < 0.05


# ---------------------------------------------------------------- units


@pytest.mark.parametrize("name", ["rbf", "gmm", "rwm"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (1.0, 0.1), (0.0, 1.0)])
def test_a_unit_is_a_ratio_of_medians(name, alpha, beta):
    kernel, rows, mixture = bound(name, "gaps")
    filled = mixture.conditional_mean(rows)
    codes = np.nan_to_num(rows[:, 2:], nan=-1)
    own, euclidean = [], []
    counts, own_distance = differing(codes), kernel.distance(rows)
    for i in range(N):
        for j in range(i + 1, N):
            own.append(alpha * own_distance[i, j] ** 2 + beta * counts[i, j] ** 2)
            euclidean.append(alpha * ((filled[i, :2] - filled[j, :2]) ** 2).sum() + beta * counts[i, j] ** 2)
    assert gram_cache(kernel, rows, None).unit(alpha, beta) == pytest.approx(np.median(euclidean) / np.median(own))


def differing(codes):
    """Differing categories; what is missing differs as in the kernel."""
    kernel = RBFKernel(n_categorical=codes.shape[1])
    rows = np.where(codes < 0, np.nan, codes)
    return np.sqrt(kernel.pair_terms(rows).sq_count)


def test_distances_of_rows_to_themselves_do_not_count():
    """Two pairs of equal rows: a third of the pairs, and half of the cells of the matrix."""
    mixture = Mixture([0.5, 0.5], [[0.0], [5.0]], [[[4.0]], [[4.0]]])
    rows = np.array([[0.0], [0.0], [5.0], [5.0]])
    matrices = gram_cache(RWMKernel(mixture), rows, None)
    assert matrices.unit(1.0, 1.0) == pytest.approx(4.0)
    assert gram_cache(RWMKernel(mixture), rows[1:3], None).unit(1.0, 1.0) == pytest.approx(4.0)


def test_the_euclidean_unit_is_one():
    kernel, rows, _ = bound("rbf", "mixed")
    assert gram_cache(kernel, rows, None).unit(1.0, 0.3) == 1.0


def test_equal_round_components_measure_in_their_deviation():
    mixture = Mixture([0.5, 0.5], [[0.0, 0.0], [3.0, 0.0]], [np.eye(2) * 4, np.eye(2) * 4])
    rows = np.random.RandomState(0).standard_normal((15, 2))
    assert gram_cache(RWMKernel(mixture), rows, None).unit(1.0, 1.0) == pytest.approx(4.0)


@pytest.mark.parametrize("rows", [np.zeros((6, 2)), np.repeat([[0.0, 0.0], [1.0, 1.0]], [9, 1], axis=0)], ids=["", "9"])
def test_rows_that_are_mostly_equal_have_no_unit(rows):
    mixture = Mixture([1.0], [[0.0, 0.0]], [np.eye(2)])
    assert gram_cache(RWMKernel(mixture), rows, None).unit(1.0, 1.0) == 1.0


# ---------------------------------------------------------------- Laplacian kernels


@pytest.mark.parametrize("kind", LEARNED)
@pytest.mark.parametrize("name", ["rbf", "rwm"])
def test_laplacian_matrices_are_those_of_the_kernel(name, kind):
    base, rows, _ = bound(name, kind)
    labelled, others = rows[:20], rows[20:]
    matrices = gram_cache(LaplacianKernel(base, rows, n_neighbors=5, ratio=3.0), labelled, others)
    assert isinstance(matrices, LaplacianGramCache)
    ratios = (None, 0.0, 1.0, 100.0, 1.0)
    points = [KernelPoint(p.gamma, p.alpha, p.beta, ratio) for p in POINTS for ratio in ratios]
    last = 3.0
    for point, found in zip(points, matrices.matrices(points), strict=True):
        last = last if point.ratio is None else point.ratio  # without a ratio, that of the last point
        expected = LaplacianKernel(same(base, point), rows, n_neighbors=5, ratio=last)
        np.testing.assert_allclose(found.among, expected(labelled), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(found.towards, expected(others, labelled), rtol=1e-8, atol=1e-10)
        assert found.point is point


def test_sequences_of_matrices_do_not_disturb_each_other():
    """A cache does not change: the matrices of two sequences, in turn, are those of either alone."""
    base, rows, _ = bound("rwm", "mixed")
    matrices = gram_cache(LaplacianKernel(base, rows, n_neighbors=5), rows[:20], rows[20:])
    first = [KernelPoint(0.1, ratio=ratio) for ratio in (1.0, 10.0, 0.0)]
    second = [KernelPoint(2.0, beta=0.3, ratio=ratio) for ratio in (5.0, 0.0, 10.0)]
    alone = [*matrices.matrices(first), *matrices.matrices(second)]
    in_turn = list(zip(matrices.matrices(first), matrices.matrices(second), strict=True))
    for one, other in zip(alone, [a for a, _ in in_turn] + [b for _, b in in_turn], strict=True):
        np.testing.assert_array_equal(one.among, other.among)
        np.testing.assert_array_equal(one.towards, other.towards)


def test_a_laplacian_cache_without_other_rows():
    base, rows, _ = bound("rbf", "numbers")
    labelled = rows[:20]
    assert gram_cache(LaplacianKernel(base, rows), labelled, None).at(POINTS[0]).towards is None


def test_the_graph_is_made_once_for_all_ratios(monkeypatch):
    base, rows, _ = bound("rbf", "numbers")
    calls = []
    original = laplacian.graph_laplacian
    monkeypatch.setattr(laplacian, "graph_laplacian", lambda *a, **k: calls.append(1) or original(*a, **k))
    matrices = gram_cache(LaplacianKernel(base, rows, ratio=3.0), rows[:20], rows[20:])
    assert len(list(matrices.matrices([KernelPoint(1.0, ratio=ratio) for ratio in (0.1, 1.0, 10.0)]))) == 3
    assert len(calls) == 1


# ---------------------------------------------------------------- what it refuses


@pytest.mark.parametrize("kind", ["numbers", "gaps"])
def test_rows_of_a_pool_have_their_coordinates_computed_once(kind, monkeypatch):
    """For all draws and ratios of one base kernel; the matrices are the same as without a pool."""
    base, rows, _ = bound("rwm", kind)
    kernel = LaplacianKernel(base, rows[::2], n_neighbors=4)
    draws = [(np.arange(4), np.arange(4, 30)), (np.arange(10, 16), np.arange(20, 45))]
    points = [KernelPoint(gamma, 1.0, 1.0, ratio) for gamma in (0.5, 2.0) for ratio in (0.1, 10.0, 1000.0)]
    plain = [LaplacianGramCache(kernel, rows[a], rows[b]) for a, b in draws]
    expected = [list(cache.matrices(points)) for cache in plain]
    calls = []
    coordinates = LaplacianKernel.coordinates
    monkeypatch.setattr(LaplacianKernel, "coordinates", lambda own, X: calls.append(len(X)) or coordinates(own, X))
    kernels = LaplacianKernels(kernel, rows)
    caches = [LaplacianGramCache(kernel, rows[a], rows[b], kernels, (a, b)) for a, b in draws]
    for found in zip(*(cache.matrices(points) for cache in caches), *expected, strict=True):
        for ours, theirs in zip(found[:2], found[2:], strict=True):
            np.testing.assert_allclose(ours.among, theirs.among, atol=1e-10)
            np.testing.assert_allclose(ours.towards, theirs.towards, atol=1e-10)
    assert calls == [N, N]


def test_coordinates_need_a_pool():
    base, rows, _ = bound("rbf", "numbers")
    with pytest.raises(KernelError, match="no pool of rows"):
        LaplacianKernels(LaplacianKernel(base, rows)).coordinates(np.arange(2))


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (RBFKernel() + RBFKernel(2.0), "Sum"),
        (RBFKernel() * RBFKernel(2.0), "Product"),
        (RBF(), "RBF"),
        (LaplacianKernel(RBFKernel() + RBFKernel(2.0)), "Sum"),
        (LaplacianKernel(RBF()), "RBF"),
    ],
    ids=str,
)
def test_kernels_without_gamma_are_refused(kernel, name):
    why = (
        rf"^A search needs a kernel with gamma, alpha and beta, but {name} has none\. Use scikit-learn's GridSearchCV "
    )
    with pytest.raises(KernelError, match=why):
        gram_cache(kernel, np.zeros((3, 2)), None)


def test_the_bound_kernel_of_an_estimator_is_searched():
    estimator = MixtureSVC(random_state=0)
    rows = estimator.learn_structure(table("gaps"))
    matrices = gram_cache(estimator.kernel_, rows[:9], None)
    np.testing.assert_allclose(
        matrices.at(KernelPoint(estimator.kernel_.gamma)).among, estimator.kernel_(rows[:9]), rtol=1e-12
    )
