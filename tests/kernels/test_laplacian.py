import pickle
from inspect import ismethod

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.svm import SVC

from mixkern import VBMixture, datasets
from mixkern.errors import KernelError, NotBoundError, OptionError
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel, definiteness
from mixkern.kernels.graph import graph_laplacian
from mixkern.kernels.laplacian import Deformation, SpectralRoot, TriangularRoot
from mixkern.search.gram_cache import LaplacianGramCache, LaplacianKernels
from mixkern.search.grid import KernelPoint

X, Y_CLASS = datasets.make_two_moons(n=70, random_state=0)
X.flags.writeable = False
NEW = datasets.make_two_moons(n=9, random_state=1)[0]
MIXTURE = VBMixture(n_components=6, random_state=0).fit(X).mixture_
BASES = [RBFKernel(2.0), GMMKernel(MIXTURE, 0.5), RWMKernel(MIXTURE, 0.5)]
each_ratio = pytest.mark.parametrize(
    "ratio", [1e-8, 1.0, 1e8, *(pytest.param(ratio, marks=pytest.mark.slow) for ratio in (1e-3, 1e3))]
)
each_graph = pytest.mark.parametrize(
    "graph",
    [{"weights": "heat"}, {"normalised": False}, {"weights": "heat", "normalised": False}],
    ids=["heat", "unnormalised", "both"],
)
each_base = pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)


def clipped(base, rows):
    """The base kernel without the eigenvectors that are negative among rows, for any other rows as well."""
    values, vectors = np.linalg.eigh(base(rows))
    N = sum(
        (np.outer(u, u) / v for v, u in zip(values, vectors.T, strict=True) if v < -1e-11), np.zeros((len(rows),) * 2)
    )
    return lambda A, B: base(A, B) - base(A, rows) @ N @ base(rows, B)


def solved(A, B):
    """Solve A Z = B in long doubles: elimination with pivots, as in the books."""
    A, B = np.array(A, dtype=np.longdouble), np.array(B, dtype=np.longdouble)
    n = len(A)
    for j in range(n):
        pivot = j + np.argmax(np.abs(A[j:, j]))
        A[[j, pivot]], B[[j, pivot]] = A[[pivot, j]], B[[pivot, j]]
        factors = A[j + 1 :, j] / A[j, j]
        A[j + 1 :] -= factors[:, None] * A[j]
        B[j + 1 :] -= factors[:, None] * B[j]
    for j in reversed(range(n)):
        B[j] = (B[j] - A[j, j + 1 :] @ B[j + 1 :]) / A[j, j]
    return B


@pytest.fixture(scope="session")
def literal_kernel(literal_laplacian):
    """DESIGN's formula with a plain solve: k - k_x' (I + M G)^-1 M k_z, M = ratio L^p."""

    def kernel(base, rows, A, B, ratio, degree=1, weights="binary", normalised=True):
        plus = clipped(base, rows)
        G = plus(rows, rows)
        L = literal_laplacian(base.distance(rows), 7, weights, normalised)
        M = ratio * np.linalg.matrix_power(L, degree)
        bend = solved(np.eye(len(rows)) + M @ G.astype(np.longdouble), M)
        return plus(A, B) - plus(A, rows) @ bend @ plus(rows, B)

    return kernel


