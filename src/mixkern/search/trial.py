"""Trials of hyperparameters: train without each fold, and score the labels left out and the unlabelled rows."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import TypeAlias

import numpy as np

from mixkern.errors import OptionError, ignored_warnings
from mixkern.estimators import MixtureSVC
from mixkern.fitting import NotConvergedWarning
from mixkern.search.gram_cache import DistanceGramCache, GramCache, Matrices
from mixkern.search.grid import KernelPoint, line
from mixkern.search.scoring import LeftOutClassifier, NamedScorer, Scoring
from mixkern.svm import Dual
from mixkern.svm.folds import Train, trained_folds
from mixkern.svm.one_vs_one import chosen
from mixkern.svm.scheme import class_probabilities, class_scores, scheme_of
from mixkern.trials import is_parallel, run_tasks
from mixkern.typing import Bools, Floats, Ints, Objects, Positions

Settings: TypeAlias = tuple[KernelPoint, Sequence[float]]  # a kernel, and every C to try with it

_ERRORS = {
    Scoring.ACCURACY: "validation_error",
    Scoring.NEG_EXPECTED_ERROR: "expected_error",
    Scoring.OPTIMISTIC_ACCURACY: "optimistic_error",
}


@dataclass(frozen=True, kw_only=True)
class SearchTrial:
    """Hyperparameters, their score, and all errors that were computed.

    Attributes
    ----------
    score : float
        The score by ``scoring``, of the labels of all folds together; higher is better.
    split_scores : tuple of float
        The score of the labels of each fold alone; NaN where it is not defined.
    validation_error : float
        Share of wrong predictions among the labels that were left out.
    expected_error : float
        The same, plus one minus ``confidence``; NaN where no unlabelled rows were used.
    optimistic_error : float
        Share of wrong predictions among the labels left out and the unlabelled rows; NaN where their labels were not
        given.
    log_loss : float
        Mean log loss of the labels that were left out; decides between equal scores.
    confidence : float
        Mean probability of the predicted class on unlabelled rows; NaN where none were used.
    n_support : float
        Mean number of support vectors in the folds.
    C, gamma, alpha, beta : float
        The hyperparameters; gamma is NaN for a linear SVM, the first stage of a line search.
    ratio : float
        Ratio of a Laplacian kernel, NaN for others.
    scoring : str
        Name of the score.
    loss : float
        What is minimised: the error that belongs to the score, or minus the score of a scorer of scikit-learn.
    fit_time, score_time : float
        Mean seconds of training and of scoring in a fold.
    """

    score: float
    split_scores: tuple[float, ...]
    validation_error: float
    expected_error: float
    optimistic_error: float
    log_loss: float
    confidence: float
    n_support: float
    C: float
    gamma: float
    alpha: float
    beta: float
    ratio: float
    scoring: str
    loss: float = field(repr=False)
    fit_time: float = field(default=0.0, repr=False, compare=False)
    score_time: float = field(default=0.0, repr=False, compare=False)

    @property
    def order(self) -> tuple[float, float]:
        """Sort key, the best first."""
        return self.loss, self.log_loss

    @property
    def point(self) -> KernelPoint:
        """Hyperparameters of the kernel."""
        gamma, ratio = (None if np.isnan(value) else value for value in (self.gamma, self.ratio))
        return KernelPoint(gamma, self.alpha, self.beta, ratio)

    @property
    def is_linear(self) -> bool:
        """Whether it is a trial of a linear SVM, which determines the line but is no result."""
        return bool(np.isnan(self.gamma))

    @property
    def settings(self) -> dict[str, float]:
        """The hyperparameters; without ``alpha`` and ``beta`` where both are 1, and those that there are not."""
        given = {name: getattr(self, name) for name in ("C", "gamma", "alpha", "beta", "ratio")}
        if self.alpha == self.beta == 1:
            given = {name: value for name, value in given.items() if name not in ("alpha", "beta")}
        return {name: value for name, value in given.items() if not np.isnan(value)}

    @property
    def seconds(self) -> float:
        """Seconds of the trial."""
        return len(self.split_scores) * (self.fit_time + self.score_time)

    def error_by(self, scoring: Scoring) -> float:
        """Give the error that belongs to a score of mixkern; without unlabelled rows, the validation error."""
        error: float = getattr(self, _ERRORS[scoring])
        return self.validation_error if np.isnan(error) else error

    def order_by(self, scoring: Scoring) -> tuple[float, float]:
        """Give the sort key by a score of mixkern, the best first."""
        return self.error_by(scoring), self.log_loss


@dataclass(frozen=True, eq=False)
class Trainer:
    """Training of an estimator on kernel matrices, with any C; the estimator is not changed.

    Attributes
    ----------
    estimator : MixtureSVC
        The estimator, with its labels read.
    weights : ndarray of shape (n,) or None
        Weights of the labelled rows.
    """

    estimator: MixtureSVC
    weights: Floats | None

    def __call__(self, C: float) -> Train:
        """Return the function that trains with this C."""
        return partial(self._train, C)

    def _train(self, C: float, K: Floats, codes: Ints, kept: Ints) -> Dual:
        return self.estimator.solve(K, codes, None if self.weights is None else self.weights[kept], C=C)


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Predictions for the labelled rows that were left out, fold after fold."""

    rows: Positions  # among the labelled ones
    values: Floats  # of pairs of classes or of each class
    n_support: float
    fit_times: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class TrialScorer:
    """Labels and folds that all hyperparameters are scored on.

    Attributes
    ----------
    codes, weights, folds : ndarray of shape (n,)
        Class, weight and fold of each labelled row; rows of the fold -1 are never left out.
    trainer : callable
        From C to a function that trains.
    other_codes : ndarray of int, shape (m,), or None
        Classes of the unlabelled rows, for the optimistic score alone.
    scoring : Scoring or NamedScorer
        The score.
    classes : ndarray of shape (c,) or None
        Labels of the classes, for scorers of scikit-learn.
    positions : ndarray of int, shape (n,), or None
        Positions of the labelled rows in the table, for the same.
    is_weighted : bool
        Whether such scorers get the weights.
    """

    codes: Ints
    weights: Floats
    folds: Ints
    trainer: Callable[[float], Train]
    other_codes: Ints | None = None
    scoring: Scoring | NamedScorer = Scoring.ACCURACY
    classes: Objects | None = None
    positions: Positions | None = None
    is_weighted: bool = False

    def trial(self, matrices: Matrices, C: float) -> SearchTrial:
        """Score C and the hyperparameters of a kernel, given its matrices."""
        start, point, train = perf_counter(), matrices.point, self.trainer(C)
        left_out = self._left_out(train, matrices.among)
        codes, weights = self.codes[left_out.rows], self.weights[left_out.rows]
        steepness = scheme_of(left_out.values.shape[1], self._n_classes).learned_slope(left_out.values, codes, weights)
        probabilities = class_probabilities(left_out.values, steepness, self._n_classes)
        probable = probabilities[np.arange(len(codes)), codes]
        is_wrong = chosen(class_scores(left_out.values, self._n_classes)) != codes
        confidence, is_other_wrong = self._others(train, matrices, steepness)
        errors = _Errors(is_wrong, weights, confidence, is_other_wrong)
        score, splits = self._scores(left_out, steepness, errors)
        seconds, n_folds = perf_counter() - start, len(left_out.fit_times)
        return SearchTrial(
            score=score,
            split_scores=splits,
            loss=errors.by(self.scoring) if isinstance(self.scoring, Scoring) else _loss(score),
            validation_error=errors.validation,
            expected_error=errors.validation + 1 - confidence,
            optimistic_error=np.nan if is_other_wrong is None else errors.optimistic,
            log_loss=float(np.average(-np.log(np.maximum(probable, 1e-300)), weights=weights)),
            confidence=confidence,
            n_support=left_out.n_support,
            C=C,
            gamma=np.nan if point.gamma is None else point.gamma,
            alpha=point.alpha,
            beta=point.beta,
            ratio=np.nan if point.ratio is None else point.ratio,
            scoring=str(self.scoring) if isinstance(self.scoring, Scoring) else self.scoring.name,
            fit_time=sum(left_out.fit_times) / n_folds,
            score_time=max(0.0, seconds - sum(left_out.fit_times)) / n_folds,
        )

    @property
    def _n_classes(self) -> int:
        return int(self.codes.max()) + 1

    def _left_out(self, train: Train, among: Floats) -> _LeftOut:
        """Train without each fold, and evaluate its rows."""
        times: list[float] = []

        def timed(K: Floats, codes: Ints, kept: Ints) -> Dual:
            start = perf_counter()
            dual = train(K, codes, kept)
            times.append(perf_counter() - start)
            return dual

        with ignored_warnings(NotConvergedWarning):  # the training with the best hyperparameters issues the same
            parts = list(trained_folds(among, self.codes, self.folds, timed))
        rows, values = np.concatenate([out for out, _, _ in parts]), np.vstack([found for _, found, _ in parts])
        return _LeftOut(rows, values, float(np.mean([len(dual.support) for _, _, dual in parts])), tuple(times))

    def _others(self, train: Train, matrices: Matrices, steepness: float) -> tuple[float, Bools | None]:
        """Train on all labels; give the confidence on unlabelled rows, and which predictions are wrong, if known."""
        if matrices.towards is None:
            return np.nan, None
        with ignored_warnings(NotConvergedWarning):
            values = train(matrices.among, self.codes, np.arange(len(self.codes))).decision(matrices.towards)
        confidence = float(class_probabilities(values, steepness, self._n_classes).max(axis=1).mean())
        if self.other_codes is None:
            return confidence, None
        return confidence, chosen(class_scores(values, self._n_classes)) != self.other_codes

    def _scores(self, left_out: _LeftOut, steepness: float, errors: "_Errors") -> tuple[float, tuple[float, ...]]:
        """Compute the score of all rows left out, and that of each fold."""
        folds = self.folds[left_out.rows]
        masks = [folds == fold for fold in range(int(folds.max()) + 1)]
        if isinstance(self.scoring, Scoring):
            scoring = self.scoring
            return errors.score(scoring), tuple(errors.of(mask).score(scoring) for mask in masks)
        assert self.classes is not None
        assert self.positions is not None
        rows, y = self.positions[left_out.rows], self.classes[self.codes[left_out.rows]]
        model = LeftOutClassifier(rows, left_out.values, steepness, self.classes)
        weights = self.weights[left_out.rows] if self.is_weighted else None
        splits = (
            self.scoring.or_nan(model, rows[mask], y[mask], None if weights is None else weights[mask])
            for mask in masks
        )
        return self.scoring(model, rows, y, weights), tuple(splits)


