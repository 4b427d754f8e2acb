"""Gaussian-process regression on labels: its evidence and posterior, against the formulas of the textbook."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from mixkern.kernels import RBFKernel
from mixkern.svm import evidence_C, evidence_share, log_evidence
from mixkern.svm.gaussian_process import (
    C_NOISES,
    C_SPREAD,
    DESIGN_NOISE,
    LABEL_NOISE,
    MAX_LABELS,
    TEMPER,
    USUAL_C,
    evidence_rows,
    posterior_covariance,
    posterior_mean,
)

RANDOM = np.random.RandomState(0)
X = RANDOM.standard_normal((14, 2))
CODES = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.4, 0.4])
K = RBFKernel(0.5)(X)


def literal(K, codes, noise=LABEL_NOISE):
    """Log density of the centred targets at the likeliest scale: all c of them, of which c - 1 are independent."""
    n, classes = len(codes), np.unique(codes)
    A = K + np.eye(n) * noise
    targets = [(codes == c) - np.mean(codes == c) for c in classes]
    n_targets = len(classes) - 1

    def surprise(log_scale):
        scaled = multivariate_normal(np.zeros(n), np.exp(log_scale) * A)
        quadratic = sum(t @ np.linalg.solve(A, t) for t in targets) / np.exp(log_scale)
        return -n_targets * scaled.logpdf(np.zeros(n)) + 0.5 * quadratic

    return -minimize_scalar(surprise, bounds=(-12, 8), method="bounded", options={"xatol": 1e-10}).fun


@pytest.mark.parametrize("codes", [CODES, THREE])
def test_differences_are_those_of_the_density(codes):
    other = RBFKernel(0.01)(X)
    expected = literal(K, codes) - literal(other, codes)
    assert log_evidence(K, codes) - log_evidence(other, codes) == pytest.approx(expected, rel=1e-6)


def test_a_label_that_counts_twice_has_half_the_noise():
    weights = np.full(len(CODES), 2.0)
    expected = literal(K, CODES, LABEL_NOISE / 2) - literal(np.eye(len(CODES)), CODES, LABEL_NOISE / 2)
    found = log_evidence(K, CODES, weights) - log_evidence(np.eye(len(CODES)), CODES, weights)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_evidence_of_an_indefinite_matrix_is_minus_infinity():
    assert log_evidence(np.ones((3, 3)) - 3 * np.eye(3), np.array([0, 1, 1])) == -np.inf


def test_the_share_follows_bayes_rule():
    other = RBFKernel(5.0)(X)
    ratio = np.exp(TEMPER * (log_evidence(other, CODES) - log_evidence(K, CODES)))
    assert evidence_share(0.6, K, other, CODES) == pytest.approx(0.6 * ratio / (0.6 * ratio + 0.4))
    assert evidence_share(0.6, K, K, CODES) == pytest.approx(0.6)
    assert evidence_share(0.6, K, other, CODES) + evidence_share(0.4, other, K, CODES) == pytest.approx(1.0)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_of_zero_and_one_do_not_change(share):
    assert evidence_share(share, K, np.eye(len(CODES)), CODES) == share


def test_indefinite_matrices_have_no_evidence():
    bad = K - 9 * np.eye(len(K))
    assert evidence_share(0.6, K, bad, CODES) == pytest.approx(0.0, abs=1e-300)
    assert evidence_share(0.6, bad, K, CODES) == pytest.approx(1.0)
    assert evidence_share(0.6, bad, bad, CODES) == 0.6


def test_scale_does_not_matter_to_labels_without_noise():
    sure = np.full(len(CODES), 1e8)
    a, b = RBFKernel(0.5)(X), RBFKernel(2.0)(X)
    expected = log_evidence(a, CODES, sure) - log_evidence(b, CODES, sure)
    assert log_evidence(3 * a, CODES, sure) - log_evidence(3 * b, CODES, sure) == pytest.approx(expected, rel=1e-4)


# ---------------------------------------------------------------- what an error should cost


@pytest.mark.parametrize("codes", [CODES, THREE])
def test_the_cost_is_the_best_by_evidence_and_prior(codes):
    c = len(np.unique(codes))
    scores = {}
    for noise in C_NOISES:
        cost = c / 2 / noise
        scores[cost] = literal(K, codes, noise) / (c - 1) - 0.5 * (np.log(cost / USUAL_C) / C_SPREAD) ** 2
    assert evidence_C(K, codes) == pytest.approx(max(scores, key=scores.get))


def test_noisy_labels_have_a_smaller_cost():
    random = np.random.RandomState(1)
    rows = random.standard_normal((80, 2))
    matrix = RBFKernel(0.5)(rows)
    clean = (rows[:, 0] > 0).astype(int)
    noisy = np.where(random.uniform(size=80) < 0.3, 1 - clean, clean)
    assert evidence_C(matrix, noisy) < 0.5 * evidence_C(matrix, clean)


def test_few_labels_leave_the_usual_cost():
    assert 0.3 * USUAL_C < evidence_C(RBFKernel(5.0)(X[:3]), np.array([0, 1, 0])) < 3 * USUAL_C


def test_a_smaller_kernel_has_a_larger_cost():
    assert evidence_C(K / 100, CODES) == pytest.approx(100 * evidence_C(K, CODES))


def test_an_indefinite_matrix_has_the_usual_cost():
    assert evidence_C(np.full((3, 3), -9.0), np.array([0, 1, 1])) == USUAL_C
    assert evidence_C(np.ones((3, 3)) - 50 * np.eye(3) + 50 * np.ones((3, 3)), np.array([0, 1, 1])) > 0


@pytest.mark.parametrize(
    "codes",
    [
        np.arange(1999) % 2,
        np.sort(np.arange(3000) % 3),
        np.r_[np.zeros(2500, dtype=int), 1],
        np.arange(4000) // 2,  # two thousand classes
        np.arange(7) % 2,
    ],
    ids=["interleaved", "sorted", "rare", "classes", "few"],
)
def test_of_many_labels_some_of_every_class_are_used(codes):
    rows = evidence_rows(codes)
    assert len(rows) == len(set(rows.tolist())) <= MAX_LABELS + len(np.unique(codes))
    assert set(codes[rows]) == set(codes)
    if len(np.unique(codes)) < 10:
        shares = np.bincount(codes) / len(codes)
        assert np.abs(np.bincount(codes[rows]) / len(rows) - shares).max() < 0.01 + 1 / len(rows)


# ---------------------------------------------------------------- the posterior


def test_the_posterior_mean_is_that_of_the_textbook():
    inverse = np.linalg.inv(K[:9, :9] + LABEL_NOISE * np.eye(9))
    codes = THREE[:9]
    for code, found in zip(np.unique(codes), posterior_mean(K[9:, :9], K[:9, :9], codes).T, strict=True):
        mean = np.mean(codes == code)
        np.testing.assert_allclose(found, mean + K[9:, :9] @ inverse @ ((codes == code) - mean), atol=1e-12)


def test_the_posterior_covariance_is_that_of_the_textbook():
    inverse = np.linalg.inv(K[:5, :5] + DESIGN_NOISE * np.eye(5))
    expected = K[5:, 5:] - K[5:, :5] @ inverse @ K[:5, 5:]
    np.testing.assert_allclose(posterior_covariance(K[5:, 5:], K[5:, :5], K[:5, :5]), expected, atol=1e-12)


def test_negative_eigenvalues_of_a_kernel_are_taken_for_zero():
    indefinite = np.array([[1.0, 1.5], [1.5, 1.0]])
    left = posterior_covariance(np.eye(1), np.array([[0.1, 0.2]]), indefinite)
    assert np.isfinite(left).all()
    assert left[0, 0] <= 1
