import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import Parallel, delayed
from scipy.optimize import check_grad, minimize
from threadpoolctl import threadpool_info, threadpool_limits

from mixkern import VBMixture, datasets
from mixkern.errors import InterruptedWarning
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import RBFKernel, RWMKernel, definiteness, repaired
from mixkern.svm import classifier
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.s3vm import QUASI_NEWTON_LEVELS, _balanced, _Labels, _supervised, quasi_newton


def moons(n=60, per_class=2, seed=0, gamma=5.0):
    """A kernel matrix, the class of every row, and the signs of which few are known."""
    X, y = datasets.make_two_moons(n=n, random_state=seed)
    random = np.random.RandomState(seed)
    known = np.concatenate([random.choice(np.flatnonzero(y == c), per_class, replace=False) for c in (0, 1)])
    truth = 2 * y - 1
    signs = np.zeros(n, dtype=int)
    signs[known] = truth[known]
    return RBFKernel(gamma)(X), truth, signs


def solved(K, signs, landmarks=None, **settings):
    landmarks = np.arange(len(K)) if landmarks is None else landmarks
    return quasi_newton(K[:, landmarks], landmarks, signs, **settings)


def decisions(K, signs, **settings):
    return solved(K, signs, **settings).decision(K)[:, 0]


def literal_objective(K, a, b, signs, C, weight, weights=None):
    """The formula of the module, row by row; a are the coefficients of all rows."""
    n = len(signs)
    weights = [1.0] * n if weights is None else weights
    f = [sum(K[i, j] * a[j] for j in range(n)) + b for i in range(n)]
    norm = sum(a[i] * a[j] * K[i, j] for i in range(n) for j in range(n))
    n_labelled = sum(v for s, v in zip(signs, weights, strict=True) if s)
    n_unlabelled = sum(s == 0 for s in signs)
    hinge = sum(weights[i] * math.log1p(math.exp(20 * (1 - signs[i] * f[i]))) / 20 for i in range(n) if signs[i])
    push = sum(math.exp(-3 * v**2) for s, v in zip(signs, f, strict=True) if not s)
    return norm / 2 + C * (hinge + (weight * n_labelled / n_unlabelled * push if n_unlabelled else 0.0))


def literal_of(K, dual, signs, C=1.0, weight=1.0):
    a = np.zeros(len(K))
    a[dual.support] = dual.coefficients[:, 0]
    return literal_objective(K, a, dual.intercepts[0], signs, C, weight)


def problems(seed=0, weights=None):
    K, _, signs = moons(n=20, seed=seed)
    basis, labels = LandmarkFeatures.of(K, np.arange(len(K))).basis, _Labels.of(signs, weights)
    return (
        K,
        signs,
        basis,
        {
            "balanced": _balanced(K @ basis, labels, 3.0, 0.2),
            "supervised": _supervised(K @ basis, labels, 3.0),
        },
    )


@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 3.0, 20)], ids=["equal", "weighted"])
@pytest.mark.parametrize("kind", ["balanced", "supervised"])
def test_objective_against_the_formula(kind, weights):
    K, signs, basis, made = problems(weights=weights)
    problem = made[kind]
    weight = 0.7 if kind == "balanced" else 0.0
    for seed in range(5):
        w = np.random.RandomState(seed).standard_normal(problem.labelled.shape[1])
        plain, intercept = problem.function(w)
        expected = literal_objective(K, basis @ plain, intercept, signs, 3.0, weight, weights)
        assert problem.value(w, weight)[0] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("kind", ["balanced", "supervised"])
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 3), st.floats(0, 5))
def test_gradient_against_differences(kind, seed, size, weight):
    _, _, _, made = problems(weights=np.linspace(0.2, 3.0, 20))
    problem = made[kind]
    w = size * np.random.RandomState(seed).standard_normal(problem.labelled.shape[1])
    _, slope = problem.value(w, weight)
    error = check_grad(lambda v: problem.value(v, weight)[0], lambda v: problem.value(v, weight)[1], w)
    assert error < 1e-4 * (1 + np.linalg.norm(slope))


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_weights_of_labelled_rows(weight):
    """Equal weights are a factor of C; a weight of two is the row twice; those of unlabelled rows are not read."""
    K, _, signs = moons()
    known, tight = signs != 0, {"tol": 1e-9, "unlabelled_weight": weight}
    plain = decisions(K, signs, C=2.0, **tight)
    np.testing.assert_array_equal(decisions(K, signs, C=2.0, sample_weight=np.ones(60), **tight), plain)
    doubled = decisions(K, signs, C=1.0, sample_weight=np.where(known, 2.0, np.nan), **tight)
    np.testing.assert_allclose(doubled, plain, atol=1e-6)
    first = np.flatnonzero(known)[0]
    twice = np.append(np.arange(60), first)
    weights = np.where(np.arange(60) == first, 2.0, 1.0)
    share = 0.5
    expected = decisions(K[np.ix_(twice, twice)], signs[twice], positive_share=share, **tight)[:60]
    got = decisions(K, signs, positive_share=share, sample_weight=weights, **tight)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    assert not np.allclose(got, decisions(K, signs, positive_share=share, **tight), atol=1e-3)


