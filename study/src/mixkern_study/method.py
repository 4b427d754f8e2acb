"""Methods of both studies: estimators of mixkern and others, each prepared without labels, then trained on a few.

A method is given the features of all training rows and some labels. Estimators of mixkern use the density of all
training rows that they would learn themselves; those with the same prior share it, but for those that continue it with
another prior. scikit-learn's estimators are given
numbers: a density fills the gaps, and categories become columns of zeros and ones. The seconds of that density are not
counted for them.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import process_time
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from mixkern.density import Mixture, VBMixture, one_hot_rows
from mixkern.density.preprocessing import jitter
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import UNLABELLED
from mixkern.estimators.base import default_density, default_prior
from mixkern.typing import Floats, Ints
from mixkern.wording import listing, nearest
from mixkern_study.protocol import StudyError

# Parameters that estimators of mixkern got later, and values that leave their predictions as before: these are not part
# of the settings, so that results that were stored without them stay valid.
LATER_PARAMETERS: dict[str, dict[str, Any]] = {
    "MixtureSVC": {"unlabelled": "ignore", "verbose": 0},
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
            estimator = self.unfitted_density(prior)
            estimator.fit(jitter(self.rows, d, np.random.RandomState(self.seed)))
            self._learned[prior] = estimator.mixture_, process_time() - start
        return self._learned[prior]

    def unfitted_density(self, prior: str) -> VBMixture:
        """Return the estimator of the density with a precision prior, for methods that fit it themselves."""
        d = self.rows.shape[1] - self.n_categorical
        return default_density(prior, len(self.rows), d, self.seed).set_params(n_categorical=self.n_categorical)


@dataclass(frozen=True, eq=False)
class Trained:
    """A method that was trained with some labels.

    Attributes
    ----------
    predict : callable
        Takes encoded rows and returns the codes of their classes.
    probabilities : callable or None
        Takes encoded rows; returns the codes of all classes that have a label, ascending, and their probabilities, of
        shape (n, c). ``None`` for methods without probabilities. It may train again: the seconds of predictions do not
        include it.
    """

    predict: Callable[[Floats], Ints]
    probabilities: Callable[[Floats], tuple[Ints, Floats]] | None = None


class Learner(Protocol):
    """A method that has been prepared with the rows."""

    def train(self, codes: Ints, seed: int) -> Trained:
        """Learn from class codes, -1 where there is no label."""


@dataclass(frozen=True, eq=False)
class Method:
    """One method of a study.

    Attributes
    ----------
    title : str
        Its name in tables.
    prepare : callable
        Learns from :class:`TrainingData` all that needs no label, and returns a ``Learner``.
    settings : str
        All settings: entries of the leaderboard with other settings are computed again.
    prior : str
        Precision prior of the fold's density that it uses, whose seconds are counted for it; empty for methods without.
    is_own : bool
        Whether it is an estimator of mixkern.
    """

    title: str
    prepare: Callable[[TrainingData], Learner]
    settings: str = ""
    prior: str = ""
    is_own: bool = False


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
    learns_density = getattr(estimator, "avoids_unlabelled", False)  # and continues it

    def prepare(data: TrainingData) -> Learner:
        own = seeded(estimator, data.seed)
        if learns_density and data.mixture is None:
            own.set_params(density=data.unfitted_density(prior), encoder="passthrough")
        else:
            own.set_params(density=data.density(prior))
        return _InTwoStages(own, data) if hasattr(own, "train") else _InOneStage(own, data)

    settings = f"{settings_text(estimator)}, {prior} prior"
    return Method(title, prepare, settings, "" if learns_density else prior, is_own=True)


def labels_only(estimator: Any, title: str = "") -> Method:
    """Return the method of a classifier of scikit-learn that is trained on the labelled rows alone.

    >>> from sklearn.naive_bayes import GaussianNB
    >>> labels_only(GaussianNB(), "Naive Bayes").settings
    'GaussianNB(priors=None, var_smoothing=1e-09)'
    """
    return Method(title, partial(Numeric, estimator, uses_unlabelled=False), settings_text(estimator))


def all_rows(estimator: Any, title: str = "") -> Method:
    """Return the method of a classifier that is trained on all rows, -1 as the label of those without.

    >>> from sklearn.semi_supervised import LabelSpreading
    >>> all_rows(LabelSpreading(), "Label spreading").is_own
    False
    """
    return Method(title, partial(Numeric, estimator, uses_unlabelled=True), settings_text(estimator))


def seeded(estimator: Any, seed: int) -> Any:
    """Return a copy of an estimator with one seed for it and for all estimators inside."""
    own = clone(estimator)
    seeds = [name for name in own.get_params() if name == "random_state" or name.endswith("__random_state")]
    return own.set_params(**dict.fromkeys(seeds, seed))


def settings_text(estimator: Any) -> str:
    """Return an estimator with all its settings as text, those of estimators inside included."""
    later = LATER_PARAMETERS.get(type(estimator).__name__, {})
    values = ", ".join(
        f"{name}={settings_text(value) if hasattr(value, 'get_params') else repr(value)}"
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

    def train(self, codes: Ints, seed: int) -> Trained:
        return _own_predictions(partial(self._fitted, codes, seed))

    def _fitted(self, codes: Ints, seed: int, **changes: Any) -> Any:
        own = copy.copy(self.estimator)  # training drops the matrices of the graph
        for name, value in {"random_state": seed, **changes}.items():
            setattr(own, name, value)
        own_codes, weights = own.read_labels(self.data.rows, codes, None)
        return own.train(self.rows, own_codes, weights)


class _InOneStage:
    """An estimator that is fitted to all rows at once, with the density of the fold."""

    def __init__(self, estimator: Any, data: TrainingData) -> None:
        self.estimator, self.data = estimator, data

    def train(self, codes: Ints, seed: int) -> Trained:
        return _own_predictions(partial(self._fitted, codes, seed))

    def _fitted(self, codes: Ints, seed: int, **changes: Any) -> Any:
        return seeded(self.estimator, seed).set_params(**changes).fit(self.data.rows, codes)


def _own_predictions(fitted: Callable[..., Any]) -> Trained:
    """Return predictions of an estimator of mixkern; probabilities need another training, which takes longer."""
    model = fitted()

    def probabilities(test: Floats) -> tuple[Ints, Floats]:
        calibrated = model if model.probability else fitted(probability=True)
        return np.asarray(calibrated.classes_), np.asarray(calibrated.predict_proba(test))

    return Trained(lambda test: np.asarray(model.predict(test)), probabilities)


class Numeric:
    """The learner of an estimator for plain numbers, and for classes counted from 0 without a gap."""

    def __init__(self, estimator: Any, data: TrainingData, *, uses_unlabelled: bool) -> None:
        self.estimator, self.uses_unlabelled = estimator, uses_unlabelled
        self.mixture = data.density(PrecisionPrior.TYPICAL)
        self.rows = one_hot_rows(self.mixture, data.rows)

    def train(self, codes: Ints, seed: int) -> Trained:
        """Fit the estimator to the labelled rows, or to all."""
        has_label = codes != UNLABELLED
        classes, compact = np.unique(codes[has_label], return_inverse=True)
        own_codes = np.full(len(codes), UNLABELLED)
        own_codes[has_label] = compact
        kept = slice(None) if self.uses_unlabelled else has_label
        model = seeded(self.estimator, seed).fit(self.rows[kept], own_codes[kept])

        def predict(test: Floats) -> Ints:
            return classes[np.asarray(model.predict(one_hot_rows(self.mixture, test)), dtype=np.intp).ravel()]

        def probabilities(test: Floats) -> tuple[Ints, Floats]:
            return classes, np.asarray(model.predict_proba(one_hot_rows(self.mixture, test)))

        return Trained(predict, probabilities if hasattr(model, "predict_proba") else None)


# ---------------------------------------------------------------- methods by name


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
