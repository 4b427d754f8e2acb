"""Hyperparameter search: the same results as trying everything by hand."""

import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone
from sklearn.callback import FitCallback, ProgressBar
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, f1_score, get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mixkern import (
    LaplacianSVC,
    Mixture,
    MixtureSVC,
    SemiSupervisedSplit,
    SVCSearch,
    TableEncoder,
    TransductiveSVC,
    VBMixture,
    datasets,
)
from mixkern.errors import InterruptedWarning, KernelError, LabelError, OptionError
from mixkern.estimators.score import NoScoreWarning
from mixkern.fitting import NotConvergedWarning
from mixkern.kernels import GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
from mixkern.search.trial import TrialScorer

PLANE = Mixture([0.6, 0.4], [[0.0, 0.0], [1.5, 1.5]], [[[1.0, 0.3], [0.3, 0.8]], [[0.6, 0.0], [0.0, 1.4]]])
DECADES = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]
SOME = {"C": [0.1, 1.0, 100.0], "gamma": [0.01, 1.0]}
NAMES = np.array(["ant", "bee", "cat"])


def blobs(n=80, c=3, per_class=7, gap=1.6):
    """Rows of a few classes in turn, their classes, and labels of the first few of each."""
    random = np.random.RandomState(0)
    y = np.arange(n) % c
    X = random.standard_normal((n, 2)) + gap * np.column_stack([y % 2, y // 2])
    X.flags.writeable = False
    return X, y, np.where(np.arange(n) < c * per_class, y, -1)


def mixed(n=60):
    """Numbers, words and gaps, two classes, ten labels of each."""
    random = np.random.RandomState(0)
    y = np.arange(n) % 2
    frame = pd.DataFrame(random.standard_normal((n, 2)) + y[:, None], columns=["a", "b"])
    frame["c"] = np.where(random.uniform(size=n) < 0.7, NAMES[y], "cat")
    frame.loc[::7, "a"] = np.nan
    frame.loc[::9, "c"] = None
    return frame, y, np.where(np.arange(n) < 20, y, -1)


def mixture_svc(kernel="rwm", **how):
    return MixtureSVC(kernel, density=PLANE, **{"probability": False, "random_state": 0, **how})


def laplacian_svc(kernel="rbf", **how):
    return LaplacianSVC(kernel, density=PLANE, **{"probability": False, "random_state": 0, **how})


def table_of(search):
    """What was tried, and what came of it."""
    return [(t.C, t.gamma, t.alpha, t.beta, t.validation_error, t.log_loss, t.n_support) for t in search.trials_]


X, TRUE, FEW = blobs()
WORDS = np.array([None if code < 0 else NAMES[code] for code in FEW], dtype=object)


# ---------------------------------------------------------------- the same as trying everything


@pytest.mark.parametrize(
    "kernel", [RBFKernel(), GMMKernel(), RWMKernel(), RWMKernel(PLANE)], ids=["rbf", "gmm", "rwm", "bound"]
)
def test_a_grid_is_scikit_learns_grid_on_the_same_folds(kernel):
    how = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.3, 3.0]}
    ours = SVCSearch(mixture_svc(kernel), **how, cv=3, random_state=5).fit(X, FEW)
    split = SemiSupervisedSplit(3, random_state=5)
    grid = {"C": how["C"], "kernel__gamma": how["gamma"]}
    theirs = GridSearchCV(mixture_svc(kernel), grid, cv=split, refit=False, error_score="raise").fit(X, FEW)
    sizes = np.array([len(test) for _, test in split.split(X, FEW)])
    scores = np.array([theirs.cv_results_[f"split{i}_test_score"] for i in range(3)])
    errors = 1 - sizes @ scores / sizes.sum()
    settings = [(each["C"], each["kernel__gamma"]) for each in theirs.cv_results_["params"]]
    expected = dict(zip(settings, errors, strict=True))
    assert {(t.C, t.gamma) for t in ours.trials_} == set(expected)
    for trial in ours.trials_:
        assert trial.loss == trial.validation_error == pytest.approx(expected[trial.C, trial.gamma])
    assert ours.best_.loss == pytest.approx(errors.min())


def test_a_laplacian_grid_is_a_loop_over_hidden_labels():
    """The graph is that of all rows, those that are left out included: their labels are hidden, not they."""
    search = SVCSearch(
        laplacian_svc(), C=[1.0, 100.0], gamma=[0.3, 3.0], ratio=[0.0, 1.0, 50.0], cv=3, random_state=5
    ).fit(X, FEW)
    assert len(search.trials_) == 12
    for t in search.trials_:
        n_wrong = 0
        for _, test in SemiSupervisedSplit(3, random_state=5).split(X, FEW):
            fewer = FEW.copy()
            fewer[test] = -1
            fitted = laplacian_svc(C=t.C, gamma=t.gamma, ratio=t.ratio).fit(X, fewer)
            n_wrong += (fitted.predict(X[test]) != FEW[test]).sum()
        assert t.loss == pytest.approx(n_wrong / 21)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_expected_error"])
def test_the_best_is_the_first_of_the_smallest(scoring):
    search = SVCSearch(mixture_svc(), scoring=scoring, random_state=0).fit(X, FEW)
    rated = [t.order for t in search.trials_]
    assert search.best_ is search.trials_[rated.index(min(rated))]
    assert len({t.validation_error for t in search.trials_}) < 36  # there were ties to decide
    assert search.best_params_ == {"C": search.best_.C, "gamma": search.best_.gamma, "alpha": 1.0, "beta": 1.0}


@pytest.mark.parametrize(
    "estimator",
    [
        mixture_svc("rbf", probability=True),
        mixture_svc("rwm", class_weight="balanced", probability=True),
        mixture_svc("lap", probability=True),
        mixture_svc(RWMKernel(), probability=True),
        mixture_svc(LaplacianKernel(RWMKernel(), ratio=3.0), probability=True),
        MixtureSVC("gmm", random_state=0),
        laplacian_svc("rwm", probability=True),
        laplacian_svc(RBFKernel(), probability=True, ratio=7.0),
        None,
    ],
    ids=["rbf", "rwm", "lap", "kernel", "laplacian kernel", "density", "laplacian rwm", "laplacian rbf", "default"],
)
@pytest.mark.filterwarnings("ignore::mixkern.errors.PresetGammaWarning")  # the best gamma may be the preset
def test_the_best_estimator_is_that_of_a_fit_with_the_best_settings(estimator):
    search = SVCSearch(estimator, **SOME, random_state=0).fit(X, FEW)
    plain = MixtureSVC(random_state=0) if estimator is None else clone(estimator)
    if not isinstance(plain, LaplacianSVC):  # which has no such parameter
        plain.set_params(unlabelled="ignore")
    again = plain.set_params(**search.best_params_).fit(X, FEW)
    best = search.best_estimator_
    assert type(best) is type(again)
    np.testing.assert_array_equal(best.support_, again.support_)
    np.testing.assert_allclose(best.decision_function(X), again.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(search.predict_proba(X), again.predict_proba(X), rtol=1e-7)
    ours, theirs = best.get_params(deep=False), again.get_params(deep=False)
    assert str(ours) == str(theirs)
    assert estimator is None or not hasattr(estimator, "classes_")


@pytest.mark.parametrize("unlabelled", ["auto", "ignore"])
def test_a_search_trains_svms_alone(unlabelled):
    given = MixtureSVC(density=PLANE, unlabelled=unlabelled, probability=False)
    best = SVCSearch(given, **SOME, random_state=0).fit(X, FEW).best_estimator_
    assert (best.unlabelled, given.unlabelled, best.avoiding_share_) == ("ignore", unlabelled, 0)


def test_a_search_refuses_what_it_does_not_train():
    with pytest.raises(OptionError, match="unlabelled='avoid' trains others"):
        SVCSearch(MixtureSVC(unlabelled="avoid")).fit(X, FEW)


@pytest.mark.slow
def test_the_best_estimator_of_a_table_with_gaps_too():
    frame, _, few = mixed()
    for estimator in (MixtureSVC(unlabelled="ignore", random_state=0), LaplacianSVC(random_state=0)):
        search = SVCSearch(estimator, **SOME, beta=[0.1, 1.0], random_state=0).fit(frame, few)
        again = clone(estimator).set_params(**search.best_params_).fit(frame, few)
        np.testing.assert_allclose(search.decision_function(frame), again.decision_function(frame), atol=1e-9)
        np.testing.assert_allclose(search.predict_proba(frame), again.predict_proba(frame), rtol=1e-7)


# ---------------------------------------------------------------- results, as scikit-learn has them


@pytest.mark.parametrize(
    "scoring",
    ["balanced_accuracy", *(pytest.param(each, marks=pytest.mark.slow) for each in ("accuracy", "neg_log_loss"))],
)
def test_results_are_in_the_form_of_scikit_learn(scoring):
    """The scores of the folds are theirs; the mean score is that of all labels together."""
    estimator = mixture_svc(probability=True)
    ours = SVCSearch(estimator, **SOME, scoring=scoring, cv=3, random_state=5).fit(X, FEW)
    split = SemiSupervisedSplit(3, random_state=5)
    grid = {"C": SOME["C"], "gamma": SOME["gamma"]}
    theirs = GridSearchCV(estimator, grid, scoring=scoring, cv=split, error_score="raise").fit(X, FEW)
    missing = set(theirs.cv_results_) - set(ours.cv_results_)
    assert missing == {"std_fit_time", "std_score_time"}
    order = [theirs.cv_results_["params"].index({"C": p["C"], "gamma": p["gamma"]}) for p in ours.cv_results_["params"]]
    if scoring != "neg_log_loss":  # their slope is that of each training part
        for i in range(3):
            name = f"split{i}_test_score"
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name][order])
        np.testing.assert_allclose(ours.cv_results_["std_test_score"], theirs.cv_results_["std_test_score"][order])
    assert ours.n_splits_ == theirs.n_splits_ == 3
    assert repr(ours.scorer_) == repr(theirs.scorer_)
    assert ours.refit_time_ > 0
    assert ours.score(X, TRUE) == pytest.approx(get_scorer(scoring)(ours.best_estimator_, X, TRUE))


