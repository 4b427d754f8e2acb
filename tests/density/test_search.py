import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mixkern import DensitySearch, Mixture, TableEncoder, VBMixture, datasets
from mixkern.density import ParzenWindow, representativity
from mixkern.density.search import PAPER_CONCENTRATIONS, PAPER_MEAN_PRECISIONS, PAPER_PRIORS
from mixkern.errors import InterruptedWarning, MixtureError, OptionError
from mixkern.fitting import NotConvergedWarning

X = datasets.make_ripley(n=300, random_state=0)[0]
X.flags.writeable = False


def test_every_combination_is_tried_and_kept():
    search = DensitySearch(
        weight_concentration_prior=[0.01, 1.0],
        mean_precision_prior=[0.1, 1.0],
        precision_prior=[1.0, 10.0, "typical"],
        scoring="bound",
        random_state=0,
    ).fit(X)
    tried = [tuple(params.values()) for params in search.cv_results_["params"]]
    assert len(tried) == len(set(tried)) == 12
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_score"])
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.best_estimator_.get_params()["precision_prior"] == search.best_params_["precision_prior"]
    assert search.density_ is search.best_estimator_
    assert search.mixture_ is search.best_estimator_.mixture_
    frame = pd.DataFrame(search.cv_results_)
    assert len(frame) == 12
    assert frame.sort_values("rank_test_score")["mean_test_score"].is_monotonic_decreasing
    assert set(frame["param_precision_prior"]) == {1.0, 10.0, "typical"}
    assert (frame["n_components"] > 0).all()


def test_the_bound_is_the_bound():
    search = DensitySearch(precision_prior=[5.0], scoring="bound", random_state=0).fit(X)
    assert search.best_score_ == pytest.approx(search.density_.lower_bound_ / len(X))


@pytest.mark.parametrize("scoring", ["representativity", "held_out"])
def test_judged_on_fresh_rows_a_density_of_single_rows_loses(scoring):
    """With a prior this tight, components become single rows: likely where fitted, and nowhere else."""
    tight, sensible = 1e6, 10.0
    settings = {"precision_prior": [tight, sensible], "scoring": scoring, "random_state": 0}
    rows = datasets.load("wine").X.to_numpy()
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    density = VBMixture(40, degrees_of_freedom_prior=13, prune=False, merge=False, max_iter=50)
    search = DensitySearch(density, **settings).fit(rows)
    assert search.best_params_["precision_prior"] == sensible


@pytest.mark.slow
def test_representativity_against_brute_force():
    """In one dimension both expectations are integrals."""
    mixture = Mixture([0.4, 0.6], [[-1.0], [1.5]], [[[0.5]], [[1.0]]])
    train, _ = mixture.sample(3000, 0)
    fresh, _ = mixture.sample(20_000, 1)
    window = ParzenWindow(train[:2000])
    grid = np.linspace(-8, 10, 4_001)[:, None]
    log_p, log_q = window.log_density(grid), mixture.log_density(grid)
    true = np.exp(mixture.log_density(grid))  # what fresh rows are drawn from
    step = grid[1, 0] - grid[0, 0]
    expected = step * (np.sum(true * (log_p - log_q)) + np.sum(np.exp(log_q) * (log_q - log_p)))
    assert representativity(mixture, window, fresh, random_state=2) == pytest.approx(expected, abs=0.02)


def test_the_right_mixture_is_more_representative_than_a_wrong_one():
    right = Mixture([0.5, 0.5], [[-2.0, 0.0], [2.0, 0.0]], [np.eye(2)] * 2)
    wrong = Mixture([1.0], [[0.0, 0.0]], [np.diag([5.0, 1.0])])
    rows, _ = right.sample(1200, 0)
    window = ParzenWindow(rows[:600])
    good, bad = (representativity(each, window, rows[600:], random_state=0) for each in (right, wrong))
    assert good < bad
    assert abs(good) < 0.2


def test_categories_do_not_change_representativity():
    rows = np.random.RandomState(0).standard_normal((200, 1))
    plain = Mixture([1.0], [[0.0]], [[[1.0]]])
    mixed = Mixture([1.0], [[0.0]], [[[1.0]]], categories=[[[0.3, 0.7]]])
    window = ParzenWindow(rows[:100])
    codes = np.column_stack([rows[100:], np.ones(100)])
    a = representativity(plain, window, rows[100:], random_state=0)
    assert representativity(mixed, window, codes, random_state=0) == pytest.approx(a)


