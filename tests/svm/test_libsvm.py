import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR, OneClassSVM
from threadpoolctl import threadpool_limits

from mixkern import VBMixture, datasets
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import RBFKernel, Repair, RWMKernel, definiteness, repaired
from mixkern.svm import Dual, classifier, libsvm, one_class, pairs, regressor
from mixkern.svm.libsvm import MAX_ITER, for_given_rows, pair_positions


def _shuffled(X, codes):
    """Scaled rows in no order, whose first class does not come first."""
    order = np.random.RandomState(0).permutation(len(X))
    order = order[np.argsort(codes[order] == 0, kind="stable")]
    rows = scale(X)[order]
    rows.flags.writeable = False
    return rows, codes[order]


TABLES = {
    "two moons": _shuffled(*datasets.make_two_moons(n=150, random_state=0)),
    "iris": _shuffled(*load_iris(return_X_y=True)),
    "wine": _shuffled(*load_wine(return_X_y=True)),
}
each_table = pytest.mark.parametrize("table", TABLES)


def one_against_one(machine, X):
    """scikit-learn's decision values, with positive for the first of two classes throughout."""
    values = machine.decision_function(X)
    return -values[:, None] if values.ndim == 1 else values


def literal_decision(dual, kernel, new, rows):
    return kernel(new, rows[dual.support]) @ dual.coefficients + dual.intercepts


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with threadpool_limits(1):  # small matrices: threads only wait for each other
        yield


# ---------------------------------------------------------------- against scikit-learn's own kernel