def test_the_best_is_found_in_the_results():
    for estimator in (None, mixture_svc(), mixture_svc(RWMKernel()), laplacian_svc()):
        search = SVCSearch(estimator, **SOME, random_state=0).fit(X, FEW)
        frame = pd.DataFrame(search.cv_results_)
        assert len(frame) == 6
        best = frame.loc[search.best_index_]
        assert best["rank_test_score"] == 1
        assert best["mean_test_score"] == search.best_score_ == search.best_.score == frame["mean_test_score"].max()
        assert repr(best["params"]) == repr(search.best_params_)
        assert (best["param_C"], best["param_gamma"]) == (search.best_.C, search.best_.gamma)
        assert frame["log_loss"].tolist() == [t.log_loss for t in search.trials_]
        assert ("param_ratio" in frame) == (search.best_.ratio == search.best_.ratio)
        assert "confidence" not in frame
        assert (frame["mean_fit_time"] > 0).all()


def test_equal_scores_are_ranked_by_log_loss():
    results = SVCSearch(mixture_svc(), random_state=0).fit(X, FEW).cv_results_
    orders = list(zip(-results["mean_test_score"], results["log_loss"], strict=True))
    assert results["rank_test_score"].tolist() == [1 + sum(other < order for other in orders) for order in orders]
    assert len(set(results["mean_test_score"])) < len(set(results["rank_test_score"]))


def test_pooled_scores_are_those_of_all_left_out_predictions():
    """Labels of two folds lack a class; the score of all labels together is defined, as by cross_val_predict."""
    few = np.where(np.arange(80) < 3 * 2, TRUE, -1)
    search = SVCSearch(mixture_svc(), **SOME, scoring="f1_macro", cv=2, random_state=5).fit(X, few)
    split = SemiSupervisedSplit(2, random_state=5)
    for trial in search.trials_:
        predicted = np.full(80, -1)
        for train, test in split.split(X, few):
            fitted = mixture_svc(C=trial.C, gamma=trial.gamma).fit(X[train], few[train])
            predicted[test] = fitted.predict(X[test])
        assert trial.score == pytest.approx(f1_score(few[:6], predicted[:6], average="macro"))


def test_a_score_that_folds_do_not_have():
    few = np.array([0, 0, 0, 1, 1, *[-1] * 75])
    search = SVCSearch(mixture_svc(), **SOME, scoring="roc_auc", cv=4, random_state=1).fit(X, few)
    splits = np.array([t.split_scores for t in search.trials_])
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert splits.shape == (6, search.n_splits_)


def test_a_function_gets_positions_in_the_table():
    cost = np.random.RandomState(0).uniform(size=80)

    def saved(classifier, rows, y):
        return cost[rows] @ (classifier.predict(rows) == y)

    search = SVCSearch(mixture_svc(), **SOME, scoring=saved, cv=3, random_state=5).fit(X, FEW)
    for trial in search.trials_:
        assert trial.scoring == "saved"
        total = 0
        for train, test in SemiSupervisedSplit(3, random_state=5).split(X, FEW):
            fitted = mixture_svc(C=trial.C, gamma=trial.gamma).fit(X[train], FEW[train])
            total += cost[test] @ (fitted.predict(X[test]) == FEW[test])
        assert trial.score == pytest.approx(total)
    assert search.best_score_ == max(t.score for t in search.trials_)


@pytest.mark.parametrize("names", [None, NAMES], ids=["numbers", "words"])
def test_the_score_of_other_rows_is_by_the_same_scorer(names):
    y, true = (FEW, TRUE) if names is None else (WORDS, names[TRUE].astype(object))
    weights = np.random.RandomState(0).uniform(0.1, 4, 80)
    search = SVCSearch(mixture_svc(), **SOME, scoring="f1_macro", random_state=0).fit(X, y)
    predicted = search.predict(X)
    assert search.score(X, true) == pytest.approx(f1_score(true, predicted, average="macro"))
    expected = f1_score(true, predicted, average="macro", sample_weight=weights)
    assert search.score(X, true, weights) == pytest.approx(expected)
    assert search.score(X, y) == pytest.approx(f1_score(true[:21], predicted[:21], average="macro"))


def test_scorers_get_the_weights_of_the_labels():
    weights = np.random.RandomState(0).uniform(0.1, 4, 80)
    own = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW, weights)
    theirs = SVCSearch(mixture_svc(), **SOME, scoring=get_scorer("accuracy"), random_state=0).fit(X, FEW, weights)
    np.testing.assert_allclose(own.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert own.best_params_ == theirs.best_params_


@pytest.mark.parametrize(
    ("scoring", "score"),
    [
        ("accuracy", lambda t: 1 - t.validation_error),
        ("neg_expected_error", lambda t: -t.validation_error - 1 + t.confidence),
        ("optimistic_accuracy", lambda t: 1 - t.optimistic_error),
    ],
)
def test_scores_of_our_own_are_higher_for_smaller_errors(scoring, score):
    labels = TRUE if scoring == "optimistic_accuracy" else None
    search = SVCSearch(mixture_svc(), **SOME, scoring=scoring, random_state=0).fit(X, FEW, optimistic_labels=labels)
    for trial in search.trials_:
        assert trial.score == pytest.approx(score(trial))
        assert len(trial.split_scores) == search.n_splits_
        if scoring != "optimistic_accuracy":  # there, each fold is scored together with the unlabelled rows
            assert min(trial.split_scores) - 1e-12 <= trial.score <= max(trial.split_scores) + 1e-12
    assert search.best_score_ == max(t.score for t in search.trials_)
    assert (search.scorer_ is None) == (scoring != "accuracy")
    assert search.score(X, TRUE) == accuracy_score(TRUE, search.predict(X))
    assert ("confidence" in search.cv_results_) == (scoring != "accuracy")


# ---------------------------------------------------------------- in parallel


SEARCHES = {
    "grid": SVCSearch(mixture_svc(), **SOME, random_state=0),
    "expected": SVCSearch(mixture_svc(), **SOME, scoring="neg_expected_error", random_state=0),
    "scorer": SVCSearch(mixture_svc(), **SOME, scoring="balanced_accuracy", random_state=0),
    "line": SVCSearch(mixture_svc(), strategy="line", random_state=0),
    "laplacian": SVCSearch(laplacian_svc(), **SOME, ratio=[0.0, 1.0, 10.0], random_state=0),
}


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SEARCHES)
def test_any_number_of_jobs_gives_the_same_results(name, backend):
    alone = clone(SEARCHES[name]).fit(X, FEW)
    with parallel_config(backend):
        many = clone(SEARCHES[name]).set_params(n_jobs=2).fit(X, FEW)
    assert repr(many.trials_) == repr(alone.trials_)
    assert many.best_params_ == alone.best_params_
    np.testing.assert_array_equal(many.decision_function(X), alone.decision_function(X))


