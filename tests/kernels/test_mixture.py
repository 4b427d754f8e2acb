import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mixkern import Mixture, datasets
from mixkern.kernels import GMMKernel, RBFKernel, RWMKernel

X, _ = datasets.make_two_moons(n=60, random_state=0)


@pytest.mark.parametrize("kind", [RWMKernel, GMMKernel])
@pytest.mark.parametrize("k", [1, 3])
def test_equal_isotropic_components_give_rbf(kind, k):
    means = np.random.RandomState(0).standard_normal((k, 2))
    mixture = Mixture(np.full(k, 1 / k), means, np.full(k, 4.0), "spherical")
    np.testing.assert_allclose(kind(mixture, 0.7)(X), RBFKernel(0.7 / 4)(X), rtol=1e-12)


def test_identity_covariances_with_categories_give_the_mixed_rbf_kernel():
    codes = np.random.RandomState(0).randint(3, size=(60, 1))
    rows = np.hstack([X, codes])
    mixture = Mixture([1.0], [[0.0, 0.0]], [np.eye(2)], categories=[[[0.2, 0.3, 0.5]]])
    np.testing.assert_allclose(RWMKernel(mixture, 0.5)(rows), RBFKernel(0.5, n_categorical=1)(rows), rtol=1e-12)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_every_kind_of_covariance_is_the_same_as_its_matrices(kind):
    shapes = {"full": [np.diag([1.0, 2.0]), np.diag([3.0, 0.5])], "tied": [[1.0, 0.3], [0.3, 2.0]]}
    shapes |= {"diag": [[1.0, 2.0], [3.0, 0.5]], "spherical": [1.0, 3.0]}
    mixture = Mixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], shapes[kind], kind)
    matrices = Mixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], mixture.full_covariances)
    np.testing.assert_allclose(RWMKernel(mixture).distance(X), RWMKernel(matrices).distance(X), rtol=1e-12)


def test_rwm_follows_who_is_responsible_where_gmm_does_not():
    mixture = Mixture([0.5, 0.5], [[0.0], [100.0]], [[[1.0]], [[25.0]]])
    near, far = np.array([[0.0], [1.0]]), np.array([[100.0], [101.0]])
    assert RWMKernel(mixture).distance(near)[0, 1] == pytest.approx(1.0)
    assert RWMKernel(mixture).distance(far)[0, 1] == pytest.approx(0.2)
    assert GMMKernel(mixture).distance(near)[0, 1] == pytest.approx(GMMKernel(mixture).distance(far)[0, 1])


def test_the_paper_s_distance_takes_responsibilities_from_numbers_alone():
    """Delta_RWM(x', z') = sum_k (rho_k(x') + rho_k(z')) / 2 Delta_k(x', z'), x' and z' the continuous columns."""
    weights, means = [0.4, 0.6], np.array([[0.0, 0.0], [1.0, 1.0]])
    covariances = np.array([[[1.0, 0.3], [0.3, 2.0]], [[0.5, 0.0], [0.0, 3.0]]])
    mixture = Mixture(weights, means, covariances, categories=[[[0.9, 0.1], [0.2, 0.8]]])
    rows = np.hstack([X[:20], np.arange(20)[:, None] % 2])
    joint = np.transpose(
        [w * multivariate_normal.pdf(X[:20], m, S) for w, m, S in zip(weights, means, covariances, strict=True)]
    )
    rho = joint / joint.sum(axis=1, keepdims=True)
    expected = np.zeros((20, 20))
    for i, x in enumerate(X[:20]):
        for j, z in enumerate(X[:20]):
            lengths = [np.sqrt((x - z) @ np.linalg.inv(S) @ (x - z)) for S in covariances]
            expected[i, j] = (rho[i] + rho[j]) / 2 @ lengths
    kernel = RWMKernel(mixture.with_common_categories(), 0.5, alpha=0.7, beta=0.2)
    np.testing.assert_allclose(kernel.distance(rows), expected, rtol=1e-10, atol=1e-12)
    differs = rows[:, None, 2] != rows[None, :, 2]
    np.testing.assert_allclose(kernel(rows), np.exp(-0.5 * (0.7 * expected**2 + 0.2 * differs)), rtol=1e-10)
    assert np.abs(RWMKernel(mixture).distance(rows) - expected).max() > 0.05
