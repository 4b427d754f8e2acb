"""Trials of many settings at once, against trials one by one with libsvm."""

from dataclasses import replace

import numpy as np
import pytest

from mixkern import datasets
from mixkern.errors import ignored_warnings
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import LaplacianKernel, RBFKernel, Repair
from mixkern.search.gram_cache import DistanceGramCache, LaplacianGramCache, LaplacianKernels
from mixkern.search.grid import KernelPoint
from mixkern.search.trial import TrialScorer
from mixkern.svm import classifier
from mixkern.svm.batch import pair_classifiers
from mixkern.svm.calibration import own_values, slope
from mixkern.svm.folds import label_folds
from mixkern_study import rating as rating_module
from mixkern_study.rating import Rating, common_slopes, rated

SETTINGS = [(KernelPoint(gamma), C) for gamma in (0.05, 0.5, 3.0) for C in ((0.1, 1.0), (10.0,))]


def trainer(C):
    def train(K, codes, kept):
        with ignored_warnings(NotConvergedWarning):
            return classifier(K, codes, C=C, repair=Repair.NONE)

    return train


def table(n_classes):
    X, y = datasets.load("iris").X.to_numpy(), np.unique(datasets.load("iris").y, return_inverse=True)[1]
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[y > 0] if n_classes == 2 else (X - X.mean(axis=0)) / X.std(axis=0)
    return X, y[y > 0] - 1 if n_classes == 2 else y


def rating_of(n_classes, n=18, seed=0, others="labelled", cache=None):
    """Return labels of some rows; the others have labels for the optimistic score, have none, or are not there."""
    X, y = table(n_classes)
    random = np.random.RandomState(seed)
    rows = random.permutation(len(X))
    labelled, rest = rows[:n], rows[n:]
    codes = y[labelled]
    folds = label_folds(codes, 4, random)
    unlabelled = None if others == "none" else X[rest]
    grams = DistanceGramCache(RBFKernel(), X[labelled], unlabelled) if cache is None else cache(X, labelled, rest)
    return Rating(grams, codes, folds, trainer, y[rest] if others == "labelled" else None, 20_000)


def one_by_one(rating, settings):
    scorer = TrialScorer(rating.codes, np.ones(len(rating.codes)), rating.folds, rating.trainer, rating.other_codes)
    return [scorer.trial(rating.cache.at(point), C) for point, values in settings for C in values]


def assert_same(found, expected):
    """Errors and settings are equal, what depends on the tolerance of the solver is close."""
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.C, ours.gamma, ours.alpha, ours.beta) == (theirs.C, theirs.gamma, theirs.alpha, theirs.beta)
        assert ours.point == theirs.point
        assert (ours.scoring, ours.score, ours.loss) == (theirs.scoring, theirs.score, theirs.loss)
        assert ours.validation_error == theirs.validation_error
        assert ours.optimistic_error == pytest.approx(theirs.optimistic_error, abs=1e-12, nan_ok=True)
        assert ours.log_loss == pytest.approx(theirs.log_loss, abs=2e-3)
        assert ours.confidence == pytest.approx(theirs.confidence, abs=2e-3, nan_ok=True)
        assert ours.expected_error == pytest.approx(theirs.expected_error, abs=2e-3, nan_ok=True)
        assert ours.n_support == pytest.approx(theirs.n_support, abs=0.5)