def test_the_context_of_joblib_sets_the_number_of_jobs(monkeypatch):
    n_batches = []
    monkeypatch.setattr(
        "mixkern.search.trial._tried", lambda trials, settings: n_batches.append(1) or [*trials.of(settings)]
    )
    with parallel_config("threading", n_jobs=2):
        SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW)
    assert len(n_batches) == 2  # kernels


def test_parallel_trials_report_to_callbacks_and_can_be_stopped():
    with parallel_config("threading"):
        recorder = Recorder(stop_after=4)
        with pytest.warns(InterruptedWarning, match="4 of 6"):
            search = SVCSearch(mixture_svc(), **SOME, n_jobs=2, random_state=0).set_callbacks(recorder).fit(X, FEW)
    assert len(search.trials_) == recorder.events.count("end trial") == 4


class Interrupting:
    """Raises Ctrl-C after so many trials, as a user would press it."""

    def __init__(self, after):
        self.left = after

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.left -= context.task_name == "trial"
        if self.left == 0 and context.task_name == "trial":
            raise KeyboardInterrupt


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_an_interrupted_parallel_search_uses_the_best_so_far(backend):
    whole = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW)
    search = SVCSearch(mixture_svc(), **SOME, n_jobs=2, random_state=0).set_callbacks(Interrupting(3))
    found = pytest.warns(InterruptedWarning, match=r"^Stopped after 3 of 6 trials; the best of them is used\.$")
    with parallel_config(backend), found:
        search.fit(X, FEW)
    assert repr(search.trials_) == repr(whole.trials_[:3])
    assert len(search.cv_results_["params"]) == 3


def test_trials_leave_the_filters_of_warnings_as_they_were():
    before = list(warnings.filters)
    with parallel_config("threading"):
        SVCSearch(mixture_svc(), n_jobs=4, random_state=0).fit(X, FEW)
    assert list(warnings.filters) == before


def test_only_the_last_training_warns_of_convergence():
    with pytest.warns(NotConvergedWarning) as caught:
        SVCSearch(mixture_svc(max_iter=1), **SOME, random_state=0).fit(X, FEW)
    assert len(caught) == 1


# ---------------------------------------------------------------- verbose


def test_verbose_prints_trials(capsys):
    for verbose, n_lines in ((0, 0), (1, 2), (2, 8)):
        SVCSearch(**SOME, verbose=verbose, random_state=0).fit(X, FEW)
        lines = capsys.readouterr().out.splitlines()
        assert len([line for line in lines if "SVCSearch" in line]) == n_lines
    assert "VBMixture: iteration 1: bound " in lines[0]
    first = next(i for i, line in enumerate(lines) if "SVCSearch" in line)
    assert "6 trials at most, 4 folds each" in lines[first]
    assert "[1/6] C=0.1, gamma=0.01: score 0." in lines[first + 1]
    assert "best: [" in lines[first + 7]
    assert [line.split(": ")[1] for line in lines[first + 8 :]] == ["kernel", "training", "calibration"]
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)  # since the beginning of the search


# ---------------------------------------------------------------- metadata routing


def test_weights_are_routed_through_a_pipeline():
    weights = np.random.RandomState(0).uniform(0.1, 4, 80)
    plain = SVCSearch(mixture_svc(), **SOME, random_state=0)
    expected = clone(plain).fit(StandardScaler().fit_transform(X), FEW, weights)
    with config_context(enable_metadata_routing=True):
        asking = Pipeline([("scale", StandardScaler().set_fit_request(sample_weight=False))])
        asking.steps.append(("search", clone(plain).set_fit_request(sample_weight=True)))
        asking.fit(X, FEW, sample_weight=weights)
        np.testing.assert_array_equal(asking.decision_function(X), expected.decision_function(asking[0].transform(X)))
        with pytest.raises(UnsetMetadataPassedError, match="SVCSearch"):
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clone(plain)).fit(
                X, FEW, sample_weight=weights
            )


def test_weights_are_routed_through_cross_validation():
    weights = np.random.RandomState(0).uniform(0.1, 4, 80)
    plain = SVCSearch(mixture_svc(), **SOME, random_state=0)
    split = SemiSupervisedSplit(3)
    with config_context(enable_metadata_routing=True):
        asking = clone(plain).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(asking, X, FEW, cv=split, params={"sample_weight": weights}, error_score="raise")
    for score, (train, test) in zip(scores, split.split(X, FEW), strict=True):
        fitted = clone(plain).fit(X[train], FEW[train], weights[train])
        assert score == pytest.approx(fitted.score(X[test], FEW[test], weights[test]))


# ---------------------------------------------------------------- the paper's procedure


@pytest.mark.slow
def test_the_search_of_the_paper():
    search = SVCSearch.from_paper(random_state=0)
    assert repr(search.estimator) == repr(MixtureSVC.from_paper())
    assert (search.strategy, search.cv, search.scoring) == ("grid", 4, "neg_expected_error")
    np.testing.assert_allclose([search.C, search.gamma], [[10.0**i for i in range(-3, 3)]] * 2)
    np.testing.assert_allclose([search.alpha, search.beta], [np.linspace(0, 1, 11)] * 2)
    iris = datasets.load("iris")
    search.fit(iris.X, iris.few_labels(per_class=4, random_state=0))
    assert len(search.trials_) == 36
    assert type(search.best_estimator_.kernel_) is RWMKernel
    assert search.best_estimator_.density_.precision_prior in (0.001, 0.01, 0.1, 1.0, 10.0)
    assert search.best_estimator_.density_.merge is False


def test_settings_replace_those_of_the_paper():
    search = SVCSearch.from_paper(estimator=mixture_svc("gmm"), C=[1.0], alpha=[1.0], n_jobs=2)
    assert (search.estimator.kernel, search.C, search.alpha, search.n_jobs) == ("gmm", [1.0], [1.0], 2)
    assert len(search.beta) == 11


# ---------------------------------------------------------------- once


def counting(monkeypatch, owner, name):
    calls, original = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda self, *a, **k: calls.append(len(a[0])) or original(self, *a, **k))
    return calls


@pytest.mark.parametrize(
    ("scoring", "strategy", "n_distances"),
    [
        ("accuracy", "grid", 1),
        ("neg_expected_error", "grid", 2),
        ("accuracy", "line", 1),
        ("neg_expected_error", "line", 2),
    ],
)
def test_the_density_and_the_distances_are_computed_once(monkeypatch, scoring, strategy, n_distances):
    densities = counting(monkeypatch, VBMixture, "fit")
    own = counting(monkeypatch, RWMKernel, "pair_terms")
    euclidean = counting(monkeypatch, RBFKernel, "pair_terms")
    estimator = MixtureSVC(RWMKernel(), probability=False, random_state=0)
    SVCSearch(estimator, strategy=strategy, scoring=scoring, random_state=0).fit(X, FEW)
    assert densities == [80]
    assert len(own) == n_distances
    assert len(euclidean) == (n_distances if strategy == "line" else 0)


