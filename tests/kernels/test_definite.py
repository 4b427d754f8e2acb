import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern import Mixture, VBMixture, datasets
from mixkern.errors import KernelError, OptionError
from mixkern.kernels import RBFKernel, RWMKernel, definiteness, repaired


def random_symmetric(n=8, seed=0):
    A = np.random.RandomState(seed).standard_normal((n, n))
    return (A + A.T) / 2


def test_report_against_eigenvalues():
    K = random_symmetric()
    values = np.linalg.eigvalsh(K)
    report = definiteness(K)
    assert report.smallest == pytest.approx(values.min())
    assert report.largest == pytest.approx(values.max())
    assert report.negative_mass == pytest.approx(-values[values < 0].sum() / np.abs(values).sum())
    assert report.rank == 8
    assert not report.is_definite


def test_rank_counts_what_is_not_rounding():
    B = np.random.RandomState(0).standard_normal((10, 3))
    report = definiteness(B @ B.T)
    assert report.rank == 3
    assert report.is_definite


def test_rbf_is_definite():
    X, _ = datasets.make_two_moons(n=100, random_state=0)
    assert definiteness(RBFKernel(2.0)(X)).is_definite


@pytest.mark.parametrize("k", [1, 3])
def test_rwm_is_definite_for_one_component_and_for_equal_covariances(k):
    X, _ = datasets.make_two_moons(n=100, random_state=0)
    means = np.random.RandomState(0).standard_normal((k, 2))
    mixture = Mixture(np.full(k, 1 / k), means, [[0.5, 0.2], [0.2, 0.4]], "tied")
    for gamma in (0.1, 1.0, 10.0):
        assert definiteness(RWMKernel(mixture, gamma)(X)).smallest > -1e-10


def test_rwm_is_not_definite_in_general():
    X, _ = datasets.make_two_moons(n=300, random_state=0)
    mixture = VBMixture(n_components=8, precision_prior="evidence", random_state=0).fit(X).mixture_
    assert mixture.n_components > 2
    report = definiteness(RWMKernel(mixture, 0.01)(X))
    assert report.smallest < -0.1
    assert report.negative_mass > 0


def test_the_counterexample_of_the_documentation():
    """Three rows on a line and two components: small enough to check by hand."""
    mixture = Mixture([0.5, 0.5], [[0.0], [2.0]], [[[1e-4]], [[4.0]]])
    rows = np.array([[0.0], [2.0], [4.0]])
    kernel = RWMKernel(mixture, gamma=1e-4)
    D = kernel.distance(rows)
    # the first row is the narrow component's (nearly), the others are the wide one's: 0.5 (100 + 0.5) per unit between
    rho = mixture.responsibilities(rows)[:, 0]
    expected = [
        [0.5 * (rho[i] + rho[j]) * 100 + (1 - 0.5 * (rho[i] + rho[j])) * 0.5 for j in range(3)] for i in range(3)
    ]
    np.testing.assert_allclose(D, np.array(expected) * np.abs(rows - rows.T), rtol=1e-9)
    assert definiteness(kernel(rows)).smallest < -1e-3


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_a_repaired_matrix_is_definite_and_says_what_changed(how):
    K = random_symmetric()
    fixed = repaired(K, how)
    assert definiteness(fixed.matrix).smallest > -1e-12
    assert fixed.change == pytest.approx(np.linalg.norm(fixed.matrix - K) / np.linalg.norm(K))
    assert np.array_equal(fixed.matrix, fixed.matrix.T)


def test_repairs_literally():
    K = random_symmetric()
    values, vectors = np.linalg.eigh(K)
    clipped, flipped = (vectors @ np.diag(each) @ vectors.T for each in (np.maximum(values, 0), np.abs(values)))
    np.testing.assert_allclose(repaired(K, "clip").matrix, clipped, atol=1e-12)
    np.testing.assert_allclose(repaired(K, "flip").matrix, flipped, atol=1e-12)
    np.testing.assert_allclose(repaired(K, "shift").matrix, K - values[0] * np.eye(8), atol=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 10**6))
