"""Methods: two stages give the same as one, and methods see labels and features only."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from mixkern import LaplacianSVC, MixtureSVC, QuasiNewtonS3VC, VBMixture, datasets
from mixkern.density import one_hot_rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import DensityChoiceWarning
from mixkern_study import (
    BASELINES,
    METHODS,
    Draw,
    Method,
    Protocol,
    TrainingData,
    labels_only,
    own_estimator,
    study_fold,
)
from mixkern_study.experiment import baseline_result
from mixkern_study.fold import fitted_density
from mixkern_study.method import Trained
from mixkern_study.protocol import StudyError


def training_data(name):
    fold = study_fold(datasets.load(name), 0, Protocol())
    return fold, TrainingData(fold.train, fold.n_categorical, 7)


@pytest.fixture(scope="module")
def iris():
    return training_data("iris")


@pytest.fixture(scope="module")
def heart():
    return training_data("heart")


def labels(fold, rows):
    codes = np.full(len(fold.train), UNLABELLED)
    codes[rows] = fold.train_codes[rows]
    return codes


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("forest", "heart"),
        *((name, "iris") for name in METHODS),
        *(pytest.param(name, "heart", marks=pytest.mark.slow) for name in METHODS if name != "forest"),
    ],
)
def test_every_method_learns(name, data, request):
    is_easy = data == "iris"
    fold, data = request.getfixturevalue(data)
    codes = labels(fold, np.random.RandomState(0).choice(len(fold.train), 40, replace=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = METHODS[name].prepare(data).train(codes, 0).predict(fold.test)
    assert predicted.shape == fold.test_codes.shape
    assert set(predicted.tolist()) <= set(codes[codes >= 0].tolist())
    assert (predicted == fold.test_codes).mean() > (0.6 if is_easy else 0.3)


@pytest.mark.parametrize("estimator", [MixtureSVC(), MixtureSVC("rwm"), MixtureSVC("lap"), LaplacianSVC()])
def test_two_halves_are_one_fit(iris, estimator):
    fold, data = iris
    estimator = estimator.set_params(probability=False)
    learner = own_estimator(estimator, "").prepare(data)
    for rows in ([0, 1, 2, 40, 60, 80], [5, 6, 7, 90, 100]):  # the second after the first: nothing of it is left
        codes = labels(fold, rows)
        prior = own_estimator(clone(estimator), "").prior
        density = data.density(prior) if prior else data.unfitted_density("evidence")  # the default continues its own
        encoder = None if prior else "passthrough"
        whole = clone(estimator).set_params(density=density, encoder=encoder, random_state=7).fit(fold.train, codes)
        assert (learner.train(codes, 7).predict(fold.test) == whole.predict(fold.test)).all()


def test_the_default_learns_the_density_that_it_continues(heart):
    fold, data = heart
    learner = METHODS["mixture_svc"].prepare(data)
    assert learner.estimator.encoder_ is None
    assert learner.estimator.mixture_ == data.density("evidence")
    assert learner.estimator.avoids_unlabelled
    given = TrainingData(data.rows, data.n_categorical, data.seed, data.density("typical"))
    assert METHODS["mixture_svc"].prepare(given).estimator.mixture_ is given.mixture
    assert len(fold.train) == len(data.rows)


@pytest.mark.parametrize("name", ["mixture_svc", "laplacian_svc", "s3vc", "transductive_svc"])
def test_probabilities_of_own_estimators_are_those_of_a_fit_with_them(iris, name):
    fold, data = iris
    codes = labels(fold, np.flatnonzero(fold.train_codes != 1)[:60:4])
    trained = METHODS[name].prepare(data).train(codes, 0)
    classes, probabilities = trained.probabilities(fold.test)
    assert classes.tolist() == [0, 2]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (classes[probabilities.argmax(axis=1)] == trained.predict(fold.test)).all()


def test_a_calibrated_estimator_predicts_as_one_without_calibration(iris):
    fold, data = iris
    codes = labels(fold, np.arange(0, 120, 9))
    plain, calibrated = (
        own_estimator(MixtureSVC(probability=probability)).prepare(data).train(codes, 7)
        for probability in (False, True)
    )
    assert (plain.predict(fold.test) == calibrated.predict(fold.test)).all()
    np.testing.assert_array_equal(plain.probabilities(fold.test)[1], calibrated.probabilities(fold.test)[1])


def test_probabilities_of_others_have_a_column_for_each_class_with_a_label(iris):
    fold, data = iris
    codes = labels(fold, np.flatnonzero(fold.train_codes != 1)[:60:4])
    classes, probabilities = METHODS["bayes"].prepare(data).train(codes, 0).probabilities(fold.test)
    assert classes.tolist() == [0, 2]
    assert probabilities.shape == (len(fold.test), 2)
    assert METHODS["svc"].prepare(data).train(codes, 0).probabilities is None


def test_the_default_estimator_has_the_density_that_it_learns_by_itself(iris):
    fold, data = iris
    own = MixtureSVC(encoder="passthrough", random_state=7).fit(fold.train, labels(fold, np.arange(0, 120, 9)))
    assert data.density("evidence") == own.mixture_
    assert data.density("evidence") is data.density("evidence")
    assert data.density_s("evidence") > 0


def test_classes_without_a_label_do_not_disturb(iris):
    fold, data = iris
    codes = labels(fold, np.flatnonzero(fold.train_codes != 1)[:60:4])
    assert set(codes) == {-1, 0, 2}
    for name in ("rwm", "svc", "spreading"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = METHODS[name].prepare(data).train(codes, 0).predict(fold.test)
        assert set(predicted.tolist()) == {0, 2}


def test_others_read_numbers_without_gaps(heart):
    fold, data = heart
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append((X, y))
            return super().fit(X, y)

    codes = labels(fold, np.arange(20))
    labels_only(Spy(max_iter=1000)).prepare(data).train(codes, 0).predict(fold.test)
    ((X, y),) = seen
    assert len(X) == len(y) == 20
    assert np.isfinite(X).all()
    assert X.shape[1] > fold.train.shape[1]  # a column for each category


def test_parameters_that_came_later_are_no_settings():
    """Results that were stored before stay valid, as long as the parameters change nothing."""
    for name in ("transductive_svc", "s3vc"):
        assert "probability" not in METHODS[name].settings
        assert "class_weight" not in METHODS[name].settings
    assert not any("verbose=0" in each.settings for each in METHODS.values() if each.is_own)
    assert [name for name, each in METHODS.items() if "unlabelled=" in each.settings] == ["mixture_svc"]
    assert "probability=True" in own_estimator(QuasiNewtonS3VC(), "").settings
    assert "class_weight='balanced'" in own_estimator(QuasiNewtonS3VC(class_weight="balanced"), "").settings


def test_methods_of_other_settings_differ():
    assert own_estimator(MixtureSVC(C=1.0), "").settings != own_estimator(MixtureSVC(C=2.0), "").settings
    assert "C=10.0" in METHODS["self_training"].settings  # of the estimator inside
    assert "object at" not in " ".join(each.settings for each in METHODS.values())


def test_an_estimator_with_a_density_of_its_own_is_refused():
    with pytest.raises(StudyError, match="'Mine' has a density or an encoder of its own"):
        own_estimator(MixtureSVC(density=VBMixture()), "Mine")


def test_the_kind_of_covariance_is_that_of_a_fit():
    rows = np.random.RandomState(0).standard_normal((40, 30))
    assert TrainingData(rows, 0, 0).density("evidence").covariance_type == "common"
    with pytest.warns(DensityChoiceWarning):
        assert TrainingData(rows[:, :20], 0, 0).density("evidence").covariance_type == "diag"


PROTOCOL = Protocol(n_folds=3)


@cache
def situation(name):
    fold = study_fold(datasets.load(name), 0, PROTOCOL)
    rows = np.concatenate([np.flatnonzero(fold.train_codes == code)[:6] for code in range(fold.n_classes)])
    return fold, fitted_density(fold, "default", PROTOCOL), Draw(1, 0, np.sort(rows), 3)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_learns_iris(name):
    fold, mixture, draw = situation("iris")
    result = baseline_result(fold, mixture, name, BASELINES[name], draw)
    assert result.accuracy > 0.75
    assert (result.method, result.reading, result.n_labelled, result.n_support) == (name, "default", 18, -1)
    assert baseline_result(fold, mixture, name, BASELINES[name], draw).accuracy == result.accuracy


@pytest.mark.slow
@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_learns_a_table_with_gaps_and_categories(name):
    fold, mixture, draw = situation("credit_a")
    assert np.isnan(fold.train).any()
    assert baseline_result(fold, mixture, name, BASELINES[name], draw).accuracy > 0.35


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_takes_a_table_of_labels_only(name):
    fold, mixture, _ = situation("iris")
    assert baseline_result(fold, mixture, name, BASELINES[name], Draw(3, 0, np.arange(100), 0)).accuracy > 0.85


def test_labels_only_is_a_plain_classifier():
    fold, mixture, draw = situation("iris")
    svm = SVC().fit(fold.train[draw.labelled], fold.train_codes[draw.labelled])
    expected = svm.score(fold.test, fold.test_codes)
    assert baseline_result(fold, mixture, "svc", BASELINES["svc"], draw).accuracy == pytest.approx(expected)


def test_baselines_see_no_label_but_those_given():
    fold, mixture, draw = situation("iris")
    seen = []

    class Watching:
        def train(self, codes, seed):
            seen.append(codes)
            return Trained(lambda test: np.zeros(len(test), dtype=int))

    baseline_result(fold, mixture, "watching", Method("", lambda data: Watching()), draw)
    (codes,) = seen
    assert np.flatnonzero(codes != -1).tolist() == draw.labelled.tolist()
    assert (codes[draw.labelled] == fold.train_codes[draw.labelled]).all()


def test_categories_become_columns_and_gaps_are_filled():
    fold, mixture, _ = situation("credit_a")
    train, test = (one_hot_rows(mixture, rows) for rows in (fold.train, fold.test))
    width = mixture.n_continuous + sum(table.shape[1] for table in mixture.categories)
    assert train.shape[1] == test.shape[1] == width
    assert not np.isnan(train).any()
    assert not np.isnan(test).any()
    assert set(np.unique(train[:, mixture.n_continuous :])) == {0.0, 1.0}


def test_seeds_reach_whoever_has_one():
    fold, mixture, draw = situation("iris")
    accuracies = {
        baseline_result(
            fold, mixture, "f", labels_only(RandomForestClassifier(n_estimators=2)), Draw(1, 0, draw.labelled, seed)
        ).accuracy
        for seed in range(6)
    }
    assert len(accuracies) > 1
    assert baseline_result(fold, mixture, "d", labels_only(DummyClassifier()), draw).accuracy == pytest.approx(
        1 / 3, abs=0.05
    )