# ---------------------------------------------------------------- which settings, in which order


def test_trials_come_kernel_by_kernel():
    search = SVCSearch(mixture_svc(), C=[1.0, 10.0], gamma=[0.1, 1.0], random_state=0).fit(X, FEW)
    assert [(t.gamma, t.C) for t in search.trials_] == [(0.1, 1.0), (0.1, 10.0), (1.0, 1.0), (1.0, 10.0)]
    assert all(np.isnan(t.ratio) and t.scoring == "accuracy" and not t.is_linear for t in search.trials_)


def test_six_decades_of_each_by_default():
    search = SVCSearch(mixture_svc(), random_state=0).fit(X, FEW)
    assert [(t.gamma, t.C) for t in search.trials_] == list(product(DECADES, DECADES))


def test_ratios_of_a_laplacian_kernel():
    search = SVCSearch(laplacian_svc(), **SOME, ratio=[0.0, 10.0], random_state=0).fit(X, FEW)
    assert [(t.gamma, t.ratio, t.C) for t in search.trials_] == list(product(SOME["gamma"], [0.0, 10.0], SOME["C"]))
    assert search.best_params_["ratio"] == search.best_.ratio == search.best_estimator_.kernel_.ratio
    kept = SVCSearch(laplacian_svc(ratio=7.0), **SOME, random_state=0).fit(X, FEW)
    assert {t.ratio for t in kept.trials_} == {7.0}


def test_a_table_with_categories_weighs_them():
    frame, _, few = mixed()
    search = SVCSearch(MixtureSVC(probability=False, random_state=0), **SOME, random_state=0).fit(frame, few)
    assert {(t.alpha, t.beta) for t in search.trials_} == {(1.0, b) for b in (0.03, 0.1, 0.3, 1.0)}
    assert len(search.trials_) == 2 * 4 * 3
    assert search.best_estimator_.kernel_.beta == search.best_.beta


def test_no_kernel_is_tried_twice():
    frame, _, few = mixed()
    how = {"C": [1.0], "gamma": [0.1, 1.0], "alpha": [0.0, 0.1, 1.0], "beta": [0.0, 0.1, 1.0]}
    search = SVCSearch(MixtureSVC("rbf", probability=False, random_state=0), **how, random_state=0).fit(frame, few)
    products = {
        (round(g * a, 9), round(g * b, 9)) for g, a, b in product(*[how[k] for k in ("gamma", "alpha", "beta")])
    }
    assert len(search.trials_) == len(products - {(0, 0)})


def test_without_categories_there_is_nothing_to_weigh():
    search = SVCSearch(mixture_svc(), **SOME, alpha=[0.1, 1.0], beta=[0.1, 1.0], random_state=0).fit(X, FEW)
    assert {(t.alpha, t.beta) for t in search.trials_} == {(1.0, 1.0)}


def words(n=40):
    """Categories and nothing else; two classes, all labelled."""
    return pd.DataFrame(np.random.RandomState(0).choice(list("uvw"), (n, 3)), columns=list("abc")), np.arange(n) % 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [MixtureSVC("rbf"), MixtureSVC("rwm"), MixtureSVC(RBFKernel()), MixtureSVC("lap"), LaplacianSVC("rbf")],
    ids=["rbf", "rwm", "kernel", "lap", "laplacian"],
)
@pytest.mark.parametrize("alpha", [None, [0.5, 1.0], [0.0]], ids=str)
def test_no_kernel_is_tried_twice_where_all_columns_are_categories(estimator, alpha):
    frame, y = words()
    how = {"C": [1.0], "gamma": [0.1, 1.0], "alpha": alpha, "beta": [0.1, 1.0]}
    search = SVCSearch(estimator, **how, random_state=0).fit(frame, y)
    assert [(t.gamma, t.alpha, t.beta) for t in search.trials_] == [(0.1, 0.0, 0.1), (0.1, 0.0, 1.0), (1.0, 0.0, 1.0)]
    again = clone(estimator).set_params(random_state=0, **search.best_params_).fit(frame, y)
    np.testing.assert_allclose(search.decision_function(frame), again.decision_function(frame), atol=1e-9)


def test_categories_alone_have_one_line():
    frame, y = words()
    search = SVCSearch(MixtureSVC("rwm"), strategy="line", C=[0.1, 1.0], random_state=0).fit(frame, y)
    assert {(t.alpha, t.beta) for t in search.trials_} == {(0.0, 0.03)}
    assert [t.is_linear for t in search.trials_][:3] == [True, True, False]


# ---------------------------------------------------------------- the line


@pytest.mark.parametrize("kernel", ["rbf", "rwm", "gmm"])
@pytest.mark.parametrize("C_values", [DECADES, [0.3, 3.0]], ids=["decades", "two"])
def test_the_line_starts_from_the_best_linear_svm(kernel, C_values):
    X, _, few = blobs(gap=1.2, per_class=9)
    search = SVCSearch(mixture_svc(kernel), strategy="line", C=C_values, cv=3, random_state=5).fit(X, few)
    linear, line = [t for t in search.trials_ if t.is_linear], [t for t in search.trials_ if not t.is_linear]
    assert search.trials_ == (*linear, *line)
    assert [t.C for t in linear] == C_values
    errors = {}
    for C in C_values:
        n_wrong = 0
        for train, test in SemiSupervisedSplit(3, transductive=False, random_state=5).split(X, few):
            plain = SVC(kernel="linear", C=C, break_ties=True).fit(X[train], few[train])
            n_wrong += (plain.predict(X[test]) != few[test]).sum()
        errors[C] = n_wrong / (few >= 0).sum()
    assert [t.loss for t in linear] == pytest.approx([errors[C] for C in C_values])
    best = min(linear, key=lambda t: t.order)
    labelled = X[few >= 0]
    own = mixture_svc(kernel).fit(X, few).kernel_.distance(labelled) ** 2
    upper = np.triu_indices(len(labelled), 1)
    unit = np.median(((labelled[:, None] - labelled[None]) ** 2).sum(axis=2)[upper]) / np.median(own[upper])
    assert unit == pytest.approx(1.0) if kernel == "rbf" else unit != pytest.approx(1.0)
    assert [2 * t.C * t.gamma for t in line] == pytest.approx([best.C * unit] * len(line))
    assert not search.best_.is_linear
    assert search.best_ is min(line, key=lambda t: t.order)


@pytest.mark.parametrize(
    "repair", ["none", "clip", *(pytest.param(repair, marks=pytest.mark.slow) for repair in ("flip", "shift"))]
)
@pytest.mark.parametrize("kernel", ["rbf", "rwm"])
def test_the_linear_svm_is_linear_under_every_repair(kernel, repair):
    X, _, few = blobs(gap=1.2, per_class=9)
    values = [0.01, 0.1, 1.0, 10.0]
    how = {"strategy": "line", "C": values, "cv": 3, "random_state": 5, "scoring": "neg_expected_error"}
    search = SVCSearch(mixture_svc(kernel, repair=repair, tol=1e-8), **how).fit(X, few)
    plain = SVCSearch(mixture_svc(kernel, tol=1e-8), **how).fit(X, few)
    parts = list(SemiSupervisedSplit(3, transductive=False, random_state=5).split(X, few))
    for trial, same in zip(search.trials_[:4], plain.trials_[:4], strict=True):
        n_wrong = 0
        for train, test in parts:
            linear = SVC(kernel="linear", C=trial.C, tol=1e-8, break_ties=True).fit(X[train], few[train])
            n_wrong += (linear.predict(X[test]) != few[test]).sum()
        assert trial.is_linear
        assert trial.validation_error == pytest.approx(n_wrong / 27)
        assert (trial.log_loss, trial.confidence) == pytest.approx((same.log_loss, same.confidence), rel=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "rwm", "gmm"])
