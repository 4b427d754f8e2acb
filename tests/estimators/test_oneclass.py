"""Rows that belong and rows that do not: scikit-learn's machine around the rows of X, a density of all."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import OneClassSVM

from mixkern import MixtureOneClassSVM, VBMixture, datasets
from mixkern.errors import LabelError

X = datasets.make_two_moons(n=80, random_state=0)[0]
X.flags.writeable = False
MORE = datasets.make_two_moons(n=50, random_state=1)[0]
RAW = {"encoder": "passthrough", "density": VBMixture(random_state=0)}


@pytest.mark.parametrize("nu", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weighted"])
def test_rbf_on_rows_as_they_are_is_one_class_svm(nu, is_weighted):
    weights = np.random.RandomState(0).uniform(0.2, 3, size=80) if is_weighted else None
    how = {"gamma": 1.3, "nu": nu, "tol": 1e-10}
    ours = MixtureOneClassSVM("rbf", **RAW, **how).fit(X, sample_weight=weights)
    theirs = OneClassSVM(**how).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    np.testing.assert_allclose(ours.decision_function(MORE), theirs.decision_function(MORE), atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(MORE), theirs.score_samples(MORE), atol=1e-8)
    np.testing.assert_allclose(ours.offset_, theirs.offset_[0], atol=1e-8)
    np.testing.assert_array_equal(ours.predict(MORE), theirs.predict(MORE))


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap"])
def test_the_offset_is_what_score_and_decision_differ_by(kernel):
    model = MixtureOneClassSVM(kernel, nu=0.2, random_state=0).fit(X)
    rows = model.encoder_.transform(MORE)
    scores = (model.kernel_(rows, model.support_vectors_) @ model.dual_coef_.T)[:, 0]
    np.testing.assert_allclose(model.score_samples(MORE), scores, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(MORE), scores - model.offset_, atol=1e-8)
    assert set(model.predict(MORE)) <= {1, -1}
    np.testing.assert_array_equal(model.predict(MORE) == 1, model.decision_function(MORE) >= 0)
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(MORE), model.decision_function(MORE))


def test_about_a_share_nu_is_left_outside():
    model = MixtureOneClassSVM("rbf", nu=0.2, random_state=0).fit(X)
    assert (model.predict(X) == -1).mean() == pytest.approx(0.2, abs=0.05)
    assert len(model.support_) >= 0.2 * len(X)


def test_rows_from_nowhere_do_not_belong():
    model = MixtureOneClassSVM(nu=0.05, random_state=0).fit(X)
    assert model.predict([[9.0, 9.0], [-50.0, 3.0]]).tolist() == [-1, -1]


@pytest.mark.parametrize("is_frame", [False, True], ids=["array", "frame"])
def test_further_rows_are_for_the_density_only(is_frame):
    frame = pd.DataFrame if is_frame else np.asarray
    columns = {"columns": ["a", "b"]} if is_frame else {}
    model = MixtureOneClassSVM(random_state=0).fit(frame(X, **columns), X_unlabelled=frame(MORE, **columns))
    both = MixtureOneClassSVM(random_state=0).fit(frame(np.vstack([X, MORE]), **columns))
    assert model.mixture_ == both.mixture_
    assert model.kernel_.gamma == both.kernel_.gamma
    assert model.support_.max() < len(X)
    rows = model.encoder_.transform(frame(X, **columns))
    theirs = OneClassSVM(kernel=model.kernel_).fit(rows)
    np.testing.assert_array_equal(model.support_, theirs.support_)


def test_further_rows_in_a_list():
    model = MixtureOneClassSVM(random_state=0).fit(X.tolist(), X_unlabelled=MORE.tolist())
    expected = MixtureOneClassSVM(random_state=0).fit(X, X_unlabelled=MORE)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))


def test_labels_are_ignored():
    a = MixtureOneClassSVM(random_state=0).fit(X, np.arange(80) % 2)
    np.testing.assert_array_equal(a.predict(X), MixtureOneClassSVM(random_state=0).fit(X).predict(X))


def test_rows_that_count_nothing():
    weights = np.where(np.arange(80) % 4 == 0, 0.0, 1.0)
    model = MixtureOneClassSVM(random_state=0).fit(X, sample_weight=weights)
    assert not set(model.support_) & set(np.flatnonzero(weights == 0))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(80), "All sample weights are zero"),
        (-np.ones(80), "not negative"),
        (np.ones((80, 2)), "one number per"),
    ],
)
def test_weights_that_cannot_be(weights, message):
    with pytest.raises(LabelError, match=message):
        MixtureOneClassSVM(random_state=0).fit(X, sample_weight=weights)


@pytest.mark.parametrize("nu", [0.0, 1.5])
def test_a_share_that_is_none(nu):
    with pytest.raises(ValueError, match="nu must be a number above 0, and 1 at most"):
        MixtureOneClassSVM(nu=nu, random_state=0).fit(X)