def precise_gaussian(gamma):
    """A Gaussian kernel in long doubles."""

    def kernel(A, B):
        A, B = np.asarray(A, dtype=np.longdouble), np.asarray(B, dtype=np.longdouble)
        return np.exp(-np.longdouble(gamma) * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    return kernel


def precise_kernel(gamma, rows, A, B, ratio, degree=1, k=7, **graph):
    """The same formula for a Gaussian, in long doubles from end to end."""
    base = precise_gaussian(gamma)
    laplacian = graph_laplacian(RBFKernel().distance(rows), k, **graph)  # equal rows: one of many graphs
    L = laplacian.toarray().astype(np.longdouble)
    M = np.longdouble(ratio) * (L if degree == 1 else L @ L)
    n = len(rows)
    return base(A, B) - base(A, rows) @ solved(np.eye(n) + M @ base(rows, rows), M @ base(rows, B))


@each_base
@each_ratio
@pytest.mark.parametrize("degree", [1, 2])
def test_the_kernel_against_a_plain_solve(base, ratio, degree, literal_kernel):
    kernel = LaplacianKernel(base, X, ratio=ratio, degree=degree)
    is_triangular = isinstance(kernel.deformation.root, TriangularRoot)
    assert is_triangular == definiteness(base(X)).is_definite == isinstance(base, RBFKernel)
    np.testing.assert_allclose(kernel(X), literal_kernel(base, X, X, X, ratio, degree), atol=1e-9)
    np.testing.assert_allclose(kernel(NEW, X), literal_kernel(base, X, NEW, X, ratio, degree), atol=1e-7)
    np.testing.assert_allclose(kernel(NEW), literal_kernel(base, X, NEW, NEW, ratio, degree), atol=1e-7)


@each_base
@each_graph
@pytest.mark.parametrize("degree", [1, 2])
def test_other_graphs_against_a_plain_solve(base, degree, graph, literal_kernel):
    kernel = LaplacianKernel(base, X, ratio=3.0, degree=degree, **graph)
    expected = [literal_kernel(base, X, A, B, 3.0, degree, **graph) for A, B in ((X, X), (NEW, X), (NEW, NEW))]
    for found, literal in zip((kernel(X), kernel(NEW, X), kernel(NEW)), expected, strict=True):
        np.testing.assert_allclose(found, literal, atol=1e-9)
    assert np.abs(kernel(X) - LaplacianKernel(base, X, ratio=3.0, degree=degree)(X)).max() > 1e-3


TWINS = np.vstack([X[:45], X[:20], X[:5]])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [X, TWINS], ids=["", "twins"])
@pytest.mark.parametrize("gamma", [20.0, 2.0, 0.3, 0.03])
@pytest.mark.parametrize("degree", [1, 2])
@each_ratio
def test_the_kernel_in_long_doubles(rows, gamma, degree, ratio):
    """To eight digits of its largest number, or to 1e-12; rows that are far from all others, to five digits."""
    kernel = LaplacianKernel(RBFKernel(gamma), rows, ratio=ratio, degree=degree)
    assert len(kernel.deformation.energy) <= len(np.unique(rows, axis=0))
    for A, B in ((rows, rows), (NEW, rows), (rows, NEW), (NEW, NEW)):
        expected = precise_kernel(gamma, rows, A, B, ratio, degree)
        np.testing.assert_allclose(kernel(A, B), expected, rtol=0, atol=1e-12 + 1e-8 * np.abs(expected).max())
    expected = precise_kernel(gamma, rows, NEW + 3.0, NEW + 3.0, ratio, degree)
    np.testing.assert_allclose(kernel(NEW + 3.0), expected, rtol=0, atol=1e-5 if ratio > 1e3 else 1e-7)
    np.testing.assert_allclose(kernel.diag(NEW), np.diag(kernel(NEW)), rtol=0, atol=1e-13)


@pytest.mark.parametrize("weights", ["binary", "heat"])
@pytest.mark.parametrize("gamma", [20.0, 0.3])
@pytest.mark.parametrize(("ratio", "most"), [(1e3, 1e-10), (1e6, 1e-7), (1e8, 1e-5)])
def test_the_kernel_of_an_unnormalised_laplacian_in_long_doubles(gamma, ratio, most, weights):
    """Larger eigenvalues, and constant functions without any penalty: fewer digits are left at large ratios."""
    graph = {"weights": weights, "normalised": False}
    for degree in (1, 2):
        kernel = LaplacianKernel(RBFKernel(gamma), X, ratio=ratio, degree=degree, **graph)
        for A, B in ((X, X), (NEW, NEW)):
            expected = precise_kernel(gamma, X, A, B, ratio, degree, **graph)
            np.testing.assert_allclose(kernel(A, B), expected, rtol=0, atol=most)