def test_a_line_is_a_third_of_a_grid(kernel):
    search = SVCSearch(mixture_svc(kernel), strategy="line", random_state=0).fit(X, FEW)
    assert 7 <= len(search.trials_) <= 12


def test_points_on_the_line_are_scored_like_those_of_a_grid():
    line = SVCSearch(mixture_svc(), strategy="line", scoring="neg_expected_error", random_state=0).fit(X, FEW)
    for trial in line.trials_[6:]:
        how = {"C": [trial.C], "gamma": [trial.gamma], "scoring": "neg_expected_error"}
        (same,) = SVCSearch(mixture_svc(), **how, random_state=0).fit(X, FEW).trials_
        assert (same.loss, same.log_loss, same.n_support) == pytest.approx(
            (trial.loss, trial.log_loss, trial.n_support)
        )


def test_one_line_for_each_share_of_the_categories():
    frame, _, few = mixed()
    how = {"strategy": "line", "alpha": [0.0, 0.5, 1.0], "beta": [0.0, 0.5, 1.0], "C": [0.1, 1.0, 10.0]}
    search = SVCSearch(MixtureSVC("rbf", probability=False, random_state=0), **how, random_state=0).fit(frame, few)
    shapes = {(t.alpha, t.beta) for t in search.trials_}
    assert len(shapes) == len({a / (a + b) for a, b in shapes}) == 5  # 0 to 1, 1 to 0, equal, twice, half
    linear = [t for t in search.trials_ if t.is_linear]
    assert len(linear) == 5 * 3
    for alpha, beta in shapes:
        firsts = [t for t in linear if (t.alpha, t.beta) == (alpha, beta)]
        best = min(firsts, key=lambda t: t.order)
        on_line = [t for t in search.trials_ if (t.alpha, t.beta) == (alpha, beta) and not t.is_linear]
        assert on_line
        assert [2 * t.C * t.gamma for t in on_line] == pytest.approx([best.C] * len(on_line))


SETS = ("wine", "iris", "two_moons", "vehicle", "pima")


@pytest.mark.slow
def test_a_line_loses_at_most_a_point_to_a_grid():
    """A fifth of the labels, five sets, two draws: 0.2 and 0.5 points over ten draws."""
    lost = {"rbf": [], "rwm": []}
    for name in SETS:
        data = datasets.load(name)
        rows = TableEncoder().fit_transform(data.X)
        density = VBMixture(random_state=0).fit(rows).mixture_
        for seed in range(2):
            random = np.random.RandomState(seed)
            y = np.array(data.y, dtype=object)
            for label in data.classes:
                members = random.permutation(np.flatnonzero(data.y == label))
                y[members[round(0.2 * len(members)) :]] = None
            hidden = np.array([label is None for label in y])
            for kernel, losses in lost.items():
                estimator = MixtureSVC(kernel, density=density, probability=False, random_state=0)
                grid, line = (
                    SVCSearch(estimator, strategy=strategy, random_state=seed)
                    .fit(rows, y)
                    .score(rows[hidden], data.y[hidden])
                    for strategy in ("grid", "line")
                )
                losses.append(100 * (grid - line))
    assert np.mean(lost["rbf"]) <= 1
    assert np.mean(lost["rwm"]) <= 1


# ---------------------------------------------------------------- ratings, and labels of unlabelled rows


def test_the_optimistic_rating_uses_hidden_labels_for_its_error_alone():
    how = {"scoring": "optimistic_accuracy", **SOME, "random_state": 0}
    search = SVCSearch(mixture_svc(), **how).fit(X, FEW, optimistic_labels=TRUE)
    shuffled = TRUE.copy()
    hidden = np.flatnonzero(FEW < 0)
    shuffled[hidden] = np.random.RandomState(0).permutation(TRUE[hidden])
    misled = SVCSearch(mixture_svc(), **how).fit(X, FEW, optimistic_labels=shuffled)
    expected = SVCSearch(mixture_svc(), **{**how, "scoring": "neg_expected_error"}).fit(X, FEW)
    plain = SVCSearch(mixture_svc(), **{**how, "scoring": "accuracy"}).fit(X, FEW)
    assert table_of(search) == table_of(misled) == table_of(expected) == table_of(plain)
    assert [t.confidence for t in search.trials_] == [t.confidence for t in expected.trials_]
    assert [t.loss for t in search.trials_] != [t.loss for t in misled.trials_]
    n_labelled, n_hidden = (FEW >= 0).sum(), len(hidden)
    for trial in search.trials_:
        fitted = mixture_svc(gamma=trial.gamma, C=trial.C).fit(X, FEW)
        n_wrong = (fitted.predict(X[hidden]) != TRUE[hidden]).sum()
        assert trial.loss == pytest.approx((trial.validation_error * n_labelled + n_wrong) / (n_labelled + n_hidden))


def test_expected_errors_are_those_of_what_is_predicted():
    search = SVCSearch(mixture_svc(probability=True), scoring="neg_expected_error", **SOME, random_state=0).fit(X, FEW)
    for trial in search.trials_:
        assert trial.loss == pytest.approx(trial.validation_error + 1 - trial.confidence)
        assert 1 / 3 <= trial.confidence <= 1
    assert search.best_.scoring == "neg_expected_error"


def test_the_number_of_unlabelled_rows_is_limited(monkeypatch):
    seen = []
    original = TrialScorer.trial

    def trial(self, matrices, C):
        seen.append(matrices.towards.shape)
        return original(self, matrices, C)

    monkeypatch.setattr(TrialScorer, "trial", trial)
    SVCSearch(mixture_svc(), scoring="neg_expected_error", max_unlabelled=10, **SOME, random_state=0).fit(X, FEW)
    assert set(seen) == {(10, 21)}


def test_labels_of_other_rows_do_not_matter_at_all():
    """Labels of rows that no error is computed on, or that have a label already."""
    a = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0).fit(
        X, FEW, optimistic_labels=TRUE
    )
    lies = np.where(FEW >= 0, (TRUE + 1) % 3, TRUE)
    b = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0).fit(
        X, FEW, optimistic_labels=lies
    )
    assert [t.loss for t in a.trials_] == [t.loss for t in b.trials_]


def test_optimistic_labels_with_a_class_that_y_does_not_have():
    truth = NAMES[TRUE].astype(object)
    a = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0).fit(
        X, WORDS, optimistic_labels=truth
    )
    b = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0).fit(
        X, FEW, optimistic_labels=TRUE
    )
    assert [t.loss for t in a.trials_] == [t.loss for t in b.trials_]
    strange = truth.copy()
    strange[-20:] = "yak"
    c = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0).fit(
        X, WORDS, optimistic_labels=strange
    )
    assert all(t.loss >= 20 / 80 for t in c.trials_)
    assert c.classes_.tolist() == NAMES.tolist()


def test_further_rows_have_no_optimistic_labels():
    search = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0)
    search.fit(X[:50], FEW[:50], X_unlabelled=X[50:], optimistic_labels=TRUE[:50])
    again = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0)
    again.fit(X[:50], FEW[:50], optimistic_labels=TRUE[:50])
    assert [t.loss for t in search.trials_] == [t.loss for t in again.trials_]


def test_optimistic_labels_and_rating_go_together():
    why = r"^optimistic_labels and scoring='optimistic_accuracy' go together: give both, or neither\.$"
    with pytest.raises(LabelError, match=why):
        SVCSearch(mixture_svc(), scoring="optimistic_accuracy").fit(X, FEW)
    for scoring in ("accuracy", "neg_expected_error"):
        with pytest.raises(LabelError, match=why):
            SVCSearch(mixture_svc(), scoring=scoring).fit(X, FEW, optimistic_labels=TRUE)