@each_table
@pytest.mark.parametrize("gamma", [0.01, pytest.param(0.3, marks=pytest.mark.slow), 5.0])
@pytest.mark.parametrize("C", [0.1, pytest.param(1.0, marks=pytest.mark.slow), 100.0])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}], ids=["plain", "balanced", "dict"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weighted"])
def test_classifier_is_svc(table, gamma, C, class_weight, is_weighted):
    X, codes = TABLES[table]
    weights = np.random.RandomState(1).uniform(0.1, 3, len(X)) if is_weighted else None
    kernel = RBFKernel(gamma)
    dual = classifier(kernel(X), codes, C=C, sample_weight=weights, class_weight=class_weight)
    svc = SVC(C=C, gamma=gamma, class_weight=class_weight, decision_function_shape="ovo")
    svc.fit(X, codes, sample_weight=weights)
    np.testing.assert_array_equal(dual.support, svc.support_)
    assert dual.converged
    assert dual.coefficients.shape == (len(dual.support), len(pairs(codes.max() + 1)))
    np.testing.assert_allclose(dual.decision(kernel(X)), one_against_one(svc, X), rtol=1e-8, atol=1e-8)
    new = X[:20] + 0.1
    np.testing.assert_allclose(literal_decision(dual, kernel, new, X), one_against_one(svc, new), rtol=1e-8, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(0, 10**6), st.floats(-2, 2), st.floats(-2, 1))
def test_classifier_is_svc_on_random_rows(n_classes, seed, log_C, log_gamma):
    """To 1e-6: libsvm stores 32 bit floats, and a value that is halfway between two may be rounded either way."""
    random = np.random.RandomState(seed)
    codes = random.permutation(np.r_[np.arange(n_classes), random.randint(n_classes, size=25)])
    X = random.standard_normal((len(codes), 3)) + codes[:, None]
    C, kernel = 10**log_C, RBFKernel(10**log_gamma)
    dual = classifier(kernel(X), codes, C=C, tol=1e-8)
    svc = SVC(C=C, gamma=kernel.gamma, tol=1e-8, decision_function_shape="ovo").fit(X, codes)
    np.testing.assert_allclose(dual.decision(kernel(X)), one_against_one(svc, X), rtol=1e-6, atol=1e-6)


@each_table
def test_positive_speaks_for_the_first_of_a_pair(table):
    X, codes = TABLES[table]
    K = RBFKernel(0.3)(X)
    values = classifier(K, codes, C=10.0).decision(K)
    for q, (i, j) in enumerate(pairs(codes.max() + 1)):
        between = np.isin(codes, [i, j])
        assert ((values[between, q] > 0) == (codes[between] == i)).mean() > 0.95


def test_pairs_are_all_and_in_order():
    assert pairs(2) == [(0, 1)]
    assert pairs(4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_new_names_of_classes_turn_signs_and_order():
    """Class c becomes 2 - c: pairs are listed the other way round, and each speaks for its other half."""
    X, codes = TABLES["wine"]
    K = RBFKernel(0.05)(X)
    forth, back = (classifier(K, each, tol=1e-8).decision(K) for each in (codes, 2 - codes))
    np.testing.assert_allclose(back, -forth[:, ::-1], atol=1e-6)


@each_table
@pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(("C", "epsilon", "gamma"), [(1.0, 0.1, 0.3), (10.0, 0.01, 0.05), (0.1, 0.5, 2.0)])
def test_regressor_is_svr(table, is_weighted, C, epsilon, gamma):
    X, _ = TABLES[table]
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    weights = np.random.RandomState(1).uniform(0.1, 3, len(X)) if is_weighted else None
    kernel = RBFKernel(gamma)
    dual = regressor(kernel(X), y, C=C, epsilon=epsilon, sample_weight=weights)
    svr = SVR(C=C, epsilon=epsilon, gamma=gamma).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(dual.support, svr.support_)
    assert dual.coefficients.shape == (len(dual.support), 1)
    np.testing.assert_allclose(dual.decision(kernel(X))[:, 0], svr.predict(X), atol=1e-8)
    new = X[:20] + 0.1
    np.testing.assert_allclose(literal_decision(dual, kernel, new, X)[:, 0], svr.predict(new), atol=1e-8)


@each_table
@pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize(("nu", "gamma"), [(0.5, 0.3), (0.1, 0.05), (0.9, 2.0)])
def test_one_class_is_one_class_svm(table, is_weighted, nu, gamma):
    X, _ = TABLES[table]
    weights = np.random.RandomState(1).uniform(0.1, 3, len(X)) if is_weighted else None
    kernel = RBFKernel(gamma)
    dual = one_class(kernel(X), nu=nu, sample_weight=weights)
    svm = OneClassSVM(nu=nu, gamma=gamma).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(dual.support, svm.support_)
    np.testing.assert_allclose(dual.decision(kernel(X))[:, 0], svm.decision_function(X), atol=1e-8)
    new = X[:20] + 0.1
    np.testing.assert_allclose(literal_decision(dual, kernel, new, X)[:, 0], svm.decision_function(new), atol=1e-8)


@each_table
def test_a_row_of_no_weight_is_as_if_it_were_not_there(table):
    X, codes = TABLES[table]
    K = RBFKernel(0.3)(X)
    weights = np.where(np.arange(len(X)) % 3 == 0, 0.0, 1.0)
    there = weights > 0
    expected = classifier(K[np.ix_(there, there)], codes[there]).decision(K[:, there])
    np.testing.assert_allclose(classifier(K, codes, sample_weight=weights).decision(K), expected, atol=1e-8)


# ---------------------------------------------------------------- repairs


@pytest.fixture(scope="module")
def indefinite():
    """RWM on two moons with a small gamma: smallest eigenvalue about -3, largest about 110."""
    X, codes = datasets.make_two_moons(n=150, random_state=0)
    mixture = VBMixture(n_components=8, precision_prior="evidence", random_state=0).fit(X).mixture_
    K = RWMKernel(mixture, 0.01)(X)
    assert definiteness(K).smallest < -0.1
    K.flags.writeable = False
    return K, codes, X[:, 0]


def machines(codes, y, **how):
    """Ours and scikit-learn's, to be trained on a matrix: functions of it, and of what it is evaluated on."""

    def scikit(machine, target):
        def decide(K):
            machine.set_params(kernel="precomputed", **how).fit(K, target)
            values = machine.predict(K) if isinstance(machine, SVR) else machine.decision_function(K)
            return -values if isinstance(machine, SVC) else values

        return decide

    return {
        "classifier": (lambda K, **more: classifier(K, codes, C=10.0, **how, **more), scikit(SVC(C=10.0), codes)),
        "regressor": (lambda K, **more: regressor(K, y, C=10.0, **how, **more), scikit(SVR(C=10.0), y)),
        "one_class": (lambda K, **more: one_class(K, nu=0.2, **how, **more), scikit(OneClassSVM(nu=0.2), None)),
    }


each_machine = pytest.mark.parametrize("kind", ["classifier", "regressor", "one_class"])


@each_machine
@pytest.mark.parametrize("repair", [Repair.CLIP, Repair.FLIP])
def test_old_rows_come_out_as_libsvm_on_the_repaired_matrix(indefinite, kind, repair):
    """The dual is evaluated on K as it is: the repair has gone into the coefficients."""
    K, codes, y = indefinite
    ours, scikit = machines(codes, y)[kind]
    expected = scikit(repaired(K, repair).matrix)
    np.testing.assert_allclose(ours(K, repair=repair).decision(K)[:, 0], expected, atol=1e-9 * np.abs(expected).max())


@each_machine
def test_a_shift_is_missing_in_old_rows_as_in_new_ones(indefinite, kind):
    """Only a row's value with itself was raised, and K does not have it: f(x_i) is lower by shift times a_i."""
    K, codes, y = indefinite
    ours, scikit = machines(codes, y)[kind]
    shift = -definiteness(K).smallest
    expected = scikit(repaired(K, "shift").matrix)
    dual = ours(K, repair=Repair.SHIFT)
    values = dual.decision(K) + shift * dual.coefficients[np.argsort(dual.support)]
    np.testing.assert_allclose(values[:, 0], expected, atol=1e-9 * np.abs(expected).max())
    assert not np.allclose(dual.decision(K)[:, 0], expected)


@each_machine
@pytest.mark.parametrize("repair", [Repair.CLIP, Repair.FLIP, Repair.SHIFT])
def test_new_rows_go_the_way_of_the_repair(indefinite, kind, repair):
    K, codes, y = indefinite
    ours, _ = machines(codes, y)[kind]
    fixed = repaired(K, repair)
    plain, dual = ours(fixed.matrix, repair=Repair.NONE), ours(K, repair=repair)
    new = np.random.RandomState(0).uniform(size=(7, len(K)))  # any values will do: the way is linear
    expected = plain.decision(fixed.rows(new))
    np.testing.assert_allclose(dual.decision(new), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("repair", list(Repair))
def test_a_repair_of_several_classes(repair):
    """Spread over all rows, each pair keeps its own coefficients; a definite matrix stays as it is."""
    X, codes = TABLES["wine"]
    K = RBFKernel(0.3)(X)
    expected = classifier(K, codes, tol=1e-8, repair=Repair.NONE)
    dual = classifier(K, codes, tol=1e-8, repair=repair)
    np.testing.assert_allclose(dual.decision(K), expected.decision(K), atol=1e-6)


@each_machine
def test_what_converges_is_not_repaired(indefinite, kind):
    """libsvm copes with RWM: its steps go to the edge of the box where the matrix bends down."""
    K, codes, y = indefinite
    ours, scikit = machines(codes, y)[kind]
    for repair in (Repair.NONE, *([] if kind == "regressor" else [Repair.AUTO])):
        dual = ours(K, repair=repair)
        assert dual.converged
        assert dual.change == 0
        np.testing.assert_allclose(dual.decision(K)[:, 0], scikit(K), atol=1e-8)


def test_numbers_are_never_followed_by_an_indefinite_matrix(indefinite):
    """libsvm would converge there too, at the edge of its box, far from y."""
    K, _, y = indefinite
    dual, clipped = regressor(K, y), regressor(K, y, repair=Repair.CLIP)
    np.testing.assert_array_equal(dual.coefficients, clipped.coefficients)
    assert dual.change == repaired(K).change > 0
    assert regressor(RBFKernel(1.0)(np.arange(5.0)[:, None]), np.arange(5.0)).change == 0


# ---------------------------------------------------------------- the guard


def facts(K, max_iter):
    report = definiteness(K)
    return re.escape(
        f"libsvm has not converged after {max_iter} iterations on a kernel matrix that is not positive semi-definite: "
        f"its smallest eigenvalue is {report.smallest:.3g}, and negative ones make up {report.negative_mass:.1%} "
        "of its spectrum. "
    )


@pytest.mark.parametrize("kind", ["classifier", "one_class"])
def test_auto_clips_where_libsvm_does_not_converge(indefinite, kind):
    K, codes, y = indefinite
    ours, scikit = machines(codes, y, max_iter=5)[kind]
    told = r"They were clipped, and the SVM was trained again\. Then, libsvm has not converged"
    with pytest.warns(NotConvergedWarning, match=facts(K, 5) + told):
        dual = ours(K)
    with pytest.warns(UserWarning, match="Solver terminated early"):
        expected = scikit(repaired(K).matrix)
    np.testing.assert_allclose(dual.decision(K)[:, 0], expected, atol=1e-9 * np.abs(expected).max())


@each_machine
def test_none_keeps_what_there_is(indefinite, kind):
    K, codes, y = indefinite
    ours, scikit = machines(codes, y, max_iter=5)[kind]
    told = r"The result so far is used\. Repair the matrix: repair='clip'\."
    with pytest.warns(NotConvergedWarning, match=facts(K, 5) + told):
        dual = ours(K, repair=Repair.NONE)
    assert not dual.converged
    with pytest.warns(UserWarning, match="Solver terminated early"):
        expected = scikit(K)
    np.testing.assert_allclose(dual.decision(K)[:, 0], expected, atol=1e-8)


@each_machine
@pytest.mark.parametrize("repair", [Repair.AUTO, Repair.NONE])
def test_a_definite_matrix_needs_other_advice(kind, repair, monkeypatch):
    X, codes = TABLES["two moons"]
    K = RBFKernel(5.0)(X)
    ours, _ = machines(codes, X[:, 0], max_iter=3)[kind]
    told = (
        "libsvm has not converged after 3 iterations. The result so far is used. Scale the columns, lower C or raise "
        "max_iter."
    )
    monkeypatch.setattr(libsvm, "definiteness", None)  # all eigenvalues: ten times the time of a Cholesky factorisation
    with pytest.warns(NotConvergedWarning, match=re.escape(told)):
        dual = ours(K, repair=repair)
    assert not dual.converged


def test_one_pair_of_classes_that_does_not_converge_is_enough():
    X, codes = TABLES["wine"]
    K = RBFKernel(0.1)(X)
    needed = SVC(kernel="precomputed", C=100.0).fit(K, codes).n_iter_
    assert min(needed) < max(needed)
    with pytest.warns(NotConvergedWarning, match="Scale the columns"):
        assert not classifier(K, codes, C=100.0, max_iter=int(max(needed)) - 1).converged
    assert classifier(K, codes, C=100.0, max_iter=int(max(needed)) + 1).converged


def hard(seed=2, n=20):
    """Two moons under -distance^2 / 2: an indefinite matrix on which a large C takes millions of steps."""
    X, codes = datasets.make_two_moons(n=n, random_state=seed)
    return -np.square(X[:, None] - X[None]).sum(axis=2) / 2, codes


def test_the_guard_ends_what_would_go_on_and_on():
    """A million steps without convergence, where the clipped matrix takes about a thousand."""
    K, codes = hard()
    with pytest.warns(NotConvergedWarning, match=f"after {MAX_ITER} iterations .* They were clipped"):
        dual = classifier(K, codes, C=1e6)
    assert dual.converged
    clipped = SVC(kernel="precomputed", C=1e6).fit(repaired(K).matrix, codes)
    assert clipped.n_iter_[0] < MAX_ITER / 100
    np.testing.assert_allclose(dual.decision(K)[:, 0], -clipped.decision_function(repaired(K).matrix), atol=1e-6)


def test_the_guard_ends_what_no_repair_can_help():
    """Rows in units a thousand times too small, and a large C: a definite matrix, and libsvm stands still for ever."""
    X, codes = datasets.make_two_moons(n=30, random_state=0)
    with pytest.warns(
        NotConvergedWarning, match=f"after {MAX_ITER} iterations. The result so far is used. Scale the columns, lower C"
    ):
        dual = classifier(1e6 * X @ X.T, codes, C=1e6)
    assert not dual.converged
    assert np.isfinite(dual.coefficients).all()


@pytest.mark.parametrize("repair", [Repair.CLIP, Repair.FLIP, Repair.SHIFT])
def test_a_repaired_matrix_may_not_converge_either(indefinite, repair):
    K, codes, _ = indefinite
    with pytest.warns(NotConvergedWarning, match="has not converged after 5 iterations"):
        assert not classifier(K, codes, max_iter=5, repair=repair).converged


# ---------------------------------------------------------------- words


def test_the_words_are_those_of_the_parameter():
    assert [str(each) for each in Repair] == ["auto", "none", "clip", "flip", "shift"]


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_a_dual_for_given_rows_by_a_plain_loop(how):
    """Two functions over some rows of a repaired matrix; new rows come as they are."""
    random = np.random.RandomState(0)
    A = random.standard_normal((7, 7))
    K, new = (A + A.T) / 2, random.standard_normal((3, 7))
    fixed = repaired(K, how)
    coefficients = random.standard_normal((3, 2))
    dual = Dual(np.array([4, 1, 6]), coefficients, np.array([0.5, -1.0]), n_iter=9, is_interrupted=True)
    given = for_given_rows(dual, fixed)
    rows = fixed.rows(new)
    for x in range(3):
        for q in range(2):
            f = sum(rows[x, i] * dual.coefficients[s, q] for s, i in enumerate(dual.support)) + dual.intercepts[q]
            assert given.decision(new)[x, q] == pytest.approx(f)
    assert (given.change, given.n_iter, given.is_interrupted) == (fixed.change, 9, True)
    assert given.support.tolist() == list(range(7))
    assert dual.support.tolist() == [4, 1, 6]


def test_nothing_that_was_given_is_changed(indefinite):
    K, codes, _ = indefinite  # K is read-only
    before = K.copy()
    for repair in Repair:
        classifier(K, codes, repair=repair)
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("c", [2, 3, 7])
def test_positions_of_pairs(c):
    positions = pair_positions(c)
    for q, (i, j) in enumerate(pairs(c)):
        assert positions[i, j] == positions[j, i] == q
    assert (np.diag(positions) == -1).all()