@pytest.mark.parametrize("gamma", [2.0, 0.3])
@each_ratio
def test_rows_of_the_graph_alone_or_with_others(gamma, ratio):
    """One formula for all rows: those of the graph are where its first two terms cancel."""
    kernel = LaplacianKernel(RBFKernel(gamma), X, ratio=ratio)
    K = kernel(np.vstack([X, NEW]))
    np.testing.assert_allclose(kernel(X), K[:70, :70], rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(X[:3], NEW), K[:3, 70:], rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(NEW, X[:3]), K[70:, :3], rtol=0, atol=1e-13)
    left = kernel.coordinates(X)
    assert np.abs(kernel.deformation.residual(kernel.base(X), left, left)).max() < 1e-13
    half = kernel.half(left)
    np.testing.assert_allclose(kernel.along(left, half), half.T @ half, rtol=0, atol=1e-14)


@pytest.mark.parametrize("base", [RBFKernel(0.3), RWMKernel(MIXTURE, 0.5)], ids=repr)
def test_the_root_of_the_base_kernel(base):
    """Coordinates of the positive part make it up again, and so do those of the negative one."""
    G, kernel = base(X), LaplacianKernel(base, X)
    root, left = kernel.deformation.root, kernel.coordinates(X)
    np.testing.assert_allclose(left.T @ (root.signs[:, None] * left), G, rtol=0, atol=1e-12)
    m = len(kernel.deformation.energy)
    assert (root.signs[:m] == 1).all()
    assert (root.signs[m:] == -1).all()
    L = kernel.deformation.power.toarray()
    np.testing.assert_allclose(kernel.deformation.energy, left[:m] @ L @ left[:m].T, rtol=0, atol=1e-8)
    v = np.random.RandomState(0).standard_normal((len(left), 2))
    np.testing.assert_allclose(G[:, root.landmarks] @ root.coefficients(v), left.T @ v, rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    "base", [RBFKernel(2.0), RBFKernel(50.0), RBFKernel(0.3), RWMKernel(MIXTURE, 0.5)], ids=["2", "50", "0.3", "rwm"]
)
def test_rows_of_the_graph_have_their_coordinates_already(base):
    kernel = LaplacianKernel(base, X)
    root = kernel.deformation.root
    own = root.own_coordinates(len(X))
    assert (own is None) == (len(root.landmarks) < len(X))
    if own is not None:
        np.testing.assert_allclose(own, kernel.coordinates(X)[: len(own)], rtol=0, atol=1e-7)
    for order in (slice(None), slice(None, None, -1)):  # those of the graph, and the same in another order
        rows = X[order]
        general = kernel(np.vstack([rows, NEW]))[:70, :70]
        np.testing.assert_allclose(kernel(rows), general, rtol=0, atol=1e-11)
    assert (kernel(X) == kernel(X).T).all()


def test_blocks_of_the_root(monkeypatch):
    expected = LaplacianKernel(RBFKernel(0.3), X).deformation
    assert len(expected.energy) < len(X)
    monkeypatch.setattr("mixkern.kernels.laplacian.BLOCK", 7)
    blocks = LaplacianKernel(RBFKernel(0.3), X).deformation
    np.testing.assert_allclose(blocks.energy, expected.energy, rtol=0, atol=1e-13)
    assert isinstance(LaplacianKernel(RWMKernel(MIXTURE, 0.5), X).deformation.root, SpectralRoot)


def test_few_rows():
    assert LaplacianKernel(RBFKernel(), X[:1])(NEW).shape == (9, 9)
    assert LaplacianKernel(RBFKernel(), X)(X[:0], NEW).shape == (0, 9)
    same = LaplacianKernel(RBFKernel(), np.zeros((5, 2)), ratio=1.0)
    assert same.deformation.energy.shape == (1, 1)
    np.testing.assert_allclose(same(NEW), precise_kernel(1.0, np.zeros((5, 2)), NEW, NEW, 1.0), atol=1e-12)


@each_base
def test_ratio_zero_is_the_base_kernel(base):
    kernel = LaplacianKernel(base, X, ratio=0.0)
    np.testing.assert_array_equal(kernel(NEW, X), base(NEW, X))
    np.testing.assert_array_equal(kernel(X), base(X))


@each_base
def test_symmetric_and_definite(base):
    K = LaplacianKernel(base, X, ratio=10.0)(X)
    assert np.array_equal(K, K.T)
    if definiteness(base(X)).is_definite:
        assert definiteness(K).smallest > -1e-8