def test_optimistic_labels_that_are_not_there():
    with pytest.raises(LabelError, match=r"^optimistic_labels must have a label for every row of X\.$"):
        SVCSearch(mixture_svc(), scoring="optimistic_accuracy").fit(X, FEW, optimistic_labels=FEW)


@pytest.mark.parametrize("y", [FEW, TRUE], ids=["few", "all"])
@pytest.mark.parametrize("labels", [TRUE[:40], np.append(TRUE, 0)], ids=["short", "long"])
def test_optimistic_labels_of_another_length(labels, y):
    with pytest.raises(LabelError, match=rf"^optimistic_labels has {len(labels)} labels, but X has 80 rows\.$"):
        SVCSearch(mixture_svc(), scoring="optimistic_accuracy").fit(X, y, optimistic_labels=labels)


@pytest.mark.parametrize("y", [FEW, TRUE], ids=["few", "all"])
def test_optimistic_labels_of_another_type(y):
    why = (
        r"^None of optimistic_labels, '0', '1', '2', is a label of y, 0, 1, 2\. Give them in the same type\.$",
        r"^None of optimistic_labels, 0, 1, 2, is a label of y, 'ant', 'bee', 'cat'\. Give them in the same type\.$",
    )
    with pytest.raises(LabelError, match=why[0]):
        SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME).fit(X, y, optimistic_labels=TRUE.astype(str))
    named = np.array([None if code < 0 else str(NAMES[code]) for code in y], dtype=object)
    with pytest.raises(LabelError, match=why[1]):
        SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME).fit(X, named, optimistic_labels=TRUE)


def test_optimistic_labels_of_rows_that_are_all_labelled():
    search = SVCSearch(mixture_svc(), scoring="optimistic_accuracy", **SOME, random_state=0).fit(
        X, TRUE, optimistic_labels=TRUE
    )
    plain = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, TRUE)
    assert [t.loss for t in search.trials_] == [t.loss for t in plain.trials_]


# ---------------------------------------------------------------- labels, weights, further rows


def test_further_rows_are_rows_without_labels():
    known, others = FEW >= 0, FEW < 0
    stacked = np.vstack([X[known], X[others]])
    how = {"scoring": "neg_expected_error", **SOME, "random_state": 0}
    a = SVCSearch(MixtureSVC(random_state=0), **how).fit(X[known], FEW[known], X_unlabelled=X[others])
    b = SVCSearch(MixtureSVC(random_state=0), **how).fit(stacked, np.append(FEW[known], FEW[others]))
    assert table_of(a) == table_of(b)
    assert [t.loss for t in a.trials_] == [t.loss for t in b.trials_]
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize("scoring", ["accuracy", "optimistic_accuracy"])
def test_weights_are_those_of_labels(scoring):
    """A row that is left out counts as much as its label; an unlabelled row counts one."""
    weights = np.random.RandomState(0).uniform(0.1, 4, 80)
    labels = TRUE if scoring == "optimistic_accuracy" else None
    search = SVCSearch(mixture_svc(), scoring=scoring, **SOME, cv=3, random_state=5).fit(
        X, FEW, weights, optimistic_labels=labels
    )
    split = SemiSupervisedSplit(3, transductive=False, random_state=5)
    total, hidden = weights[FEW >= 0].sum(), FEW < 0
    for trial in search.trials_:
        wrong = 0
        for train, test in split.split(X, FEW):
            fitted = mixture_svc(C=trial.C, gamma=trial.gamma).fit(X[train], FEW[train], weights[train])
            wrong += weights[test] @ (fitted.predict(X[test]) != FEW[test])
        assert trial.validation_error == pytest.approx(wrong / total)
        if scoring == "accuracy":
            assert trial.loss == trial.validation_error
        else:
            fitted = mixture_svc(C=trial.C, gamma=trial.gamma).fit(X, FEW, weights)
            n_wrong = (fitted.predict(X[hidden]) != TRUE[hidden]).sum()
            assert trial.loss == pytest.approx((wrong + n_wrong) / (total + hidden.sum()))
    again = mixture_svc(**search.best_params_).fit(X, FEW, weights)
    np.testing.assert_allclose(search.decision_function(X), again.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("how", [SOME, {"strategy": "line", "C": [0.1, 1.0, 10.0]}], ids=["grid", "line"])
def test_labels_of_almost_no_weight_count_almost_nothing(how):
    """Every third label is wrong; with weights near zero for them the error is zero."""
    X, y, few = blobs(c=2, per_class=15, gap=8.0)
    lies = (few >= 0) & (np.arange(80) % 3 == 0)
    given = np.where(lies, 1 - y, few)
    weights = np.where(lies, 1e-9, 1.0)
    weighted = SVCSearch(mixture_svc("rbf"), **how, random_state=0).fit(X, given, weights)
    unweighted = SVCSearch(mixture_svc("rbf"), **how, random_state=0).fit(X, given)
    assert weighted.best_.validation_error < 1e-8
    assert weighted.best_.log_loss < 0.2
    assert unweighted.best_.validation_error > 0.3
    assert unweighted.best_.log_loss > 0.5
    assert weighted.score(X, y) == 1


def test_weights_of_one_are_no_weights():
    a = SVCSearch(mixture_svc(), scoring="neg_expected_error", **SOME, random_state=0).fit(X, FEW, np.ones(80))
    b = SVCSearch(mixture_svc(), scoring="neg_expected_error", **SOME, random_state=0).fit(X, FEW)
    assert table_of(a) == table_of(b)
    assert [t.loss for t in a.trials_] == [t.loss for t in b.trials_]


def test_a_weight_of_zero_is_an_unlabelled_row():
    weights = np.where(np.arange(80) % 4 == 0, 0.0, 1.0)
    a = SVCSearch(mixture_svc(), scoring="neg_expected_error", **SOME, random_state=0).fit(X, FEW, weights)
    b = SVCSearch(mixture_svc(), scoring="neg_expected_error", **SOME, random_state=0).fit(
        X, np.where(weights > 0, FEW, -1)
    )
    assert [t.loss for t in a.trials_] == pytest.approx([t.loss for t in b.trials_])
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-9)


def test_words_and_categories_come_back():
    search = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, WORDS)
    numbers = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW)
    assert table_of(search) == table_of(numbers)
    assert search.predict(X).tolist() == NAMES[numbers.predict(X)].tolist()
    assert search.classes_.tolist() == NAMES.tolist()
    kind = pd.CategoricalDtype(["cat", "bee", "ant", "dog"])
    categories = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, pd.Series(WORDS, dtype=kind))
    assert isinstance(categories.predict(X), pd.Categorical)
    assert categories.predict(X).dtype == kind
    assert list(categories.predict(X)) == search.predict(X).tolist()


def test_classes_with_one_label():
    few = np.where((FEW == 1) & (np.arange(80) > 1), -1, FEW)
    assert (few == 1).sum() == 1
    search = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, few)
    assert all(round(t.validation_error * 14, 9).is_integer() for t in search.trials_)
    assert search.classes_.tolist() == [0, 1, 2]


# ---------------------------------------------------------------- an estimator like others


def test_it_predicts_like_its_best_estimator():
    frame, y, few = mixed()
    search = SVCSearch(**SOME, random_state=0).fit(frame, few)
    best = search.best_estimator_
    np.testing.assert_array_equal(search.predict(frame), best.predict(frame))
    np.testing.assert_array_equal(search.predict_proba(frame), best.predict_proba(frame))
    np.testing.assert_array_equal(search.decision_function(frame), best.decision_function(frame))
    assert search.score(frame, y) == accuracy_score(y, search.predict(frame))
    assert search.n_features_in_ == 3
    assert list(search.feature_names_in_) == ["a", "b", "c"]
    assert not hasattr(SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW), "feature_names_in_")


