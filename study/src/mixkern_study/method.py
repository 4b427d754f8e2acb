"""Methods of both studies: estimators of mixkern and others, each prepared without labels, then trained on a few.

A method is given the features of all training rows and some labels. Estimators of mixkern use the density of all
training rows that they would learn themselves; those with the same prior share it. scikit-learn's estimators are given
numbers: a density fills the gaps, and categories become columns of zeros and ones. The seconds of that density are not
counted for them.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import process_time
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from mixkern.density import Mixture, one_hot_rows
from mixkern.density.preprocessing import jitter
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import UNLABELLED
from mixkern.estimators import LaplacianSVC, MixtureSVC, QuasiNewtonS3VC, TransductiveSVC
from mixkern.estimators.base import default_density, default_prior
from mixkern.svm.folds import NEVER, fewer_folds, label_folds
from mixkern.typing import Floats, Ints
from mixkern.wording import listing, nearest
from mixkern_study.protocol import StudyError

TRANSDUCTIVE_ROWS = 1_000  # time grows with the cube of the rows, times the classes
MOST_STEPS = 1_000  # of an iteration that may not converge, such as propagation where a cluster has no label
INNER_FOLDS = 4

# Parameters that estimators of mixkern got later, and values that leave their predictions as before: these are not part
# of the settings, so that results that were stored without them stay valid.
LATER_PARAMETERS: dict[str, dict[str, Any]] = {
    "MixtureSVC": {"verbose": 0},
    "LaplacianSVC": {"verbose": 0},
    "TransductiveSVC": {"class_weight": None, "probability": False, "verbose": 0},
    "QuasiNewtonS3VC": {"class_weight": None, "probability": False, "verbose": 0},
}


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The features of all training rows of a fold, without labels.

    Attributes
    ----------
    rows : ndarray of shape (n, d + e)
        Encoded rows, category codes last, NaN where there is a gap.
    n_categorical : int
        Number of columns that hold codes.
    seed : int
        Seed of the densities, and of what methods prepare without labels.
    mixture : Mixture or None
        A density for all methods; by default each prior has its own.
    """

    rows: Floats
    n_categorical: int
    seed: int
    mixture: Mixture | None = None
    _learned: dict[str, tuple[Mixture, float]] = field(default_factory=dict, repr=False)

    def density(self, prior: str) -> Mixture:
        """Return the density of the rows with a precision prior; it is learned once."""
        return self._density(prior)[0] if self.mixture is None else self.mixture

    def density_s(self, prior: str) -> float:
        """Return the seconds of one core that it took; 0 where it was given."""
        return self._density(prior)[1] if self.mixture is None else 0.0

    def _density(self, prior: str) -> tuple[Mixture, float]:
        if prior not in self._learned:
            start = process_time()
            d = self.rows.shape[1] - self.n_categorical
            estimator = default_density(prior, len(self.rows), d, self.seed).set_params(
                n_categorical=self.n_categorical
            )
            estimator.fit(jitter(self.rows, d, np.random.RandomState(self.seed)))
            self._learned[prior] = estimator.mixture_, process_time() - start
        return self._learned[prior]


class Learner(Protocol):
    """A method that has been prepared with the rows."""

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        """Learn from class codes, -1 where there is no label, and return the codes of other encoded rows."""


@dataclass(frozen=True, eq=False)
class Method:
    """One method of a study.

    Attributes
    ----------
    title : str
        Its name in tables.
    prepare : callable
        Learns from :class:`TrainingData` all that needs no label, and returns a :class:`Learner`.
    settings : str
        All settings: entries of the leaderboard with other settings are computed again.
    prior : str
        Precision prior of its density, whose seconds are counted for it; empty for methods without.
    """

    title: str
    prepare: Callable[[TrainingData], Learner]
    settings: str = ""
    prior: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it is an estimator of mixkern."""
        return bool(self.prior)


# ---------------------------------------------------------------- methods from estimators


def own_estimator(estimator: Any, title: str = "") -> Method:
    """Return the method of an estimator of mixkern, with the density that suits its kernel.

    Parameters
    ----------
    estimator : MixtureSVC, LaplacianSVC, TransductiveSVC or QuasiNewtonS3VC
        With its settings. Where it has ``learn_structure`` and ``train``, the first is called once for each fold.
    title : str, default=""
        Its name in tables.

    Examples
    --------
    >>> from mixkern import MixtureSVC
    >>> own_estimator(MixtureSVC("rwm", probability=False), "RWM").is_own
    True
    """
    if estimator.density is not None or estimator.encoder is not None:
        raise StudyError(
            f"{title!r} has a density or an encoder of its own, but rows come encoded, and all methods share the "
            "density of a fold. Leave both at None."
        )
    prior = str(default_prior(estimator.kernel))

    def prepare(data: TrainingData) -> Learner:
        own = seeded(estimator, data.seed).set_params(density=data.density(prior))
        return _InTwoStages(own, data) if hasattr(own, "train") else _InOneStage(own, data)

    return Method(title, prepare, f"{_settings(estimator)}, {prior} prior", prior)


def labels_only(estimator: Any, title: str = "") -> Method:
    """Return the method of a classifier of scikit-learn that is trained on the labelled rows alone.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> labels_only(GaussianNB(), "Naive Bayes").settings
    'GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    return Method(title, partial(_Numeric, estimator, uses_unlabelled=False), _settings(estimator))


