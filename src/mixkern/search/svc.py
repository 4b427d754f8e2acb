"""Hyperparameter search for kernel SVMs."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixkern.defaults import KernelName
from mixkern.density import Mixture, Rows
from mixkern.encoding import encode_labels
from mixkern.encoding.encoder import TableInput
from mixkern.encoding.lengths import check_length
from mixkern.errors import DrawnRowsWarning, KernelError, OptionError, hint, warn
from mixkern.estimators import LaplacianSVC, MixtureSVC
from mixkern.estimators.avoiding import Unlabelled
from mixkern.estimators.base import checked_target
from mixkern.estimators.kernel_factory import replaced
from mixkern.estimators.score import scored_rows
from mixkern.fitting import VERBOSE, ProgressMixin, all_or_nothing, in_stages
from mixkern.gpu_array import on_gpu_of_rows
from mixkern.kernels import BlendKernel, LaplacianKernel
from mixkern.notebook import NotebookMixin, search_facts
from mixkern.sampling import check_random_state, class_subsample
from mixkern.search.gram_cache import GramCache, gram_cache
from mixkern.search.grid import kernel_points
from mixkern.search.scoring import NamedScorer, Scoring, resolved_scoring
from mixkern.search.split import check_density, check_labels
from mixkern.search.trial import SearchTrial, Trainer, Trials, TrialScorer, distinct_shapes
from mixkern.search.unlabelled import optimistic_codes, scored_unlabelled
from mixkern.svm.folds import fewer_folds, label_folds
from mixkern.trials import N_JOBS, collect_trials, ranks, results_table, trial_line
from mixkern.typing import Floats, Ints, Objects, Positions, RandomState
from mixkern.validation import at_least, check_parameters, numbers_to_try, one_of
from mixkern.wording import counted

DECADES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # the paper's grid
PAPER_WEIGHTS = tuple(i / 10 for i in range(11))  # the paper's grid of alpha and beta
BETAS = (0.03, 0.1, 0.3, 1.0)  # beside alpha = 1, for tables with categories

RULES = {"cv": at_least(2), "max_unlabelled": at_least(1), "n_jobs": N_JOBS, "verbose": VERBOSE}


class Strategy(StrEnum):
    """Which hyperparameters are tried."""

    GRID = "grid"  # all combinations
    LINE = "line"  # Keerthi and Lin: the best C of a linear SVM, then the line that it defines


class SVCSearch(TableInput, ProgressMixin, NotebookMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Search for C and gamma, and for the weight of categories, by cross-validation on few labels.

    The density is fitted and distances are computed once; each trial is an exponential and some trainings on the
    labelled rows. All trials are kept.

    Parameters
    ----------
    estimator : MixtureSVC or LaplacianSVC, default=None
        Estimator to tune; ``None`` is ``MixtureSVC()``.
    strategy : {"grid", "line"}, default="grid"
        All combinations, or Keerthi and Lin's line: the best C of a linear SVM, then gamma = C_linear / (2 C), in units
        of the kernel's median squared distance against the Euclidean one. A third of a square grid's trials.
    C, gamma : sequence of float, default=(0.001, 0.01, 0.1, 1, 10, 100)
        Values to try.
    alpha, beta : sequence of float, default=None
        Values to try where the table has categories: weights in the kernel of the squared distance between numbers and
        of the squared number of differing categories. ``None`` is 1 for alpha, and 0.03, 0.1, 0.3 and 1 for beta. Of
        values that make the same kernel, one combination is tried.
    ratio : sequence of float, default=None
        Values to try of :class:`LaplacianSVC`; ``None`` keeps its own.
    scoring : str or callable, default="accuracy"
        Score that trials are compared by; the highest wins, and the log loss of the labels left out decides between
        equal scores. ``"accuracy"`` is that on labelled rows that were left out. ``"neg_expected_error"`` is minus the
        error on them, minus one, plus the mean confidence on unlabelled rows. ``"optimistic_accuracy"`` is the accuracy
        on both, with labels that are passed to :meth:`fit` for this purpose. Or the name of a scorer of scikit-learn,
        or a function ``scorer(classifier, rows, y)``. In the search its ``rows`` are positions in the ``X`` of
        :meth:`fit`, and in :meth:`score` encoded rows; the methods of the classifier take either.
    cv : int, default=4
        Number of folds of the labelled rows; fewer where classes have fewer labels.
    max_unlabelled : int, default=2000
        Number of unlabelled rows that the score is computed on at most.
    n_jobs : int, default=None
        Number of kernels that are tried in parallel, by joblib; -1 is one for each core. The results are the same.
    verbose : int, default=0
        1 prints a line for each stage of the fit, 2 also one for each iteration of the density, and one for each trial
        with its score and time.
    random_state : int, RandomState or None, default=None
        Controls the folds and the draw of unlabelled rows; also that of the estimator, where it has none.

    Attributes
    ----------
    best_estimator_ : MixtureSVC or LaplacianSVC
        The estimator, trained with the best hyperparameters on all labels.
    best_score_ : float
        Score of the best trial. It is too optimistic, because the trial was selected for it.
    best_params_ : dict
        Parameters of the estimator for the best trial.
    best_index_ : int
        Position of the best trial in ``cv_results_``.
    cv_results_ : dict of arrays
        A row for each trial, as in scikit-learn's ``GridSearchCV``; ``pandas.DataFrame(search.cv_results_)`` is a
        table. Its ``mean_test_score`` is the score of the labels of all folds together, because a fold of few labels
        may lack a class. ``split0_test_score``, ... are those of each fold alone, NaN where it is not defined, and
        ``std_test_score`` their standard deviation. ``rank_test_score`` ranks by score and then by ``log_loss``, that
        of the labels left out. ``n_support`` is the mean number of support vectors, ``confidence`` the mean confidence
        on unlabelled rows, where these were used. ``params`` has parameters of the estimator, ``param_C``,
        ``param_gamma``, ... numbers.
    trials_ : tuple of SearchTrial
        All trials in their order, with all errors that were computed. For a line, the linear SVMs are included.
    best_ : SearchTrial
        The best trial.
    n_splits_ : int
        Number of folds.
    scorer_ : callable or None
        The scorer of scikit-learn; None for the two scores that use unlabelled rows.
    refit_time_ : float
        Seconds for the training with the best hyperparameters, without the density.
    classes_ : ndarray of shape (c,)
        The labels.

    Warns
    -----
    InterruptedWarning
        Where Ctrl-C or a callback ended the search: the best trial so far is used.

    See Also
    --------
    mixkern.plot.search_map : the score over gamma and C.

    Examples
    --------
    >>> from mixkern import SVCSearch, datasets
    >>> wine = datasets.load("wine")
    >>> search = SVCSearch(strategy="line", random_state=0).fit(wine.X, wine.few_labels(per_class=6, random_state=0))
    >>> len(search.cv_results_["params"]) <= 6, bool(search.score(wine.X, wine.y) > 0.9)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        strategy: str = "grid",
        C: Sequence[float] = DECADES,
        gamma: Sequence[float] = DECADES,
        alpha: Sequence[float] | None = None,
        beta: Sequence[float] | None = None,
        ratio: Sequence[float] | None = None,
        scoring: str | Callable[..., float] | None = "accuracy",
        cv: int = 4,
        max_unlabelled: int = 2_000,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.C = C
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.ratio = ratio
        self.scoring = scoring
        self.cv = cv
        self.max_unlabelled = max_unlabelled
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @classmethod
    def from_paper(cls, **settings: Any) -> Self:
        """Return the paper's whole procedure: its density search, its kernel, its grids and its score.

        The estimator is :meth:`MixtureSVC.from_paper`. C and gamma are 0.001, 0.01, ..., 100; for tables with
        categories, alpha and beta are 0, 0.1, ..., 1, which is about 4,000 trials. Trials are compared by
        ``"neg_expected_error"`` in four folds. Settings replace these, and any other parameter of the search.

        The paper rates by "considering L_val and U (to determine the expected error)" without a formula: here the
        expected error on U is one minus the mean confidence, at most 2,000 rows of U are used, and the log loss decides
        between equal scores.

        >>> search = SVCSearch.from_paper(random_state=0)
        >>> search.scoring, search.estimator.kernel
        ('neg_expected_error', 'rwm')
        """
        paper: dict[str, Any] = {
            "strategy": Strategy.GRID.value,
            "C": DECADES,
            "gamma": DECADES,
            "alpha": PAPER_WEIGHTS,
            "beta": PAPER_WEIGHTS,
            "scoring": Scoring.NEG_EXPECTED_ERROR.value,
            "cv": 4,
        }
        return cls(settings.pop("estimator", None) or MixtureSVC.from_paper(), **{**paper, **settings})

    # ---------------------------------------------------------------- searching

    @all_or_nothing
    @in_stages(6)
    @on_gpu_of_rows
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_unlabelled: Any = None,
        optimistic_labels: Any = None,
    ) -> Self:
        """Fit the density to all rows, try all hyperparameters on the labelled ones, and train with the best.

        Parameters
        ----------
        X, y, sample_weight, X_unlabelled
            As in :meth:`MixtureSVC.fit`.
        optimistic_labels : array-like of shape (n,), default=None
            True labels of all rows of ``X``, for ``scoring="optimistic_accuracy"`` alone.

        Returns
        -------
        self
        """
        estimator = self._estimator()
        scoring, values = resolved_scoring(self.scoring), self._values(estimator)
        codes, weights = estimator.read_labels(X, y, sample_weight)
        true = optimistic_codes(scoring, estimator.classes_, optimistic_labels, len(codes))
        with self._stages_of(estimator):
            rows = estimator.learn_structure(X, X_unlabelled, codes)
        labelled, random = np.flatnonzero(codes >= 0), check_random_state(self.random_state)
        labelled = _compared(labelled, codes, estimator.max_labels)
        others, other_codes = scored_unlabelled(scoring, codes, len(rows), true, self.max_unlabelled, random)
        cache = gram_cache(estimator.kernel_, rows[labelled], None if others is None else rows[others])
        check_labels(codes[labelled])
        counts = None if weights is None else weights[labelled]
        scorer = TrialScorer(
            codes=codes[labelled],
            weights=np.ones(len(labelled)) if counts is None else counts,
            folds=label_folds(codes[labelled], fewer_folds(codes[labelled], self.cv), random),
            trainer=Trainer(estimator, counts),
            other_codes=other_codes,
            scoring=scoring,
            classes=estimator.classes_,
            positions=labelled,
            is_weighted=counts is not None,
        )
        self.n_splits_ = int(scorer.folds.max()) + 1
        self.scorer_ = _scorer_function(scoring)
        self.trials_ = self._tried(Trials(cache, scorer, self.n_jobs), estimator.mixture_, values)
        self._tabulate(estimator)
        self._train_best(estimator, cache, rows, codes, weights)
        return self

    def _estimator(self) -> MixtureSVC:
        """Give a copy of the estimator to tune."""
        if self.estimator is not None and not isinstance(self.estimator, MixtureSVC):
            raise OptionError(
                f"estimator must be a MixtureSVC or a LaplacianSVC, but it is a {type(self.estimator).__name__}.",
                hint=hint(python="For others, use scikit-learn's GridSearchCV with cv=SemiSupervisedSplit()."),
            )
        estimator = MixtureSVC() if self.estimator is None else clone(self.estimator)
        check_density(estimator.density)
        if estimator.unlabelled == Unlabelled.AVOID:
            raise OptionError(
                "A search compares SVMs without their unlabelled rows, but unlabelled='avoid' trains others.",
                hint=hint(python="Use unlabelled='ignore' or 'auto'."),
            )
        if not isinstance(estimator, LaplacianSVC):
            estimator.set_params(unlabelled=Unlabelled.IGNORE.value)
        return estimator.set_params(random_state=self.random_state) if estimator.random_state is None else estimator

    def _values(self, estimator: MixtureSVC) -> dict[str, list[Any]]:
        """Check the parameters, and give the values to try."""
        check_parameters(self, RULES)
        is_laplacian = isinstance(estimator, LaplacianSVC)
        if self.ratio is not None and not is_laplacian:
            raise OptionError(
                "ratio is a parameter of LaplacianSVC.",
                hint=hint(python="Search it so: SVCSearch(LaplacianSVC(), ratio=[...])."),
            )
        is_laplacian = is_laplacian or estimator.kernel == "lap" or isinstance(estimator.kernel, LaplacianKernel)
        if one_of(Strategy, self.strategy, "strategy") is Strategy.LINE and is_laplacian:
            raise KernelError(
                "Keerthi and Lin's line is not defined for Laplacian kernels.",
                hint=hint(python="Use strategy='grid'."),
            )
        own = [estimator.ratio if isinstance(estimator, LaplacianSVC) else None]
        return {
            "C": numbers_to_try(self.C, "C"),
            "gamma": numbers_to_try(self.gamma, "gamma"),
            "alpha": numbers_to_try(1.0 if self.alpha is None else self.alpha, "alpha", zero=True),
            "beta": numbers_to_try(BETAS if self.beta is None else self.beta, "beta", zero=True),
            "ratio": own if self.ratio is None else numbers_to_try(self.ratio, "ratio", zero=True),
        }

    def _tried(self, trials: Trials, mixture: Mixture, values: dict[str, list[Any]]) -> tuple[SearchTrial, ...]:
        """Try all values by the strategy."""
        C, gamma, alpha, beta, ratio = values.values()
        if not mixture.categories:
            alpha, beta = [1.0], [1.0]
        elif not mixture.n_continuous:
            alpha = [0.0]  # without numbers, alpha changes nothing
        if self.strategy == Strategy.GRID:
            points = kernel_points(gamma, alpha, beta, ratio)
            found, n = trials.grid(points, C), len(points) * len(C)
        else:
            shapes = distinct_shapes(alpha, beta)
            found, n = trials.lines(shapes, C, gamma), 2 * len(shapes) * len(C)
        with self._stage("trials", "trial", n) as step:
            step.note(f"{counted(n, 'trial')} at most, {counted(self.n_splits_, 'fold')} each")

            def line(trial: SearchTrial, number: int) -> str:
                return trial_line(number, n, trial.settings, trial.score, trial.seconds)

            done = collect_trials(found, step, n, line, is_result=lambda trial: not trial.is_linear)
            best = min((trial for trial in done if not trial.is_linear), key=lambda trial: trial.order)
            step.note(f"best: {line(best, done.index(best) + 1)}")
        return tuple(done)

    def _tabulate(self, estimator: MixtureSVC) -> None:
        """Set the attributes that describe the trials, as scikit-learn names them."""
        results = [trial for trial in self.trials_ if not trial.is_linear]
        names = ["C", "gamma", "alpha", "beta", *(["ratio"] if isinstance(estimator, LaplacianSVC) else [])]
        self.cv_results_ = results_table(
            params=[_estimator_params(estimator, trial) for trial in results],
            columns={name: [getattr(trial, name) for trial in results] for name in names},
            split_scores=[trial.split_scores for trial in results],
            scores=[trial.score for trial in results],
            rank=ranks([trial.order for trial in results]),
            times=[(trial.fit_time, trial.score_time) for trial in results],
        )
        for name in ("log_loss", "n_support", "confidence"):
            column = np.array([getattr(trial, name) for trial in results])
            if not np.isnan(column).all():
                self.cv_results_[name] = column
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_, self.best_score_ = results[self.best_index_], results[self.best_index_].score
        self.best_params_ = self.cv_results_["params"][self.best_index_]

    def _train_best(self, estimator: Any, cache: GramCache, rows: Rows, codes: Ints, weights: Floats | None) -> None:
        """Train with the best hyperparameters and the density that is already fitted."""
        start = perf_counter()
        estimator.set_params(**self.best_params_)
        estimator.kernel_ = cache.kernel(self.best_.point)
        with self._stages_of(estimator):
            self.best_estimator_ = estimator.train(rows, codes, weights)
        self.refit_time_ = perf_counter() - start
        self.classes_ = estimator.classes_

    def _learned_facts(self) -> dict[str, str]:
        return search_facts(self, self.best_.settings)

    # ---------------------------------------------------------------- using the best estimator

    def predict(self, X: Any) -> Any:
        """Predict the label of each row."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @on_gpu_of_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the score of the best estimator by ``scorer_``, on the rows that have a label.

        It is the accuracy for the two scores that use unlabelled rows; see :meth:`MixtureSVC.score`.
        """
        check_is_fitted(self)
        scoring, best = resolved_scoring(self.scoring), self.best_estimator_
        if isinstance(scoring, Scoring):
            return best.score(X, y, sample_weight)
        labels = encode_labels(checked_target(y, self), min_classes=0, classes=self.classes_)
        rows = best.rows_of(X)
        check_length(len(rows), len(labels.codes))
        labelled, weights = scored_rows(labels.is_labelled, sample_weight, 1, "SemiSupervisedSplit()")
        if not len(labelled):
            return np.nan
        return scoring(best, rows[labelled], labels.classes[labels.codes[labelled]], weights)

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision function; see :meth:`MixtureSVC.decision_function`."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(lambda self: self.estimator is None or getattr(self.estimator, "probability", True))
    def predict_proba(self, X: Any) -> Floats:
        """Compute the probability of each class; see :meth:`MixtureSVC.predict_proba`."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table."""
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> Objects:
        """Names of the columns, where the table has any."""
        return self.best_estimator_.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")