def test_repairs_literally_whatever_the_rank(n, rank, seed):
    """Among the eigenvalues are zeros, where the eigenvectors are anybody's guess: what comes out is not."""
    random = np.random.RandomState(seed)
    B = random.standard_normal((n, min(rank, n)))
    K = (B * random.choice([-1, 1], size=B.shape[1])) @ B.T
    K = (K + K.T) / 2
    values, vectors = np.linalg.eigh(K)
    for how, fixed_values in (("clip", np.maximum(values, 0)), ("flip", np.abs(values))):
        fixed = repaired(K, how)
        np.testing.assert_allclose(fixed.matrix, (vectors * fixed_values) @ vectors.T, atol=1e-10)
        np.testing.assert_allclose(fixed.rows(K), fixed.matrix, atol=1e-10)
        np.testing.assert_allclose(fixed._vectors.T @ fixed._vectors, np.eye(fixed._vectors.shape[1]), atol=1e-12)
        assert fixed._factor == {"clip": 1, "flip": 2}[how]


@pytest.mark.parametrize("gamma", [1e-4, 1e-2])
@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_a_matrix_that_is_singular_within_rounding(how, gamma):
    """Half of the eigenvalues are nothing but rounding, and many of them equal."""
    K = RBFKernel(gamma)(np.random.RandomState(0).standard_normal((300, 3)))
    fixed = repaired(K, how)
    np.testing.assert_allclose(fixed.matrix, K, atol=1e-11)
    assert definiteness(fixed.matrix).is_definite
    assert fixed.change < 1e-12


@pytest.mark.parametrize("how", ["clip", "flip"])
def test_new_rows_are_seen_through_the_eigenvectors_that_are_left(how):
    K, new = random_symmetric(), np.random.RandomState(1).standard_normal((5, 8))
    values, vectors = np.linalg.eigh(K)
    signs = np.where(values > 0, 1.0, 0.0 if how == "clip" else -1.0)
    fixed = repaired(K, how)
    np.testing.assert_allclose(fixed.rows(new), new @ (vectors * signs) @ vectors.T, atol=1e-12)
    assert fixed._vectors.shape == (8, (values < 0).sum())


@pytest.mark.parametrize("how", ["clip", "flip"])
def test_an_old_row_comes_out_as_it_stands_in_the_matrix(how):
    K = random_symmetric()
    fixed = repaired(K, how)
    np.testing.assert_allclose(fixed.rows(K[2:4]), fixed.matrix[2:4], atol=1e-12)


def test_shift_changes_nothing_between_rows():
    K = random_symmetric()
    fixed = repaired(K, "shift")
    np.testing.assert_allclose(fixed.rows(K[:2]), K[:2])
    off = ~np.eye(8, dtype=bool)
    np.testing.assert_allclose(fixed.matrix[off], K[off])


def test_auto_clips_what_is_not_definite():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    auto, clip = repaired(K, "auto"), repaired(K, "clip")
    np.testing.assert_array_equal(auto.matrix, clip.matrix)
    assert (auto.how, auto.change) == ("clip", clip.change)
    assert repaired(np.eye(3), "auto").how == "none"


def test_none_changes_nothing():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    fixed = repaired(K, "none")
    np.testing.assert_array_equal(fixed.matrix, K)
    np.testing.assert_array_equal(fixed.rows(K), K)
    assert fixed.change == 0
    assert fixed.matrix is not K


@pytest.mark.parametrize("how", ["auto", "none", "clip", "flip", "shift"])
def test_a_definite_matrix_stays_as_it_is(how):
    K = RBFKernel(1.0)(np.random.RandomState(0).standard_normal((20, 3)))
    fixed = repaired(K, how)
    np.testing.assert_allclose(fixed.matrix, K, atol=1e-12)
    assert fixed.change < 1e-12


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), r"square, but this has shape \(2, 3\)"),
        ([[1.0, np.nan], [np.nan, 1.0]], "NaN or infinite"),
        ([[1.0, 0.2], [0.3, 1.0]], r"not symmetric: pass kernel\(X\), not kernel\(X, Y\)"),
    ],
)
def test_matrices_that_are_none(K, message):
    with pytest.raises(KernelError, match=message):
        definiteness(K)


def test_an_unknown_repair():
    message = r"how must be one of 'auto', 'none', 'clip', 'flip', 'shift', but it is 'clipp'\. Did you mean 'clip'\?"
    with pytest.raises(OptionError, match=message):
        repaired(np.eye(2), "clipp")
