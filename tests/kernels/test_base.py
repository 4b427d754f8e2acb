"""Laws that every kernel on distances keeps, and the machines of scikit-learn that it works in."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM

from mixkern import Mixture, TableEncoder, VBMixture, datasets
from mixkern.errors import KernelError, NotBoundError
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
from mixkern.kernels.base import GAMMA_BOUNDS, MixtureKernel, PairTerms

X, Y_CLASS = datasets.make_two_moons(n=80, random_state=0)
X.flags.writeable = False
MIXTURE = VBMixture(n_components=6, random_state=0).fit(X).mixture_
KERNELS = [RBFKernel(0.7), GMMKernel(MIXTURE, 0.7), RWMKernel(MIXTURE, 0.7)]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)


def random_mixture(k, d, seed):
    random = np.random.RandomState(seed)
    factors = random.standard_normal((k, d, d))
    covariances = factors @ np.swapaxes(factors, 1, 2) + 0.3 * np.eye(d)
    weights = random.uniform(0.2, 1, size=k)
    return Mixture(weights / weights.sum(), 2 * random.standard_normal((k, d)), covariances)


def literal_distance(mixture, x, z, share_of):
    """The paper's equations of the GMM distance and the RWM similarity, literally."""
    total = 0.0
    for k in range(mixture.n_components):
        offset = x - z
        mahalanobis = np.sqrt(offset @ np.linalg.inv(mixture.full_covariances[k]) @ offset)
        total += 0.5 * (share_of(x)[k] + share_of(z)[k]) * mahalanobis
    return total


@settings(max_examples=40, deadline=None, derandomize=True)
@given(k=st.integers(1, 5), d=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_distances_against_the_papers_formulas(k, d, seed):
    mixture = random_mixture(k, d, seed)
    rows = 3 * np.random.RandomState(seed).standard_normal((6, d))
    shares = {RWMKernel: lambda x: mixture.responsibilities(x[None])[0], GMMKernel: lambda x: mixture.weights}
    for kind, share_of in shares.items():
        kernel = kind(mixture, gamma=0.3)
        literal = np.array([[literal_distance(mixture, x, z, share_of) for z in rows] for x in rows])
        np.testing.assert_allclose(kernel.distance(rows), literal, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kernel(rows), np.exp(-0.3 * literal**2), rtol=1e-8, atol=1e-15)


@each_kernel
def test_symmetric_with_a_diagonal_of_exactly_one(kernel):
    K = kernel(X)
    assert np.array_equal(K, K.T)
    assert (np.diag(K) == 1).all()
    assert (kernel.diag(X) == 1).all()
    assert (np.diag(kernel.distance(X)) == 0).all()
    assert kernel(X[:3], X[:3]).diagonal().tolist() == [1, 1, 1]


@each_kernel
def test_a_rectangle_is_a_block_of_the_square(kernel):
    np.testing.assert_allclose(kernel(X[:30], X[30:]), kernel(X)[:30, 30:], rtol=1e-12)
    np.testing.assert_allclose(kernel.distance(X[:30], X[30:]), kernel.distance(X)[:30, 30:], rtol=1e-12)


@each_kernel
def test_row_order_does_not_matter(kernel):
    order = np.random.RandomState(0).permutation(len(X))
    np.testing.assert_allclose(kernel(X[order]), kernel(X)[np.ix_(order, order)], rtol=1e-12)


@each_kernel
def test_the_kernel_is_a_gaussian_of_the_distance(kernel):
    np.testing.assert_allclose(kernel(X), np.exp(-kernel.gamma * kernel.distance(X) ** 2), rtol=1e-10, atol=1e-300)


@each_kernel
def test_gradient_against_differences(kernel):
    K, gradient = kernel(X[:8], eval_gradient=True)
    step = 1e-6
    up, down = (kernel.clone_with_theta(kernel.theta + sign * step)(X[:8]) for sign in (1, -1))
    assert gradient.shape == (8, 8, 1)
    np.testing.assert_array_equal(K, kernel(X[:8]))
    np.testing.assert_allclose(gradient[:, :, 0], (up - down) / (2 * step), atol=1e-8)
    fixed = type(kernel)(**{**kernel.get_params(deep=False), "gamma_bounds": "fixed"})
    assert fixed(X[:8], eval_gradient=True)[1].shape == (8, 8, 0)


@each_kernel
def test_a_value_that_survives_copies(kernel):
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel)), kernel.clone_with_theta(kernel.theta)):
        assert copy.get_params(deep=False).keys() == kernel.get_params(deep=False).keys()
        np.testing.assert_allclose(copy(X[:5]), kernel(X[:5]))
    assert kernel.theta == pytest.approx(np.log([0.7]))
    assert kernel.bounds.shape == (1, 2)


