"""Features by landmarks: their inner products are the kernel, as far as the landmarks determine it."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mixkern import Mixture
from mixkern.density import Rows
from mixkern.kernels import RBFKernel, RWMKernel
from mixkern.svm import landmark_features
from mixkern.svm.landmark_features import LandmarkFeatures

MIXTURE = Mixture([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], [[[0.2, 0.0], [0.0, 2.0]], [[2.0, 0.5], [0.5, 0.3]]])


def rows(n=60, seed=0):
    return Rows(np.random.RandomState(seed).standard_normal((n, 2)), MIXTURE)


def literal_features(K, landmarks, least):
    """K_nm K_mm^-1/2 in the eigenvectors of K_mm, without the eigenvalues that are too small."""
    values, vectors = np.linalg.eigh(K[np.ix_(landmarks, landmarks)])
    kept = [i for i, value in enumerate(values) if value > least * max(values)]
    return np.column_stack([K[:, landmarks] @ vectors[:, i] / np.sqrt(values[i]) for i in kept])


@pytest.mark.parametrize("kernel", [RBFKernel(0.5, n_categorical=0), RWMKernel(MIXTURE, 0.2)], ids=["rbf", "rwm"])
@pytest.mark.parametrize("landmarks", [[3], [0, 7, 31, 59], range(60)], ids=["one", "four", "all"])
def test_features_are_those_of_the_formula(kernel, landmarks, monkeypatch):
    monkeypatch.setattr(landmark_features, "KERNEL_ROWS", 17)
    monkeypatch.setattr(landmark_features, "PRODUCT_ROWS", 5)
    some, X = np.array(landmarks), rows()
    found = LandmarkFeatures.of_rows(kernel, X, some)
    expected = literal_features(kernel(X), some, landmark_features.LEAST_EIGENVALUE)
    np.testing.assert_allclose(found.rows @ found.rows.T, expected @ expected.T, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(kernel(X)[:, some] @ found.basis, found.rows, atol=1e-9)


def test_with_all_rows_as_landmarks_inner_products_are_the_kernel():
    K = RBFKernel(0.5)(rows())
    features = LandmarkFeatures.of(K, np.arange(len(K)))
    np.testing.assert_allclose(features.rows @ features.rows.T, K, atol=1e-9)
    assert features.change < 1e-9


def test_directions_of_negative_eigenvalues_are_left_out():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    features = LandmarkFeatures.of(K, np.arange(2))
    assert features.rows.shape == (2, 1)
    np.testing.assert_allclose(features.rows @ features.rows.T, np.full((2, 2), 1.5))
    assert features.change == pytest.approx(1 / np.sqrt(10))


def test_the_number_of_threads_does_not_matter():
    X, kernel, some = rows(3_000), RWMKernel(MIXTURE, 0.2), np.arange(0, 3_000, 10)
    with threadpool_limits(1):
        one = LandmarkFeatures.of_rows(kernel, X, some)
    two = LandmarkFeatures.of_rows(kernel, X, some)
    assert one.rows.tobytes() == two.rows.tobytes()