@each_base
def test_another_ratio_reuses_the_graph(base):
    kernel = LaplacianKernel(base, X, ratio=1.0)
    other = kernel.with_ratio(50.0)
    assert other.deformation is kernel.deformation
    np.testing.assert_allclose(other(NEW, X), LaplacianKernel(base, X, ratio=50.0)(NEW, X), atol=1e-10)


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_another_gamma_reuses_the_graph(base):
    kernel = LaplacianKernel(base, X, ratio=2.0, n_neighbors=4)
    wider = clone(base).set_params(gamma=0.1)
    wider = wider if isinstance(base, RBFKernel) else wider.bind(MIXTURE)
    other = kernel.with_base(wider)
    assert other.graph is kernel.graph
    assert other.base is wider
    expected = LaplacianKernel(wider, X, ratio=2.0, n_neighbors=4)
    np.testing.assert_array_equal(other(NEW, X), expected(NEW, X))


@pytest.mark.parametrize(
    "base", [RBFKernel(2.0, alpha=2.0), GMMKernel(MIXTURE, 2.0), RBF(0.5), RBFKernel(2.0) + RBFKernel(1.0)], ids=repr
)
def test_other_distances_make_another_graph(base):
    kernel = LaplacianKernel(RBFKernel(2.0), X, ratio=2.0)
    other = kernel.with_base(base)
    assert "graph" not in other.__dict__
    np.testing.assert_array_equal(other(NEW), LaplacianKernel(base, X, ratio=2.0)(NEW))
    assert "graph" not in other.with_base(RBFKernel(2.0)).__dict__


def test_an_unbound_kernel_may_change_its_base():
    kernel = LaplacianKernel(RBFKernel(2.0)).with_base(RBFKernel(1.0))
    assert kernel.base.gamma == 1.0
    assert kernel.bind(X)(NEW).shape == (9, 9)


@pytest.mark.parametrize(
    "changes",
    [
        {"ratio": 50.0},
        {"n_neighbors": 3},
        {"degree": 2},
        {"weights": "heat"},
        {"normalised": False},
        {"rows": X[:40]},
        {"base": RBFKernel(0.5)},
        {"base__gamma": 9.0},
    ],
    ids=lambda changes: next(iter(changes)),
)
@pytest.mark.parametrize("is_part", [False, True])
def test_other_settings_make_another_kernel(changes, is_part):
    """What was computed with the old ones is forgotten, in a sum as well."""
    kernel = LaplacianKernel(RBFKernel(2.0), X, ratio=1.0)
    before = kernel(NEW, X)
    assert "deformation" in kernel.__dict__
    if is_part:
        (kernel + RBFKernel(1.0)).set_params(**{f"k1__{name}": value for name, value in changes.items()})
    else:
        assert kernel.set_params(**changes) is kernel
    assert not {"graph", "deformation", "_factors"} & set(kernel.__dict__)
    fresh = LaplacianKernel(RBFKernel(2.0), X, ratio=1.0)
    expected = clone(fresh).set_params(**changes)(NEW, X)
    np.testing.assert_array_equal(kernel(NEW, X), expected)
    assert not np.allclose(before, expected, atol=1e-6)
    with pytest.raises(ValueError, match="Invalid parameter"):
        kernel.set_params(gama=1.0)


def test_another_theta_makes_another_kernel():
    kernel = LaplacianKernel(RBFKernel(2.0), X, ratio=1.0, ratio_bounds=(1e-3, 1e3))
    kernel(NEW)
    kernel.theta = np.log([5.0])
    expected = LaplacianKernel(RBFKernel(2.0), X, ratio=5.0)(NEW)
    np.testing.assert_allclose(kernel(NEW), expected, atol=1e-10)


@each_base
def test_ratio_zero_needs_no_graph(base):
    kernel = LaplacianKernel(base, ratio=0.0)
    np.testing.assert_array_equal(kernel(NEW, X), base(NEW, X))
    np.testing.assert_array_equal(kernel.diag(NEW), base.diag(NEW))
    kernel = LaplacianKernel(base, X, ratio=0.0)
    kernel(NEW)
    assert "deformation" not in kernel.__dict__


def test_sums_with_ratio_zero_need_no_graph():
    kernel = LaplacianKernel(RBFKernel(2.0), X, ratio=0.0)
    kernel.base_representation(NEW, np.ones((len(NEW), 1)))
    assert "deformation" not in kernel.__dict__


