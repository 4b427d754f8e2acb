"""Gieseke's machine around its solver: landmarks, balance and weights."""

import numpy as np
import pytest

from mixkern import Mixture, QuasiNewtonS3VC, datasets
from mixkern.errors import DrawnRowsWarning, OptionError
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import RWMKernel, definiteness
from mixkern.svm.s3vm import quasi_newton

PLANE = Mixture([1.0], [[1.0, 0.5]], [[[2.0, 0.0], [0.0, 1.5]]])


def blobs(n=60, c=2, per_class=6, gap=2.0):
    random = np.random.RandomState(0)
    y = np.arange(n) % c
    X = random.standard_normal((n, 2)) + gap * np.column_stack([y % 2, y // 2])
    X.flags.writeable = False
    return X, y, np.where(np.arange(n) < c * per_class, y, -1)


X, TRUE, FEW = blobs()
SIGNS = np.where(FEW < 0, 0, 2 * FEW - 1)


def drawn(n, codes, seed=0):
    """All labelled rows, and others up to n."""
    labelled, others = np.flatnonzero(codes >= 0), np.flatnonzero(codes < 0)
    more = np.random.RandomState(seed).choice(others, max(0, min(len(others), n - len(labelled))), replace=False)
    return np.sort(np.append(labelled, more))


# ---------------------------------------------------------------- landmarks


@pytest.mark.parametrize("n_landmarks", [1, 12, 13, 30, 60, 500])
def test_functions_are_sums_over_landmarks(n_landmarks):
    model = QuasiNewtonS3VC("rwm", density=PLANE, n_landmarks=n_landmarks, random_state=0).fit(X, FEW)
    landmarks = drawn(n_landmarks, FEW)
    assert len(landmarks) == min(60, max(12, n_landmarks))
    K = model.kernel_(X, X[landmarks])
    dual = quasi_newton(K, landmarks, SIGNS, C=10.0, positive_share=0.5)
    expected = K @ dual.coefficients[:, 0] + dual.intercepts[0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    np.testing.assert_array_equal(model.support_, landmarks)
    np.testing.assert_array_equal(model.support_vectors_, X[landmarks])


def test_landmarks_of_several_classes_are_the_same():
    X, _, few = blobs(75, 3)
    model = QuasiNewtonS3VC("rbf", density=PLANE, n_landmarks=40, random_state=0).fit(X, few)
    np.testing.assert_array_equal(model.support_, drawn(40, few))
    K = model.kernel_(X, X[model.support_])
    for label in range(3):
        signs = np.where(few < 0, 0, np.where(few == label, 1, -1))
        dual = quasi_newton(K, model.support_, signs, C=10.0, positive_share=1 / 3)
        expected = K @ dual.coefficients[:, 0] + dual.intercepts[0]
        np.testing.assert_allclose(model.decision_function(X)[:, label], expected, atol=1e-9)


def test_landmarks_are_drawn_from_the_rows_that_were_drawn():
    with pytest.warns(DrawnRowsWarning, match="all 12 labelled rows and 28 others"):
        model = QuasiNewtonS3VC("rbf", density=PLANE, max_rows=40, n_landmarks=20, random_state=0).fit(X, FEW)
    random = np.random.RandomState(0)
    kept = np.sort(np.append(np.arange(12), random.choice(np.arange(12, 60), 28, replace=False)))
    more = random.choice(np.flatnonzero(FEW[kept] < 0), 8, replace=False)
    np.testing.assert_array_equal(model.support_, kept[np.sort(np.append(np.arange(12), more))])


def test_few_landmarks_come_close():
    X, y = datasets.make_two_moons(n=400, random_state=0)
    few = np.where(np.arange(400) < 10, y, -1)
    whole, part = (QuasiNewtonS3VC("rbf", n_landmarks=m, random_state=0).fit(X, few) for m in (400, 60))
    assert (whole.predict(X) == part.predict(X)).mean() > 0.95
    assert len(part.support_) == 60


def test_the_safe_mode_reads_the_columns_of_landmarks():
    """The same comparison as with all rows, on a matrix that is not square."""
    how = {"density": PLANE, "n_landmarks": 30, "class_shares": {0: 0.05, 1: 0.95}, "random_state": 0}
    X, _, FEW = blobs(gap=1.5, per_class=8)
    model = QuasiNewtonS3VC("rbf", safe_margin=0.0, **how).fit(X, FEW)
    alone = QuasiNewtonS3VC("rbf", unlabelled_weight=0.0, **how).fit(X, FEW)
    assert model.fell_back_
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-9)


# ---------------------------------------------------------------- balance and weights


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_mean_over_unlabelled_rows_is_that_of_the_shares(share):
    """Of 60 rows that share is in the class, and 6 of them are labelled: the others are among 48 rows."""
    model = QuasiNewtonS3VC("rwm", density=PLANE, class_shares={0: 1 - share, 1: share}, random_state=0).fit(X, FEW)
    left = (60 * share - 6) / 48
    assert model.decision_function(X[FEW < 0]).mean() == pytest.approx(2 * left - 1, abs=1e-9)


def test_the_mean_of_each_class_is_that_of_its_share():
    X, _, few = blobs(75, 3)
    model = QuasiNewtonS3VC("rbf", density=PLANE, class_shares={0: 0.2, 1: 0.3, 2: 0.5}, random_state=0).fit(X, few)
    left = np.array([75 * 0.2 - 6, 75 * 0.3 - 6, 75 * 0.5 - 6]) / (75 - 18)
    assert model.decision_function(X[few < 0]).mean(axis=0) == pytest.approx(2 * left - 1, abs=1e-9)


def test_weights_go_to_the_solver():
    how = {"C": 2.0, "unlabelled_weight": 0.3, "tol": 1e-5, "max_iter": 400}
    model = QuasiNewtonS3VC("rbf", density=PLANE, random_state=0, **how).fit(X, FEW)
    K = model.kernel_(X, X)
    dual = quasi_newton(K, np.arange(60), SIGNS, positive_share=0.5, **how)
    np.testing.assert_allclose(model.decision_function(X), dual.decision(K)[:, 0], atol=1e-9)
    assert model.n_iter_ == dual.n_iter


def test_a_kernel_that_is_not_definite():
    random = np.random.RandomState(3)
    factors = random.standard_normal((5, 2, 2))
    covariances = factors @ np.swapaxes(factors, 1, 2) + 0.02 * np.eye(2)
    mixture = Mixture(np.full(5, 0.2), 2 * random.standard_normal((5, 2)), covariances)
    rows = 3 * random.standard_normal((60, 2))
    y = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    assert definiteness(RWMKernel(mixture, 0.3)(rows)).smallest < -0.1
    few = np.where(np.arange(60) < 30, y, -1)
    model = QuasiNewtonS3VC(RWMKernel(gamma=0.3), density=mixture, random_state=0).fit(rows, few)
    assert np.isfinite(model.decision_function(rows)).all()
    assert model.score(rows[:30], y[:30]) > 0.8


def test_a_descent_that_is_cut_short():
    why = r"^The descent has not converged after 2 iterations\. Lower C or raise max_iter"
    with pytest.warns(NotConvergedWarning, match=why) as caught:
        model = QuasiNewtonS3VC("rbf", density=PLANE, max_iter=2, tol=1e-9).fit(X, FEW)
    assert len(caught) == 1
    assert np.isfinite(model.decision_function(X)).all()


def test_the_gap_between_the_moons_is_found():
    X, y = datasets.make_two_moons(n=200, random_state=0)
    few = np.where(np.arange(200) < 10, y, -1)
    assert QuasiNewtonS3VC("rbf", gamma="local", random_state=0).fit(X, few).score(X, y) > 0.9


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"unlabelled_weight": -1.0}, r"^unlabelled_weight must be a number, 0 or more, but it is -1\.0\.$"),
        ({"n_landmarks": 0}, r"^n_landmarks must be a whole number, 1 or more, but it is 0\.$"),
        ({"n_landmarks": 2.5}, r"^n_landmarks must be a whole number, 1 or more, but it is 2\.5\.$"),
        ({"max_iter": 0}, r"^max_iter must be a whole number, 1 or more"),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else "",
)
def test_settings_that_cannot_be(how, why):
    with pytest.raises(OptionError, match=why):
        QuasiNewtonS3VC(density=PLANE, **how).fit(X, FEW)


def test_minus_one_iterations():
    """Endless for libsvm; a descent has no such thing."""
    with pytest.raises(OptionError, match=r"^max_iter must be a whole number, 1 or more, but it is -1\.$"):
        QuasiNewtonS3VC("rbf", density=PLANE, max_iter=-1).fit(X, FEW)
