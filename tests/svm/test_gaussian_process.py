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
    class_shares,
    evidence_rows,
    posterior_covariance,
    posterior_mean,
    posterior_probability,
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


def test_weights_of_labels_of_an_indefinite_matrix_are_variances():
    weights = np.linspace(0.5, 2.0, len(CODES))
    roots = np.sqrt(weights)
    scaled = roots[:, None] * (K - 0.3) * roots  # W^1/2 K W^1/2, whose negative eigenvalues are left out
    values, vectors = np.linalg.eigh(scaled)
    assert values.min() < -0.1
    positive = (vectors * np.maximum(values, 0)) @ vectors.T / np.outer(roots, roots)
    assert log_evidence(K - 0.3, CODES, weights) == pytest.approx(log_evidence(positive, CODES, weights))


def test_negative_eigenvalues_are_left_out_of_the_evidence():
    values, vectors = np.linalg.eigh(K - 0.3)
    assert values.min() < -0.1
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    other = RBFKernel(5.0)(X)
    found = log_evidence(K - 0.3, CODES) - log_evidence(other, CODES)
    assert found == pytest.approx(literal(positive, CODES) - literal(other, CODES), rel=1e-6)


def test_the_share_is_between_its_prior_and_bayes_rule():
    other = RBFKernel(5.0)(X)
    ratio = np.exp(TEMPER * (log_evidence(other, CODES) - log_evidence(K, CODES)))
    assert evidence_share(0.6, K, other, CODES) == pytest.approx((0.6 + 0.6 * ratio / (0.6 * ratio + 0.4)) / 2)
    assert evidence_share(0.6, K, K, CODES) == pytest.approx(0.6)
    assert evidence_share(0.6, K, other, CODES) + evidence_share(0.4, other, K, CODES) == pytest.approx(1.0)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shares_of_zero_and_one_do_not_change(share):
    assert evidence_share(share, K, np.eye(len(CODES)), CODES) == share


def test_no_kernel_is_left_out_whatever_the_evidence_is():
    codes, others = np.repeat([0, 1], 30), np.tile([0, 1], 30)
    right, wrong = (0.9 * (each[:, None] == each) + 0.1 * np.eye(60) for each in (codes, others))
    assert evidence_share(0.6, right, wrong, codes) == pytest.approx(0.3, abs=1e-3)
    assert evidence_share(0.6, wrong, right, codes) == pytest.approx(0.8, abs=1e-3)


def test_a_posterior_probability_is_bayes_rule_and_never_overflows():
    assert posterior_probability(0.2, np.log(4)) == pytest.approx(0.5)
    assert posterior_probability(0.2, 1e4) == 1.0
    assert posterior_probability(0.2, -1e4) == 0.0


@pytest.mark.parametrize("codes", [CODES, THREE])
def test_shares_of_classes_are_means_of_predicted_targets(codes):
    rows = np.random.RandomState(5).normal(size=(40, X.shape[1]))
    to_labelled = RBFKernel(1.0)(rows, X)
    classes = np.unique(codes)
    means = np.array([(codes == label).mean() for label in classes])
    # The literal formula: m + k' (K + noise)^-1 (y - m), one row and class at a time
    inverse = np.linalg.inv(RBFKernel(1.0)(X) + LABEL_NOISE * np.eye(len(X)))
    predicted = [
        [m + k @ inverse @ ((codes == label) - m) for label, m in zip(classes, means, strict=True)] for k in to_labelled
    ]
    expected = np.clip(predicted, 0, 1).mean(axis=0)
    found = class_shares(to_labelled, RBFKernel(1.0)(X), codes)
    assert found == pytest.approx(expected / expected.sum(), rel=1e-9)
    assert found.sum() == pytest.approx(1.0)


def test_a_class_with_a_label_always_has_a_share():
    labelled, rows = np.array([[0.0], [9.0]]), np.full((50, 1), 9.0)
    shares = class_shares(RBFKernel(1.0)(rows, labelled), RBFKernel(1.0)(labelled), np.array([0, 1]))
    assert 0 < shares[0] < 0.1 < shares[1]


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
        np.arange(4000) // 8,  # five hundred classes
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


def test_of_very_many_classes_some_are_used_whole():
    codes = np.arange(4000) % 501
    rows = evidence_rows(codes)
    assert MAX_LABELS - 8 <= len(rows) <= MAX_LABELS
    np.testing.assert_array_equal(np.bincount(codes[rows])[codes[rows]], np.bincount(codes)[codes[rows]])


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
