"""Least-squares SVMs against the linear system that defines them, solved for each class and without each row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import LinAlgError
from sklearn.linear_model import RidgeClassifier

from mixkern.errors import KernelError, OptionError
from mixkern.kernels import repaired
from mixkern.svm.class_calibration import QUANTILES, SLOPES
from mixkern.svm.least_squares import (
    BLOCK,
    class_probabilities,
    class_scores,
    learned_slope,
    n_functions,
    own_probabilities,
    trained,
    trained_definite,
)


def problem(n=23, c=4, seed=0, d=2):
    """Kernel among rows of several classes, each with at least two of them, in no order."""
    random = np.random.RandomState(seed)
    codes = random.permutation(np.append(np.repeat(np.arange(c), 2), random.randint(c, size=n - 2 * c)))
    X = random.standard_normal((n, d)) + codes[:, None] % 3
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    K.flags.writeable = codes.flags.writeable = False
    return K, codes, random.uniform(0.2, 3.0, size=n)


def literal(K, codes, C, weights, label):
    """A a + b 1 = y and 1' a = 0, with A = K + (C V)^-1."""
    n = len(K)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + np.diag(1 / (C * weights))
    system[:n, n] = system[n, :n] = 1.0
    solved = np.linalg.solve(system, [*(1.0 if code == label else -1.0 for code in codes), 0.0])
    return solved[:n], solved[n]


# ---------------------------------------------------------------- training


@pytest.mark.parametrize(("n", "c"), [(4, 2), (23, 4), (BLOCK, 7), (BLOCK + 1, 7), (2 * BLOCK + 3, 120)])
@pytest.mark.parametrize("C", [0.3, 100.0])
def test_functions_solve_the_linear_system(n, c, C):
    K, codes, weights = problem(n, c)
    dual = trained(K, codes, C=C, sample_weight=weights).dual
    assert dual.coefficients.shape == (n, c)
    for label in range(0, c, 1 + c // 5):
        coefficients, intercept = literal(K, codes, C, weights, label)
        np.testing.assert_allclose(dual.coefficients[:, label], coefficients[dual.support], rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(dual.intercepts[label], intercept, rtol=1e-7)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_row_is_left_out_as_by_another_training(is_weighted):
    K, codes, weights = problem()
    weights = weights if is_weighted else np.ones(len(codes))
    left_out = trained(K, codes, C=5.0, sample_weight=weights if is_weighted else None).left_out
    for i in range(len(codes)):
        kept = np.delete(np.arange(len(codes)), i)
        for label in range(4):
            coefficients, intercept = literal(K[np.ix_(kept, kept)], codes[kept], 5.0, weights[kept], label)
            np.testing.assert_allclose(left_out[i, label], K[i, kept] @ coefficients + intercept, rtol=1e-9)


def test_the_only_row_of_a_class_is_never_left_out():
    K, codes, _ = problem()
    codes = np.where(np.arange(len(codes)) == 5, 4, codes)
    left_out = trained(K, codes).left_out
    assert np.isnan(left_out[5]).all()
    assert np.isfinite(np.delete(left_out, 5, axis=0)).all()


def test_a_linear_kernel_gives_ridge_regression():
    X, (_, codes, _) = np.random.RandomState(0).standard_normal((40, 3)), problem(40)
    ridge = RidgeClassifier(alpha=1 / 2.0).fit(X, codes)  # of scikit-learn
    np.testing.assert_allclose(
        trained(X @ X.T, codes, C=2.0).dual.decision(X @ X.T), ridge.decision_function(X), rtol=1e-6, atol=1e-9
    )


def test_support_vectors_are_sorted_by_class():
    K, codes, _ = problem()
    for repair in ("auto", "none", "clip", "flip", "shift"):
        dual = trained(K, codes, repair=repair).dual
        assert sorted(dual.support) == list(range(len(codes)))
        assert (np.diff(codes[dual.support]) >= 0).all()


def test_weights_of_one_change_nothing():
    K, codes, _ = problem()
    plain, weighted = trained(K, codes, C=3.0), trained(K, codes, C=3.0, sample_weight=np.ones(len(codes)))
    np.testing.assert_array_equal(plain.dual.coefficients, weighted.dual.coefficients)


# ---------------------------------------------------------------- indefinite kernels


def indefinite():
    K, codes, _ = problem()
    values, vectors = np.linalg.eigh(K)
    values[-3] = -2.0
    K = (vectors * values) @ vectors.T
    return (K + K.T) / 2, codes


def test_a_problem_without_minimum_is_repaired():
    K, codes = indefinite()
    with pytest.raises(LinAlgError):
        trained_definite(K, codes, C=10.0)
    found, clipped = trained(K, codes, C=10.0), trained(K, codes, C=10.0, repair="clip")
    np.testing.assert_array_equal(found.dual.coefficients, clipped.dual.coefficients)
    assert found.dual.change == clipped.dual.change > 0


def test_a_small_negative_eigenvalue_has_a_minimum():
    K, codes = indefinite()
    assert trained(K, codes, C=0.1).dual.change == 0  # 1 / C is 10, and the eigenvalue -2


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_a_repair_gives_the_functions_of_the_repaired_matrix(how):
    K, codes = indefinite()
    fixed = repaired(K, how)
    expected = trained(fixed.matrix, codes, C=10.0)
    found = trained(K, codes, C=10.0, repair=how)
    np.testing.assert_allclose(found.left_out, expected.left_out, rtol=1e-9)
    rows = fixed.rows(K[:5])
    np.testing.assert_allclose(found.dual.decision(K[:5]), expected.dual.decision(rows), rtol=1e-8, atol=1e-10)


def test_without_repair_the_system_is_solved_as_it_is():
    K, codes = indefinite()
    dual = trained(K, codes, C=10.0, repair="none").dual
    coefficients, intercept = literal(K, codes, 10.0, np.ones(len(codes)), 2)
    np.testing.assert_allclose(dual.coefficients[:, 2], coefficients[dual.support], rtol=1e-8)
    np.testing.assert_allclose(dual.intercepts[2], intercept, rtol=1e-8)


def test_a_singular_system_is_an_error():
    K, codes = -np.eye(4), np.array([0, 0, 1, 1])
    with pytest.raises(KernelError, match=r"least-squares problem has no solution\. Repair the matrix: repair='clip'"):
        trained(K, codes, C=1.0, repair="none")
    with pytest.raises(OptionError, match="repair must be one of"):
        trained(K, codes, repair="mend")


# ---------------------------------------------------------------- scores and probabilities


def slow_probabilities(values, slope):
    c = len(values)
    powers = [max((1 + f) / 2, 1 / c) ** slope for f in values]
    return [power / sum(powers) for power in powers]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(2, 9), st.floats(0.1, 20), st.integers(0, 10**6))
def test_probabilities_are_powers_of_estimates(c, slope, seed):
    values = np.random.RandomState(seed).uniform(-1.3, 1.3, size=(6, c))
    found = class_probabilities(values, slope, c)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found.argmax(axis=1), values.argmax(axis=1))
    top = np.arange(6), values.argmax(axis=1)
    for row, expected in zip(found, values, strict=True):
        slow = slow_probabilities(expected, slope)
        np.testing.assert_allclose(np.sort(row), np.sort(slow), rtol=1e-9)
    np.testing.assert_array_equal(found[top], found.max(axis=1))