@dataclass(frozen=True, eq=False)
class _Errors:
    """Which predictions are wrong, for rows left out and for unlabelled rows."""

    is_wrong: Bools
    weights: Floats
    confidence: float
    is_other_wrong: Bools | None

    @property
    def validation(self) -> float:
        return float(np.average(self.is_wrong, weights=self.weights))

    @property
    def optimistic(self) -> float:
        """Error on rows left out and unlabelled rows; an unlabelled row counts as much as a label of weight one."""
        others = self.is_other_wrong
        assert others is not None
        weights = np.append(self.weights, np.ones(len(others)))
        return float(np.average(np.append(self.is_wrong, others), weights=weights))

    def of(self, mask: Bools) -> "_Errors":
        """Select rows that were left out."""
        return _Errors(self.is_wrong[mask], self.weights[mask], self.confidence, self.is_other_wrong)

    def by(self, scoring: Scoring) -> float:
        """Give the error of a score; without unlabelled rows, the validation error."""
        if scoring is Scoring.NEG_EXPECTED_ERROR and not np.isnan(self.confidence):
            return self.validation + 1 - self.confidence
        if scoring is Scoring.OPTIMISTIC_ACCURACY and self.is_other_wrong is not None:
            return self.optimistic
        return self.validation

    def score(self, scoring: Scoring) -> float:
        error = self.by(scoring)
        return -error if scoring is Scoring.NEG_EXPECTED_ERROR else 1 - error


