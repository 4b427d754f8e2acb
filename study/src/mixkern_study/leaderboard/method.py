"""Methods that compete, each in two stages: what needs no label, once per fold; then one handful of labels by another.

A method is given the features of all training rows, some labels, and nothing else. mixkern's machines have the density
of all training rows that they would learn by themselves; those that want the same one share it. scikit-learn's
estimators get numbers, gaps filled by a density and categories as columns of zeros and ones, and are not charged for
the seconds that the density took: both are generous to them.
"""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from time import process_time
from typing import Any, Protocol

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from mixkern.density import Mixture, one_hot_rows
from mixkern.density.preprocessing import jitter
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import UNLABELLED
from mixkern.errors import StudyError
from mixkern.estimators import LaplacianSVC, MixtureSVC, QuasiNewtonS3VC, TransductiveSVC
from mixkern.estimators.base import default_density, default_prior
from mixkern.typing import Floats, Ints
from mixkern_study.baselines import seeded
from mixkern_study.leaderboard.tuning import FewLabelSearch

TRANSDUCTIVE_ROWS = 1_000  # time grows with the cube of the rows, times the classes
MOST_STEPS = 1_000  # of an iteration that may not converge, such as propagation where a cluster has no label


@dataclass(frozen=True, eq=False)
class Ground:
    """What there is before the first label: the features of all training rows of a fold.

    Attributes
    ----------
    rows : ndarray of shape (n, d + e)
        Encoded, category codes last, NaN where there is a gap.
    n_categorical : int
        How many columns hold codes.
    seed : int
        Of the structure.
    """

    rows: Floats
    n_categorical: int
    seed: int
    _learned: dict[str, tuple[Mixture, float]] = field(default_factory=dict, repr=False)

    def density(self, prior: str) -> Mixture:
        """Give the density of the rows with a precision prior; it is learned once."""
        return self._density(prior)[0]

    def density_s(self, prior: str) -> float:
        """Give the seconds of one core that it took."""
        return self._density(prior)[1]

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
    """A method that knows the rows and waits for labels."""

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        """Learn from codes, -1 where there is no label, and give the classes of other encoded rows."""


@dataclass(frozen=True, eq=False)
class Method:
    """One competitor.

    Attributes
    ----------
    title : str
        What readers see.
    prepare : callable
        Learns from a :class:`Ground` all that needs no label, and gives a :class:`Learner`.
    settings : str
        All settings: a result of others is not taken for one of these.
    prior : str
        Precision prior of the density that it uses, and is charged for; none for methods without.
    """

    title: str
    prepare: Callable[[Ground], Learner]
    settings: str
    prior: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it is mixkern's."""
        return bool(self.prior)


def own_machine(estimator: Any, title: str) -> Method:
    """Let a machine of mixkern compete.

    A machine whose fit has two halves, :class:`MixtureSVC` and its kin, learns the structure of a fold once.

    Parameters
    ----------
    estimator : MixtureSVC, LaplacianSVC, TransductiveSVC or QuasiNewtonS3VC
        With its settings; it is given the density that suits its kernel.
    title : str
        What readers see.

    Examples
    --------
    >>> from mixkern import MixtureSVC
    >>> own_machine(MixtureSVC("rwm", probability=False), "RWM").is_own
    True
    """
    if estimator.density is not None or estimator.encoder is not None:
        raise StudyError(
            f"{title!r} brings a density or an encoder of its own, but rows come encoded, and machines share the "
            "density of a fold. Leave both at None."
        )
    prior = str(default_prior(estimator.kernel))

    def prepare(ground: Ground) -> Learner:
        own = seeded(estimator, ground.seed).set_params(density=ground.density(prior))
        return _Halves(own, ground) if hasattr(own, "train") else _Whole(own, ground)

    return Method(title, prepare, f"{_settings(estimator)}, {prior} prior", prior)


def standard(estimator: Any, title: str, *, uses_unlabelled: bool = False) -> Method:
    """Let a classifier of scikit-learn's kind compete.

    Parameters
    ----------
    estimator : estimator
        With its settings.
    title : str
        What readers see.
    uses_unlabelled : bool, default=False
        Whether it is given all rows, -1 as the label of those that have none, or the labelled ones alone.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> standard(GaussianNB(), "Naive Bayes").settings
    'GaussianNB(priors=None, var_smoothing=1e-09)'
    """

    def prepare(ground: Ground) -> Learner:
        return _Standard(estimator, ground, uses_unlabelled=uses_unlabelled)

    return Method(title, prepare, _settings(estimator))


def _settings(estimator: Any) -> str:
    """Write an estimator with all its settings, those of estimators inside included."""
    values = ", ".join(
        f"{name}={_settings(value) if hasattr(value, 'get_params') else repr(value)}"
        for name, value in sorted(estimator.get_params(deep=False).items())
    )
    return f"{type(estimator).__name__}({values})"