@each_kernel
def test_sums_and_products(kernel):
    both = kernel + RBFKernel(2.0)
    np.testing.assert_allclose(both(X[:5]), kernel(X[:5]) + RBFKernel(2.0)(X[:5]))
    product = kernel * RBFKernel(2.0)
    np.testing.assert_allclose(product(X[:5]), kernel(X[:5]) * RBFKernel(2.0)(X[:5]))
    assert len((both * kernel).theta) == 3


@each_kernel
def test_in_the_machines_of_scikit_learn(kernel):
    target = X[:, 0] ** 2
    assert SVC(kernel=kernel).fit(X, Y_CLASS).score(X, Y_CLASS) > 0.9
    assert NuSVC(kernel=kernel, nu=0.3).fit(X, Y_CLASS).score(X, Y_CLASS) > 0.9
    assert SVR(kernel=kernel, C=10).fit(X, target).score(X, target) > 0.8
    assert OneClassSVM(kernel=kernel, nu=0.2).fit(X).predict(X).mean() > 0
    assert KernelRidge(kernel=kernel, alpha=0.1).fit(X, target).score(X, target) > 0.8
    assert KernelPCA(3, kernel=kernel).fit_transform(X).shape == (80, 3)
    assert Nystroem(kernel=kernel, n_components=10, random_state=0).fit_transform(X).shape == (80, 10)
    clusters = SpectralClustering(2, affinity="precomputed", random_state=0).fit_predict(kernel(X))
    assert set(clusters) == {0, 1}
    search = GridSearchCV(SVC(kernel=kernel), {"kernel__gamma": [0.1, 1.0]}, cv=3).fit(X, Y_CLASS)
    assert search.best_score_ > 0.8


def test_in_a_gaussian_process_that_tunes_gamma():
    target = np.sin(3 * X[:, 0])
    process = GaussianProcessRegressor(RBFKernel(20.0), alpha=1e-2).fit(X, target)
    assert process.kernel_.gamma != 20.0
    assert process.score(X, target) > 0.9


def test_categories_are_counted_and_squared():
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]], categories=[[[0.5, 0.5]]] * 2)
    rows = np.array([[0.0, 0, 0], [1.0, 1, 1], [0.0, 0, 1], [0.0, np.nan, 0]])
    K = RWMKernel(mixture, 0.5, alpha=0.8, beta=0.3)(rows)
    assert K[0, 1] == pytest.approx(np.exp(-0.5 * (0.8 * 1 + 0.3 * 2**2)))
    assert K[0, 2] == pytest.approx(np.exp(-0.5 * 0.3))
    assert K[0, 3] == pytest.approx(np.exp(-0.5 * 0.3))  # a gap is a category of its own
    assert (np.diag(K) == 1).all()


@st.composite
def gappy_rows(draw):
    """Rows of two numbers and two categories, some missing and some equal, of two tables."""
    random = np.random.RandomState(draw(st.integers(0, 10**6)))
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rows = np.column_stack([2 * random.standard_normal((n + m, 2)), random.randint(3, size=(n + m, 2))])
    rows[random.uniform(size=rows.shape) < draw(st.sampled_from([0.0, 0.3, 0.8]))] = np.nan
    rows = rows[random.randint(len(rows), size=len(rows))]  # with repetition
    return rows[:n], rows[n:]


