"""Grid search for the priors of a density, without labels, as in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mixkern.density.mixture import Mixture
from mixkern.density.parzen import ParzenWindow
from mixkern.density.vb import VBMixture, check_magnitude
from mixkern.encoding.numeric import numeric_rows
from mixkern.errors import MixtureError, hint
from mixkern.fitting import all_or_nothing
from mixkern.imports import optional
from mixkern.typing import Floats
from mixkern.validation import at_least, one_of

MOST_ROWS = 2_000  # that a Parzen window is built from, and samples that are compared
LOWEST, LOWEST_PER_COLUMN = 200.0, 20.0  # nats below zero: limits the influence of a single outlier


class Criterion(StrEnum):
    """Scores of a density; none of them uses labels."""

    REPRESENTATIVITY = (
        "representativity"  # symmetric divergence from a Parzen window, on rows that neither was fitted on
    )
    HELD_OUT = "held_out"  # cross-validated log-likelihood
    BOUND = "bound"  # the evidence bound


@dataclass(frozen=True)
class Trial:
    """One setting of the priors and the score of its density. Higher scores are better."""

    weight_concentration_prior: float | None
    mean_precision_prior: float
    precision_prior: float | str
    score: float
    n_components: int


class DensitySearch(BaseEstimator):
    """Fit every combination of priors, and keep the density with the best score.

    Parameters
    ----------
    density : VBMixture, default=None
        The estimator to fit; its priors are replaced, all other parameters are kept. ``None`` is ``VBMixture()``.
    weight_concentration_prior, mean_precision_prior, precision_prior : sequence
        The values to try, in all combinations.
    criterion : {"representativity", "held_out", "bound"}, default="representativity"
        How a density is scored. ``"representativity"`` is the paper's criterion: the symmetric Kullback-Leibler
        divergence between mixture and Parzen window, on rows that neither was fitted on. ``"held_out"`` is the
        cross-validated log-likelihood, ``"bound"`` the evidence bound on all rows.
    cv : int, default=3
        Number of folds of the first two criteria.
    n_jobs : int, default=None
        Number of trials that run in parallel, with joblib and any of its backends.
    random_state : int, RandomState or None, default=None
        Determines folds and starts.

    Attributes
    ----------
    density_ : VBMixture
        The best setting, fitted on all rows.
    mixture_ : Mixture
        Its mixture.
    trials_ : list of Trial
        All settings, in the order in which they were tried.
    best_ : Trial
        The trial with the highest score.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.density import DensitySearch
    >>> X, _ = datasets.make_two_rings(n=200, random_state=0)
    >>> search = DensitySearch(precision_prior=[0.1, 1.0], criterion="held_out", random_state=0).fit(X)
    >>> len(search.trials_), search.mixture_.n_continuous
    (2, 2)
    """

    def __init__(
        self,
        density: VBMixture | None = None,
        *,
        weight_concentration_prior: Sequence[float | None] = (None,),
        mean_precision_prior: Sequence[float] = (1.0,),
        precision_prior: Sequence[float | str] = (0.01, 0.1, 1.0, 10.0, 100.0),
        criterion: str = "representativity",
        cv: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.density = density
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.precision_prior = precision_prior
        self.criterion = criterion
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Score all settings without labels, and fit the best one on all rows (and labels, with ``use_labels``)."""
        rows = numeric_rows(self, X, reset=True)
        check_magnitude(rows)
        criterion = one_of(Criterion, self.criterion, "criterion")
        at_least(2).check(self.cv, "cv", MixtureError)
        if criterion is not Criterion.BOUND and len(rows) < 2 * self.cv:
            raise MixtureError(
                f"{len(rows)} rows are too few for {self.cv} folds.",
                hint=hint(python="Use criterion='bound', or a smaller cv."),
            )
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        n_categorical = 0 if self.density is None else self.density.n_categorical
        if criterion is Criterion.REPRESENTATIVITY and rows.shape[1] == n_categorical:
            raise MixtureError(
                "Representativity compares continuous columns, and there are none.",
                hint=hint(python="Use criterion='held_out'."),
            )
        folds = _folds(rows, rows.shape[1] - n_categorical, criterion, self.cv, seed)
        settings = list(product(self.weight_concentration_prior, self.mean_precision_prior, self.precision_prior))
        if not settings:
            raise MixtureError("There is nothing to try. Give at least one value for every prior.")
        densities = [self._density(setting, seed).set_params(use_labels=False) for setting in settings]
        self.trials_ = list(
            Parallel(n_jobs=self.n_jobs)(
                delayed(_trial)(density, setting, rows, folds, seed)
                for density, setting in zip(densities, settings, strict=True)
            )
        )
        best = int(np.argmax([trial.score for trial in self.trials_]))
        self.best_ = self.trials_[best]
        self.density_ = self._density(settings[best], seed).fit(X, y)
        self.mixture_ = self.density_.mixture_
        return self

    def to_frame(self) -> Any:
        """Give all trials as a pandas frame, the best first."""
        check_is_fitted(self)
        pandas = optional("pandas", purpose="DensitySearch.to_frame")
        frame = pandas.DataFrame([vars(trial) for trial in self.trials_])
        return frame.sort_values("score", ascending=False, ignore_index=True)

    def _density(self, setting: tuple[Any, Any, Any], seed: int) -> VBMixture:
        density = VBMixture() if self.density is None else clone(self.density)
        alpha, beta, w = setting
        return density.set_params(
            weight_concentration_prior=alpha, mean_precision_prior=beta, precision_prior=w, random_state=seed
        )

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


def _folds(rows: Floats, n_continuous: int, criterion: Criterion, cv: int, seed: int) -> list[Fold]:
    from sklearn.model_selection import KFold  # slow to import, and needed only here

    if criterion is Criterion.BOUND:
        return []
    random = np.random.RandomState(seed)
    folds = []
    for train, test in KFold(cv, shuffle=True, random_state=seed).split(rows):
        window = None
        if criterion is Criterion.REPRESENTATIVITY:
            some = random.permutation(train)[:MOST_ROWS]
            window = ParzenWindow(_filled(rows[some, :n_continuous]))
        folds.append(Fold(rows[train], rows[test], window))
    return folds


def _trial(density: VBMixture, setting: tuple[Any, Any, Any], rows: Floats, folds: list[Fold], seed: int) -> Trial:
    """Fit and score one setting: by the bound on all rows, or by cross-validation."""
    if not folds:
        fitted = density.fit(rows)
        return Trial(*setting, fitted.lower_bound_ / len(rows), fitted.n_components_)
    scores, counts = [], []
    for fold in folds:
        mixture = clone(density).fit(fold.train).mixture_
        counts.append(mixture.n_components)
        if fold.window is None:
            scores.append(float(np.maximum(mixture.log_density(fold.test), _floor(mixture)).mean()))
        else:
            scores.append(-representativity(mixture, fold.window, fold.test, random_state=seed))
    return Trial(*setting, float(np.mean(scores)), int(np.median(counts)))


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
    points = _filled(np.asarray(fresh, dtype=float)[:, : mixture.n_continuous])
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
