"""Many small C-SVMs at once, against libsvm one by one."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from mixkern.errors import ignored_warnings
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import Repair
from mixkern.svm import batch
from mixkern.svm.batch import NONE, PairProblems, pair_classifiers
from mixkern.svm.libsvm import classifier, pairs

COSTS = (0.01, 1.0, 30.0)


def situation(n_classes, n=24, seed=0):
    """Return kernels, classes, training rows of each set, and settings."""
    random = np.random.RandomState(seed)
    codes = np.sort(np.append(np.arange(n_classes).repeat(3), random.randint(n_classes, size=n - 3 * n_classes)))
    X = random.normal(size=(n, 2)) + 1.5 * np.column_stack([np.cos(codes), np.sin(2.0 * codes)])
    K = np.array([rbf_kernel(X, gamma=0.1), rbf_kernel(X, gamma=2.0), polynomial_kernel(X, degree=2, gamma=0.2)])
    kept = np.ones((4, n), dtype=bool)
    for fold in range(3):
        for label in range(n_classes):
            kept[fold, np.flatnonzero(codes == label)[fold::4]] = False
    kernel, C = (each.ravel() for each in np.meshgrid(np.arange(len(K)), COSTS, indexing="ij"))
    return K, codes, kept, kernel, C


def by_libsvm(K, codes, rows, C, **options):
    """Return coefficients of all rows and intercepts, as libsvm finds them on some rows."""
    with ignored_warnings(NotConvergedWarning):
        dual = classifier(K[np.ix_(rows, rows)], codes[rows], C=C, repair=Repair.NONE, **options)
    coefficients = np.zeros((len(K), dual.coefficients.shape[1]))
    coefficients[rows[dual.support]] = dual.coefficients
    return coefficients, dual.intercepts


def objective(K, beta):
    """Return the dual objective, which is minimised: beta K beta / 2 - sum of |beta|, as beta_i = y_i alpha_i."""
    return 0.5 * beta @ K @ beta - np.abs(beta).sum()


def violation(K, signs, beta, c):
    """Return by how much the optimality conditions are violated, as libsvm measures it."""
    at = np.flatnonzero(signs)
    gradient = signs[at] - K[np.ix_(at, at)] @ beta[at]
    rises = np.where(signs[at] > 0, beta[at] < c, beta[at] < 0)
    falls = np.where(signs[at] > 0, beta[at] > 0, beta[at] > -c)
    return gradient[rises].max() - gradient[falls].min()


def each_problem(K, codes, kept, kernel, C, found, **options):
    """Yield every setting and set of training rows with the solutions by both."""
    for t, (k, c) in enumerate(zip(kernel, C, strict=True)):
        for f, mask in enumerate(kept):
            rows = np.flatnonzero(mask)
            expected = by_libsvm(K[k], codes, rows, c, **options)
            yield K[k], c, rows, found.coefficients[t, f], found.intercepts[t, f], expected


def assert_as_libsvm(given, found, atol, **options):
    for K, _, _, coefficients, intercepts, (expected, their_intercepts) in each_problem(*given, found, **options):
        np.testing.assert_allclose(K @ coefficients + intercepts, K @ expected + their_intercepts, atol=atol)


@pytest.fixture
def exact(monkeypatch):
    """Solve to a tolerance of 1e-7, without libsvm."""
    monkeypatch.setattr(batch, "TOL", 1e-7)
    monkeypatch.setattr(batch, "PATIENCE", 10**6)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_exact_decision_values_are_those_of_libsvm(exact, n_classes):
    given = situation(n_classes)
    assert_as_libsvm(given, pair_classifiers(*given, max_iter=10**6), 1e-4, tol=1e-8)  # libsvm keeps single precision


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_decision_values_are_those_of_libsvm_to_the_tolerance(n_classes):
    """For the smooth kernels of a search to 5e-3; a polynomial of large C is badly conditioned."""
    K, codes, kept, kernel, C = situation(n_classes)
    smooth = (kernel < 2) & (C < 30)
    for chosen, atol in ((smooth, 5e-3), (~smooth, 3e-2)):
        given = K, codes, kept, kernel[chosen], C[chosen]
        assert_as_libsvm(given, pair_classifiers(*given), atol)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_solutions_are_feasible_and_no_worse_than_those_of_libsvm(n_classes):
    K, codes, kept, kernel, C = situation(n_classes)
    found = pair_classifiers(K, codes, kept, kernel, C)
    for matrix, c, rows, coefficients, _, (expected, _) in each_problem(K, codes, kept, kernel, C, found):
        for pair, (first, second) in enumerate(pairs(n_classes)):
            beta, theirs = coefficients[:, pair], expected[:, pair]
            signs = np.where(codes == first, 1.0, np.where(codes == second, -1.0, 0.0))
            assert (signs * beta >= 0).all()
            assert (signs * beta <= c).all()
            assert abs(beta.sum()) <= 1e-12 * c * len(rows)
            assert violation(matrix, np.where(np.isin(np.arange(len(codes)), rows), signs, 0), beta, c) <= 1.001e-3
            ours, libsvm = objective(matrix, beta), objective(matrix, theirs)
            assert ours <= libsvm + 1e-3 * abs(libsvm)


def test_rows_that_are_left_out_and_those_of_other_classes_have_no_coefficient():
    K, codes, kept, kernel, C = situation(3)
    found = pair_classifiers(K, codes, kept, kernel, C)
    assert found.coefficients.shape == (len(C), len(kept), len(codes), 3)
    assert found.intercepts.shape == (len(C), len(kept), 3)
    for f, mask in enumerate(kept):
        assert not found.coefficients[:, f, ~mask].any()
        assert found.coefficients[:, f, mask].any()
        for pair, classes in enumerate(pairs(3)):
            assert not found.coefficients[:, f, ~np.isin(codes, classes), pair].any()


def test_shorter_problems_end_with_no_row():
    codes = np.array([0, 1, 1, 2, 0])
    kept = np.array([[True] * 5, [True, True, False, True, False]])
    problems = PairProblems.of(codes, kept)
    assert problems.rows.tolist() == [
        [0, 4, 1, 2],
        [0, 4, 3, NONE],
        [1, 2, 3, NONE],
        [0, 1, NONE, NONE],
        [0, 3, NONE, NONE],
        [1, 3, NONE, NONE],
    ]
    assert problems.signs.tolist()[1] == [1, 1, -1, 0]
    assert ((problems.signs == 0) == (problems.rows == NONE)).all()


def test_problems_of_very_different_length(exact):
    """One class has most rows, and the last row, which stands for no row, is in all problems of one class."""
    K, _, _, kernel, C = situation(2, n=30)
    codes = np.zeros(30, dtype=int)
    codes[[3, 9, 29]], codes[[4, 5]] = 1, 2
    kept = np.ones((2, 30), dtype=bool)
    kept[1, [9, *range(10, 25)]] = False
    given = K, codes, kept, kernel, C
    found = pair_classifiers(*given, max_iter=10**6)
    assert_as_libsvm(given, found, 1e-4, tol=1e-8)
    assert not found.coefficients[..., 29, 1].any()  # of the pair without its class


@pytest.mark.parametrize("at_once", [1, 50, 200])
def test_problems_that_do_not_fit_at_once_have_the_same_solution(monkeypatch, at_once):
    given = situation(3)
    expected = pair_classifiers(*given)
    monkeypatch.setattr(batch, "AT_ONCE", at_once)
    found = pair_classifiers(*given)
    np.testing.assert_array_equal(found.coefficients, expected.coefficients)
    np.testing.assert_array_equal(found.intercepts, expected.intercepts)


def test_slow_problems_are_left_to_libsvm(monkeypatch):
    """After one step nearly none is solved: the solutions are those of libsvm."""
    given = situation(3)
    _, _, kept, _, C = given
    calls = []

    def counted(*arguments, **options):
        calls.append(options["max_iter"])
        return classifier(*arguments, **options)

    monkeypatch.setattr(batch, "classifier", counted)
    monkeypatch.setattr(batch, "PATIENCE", 1)
    found = pair_classifiers(*given, max_iter=1_000)
    assert len(C) * len(kept) * 3 * 0.9 < len(calls) <= len(C) * len(kept) * 3
    assert set(calls) == {1_000}
    assert_as_libsvm(given, found, 1e-4)
    monkeypatch.setattr(batch, "PATIENCE", 10**6)
    calls.clear()
    pair_classifiers(*given)
    assert calls == []


def test_an_indefinite_kernel_ends():
    """Within the box, and no worse than where it began; libsvm may find another of several minima."""
    K, codes, kept, kernel, C = situation(3)
    K = K - 0.6 * np.eye(K.shape[1])
    assert np.linalg.eigvalsh(K[1]).min() < -0.1
    found = pair_classifiers(K, codes, kept, kernel, C, max_iter=5_000)
    assert np.isfinite(found.intercepts).all()
    assert (np.abs(found.coefficients) <= C[:, None, None, None]).all()
    np.testing.assert_allclose(found.coefficients.sum(axis=2), 0, atol=1e-10)
    for t, k in enumerate(kernel):
        for f in range(len(kept)):
            assert all(objective(K[k], beta) <= 0 for beta in found.coefficients[t, f].T)


def test_equal_rows_of_both_classes_end():
    """Without curvature a coefficient moves to its bound."""
    K, codes = np.ones((1, 4, 4)), np.array([0, 1, 0, 1])
    found = pair_classifiers(K, codes, np.ones((1, 4), dtype=bool), np.array([0]), np.array([2.0]))
    np.testing.assert_array_equal(np.abs(found.coefficients[0, 0, :, 0]), 2.0)
    assert found.intercepts[0, 0, 0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("max_iter", [1, 3])
def test_no_more_steps_than_max_iter(monkeypatch, max_iter):
    """Problems that need more end as libsvm leaves them after so many, without a warning."""
    K, codes, kept, kernel, C = situation(2)
    steps = []
    step = batch._AtWork.step

    def counted(solver, top, i, is_open):
        steps.append(is_open.sum())
        step(solver, top, i, is_open)

    monkeypatch.setattr(batch._AtWork, "step", counted)
    found = pair_classifiers(K, codes, kept, kernel, C, max_iter=max_iter)
    assert len(steps) <= max_iter
    for t, (k, c) in enumerate(zip(kernel, C, strict=True)):
        expected, _ = by_libsvm(K[k], codes, np.arange(len(codes)), c, max_iter=max_iter)
        ours = found.coefficients[t, -1]
        assert objective(K[k], ours[:, 0]) <= objective(K[k], expected[:, 0]) + 1e-6


def test_one_row_of_each_class():
    """f = +-1 at both rows, unless C is smaller than what that needs."""
    K = np.array([np.diag([1.0, 1.0]), np.diag([4.0, 4.0])])
    kept = np.ones((1, 2), dtype=bool)
    found = pair_classifiers(K, np.array([0, 1]), kept, np.array([0, 1, 0]), np.array([9.0, 9.0, 0.5]))
    np.testing.assert_allclose(found.coefficients[:, 0, :, 0], [[1, -1], [0.25, -0.25], [0.5, -0.5]])
    np.testing.assert_allclose(found.intercepts[:, 0, 0], 0, atol=1e-12)
