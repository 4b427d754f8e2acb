"""Labels that are left out, and predicted from the others."""

import numpy as np
import pytest

from mixkern import MixtureSVC, datasets
from mixkern.advice.cross_validation import is_testable, left_out_predictions, repeated_folds


@pytest.mark.parametrize(
    ("counts", "expected"), [((1, 1), False), ((2, 1), False), ((9, 1), False), ((2, 2), True), ((5, 1, 5), True)]
)
def test_labels_of_two_classes_must_be_left_out(counts, expected):
    assert is_testable(np.repeat(np.arange(len(counts)), counts)) is expected


def test_each_label_is_left_out_once_in_a_repeat():
    codes = np.repeat([0, 1], [8, 7])
    folds = list(repeated_folds(codes, 2, np.random.RandomState(0)))
    left_out = [out for _, out in folds]
    for some in (left_out[: len(folds) // 2], left_out[len(folds) // 2 :]):
        np.testing.assert_array_equal(np.sort(np.concatenate(some)), np.arange(15))
    assert all(not set(kept) & set(out) for kept, out in folds)


def test_predictions_are_those_of_an_estimator_without_these_labels():
    X, y = datasets.make_two_moons(200, random_state=0)
    estimator = MixtureSVC(random_state=0, probability=False).fit(X, y)
    kept, out = np.arange(0, 100), np.arange(100, 200)
    own = MixtureSVC(random_state=0, probability=False)
    own.read_labels(X, y, None)
    rows = own.learn_structure(X)
    own.train(rows[kept], y[kept])
    np.testing.assert_array_equal(left_out_predictions(estimator, rows, y, kept, out), own.predict(X[out]))


def test_predictions_are_those_of_an_svm_and_an_s3vm_without_these_labels():
    X, y = datasets.make_two_moons(200, random_state=1)
    few = np.where(np.arange(200) < 12, y, -1)
    estimator = MixtureSVC(random_state=0, probability=False).fit(X, few)
    rows, share = estimator.rows_of(X), estimator.avoiding_share_
    assert share > 0
    before = estimator.decide(X)
    kept, out = np.arange(8), np.arange(8, 200)
    known = np.where(np.arange(200) < 8, y, -1)
    own = MixtureSVC(random_state=0, probability=False)
    own.read_labels(X, few, None)
    own.train(own.learn_structure(X), known, avoiding_share=share)
    found = left_out_predictions(estimator, rows, few, kept, out)
    np.testing.assert_array_equal(found, own.predict(X[out]))
    wrong = np.where(known < 0, 1 - y, y)  # labels that are left out are not read
    np.testing.assert_array_equal(left_out_predictions(estimator, rows, wrong, kept, out), found)
    np.testing.assert_array_equal(estimator.decide(X), before)
    assert estimator.avoiding_share_ == share


def test_trainings_without_some_labels_print_nothing(capsys):
    X, y = datasets.make_two_moons(40, random_state=0)
    estimator = MixtureSVC(random_state=0, verbose=1).fit(X, y)
    assert capsys.readouterr().out
    left_out_predictions(estimator, estimator.rows_of(X), y, np.arange(30), np.arange(30, 40))
    assert not capsys.readouterr().out
    assert estimator.verbose == 1