def test_far_from_the_boundary_nothing_overflows():
    _, _, _, made = problems()
    value, slope = made["balanced"].value(np.full(made["balanced"].labelled.shape[1], 1e4), 1.0)
    assert np.isfinite(value)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_a_minimum_of_the_formula(weight):
    """No step along any coefficient that keeps the balance leads down."""
    K, _, signs = moons(n=20)
    dual = solved(K, signs, unlabelled_weight=weight, tol=1e-7)
    at, a, b = literal_of(K, dual, signs, weight=weight), dual.coefficients[:, 0], dual.intercepts[0]
    free = signs == 0
    for seed in range(20):
        change = 0.01 * np.random.RandomState(seed).standard_normal(20)
        moved = literal_objective(K, a + change, b - (K @ change)[free].mean(), signs, 1.0, weight)
        assert moved > at - 1e-9


@pytest.mark.parametrize("share", [None, 0.5, 0.3, 1.0])
@pytest.mark.parametrize("m", [60, 25])
def test_balance_is_exact(share, m):
    K, _, signs = moons()
    f = decisions(K, signs, positive_share=share, landmarks=np.random.RandomState(0).permutation(60)[:m])
    assert f[signs == 0].mean() == pytest.approx(2 * (0.5 if share is None else share) - 1, abs=1e-10)


def test_share_of_the_labelled_rows_by_default():
    K, truth, _ = moons()
    signs = np.zeros(60, dtype=int)
    signs[np.flatnonzero(truth > 0)[:1]], signs[np.flatnonzero(truth < 0)[:3]] = 1, -1
    assert decisions(K, signs)[signs == 0].mean() == pytest.approx(-0.5)


def test_landmarks_in_any_order_are_the_exact_problem():
    K, _, signs = moons()
    order = np.random.RandomState(0).permutation(60)
    np.testing.assert_allclose(decisions(K, signs, landmarks=order, tol=1e-6), decisions(K, signs, tol=1e-6), atol=1e-4)


def test_few_landmarks_come_close():
    """Measured with a third of the rows: decisions differ by 0.02 at most."""
    K, _, signs = moons(n=150)
    exact = decisions(K, signs)
    dual = solved(K, signs, landmarks=np.random.RandomState(0).permutation(150)[:50])
    assert dual.coefficients.shape == (50, 1)
    np.testing.assert_allclose(dual.decision(K)[:, 0], exact, atol=0.05)


def test_better_than_supervised_on_two_moons():
    """Measured over 12 draws of two labels for each class: 0.94 against 0.75."""
    ours, theirs = [], []
    for seed in range(12):
        K, truth, signs = moons(n=200, seed=seed)
        known, free = np.flatnonzero(signs), signs == 0
        dual = classifier(K[np.ix_(known, known)], (signs[known] < 0).astype(int))
        supervised = K[:, known[dual.support]] @ dual.coefficients[:, 0] + dual.intercepts[0]
        ours.append(np.mean(np.sign(decisions(K, signs)) == truth, where=free))
        theirs.append(np.mean(np.sign(supervised) == truth, where=free))
    assert np.mean(ours) > np.mean(theirs) + 0.14


def test_weightless_rows_are_left_out():
    K, _, signs = moons()
    known = np.flatnonzero(signs)
    alone = quasi_newton(K[np.ix_(known, known)], np.arange(4), signs[known], tol=1e-7)
    called = []
    ours = solved(K, signs, unlabelled_weight=0.0, tol=1e-7, step=lambda: called.append(1))
    np.testing.assert_allclose(ours.decision(K), alone.decision(K[:, known]), atol=1e-5)
    assert not called


def test_without_unlabelled_rows_against_another_optimiser():
    K, truth, _ = moons(n=20)
    dual = solved(K, truth, C=2.0, tol=1e-8)
    other = minimize(lambda p: literal_objective(K, p[:-1], p[-1], truth, 2.0, 1.0), np.zeros(21), method="BFGS")
    assert literal_of(K, dual, truth, C=2.0) == pytest.approx(other.fun, abs=1e-5)


def test_without_unlabelled_rows_close_to_libsvm():
    K, truth, _ = moons()
    theirs = classifier(K, (truth < 0).astype(int)).decision(K)[:, 0]
    np.testing.assert_allclose(decisions(K, truth), theirs, atol=0.15)  # the knee is soft