def test_copies():
    search = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW)
    copy = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(copy.decision_function(X), search.decision_function(X))
    assert repr(copy.trials_) == repr(search.trials_)
    fresh = clone(search)
    assert not hasattr(fresh, "trials_")
    assert fresh.get_params()["estimator__kernel"] == "rwm"
    fresh.set_params(estimator__kernel="rbf", scoring="neg_expected_error")
    assert (fresh.estimator.kernel, search.estimator.kernel) == ("rbf", "rwm")


def test_fitting_changes_no_setting():
    estimator = mixture_svc()
    search = SVCSearch(estimator, **SOME, random_state=0)
    before, inner = search.get_params(deep=False), estimator.get_params()
    search.fit(X, FEW)
    assert search.get_params(deep=False) == before
    assert estimator.get_params() == inner
    assert not hasattr(estimator, "classes_")


def test_before_a_fit():
    search = SVCSearch()
    for method in (search.predict, search.decision_function, search.predict_proba):
        with pytest.raises(NotFittedError, match="SVCSearch instance is not fitted yet"):
            method(X)
    assert not hasattr(search, "n_features_in_")
    assert repr(search) == "SVCSearch()"


def test_probabilities_are_there_if_the_estimator_has_them():
    assert hasattr(SVCSearch(), "predict_proba")
    assert hasattr(SVCSearch(MixtureSVC()), "predict_proba")
    assert not hasattr(SVCSearch(mixture_svc()), "predict_proba")


def test_searches_are_scored_like_estimators():
    """A search within each fold, as it should be: what is tested was not searched on."""
    scores = cross_val_score(
        SVCSearch(mixture_svc(), **SOME, random_state=0), X, FEW, cv=SemiSupervisedSplit(3), error_score="raise"
    )
    for score, (train, test) in zip(scores, SemiSupervisedSplit(3).split(X, FEW), strict=True):
        search = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X[train], FEW[train])
        assert score == search.score(X[test], FEW[test])


def test_the_same_seed_the_same_search():
    a, b = (SVCSearch(**SOME, scoring="neg_expected_error", random_state=3).fit(X, FEW) for _ in range(2))
    assert table_of(a) == table_of(b)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    c = SVCSearch(**SOME, scoring="neg_expected_error", random_state=4).fit(X, FEW)
    assert table_of(a) != table_of(c)


@pytest.mark.parametrize("estimator", [MixtureSVC(), LaplacianSVC()], ids=["mixture", "laplacian"])
def test_a_seed_reaches_an_estimator_that_has_none(estimator):
    how = {"scoring": "neg_expected_error", **SOME}
    a, b = (SVCSearch(estimator, **how, random_state=3).fit(X, FEW) for _ in range(2))
    assert table_of(a) == table_of(b)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert a.best_estimator_.random_state == 3
    assert estimator.random_state is None
    given = clone(estimator).set_params(random_state=3)
    assert table_of(SVCSearch(given, **how, random_state=3).fit(X, FEW)) == table_of(a)


def test_an_estimator_keeps_a_seed_of_its_own():
    search = SVCSearch(MixtureSVC(random_state=7, probability=False), **SOME, random_state=3).fit(X, FEW)
    assert search.best_estimator_.random_state == 7
    other = SVCSearch(MixtureSVC(random_state=7, probability=False), **SOME, random_state=4).fit(X, FEW)
    np.testing.assert_array_equal(other.best_estimator_.mixture_.means, search.best_estimator_.mixture_.means)


# ---------------------------------------------------------------- Ctrl-C


def interrupted(monkeypatch, after):
    """Press Ctrl-C in the middle of a trial."""
    original, count = TrialScorer.trial, []

    def trial(self, matrices, C):
        count.append(1)
        if len(count) > after:
            raise KeyboardInterrupt
        return original(self, matrices, C)

    monkeypatch.setattr(TrialScorer, "trial", trial)


@pytest.mark.parametrize("after", [1, 5])
def test_an_interrupted_search_uses_the_best_so_far(monkeypatch, after):
    whole = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW)
    interrupted(monkeypatch, after)
    search = SVCSearch(mixture_svc(), **SOME, random_state=0)
    with pytest.warns(InterruptedWarning, match=rf"^Stopped after {after} of 6 trials; the best of them is used\.$"):
        search.fit(X, FEW)
    assert repr(search.trials_) == repr(whole.trials_[:after])
    assert search.best_ is min(search.trials_, key=lambda t: t.order)
    assert search.score(X, TRUE) > 0.4


def test_an_interrupted_line_uses_the_best_so_far(monkeypatch):
    interrupted(monkeypatch, 8)
    search = SVCSearch(mixture_svc(), strategy="line", random_state=0)
    with pytest.warns(InterruptedWarning, match=r"^Stopped after 8 of 12 trials; the best of them is used\.$"):
        search.fit(X, FEW)
    assert not search.best_.is_linear
    assert search.best_ in search.trials_[6:]


@pytest.mark.parametrize(("strategy", "after"), [("grid", 0), ("line", 0), ("line", 6)])
def test_a_search_that_has_nothing_yet_is_interrupted(monkeypatch, strategy, after):
    interrupted(monkeypatch, after)
    search = SVCSearch(mixture_svc(), strategy=strategy, random_state=0).set_callbacks(Recorder())
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, FEW)
    assert not hasattr(search, "best_")
    (recorder,) = search._skl_callbacks
    assert recorder.events[-1] == "teardown"


# ---------------------------------------------------------------- callbacks


