"""Hyperparameter search for kernel SVMs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Mixture, Rows
from mixkern.encoding import UNLABELLED, encode_labels
from mixkern.encoding.encoder import TableInput
from mixkern.errors import InterruptedWarning, KernelError, LabelError, OptionError, hint, warn
from mixkern.estimators import LaplacianSVC, MixtureSVC
from mixkern.estimators.kernel_factory import KernelName, replaced
from mixkern.fitting import ProgressMixin, Step, all_or_nothing
from mixkern.imports import optional
from mixkern.kernels import BlendKernel, LaplacianKernel
from mixkern.sampling import subsample
from mixkern.search.gram_cache import GramCache, gram_cache
from mixkern.search.grid import kernel_points
from mixkern.search.scoring import Rating, Scorer, SearchTrial, Trials, distinct_shapes
from mixkern.search.split import check_density, check_labels
from mixkern.svm.folds import Train, fewer_folds, label_folds
from mixkern.typing import Floats, Ints, Objects, Positions, RandomState
from mixkern.validation import at_least, numbers_to_try, one_of
from mixkern.wording import listing

DECADES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # the paper's grid
GAP = -2  # code of a row without a label in optimistic_labels
BETAS = (0.03, 0.1, 0.3, 1.0)  # beside alpha = 1, for tables with categories


class Strategy(StrEnum):
    """Which hyperparameters are tried."""

    GRID = "grid"  # all combinations
    LINE = "line"  # Keerthi and Lin: the best C of a linear SVM, then the line that it defines


class SVCSearch(TableInput, ProgressMixin, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
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
        Values to try where the table has categories; ``None`` is 1 for alpha, and 0.03, 0.1, 0.3 and 1 for beta. Of
        values that make the same kernel, one combination is tried.
    ratio : sequence of float, default=None
        Values to try of :class:`LaplacianSVC`; ``None`` keeps its own.
    rating : {"validation", "expected_error", "optimistic"}, default="validation"
        Error that trials are compared by: on labelled rows that were left out; the same plus one minus the mean
        confidence on unlabelled rows; or on both, with labels that are passed to :meth:`fit` for this purpose. The log
        loss of the labels left out decides between equal errors.
    cv : int, default=4
        Number of folds of the labelled rows; fewer where classes have fewer labels.
    max_unlabelled : int, default=2000
        Number of unlabelled rows that the error is computed on at most.
    random_state : int, RandomState or None, default=None
        Controls the folds and the draw of unlabelled rows; also that of the estimator, where it has none.

    Attributes
    ----------
    best_estimator_ : MixtureSVC or LaplacianSVC
        The estimator, trained with the best hyperparameters.
    best_ : SearchTrial
        The best trial.
    best_params_ : dict
        Parameters of the estimator for the best trial.
    trials_ : tuple of SearchTrial
        All trials, in their order.
    classes_ : ndarray of shape (c,)
        The labels.

    Warns
    -----
    InterruptedWarning
        Where Ctrl-C ended the search: the best trial so far is used.

    See Also
    --------
    mixkern.plot.search_map : the error over gamma and C.

    Examples
    --------
    >>> from mixkern import SVCSearch, datasets
    >>> wine = datasets.load("wine")
    >>> search = SVCSearch(strategy="line", random_state=0).fit(wine.X, wine.few_labels(per_class=6, random_state=0))
    >>> len(search.trials_) <= 12, bool(search.score(wine.X, wine.y) > 0.9)
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
        rating: str = "validation",
        cv: int = 4,
        max_unlabelled: int = 2_000,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.C = C
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.ratio = ratio
        self.rating = rating
        self.cv = cv
        self.max_unlabelled = max_unlabelled
        self.random_state = random_state

    # ---------------------------------------------------------------- searching

    @all_or_nothing
    @with_callbacks
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
            True labels of all rows of ``X``, for ``rating="optimistic"`` alone.

        Returns
        -------
        self
        """
        estimator = self._estimator()
        rating, values = one_of(Rating, self.rating, "rating"), self._values(estimator)
        codes, weights = estimator.read_labels(X, y, sample_weight)
        rows = estimator.learn_structure(X, X_unlabelled, codes)
        labelled, random = np.flatnonzero(codes >= 0), check_random_state(self.random_state)
        others, other_codes = self._others(rating, estimator, codes, len(rows), optimistic_labels, random)
        cache = gram_cache(estimator.kernel_, rows[labelled], None if others is None else rows[others])
        counts = None if weights is None else weights[labelled]

        def trainer(C: float) -> Train:
            estimator.C = C
            return lambda K, codes, kept: estimator.solve(K, codes, None if counts is None else counts[kept])

        check_labels(codes[labelled])
        folds = label_folds(codes[labelled], fewer_folds(codes[labelled], self.cv), random)
        ones = np.ones(len(labelled))
        scorer = Scorer(codes[labelled], ones if counts is None else counts, folds, trainer, other_codes, rating)
        self.trials_ = self._tried(Trials(cache, scorer), estimator.mixture_, values, X, y)
        self._train_best(estimator, cache, rows, codes, weights)
        return self

    def _estimator(self) -> MixtureSVC:
        """Give a copy of the estimator to tune."""
        estimator = MixtureSVC() if self.estimator is None else clone(self.estimator)
        if not isinstance(estimator, MixtureSVC):
            raise OptionError(
                f"estimator must be a MixtureSVC or a LaplacianSVC, but it is a {type(estimator).__name__}.",
                hint=hint(python="For others, use scikit-learn's GridSearchCV with cv=SemiSupervisedSplit()."),
            )
        check_density(estimator.density)
        return estimator.set_params(random_state=self.random_state) if estimator.random_state is None else estimator

    def _values(self, estimator: MixtureSVC) -> dict[str, list[Any]]:
        """Check the parameters, and give the values to try."""
        at_least(2).check(self.cv, "cv")
        at_least(1).check(self.max_unlabelled, "max_unlabelled")
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

    def _others(
        self, rating: Rating, estimator: Any, codes: Ints, n_rows: int, labels: Any, random: RandomState
    ) -> tuple[Positions | None, Ints | None]:
        """Draw the unlabelled rows that errors are computed on, with their labels where the rating uses them."""
        if (labels is not None) != (rating is Rating.OPTIMISTIC):
            raise LabelError("optimistic_labels and rating='optimistic' go together: give both, or neither.")
        unlabelled = np.flatnonzero(np.append(codes, np.full(n_rows - len(codes), UNLABELLED)) == UNLABELLED)
        true = None if labels is None else self._true_codes(estimator, labels, len(codes))
        if rating is Rating.OPTIMISTIC:
            unlabelled = unlabelled[unlabelled < len(codes)]
        if rating is Rating.VALIDATION or not len(unlabelled):
            return None, None
        unlabelled = np.sort(subsample(unlabelled, self.max_unlabelled, random))
        if true is None:
            return unlabelled, None
        if (true[unlabelled] == GAP).any():
            raise LabelError("optimistic_labels must have a label for every row of X.")
        return unlabelled, true[unlabelled]

    def _true_codes(self, estimator: MixtureSVC, labels: Any, n: int) -> Ints:
        """Encode optimistic_labels by the classes of y; -1 for a class that y does not have."""
        true = encode_labels(labels, min_classes=1)
        if len(true.codes) != n:
            raise LabelError(f"optimistic_labels has {len(true.codes)} labels, but X has {n} rows.")
        position = {label: i for i, label in enumerate(estimator.classes_.tolist())}
        of_class = np.array([*(position.get(label, UNLABELLED) for label in true.classes.tolist()), GAP])
        if (of_class[:-1] == UNLABELLED).all():
            raise LabelError(
                f"None of optimistic_labels, {listing(true.classes.tolist())}, is a label of y, "
                f"{listing(estimator.classes_.tolist())}. Give them in the same type."
            )
        return of_class[true.codes]

    def _tried(
        self, trials: Trials, mixture: Mixture, values: dict[str, list[Any]], X: Any, y: Any
    ) -> tuple[SearchTrial, ...]:
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
        with self._progress("trial", n, X, y) as step:
            return _collected(found, step, n)

    def _train_best(self, estimator: Any, cache: GramCache, rows: Rows, codes: Ints, weights: Floats | None) -> None:
        """Train with the best hyperparameters and the density that is already fitted."""
        self.best_ = min((trial for trial in self.trials_ if not trial.is_linear), key=lambda t: t.order)
        best = self.best_
        settings: dict[str, Any] = {"gamma": best.gamma, "alpha": best.alpha, "beta": best.beta}
        if estimator.kernel == KernelName.BLEND and isinstance(estimator.kernel_, BlendKernel):
            # A kernel object is used as it is; for kernel="blend", the evidence would change the share again.
            settings = {"kernel": BlendKernel(**settings), "gamma": "scale", "alpha": 1.0, "beta": 1.0}
        elif not isinstance(estimator.kernel, str):
            settings = {"kernel": _with(estimator.kernel, settings)}
        if isinstance(estimator, LaplacianSVC):
            settings["ratio"] = best.ratio
        self.best_params_ = {"C": best.C, **settings}
        estimator.set_params(**self.best_params_)
        estimator.kernel_ = cache.kernel(best.point)
        self.best_estimator_ = estimator.train(rows, codes, weights)
        self.classes_ = estimator.classes_

    # ---------------------------------------------------------------- using the best estimator

    def to_frame(self) -> Any:
        """Give all trials as a pandas frame, with all errors that were computed."""
        check_is_fitted(self)
        pandas = optional("pandas", purpose="SVCSearch.to_frame")
        frame = pandas.DataFrame([asdict(trial) for trial in self.trials_]).drop(columns="rating")
        missing = [name for name in ("expected_error", "optimistic_error") if frame[name].isna().all()]
        return frame.drop(columns=missing)

    def predict(self, X: Any) -> Any:
        """Predict the label of each row."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy; see :meth:`MixtureSVC.score`."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight)

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


def _collected(found: Iterator[SearchTrial], step: Step, n: int) -> tuple[SearchTrial, ...]:
    """Collect trials until all are done, a callback stops the search, or Ctrl-C does."""
    trials: list[SearchTrial] = []
    try:
        for trial in found:
            trials.append(trial)
            if step() and not trial.is_linear:
                break
    except KeyboardInterrupt:
        if all(trial.is_linear for trial in trials):
            raise
        warn(f"Stopped after {len(trials)} of {n} trials; the best of them is used.", InterruptedWarning)
    return tuple(trials)


def _with(kernel: Any, settings: dict[str, Any]) -> Any:
    """Give a kernel, or the base of a Laplacian kernel, with other hyperparameters."""
    if isinstance(kernel, LaplacianKernel):
        return replaced(kernel, base=replaced(kernel.base, **settings))
    return replaced(kernel, **settings)