@pytest.mark.filterwarnings("ignore::mixkern.fitting.NotConvergedWarning")
@pytest.mark.slow
def test_gaps_and_categories_are_taken():
    data = datasets.load("credit_a")
    rows = TableEncoder(continuous=data.continuous, categorical=data.categorical).fit_transform(data.X)
    density = VBMixture(n_components=5, n_categorical=len(data.categorical), max_iter=30)
    search = DensitySearch(density, precision_prior=[0.1, 1.0], cv=2, random_state=0).fit(rows)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(search.mixture_.categories) == 9


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
@pytest.mark.slow
def test_workers_agree_with_a_single_process(backend):
    settings = {"precision_prior": [1.0, 10.0], "scoring": "held_out", "random_state": 3}
    with parallel_config(backend):
        alone, many = (DensitySearch(n_jobs=n, **settings).fit(X) for n in (None, 2))
    for name, column in alone.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(column, many.cv_results_[name])
    assert alone.mixture_ == many.mixture_


def test_marginal_of_a_mixture_against_the_literal_one():
    random = np.random.RandomState(0)
    factors = random.standard_normal((2, 3, 3))
    covariances = factors @ np.swapaxes(factors, 1, 2) + np.eye(3)
    mixture = Mixture([0.3, 0.7], random.standard_normal((2, 3)), covariances)
    points = random.standard_normal((5, 2))
    literal = sum(
        weight * multivariate_normal(mean[[2, 0]], covariance[np.ix_([2, 0], [2, 0])]).pdf(points)
        for weight, mean, covariance in zip(mixture.weights, mixture.means, covariances, strict=True)
    )
    np.testing.assert_allclose(np.exp(mixture.marginal([2, 0]).log_density(points)), literal, rtol=1e-12)


def test_settings_that_cannot_be():
    with pytest.raises(OptionError, match=r"scoring must be one of 'representativity', 'held_out', 'bound', but it is"):
        DensitySearch(scoring="likelihood").fit(X)
    with pytest.raises(MixtureError, match=r"^5 rows: too few for 3 folds\. Use scoring='bound'"):
        DensitySearch().fit(X[:5])
    with pytest.raises(MixtureError, match="nothing to try"):
        DensitySearch(precision_prior=[]).fit(X)


def test_clone_keeps_the_settings():
    search = clone(DensitySearch(VBMixture(7), precision_prior=(1.0,)))
    assert search.density.n_components == 7
    assert search.precision_prior == (1.0,)


@pytest.mark.parametrize("scoring", ["held_out", "representativity"])
def test_many_columns_do_not_make_all_settings_equal(scoring):
    rows = np.random.RandomState(0).standard_normal((90, 100))
    density = VBMixture(2, covariance_type="diag", max_iter=20)
    search = DensitySearch(density, precision_prior=[0.01, 1.0, 100.0], scoring=scoring, random_state=0).fit(rows)
    assert len(set(search.cv_results_["mean_test_score"])) == 3


def test_names_and_labels_reach_the_chosen_density():
    data = datasets.load("iris")
    density = VBMixture(4, use_labels=True)
    search = DensitySearch(density, precision_prior=[1.0], scoring="held_out", random_state=0)
    chosen = search.fit(data.X, data.few_labels(random_state=0)).density_
    assert chosen.classes_.tolist() == list(data.classes)
    assert chosen.predict(data.X).shape == (150,)


def test_representativity_needs_numbers():
    codes = np.random.RandomState(0).randint(3, size=(30, 2))
    with pytest.raises(MixtureError, match="Representativity compares continuous columns, and there are none"):
        DensitySearch(VBMixture(n_categorical=2)).fit(codes)


# ---------------------------------------------------------------- progress, and Ctrl-C


class Stopping:
    """Counts trials; after some of them it requests a stop, or raises an error."""

    def __init__(self, after, error=None):
        self.after, self.error, self.n = after, error, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name != "trial":
            return False
        self.n += 1
        if self.n == self.after and self.error:
            raise self.error
        return self.n >= self.after