def all_rows(estimator: Any, title: str = "") -> Method:
    """Return the method of a classifier that is trained on all rows, -1 as the label of those without.

    >>> from sklearn.semi_supervised import LabelSpreading
    >>> all_rows(LabelSpreading(), "Label spreading").is_own
    False
    """
    return Method(title, partial(_Numeric, estimator, uses_unlabelled=True), _settings(estimator))


def seeded(estimator: Any, seed: int) -> Any:
    """Return a copy of an estimator with one seed for it and for all estimators inside."""
    own = clone(estimator)
    seeds = [name for name in own.get_params() if name == "random_state" or name.endswith("__random_state")]
    return own.set_params(**dict.fromkeys(seeds, seed))


def _settings(estimator: Any) -> str:
    """Return an estimator with all its settings as text, those of estimators inside included."""
    later = LATER_PARAMETERS.get(type(estimator).__name__, {})
    values = ", ".join(
        f"{name}={_settings(value) if hasattr(value, 'get_params') else repr(value)}"
        for name, value in sorted(estimator.get_params(deep=False).items())
        if not (name in later and value == later[name])
    )
    return f"{type(estimator).__name__}({values})"


class _InTwoStages:
    """An estimator whose structure is learned once for all labels: the kernel, its scale, the graph."""

    def __init__(self, estimator: Any, data: TrainingData) -> None:
        self.estimator, self.data = estimator, data
        self.rows = estimator.learn_structure(data.rows)
        estimator.kernel_(self.rows[:1])  # the Laplacian kernel computes its matrices at its first call

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        own = copy.copy(self.estimator)  # training drops the matrices of the graph
        own.random_state = seed
        own_codes, weights = own.read_labels(self.data.rows, codes, None)
        return np.asarray(own.train(self.rows, own_codes, weights).predict(test))


class _InOneStage:
    """An estimator that is fitted to all rows at once, with the density of the fold."""

    def __init__(self, estimator: Any, data: TrainingData) -> None:
        self.estimator, self.data = estimator, data

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        return np.asarray(seeded(self.estimator, seed).fit(self.data.rows, codes).predict(test))


class _Numeric:
    """An estimator for plain numbers, and for classes counted from 0 without a gap."""

    def __init__(self, estimator: Any, data: TrainingData, *, uses_unlabelled: bool) -> None:
        self.estimator, self.uses_unlabelled = estimator, uses_unlabelled
        self.mixture = data.density(PrecisionPrior.TYPICAL)
        self.rows = one_hot_rows(self.mixture, data.rows)

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        has_label = codes != UNLABELLED
        classes, compact = np.unique(codes[has_label], return_inverse=True)
        own_codes = np.full(len(codes), UNLABELLED)
        own_codes[has_label] = compact
        kept = slice(None) if self.uses_unlabelled else has_label
        model = seeded(self.estimator, seed).fit(self.rows[kept], own_codes[kept])
        return classes[np.asarray(model.predict(one_hot_rows(self.mixture, test)), dtype=np.intp).ravel()]


# ---------------------------------------------------------------- tuning with few labels


class FewLabelSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose one setting by cross-validation on few labels.

    Folds are such that each class keeps a label for training. Of equally good values the first is chosen, and where no
    label can be left out, the first of all.

    Parameters
    ----------
    estimator : classifier of scikit-learn
        The classifier to tune.
    setting : str
        Name of the setting.
    values : sequence
        Values to try, the usual one first.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    best_estimator_ : classifier
        Fitted to all labels.
    classes_ : ndarray of shape (c,)
        The classes.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> search = FewLabelSearch(SVC(), "C", (1.0, 10.0), random_state=0)
    >>> search.fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).best_estimator_.C
    1.0
    """

    def __init__(self, estimator: Any, setting: str, values: Sequence[Any], random_state: Any = None) -> None:
        self.estimator = estimator
        self.setting = setting
        self.values = values
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the best value, then fit to all labels."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        folds = label_folds(codes, fewer_folds(codes, INNER_FOLDS), self.random_state)
        best = self.values[0]
        if (folds != NEVER).any():
            grid = {self.setting: list(self.values)}
            search = GridSearchCV(self.estimator, grid, cv=PredefinedSplit(folds), refit=False)
            best = search.fit(X, codes).best_params_[self.setting]
        self.best_estimator_ = clone(self.estimator).set_params(**{self.setting: best}).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the best value."""
        return np.asarray(self.best_estimator_.predict(X))


# ---------------------------------------------------------------- gradient boosting, where it is installed

