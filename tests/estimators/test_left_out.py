"""Decisions by classifiers that were trained without some labels, against whole trainings."""

from copy import copy

import numpy as np
import pytest

from mixkern import LaplacianSVC, MixtureSVC, datasets
from mixkern.estimators.left_out import left_out
from mixkern.svm import label_folds
from mixkern.svm.folds import FOLDS, fewer_folds
from mixkern.svm.one_vs_one import chosen, class_scores

IRIS = datasets.load("iris")
Y = IRIS.few_labels(per_class=4, random_state=0)
OTHERS = np.arange(100, 110)


def trained(cls=MixtureSVC, y=Y, **settings):
    model = cls(random_state=0, probability=False, **settings)
    codes, _ = model.read_labels(IRIS.X, y, None)
    rows = model.learn_structure(IRIS.X)
    return model.train(rows, codes), rows, codes


@pytest.mark.parametrize(
    ("cls", "settings"),
    [(MixtureSVC, {"unlabelled": "ignore"}), (MixtureSVC, {"kernel": "rwm"}), (LaplacianSVC, {})],
    ids=["blend", "rwm", "laplacian"],
)
def test_decisions_are_those_of_a_training_with_the_same_settings(cls, settings):
    model, rows, codes = trained(cls, **settings)
    others = OTHERS[codes[OTHERS] < 0]
    found = left_out(model, rows, codes, others, 2, np.random.RandomState(5))
    labelled = np.flatnonzero(codes >= 0)
    random, n_folds = np.random.RandomState(5), fewer_folds(codes[labelled], FOLDS)
    assert found.n_folds == n_folds
    assert found.predicted.shape == (2 * n_folds, len(others))
    at = 0
    for repeat in found.values:
        folds = label_folds(codes[labelled], n_folds, random)
        for fold in range(n_folds):
            kept, out = codes.copy(), labelled[folds == fold]
            kept[out] = -1
            again = copy(model).set_params(C=model.C_)
            again._evidence_kernel = lambda *_: model.kernel_
            again.train(rows, kept)
            np.testing.assert_allclose(repeat[folds == fold], again.decide(rows[out]), atol=1e-6)
            np.testing.assert_array_equal(found.predicted[at], chosen(class_scores(again.decide(rows[others]), 3)))
            at += 1
    assert not np.isnan(found.values).any()


def test_with_an_s3vm_decisions_are_the_mean_of_both():
    model, rows, codes = trained()
    assert 0 < model.avoiding_share_ < 1
    both = left_out(model, rows, codes, OTHERS, 1, np.random.RandomState(1))
    alone = copy(model)
    alone._avoiding = None
    svm = left_out(alone, rows, codes, OTHERS, 1, np.random.RandomState(1))
    labelled = np.flatnonzero(codes >= 0)
    folds = label_folds(codes[labelled], both.n_folds, np.random.RandomState(1))
    problem = model.avoiding_problem(rows, codes, model.kernel_(rows.values[labelled]))
    expected = problem.left_out_values(folds)
    share = model.avoiding_share_
    np.testing.assert_allclose(both.values[0], (1 - share) * svm.values[0] + share * expected, atol=1e-6)
    assert both.predicted.shape == svm.predicted.shape == (both.n_folds, len(OTHERS))


def test_the_only_label_of_a_class_is_never_left_out():
    y = IRIS.few_labels(per_class=4, random_state=0)
    virginica = [i for i, label in enumerate(y) if label == "virginica"]
    for i in virginica[1:]:
        y[i] = None
    model, rows, codes = trained(y=y)
    found = left_out(model, rows, codes, OTHERS, 3, np.random.RandomState(0))
    single = np.flatnonzero(np.flatnonzero(codes >= 0) == virginica[0])
    assert np.isnan(found.values[:, single]).all()
    assert not np.isnan(np.delete(found.values, single, axis=1)).any()


def test_the_model_is_not_changed():
    model, rows, codes = trained()
    before = model.decide(rows)
    left_out(model, rows, codes, OTHERS, 1, np.random.RandomState(0))
    np.testing.assert_array_equal(model.decide(rows), before)
