"""Regression with few targets: scikit-learn's on the rows that have one."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.svm import SVR

from mixkern import MixtureSVR, VBMixture, datasets
from mixkern.errors import LabelTypeError, LengthError, NoLabelsError
from mixkern.kernels import LaplacianKernel, RBFKernel

N = 60
X = np.random.RandomState(0).uniform(-3, 3, size=(N, 2))
X.flags.writeable = False
TRUTH = np.sin(X[:, 0]) - 1.0
FEW = np.where(np.arange(N) % 3 == 0, TRUTH, np.nan)
KNOWN = np.flatnonzero(~np.isnan(FEW))
RAW = {"encoder": "passthrough", "density": VBMixture(random_state=0)}


@pytest.mark.parametrize("is_weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_rbf_on_rows_as_they_are_is_svr(epsilon, is_weighted):
    weights = np.random.RandomState(0).uniform(0.2, 3, size=N) if is_weighted else None
    how = {"C": 3.0, "gamma": 0.4, "epsilon": epsilon, "tol": 1e-8}
    ours = MixtureSVR("rbf", **RAW, **how).fit(X, FEW, weights)
    s = FEW[KNOWN].std()
    raw = {**how, "C": 3.0 * s, "epsilon": epsilon * s, "tol": 1e-8 * s}
    theirs = SVR(**raw).fit(X[KNOWN], FEW[KNOWN], None if weights is None else weights[KNOWN])
    np.testing.assert_array_equal(ours.support_, KNOWN[theirs.support_])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)  # several sums give the same function
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])


@pytest.mark.parametrize(("factor", "shift"), [(1e6, 0.0), (1e-6, 0.0), (1.0, 1e4)])
def test_the_unit_of_targets_does_not_matter(factor, shift):
    expected = MixtureSVR(random_state=0, tol=1e-8).fit(X, FEW).predict(X)
    other = MixtureSVR(random_state=0, tol=1e-8).fit(X, factor * FEW + shift).predict(X)
    np.testing.assert_allclose((other - shift) / factor, expected, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap"])
def test_predictions_are_sums_over_support_vectors(kernel):
    model = MixtureSVR(kernel, C=10, random_state=0).fit(X, FEW)
    rows = model.encoder_.transform(X)
    values = model.kernel_(rows, model.support_vectors_) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.predict(X), values[:, 0], atol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert model.score(X, TRUTH) == pytest.approx(r2_score(TRUTH, model.predict(X)))


@pytest.mark.parametrize(
    "y",
    [
        [None if np.isnan(value) else value for value in FEW],
        pd.Series(FEW, index=range(9, N + 9)),
        pd.Series([pd.NA if np.isnan(value) else value for value in FEW], dtype="Float64"),
        pl.Series([None if np.isnan(value) else value for value in FEW]),
        np.array([None if np.isnan(value) else value for value in FEW], dtype=object),
    ],
    ids=["None", "NaN", "NA", "polars", "object"],
)
def test_every_kind_of_gap_is_a_row_without_target(y):
    expected = MixtureSVR(random_state=0).fit(X, FEW).predict(X)
    np.testing.assert_array_equal(MixtureSVR(random_state=0).fit(X, y).predict(X), expected)


def test_minus_one_is_a_number():
    y = np.where(np.arange(N) % 2, -1, 1)
    model = MixtureSVR("rbf", C=1e3, gamma=50.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=0.11)
    assert len(model.support_) > 50


def test_further_rows_are_rows_without_targets():
    others = np.isnan(FEW)
    a = MixtureSVR(random_state=0).fit(X[KNOWN], FEW[KNOWN], X_unlabelled=X[others])
    b = MixtureSVR(random_state=0).fit(np.vstack([X[KNOWN], X[others]]), np.append(FEW[KNOWN], FEW[others]))
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    assert a.mixture_ == b.mixture_


def test_a_weight_of_zero_is_a_row_without_target():
    weights = np.where(np.arange(N) % 6 == 0, 0.0, 1.0)
    a = MixtureSVR(random_state=0).fit(X, FEW, weights)
    b = MixtureSVR(random_state=0).fit(X, np.where(weights > 0, FEW, np.nan))
    np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-12)
    np.testing.assert_array_equal(a.support_, b.support_)


def test_one_target_is_enough():
    y = np.full(N, np.nan)
    y[4] = 7.5
    np.testing.assert_allclose(MixtureSVR(random_state=0).fit(X, y).predict(X), 7.5)


def test_a_bent_kernel():
    model = MixtureSVR(LaplacianKernel(RBFKernel(0.5), ratio=0.1), C=10, random_state=0).fit(X, FEW)
    assert model.score(X, TRUTH) > 0.8


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (["a"] * N, LabelTypeError, "y must hold numbers, .* but it holds 'a'"),
        ([None] * N, NoLabelsError, "None of the 60 rows has a target"),
        (None, LabelTypeError, "MixtureSVR requires y to be passed, but the target y is None"),
        (X, LabelTypeError, r"y must be one column of numbers, but it has shape \(60, 2\)"),
        (FEW[:5], LengthError, r"X has 60 rows, but y has 5 targets\. Give one target per row"),
        (np.where(np.isnan(FEW), np.inf, FEW), LabelTypeError, "contains infinity"),
    ],
)
def test_what_cannot_be_followed_is_explained(y, error, message):
    with pytest.raises(error, match=message):
        MixtureSVR().fit(X, y)


def test_a_column_of_targets_is_taken_with_a_word():
    with pytest.warns(DataConversionWarning, match=r"Pass y\.ravel\(\)"):
        model = MixtureSVR(random_state=0).fit(X, FEW[:, None])
    np.testing.assert_array_equal(model.predict(X), MixtureSVR(random_state=0).fit(X, FEW).predict(X))


def test_weights_of_zero_for_all_targets():
    with pytest.raises(NoLabelsError, match="All rows with a target have a sample weight of zero"):
        MixtureSVR().fit(X, FEW, np.isnan(FEW).astype(float))


def moons():
    """Sixty targets of three hundred; among them, RWM is not definite."""
    rows = datasets.make_two_moons(n=300, random_state=0)[0]
    return rows, rows[:, 0] ** 2, np.where(np.arange(300) < 60, rows[:, 0] ** 2, np.nan)


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_an_indefinite_kernel_that_is_clipped_follows(C):
    rows, y, few = moons()
    assert MixtureSVR(C=C, repair="clip", random_state=0).fit(rows, few).score(rows, y) > 0.9


@pytest.mark.parametrize("C", [10.0, 100.0])
def test_an_indefinite_kernel_does_not_blow_up_in_silence(C):
    """R2 is -15 for C = 10 and -1500 for C = 100, without a warning; clipped, it is 0.98."""
    rows, y, few = moons()
    assert MixtureSVR(C=C, random_state=0).fit(rows, few).score(rows, y) > 0.9