@pytest.mark.parametrize("others", ["labelled", "unlabelled", "none"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trials_are_those_of_libsvm_one_by_one(n_classes, others):
    rating = rating_of(n_classes, others=others)
    (found,) = rated([rating], SETTINGS)
    assert_same(found, one_by_one(rating, SETTINGS))
    assert np.isnan(found[0].confidence) == (others == "none")
    assert np.isnan(found[0].optimistic_error) == (others != "labelled")


@pytest.mark.parametrize("numbers", [1, 20_000])
def test_chunks_are_the_same_as_everything_at_once(monkeypatch, numbers):
    rating, calls = rating_of(3), []

    def counted(K, *arguments, **options):
        calls.append(len(K))
        return pair_classifiers(K, *arguments, **options)

    monkeypatch.setattr(rating_module, "pair_classifiers", counted)
    (expected,) = rated([rating], SETTINGS)
    assert calls == [len(SETTINGS)]
    monkeypatch.setattr(rating_module, "BATCH_NUMBERS", numbers)
    (found,) = rated([rating], SETTINGS)
    assert len(calls) > 2
    assert sum(calls[1:]) == len(SETTINGS)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.point == theirs.point
        for name in ("C", "validation_error", "optimistic_error", "log_loss", "confidence", "n_support"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-12)


def test_many_labels_are_left_to_libsvm(monkeypatch):
    """Then the trials are exactly those of the scorer."""
    rating = rating_of(3)
    monkeypatch.setattr(rating_module, "BATCH_ROWS", len(rating.codes) - 1)
    monkeypatch.setattr(rating_module, "pair_classifiers", None)  # it is not called
    (found,) = rated([rating], SETTINGS)
    for ours, theirs in zip(found, one_by_one(rating, SETTINGS), strict=True):
        assert replace(ours, ratio=0.0) == replace(theirs, ratio=0.0)  # NaN is not equal to itself


def test_draws_of_different_size_have_their_own_trials():
    """One of them is computed together and one with libsvm, in one call."""
    small, large = rating_of(3, seed=1), rating_of(3, n=130, seed=2)
    assert (small.is_small, large.is_small) == (True, False)
    found = rated([small, large], SETTINGS)
    assert_same(found[0], one_by_one(small, SETTINGS))
    assert_same(found[1], one_by_one(large, SETTINGS))


def test_a_class_without_label_is_always_wrong():
    """-1 among the unlabelled rows: no prediction is correct."""
    rating = rating_of(2)
    hidden = np.where(np.arange(len(rating.other_codes)) % 2, rating.other_codes, -1)
    changed = replace(rating, other_codes=hidden)
    (found,) = rated([changed], SETTINGS)
    assert_same(found, one_by_one(changed, SETTINGS))
    assert min(trial.optimistic_error for trial in found) >= (hidden == -1).sum() / (len(hidden) + len(rating.codes))


def test_rows_that_are_never_left_out():
    """The only row of a class is always trained on, and not rated."""
    rating = rating_of(3)
    codes = np.where(np.arange(len(rating.codes)) == 0, 2, rating.codes % 2)
    changed = replace(rating, codes=codes, folds=label_folds(codes, 3, 0), other_codes=None)
    assert (changed.folds == -1).sum() == 1
    assert_same(rated([changed], SETTINGS)[0], one_by_one(changed, SETTINGS))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_slopes_are_those_of_the_calibration(n_classes):
    random = np.random.RandomState(0)
    codes = np.append(np.arange(n_classes), random.randint(n_classes, size=10))
    shape = (len(codes), n_classes * (n_classes - 1) // 2)
    scales = (1e-3, 0.1, 1.0, 3.0, 100.0)
    values = np.array([scale * random.normal(size=shape) for scale in scales for _ in range(4)])
    sure = [np.ones(shape) * np.where(codes == 0, 1.0, -1.0)[:, None] * scale for scale in scales]
    values = np.concatenate([values, sure])
    expected = [slope([own_values(each, codes)]) for each in values]
    np.testing.assert_allclose(common_slopes(values, codes), expected, rtol=1e-4)


@pytest.mark.parametrize("n_draws", [1, 3])
def test_draws_that_share_laplacian_kernels_have_each_factorised_once(monkeypatch, n_draws):
    X, _ = table(3)
    kernels, made = LaplacianKernels(LaplacianKernel(RBFKernel(), X)), []
    plain = {name: getattr(LaplacianKernel, name) for name in ("with_base", "with_ratio")}

    def counting(name):
        def counted(kernel, value):
            made.append(name)
            return plain[name](kernel, value)

        return counted

    for name in plain:
        monkeypatch.setattr(LaplacianKernel, name, counting(name))

    def shared(X, labelled, rest):
        return LaplacianGramCache(kernels.last, X[labelled], X[rest], kernels)

    settings = [(KernelPoint(gamma, ratio=ratio), (1.0,)) for gamma in (0.1, 1.5) for ratio in (0.01, 0.1, 10.0)]
    ratings = [rating_of(3, seed=seed, cache=shared) for seed in range(n_draws)]
    found = rated(ratings, settings)
    assert made.count("with_base") == 2
    assert made.count("with_ratio") == 3 + 3
    assert_same(found[-1], one_by_one(ratings[-1], settings))
