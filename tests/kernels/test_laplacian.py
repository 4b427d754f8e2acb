import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.svm import SVC

from mixkern import VBMixture, datasets
from mixkern.errors import KernelError, NotBoundError
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel, definiteness
from mixkern.kernels.laplacian import graph_laplacian

X, Y_CLASS = datasets.make_two_moons(n=70, random_state=0)
X.flags.writeable = False
NEW = datasets.make_two_moons(n=9, random_state=1)[0]
MIXTURE = VBMixture(n_components=6, random_state=0).fit(X).mixture_
BASES = [RBFKernel(2.0), GMMKernel(MIXTURE, 0.5), RWMKernel(MIXTURE, 0.5)]
each_base = pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)


def literal_laplacian(D, k):
    """The normalised Laplacian of the symmetrised graph of k nearest neighbours, literally."""
    n = len(D)
    W = np.zeros((n, n))
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: D[i, j])
        for j in others[:k]:
            W[i, j] = W[j, i] = 1
    degree = W.sum(axis=1)
    return np.eye(n) - W / np.sqrt(np.outer(degree, degree))


def clipped(base, rows):
    """The base kernel without the eigenvectors that are negative among rows, for any other rows as well."""
    values, vectors = np.linalg.eigh(base(rows))
    N = sum(
        (np.outer(u, u) / v for v, u in zip(values, vectors.T, strict=True) if v < -1e-11), np.zeros((len(rows),) * 2)
    )
    return lambda A, B: base(A, B) - base(A, rows) @ N @ base(rows, B)


def literal_kernel(base, rows, A, B, ratio, degree=1, k=7):
    """DESIGN's formula with a plain solve."""
    plus = clipped(base, rows)
    G = plus(rows, rows)
    M = ratio * np.linalg.matrix_power(literal_laplacian(base.distance(rows), k), degree)
    bend = np.linalg.solve(np.eye(len(rows)) + M @ G, M)
    return plus(A, B) - plus(A, rows) @ bend @ plus(rows, B)


def test_laplacian_against_the_literal_one():
    D = RBFKernel().distance(X)
    np.testing.assert_allclose(graph_laplacian(D, 5).toarray(), literal_laplacian(D, 5), atol=1e-12)


def test_laplacian_of_few_rows_and_of_equal_rows():
    assert graph_laplacian(np.zeros((1, 1))).toarray().tolist() == [[1.0]]
    L = graph_laplacian(np.zeros((4, 4)), 7).toarray()
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12)


@each_base
@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("degree", [1, 2])
def test_the_kernel_against_a_plain_solve(base, ratio, degree):
    kernel = LaplacianKernel(base, X, ratio=ratio, degree=degree)
    np.testing.assert_allclose(kernel(X), literal_kernel(base, X, X, X, ratio, degree), atol=1e-7)
    np.testing.assert_allclose(kernel(NEW, X), literal_kernel(base, X, NEW, X, ratio, degree), atol=1e-7)
    np.testing.assert_allclose(kernel(NEW), literal_kernel(base, X, NEW, NEW, ratio, degree), atol=1e-7)


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


@pytest.mark.parametrize(
    "changes",
    [
        {"ratio": 50.0},
        {"n_neighbors": 3},
        {"degree": 2},
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
    assert not {"deformation", "_factors"} & set(kernel.__dict__)
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
    kernel.unbent(NEW, np.ones((len(NEW), 1)))
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
    with pytest.raises(KernelError, match="n_neighbors and degree must be 1 or more, but are 0, 1"):
        LaplacianKernel(RBFKernel(), X, n_neighbors=0)(X)
    with pytest.raises(KernelError, match="no gradient"):
        LaplacianKernel(RBFKernel(), X)(X, eval_gradient=True)


# ---------------------------------------------------------------- any base, and sums without the graph

OTHERS = [RBF(0.7), ConstantKernel(2.0) * RBFKernel(2.0), RWMKernel(MIXTURE, 0.5) + RBF(0.5)]


@pytest.mark.parametrize("base", [*BASES, *OTHERS], ids=repr)
@pytest.mark.parametrize("ratio", [0.0, 1.0, 1e3])
def test_unbent_sums_are_those_of_the_bent_kernel(base, ratio):
    kernel = LaplacianKernel(base, X, ratio=ratio)
    V = np.random.RandomState(0).standard_normal((6, 3))
    rows, coefficients = kernel.unbent(NEW[:6], V)
    np.testing.assert_array_equal(rows, np.vstack([X, NEW[:6]]) if ratio else NEW[:6])
    assert coefficients.shape == (len(rows), 3)
    for new in (NEW, X, X[:1]):
        np.testing.assert_allclose(base(new, rows) @ coefficients, kernel(new, NEW[:6]) @ V, atol=1e-7)


def test_unbent_against_a_plain_solve():
    base, ratio = RBFKernel(2.0), 3.0
    M = ratio * literal_laplacian(base.distance(X), 7)
    V = np.random.RandomState(0).standard_normal((len(NEW), 2))
    expected = -np.linalg.solve(np.eye(len(X)) + M @ base(X), M @ base(X, NEW) @ V)
    _, coefficients = LaplacianKernel(base, X, ratio=ratio).unbent(NEW, V)
    np.testing.assert_allclose(coefficients[: len(X)], expected, atol=1e-9)
    np.testing.assert_array_equal(coefficients[len(X) :], V)


def test_unbent_without_rows_or_coefficients():
    kernel = LaplacianKernel(RBFKernel(2.0), X)
    rows, coefficients = kernel.unbent(np.empty((0, 2)), np.empty((0, 2)))
    assert rows.shape == X.shape
    assert (coefficients == 0).all()
    with pytest.raises(NotBoundError, match="no rows for its graph"):
        LaplacianKernel(RBFKernel()).unbent(NEW, np.ones((9, 1)))


@pytest.mark.parametrize("base", OTHERS, ids=repr)
def test_any_kernel_can_be_bent(base):
    """Without distances of its own, rows are apart as in the kernel's own space."""
    G = base(X)
    apart = np.array([[G[i, i] + G[j, j] - 2 * G[i, j] for j in range(len(X))] for i in range(len(X))])
    kernel = LaplacianKernel(base, X, ratio=2.0, n_neighbors=5)
    np.testing.assert_allclose(kernel._apart(X), apart, atol=1e-12)
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
