"""Joachims' machine around its solver: what it makes of costs, of indefinite kernels, and of its limits."""

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from mixkern import Mixture, TransductiveSVC, datasets
from mixkern.errors import OptionError
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import RWMKernel, definiteness, repaired
from mixkern.svm.transductive import transductive


def blobs(n=60, c=2, per_class=6, gap=2.0):
    random = np.random.RandomState(0)
    y = np.arange(n) % c
    X = random.standard_normal((n, 2)) + gap * np.column_stack([y % 2, y // 2])
    X.flags.writeable = False
    return X, y, np.where(np.arange(n) < c * per_class, y, -1)


def wild():
    """Rows, labels of some, and a mixture of which RWM is far from definite."""
    random = np.random.RandomState(3)
    factors = random.standard_normal((5, 2, 2))
    mixture = Mixture(
        np.full(5, 0.2),
        2 * random.standard_normal((5, 2)),
        factors @ np.swapaxes(factors, 1, 2) + 0.02 * np.eye(2),
    )
    X = 3 * random.standard_normal((50, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return X, y, np.where(np.arange(50) < 20, y, -1), mixture


PLANE = Mixture([1.0], [[1.0, 0.5]], [[[2.0, 0.0], [0.0, 1.5]]])


# ---------------------------------------------------------------- costs


def test_without_unlabelled_rows_two_classes_are_svc():
    X, _, few = blobs()
    known = few >= 0
    ours = TransductiveSVC("rbf", density=PLANE, gamma=0.5, C=3.0, unlabelled_C=0.0, tol=1e-8).fit(X, few)
    theirs = SVC(gamma=0.5, C=3.0, tol=1e-8).fit(X[known], few[known])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ours.support_, np.sort(np.flatnonzero(known)[theirs.support_]))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_without_unlabelled_rows_several_classes_are_svc_against_the_rest():
    X, _, few = blobs(80, 4)
    known = few >= 0
    ours = TransductiveSVC("rbf", density=PLANE, gamma=0.5, C=3.0, unlabelled_C=0.0, tol=1e-8).fit(X, few)
    theirs = OneVsRestClassifier(SVC(gamma=0.5, C=3.0, tol=1e-8)).fit(X[known], few[known])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_costs_and_tolerance_go_to_the_solver():
    X, _, few = blobs()
    how = {"C": 2.0, "unlabelled_C": 0.7, "tol": 1e-5}
    model = TransductiveSVC("rwm", density=PLANE, **how).fit(X, few)
    K = model.kernel_(X)
    signs = np.where(few < 0, 0, 2 * few - 1)
    dual = transductive(K, signs, positive_share=0.5, **how)
    np.testing.assert_allclose(model.decision_function(X), dual.decision(K)[:, 0], atol=1e-9)
    order = np.argsort(dual.support)
    np.testing.assert_array_equal(model.support_, dual.support[order])
    np.testing.assert_array_equal(model.dual_coef_, dual.coefficients[order].T)
    assert model.n_iter_ == dual.n_iter
    other = TransductiveSVC("rwm", density=PLANE, **{**how, "unlabelled_C": 0.01}).fit(X, few)
    assert not np.allclose(model.decision_function(X), other.decision_function(X), atol=1e-2)


def test_the_gap_between_the_moons_is_found():
    X, y = datasets.make_two_moons(n=200, random_state=0)
    few = np.where(np.arange(200) < 10, y, -1)
    how = {"gamma": "local", "unlabelled_C": 1.0, "random_state": 0}
    assert TransductiveSVC("rbf", **how).fit(X, few).score(X, y) > 0.9


@pytest.mark.parametrize("cost", [-1.0, np.nan, None, "C"])
def test_costs_that_are_none(cost):
    X, _, few = blobs()
    with pytest.raises(OptionError, match=r"^unlabelled_C must be a number, 0 or more, but it is "):
        TransductiveSVC(density=PLANE, unlabelled_C=cost).fit(X, few)


# ---------------------------------------------------------------- kernels that are not definite


@pytest.mark.parametrize("how", ["clip", "flip", "shift"])
def test_a_repair_goes_into_the_coefficients(how):
    """Against the long way: the solver on the repaired matrix, and new rows repaired alike."""
    X, _, few, mixture = wild()
    model = TransductiveSVC(RWMKernel(gamma=0.3), density=mixture, repair=how, tol=1e-6).fit(X, few)
    K = RWMKernel(mixture, 0.3)(X)
    assert definiteness(K).smallest < -0.1
    fixed = repaired(K, how)
    signs = np.where(few < 0, 0, 2 * few - 1)
    share = (few == 1).sum() / (few >= 0).sum()
    dual = transductive(fixed.matrix, signs, C=1.0, unlabelled_C=0.1, positive_share=share, tol=1e-6, repair="none")
    new = np.random.RandomState(0).uniform(-5, 5, (30, 2))
    expected = dual.decision(fixed.rows(RWMKernel(mixture, 0.3)(new, X)))[:, 0]
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-5)


def test_a_repair_that_is_none():
    X, _, few = blobs()
    with pytest.raises(
        OptionError, match=r"^repair must be one of 'auto', 'none', 'clip', 'flip', 'shift', but it is 'cut'"
    ):
        TransductiveSVC(density=PLANE, repair="cut").fit(X, few)


def test_one_warning_for_each_class_that_did_not_converge():
    X, y, few, mixture = wild()
    model = TransductiveSVC(RWMKernel(gamma=0.3), density=mixture, max_iter=3, repair="none")
    with pytest.warns(
        NotConvergedWarning, match=r"^libsvm has not converged after 3 iterations\. The result"
    ) as caught:
        model.fit(X, few)
    assert len(caught) == 1
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("how", ["clip", "flip", "shift", "none"])
@pytest.mark.parametrize("c", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_it_says_how_much_a_repair_has_changed(how, c):
    X, _, few, mixture = wild()
    if c == 3:
        few = np.where((few == 1) & (X[:, 0] > 0), 2, few)
    model = TransductiveSVC(RWMKernel(gamma=0.3), density=mixture, repair=how).fit(X, few)
    assert len(model.classes_) == c
    expected = 0.0 if how == "none" else repaired(RWMKernel(mixture, 0.3)(X), how).change
    assert model.repair_change_ == pytest.approx(expected)
    assert TransductiveSVC(RWMKernel(gamma=0.3), density=PLANE).fit(X, few).repair_change_ == 0


def test_settings_by_default():
    assert repr(TransductiveSVC()) == "TransductiveSVC()"
    assert TransductiveSVC(unlabelled_C=1.0).get_params()["unlabelled_C"] == 1.0