def test_two_labels_are_enough_for_two_moons():
    rows, y = datasets.make_two_moons(n=300, random_state=0)
    labelled = [int((y == 0).argmax()), int((y == 1).argmax())]
    svc = SVC(kernel=LaplacianKernel(RBFKernel(5.0), rows, ratio=100.0), C=100).fit(rows[labelled], y[labelled])
    plain = SVC(kernel=RBFKernel(5.0), C=100).fit(rows[labelled], y[labelled])
    assert svc.score(rows, y) > 0.95 > plain.score(rows, y)


@each_base
def test_a_value_that_survives_copies(base):
    kernel = LaplacianKernel(base, X, ratio=2.0)
    expected = kernel(NEW)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        np.testing.assert_allclose(copy(NEW), expected)
    np.testing.assert_allclose(kernel.diag(NEW), np.diag(expected))
    np.testing.assert_allclose((kernel + RBFKernel(1.0))(NEW), expected + RBFKernel(1.0)(NEW))


def test_what_cannot_be():
    with pytest.raises(NotBoundError, match=r"no rows for its graph\. Bind them first: kernel\.bind\(X\)"):
        LaplacianKernel(RBFKernel())(X)
    assert LaplacianKernel(RBFKernel()).bind(X)(NEW).shape == (9, 9)
    with pytest.raises(KernelError, match="ratio must be a number, 0 or more, but it is -1"):
        LaplacianKernel(RBFKernel(), X, ratio=-1)(X)
    with pytest.raises(KernelError, match="ratio must be a number, 0 or more, but it is -1"):
        LaplacianKernel(RBFKernel(), X, ratio=-1).diag(X)
    with pytest.raises(KernelError, match="n_neighbors and degree must be 1 or more, but are 0, 1"):
        LaplacianKernel(RBFKernel(), X, n_neighbors=0)(X)
    with pytest.raises(OptionError, match="weights must be one of 'binary', 'heat', but it is 'warm'"):
        LaplacianKernel(RBFKernel(), X, weights="warm")(X)
    with pytest.raises(KernelError, match="normalised must be True or False, but it is 1"):
        LaplacianKernel(RBFKernel(), X, normalised=1)(X)
    with pytest.raises(KernelError, match="no gradient"):
        LaplacianKernel(RBFKernel(), X)(X, eval_gradient=True)


# ---------------------------------------------------------------- any base, and sums without the graph

OTHERS = [RBF(0.7), ConstantKernel(2.0) * RBFKernel(2.0), RWMKernel(MIXTURE, 0.5) + RBF(0.5)]


@pytest.mark.parametrize("base", [*BASES, *OTHERS], ids=repr)
@pytest.mark.parametrize("ratio", [0.0, 1.0, 1e3])
def test_the_base_representation_has_the_same_sums(base, ratio):
    kernel = LaplacianKernel(base, X, ratio=ratio)
    V = np.random.RandomState(0).standard_normal((6, 3))
    rows, coefficients = kernel.base_representation(NEW[:6], V)
    landmarks = X[kernel.deformation.root.landmarks] if ratio else X[:0]
    np.testing.assert_array_equal(rows, np.vstack([landmarks, NEW[:6]]))
    assert coefficients.shape == (len(rows), 3)
    for new in (NEW, X, X[:1]):
        np.testing.assert_allclose(base(new, rows) @ coefficients, kernel(new, NEW[:6]) @ V, atol=1e-7)


def test_the_base_representation_against_a_plain_solve(literal_laplacian):
    base, ratio = RBFKernel(2.0), 3.0
    M = ratio * literal_laplacian(base.distance(X), 7)
    V = np.random.RandomState(0).standard_normal((len(NEW), 2))
    expected = -np.linalg.solve(np.eye(len(X)) + M @ base(X), M @ base(X, NEW) @ V)
    kernel = LaplacianKernel(base, X, ratio=ratio)
    _, coefficients = kernel.base_representation(NEW, V)
    landmarks = kernel.deformation.root.landmarks
    assert sorted(landmarks) == list(range(len(X)))  # of full rank: all rows, in an order of their own
    np.testing.assert_allclose(coefficients[: len(X)], expected[landmarks], atol=1e-9)
    np.testing.assert_array_equal(coefficients[len(X) :], V)