# Title, class and settings, by library.
BOOSTERS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "xgboost": ("XGBoost", "XGBClassifier", {"n_jobs": 1}),
    "catboost": (
        "CatBoost",
        "CatBoostClassifier",
        {"thread_count": 1, "verbose": False, "allow_writing_files": False},
    ),
}


def boosters() -> dict[str, Method]:
    """Return gradient boosting of the libraries that are installed; each is imported when it is trained.

    >>> set(boosters()) <= {"xgboost", "catboost"}
    True
    """
    return {
        library: Method(title, partial(_boosted, library), f"{library} {_version(library)}")
        for library, (title, _, _) in BOOSTERS.items()
        if find_spec(library) is not None
    }


def _version(library: str) -> str:
    """Return the version of a library, empty for a copy that was not installed under that name."""
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _boosted(library: str, data: TrainingData) -> Learner:
    _, name, settings = BOOSTERS[library]
    estimator = getattr(import_module(library), name)(**settings)
    return _Numeric(estimator, data, uses_unlabelled=False)


# ---------------------------------------------------------------- the registry

REFERENCE = "mixture_svc"  # the method that others are compared with
LABELS_ONLY = "svc"  # the labels-only baseline

METHODS: Mapping[str, Method] = {
    REFERENCE: own_estimator(MixtureSVC(probability=False), "MixtureSVC"),
    "rwm": own_estimator(MixtureSVC("rwm", probability=False), "MixtureSVC, RWM"),
    "gmm": own_estimator(MixtureSVC("gmm", probability=False), "MixtureSVC, GMM"),
    "rbf": own_estimator(MixtureSVC("rbf", probability=False), "MixtureSVC, RBF"),
    "lap": own_estimator(MixtureSVC("lap", probability=False), "MixtureSVC, LAP"),
    "laplacian_svc": own_estimator(LaplacianSVC(probability=False), "LaplacianSVC"),
    "transductive_svc": own_estimator(
        TransductiveSVC(max_rows=TRANSDUCTIVE_ROWS, probability=False), "TransductiveSVC"
    ),
    "s3vc": own_estimator(QuasiNewtonS3VC(probability=False), "QuasiNewtonS3VC"),
    # Settings that do better than the defaults with few labels: SVC with C = 1 is four points worse.
    LABELS_ONLY: labels_only(FewLabelSearch(SVC(), "C", (10.0, 1.0, 100.0)), "SVC"),
    "svc_10": labels_only(SVC(C=10.0), "SVC, C = 10"),
    "logistic": labels_only(LogisticRegression(C=10.0, max_iter=MOST_STEPS), "Logistic regression"),
    "forest": labels_only(RandomForestClassifier(), "Random forest"),
    "neighbours": labels_only(KNeighborsClassifier(1), "Nearest neighbour"),
    "bayes": labels_only(GaussianNB(), "Naive Bayes"),
    "spreading": all_rows(LabelSpreading(kernel="knn"), "Label spreading"),
    "propagation": all_rows(LabelPropagation(kernel="knn", max_iter=MOST_STEPS), "Label propagation"),
    "self_training": all_rows(SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=MOST_STEPS)), "Self-training"),
}

# Extra columns of the paper's experiments: others with their default settings.
BASELINES: Mapping[str, Method] = {
    "svc": labels_only(SVC(), "SVC"),
    "forest": METHODS["forest"],
    "spreading": METHODS["spreading"],
    "propagation": all_rows(LabelPropagation(kernel="knn", max_iter=5_000), "Label propagation"),
    "self_training": all_rows(SelfTrainingClassifier(SVC(probability=True)), "Self-training"),
    "laplacian_svm": METHODS["laplacian_svc"],
    "transductive_svm": own_estimator(TransductiveSVC(probability=False), "TransductiveSVC"),
    "s3vm": METHODS["s3vc"],
}


def title_of_method(name: str) -> str:
    """Return the title of a method; other names are their own titles.

    >>> title_of_method("svc"), title_of_method("xgboost"), title_of_method("mine")
    ('SVC', 'XGBoost', 'mine')
    """
    if name in BOOSTERS:
        return BOOSTERS[name][0]
    return METHODS[name].title if name in METHODS else name


def leaderboard_methods() -> dict[str, Method]:
    """Return :data:`METHODS`, and gradient boosting where it is installed."""
    return {**METHODS, **boosters()}


def chosen_methods(
    chosen: Mapping[str, Method] | Iterable[str], known: Mapping[str, Method], kind: str
) -> dict[str, Method]:
    """Return methods by their names: a mapping as it is, names from those that are known."""
    if isinstance(chosen, Mapping):
        return dict(chosen)
    names = list(dict.fromkeys(chosen))
    for name in names:
        if name not in known:
            raise StudyError(
                f"There is no {kind} {name!r}.{nearest(name, known)} There are {listing(known, limit=len(known))}."
            )
    return {name: known[name] for name in names}
