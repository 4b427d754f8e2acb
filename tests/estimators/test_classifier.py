"""Labels in, labels out: every type that they come in, and every way in which they can be wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.svm import SVC

from mixkern import LaplacianSVC, MixtureSVC, QuasiNewtonS3VC, TransductiveSVC, VBMixture
from mixkern.errors import (
    AmbiguousLabelError,
    LabelError,
    LabelTypeError,
    LengthError,
    NoLabelsError,
    OneClassError,
    OptionError,
)

N = 40
CODES = np.where(np.arange(N) < 10, np.arange(N) % 2, -1)
X = np.random.RandomState(0).standard_normal((N, 2)) + 3 * (np.arange(N) % 2)[:, None]
X.flags.writeable = False
TRUTH = np.arange(N) % 2
each_machine = pytest.mark.parametrize("machine", [MixtureSVC, LaplacianSVC])


def fitted(y, X=X, machine=MixtureSVC, **how):
    sample_weight = how.pop("sample_weight", None)
    return machine(random_state=0, probability=False, **how).fit(X, y, sample_weight)


def labels(zero, one, gap=None):
    return [gap if code < 0 else (zero, one)[code] for code in CODES]


# ---------------------------------------------------------------- types

KINDS = {
    "ints": (CODES, 0, 1, np.dtype(int)),
    "other ints": (np.where(CODES < 0, -1, 7 - CODES * 2), 7, 5, np.dtype(int)),
    "int8": (CODES.astype(np.int8), 0, 1, np.dtype(np.int8)),
    "floats": (np.where(CODES < 0, np.nan, CODES), 0.0, 1.0, np.dtype(float)),
    "list of ints and None": (labels(0, 1), 0, 1, np.dtype(int)),
    "texts": (labels("no", "yes"), "no", "yes", np.dtype(object)),
    "texts and NaN": (np.array(labels("no", "yes", np.nan), dtype=object), "no", "yes", np.dtype(object)),
    "texts and -1": (labels("no", "yes", -1), "no", "yes", np.dtype(object)),
    "booleans": (labels(False, True), False, True, np.dtype(bool)),
    "pandas": (pd.Series(labels("no", "yes", pd.NA), index=range(5, N + 5)), "no", "yes", np.dtype(object)),
    "Int64": (pd.Series(labels(3, 4), dtype="Int64"), 3, 4, np.dtype(int)),
    "polars": (pl.Series(labels("no", "yes")), "no", "yes", np.dtype(object)),
    "polars ints": (pl.Series(labels(3, 4)), 3, 4, np.dtype(int)),
    "polars booleans": (pl.Series(labels(False, True)), False, True, np.dtype(bool)),
}


def test_an_argument_is_missing():
    with pytest.raises(TypeError, match=r"^MixtureSVC\.fit: missing a required argument: 'y'\. It takes X, y"):
        MixtureSVC().fit([[1.5], [2.5]])


def test_unlabelled_rows_that_are_too_few():
    with pytest.raises(LengthError, match="X has 3 rows, but y has 2 labels"):
        MixtureSVC().fit([[1.5], [2.5], [3.5]], [None, None])


@pytest.mark.parametrize("kind", KINDS)
def test_labels_come_back_in_their_type(kind):
    y, zero, one, dtype = KINDS[kind]
    model = fitted(y)
    predicted = model.predict(X)
    assert type(predicted) is np.ndarray
    assert predicted.dtype == dtype
    assert model.classes_.dtype == dtype
    assert model.classes_.tolist() == sorted([zero, one])
    assert predicted.tolist() == [(zero, one)[code] for code in fitted(CODES).predict(X)]
    assert model.score(X, [(zero, one)[code] for code in TRUTH]) > 0.9


def test_fixed_width_texts():
    model = fitted(np.array(["no", "yes"])[TRUTH])
    assert model.predict(X).dtype == "<U3"


def test_categories_of_pandas_come_back_as_such():
    y = pd.Series(pd.Categorical(labels("no", "yes"), categories=["yes", "maybe", "no"], ordered=True))
    model = fitted(y)
    predicted = model.predict(X)
    assert isinstance(predicted, pd.Categorical)
    assert predicted.dtype == y.dtype
    assert model.classes_.tolist() == ["no", "yes"]  # those that occur, sorted
    assert list(predicted) == [("no", "yes")[code] for code in fitted(CODES).predict(X)]


def test_a_class_that_loses_all_rows_is_known_no_more():
    assert fitted(np.where(CODES == 0, 5, CODES)).classes_.tolist() == [1, 5]


# ---------------------------------------------------------------- what cannot be learned from


@each_machine
@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, LabelTypeError, r"requires y to be passed, but the target y is None\. Give one label per row, None wh"),
        (np.zeros((N, 2)), LabelTypeError, r"y must be one column of labels, but it has shape \(40, 2\)"),
        (CODES[:5], LengthError, r"X has 40 rows, but y has 5 labels\. Give one label per row, None where there"),
        (np.full(N, -1), NoLabelsError, r"None of the 40 rows is labelled\..* 40 rows hold -1, which means unlabelled"),
        (
            [None] * N,
            NoLabelsError,
            r"None of the 40 rows is labelled\. Label at least one row of each of two classes\. If this is a training",
        ),
        (np.where(CODES == 0, -1, CODES), OneClassError, r"\(5\) have the same label, 1: one class only"),
        (["-1", "a"] * 20, AmbiguousLabelError, "could be a class or mark unlabelled rows"),
        (np.linspace(0, 1, N), LabelTypeError, r"continuous values, not classes.*or use a regressor"),
        ([0, "a"] * 20, LabelTypeError, "mixes labels of several types: number, text"),
    ],
)
def test_what_cannot_be_learned_from_is_explained(machine, y, error, message):
    with pytest.raises(error, match=message):
        fitted(y, machine=machine)


def test_a_column_of_labels_is_taken_with_a_word():
    with pytest.warns(DataConversionWarning, match=r"A column-vector y was passed .* Pass y\.ravel\(\)"):
        model = fitted(CODES[:, None])
    np.testing.assert_array_equal(model.predict(X), fitted(CODES).predict(X))


def test_the_name_of_the_machine_is_in_the_message():
    with pytest.raises(LabelTypeError, match="LaplacianSVC requires y"):
        fitted(None, machine=LaplacianSVC)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (
            np.where(TRUTH == 0, 0.0, 1.0),
            LabelError,
            r"All labels of class 0 have a sample weight of zero\. Drop the cl",
        ),
        (np.where(CODES < 0, 1.0, 0.0), LabelError, "All labels of class 0, 1 have a sample weight of zero"),
        (np.zeros(N), LabelError, "All sample weights are zero"),
        (-np.ones(N), LabelError, "must hold finite numbers that are not negative"),
        (np.full(N, np.nan), LabelError, "must hold finite numbers that are not negative"),
        (np.ones((N, 1)), LabelError, r"one number per row, but have shape \(40, 1\)"),
        (np.ones(3), LengthError, r"X has 40 rows, but sample_weight has 3 numbers\. Give one number per row\.$"),
        (
            ["many"] * N,
            LabelError,
            "hold finite numbers that are not negative, but it is of type list",
        ),
    ],
)
def test_weights_that_cannot_be(weights, error, message):
    with pytest.raises(error, match=message):
        fitted(CODES, sample_weight=weights)


# ---------------------------------------------------------------- weights of classes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("balance", r"class_weight must be None, 'balanced' or a dict of labels, but it is 'balance'"),
        ([1, 2], r"class_weight must be None, 'balanced' or a dict of labels, but it is \[1, 2\]"),
        ({"no": 1.0}, "class_weight names 'no', but the labels are 0, 1"),
        ({0: 1.0, 2: 1.0, 3: 1.0}, "class_weight names 2, 3, but the labels are 0, 1"),
    ],
)
def test_wrong_weights_of_classes_are_explained(given, message):
    with pytest.raises(LabelError, match=message):
        fitted(CODES, class_weight=given)


@pytest.mark.parametrize("weight", [0, -1, np.nan, None, "much"])
def test_weights_of_classes_that_cannot_be(weight):
    with pytest.raises(LabelError, match="class_weight"):
        fitted(CODES, class_weight={0: weight})


@pytest.mark.parametrize("given", ["balanced", {False: 4.0}, {True: 0.1, False: 2.0}])
def test_weights_of_classes_are_those_of_svc(given):
    y = CODES.copy()
    y[[1, 3, 5]] = -1  # 5 against 2
    labelled = y >= 0
    how = {"encoder": "passthrough", "density": VBMixture(random_state=0), "C": 10.0, "gamma": 0.5, "tol": 1e-8}
    model = fitted([None if code < 0 else bool(code) for code in y], kernel="rbf", class_weight=given, **how)
    plain = SVC(C=10.0, gamma=0.5, tol=1e-8, class_weight=given).fit(X[labelled], y[labelled].astype(bool))
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-8)


# ---------------------------------------------------------------- settings that libsvm knows


@pytest.mark.parametrize(("name", "value"), [("C", -1.0), ("C", 0.0), ("tol", 0.0)])
def test_settings_that_cannot_be(name, value):
    with pytest.raises(OptionError, match=f"{name} must be a positive number( or 'auto')?, but it is {value}"):
        fitted(CODES, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("C", "much"), ("C", None), ("C", np.nan), ("tol", None), ("max_iter", -7)]
)
def test_settings_of_the_wrong_kind_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        fitted(CODES, **{name: value})


# ---------------------------------------------------------------- many classes


def many(c):
    """Two labelled rows of each class."""
    y = np.repeat(np.arange(c), 2)
    random = np.random.RandomState(0)
    return random.standard_normal((2 * c, 3)) + 3 * random.standard_normal((c, 3))[y], y


@pytest.mark.parametrize(
    ("machine", "c"), [(MixtureSVC, 6000), (LaplacianSVC, 6000), (TransductiveSVC, 1000), (QuasiNewtonS3VC, 1000)]
)
def test_too_many_classes_are_refused_at_once(machine, c):
    X, y = many(c)
    with pytest.raises(
        LabelError, match=rf"of {c:,} classes\..* Merge rare classes; if y holds numbers, use MixtureSVR\."
    ):
        machine(density="never looked at").fit(X, y)


def test_too_many_labels_of_pairs_are_refused():
    X, y = np.zeros((40_000, 1)), np.arange(40_000) % 90
    with pytest.raises(
        LabelError, match=r"40,000 labels of 90 classes\..* each pair of classes, and pairs times labels"
    ):
        MixtureSVC(density="never looked at", max_labels=40_000).fit(X, y)


def test_the_limit_of_pairs_counts_labels():
    X, y = many(1000)
    few = np.where(y < 100, y, -1)  # the other classes have no label
    model = MixtureSVC(density=VBMixture(3, random_state=0), probability=False).fit(X, few)
    assert model.dual_coef_.shape == (100 * 99 // 2, 200)


@pytest.mark.parametrize("machine", [MixtureSVC, TransductiveSVC])
@pytest.mark.parametrize("limit", ["CELLS", "ROWS"])
def test_blocks_of_rows_change_nothing(machine, limit, monkeypatch):
    X, y = many(5)
    model = machine(density=VBMixture(3, random_state=0), random_state=0).fit(X, y)
    expected = model.decision_function(X), model.predict_proba(X), model.assess(X)
    monkeypatch.setattr("mixkern.estimators.classifier.PART_ROWS", 20)
    monkeypatch.setattr(f"mixkern.estimators.classifier.{limit}", 31)
    np.testing.assert_array_equal(model.decision_function(X), expected[0])
    np.testing.assert_array_equal(model.predict_proba(X), expected[1])
    pd.testing.assert_frame_equal(model.assess(X), expected[2])