class Recorder:
    """Records its calls, and stops after so many tasks."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.events, self.most = [], {}

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")
        self.most[context.task_name] = context.max_subtasks

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name}")
        return self.stop_after is not None and self.events.count("end trial") >= self.stop_after


@pytest.mark.parametrize("how", [SOME, {"strategy": "line"}], ids=["grid", "line"])
def test_callbacks_are_called_for_every_trial(how):
    recorder = Recorder()
    assert isinstance(recorder, FitCallback)
    search = SVCSearch(mixture_svc(), **how, random_state=0).set_callbacks(recorder).fit(X, FEW)
    n = len(search.trials_)
    trials = ["begin trials", *["begin trial", "end trial"] * n, "end trials"]
    before, after = (
        [f"{when} {name}" for name in names for when in ("begin", "end")]
        for names in (("encoding", "kernel"), ("training", "calibration"))  # the density is given
    )
    assert recorder.events == ["setup", "begin fit", *before, *trials, *after, "end fit", "teardown"]
    assert recorder.most["fit"] == 6
    assert recorder.most["trials"] == 6 if "C" in how else n <= recorder.most["trials"] == 12
    assert repr(SVCSearch(mixture_svc(), **how, random_state=0).fit(X, FEW).trials_) == repr(search.trials_)


def test_a_callback_may_end_a_search():
    recorder = Recorder(stop_after=4)
    with pytest.warns(InterruptedWarning, match="4 of 6"):
        search = SVCSearch(mixture_svc(), **SOME, random_state=0).set_callbacks(recorder).fit(X, FEW)
    assert len(search.trials_) == 4
    assert recorder.events[-2:] == ["end fit", "teardown"]
    assert search.predict(X).shape == (80,)


def test_a_callback_may_end_a_line_once_it_has_begun():
    search = SVCSearch(mixture_svc(), strategy="line", random_state=0).set_callbacks(Recorder(stop_after=2))
    with pytest.warns(InterruptedWarning, match="7 of 12"):
        search.fit(X, FEW)
    assert [t.is_linear for t in search.trials_] == [True] * 6 + [False]


def test_a_progress_bar(capsys):
    search = SVCSearch(**SOME, random_state=0).set_callbacks(ProgressBar()).fit(X, FEW)
    assert len(search.trials_) == 6
    out = capsys.readouterr().out
    assert "SVCSearch - fit" in out
    assert "SVCSearch - density | VBMixture - fit" in out
    assert "SVCSearch - trials" in out
    assert "100%" in out


# ---------------------------------------------------------------- what it refuses


WHOLE = r"must be a whole number, {} or more, but it is {}\.$"
NO_LINE = r"^Keerthi and Lin's line is not defined for Laplacian kernels\. Use strategy='grid'\.$"


@pytest.mark.parametrize(
    ("how", "error", "why"),
    [
        (
            {"scoring": "optimistic_acuracy"},
            OptionError,
            r"^scoring must be one of 'accuracy', .*Did you mean 'optimistic_accuracy'\?",
        ),
        ({"strategy": "random"}, OptionError, r"^strategy must be one of 'grid', 'line', but it is 'random'\.$"),
        ({"n_jobs": 0}, OptionError, r"^n_jobs must be a whole number other than 0 or None, but it is 0\.$"),
        ({"verbose": -1}, OptionError, r"^verbose must be a whole number, 0 or more or True or False, but it is -1\.$"),
        ({"scoring": ["accuracy"]}, OptionError, r"^scoring must be one of .*, but it is \['accuracy'\]\."),
        ({"cv": 1}, OptionError, "^cv " + WHOLE.format(2, 1)),
        ({"cv": np.int64(1)}, OptionError, "^cv " + WHOLE.format(2, r"np\.int64\(1\)")),
        ({"cv": 2.5}, OptionError, "^cv " + WHOLE.format(2, r"2\.5")),
        ({"cv": True}, OptionError, "^cv " + WHOLE.format(2, "True")),
        ({"cv": None}, OptionError, "^cv " + WHOLE.format(2, "None")),
        ({"cv": SemiSupervisedSplit(3)}, OptionError, "^cv " + WHOLE.format(2, r"SemiSupervisedSplit\(3, .*\)")),
        ({"max_unlabelled": 0}, OptionError, "^max_unlabelled " + WHOLE.format(1, 0)),
        ({"max_unlabelled": -1}, OptionError, "^max_unlabelled " + WHOLE.format(1, -1)),
        ({"max_unlabelled": 2.5}, OptionError, "^max_unlabelled " + WHOLE.format(1, r"2\.5")),
        ({"max_unlabelled": None}, OptionError, "^max_unlabelled " + WHOLE.format(1, "None")),
        ({"C": []}, OptionError, r"^C must be numbers to try, none of them negative, but it is \[\]\.$"),
        ({"C": [0.0, 1.0]}, OptionError, r"^C must be positive numbers to try, but it is \[0\.0, 1\.0\]\.$"),
        ({"C": "auto"}, OptionError, r"^C must be numbers to try, but it is 'auto'\.$"),
        ({"gamma": [-1.0]}, OptionError, r"^gamma must be numbers to try, none of them negative"),
        ({"gamma": "scale"}, OptionError, r"^gamma must be numbers to try, but it is 'scale'\.$"),
        ({"gamma": ["scale", 1.0]}, OptionError, r"^gamma must be numbers to try, but it is \['scale', 1\.0\]\.$"),
        ({"gamma": None}, OptionError, r"^gamma must be numbers to try, but it is None\.$"),
        ({"alpha": "much"}, OptionError, r"^alpha must be numbers to try, but it is 'much'\.$"),
        ({"beta": [np.nan]}, OptionError, r"^beta must be numbers to try"),
        ({"beta": "little"}, OptionError, r"^beta must be numbers to try, but it is 'little'\.$"),
        (
            {"ratio": [1.0]},
            OptionError,
            r"^ratio is a parameter of LaplacianSVC\. Search it so: SVCSearch\(Lap",
        ),
        (
            {"estimator": MixtureSVC("lap"), "ratio": [1.0]},
            OptionError,
            r"^ratio is a parameter of LaplacianSVC\. Search it so: SVCSearch\(Lap",
        ),
        (
            {"estimator": LaplacianSVC(), "ratio": [-1.0]},
            OptionError,
            r"^ratio must be numbers to try, none of them neg",
        ),
        (
            {"estimator": LaplacianSVC(), "ratio": "all"},
            OptionError,
            r"^ratio must be numbers to try, but it is 'all'\.$",
        ),
        ({"estimator": SVC()}, OptionError, r"^estimator must be a MixtureSVC or a LaplacianSVC, but it is a SVC\."),
        ({"estimator": TransductiveSVC()}, OptionError, "but it is a TransductiveSVC. For others, use scikit-learn's"),
        ({"estimator": LaplacianSVC(), "strategy": "line"}, KernelError, NO_LINE),
        ({"estimator": LaplacianSVC(RWMKernel()), "strategy": "line"}, KernelError, NO_LINE),
        ({"estimator": MixtureSVC("lap"), "strategy": "line"}, KernelError, NO_LINE),
        ({"estimator": MixtureSVC(LaplacianKernel(RBFKernel())), "strategy": "line"}, KernelError, NO_LINE),
        (
            {"estimator": MixtureSVC(density=VBMixture(use_labels=True))},
            LabelError,
            r"^The density is fitted with labels, .* scikit-learn's cross_val_score or GridSearchCV with",
        ),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else "",
)
def test_wrong_parameters_are_refused_before_any_work(how, error, why, monkeypatch):
    def worked(self, *rows):
        raise AssertionError("a density was fitted")

    monkeypatch.setattr(VBMixture, "fit", worked)
    with pytest.raises(error, match=why):
        SVCSearch(**how).fit(X, FEW)


def test_work_would_be_noticed(monkeypatch):
    """What the last test rests on: without a reason to refuse, a density is fitted first."""
    calls = counting(monkeypatch, VBMixture, "fit")
    SVCSearch(**SOME, random_state=0).fit(X, FEW)
    assert calls == [80]


def test_kernels_without_a_gamma():
    with pytest.raises(KernelError, match="gamma, alpha and beta, but Sum has none"):
        SVCSearch(mixture_svc(RBFKernel() + RWMKernel())).fit(X, FEW)


def test_single_labels_cannot_be_left_out():
    few = np.where(np.arange(80) < 3, TRUE, -1)
    with pytest.raises(LabelError, match=r"^Every class has one label only, so none can be left out for a test"):
        SVCSearch(mixture_svc()).fit(X, few)


@pytest.mark.parametrize("strategy", ["grid", "line"])
@pytest.mark.parametrize("table", [mixed, words], ids=["mixed", "words"])
def test_weights_that_are_all_zero(table, strategy):
    frame, *_, few = table()
    how = {"strategy": strategy, "alpha": [0.0], "beta": [0.0]}
    with pytest.raises(OptionError, match=r"^alpha and beta are both 0, so all rows would be equal\.$"):
        SVCSearch(MixtureSVC("rbf", random_state=0), **SOME, **how).fit(frame, few)


@pytest.mark.parametrize("n", [np.int64(3), np.int32(3)])
def test_a_number_of_numpy_is_a_number(n):
    how = {"scoring": "neg_expected_error", **SOME, "random_state": 0}
    ours = SVCSearch(mixture_svc(), **how, cv=n, max_unlabelled=n).fit(X, FEW)
    plain = SVCSearch(mixture_svc(), **how, cv=3, max_unlabelled=3).fit(X, FEW)
    assert table_of(ours) == table_of(plain)
    assert [t.loss for t in ours.trials_] == [t.loss for t in plain.trials_]


def test_rows_without_a_label_are_not_scored():
    search = SVCSearch(mixture_svc(), **SOME, random_state=0).fit(X, FEW)
    assert search.score(X, TRUE) == search.best_estimator_.score(X, TRUE)
    assert search.score(X, FEW) == search.score(X[FEW >= 0], FEW[FEW >= 0])
    with pytest.warns(NoScoreWarning, match=r"has a label, so the score is NaN\. .* use cv=SemiSupervisedSplit\(\)\.$"):
        assert np.isnan(search.score(X, np.full(len(X), -1)))


def test_a_blend_is_trained_with_the_kernel_of_its_trial():
    iris = datasets.load("iris")
    search = SVCSearch(C=[1, 10], gamma=[0.1, 1], cv=2, random_state=0).fit(iris.X, iris.few_labels(random_state=0))
    assert search.best_estimator_.kernel_.share == search.best_params_["kernel"].share == 0.6
