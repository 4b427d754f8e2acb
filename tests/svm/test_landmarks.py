"""SVMs over landmarks, against those on the whole kernel matrix."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from mixkern.errors import ignored_warnings
from mixkern.fitting import NotConvergedWarning
from mixkern.svm import least_squares, newton
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.landmarks import LandmarkProblem, class_functions, pair_functions, regression
from mixkern.svm.libsvm import pairs


def table(n=150, c=3, seed=0):
    random = np.random.RandomState(seed)
    codes = np.sort(np.append(np.arange(c), random.randint(c, size=n - c)))
    X = 1.5 * random.standard_normal((c, 3))[codes] + random.standard_normal((n, 3))
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1e-3 * np.eye(n)
    return K, codes, random.uniform(0.5, 2.0, n)


def problem(K, C, weights=None, landmarks=None):
    at = np.arange(len(K)) if landmarks is None else landmarks
    costs = C * (np.ones(len(K)) if weights is None else weights)
    return LandmarkProblem(LandmarkFeatures.of(K[:, at], at), at, costs)


@pytest.mark.parametrize("c", [2, 3, 5])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_with_all_rows_as_landmarks_pairs_are_those_of_an_svm(c, is_weighted, monkeypatch):
    """The corner of the hinge is as good as sharp: the functions are those of libsvm."""
    K, codes, weights = table(c=c)
    weights = weights if is_weighted else np.ones(len(K))
    sharp = newton.Hinge
    monkeypatch.setattr("mixkern.svm.landmarks.Hinge", lambda signs: sharp(signs, (1.0, 0.1, 1e-2, 1e-3)))
    dual = pair_functions(problem(K, 3.0, weights), codes).dual
    values = dual.decision(K)
    for q, (a, b) in enumerate(pairs(c)):
        own = np.flatnonzero((codes == a) | (codes == b))
        svm = SVC(C=3.0, kernel="precomputed", tol=1e-6).fit(K[np.ix_(own, own)], codes[own] == a, weights[own])
        np.testing.assert_allclose(values[:, q], svm.decision_function(K[:, own]), atol=0.02)


def test_values_without_a_label_are_those_of_other_pairs_where_a_row_has_no_part():
    K, codes, _ = table(c=3)
    found = pair_functions(problem(K, 3.0), codes)
    plain = found.dual.decision(K)
    for q, (a, b) in enumerate(pairs(3)):
        others = (codes != a) & (codes != b)
        np.testing.assert_allclose(found.left_out[others, q], plain[others, q], atol=1e-8)
        own = np.where(codes == a, 1, -1) * (found.left_out[:, q] - plain[:, q])
        assert (own[~others] <= 1e-8).all()  # without its label a row is nearer to the other class
    assert pair_functions(problem(K, 3.0), codes, needs_left_out=False).left_out is None


@pytest.mark.parametrize("is_weighted", [False, True])
def test_with_all_rows_as_landmarks_classes_are_those_of_least_squares(is_weighted):
    K, codes, weights = table(c=4)
    codes[codes == 3] = 2
    codes[-1] = 3  # the only row of its class
    weights = weights if is_weighted else None
    found = class_functions(problem(K, 3.0, weights), codes)
    expected = least_squares.trained(K, codes, C=3.0, sample_weight=weights)
    np.testing.assert_allclose(found.dual.decision(K), expected.dual.decision(K), atol=1e-6)
    np.testing.assert_allclose(found.left_out, expected.left_out, atol=1e-5)


def test_with_all_rows_as_landmarks_a_regression_is_that_of_an_svr(monkeypatch):
    K, codes, weights = table()
    y = np.sin(codes + K[:, 0])
    y = (y - y.mean()) / y.std()
    tube = newton.Tube
    monkeypatch.setattr("mixkern.svm.landmarks.Tube", lambda y, e: tube(y, e, (1.0, 0.1, 1e-2, 1e-3, 1e-4)))
    dual = regression(problem(K, 3.0, weights), y, epsilon=0.1)
    svr = SVR(C=3.0, epsilon=0.1, kernel="precomputed", tol=1e-6).fit(K, y, weights)
    np.testing.assert_allclose(dual.decision(K)[:, 0], svr.predict(K), atol=0.02)


def test_functions_are_sums_over_the_landmarks():
    K, codes, _ = table(n=200)
    at = np.arange(0, 200, 4)
    found = pair_functions(problem(K, 3.0, landmarks=at), codes).dual
    np.testing.assert_array_equal(found.support, at)
    assert found.coefficients.shape == (50, 3)
    exact = pair_functions(problem(K, 3.0), codes).dual
    own = found.decision(K)
    assert (np.sign(own) == np.sign(exact.decision(K))).mean() > 0.93


def test_training_that_has_not_converged_is_a_warning():
    K, codes, _ = table(c=2)
    with pytest.warns(NotConvergedWarning, match="The training has not converged after 2 steps. The result so far is"):
        pair_functions(problem(K, 1e6), codes, max_iter=1)
    with ignored_warnings(NotConvergedWarning):
        assert not pair_functions(problem(K, 1e6), codes, max_iter=1).dual.converged