def _scorer_function(scoring: Scoring | NamedScorer) -> Callable[..., Any] | None:
    if isinstance(scoring, NamedScorer):
        return scoring.function
    return get_scorer(scoring.value) if scoring is Scoring.ACCURACY else None


def _estimator_params(estimator: Any, trial: SearchTrial) -> dict[str, Any]:
    """Return the parameters of the estimator for a trial."""
    settings: dict[str, Any] = {"gamma": trial.gamma, "alpha": trial.alpha, "beta": trial.beta}
    if estimator.kernel == KernelName.BLEND and isinstance(estimator.kernel_, BlendKernel):
        # A kernel object is used as it is; for kernel="blend", the evidence would change the share again.
        settings = {"kernel": BlendKernel(**settings), "gamma": "scale", "alpha": 1.0, "beta": 1.0}
    elif not isinstance(estimator.kernel, str):
        settings = {"kernel": _with(estimator.kernel, settings)}
    if isinstance(estimator, LaplacianSVC):
        settings["ratio"] = trial.ratio
    return {"C": trial.C, **settings}


def _with(kernel: Any, settings: dict[str, Any]) -> Any:
    """Give a kernel, or the base of a Laplacian kernel, with other hyperparameters."""
    if isinstance(kernel, LaplacianKernel):
        return replaced(kernel, base=replaced(kernel.base, **settings))
    return replaced(kernel, **settings)


def _compared(labelled: Positions, codes: Ints, limit: int) -> Positions:
    """Return positions of the labelled rows that hyperparameters are compared on; of many, some of all classes."""
    if len(labelled) <= limit:
        return labelled
    some = labelled[class_subsample(codes[labelled], limit, RandomState(0))]
    warn(
        f"There are {len(labelled)} labels, and kernel matrices of that size would be needed: hyperparameters are "
        f"compared on {len(some)} of them, drawn at random. The best ones are then trained on all labels.",
        DrawnRowsWarning,
        hint=hint(python="max_labels= of the estimator sets the limit."),
    )
    return some