def test_a_row_that_is_like_no_class_has_equal_probabilities_but_for_the_last_bit():
    found = class_probabilities(np.array([[-1.2, -1.0, -1.1]]), 5.0, 3)
    np.testing.assert_allclose(found, 1 / 3)
    assert found.argmax() == 1


def test_extreme_slopes_are_finite():
    values = np.array([[1.0, -1.0, -0.9], [0.9, 0.8, -40.0], [1e9, 1.0, 0.0]])
    for slope in (1e-9, 1e3):
        assert np.isfinite(class_probabilities(values, slope, 3)).all()


def test_probabilities_of_own_classes_are_among_those_of_all():
    values, codes = np.random.RandomState(0).uniform(-1, 1, size=(7, 5)), np.arange(7) % 5
    found = own_probabilities(values, codes, np.array([0.5, 3.0]))
    for share, slope in zip(found, (0.5, 3.0), strict=True):
        np.testing.assert_allclose(share, class_probabilities(values, slope, 5)[np.arange(7), codes])


def test_scores_are_the_values():
    values = np.random.RandomState(0).uniform(-1, 1, size=(7, 5))
    np.testing.assert_array_equal(class_scores(values, 5), values)
    assert n_functions(120) == 120


def test_the_slope_follows_left_out_labels():
    random = np.random.RandomState(0)
    codes = np.arange(60) % 5
    right = np.where(codes[:, None] == np.arange(5), 0.9, -0.8) + 0.05 * random.standard_normal((60, 5))
    wrong = right[random.permutation(60)]
    assert learned_slope(right, codes) > 1.5 > learned_slope(wrong, codes)
    assert learned_slope(right, codes) in SLOPES
    unseen = np.full((60, 5), np.nan)
    assert learned_slope(unseen, codes) == pytest.approx(1.0, rel=0.1)  # the prior's median
    assert QUANTILES[2] == 0.5