def test_clipped_where_the_kernel_is_not_definite():
    X, y = datasets.make_two_moons(n=100, random_state=0)
    mixture = VBMixture(n_components=8, precision_prior="evidence", random_state=0).fit(X).mixture_
    K = RWMKernel(mixture, 0.01)(X)
    assert definiteness(K).smallest < -0.1
    signs = np.where(np.arange(100) < 10, 2 * y - 1, 0)
    ours = solved(K, signs, C=10.0, tol=1e-6)
    fixed = repaired(K, "clip")
    np.testing.assert_allclose(ours.decision(K)[:, 0], decisions(fixed.matrix, signs, C=10.0, tol=1e-6), atol=1e-3)
    few = decisions(K, signs, C=10.0, landmarks=np.arange(0, 100, 4))
    assert np.abs(few).max() < 10


def test_very_indefinite():
    A = np.random.RandomState(0).uniform(-1, 1, (60, 60))
    K = A + A.T
    signs = np.array([1, 1, -1, -1, *[0] * 56])
    for m in (60, 20):
        f = decisions(K, signs, C=100.0, landmarks=np.arange(m))
        assert np.abs(f).max() < 100
        assert (f[:4] * signs[:4] > 0).all()


def test_positive_for_the_class_1():
    K, truth, signs = moons(per_class=20)
    assert np.mean(np.sign(decisions(K, signs)) == truth) > 0.9


def test_classes_may_be_exchanged():
    K, _, signs = moons()
    ours = decisions(K, signs, positive_share=0.3, tol=1e-6)
    np.testing.assert_allclose(decisions(K, -signs, positive_share=0.7, tol=1e-6), -ours, atol=1e-4)


def test_row_order_does_not_matter():
    K, _, signs = moons()
    order = np.random.RandomState(1).permutation(len(K))
    ours = decisions(K, signs, tol=1e-6)
    np.testing.assert_allclose(decisions(K[np.ix_(order, order)], signs[order], tol=1e-6), ours[order], atol=1e-4)


def test_steps_are_levels():
    K, _, signs = moons()
    called = []
    dual = solved(K, signs, step=lambda: called.append(1))
    assert len(called) == QUASI_NEWTON_LEVELS
    assert dual.converged
    assert dual.n_iter > QUASI_NEWTON_LEVELS


def stopper(last):
    """A step that is interrupted when it is called for the last time."""
    called = []

    def step():
        called.append(1)
        if len(called) == last:
            raise KeyboardInterrupt

    return step


def test_interrupted():
    K, _, signs = moons()
    with pytest.warns(InterruptedWarning, match="full weight"):
        first = solved(K, signs, step=stopper(1))
    with pytest.warns(InterruptedWarning):
        last = solved(K, signs, step=stopper(QUASI_NEWTON_LEVELS))
    whole = solved(K, signs)
    np.testing.assert_allclose(last.decision(K), whole.decision(K))
    assert np.abs(first.decision(K) - last.decision(K)).max() > 0.1
    assert [dual.is_interrupted for dual in (first, last, whole)] == [True, True, False]


def test_interrupted_within_a_descent(monkeypatch):
    """What the last finished descent has found is used, and the next one knows of no interrupt."""
    K, _, signs = moons()
    module = sys.modules[quasi_newton.__module__]
    count, minimize_once = [], module.minimize

    def interrupted(*arguments, **options):
        count.append(1)
        if len(count) == 3:
            raise KeyboardInterrupt
        return minimize_once(*arguments, **options)

    monkeypatch.setattr(module, "minimize", interrupted)
    with pytest.warns(InterruptedWarning, match="full weight"):
        dual = solved(K, signs)
    assert dual.is_interrupted
    assert np.isfinite(dual.decision(K)).all()
    assert not solved(K, signs).is_interrupted


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.slow
def test_problems_in_parallel_threads_leave_no_limit_behind():
    """Each would put back what it found, which is the others' limit; so all have one in common."""
    K, _, signs = moons()
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        work = (delayed(solved)(K, signs, C=0.1 * (1 + i)) for i in range(24))
        duals = Parallel(6, backend="threading")(work)
        assert blas_threads() == before
    np.testing.assert_allclose(duals[9].decision(K), solved(K, signs).decision(K), atol=1e-6)


def test_linear_algebra_keeps_to_one_thread_meanwhile():
    K, _, signs = moons()
    seen = []
    before = blas_threads()
    solved(K, signs, step=lambda: seen.append(set(blas_threads())))
    assert blas_threads() == before
    with pytest.warns(InterruptedWarning):
        solved(K, signs, step=stopper(1))
    assert blas_threads() == before
    assert seen == [{1}] * QUASI_NEWTON_LEVELS


def test_nothing_to_return_before_the_first_descent(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[quasi_newton.__module__], "minimize", interrupted)
    K, _, signs = moons()
    with pytest.raises(KeyboardInterrupt):
        solved(K, signs)


def test_one_warning_for_a_limit():
    K, _, signs = moons()
    with pytest.warns(NotConvergedWarning, match="not converged after 2 iterations") as caught:
        dual = solved(K, signs, C=100.0, max_iter=2)
    assert len(caught) == 1
    assert not dual.converged
