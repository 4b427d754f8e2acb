"""The blend against its formula, pair by pair."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVC

from mixkern import Mixture, VBMixture, datasets
from mixkern.errors import KernelError, MixtureError, NotBoundError
from mixkern.kernels import BlendKernel, RBFKernel, RWMKernel

X, Y = datasets.make_two_moons(n=80, random_state=0)
MIXTURE = VBMixture(n_components=6, random_state=0).fit(X).mixture_


def random_mixture(k, d, seed, categories=()):
    random = np.random.RandomState(seed)
    factors = random.standard_normal((k, d, d))
    covariances = factors @ np.swapaxes(factors, 1, 2) + 0.3 * np.eye(d)
    weights = random.uniform(0.2, 1, size=k)
    return Mixture(weights / weights.sum(), 2 * random.standard_normal((k, d)), covariances, categories=categories)


def literal(mixture, x, z, gamma, share, membership, pooling, alpha=1.0, beta=1.0):
    """The formula of the docstring."""
    d = mixture.n_continuous
    mean = sum(w * S for w, S in zip(mixture.weights, mixture.full_covariances, strict=True))
    centre = mixture.weights @ mixture.means
    total = mean + sum(
        w * np.outer(m - centre, m - centre) for w, m in zip(mixture.weights, mixture.means, strict=True)
    )
    inverses = [np.linalg.inv((1 - pooling) * S + pooling * mean) for S in mixture.full_covariances]
    unit = sum(w * np.sqrt(np.trace(P @ total)) for w, P in zip(mixture.weights, inverses, strict=True)) ** 2
    unit /= np.trace(total)
    rho_x, rho_z = mixture.responsibilities(np.stack([x, z]))
    offset = x[:d] - z[:d]
    delta = sum(0.5 * (a + b) * np.sqrt(offset @ P @ offset) for a, b, P in zip(rho_x, rho_z, inverses, strict=True))
    differing = np.sum(x[d:] != z[d:]) ** 2
    plain = np.exp(-gamma * (alpha * unit * offset @ offset + beta * differing))
    own = np.exp(-gamma * (alpha * delta**2 + beta * differing))
    together = sum(np.sqrt(a * b) for a, b in zip(rho_x, rho_z, strict=True))
    return (1 - share) * plain + share * ((1 - membership) * own + membership * together)


fractions = st.sampled_from([0.0, 0.2, 0.5, 1.0])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    k=st.integers(1, 4),
    d=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    share=fractions,
    membership=fractions,
    pooling=fractions,
)
def test_the_formula(k, d, seed, share, membership, pooling):
    mixture = random_mixture(k, d, seed)
    rows = 3 * np.random.RandomState(seed).standard_normal((6, d))
    kernel = BlendKernel(mixture, 0.3, share=share, membership=membership, pooling=pooling)
    expected = [[literal(mixture, x, z, 0.3, share, membership, pooling) for z in rows] for x in rows]
    np.testing.assert_allclose(kernel(rows), expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(kernel(rows, rows[:2]), np.array(expected)[:, :2], rtol=1e-8, atol=1e-12)


def test_the_formula_with_categories():
    tables = [np.full((3, 2), 0.5), np.full((3, 4), 0.25)]
    mixture = random_mixture(3, 2, 1, categories=tables)
    random = np.random.RandomState(0)
    rows = np.hstack([random.standard_normal((7, 2)), random.randint(2, size=(7, 1)), random.randint(4, size=(7, 1))])
    kernel = BlendKernel(mixture, 0.2, alpha=0.7, beta=0.3)
    expected = [[literal(mixture, x, z, 0.2, 0.6, 1 / 3, 0.5, 0.7, 0.3) for z in rows] for x in rows]
    np.testing.assert_allclose(kernel(rows), expected, rtol=1e-9)


def test_its_ends_are_rwm_and_rbf():
    rwm = BlendKernel(MIXTURE, 0.7, share=1.0, membership=0.0, pooling=0.0)
    np.testing.assert_allclose(rwm(X), RWMKernel(MIXTURE, 0.7)(X), rtol=1e-12)
    plain = BlendKernel(MIXTURE, 0.7, share=0.0)(X)
    gamma = -np.log(plain[0, 1]) / np.sum((X[0] - X[1]) ** 2)
    np.testing.assert_allclose(plain, RBFKernel(gamma)(X), rtol=1e-9, atol=1e-300)


def test_euclidean_distances_are_in_the_units_of_the_components():
    """One round component: both distances are the same."""
    mixture = Mixture([1.0], [[0.0, 0.0]], [4.0], "spherical")
    np.testing.assert_allclose(
        BlendKernel(mixture, 0.7, share=0.0)(X), BlendKernel(mixture, 0.7, share=1.0, membership=0.0)(X), rtol=1e-12
    )


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_every_kind_of_covariance_is_the_same_as_its_matrices(kind):
    shapes = {"full": [np.diag([1.0, 2.0]), np.diag([3.0, 0.5])], "tied": [[1.0, 0.3], [0.3, 2.0]]}
    shapes |= {"diag": [[1.0, 2.0], [3.0, 0.5]], "spherical": [1.0, 3.0]}
    mixture = Mixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], shapes[kind], kind)
    matrices = Mixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], mixture.full_covariances)
    np.testing.assert_allclose(BlendKernel(mixture)(X), BlendKernel(matrices)(X), rtol=1e-12)


def test_a_table_of_categories_alone():
    mixture = Mixture([0.5, 0.5], np.empty((2, 0)), np.empty((2, 0, 0)), categories=[[[0.9, 0.1], [0.1, 0.9]]])
    K = BlendKernel(mixture, 0.5)(np.array([[0.0], [1.0], [0.0]]))
    assert K[0, 2] == pytest.approx(1.0)
    assert 0 < K[0, 1] < K[0, 2]


def test_products_without_the_matrix():
    V = np.random.RandomState(0).standard_normal((len(X), 3))
    for share, membership in [(0.0, 0.3), (0.6, 0.0), (1.0, 1.0), (0.6, 0.3)]:
        kernel = BlendKernel(MIXTURE, 0.7, share=share, membership=membership)
        np.testing.assert_allclose(kernel.times(X[:20], X, V), kernel(X[:20], X) @ V, atol=1e-12)


def test_a_separation_gives_every_setting():
    apart = BlendKernel(MIXTURE, 9.0).pair_terms(X[:20], X)
    np.testing.assert_array_equal(apart.kernel(0.7), BlendKernel(MIXTURE, 0.7)(X[:20], X))
    np.testing.assert_allclose(apart.exponent(), BlendKernel(MIXTURE).distance(X[:20], X) ** 2)


def test_it_is_symmetric_with_a_diagonal_of_ones():
    K = BlendKernel(MIXTURE, 0.7)(X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diagonal(K), 1.0, atol=1e-15)
    single = BlendKernel(MIXTURE, 0.7)(X, dtype=np.float32)
    assert single.dtype == np.float32
    assert (single == single.T).all()
    np.testing.assert_allclose(single, BlendKernel(MIXTURE, 0.7)(X), rtol=0, atol=2e-6)


def test_the_gradient_is_that_of_differences():
    kernel = BlendKernel(MIXTURE, 0.7)
    _, gradient = kernel(X[:10], eval_gradient=True)
    h = 1e-6
    up, down = (kernel.clone_with_theta(kernel.theta + step)(X[:10]) for step in (h, -h))
    np.testing.assert_allclose(gradient[:, :, 0], (up - down) / (2 * h), atol=1e-8)
    assert BlendKernel(MIXTURE, gamma_bounds="fixed")(X[:3], eval_gradient=True)[1].shape == (3, 3, 0)
    with pytest.raises(ValueError, match="Gradient can only be evaluated when Y is None"):
        kernel(X, X, eval_gradient=True)


def test_gaps_are_filled_by_the_mixture():
    rows = np.array(X[:5])
    rows[0, 1] = np.nan
    filled = MIXTURE.conditional_mean(rows)
    K = BlendKernel(MIXTURE, 0.7)(rows)
    whole = BlendKernel(MIXTURE, 0.7, membership=0.0)
    np.testing.assert_allclose(BlendKernel(MIXTURE, 0.7, share=0.0)(rows), BlendKernel(MIXTURE, 0.7, share=0.0)(filled))
    assert np.isfinite(K).all()
    assert np.isfinite(whole(rows)).all()


def test_it_is_a_value():
    kernel = BlendKernel(MIXTURE, 0.7, share=0.4, membership=0.2, pooling=0.9, beta=0.5)
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy.get_params(deep=False) == kernel.get_params(deep=False)
        np.testing.assert_array_equal(copy(X), kernel(X))
    assert kernel.bind(MIXTURE).pooling == 0.9


def test_machines_of_scikit_learn_take_it():
    assert SVC(kernel=BlendKernel(MIXTURE, 1.0), C=10).fit(X[::4], Y[::4]).score(X, Y) > 0.9
    GaussianProcessRegressor(BlendKernel(MIXTURE, 1.0), alpha=0.1).fit(X, Y)


@pytest.mark.parametrize("name", ["share", "membership", "pooling"])
@pytest.mark.parametrize("value", [-0.1, 1.1, "half", None, True, np.nan])
def test_fractions_that_are_none(name, value):
    with pytest.raises(KernelError, match=f"{name} must be a number from 0 to 1, but it is"):
        BlendKernel(MIXTURE, **{name: value})(X)


def test_what_else_is_refused():
    with pytest.raises(NotBoundError, match="BlendKernel has no mixture"):
        BlendKernel()(X)
    with pytest.raises(KernelError, match="gamma must be a positive number"):
        BlendKernel(MIXTURE, -1.0)(X)
    with pytest.raises(
        MixtureError, match="share must be a number from 0 to 1, or one for each of 2 components, but it is 2"
    ):
        MIXTURE.pooled(2)


def test_pooled_covariances():
    mean = np.einsum("k,kij->ij", MIXTURE.weights, MIXTURE.full_covariances)
    np.testing.assert_allclose(
        MIXTURE.pooled(1.0).full_covariances, np.broadcast_to(mean, (len(MIXTURE.weights), 2, 2))
    )
    assert MIXTURE.pooled(0.0) == MIXTURE


# ---------------------------------------------------------------- what a blend is made of


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), share=fractions, membership=fractions)
def test_contributions_are_the_terms_of_the_formula(seed, share, membership):
    random = np.random.RandomState(seed)
    mixture = random_mixture(3, 2, seed, [random.dirichlet(np.ones(3), size=3)])
    x, z = np.column_stack([random.standard_normal((2, 2)), [0, 1]])
    kernel = BlendKernel(mixture, 0.3, share=share, membership=membership, alpha=0.7, beta=0.4)
    found = kernel.contributions(x[None], z[None])

    def alone(s, m):
        return literal(mixture, x, z, 0.3, s, m, 0.5, 0.7, 0.4)

    assert found["euclidean"][0, 0] == pytest.approx((1 - share) * alone(0, 0), rel=1e-9)
    assert found["mixture"][0, 0] == pytest.approx(share * (1 - membership) * alone(1, 0), rel=1e-9)
    assert found["membership"][0, 0] == pytest.approx(share * membership * alone(1, 1), rel=1e-9)
    assert sum(found.values())[0, 0] == pytest.approx(kernel(x[None], z[None])[0, 0], rel=1e-12)


@pytest.mark.parametrize(("share", "membership", "weight"), [(0.6, 1 / 3, 0.5), (0, 0.5, 0), (1, 0.5, 1), (1, 1, 1)])
def test_parts_are_means_of_those_of_both_distances(share, membership, weight):
    kernel = BlendKernel(MIXTURE, 0.5, share=share, membership=membership, alpha=2.0)
    parts, apart = kernel.parts(X[:9], X[9:18]), kernel.pair_terms(X[:9], X[9:18])
    own, plain = (np.diagonal(part.exponent(2.0)) for part in (apart, apart.euclidean))

    np.testing.assert_allclose(parts.mixture.sum(axis=1), own, rtol=1e-12)
    np.testing.assert_allclose(parts.euclidean.sum(axis=1), plain, rtol=1e-12)
    np.testing.assert_allclose(parts.columns, weight * parts.mixture + (1 - weight) * parts.euclidean, rtol=1e-12)
    np.testing.assert_allclose(parts.components.sum(axis=1), np.diagonal(kernel.distance(X[:9], X[9:18])), rtol=1e-12)