class _Halves:
    """A machine whose structure is learned once: the kernel, its scale, the graph."""

    def __init__(self, machine: Any, ground: Ground) -> None:
        self.machine, self.ground = machine, ground
        self.rows = machine.learn_structure(ground.rows)
        machine.kernel_(self.rows[:1])  # a bent kernel computes its matrices when it is first asked

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        own = copy.copy(self.machine)  # a trained machine lets go of the matrices of its graph
        own.random_state = seed
        own_codes, weights = own.read_labels(self.ground.rows, codes, None)
        return np.asarray(own.train(self.rows, own_codes, weights).predict(test))


class _Whole:
    """A machine that learns from all rows at once, with the density of the fold."""

    def __init__(self, machine: Any, ground: Ground) -> None:
        self.machine, self.ground = machine, ground

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        return np.asarray(seeded(self.machine, seed).fit(self.ground.rows, codes).predict(test))


class _Standard:
    """An estimator that reads plain numbers, and classes counted from 0 without a gap."""

    def __init__(self, estimator: Any, ground: Ground, *, uses_unlabelled: bool) -> None:
        self.estimator, self.uses_unlabelled = estimator, uses_unlabelled
        self.mixture = ground.density(PrecisionPrior.TYPICAL)
        self.rows = one_hot_rows(self.mixture, ground.rows)

    def predict(self, codes: Ints, test: Floats, seed: int) -> Ints:
        has_label = codes != UNLABELLED
        classes, compact = np.unique(codes[has_label], return_inverse=True)
        own_codes = np.full(len(codes), UNLABELLED)
        own_codes[has_label] = compact
        kept = slice(None) if self.uses_unlabelled else has_label
        model = seeded(self.estimator, seed).fit(self.rows[kept], own_codes[kept])
        return classes[np.asarray(model.predict(one_hot_rows(self.mixture, test)), dtype=np.intp).ravel()]


# Of libraries that some have: title, class and settings.
BOOSTERS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "xgboost": ("XGBoost", "XGBClassifier", {"n_jobs": 1}),
    "catboost": (
        "CatBoost",
        "CatBoostClassifier",
        {"thread_count": 1, "verbose": False, "allow_writing_files": False},
    ),
}


def boosters() -> dict[str, Method]:
    """Give gradient boosting, as far as it is installed; the libraries are imported by those who use them.

    >>> set(boosters()) <= {"xgboost", "catboost"}
    True
    """
    return {
        library: Method(title, partial(_boosted, library), f"{library} {_version(library)}")
        for library, (title, _, _) in BOOSTERS.items()
        if find_spec(library) is not None
    }


def _version(library: str) -> str:
    """Give the version, empty for a copy that was not installed under that name."""
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def _boosted(library: str, ground: Ground) -> Learner:
    _, name, settings = BOOSTERS[library]
    estimator = getattr(import_module(library), name)(**settings)
    return _Standard(estimator, ground, uses_unlabelled=False)


REFERENCE = "mixture_svc"  # what others are compared with
LABELS_ONLY = "svc"  # what nobody who has seen more should fall behind

METHODS: Mapping[str, Method] = {
    REFERENCE: own_machine(MixtureSVC(probability=False), "MixtureSVC"),
    "rwm": own_machine(MixtureSVC("rwm", probability=False), "MixtureSVC, RWM"),
    "gmm": own_machine(MixtureSVC("gmm", probability=False), "MixtureSVC, GMM"),
    "rbf": own_machine(MixtureSVC("rbf", probability=False), "MixtureSVC, RBF"),
    "lap": own_machine(MixtureSVC("lap", probability=False), "MixtureSVC, LAP"),
    "laplacian_svc": own_machine(LaplacianSVC(probability=False), "LaplacianSVC"),
    "transductive_svc": own_machine(TransductiveSVC(max_rows=TRANSDUCTIVE_ROWS), "TransductiveSVC"),
    "s3vc": own_machine(QuasiNewtonS3VC(), "QuasiNewtonS3VC"),
    # Settings of others are the better ones for few labels, not the defaults: SVC with C = 1 is four points worse.
    LABELS_ONLY: standard(FewLabelSearch(SVC(), "C", (10.0, 1.0, 100.0)), "SVC"),
    "svc_10": standard(SVC(C=10.0), "SVC, C = 10"),
    "logistic": standard(LogisticRegression(C=10.0, max_iter=MOST_STEPS), "Logistic regression"),
    "forest": standard(RandomForestClassifier(), "Random forest"),
    "neighbours": standard(KNeighborsClassifier(1), "Nearest neighbour"),
    "bayes": standard(GaussianNB(), "Naive Bayes"),
    "spreading": standard(LabelSpreading(kernel="knn"), "Label spreading", uses_unlabelled=True),
    "propagation": standard(
        LabelPropagation(kernel="knn", max_iter=MOST_STEPS), "Label propagation", uses_unlabelled=True
    ),
    "self_training": standard(
        SelfTrainingClassifier(LogisticRegression(C=10.0, max_iter=MOST_STEPS)), "Self-training", uses_unlabelled=True
    ),
    **boosters(),
}