MIXED = Mixture(
    [0.3, 0.7],
    [[0.0, 1.0], [2.0, -1.0]],
    [np.eye(2), [[0.5, 0.2], [0.2, 0.3]]],
    categories=[[[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]] * 2,
)
GRAPH = np.column_stack([np.random.RandomState(1).standard_normal((15, 2)), np.arange(30).reshape(15, 2) % 3])
GRAPH[::4, 2] = np.nan
BLOCKS = {
    "rwm": RWMKernel(MIXED, 0.3, beta=0.5),
    "gmm": GMMKernel(MIXED, 0.3, beta=0.5),
    "rbf": RBFKernel(0.3, beta=0.5, n_categorical=2),
    "sum": RWMKernel(MIXED, 0.3) + 2.0 * GMMKernel(MIXED, 0.1),
    "bent rwm": LaplacianKernel(RWMKernel(MIXED, 0.3, beta=0.5), GRAPH, ratio=2.0, n_neighbors=3),
    "bent rbf": LaplacianKernel(RBFKernel(0.3, n_categorical=2), GRAPH, ratio=2.0, n_neighbors=3),
    "unbent": LaplacianKernel(GMMKernel(MIXED, 0.3), ratio=0.0),
}


@pytest.mark.parametrize("name", BLOCKS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(tables=gappy_rows())
@pytest.mark.slow
def test_two_tables_are_a_block_of_both_together(name, tables):
    """Whatever is missing: a kernel knows rows by what is in them, never by where they stand."""
    kernel, (A, B) = BLOCKS[name], tables
    if "rbf" in name:  # it has no density, so it takes gaps among categories only
        A, B = (np.column_stack([np.nan_to_num(rows[:, :2]), rows[:, 2:]]) for rows in (A, B))
    K, n = kernel(np.vstack([A, B])), len(A)
    np.testing.assert_allclose(kernel(A, B), K[:n, n:], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel(B, A), K[n:, :n], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel(A), K[:n, :n], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel(A, A), K[:n, :n], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diag(A), np.diag(K)[:n], rtol=1e-9, atol=1e-9)
    if hasattr(kernel, "times"):
        np.testing.assert_allclose(kernel.times(A, B, np.ones(len(B))), K[:n, n:].sum(axis=1), rtol=1e-9)


def test_a_missing_category_equals_a_missing_one():
    rows = np.array([[0.0, 0.0, np.nan, np.nan], [0.0, 0.0, np.nan, 1.0], [0.0, 0.0, 0.0, np.nan]])
    for kind, how in ((RWMKernel, (MIXED, 0.5)), (GMMKernel, (MIXED, 0.5)), (RBFKernel, (0.5,))):
        kernel = kind(*how, n_categorical=2) if kind is RBFKernel else kind(*how)
        expected = np.exp(-0.5 * np.array([[0, 1, 1], [1, 0, 4], [1, 4, 0]]))
        for Y in (None, rows, rows.copy()):
            np.testing.assert_allclose(kernel(rows, Y), expected, rtol=1e-12)


def test_only_the_products_with_gamma_matter():
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]], categories=[[[0.5, 0.5]]])
    rows = np.array([[0.0, 0], [1.0, 1], [2.0, 0]])
    a, b = RWMKernel(mixture, 2.0, alpha=0.5, beta=0.25), RWMKernel(mixture, 1.0, alpha=1.0, beta=0.5)
    np.testing.assert_allclose(a(rows), b(rows), rtol=1e-14)


def test_a_missing_number_counts_as_its_expectation():
    rows = X[:10].copy()
    rows[2, 1] = np.nan
    filled = MIXTURE.conditional_mean(rows)
    shares = MIXTURE.responsibilities(rows)  # of the row as it is, gap and all
    offset = filled[2] - filled[5]
    literal = sum(
        0.5 * (shares[2, k] + shares[5, k]) * np.sqrt(offset @ np.linalg.inv(S) @ offset)
        for k, S in enumerate(MIXTURE.full_covariances)
    )
    assert RWMKernel(MIXTURE, 0.7).distance(rows)[2, 5] == pytest.approx(literal)


def test_a_whole_table():
    data = datasets.load("credit_a")
    encoder = TableEncoder(continuous=data.continuous, categorical=data.categorical)
    rows = encoder.fit_transform(data.X)
    density = VBMixture(5, n_categorical=len(data.categorical), random_state=0, max_iter=30).fit(rows)
    kernel = RWMKernel(density.mixture_, 0.05)
    K = kernel(rows)
    assert np.isfinite(K).all()
    assert (K >= 0).all()
    assert (K <= 1).all()
    order = np.random.RandomState(0).permutation(len(rows))
    train, test = order[:400], order[400:]
    svc = SVC(kernel="precomputed").fit(K[np.ix_(train, train)], data.y[train])
    assert svc.score(K[np.ix_(test, train)], data.y[test]) > 0.75


def test_an_unbound_kernel_says_how_to_bind():
    message = r"RWMKernel has no mixture\. Bind one first: kernel\.bind\(density\.mixture_\)"
    with pytest.raises(NotBoundError, match=message):
        RWMKernel(gamma=0.5)(X)
    bound = RWMKernel(gamma=0.5, alpha=0.3).bind(MIXTURE)
    assert (bound.gamma, bound.alpha, bound.mixture) == (0.5, 0.3, MIXTURE)


