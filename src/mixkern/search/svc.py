"""The search for C, gamma and their kin."""

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Mixture
from mixkern.encoding import UNLABELLED, encode_labels
from mixkern.errors import InterruptedWarning, KernelError, LabelError, OptionError, warn
from mixkern.estimators import LaplacianSVC, MixtureSVC
from mixkern.estimators.kernel_factory import KernelName, replaced
from mixkern.estimators.progress import Progress, Step
from mixkern.imports import optional
from mixkern.kernels import BlendKernel, LaplacianKernel
from mixkern.search.gram_cache import Grams, grams
from mixkern.search.grid import kernel_points, positive
from mixkern.search.scoring import Judge, Rating
from mixkern.search.trials import SearchTrial, Tour, distinct_shapes
from mixkern.svm.folds import Train, fewer_folds, label_folds
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of
from mixkern.wording import listing

DECADES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)  # the paper's grid
GAP = -2  # code of a row without a label where every row should have one
SHARES = (0.03, 0.1, 0.3, 1.0)  # beta against alpha = 1, for tables with categories


class Strategy(StrEnum):
    """Which settings are visited."""

    GRID = "grid"  # all combinations
    LINE = "line"  # Keerthi and Lin: the best C of a linear machine, then the line that it defines


class SVCSearch(Progress, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Find C and gamma, and for tables with categories how much these count, from the few labels that there are.

    The density is fitted and distances are computed once; every trial is an exponential and some trainings on the
    labelled rows. All trials are kept.

    Parameters
    ----------
    estimator : MixtureSVC or LaplacianSVC, default=None
        What to tune; ``None`` is ``MixtureSVC()``.
    strategy : {"grid", "line"}, default="grid"
        All combinations, or Keerthi and Lin's line: the best C of a linear machine, then gamma = C_linear / (2 C), in
        units of the kernel's median squared distance against the Euclidean one. A third of a square grid's trials.
    C, gamma : sequence of float, default=(0.001, 0.01, 0.1, 1, 10, 100)
        Values to try.
    alpha, beta : sequence of float, default=None
        Values to try where the table has categories; ``None`` is 1 for alpha, and 0.03, 0.1, 0.3 and 1 for beta. Of
        settings that make the same kernel, one is tried.
    ratio : sequence of float, default=None
        Values to try of :class:`LaplacianSVC`; ``None`` keeps its own.
    rating : {"validation", "expected_error", "optimistic"}, default="validation"
        What settings are judged by: the error on labelled rows that were left out; the same plus one minus the mean
        confidence on unlabelled rows; or the error on both, with labels that :meth:`fit` is given for this purpose.
        Equal errors are decided by the surprise at the labels that were left out.
    cv : int, default=4
        Folds of the labelled rows; fewer where classes have fewer labels.
    max_unlabelled : int, default=2000
        Unlabelled rows that settings are judged by at most.
    random_state : int, RandomState or None, default=None
        Which folds and which unlabelled rows; also the estimator's, where it has none.

    Attributes
    ----------
    best_estimator_ : MixtureSVC or LaplacianSVC
        Trained with the best settings.
    best_ : SearchTrial
        The best trial.
    best_params_ : dict
        What to set on the estimator.
    trials_ : tuple of SearchTrial
        All of them, in the order of their visits.
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
        """Learn the density of all rows, try all settings on the labelled ones, and train with the best.

        Parameters
        ----------
        X, y, sample_weight, X_unlabelled
            As in :meth:`MixtureSVC.fit`.
        optimistic_labels : array-like of shape (n,), default=None
            True labels of all rows of ``X``, for ``rating="optimistic"`` and nothing else.

        Returns
        -------
        self
        """
        machine = self._machine()
        rating, values = one_of(Rating, self.rating, "rating"), self._values(machine)
        codes, weights = machine.read_labels(X, y, sample_weight)
        rows = machine.learn_structure(X, X_unlabelled, codes)
        labelled, random = np.flatnonzero(codes >= 0), check_random_state(self.random_state)
        others, other_codes = self._others(rating, machine, codes, len(rows), optimistic_labels, random)
        matrices = grams(machine.kernel_, rows[labelled], None if others is None else rows[others])
        counts = None if weights is None else weights[labelled]

        def trainer(C: float) -> Train:
            machine.C = C
            return lambda K, codes, kept: machine.solve(K, codes, None if counts is None else counts[kept])

        folds = label_folds(codes[labelled], fewer_folds(codes[labelled], self.cv), random)
        if folds.max() < 0:
            raise LabelError(
                "Every class has one label only, so none can be left out to judge settings by. Label more."
            )
        counted = np.ones(len(labelled)) if counts is None else counts
        judge = Judge(codes[labelled], counted, folds, trainer, other_codes)
        self.trials_ = self._visit(Tour(matrices, judge, rating), machine.mixture_, values, X, y)
        self._finish(machine, matrices, rows, codes, weights)
        return self

    def _machine(self) -> MixtureSVC:
        machine = MixtureSVC() if self.estimator is None else clone(self.estimator)
        if not isinstance(machine, MixtureSVC):
            raise OptionError(
                f"estimator must be a MixtureSVC or a LaplacianSVC, but it is a {type(machine).__name__}. For others, "
                "use scikit-learn's GridSearchCV with cv=SemiSupervisedSplit()."
            )
        if getattr(machine.density, "use_labels", False):
            raise LabelError(
                "A density that uses labels has seen those that are left out to judge settings by. Search with a "
                "density that does not, or use scikit-learn's GridSearchCV with cv=SemiSupervisedSplit()."
            )
        return machine.set_params(random_state=self.random_state) if machine.random_state is None else machine

    def _values(self, machine: MixtureSVC) -> dict[str, list[Any]]:
        """Read the values to try, and refuse what cannot be before any work is done."""
        for name, least in (("cv", 2), ("max_unlabelled", 1)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, numbers.Integral) or given < least:
                raise OptionError(f"{name} must be a whole number, {least} or more, but it is {given!r}.")
        is_bent = isinstance(machine, LaplacianSVC)
        if self.ratio is not None and not is_bent:
            raise OptionError(
                "ratio is a setting of LaplacianSVC. Search it so: SVCSearch(LaplacianSVC(), ratio=[...])."
            )
        is_bent = is_bent or machine.kernel == "lap" or isinstance(machine.kernel, LaplacianKernel)
        if one_of(Strategy, self.strategy, "strategy") is Strategy.LINE and is_bent:
            raise KernelError("A bent kernel has no line of Keerthi and Lin. Use strategy='grid'.")
        own = [machine.ratio if isinstance(machine, LaplacianSVC) else None]
        return {
            "C": positive(self.C, "C"),
            "gamma": positive(self.gamma, "gamma"),
            "alpha": positive(1.0 if self.alpha is None else self.alpha, "alpha", zero=True),
            "beta": positive(SHARES if self.beta is None else self.beta, "beta", zero=True),
            "ratio": own if self.ratio is None else positive(self.ratio, "ratio", zero=True),
        }

    def _others(
        self, rating: Rating, machine: Any, codes: Ints, n_rows: int, labels: Any, random: np.random.RandomState
    ) -> tuple[Ints | None, Ints | None]:
        """Choose the unlabelled rows that settings are judged by, with their labels where the rating reads them."""
        if (labels is not None) != (rating is Rating.OPTIMISTIC):
            raise LabelError("optimistic_labels and rating='optimistic' go together: give both, or neither.")
        unlabelled = np.flatnonzero(np.append(codes, np.full(n_rows - len(codes), UNLABELLED)) == UNLABELLED)
        true = None if labels is None else self._true_codes(machine, labels, len(codes))
        if rating is Rating.OPTIMISTIC:
            unlabelled = unlabelled[unlabelled < len(codes)]
        if rating is Rating.VALIDATION or not len(unlabelled):
            return None, None
        if len(unlabelled) > self.max_unlabelled:
            unlabelled = np.sort(random.choice(unlabelled, self.max_unlabelled, replace=False))
        if true is None:
            return unlabelled, None
        if (true[unlabelled] == GAP).any():
            raise LabelError("optimistic_labels must have a label for every row of X.")
        return unlabelled, true[unlabelled]

    def _true_codes(self, machine: MixtureSVC, labels: Any, n: int) -> Ints:
        """Give the labels that only an optimist has as class codes; -1 for a class that y does not know."""
        true = encode_labels(labels, min_classes=1)
        if len(true.codes) != n:
            raise LabelError(f"optimistic_labels has {len(true.codes)} labels, but X has {n} rows.")
        position = {label: i for i, label in enumerate(machine.classes_.tolist())}
        of_class = np.array([*(position.get(label, UNLABELLED) for label in true.classes.tolist()), GAP])
        if (of_class[:-1] == UNLABELLED).all():
            raise LabelError(
                f"None of optimistic_labels, {listing(true.classes.tolist())}, is a label of y, "
                f"{listing(machine.classes_.tolist())}. Give them in the same type."
            )
        return of_class[true.codes]

    def _visit(
        self, tour: Tour, mixture: Mixture, values: dict[str, list[Any]], X: Any, y: Any
    ) -> tuple[SearchTrial, ...]:
        C, gamma, alpha, beta, ratio = values.values()
        if not mixture.categories:
            alpha, beta = [1.0], [1.0]
        elif not mixture.n_continuous:
            alpha = [0.0]  # nothing to weigh: settings that differ in it alone are the same
        if self.strategy == Strategy.GRID:
            points = kernel_points(gamma, alpha, beta, ratio)
            visits, n = tour.grid(points, C), len(points) * len(C)
        else:
            shapes = distinct_shapes(alpha, beta)
            visits, n = tour.lines(shapes, C, gamma), 2 * len(shapes) * len(C)
        with self._progress("trial", n, X, y) as step:
            return _collected(visits, step, n)

    def _finish(self, machine: Any, matrices: Grams, rows: Floats, codes: Ints, weights: Floats | None) -> None:
        """Train with the best settings, on the density that is there."""
        self.best_ = min((trial for trial in self.trials_ if not trial.is_linear), key=lambda t: t.order)
        best = self.best_
        settings: dict[str, Any] = {"gamma": best.gamma, "alpha": best.alpha, "beta": best.beta}
        if machine.kernel == KernelName.BLEND and isinstance(machine.kernel_, BlendKernel):
            # As an object it is taken as it was judged; as a word, labels would have their say once more.
            settings = {"kernel": BlendKernel(**settings), "gamma": "scale", "alpha": 1.0, "beta": 1.0}
        elif not isinstance(machine.kernel, str):
            settings = {"kernel": _with(machine.kernel, settings)}
        if isinstance(machine, LaplacianSVC):
            settings["ratio"] = best.ratio
        self.best_params_ = {"C": best.C, **settings}
        machine.set_params(**self.best_params_)
        machine.kernel_ = matrices.kernel(best.point)
        self.best_estimator_ = machine.train(rows, codes, weights)
        self.classes_ = machine.classes_

    # ---------------------------------------------------------------- using what was found

    def to_frame(self) -> Any:
        """Give all trials as a pandas frame, with the error by every rating that could be given."""
        check_is_fitted(self)
        pandas = optional("pandas", purpose="SVCSearch.to_frame")
        frame = pandas.DataFrame([asdict(trial) for trial in self.trials_]).drop(columns="rating")
        unknown = [name for name in ("expected_error", "optimistic_error") if frame[name].isna().all()]
        return frame.drop(columns=unknown)

    def predict(self, X: Any) -> Any:
        """Give the most plausible label of each row."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give the share of right labels; see :meth:`MixtureSVC.score`."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight)

    def decision_function(self, X: Any) -> Floats:
        """Score the classes; see :meth:`MixtureSVC.decision_function`."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(lambda self: self.estimator is None or getattr(self.estimator, "probability", True))
    def predict_proba(self, X: Any) -> Floats:
        """Say how probable each class is; see :meth:`MixtureSVC.predict_proba`."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the table."""
        return self.best_estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Their names, where the table had any."""
        return self.best_estimator_.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _collected(visits: Iterator[SearchTrial], step: Step, n: int) -> tuple[SearchTrial, ...]:
    """Gather trials until there are no more, a callback wants to stop, or the user does."""
    trials: list[SearchTrial] = []
    try:
        for trial in visits:
            trials.append(trial)
            if step() and not trial.is_linear:
                break
    except KeyboardInterrupt:
        if all(trial.is_linear for trial in trials):
            raise
        warn(f"Stopped after {len(trials)} of {n} trials; the best of them is used.", InterruptedWarning)
    return tuple(trials)


def _with(kernel: Any, settings: dict[str, Any]) -> Any:
    """Give a kernel, or the one that it is bent from, with other settings."""
    if isinstance(kernel, LaplacianKernel):
        return replaced(kernel, base=replaced(kernel.base, **settings))
    return replaced(kernel, **settings)
