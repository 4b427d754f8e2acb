"""Methods: two stages that are the same as one, nothing seen but labels and features."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from mixkern import LaplacianSVC, MixtureSVC, VBMixture, datasets
from mixkern.encoding import UNLABELLED
from mixkern.errors import DensityChoiceWarning, StudyError
from mixkern_study import Protocol, study_fold
from mixkern_study.leaderboard import METHODS, Ground, method, own_machine, standard
from mixkern_study.leaderboard.method import LABELS_ONLY, REFERENCE


def ground_of(name):
    fold = study_fold(datasets.load(name), 0, Protocol())
    return fold, Ground(fold.train, fold.n_categorical, 7)


@pytest.fixture(scope="module")
def iris():
    return ground_of("iris")


@pytest.fixture(scope="module")
def heart():
    return ground_of("heart")


def labels(fold, rows):
    codes = np.full(len(fold.train), UNLABELLED)
    codes[rows] = fold.train_codes[rows]
    return codes


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("ground", ["iris", "heart"])
def test_every_method_learns(name, ground, request):
    is_easy = ground == "iris"
    fold, ground = request.getfixturevalue(ground)
    codes = labels(fold, np.random.RandomState(0).choice(len(fold.train), 40, replace=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = METHODS[name].prepare(ground).predict(codes, fold.test, 0)
    assert predicted.shape == fold.test_codes.shape
    assert set(predicted.tolist()) <= set(codes[codes >= 0].tolist())
    assert (predicted == fold.test_codes).mean() > (0.6 if is_easy else 0.3)


@pytest.mark.parametrize("estimator", [MixtureSVC(), MixtureSVC("rwm"), MixtureSVC("lap"), LaplacianSVC()])
def test_two_halves_are_one_fit(iris, estimator):
    fold, ground = iris
    estimator = estimator.set_params(probability=False)
    learner = own_machine(estimator, "").prepare(ground)
    for rows in ([0, 1, 2, 40, 60, 80], [5, 6, 7, 90, 100]):  # the second after the first: nothing of it is left
        codes = labels(fold, rows)
        density = ground.density(own_machine(clone(estimator), "").prior)
        whole = clone(estimator).set_params(density=density, random_state=7).fit(fold.train, codes)
        assert (learner.predict(codes, fold.test, 7) == whole.predict(fold.test)).all()


def test_the_default_machine_has_the_density_that_it_learns_by_itself(iris):
    fold, ground = iris
    own = MixtureSVC(encoder="passthrough", random_state=7).fit(fold.train, labels(fold, np.arange(0, 120, 9)))
    assert ground.density("evidence") == own.mixture_
    assert ground.density("evidence") is ground.density("evidence")
    assert ground.density_s("evidence") > 0


def test_classes_without_a_label_do_not_disturb(iris):
    fold, ground = iris
    codes = labels(fold, np.flatnonzero(fold.train_codes != 1)[:60:4])
    assert set(codes) == {-1, 0, 2}
    for name in ("rwm", "svc", "spreading"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = METHODS[name].prepare(ground).predict(codes, fold.test, 0)
        assert set(predicted.tolist()) == {0, 2}


def test_others_read_numbers_without_gaps(heart):
    fold, ground = heart
    seen = []

    class Spy(LogisticRegression):
        def fit(self, X, y):
            seen.append((X, y))
            return super().fit(X, y)

    codes = labels(fold, np.arange(20))
    standard(Spy(max_iter=1000), "").prepare(ground).predict(codes, fold.test, 0)
    ((X, y),) = seen
    assert len(X) == len(y) == 20
    assert np.isfinite(X).all()
    assert X.shape[1] > fold.train.shape[1]  # a column for each category


def test_other_settings_are_told_apart():
    assert own_machine(MixtureSVC(C=1.0), "").settings != own_machine(MixtureSVC(C=2.0), "").settings
    assert "C=10.0" in METHODS["self_training"].settings  # of the estimator inside
    assert "object at" not in " ".join(each.settings for each in METHODS.values())


def test_who_is_who():
    assert METHODS[REFERENCE].is_own
    assert not METHODS[LABELS_ONLY].is_own
    assert sum(each.is_own for each in METHODS.values()) == 8
    assert {METHODS[REFERENCE].prior, METHODS["rwm"].prior, METHODS["svc"].prior} == {"evidence", "typical", ""}
    assert len({each.title for each in METHODS.values()}) == len(METHODS)


def test_boosting_competes_where_it_is_installed(iris, monkeypatch):
    class Booster(GaussianNB):
        def __init__(self, n_jobs=None, random_state=None):
            super().__init__()
            self.n_jobs, self.random_state = n_jobs, random_state

    monkeypatch.setattr(method, "find_spec", lambda name: name if name == "xgboost" else None)
    monkeypatch.setattr(method, "version", lambda name: "9.9")
    found = method.boosters()
    assert list(found) == ["xgboost"]
    assert found["xgboost"].settings == "xgboost 9.9"
    monkeypatch.setitem(sys.modules, "xgboost", SimpleNamespace(XGBClassifier=Booster))
    fold, ground = iris
    codes = labels(fold, np.arange(0, 120, 4))
    assert (found["xgboost"].prepare(ground).predict(codes, fold.test, 0) == fold.test_codes).mean() > 0.8


def test_a_machine_with_a_density_of_its_own_is_refused():
    with pytest.raises(StudyError, match="'Mine' brings a density or an encoder of its own"):
        own_machine(MixtureSVC(density=VBMixture()), "Mine")


def test_a_wide_table_has_diagonal_covariances_as_in_a_fit():
    rows = np.random.RandomState(0).standard_normal((40, 30))
    with pytest.warns(DensityChoiceWarning):
        assert Ground(rows, 0, 0).density("evidence").covariance_type == "diag"


def test_a_booster_that_was_never_installed_has_no_version():
    assert method._version("no_such_library") == ""
