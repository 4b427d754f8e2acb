"""The gain by cross-validation: literal formulas, no leaked labels, intervals that are wide enough."""

from copy import copy

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import SVC

from mixkern import LaplacianSVC, MixtureSVC, datasets
from mixkern.advice import gain as module
from mixkern.advice.gain import (
    BASELINE_C,
    baseline_predictions,
    corrected_variance,
    cross_validated_gain,
    paired_variance,
)
from mixkern.density import one_hot_rows
from mixkern.sampling import class_subsample
from mixkern.search import SemiSupervisedSplit

MOONS, SIDES = datasets.make_two_moons(400, random_state=0)


def learned(X=MOONS, y=SIDES, estimator=None):
    estimator = MixtureSVC(random_state=0, probability=False) if estimator is None else estimator
    estimator.read_labels(X, y, None)
    return estimator, estimator.learn_structure(X)


def only(codes, some):
    """The same labels, all but some hidden."""
    few = np.full(len(codes), -1)
    few[some] = codes[some]
    return few


def gain_of(estimator, rows, codes, some, seed=0, confidence=0.95):
    numbers, few = one_hot_rows(estimator.mixture_, rows[some].values), only(codes, some)
    trained = copy(estimator).train(rows, few)
    return cross_validated_gain(trained, rows, numbers, few, np.random.RandomState(seed), confidence)


def some_of_each(codes, per_class, seed):
    random = np.random.RandomState(seed)
    some = [random.permutation(np.flatnonzero(codes == c))[:per_class] for c in np.unique(codes)]
    return np.sort(np.concatenate(some))


def test_corrected_variance_is_the_formula_of_nadeau_and_bengio():
    differences = [0.1, -0.2, 0.0, 0.3, 0.1, 0.1]
    mean = sum(differences) / 6
    sq_deviation = sum((d - mean) ** 2 for d in differences) / (6 - 1)
    assert corrected_variance(differences, 10 / 40) == pytest.approx((1 / 6 + 10 / 40) * sq_deviation)


def test_paired_variance_is_the_variance_of_rows_with_half_a_row_added_to_each_case():
    gained, lost, n = 5, 2, 20
    values = np.repeat([1.0, -1.0, 0.0], [2 * gained + 1, 2 * lost + 1, 2 * (n - gained - lost + 1)])  # halves doubled
    assert paired_variance(gained, lost, n) == pytest.approx(values.var() / (n + 2))


@pytest.mark.parametrize("estimator", [None, LaplacianSVC(random_state=0, probability=False)], ids=["blend", "lap"])
@pytest.mark.slow
def test_accuracies_are_those_of_estimators_trained_without_the_fold(estimator):
    """The kernel too: the share of a blend depends on the labels. The weight of the S3VM is that of all labels."""
    is_blend = estimator is None
    estimator, rows = learned(estimator=estimator)
    some = some_of_each(SIDES, 4, seed=1)
    weight = copy(estimator).train(rows, only(SIDES, some)).avoiding_share_
    assert (weight > 0) == is_blend
    random, expected = np.random.RandomState(3), []
    class_subsample(SIDES[some], module.MAX_LABELS, random)  # draws random numbers, too
    split = SemiSupervisedSplit(5, random_state=random)
    for _ in range(10):
        for kept, out in split.split(rows[some], SIDES[some]):
            own = copy(estimator).train(rows, only(SIDES, some[kept]), avoiding_share=weight)
            assert own.avoiding_share_ == weight
            expected.append(own.score(MOONS[some[out]], SIDES[some[out]]))
    found = gain_of(estimator, rows, SIDES, some, seed=3)
    assert found.all_rows == pytest.approx(np.mean(expected))
    assert (found.n_tested, found.n_folds, found.n_repeats) == (8, 4, 10)


def test_the_interval_is_never_narrower_than_few_labels_allow():
    """Both are right everywhere, so that no fold differs: eight labels still leave room for a difference."""
    X = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + np.random.RandomState(0).standard_normal((40, 2))
    y = np.repeat([0, 1], 20)
    estimator, rows = learned(X, y)
    found = gain_of(estimator, rows, y, some_of_each(y, 4, seed=0))
    assert found.estimate == 0
    half = stats.t.ppf(0.975, 4 * 10 - 1) * np.sqrt(1 / (8 + 2) ** 2)
    assert found.interval == pytest.approx((-half, half))


@pytest.mark.slow
def test_more_confidence_is_a_wider_interval_within_what_accuracies_can_be():
    estimator, rows = learned()
    some = some_of_each(SIDES, 2, seed=0)
    narrow, wide = (gain_of(estimator, rows, SIDES, some, confidence=c) for c in (0.5, 0.9999))
    assert narrow.estimate == wide.estimate
    assert -1 <= wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1] <= 1


@pytest.mark.slow
def test_intervals_hold_the_true_gain_often_enough(monkeypatch):
    """The true gain: both classifiers with all labels, on all rows without one."""
    monkeypatch.setattr(module, "N_REPEATS", 3)
    estimator, rows = learned()
    numbers, hits, draws = one_hot_rows(estimator.mixture_, rows), [], 20
    for seed in range(draws):
        some = some_of_each(SIDES, 6, seed)
        others = np.setdiff1d(np.arange(len(rows)), some)
        whole = copy(estimator).train(rows, only(SIDES, some))
        right = whole.predict(MOONS[others]) == SIDES[others]
        alone = baseline_predictions(numbers, SIDES, some, others) == SIDES[others]
        low, high = gain_of(estimator, rows, SIDES, some, seed).interval
        hits.append(low <= right.mean() - alone.mean() <= high)
    assert np.mean(hits) >= 0.85  # by the corrected variance alone it is about two in three


def test_the_baseline_is_trained_on_the_kept_rows_alone():
    random = np.random.RandomState(0)
    numbers, codes = random.standard_normal((30, 2)), np.arange(30) % 3
    kept, out = np.arange(20), np.arange(20, 30)
    expected = SVC(C=BASELINE_C, gamma="scale").fit(numbers[:20], codes[:20]).predict(numbers[20:])
    np.testing.assert_array_equal(baseline_predictions(numbers, codes, kept, out), expected)
    hidden = np.where(np.arange(30) < 20, codes, 0)
    np.testing.assert_array_equal(baseline_predictions(numbers, hidden, kept, out), expected)
