"""Scores of left-out labels: those of scikit-learn's functions on the same predictions."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    roc_auc_score,
)

from mixkern.errors import OptionError
from mixkern.search.scoring import LeftOutClassifier, NamedScorer, Scoring, resolved_scoring
from mixkern.svm.one_vs_one import class_probabilities

NAMES = np.array(["ant", "bee", "cat"], dtype=object)


def left_out(c=3, n=20):
    """Decision values of some rows of a table, in another order than theirs."""
    random = np.random.RandomState(0)
    rows = random.permutation(50)[:n]
    return LeftOutClassifier(rows, random.standard_normal((n, c * (c - 1) // 2)), 2.0, NAMES[:c]), rows


@pytest.mark.parametrize("c", [2, 3])
def test_predictions_follow_the_rows(c):
    model, rows = left_out(c)
    proba = class_probabilities(model.values, 2.0, c)
    np.testing.assert_array_equal(model.predict_proba(rows), proba)
    np.testing.assert_array_equal(model.predict(rows), NAMES[proba.argmax(axis=1)])
    some = rows[[7, 3, 3, 11]]
    np.testing.assert_array_equal(model.predict_proba(some), proba[[7, 3, 3, 11]])
    assert model.decision_function(some).shape == ((4,) if c == 2 else (4, 3))
    assert model.classes_.tolist() == NAMES[:c].tolist()


def test_scorers_of_scikit_learn_by_name():
    model, rows = left_out(3)
    y = NAMES[np.arange(len(rows)) % 3]
    predicted, proba = model.predict(rows), model.predict_proba(rows)
    expected = {
        "balanced_accuracy": balanced_accuracy_score(y, predicted),
        "f1_macro": f1_score(y, predicted, average="macro"),
        "neg_log_loss": -log_loss(y, proba, labels=NAMES),
        "roc_auc_ovr": roc_auc_score(y, proba, multi_class="ovr", labels=NAMES),
    }
    for name, score in expected.items():
        assert resolved_scoring(name)(model, rows, y, None) == pytest.approx(score)


def test_a_scorer_of_two_classes_reads_the_decision_function():
    model, rows = left_out(2)
    y = NAMES[np.arange(len(rows)) % 2]
    expected = roc_auc_score(y == "bee", model.decision_function(rows))
    assert resolved_scoring("roc_auc")(model, rows, y, None) == pytest.approx(expected)


def test_weights_go_to_scorers_that_take_them():
    model, rows = left_out(3)
    y, weights = NAMES[np.arange(len(rows)) % 3], np.random.RandomState(0).uniform(0.1, 3, len(rows))
    expected = accuracy_score(y, model.predict(rows), sample_weight=weights)
    given = make_scorer(accuracy_score)
    for scoring in ("accuracy", given):
        scorer = resolved_scoring(given if scoring == "accuracy" else scoring)
        assert scorer(model, rows, y, weights) == pytest.approx(expected)

    def plain(estimator, X, y):
        return float((estimator.predict(X) == y).mean())

    assert resolved_scoring(plain)(model, rows, y, weights) == accuracy_score(y, model.predict(rows))


def test_what_scoring_may_be():
    assert resolved_scoring(None) is Scoring.ACCURACY
    assert resolved_scoring("accuracy") is Scoring.ACCURACY
    assert resolved_scoring(Scoring.NEG_EXPECTED_ERROR) is Scoring.NEG_EXPECTED_ERROR
    named = resolved_scoring("f1_macro")
    assert isinstance(named, NamedScorer)
    assert named.function is get_scorer("f1_macro") or repr(named.function) == repr(get_scorer("f1_macro"))

    def my_score(estimator, X, y):
        return 0.5

    assert resolved_scoring(my_score).name == "my_score"


@pytest.mark.parametrize(
    ("scoring", "question"),
    [
        ("balanced_acuracy", "Did you mean 'balanced_accuracy'"),
        ("optimistic", "Did you mean 'optimistic_accuracy'"),
        ("zebra", "All names"),
        (["accuracy", "f1_macro"], "All names"),
        (7, "All names"),
    ],
    ids=str,
)
def test_what_it_may_not_be(scoring, question):
    with pytest.raises(OptionError, match=r"^scoring must be one of 'accuracy', 'neg_expected_error', ") as caught:
        resolved_scoring(scoring)
    assert question in str(caught.value)
    assert "sklearn.metrics.get_scorer_names()" in str(caught.value)


def test_a_score_that_is_not_defined():
    model, rows = left_out(3)
    one_class = np.full(len(rows), "ant", dtype=object)
    with pytest.raises(
        OptionError, match=r"^The score 'roc_auc' cannot .*\. With any number of classes: .*'roc_auc_ovr'"
    ):
        resolved_scoring("roc_auc")(model, rows, NAMES[np.arange(len(rows)) % 3], None)
    assert np.isnan(resolved_scoring("roc_auc_ovr").or_nan(model, rows, one_class, None))
    with pytest.raises(OptionError, match=r"^scoring must return a number, but <lambda> returned a ndarray\.$"):
        resolved_scoring(lambda *_: np.ones(3))(model, rows, one_class, None)


def test_errors_of_the_users_own_function_are_theirs():
    def broken(estimator, X, y):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        resolved_scoring(broken)(*left_out(3), NAMES[np.zeros(20, dtype=int)], None)
