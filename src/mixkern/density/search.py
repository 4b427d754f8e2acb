"""Grid search for the priors of a density, without labels, as in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from mixkern.density.mixture import Mixture
from mixkern.density.parzen import ParzenWindow
from mixkern.density.reading import check_magnitude
from mixkern.density.vb import VBMixture
from mixkern.encoding.numeric import numeric_rows
from mixkern.errors import MixtureError, hint, ignored_warnings
from mixkern.fitting import VERBOSE, NotConvergedWarning, ProgressMixin, all_or_nothing, quiet
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.notebook import NotebookMixin, search_facts
from mixkern.parts import EstimatorParts, model_part
from mixkern.sampling import check_random_state
from mixkern.trials import N_JOBS, collect_trials, ranks, results_table, run_tasks, trial_line
from mixkern.typing import Floats, Ints
from mixkern.validation import as_floats, at_least, check_parameters, one_of
from mixkern.wording import counted

MOST_ROWS = 2_000  # that a Parzen window is built from, and samples that are compared
LOWEST, LOWEST_PER_COLUMN = 200.0, 20.0  # nats below zero: limits the influence of a single outlier
PRIORS = ("weight_concentration_prior", "mean_precision_prior", "precision_prior")
# What from_paper tries of alpha0, beta0 and w0; the paper lists no values.
PAPER_CONCENTRATIONS = (0.001, 1.0)
PAPER_MEAN_PRECISIONS = (0.1, 1.0, 10.0)
PAPER_PRIORS = (0.001, 0.01, 0.1, 1.0, 10.0)
RULES = {"cv": at_least(2), "n_jobs": N_JOBS, "verbose": VERBOSE}


class DensityScoring(StrEnum):
    """Scores of a density, higher is better; none of them uses labels."""

    REPRESENTATIVITY = "representativity"  # minus the divergence from a Parzen window, on rows that neither has seen
    HELD_OUT = "held_out"  # cross-validated log-likelihood
    BOUND = "bound"  # the evidence bound per row


@dataclass(frozen=True)
class _Trial:
    """One setting of the priors and the scores of its density."""

    params: dict[str, Any]
    split_scores: tuple[float, ...]
    n_components: int
    fit_time: float
    score_time: float

    @property
    def score(self) -> float:
        return float(np.mean(self.split_scores))

    @property
    def seconds(self) -> float:
        return len(self.split_scores) * (self.fit_time + self.score_time)


@model_part("DensitySearch")
class DensitySearch(EstimatorParts, ProgressMixin, NotebookMixin, BaseEstimator):
    """Fit every combination of priors, and keep the density with the best score.

    It needs no labels. An estimator takes it as its density: ``MixtureSVC(density=DensitySearch())``.

    Parameters
    ----------
    density : VBMixture, default=None
        The estimator to fit; its priors are replaced, all other parameters are kept. ``None`` is ``VBMixture()``.
    weight_concentration_prior, mean_precision_prior, precision_prior : sequence
        The values to try, in all combinations.
    scoring : {"representativity", "held_out", "bound"}, default="representativity"
        How a density is scored; the highest score wins. ``"representativity"`` is the paper's criterion: minus the
        symmetric Kullback-Leibler divergence between mixture and Parzen window, on rows that neither was fitted on.
        ``"held_out"`` is the cross-validated log-likelihood, ``"bound"`` the evidence bound on all rows, per row.
    cv : int, default=3
        Number of folds of the first two scores.
    n_jobs : int, default=None
        Number of trials that run in parallel, with joblib and any of its backends.
    verbose : int, default=0
        1 prints the number of trials, the best one and its density, 2 also a line for each trial with its score and
        time, and for each iteration of that density.
    random_state : int, RandomState or None, default=None
        Determines folds and starts.

    Attributes
    ----------
    best_estimator_, density_ : VBMixture
        The density with the best priors, fitted on all rows; two names of the same.
    mixture_ : Mixture
        Its mixture.
    best_params_ : dict
        The best priors.
    best_score_ : float
        Their score.
    best_index_ : int
        Position of the best trial in ``cv_results_``.
    cv_results_ : dict of arrays
        A row for each trial, as in scikit-learn's ``GridSearchCV``; ``pandas.DataFrame(search.cv_results_)`` is a
        table. ``n_components`` is the number of components, the median of the folds.
    n_splits_ : int
        Number of folds; 1 for the bound.
    refit_time_ : float
        Seconds for the last fit, with the best priors on all rows.

    Warns
    -----
    InterruptedWarning
        Where Ctrl-C or a callback ended the search: the best trial so far is used.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.density import DensitySearch
    >>> X, _ = datasets.make_two_rings(n=200, random_state=0)
    >>> search = DensitySearch(precision_prior=[0.1, 1.0], scoring="held_out", random_state=0).fit(X)
    >>> search.best_params_["precision_prior"], search.mixture_.n_continuous
    (1.0, 2)
    """

    def __init__(
        self,
        density: VBMixture | None = None,
        *,
        weight_concentration_prior: Sequence[float | None] = (None,),
        mean_precision_prior: Sequence[float] = (1.0,),
        precision_prior: Sequence[float | str] = (0.01, 0.1, 1.0, 10.0, 100.0),
        scoring: str = "representativity",
        cv: int = 3,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.density = density
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.precision_prior = precision_prior
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def from_paper(cls, **settings: Any) -> Self:
        """Return the density search of the paper: an exhaustive search over its priors, scored by representativity.

        Parameters
        ----------
        **settings
            Parameters of the search, which replace those of the paper.

        Notes
        -----
        The paper searches alpha0, beta0 and w0, the priors of its variational inference, and lists no values. Thirty
        combinations are tried here, for columns with unit variance: alpha0 0.001 (components are removed) and 1 (more
        of them remain), beta0 0.1, 1 and 10 rows, and w0 0.001, 0.01, 0.1, 1 and 10. The paper finds that alpha0 and
        beta0 are not critical for its kernel, and that w0 is. The paper's inference has no mergers; where no
        ``density`` is given, it is ``VBMixture(merge=False)``.

        Examples
        --------
        >>> search = DensitySearch.from_paper(cv=5)
        >>> search.cv, search.mean_precision_prior, search.density.merge
        (5, (0.1, 1.0, 10.0), False)
        """
        paper = {
            "weight_concentration_prior": PAPER_CONCENTRATIONS,
            "mean_precision_prior": PAPER_MEAN_PRECISIONS,
            "precision_prior": PAPER_PRIORS,
            "scoring": DensityScoring.REPRESENTATIVITY.value,
        }
        density = settings.pop("density", None)
        return cls(VBMixture(merge=False) if density is None else density, **{**paper, **settings})

    @all_or_nothing
    @with_callbacks
    @on_gpu_of_rows
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score all settings without labels, and fit the best one on all rows (and labels, with ``use_labels``)."""
        rows = numeric_rows(self, X, reset=True)
        check_magnitude(rows)
        scoring = self._checked_scoring(rows)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        folds = _folds(rows, rows.shape[1] - self.n_categorical, scoring, self.cv, seed)
        settings = self._settings()
        densities = [self._density(params, seed).set_params(use_labels=False, verbose=0) for params in settings]
        tasks = [(density, params, rows, folds, seed) for density, params in zip(densities, settings, strict=True)]
        with self._progress("trial", len(tasks), X, y) as step:
            step.note(f"{counted(len(tasks), 'trial')}, {counted(max(1, len(folds)), 'fold')} each")
            trials = collect_trials(run_tasks(_trial, tasks, self.n_jobs), step, len(tasks), self._line)
            self._tabulate(trials)
            step.note(f"best: {self._line(trials[self.best_index_], self.best_index_ + 1)}")
            start = perf_counter()
            self.best_estimator_ = self._density(self.best_params_, seed).fit(X, y)
            self.refit_time_ = perf_counter() - start
        return self

    def score_samples(self, X: Any) -> Floats:  # (n,)
        """Logarithm of the best density at each row."""
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Mean log density of the rows by the best density, whatever ``scoring`` is."""
        check_is_fitted(self)
        return self.best_estimator_.score(X)

    def predict_proba(self, X: Any) -> Floats:  # (n, k)
        """Responsibilities of the best density: the probability that a row comes from a component."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def predict(self, X: Any) -> Ints:  # (n,)
        """Give the most responsible component of each row."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @property
    def density_(self) -> VBMixture:
        """The density with the best priors, fitted on all rows."""
        return self.best_estimator_

    @property
    def mixture_(self) -> Mixture:
        """The mixture of the density with the best priors."""
        return self.best_estimator_.mixture_

    @property
    def n_categorical(self) -> int:
        """Number of categorical columns, by the parameter of ``density``."""
        return 0 if self.density is None else self.density.n_categorical

    @property
    def use_labels(self) -> bool:
        """Whether the density with the best priors is fitted with labels, by the parameter of ``density``."""
        return self.density is not None and bool(self.density.use_labels)

    def _checked_scoring(self, rows: Floats) -> DensityScoring:
        """Check the parameters, and whether the rows suffice for the score."""
        check_parameters(self, RULES, MixtureError)
        if self.density is not None and not isinstance(self.density, VBMixture):
            raise MixtureError(f"density must be None or a VBMixture, but it is a {type(self.density).__name__}.")
        scoring = one_of(DensityScoring, self.scoring, "scoring")
        if scoring is not DensityScoring.BOUND and len(rows) < 2 * self.cv:
            raise MixtureError(
                f"{counted(len(rows), 'row')}: too few for {self.cv} folds.",
                hint=hint(python="Use scoring='bound', or a smaller cv."),
            )
        if scoring is DensityScoring.REPRESENTATIVITY and rows.shape[1] == self.n_categorical:
            raise MixtureError(
                "Representativity compares continuous columns, and there are none.",
                hint=hint(python="Use scoring='held_out'."),
            )
        return scoring

    def _settings(self) -> list[dict[str, Any]]:
        """Return all combinations of priors."""
        for name in PRIORS:
            values = getattr(self, name)
            if isinstance(values, str) or not np.iterable(values):
                raise MixtureError(f"{name} must be a list of values to try, but it is {values!r}.")
        settings = [dict(zip(PRIORS, each, strict=True)) for each in product(*(getattr(self, name) for name in PRIORS))]
        if not settings:
            raise MixtureError("There is nothing to try. Give at least one value for every prior.")
        return settings

    def _line(self, trial: _Trial, number: int) -> str:
        tried = {name: trial.params[name] for name in PRIORS if len(getattr(self, name)) > 1}
        n = len(self._settings())
        return trial_line(number, n, tried or trial.params, trial.score, trial.seconds)

    def _tabulate(self, trials: Sequence[_Trial]) -> None:
        """Set the attributes that describe the trials."""
        self.n_splits_ = len(trials[0].split_scores)
        self.cv_results_ = results_table(
            params=[trial.params for trial in trials],
            columns={name: [trial.params[name] for trial in trials] for name in PRIORS},
            split_scores=[trial.split_scores for trial in trials],
            scores=[trial.score for trial in trials],
            rank=ranks([np.inf if np.isnan(trial.score) else -trial.score for trial in trials]),
            times=[(trial.fit_time, trial.score_time) for trial in trials],
        )
        self.cv_results_["n_components"] = np.array([trial.n_components for trial in trials])
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_score_ = trials[self.best_index_].score
        self.best_params_ = dict(trials[self.best_index_].params)

    def _density(self, params: dict[str, Any], seed: int) -> VBMixture:
        density = VBMixture() if self.density is None else clone(self.density)
        return density.set_params(**params, random_state=seed)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def _learned_facts(self) -> dict[str, str]:
        return search_facts(self, self.best_params_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(frozen=True)
class Fold:
    """Training rows, test rows, and the Parzen window of the training rows."""

    train: Floats
    test: Floats
    window: ParzenWindow | None


def _folds(rows: Floats, n_continuous: int, scoring: DensityScoring, cv: int, seed: int) -> list[Fold]:
    from sklearn.model_selection import KFold  # slow to import, and needed only here

    if scoring is DensityScoring.BOUND:
        return []
    random = np.random.RandomState(seed)
    folds = []
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(rows):
        window = None
        if scoring is DensityScoring.REPRESENTATIVITY:
            some = random.permutation(train)[:MOST_ROWS]
            window = ParzenWindow(_filled(rows[some, :n_continuous]))
        folds.append(Fold(rows[train], rows[test], window))
    return folds


def _trial(density: VBMixture, params: dict[str, Any], rows: Floats, folds: list[Fold], seed: int) -> _Trial:
    """Fit and score one setting: by the bound on all rows, or by cross-validation."""
    start = perf_counter()
    if not folds:
        with quiet(), ignored_warnings(NotConvergedWarning):  # the last fit, on all rows, issues the same
            fitted = clone(density).fit(rows)
        return _Trial(params, (fitted.lower_bound_ / len(rows),), fitted.n_components_, perf_counter() - start, 0.0)
    scores, counts, fit_time = [], [], 0.0
    for fold in folds:
        began = perf_counter()
        with quiet(), ignored_warnings(NotConvergedWarning):
            mixture = clone(density).fit(fold.train).mixture_
        fit_time += perf_counter() - began
        counts.append(mixture.n_components)
        if fold.window is None:
            scores.append(float(np.maximum(mixture.log_density(fold.test), _floor(mixture)).mean()))
        else:
            scores.append(-representativity(mixture, fold.window, fold.test, random_state=seed))
    score_time = perf_counter() - start - fit_time
    return _Trial(params, tuple(scores), int(np.median(counts)), fit_time / len(folds), score_time / len(folds))


def representativity(mixture: Mixture, window: ParzenWindow, fresh: ArrayLike, *, random_state: Any = None) -> float:
    r"""Symmetric Kullback-Leibler divergence between a mixture q and a Parzen window p; smaller is better.

    .. math:: J = E_p[\ln p - \ln q] + E_q[\ln q - \ln p]

    Rows that neither density was fitted on serve as samples of p; samples of q are drawn. On the rows that the window
    was built from, leave-one-out or not, the sum is negative for mixtures that overfit, and so prefers them.

    Parameters
    ----------
    mixture : Mixture
        The density to score; its categorical columns are ignored.
    window : ParzenWindow
        The density to compare with, of other rows than ``fresh``.
    fresh : array-like of shape (n, d + e)
        Rows that neither was fitted on. A gap counts as its column's mean.
    random_state : int, RandomState or None, default=None
        Determines the samples of the mixture.

    Examples
    --------
    >>> from mixkern import VBMixture, datasets
    >>> X, _ = datasets.make_ripley(n=600, random_state=0)
    >>> mixture = VBMixture(random_state=0).fit(X[:400]).mixture_
    >>> bool(representativity(mixture, ParzenWindow(X[:400]), X[400:], random_state=0) < 0.5)
    True
    """
    numbers = mixture.marginal(range(mixture.n_continuous))
    points = as_floats(fresh, "fresh", MixtureError)
    if points.ndim != 2 or points.shape[1] != mixture.n_features:
        raise MixtureError(f"fresh has shape {points.shape}, but the mixture describes (n, {mixture.n_features}).")
    points = _filled(points[:, : mixture.n_continuous])
    samples, _ = numbers.sample(min(len(points), MOST_ROWS), random_state)
    return _log_ratio(window, numbers, points) - _log_ratio(window, numbers, samples)


def _log_ratio(window: ParzenWindow, mixture: Mixture, points: Floats) -> float:
    """Mean of ln p - ln q, both bounded below."""
    p, q = (np.maximum(density.log_density(points), _floor(mixture)) for density in (window, mixture))
    return float((p - q).mean())


def _floor(mixture: Mixture) -> float:
    """Give the lower bound of log densities."""
    return -max(LOWEST, LOWEST_PER_COLUMN * mixture.n_features)


def _filled(X: Floats) -> Floats:
    """Replace missing numbers by the column's mean."""
    there = ~np.isnan(X)
    mean = X.sum(axis=0, where=there) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, X, mean)