def _loss(score: float) -> float:
    """Return minus the score; one that is not a number is the worst."""
    return np.inf if np.isnan(score) else -score


class Trials:
    """Trials of hyperparameters, one after the other or in parallel.

    Parameters
    ----------
    cache : GramCache
        Kernel matrices.
    scorer : TrialScorer
        Labels and folds.
    n_jobs : int, default=None
        Number of kernels that are tried in parallel, by joblib.
    """

    def __init__(self, cache: GramCache, scorer: TrialScorer, n_jobs: int | None = None) -> None:
        self._cache, self._scorer, self._n_jobs = cache, scorer, n_jobs

    def grid(self, points: Sequence[KernelPoint], C: Sequence[float]) -> Generator[SearchTrial]:
        """Try every C with every kernel."""
        return self._run([(point, C) for point in points])

    def lines(
        self, shapes: Sequence[tuple[float, float]], C: Sequence[float], gamma: Sequence[float]
    ) -> Generator[SearchTrial]:
        """Try a linear SVM with every C, then the line through the best one, for each pair of alpha and beta."""
        assert isinstance(self._cache, DistanceGramCache)  # Laplacian kernels are refused before
        for alpha, beta in shapes:
            unit = self._cache.unit(alpha, beta)
            linear = []
            for trial in self._run([(KernelPoint(None, alpha, beta), C)]):
                linear.append(trial)
                yield trial
            best = min(linear, key=lambda trial: trial.order)
            yield from self._run([(KernelPoint(g, alpha, beta), [c]) for c, g in line(best.C * unit, C, gamma)])

    def of(self, settings: Sequence[Settings]) -> Generator[SearchTrial]:
        """Try settings one after the other; the matrices of a kernel are computed once for every C."""
        for (_, C), matrices in zip(settings, self._cache.matrices(point for point, _ in settings), strict=True):
            for each in C:
                yield self._scorer.trial(matrices, each)

    def _run(self, settings: Sequence[Settings]) -> Generator[SearchTrial]:
        """Try settings; kernels that differ in more than their ratio may run in parallel."""
        if not is_parallel(self._n_jobs):
            yield from self.of(settings)
            return
        tasks = [(self, list(group)) for _, group in groupby(settings, key=lambda each: each[0].base)]
        with closing(run_tasks(_tried, tasks, self._n_jobs)) as batches:
            for trials in batches:
                yield from trials


def _tried(trials: Trials, settings: Sequence[Settings]) -> list[SearchTrial]:
    return list(trials.of(settings))


def distinct_shapes(alpha: Sequence[float], beta: Sequence[float]) -> list[tuple[float, float]]:
    """Give the pairs of alpha and beta that differ in their ratio: a common factor is made up for by C.

    >>> len(distinct_shapes([1.0, 2.0], [1.0, 2.0]))  # (2, 2) has the ratio of (1, 1)
    3
    """
    pairs = [(a, b) for a in alpha for b in beta if a or b]
    if not pairs:
        raise OptionError("alpha and beta are both 0, so all rows would be equal.")
    return list({f"{b / (a + b):.9g}": (a, b) for a, b in reversed(pairs)}.values())[::-1]