@pytest.mark.parametrize(
    ("kernel", "rows", "message"),
    [
        (RWMKernel(MIXTURE), np.zeros((3, 5)), r"X has shape \(3, 5\), but the mixture has 2 continuous and 0 cat"),
        (RWMKernel(MIXTURE), np.zeros(3), r"X has shape \(3,\)"),
        (RBFKernel(), [[np.inf]], "X holds infinite values"),
        (RBFKernel(), [[np.nan], [1.0]], "X has gaps, and RBFKernel has no density"),
        (RBFKernel(gamma=-1.0), X, r"gamma must be a positive number, but it is -1\.0"),
        (RBFKernel(beta=np.nan), X, "beta must be a number, 0 or more, but it is nan"),
        (RWMKernel(VBMixture(2).fit(X)), X, r"mixture must be a Mixture, but it is a VBMixture\. Pass what it has lea"),
    ],
)
def test_bad_input_is_explained(kernel, rows, message):
    with pytest.raises(KernelError, match=message):
        kernel(rows)


class Power(MixtureKernel):
    """Responsibilities to a power: a kernel with a parameter of its own."""

    def __init__(self, mixture=None, gamma=1.0, *, power=1.0, alpha=1.0, beta=1.0, gamma_bounds=GAMMA_BOUNDS):
        super().__init__(mixture, gamma, alpha=alpha, beta=beta, gamma_bounds=gamma_bounds)
        self.power = power

    def _component_weights(self, rows):
        weights = rows.responsibilities**self.power
        return weights / weights.sum(axis=1, keepdims=True)


def test_a_kernel_with_a_parameter_of_its_own():
    np.testing.assert_allclose(Power(MIXTURE)(X), RWMKernel(MIXTURE)(X), rtol=1e-12)
    kernel = clone(Power(power=2.0)).bind(MIXTURE)
    assert kernel.power == 2.0
    assert not np.allclose(kernel(X), RWMKernel(MIXTURE)(X))
    assert [repr(each) for each in (Power(), kernel, RBFKernel(0.25, beta=2, n_categorical=3))] == [
        "Power(gamma=1)",
        "Power(gamma=1, power=2)",
        "RBFKernel(gamma=0.25, beta=2, n_categorical=3)",
    ]
    assert repr(Power(power=np.ones(2))) == "Power(gamma=1, power=array([1., 1.]))"


def test_a_mixture_kernel_needs_weights_of_the_components_in_the_right_shape():
    class Typo(MixtureKernel):
        def component_weights(self, rows):
            return rows.responsibilities

    class Short(MixtureKernel):
        def _component_weights(self, rows):
            return rows.responsibilities[:, :1]

    with pytest.raises(TypeError, match="_component_weights"):
        Typo(MIXTURE)
    n, k = len(X), len(MIXTURE.weights)
    message = rf"Short\._component_weights must return an array of the shape \({n}, {k}\) or \({k},\), .* \({n}, 1\)"
    with pytest.raises(KernelError, match=message):
        Short(MIXTURE)(X)
    with pytest.raises(KernelError, match=message):
        Short(MIXTURE).parts(X, X)


def test_a_gradient_is_for_one_set_of_rows():
    with pytest.raises(ValueError, match="Gradient can only be evaluated when Y is None"):
        RBFKernel()(X, X, eval_gradient=True)


@each_kernel
@pytest.mark.parametrize("V", [np.arange(80.0), np.arange(160.0).reshape(80, 2)])
def test_times_is_the_matrix_times_columns(kernel, V):
    np.testing.assert_allclose(kernel.times(X[:13], X, V), kernel(X[:13], X) @ V, rtol=1e-10)


@each_kernel
def test_single_precision_and_given_memory_on_request(kernel):
    assert kernel(X, dtype=np.float32).dtype == kernel.distance(X, dtype=np.float32).dtype == np.float32
    np.testing.assert_allclose(kernel(X, dtype=np.float32), kernel(X), rtol=0, atol=2e-6)
    V = np.random.RandomState(0).standard_normal((7, 2))
    product = kernel.times(X, X[:7], V, dtype=np.float32)
    assert product.dtype == np.float32
    np.testing.assert_allclose(product, kernel(X, X[:7]) @ V, rtol=0, atol=2e-6 * np.abs(V).sum())
    out = np.empty((80, 80))
    assert kernel.distance(X, out=out) is out
    np.testing.assert_array_equal(out, kernel.distance(X))