SETTINGS = {"precision_prior": [0.1, 1.0, 10.0, 100.0], "scoring": "bound", "random_state": 0}


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.slow
def test_callbacks_see_each_trial_and_may_stop(n_jobs):
    with parallel_config("threading"):
        stop, never = Stopping(2), Stopping(9)
        with pytest.warns(InterruptedWarning, match="2 of 4"):
            search = DensitySearch(**SETTINGS, n_jobs=n_jobs).set_callbacks(stop).fit(X)
        whole = DensitySearch(**SETTINGS, n_jobs=n_jobs).set_callbacks(never).fit(X)
    assert (stop.n, never.n) == (2, 4)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], whole.cv_results_["mean_test_score"][:2])


def test_an_interrupted_search_uses_the_best_so_far():
    search = DensitySearch(**SETTINGS).set_callbacks(Stopping(3, KeyboardInterrupt()))
    with pytest.warns(InterruptedWarning, match=r"^Stopped after 3 of 4 trials; the best of them is used\.$"):
        search.fit(X)
    assert len(search.cv_results_["params"]) == 3
    assert search.density_.precision_prior == search.best_params_["precision_prior"]


def test_only_the_last_fit_warns_of_convergence():
    with pytest.warns(NotConvergedWarning) as caught:
        DensitySearch(VBMixture(max_iter=3), precision_prior=[0.1, 1.0], random_state=0).fit(X)
    assert len(caught) == 1


@pytest.mark.slow
def test_verbose_prints_trials_and_the_last_fit(capsys):
    for verbose, n_lines in ((0, 0), (1, 2), (2, 6)):
        DensitySearch(**SETTINGS, verbose=verbose).fit(X)
        lines = capsys.readouterr().out.splitlines()
        assert len([line for line in lines if "DensitySearch" in line]) == n_lines
    assert "[1/4] precision_prior=0.1: score " in lines[1]
    assert not any("VBMixture" in line for line in lines[:6])
    assert "VBMixture: " in lines[-1]


def test_scores_of_folds():
    search = DensitySearch(precision_prior=[1.0, 10.0], scoring="held_out", cv=4, random_state=0).fit(X)
    splits = np.array([search.cv_results_[f"split{i}_test_score"] for i in range(4)])
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], splits.mean(axis=0))
    np.testing.assert_allclose(search.cv_results_["std_test_score"], splits.std(axis=0))
    assert search.n_splits_ == 4
    assert search.refit_time_ > 0


@pytest.mark.slow
def test_the_search_of_the_paper():
    search = DensitySearch.from_paper(random_state=0, cv=2)
    assert search.weight_concentration_prior == PAPER_CONCENTRATIONS
    assert search.mean_precision_prior == PAPER_MEAN_PRECISIONS
    assert search.precision_prior == PAPER_PRIORS == (0.001, 0.01, 0.1, 1.0, 10.0)
    assert (search.scoring, search.cv, search.density.merge) == ("representativity", 2, False)
    search.fit(X[:100])
    assert len(search.cv_results_["params"]) == 30
    assert search.best_estimator_.merge is False


def test_settings_replace_those_of_the_paper():
    density = VBMixture(5, n_categorical=2)
    search = DensitySearch.from_paper(density=density, mean_precision_prior=(2.0,), scoring="bound")
    assert search.density is density
    assert (search.mean_precision_prior, search.scoring) == ((2.0,), "bound")
    assert search.precision_prior == PAPER_PRIORS


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"precision_prior": 1.0}, r"^precision_prior must be a list of values to try, but it is 1\.0\.$"),
        ({"precision_prior": "typical"}, r"^precision_prior must be a list of values to try, but it is 'typical'\.$"),
        ({"n_jobs": 0}, r"^n_jobs must be a whole number other than 0 or None"),
        (
            {"density": Mixture([1.0], [[0.0]], [[[1.0]]])},
            r"^density must be None or a VBMixture, but it is a Mixture\.",
        ),
    ],
    ids=["number", "text", "jobs", "mixture"],
)
def test_values_that_are_no_lists(settings, why):
    with pytest.raises(MixtureError, match=why):
        DensitySearch(**settings).fit(X)


def test_a_search_is_used_like_its_best_density():
    search = DensitySearch(precision_prior=[1.0], scoring="bound", random_state=0)
    for name in ("predict", "predict_proba", "score", "score_samples"):
        with pytest.raises(NotFittedError, match="DensitySearch instance is not fitted yet"):
            getattr(search, name)(X)
    search.fit(X)
    for name in ("predict", "predict_proba", "score", "score_samples"):
        np.testing.assert_array_equal(getattr(search, name)(X), getattr(search.best_estimator_, name)(X))