@each_ratio
@pytest.mark.parametrize("gamma", [2.0, 0.3, 0.03])
@pytest.mark.parametrize("rows", [X, TWINS], ids=["", "twins"])
def test_the_base_representation_needs_few_rows_and_lose_no_digits(rows, gamma, ratio):
    base, V = RBFKernel(gamma), np.random.RandomState(0).standard_normal((len(NEW), 2))
    kernel = LaplacianKernel(base, rows, ratio=ratio)
    support, coefficients = kernel.base_representation(NEW, V)
    assert len(support) == len(kernel.deformation.energy) + len(NEW)
    assert np.abs(coefficients).max() < 1e5
    for new in (NEW, rows):
        np.testing.assert_allclose(base(new, support) @ coefficients, kernel(new, NEW) @ V, rtol=0, atol=1e-10)


def test_the_base_representation_without_rows_or_coefficients():
    kernel = LaplacianKernel(RBFKernel(2.0), X)
    rows, coefficients = kernel.base_representation(np.empty((0, 2)), np.empty((0, 2)))
    assert rows.shape == (len(kernel.deformation.root.landmarks), 2)
    assert (coefficients == 0).all()
    with pytest.raises(NotBoundError, match="no rows for its graph"):
        LaplacianKernel(RBFKernel()).base_representation(NEW, np.ones((9, 1)))


@pytest.mark.parametrize("base", OTHERS, ids=repr)
def test_any_kernel_can_be_bent(base, literal_laplacian):
    """Without distances of its own, rows are apart as in the kernel's own space."""
    G = base(X)
    apart = np.array([[G[i, i] + G[j, j] - 2 * G[i, j] for j in range(len(X))] for i in range(len(X))])
    kernel = LaplacianKernel(base, X, ratio=2.0, n_neighbors=5)
    np.testing.assert_allclose(kernel._sq_distances(X), apart, atol=1e-12)
    plus = clipped(base, X)
    M = 2.0 * literal_laplacian(apart, 5)
    bend = np.linalg.solve(np.eye(len(X)) + M @ plus(X, X), M)
    expected = plus(NEW, NEW) - plus(NEW, X) @ bend @ plus(X, NEW)
    np.testing.assert_allclose(kernel(NEW), expected, atol=1e-8)
    assert definiteness(kernel(X)).smallest > -1e-8


def test_a_graph_in_the_kernels_own_space_is_the_graph_of_its_distances():
    """For one Gaussian, who is alike is who is near."""
    a = LaplacianKernel(RBFKernel(0.5), X).deformation.power.toarray()
    b = LaplacianKernel(RBF(1.0), X).deformation.power.toarray()
    np.testing.assert_allclose(a, b, atol=1e-12)


def test_categories_count_in_the_graph():
    rows = np.column_stack([np.arange(12.0), np.arange(12) % 2])
    joined = LaplacianKernel(
        RBFKernel(0.1, beta=50.0, n_categorical=1), rows, n_neighbors=2
    ).deformation.power.toarray()
    assert (joined[np.not_equal.outer(rows[:, 1], rows[:, 1])] == 0).all()
    joined = LaplacianKernel(RBFKernel(0.1, beta=0.0, n_categorical=1), rows, n_neighbors=2).deformation.power.toarray()
    assert (joined[np.not_equal.outer(rows[:, 1], rows[:, 1])] < 0).any()


# ---------------------------------------------------------------- searches that share one kernel

GRID = [KernelPoint(gamma, ratio=ratio) for gamma in (2.0, 0.3) for ratio in (0.0, 1e-3, 1.0, 1e8)]


def counted(monkeypatch, owner, name):
    calls, original = [], getattr(owner, name)

    def call(*given):
        calls.append(given)
        return original(*given)

    monkeypatch.setattr(owner, name, staticmethod(call) if ismethod(original) else call)
    return calls