def test_times_counts_categories():
    mixture = Mixture([1.0], [[0.0]], [[[1.0]]], categories=[[[0.5, 0.5]]])
    rows = np.array([[0.0, 0], [1.0, 1], [2.0, np.nan]])
    kernel = RWMKernel(mixture, 0.3, beta=0.7)
    np.testing.assert_allclose(kernel.times(rows, rows[:2], [1.0, -2.0]), kernel(rows, rows[:2]) @ [1.0, -2.0])


# ---------------------------------------------------------------- separation: the kernel before gamma is chosen

COUNTED = Mixture([0.3, 0.7], [[0.0], [2.0]], [[[1.0]], [[0.2]]], categories=[[[0.5, 0.5]] * 2, [[0.2, 0.8]] * 2])
CODED = np.array([[0.0, 0, 0], [1.0, 1, 1], [0.5, 0, 1], [2.0, np.nan, 0], [np.nan, 1, np.nan]])


@each_kernel
def test_separation_is_the_squared_distance(kernel):
    for Y in (None, X[:7]):
        apart = kernel.pair_terms(X, Y)
        np.testing.assert_allclose(apart.sq_distance, kernel.distance(X, Y) ** 2, rtol=1e-14)
        assert apart.sq_count is None
        np.testing.assert_allclose(apart.kernel(kernel.gamma), kernel(X, Y), rtol=1e-10, atol=1e-300)
        np.testing.assert_allclose(apart.exponent(0.3), 0.3 * apart.sq_distance)


@pytest.mark.parametrize("kind", [RWMKernel, GMMKernel])
@pytest.mark.parametrize(
    ("gamma", "alpha", "beta"), [(0.5, 1.0, 1.0), (2.0, 0.3, 0.7), (0.1, 0.0, 2.0), (0.1, 3.0, 0.0)]
)
def test_any_gamma_alpha_and_beta_is_a_step_from_the_separation(kind, gamma, alpha, beta):
    apart = kind(COUNTED).pair_terms(CODED)
    expected = kind(COUNTED, gamma, alpha=alpha, beta=beta)(CODED)
    np.testing.assert_allclose(apart.kernel(gamma, alpha, beta), expected, rtol=1e-12)
    between = kind(COUNTED).pair_terms(CODED, CODED[:3])
    expected = kind(COUNTED, gamma, alpha=alpha, beta=beta)(CODED, CODED[:3])
    np.testing.assert_allclose(between.kernel(gamma, alpha, beta), expected, rtol=1e-12)


def test_the_counts_of_a_separation_by_a_plain_loop():
    for Y in (None, CODED):
        found = RWMKernel(COUNTED).pair_terms(CODED, Y).sq_count
        for i, a in enumerate(CODED):
            for j, b in enumerate(CODED):
                pairs = zip(np.nan_to_num(a[1:], nan=-1), np.nan_to_num(b[1:], nan=-1), strict=True)
                assert found[i, j] == sum(u != v for u, v in pairs) ** 2  # a gap equals a gap


def test_a_separation_is_not_used_up():
    apart = PairTerms(np.array([[0.0, 4.0]]), np.array([[0.0, 1.0]]))
    first = apart.kernel(0.5, 1.0, 2.0)
    np.testing.assert_allclose(first, [[1.0, np.exp(-0.5 * (4 + 2))]])
    apart.kernel(3.0)
    np.testing.assert_array_equal(apart.kernel(0.5, 1.0, 2.0), first)
    assert apart.sq_distance.tolist() == [[0.0, 4.0]]
    np.testing.assert_allclose(PairTerms(np.array([[0.0, 4.0]])).kernel(0.5), [[1.0, np.exp(-2.0)]])


def test_a_separation_does_not_depend_on_the_kernels_own_settings():
    a, b = RWMKernel(COUNTED).pair_terms(CODED), RWMKernel(COUNTED, 7.0, alpha=0.1, beta=9.0).pair_terms(CODED)
    np.testing.assert_array_equal(a.sq_distance, b.sq_distance)
    np.testing.assert_array_equal(a.sq_count, b.sq_count)


def test_the_separation_of_no_rows_and_of_no_numbers():
    assert RBFKernel().pair_terms(np.empty((0, 2)), X).sq_distance.shape == (0, 80)
    codes = np.array([[0.0, 1.0], [1.0, 1.0]])
    apart = RBFKernel(n_categorical=2).pair_terms(codes)
    assert apart.sq_distance.tolist() == [[0, 0], [0, 0]]
    assert apart.sq_count.tolist() == [[0, 1], [1, 0]]


# ---------------------------------------------------------------- what a distance is made of


def literal_parts(kernel, mixture, x, z):
    """D = sum_k w_k Delta_k, and D^2 = sum_j D sum_k w_k (x-z)_j [S_k^-1 (x-z)]_j / Delta_k, literally."""
    d = mixture.n_continuous
    filled_x, filled_z = mixture.conditional_mean(np.stack([x, z]))[:, :d]
    offset = filled_x - filled_z
    rho = mixture.responsibilities(np.stack([x, z]))
    weights = rho.mean(axis=0) if isinstance(kernel, RWMKernel) else mixture.weights
    inverses = [np.linalg.inv(S) for S in mixture.full_covariances]
    lengths = np.array([np.sqrt(offset @ P @ offset) for P in inverses])
    D = weights @ lengths
    columns = [
        sum(D * w * offset[j] * (P @ offset)[j] / b for w, P, b in zip(weights, inverses, lengths, strict=True) if b)
        for j in range(d)
    ]
    pairs = zip(x[d:], z[d:], strict=True)
    differs = np.array([not (a == b or (np.isnan(a) and np.isnan(b))) for a, b in pairs], dtype=float)
    return weights * lengths, [*(kernel.alpha * np.array(columns)), *(kernel.beta * differs * differs.sum())]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    k=st.integers(1, 4), d=st.integers(1, 4), seed=st.integers(0, 10**6), kind=st.sampled_from([RWMKernel, GMMKernel])
)
def test_parts_against_the_formula_and_their_sums_against_the_kernel(k, d, seed, kind):
    random = np.random.RandomState(seed)
    plain = random_mixture(k, d, seed)
    tables = [random.dirichlet(np.ones(3), size=k) for _ in range(2)]
    mixture = Mixture(plain.weights, plain.means, plain.covariances, categories=tables)
    rows = np.column_stack([3 * random.standard_normal((12, d)), random.randint(0, 3, size=(12, 2))])
    rows[random.uniform(size=rows.shape) < 0.15] = np.nan
    A, B = rows[:6], rows[6:]
    kernel = kind(mixture, gamma=0.1, alpha=0.7, beta=0.4)
    parts = kernel.parts(A, B)
    for x, z, components, columns in zip(A, B, parts.components, parts.columns, strict=True):
        of_components, of_columns = literal_parts(kernel, mixture, x, z)
        np.testing.assert_allclose(components, of_components, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(columns, of_columns, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(parts.components.sum(axis=1), np.diagonal(kernel.distance(A, B)), rtol=1e-12)
    exponent = kernel.pair_terms(A, B).exponent(kernel.alpha, kernel.beta)
    np.testing.assert_allclose(parts.columns.sum(axis=1), np.diagonal(exponent), rtol=1e-12)


@pytest.mark.parametrize("kind", ["tied", "diag", "spherical"])
def test_parts_of_all_kinds_of_covariances(kind):
    covariances = {"tied": [[1.0, 0.5], [0.5, 2.0]], "diag": [[1.0, 2.0], [3.0, 0.5]], "spherical": [1.0, 2.0]}[kind]
    kernel = RWMKernel(Mixture([0.3, 0.7], [[0.0, 0.0], [1.0, 1.0]], covariances, kind))
    parts = kernel.parts(X[:10], X[10:20])
    D = np.diagonal(kernel.distance(X[:10], X[10:20]))
    np.testing.assert_allclose(parts.components.sum(axis=1), D, rtol=1e-12)
    np.testing.assert_allclose(parts.columns.sum(axis=1), D**2, rtol=1e-12)


@each_kernel
def test_equal_rows_have_no_parts(kernel):
    parts = kernel.parts(X[:3], X[:3])

    assert not parts.components.any()
    assert not parts.columns.any()


def test_parts_are_of_pairs():
    with pytest.raises(KernelError, match=r"^X and Y must be pairs of rows, but they have 3 and 2\.$"):
        RBFKernel().parts(X[:3], X[:2])