@pytest.mark.parametrize("name", ["rbf", "rwm"])
def test_searches_in_lockstep_share_one_kernel(name, monkeypatch):
    base = RBFKernel(5.0) if name == "rbf" else RWMKernel(MIXTURE, 5.0)
    kernel = LaplacianKernel(base, X, n_neighbors=5, ratio=7.0)
    family = LaplacianKernels(kernel)
    draws = [(X[:12], X[12:40]), (X[30:44], NEW), (X[50:53], None)]
    searches = [LaplacianGramCache(kernel, *draw, family).matrices(GRID) for draw in draws]
    graphs, roots, factors = (
        counted(monkeypatch, owner, which)
        for owner, which in ((LaplacianKernel, "_sq_distances"), (Deformation, "of"), (Deformation, "factor"))
    )
    for point in GRID:
        found = [(each.among, each.towards) for each in map(next, searches)]
        assert (family.last.base.gamma, family.last.ratio) == (point.gamma, point.ratio)
        n = len(graphs), len(roots), len(factors)
        expected = LaplacianKernel(clone(base).set_params(gamma=point.gamma), X, n_neighbors=5, ratio=point.ratio)
        expected = expected if name == "rbf" else expected.with_base(expected.base.bind(MIXTURE))
        for (labelled, others), (among, towards) in zip(draws, found, strict=True):
            np.testing.assert_array_equal(among, among.T)
            np.testing.assert_allclose(among, expected(labelled), rtol=0, atol=1e-12)
            if others is None:
                assert towards is None
            else:
                np.testing.assert_allclose(towards, expected(others, labelled), rtol=0, atol=1e-12)
        del graphs[n[0] :], roots[n[1] :], factors[n[2] :]
    assert len(graphs) == 1
    assert len(roots) == 2
    assert len(factors) == 6  # with a ratio of 0, there are none


def test_coordinates_are_found_once_for_all_ratios(monkeypatch):
    cache = LaplacianGramCache(LaplacianKernel(RBFKernel(1.0), X), X[:10], NEW)
    calls = counted(monkeypatch, LaplacianKernel, "coordinates")
    assert len(list(cache.matrices(GRID))) == len(GRID)
    assert len(calls) == 4  # two kinds of rows, two gammas


def test_another_weight_of_categories_makes_another_graph():
    rows = np.column_stack([X, np.arange(len(X)) % 2])
    family = LaplacianKernels(LaplacianKernel(RBFKernel(1.0, n_categorical=1), rows))
    first = family.kernel(KernelPoint(1.0, beta=1.0, ratio=1.0)).graph
    assert family.kernel(KernelPoint(0.1, beta=1.0, ratio=1.0)).graph is first
    other = family.kernel(KernelPoint(0.1, beta=50.0, ratio=1.0)).graph
    assert (other != first).nnz
    with pytest.raises(KernelError, match="a kernel with gamma, alpha and beta, but RBF has none"):
        LaplacianKernels(LaplacianKernel(RBF(), rows))


@each_graph
def test_other_graphs_are_shared_and_kept(graph):
    """With another base, ratio or point of a search, and in copies, the kernel keeps its graph."""
    kernel = LaplacianKernel(RBFKernel(2.0), X, ratio=3.0, **graph)
    expected = LaplacianKernel(RBFKernel(0.5), X, ratio=5.0, **graph)(NEW, X)
    moved = kernel.with_base(RBFKernel(0.5)).with_ratio(5.0)
    assert moved.graph is kernel.graph
    found = LaplacianKernels(kernel).kernel(KernelPoint(0.5, ratio=5.0))
    assert found.graph is kernel.graph
    for other in (moved, found, clone(moved), pickle.loads(pickle.dumps(moved)), moved.bind(X)):
        np.testing.assert_array_equal(other(NEW, X), expected)


@each_graph
def test_other_graphs_are_parts_of_a_model_file(graph):
    kernel = LaplacianKernel(RBFKernel(2.0), X, ratio=3.0, **graph)
    parts = kernel.to_parts()
    np.testing.assert_array_equal(LaplacianKernel.from_parts(parts)(NEW, X), kernel(NEW, X))
    old = {name: part for name, part in parts.items() if name not in ("weights", "normalised")}
    expected = LaplacianKernel(RBFKernel(2.0), X, ratio=3.0)(NEW, X)
    np.testing.assert_array_equal(LaplacianKernel.from_parts(old)(NEW, X), expected)
