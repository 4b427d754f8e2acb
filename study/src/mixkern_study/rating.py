"""Rate settings of a classifier on few labels: thousands at once, by the same scores as a search.

With a handful of labels, the time of a trial is that of calling a solver and a root finder. So the trials of many
kernels and values of C are computed together, as arrays; those of many labels one after the other, with libsvm.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mixkern.search import Scoring, SearchTrial
from mixkern.search.gram_cache import GramCache, Matrices
from mixkern.search.trial import Settings, TrialScorer
from mixkern.svm.batch import pair_classifiers
from mixkern.svm.calibration import LOG_RANGE, LOG_SPREAD, TYPICAL, own_values
from mixkern.svm.folds import Train
from mixkern.svm.one_vs_one import Conversion, chosen, class_probabilities, class_scores, coupled
from mixkern.typing import Bools, Floats, Ints

BATCH_ROWS = 128  # labels up to which trials are computed together: beyond, libsvm is quicker
BATCH_NUMBERS = 6_000_000  # decision values and kernel values that are in memory at once
STEPS = 8  # of Newton's method for slopes


@dataclass(frozen=True, eq=False)
class Rating:
    """Labels, folds and unlabelled rows that settings are rated on, for one draw of labels and one kernel.

    Attributes
    ----------
    cache : GramCache
        Kernel matrices.
    codes, folds : ndarray of int, shape (n,)
        Class and fold of each labelled row.
    trainer : callable
        From C to a function that trains, where labels are many.
    other_codes : ndarray of int, shape (m,), or None
        Classes of the unlabelled rows, for the optimistic score alone; -1 for a class without label.
    max_iter : int
        Steps of the solver at most, where labels are few.
    """

    cache: GramCache
    codes: Ints
    folds: Ints
    trainer: Callable[[float], Train]
    other_codes: Ints | None
    max_iter: int

    @property
    def is_small(self) -> bool:
        """Whether trials are computed together."""
        return len(self.codes) <= BATCH_ROWS

    def numbers_of(self, n_settings: int) -> int:
        """Return how many decision values and kernel values the trials of one kernel need."""
        n_classes = int(self.codes.max()) + 1
        m = 0 if self.other_codes is None else len(self.other_codes)
        return (len(self.codes) + m) * (len(self.codes) + n_settings * n_classes * (n_classes - 1))

    def rate(self, group: Sequence[tuple[Matrices, Sequence[float]]]) -> list[SearchTrial]:
        """Rate every C with the kernel of its matrices."""
        if self.is_small:
            return _Batch(self, group).trials()
        scorer = TrialScorer(self.codes, np.ones(len(self.codes)), self.folds, self.trainer, self.other_codes)
        return [scorer.trial(matrices, C) for matrices, values in group for C in values]


def rated(ratings: Sequence[Rating], settings: Sequence[Settings]) -> list[list[SearchTrial]]:
    """Rate settings for several draws of labels, one kernel after the other for all of them.

    Draws that share a Laplacian kernel have it factorised once.
    """
    found: list[list[SearchTrial]] = [[] for _ in ratings]
    waiting: list[list[tuple[Matrices, Sequence[float]]]] = [[] for _ in ratings]
    room = [BATCH_NUMBERS] * len(ratings)
    streams = [rating.cache.matrices([point for point, _ in settings]) for rating in ratings]
    for (_, values), *each in zip(settings, *streams, strict=True):
        for i, (rating, matrices) in enumerate(zip(ratings, each, strict=True)):
            waiting[i].append((matrices, values))
            room[i] -= rating.numbers_of(len(values)) if rating.is_small else BATCH_NUMBERS
            if room[i] <= 0:
                found[i] += rating.rate(waiting[i])
                waiting[i], room[i] = [], BATCH_NUMBERS
    for i, rating in enumerate(ratings):
        found[i] += rating.rate(waiting[i]) if waiting[i] else []
    return found


class _Batch:
    """Trials of several kernels and values of C at once."""

    def __init__(self, rating: Rating, group: Sequence[tuple[Matrices, Sequence[float]]]) -> None:
        self.rating, self.n_classes = rating, int(rating.codes.max()) + 1
        self.points = [matrices.point for matrices, _ in group]
        self.among = np.array([matrices.among for matrices, _ in group])
        self.towards = [matrices.towards for matrices, _ in group]
        self.kernel = np.repeat(np.arange(len(group)), [len(values) for _, values in group])
        self.C = np.concatenate([np.asarray(values, dtype=float) for _, values in group])

    def trials(self) -> list[SearchTrial]:
        """Train without each fold and on all labels, and rate."""
        rating = self.rating
        folds = range(int(rating.folds.max()) + 1)
        kept = np.array([*(rating.folds != fold for fold in folds), np.ones(len(rating.codes), dtype=bool)])
        solved = pair_classifiers(self.among, rating.codes, kept, self.kernel, self.C, max_iter=rating.max_iter)
        rows = np.concatenate([np.flatnonzero(rating.folds == fold) for fold in folds])
        values = np.concatenate(
            [
                self.among[self.kernel][:, rating.folds == fold] @ solved.coefficients[:, fold]
                + solved.intercepts[:, fold, None]
                for fold in folds
            ],
            axis=1,
        )  # (t, n, c (c - 1) / 2)
        codes = rating.codes[rows]
        slopes = common_slopes(values, codes)
        probabilities = self._probabilities(values, slopes)
        own = probabilities[:, np.arange(len(codes)), codes]
        is_wrong = self._predicted(values) != codes
        confidence, is_other_wrong = self._others(solved.coefficients[:, -1], solved.intercepts[:, -1], slopes)
        n_support = (solved.coefficients[:, :-1] != 0).any(axis=3).sum(axis=2).mean(axis=1)
        log_loss = -np.log(np.maximum(own, 1e-300)).mean(axis=1)
        return list(self._records(is_wrong, is_other_wrong, confidence, log_loss, n_support))

    def _others(self, coefficients: Floats, intercepts: Floats, slopes: Floats) -> tuple[Floats, Bools | None]:
        """Return the mean confidence on unlabelled rows, and which predictions are wrong."""
        if self.towards[0] is None:
            return np.full(len(self.C), np.nan), None
        values = np.concatenate(
            [
                np.asarray(self.towards[p]) @ coefficients[self.kernel == p] + intercepts[self.kernel == p, None]
                for p in range(len(self.points))
            ]
        )  # (t, m, c (c - 1) / 2)
        # The largest one, whichever class it is for: votes need not be counted.
        confidence = self._probabilities(values, slopes, coupled).max(axis=2).mean(axis=1)
        if self.rating.other_codes is None:
            return confidence, None
        return confidence, self._predicted(values) != self.rating.other_codes

    def _probabilities(self, values: Floats, slopes: Floats, convert: Conversion = class_probabilities) -> Floats:
        """Return class probabilities; a slope that multiplies all values of a row does not change its votes."""
        scaled = (slopes[:, None, None] * values).reshape(-1, values.shape[2])
        return convert(scaled, 1.0, self.n_classes).reshape(*values.shape[:2], self.n_classes)

    def _predicted(self, values: Floats) -> Ints:
        return chosen(class_scores(values.reshape(-1, values.shape[2]), self.n_classes)).reshape(values.shape[:2])

    def _records(
        self, is_wrong: Bools, is_other_wrong: Bools | None, confidence: Floats, log_loss: Floats, n_support: Floats
    ) -> Iterator[SearchTrial]:
        validation = is_wrong.mean(axis=1)
        optimistic = np.full(len(self.C), np.nan)
        if is_other_wrong is not None:
            optimistic = np.concatenate([is_wrong, is_other_wrong], axis=1).mean(axis=1)
        for t, (kernel, C) in enumerate(zip(self.kernel, self.C, strict=True)):
            point = self.points[kernel]
            yield SearchTrial(
                score=1 - float(validation[t]),
                split_scores=(),
                validation_error=float(validation[t]),
                expected_error=float(validation[t] + 1 - confidence[t]),
                optimistic_error=float(optimistic[t]),
                log_loss=float(log_loss[t]),
                confidence=float(confidence[t]),
                n_support=float(n_support[t]),
                C=float(C),
                gamma=np.nan if point.gamma is None else point.gamma,
                alpha=point.alpha,
                beta=point.beta,
                ratio=np.nan if point.ratio is None else point.ratio,
                scoring=str(Scoring.ACCURACY),
                loss=float(validation[t]),
            )


def common_slopes(values: Floats, codes: Ints) -> Floats:  # (t,)
    """Estimate the slope of the sigmoid for each of several classifiers, as :func:`mixkern.svm.calibration.slope`.

    Parameters
    ----------
    values : ndarray of shape (t, n, c (c - 1) / 2)
        Decision values of left-out rows.
    codes : ndarray of int, shape (n,)
        Classes of the rows.

    Examples
    --------
    >>> common_slopes(np.array([[[1.0], [2.0], [1.5]], [[1.0], [-2.0], [1.5]]]), np.zeros(3, dtype=int)).round(3)
    array([1.139, 0.722])
    """
    places = own_values(1.0 + np.arange(values[0].size).reshape(values[0].shape), codes).values  # signed, from 1
    own = np.sign(places) * values.reshape(len(values), -1)[:, np.abs(places).astype(np.intp) - 1]
    n = own.shape[1]
    target = (n + 1) / (n + 2)  # Platt's

    def loss(log_slopes: Floats) -> Floats:  # (t,) or (g, 1)
        f = np.exp(log_slopes)[..., None] * own
        log_loss = target * np.logaddexp(0, -f) + (1 - target) * np.logaddexp(0, f)
        return log_loss.sum(axis=-1) + 0.5 * ((log_slopes - np.log(TYPICAL)) / LOG_SPREAD) ** 2

    grid = np.arange(*LOG_RANGE, 1.0)[1:]
    best = grid[np.array([loss(np.full(len(own), each)) for each in grid]).argmin(axis=0)]
    low, high, log_slopes = best - 1, best + 1, best
    for _ in range(STEPS):
        f = np.exp(log_slopes)[:, None] * own
        p = expit(f)
        first = ((p - target) * f).sum(axis=1) + (log_slopes - np.log(TYPICAL)) / LOG_SPREAD**2
        second = ((p - target) * f + p * (1 - p) * f * f).sum(axis=1) + 1 / LOG_SPREAD**2
        low, high = np.where(first < 0, log_slopes, low), np.where(first > 0, log_slopes, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = log_slopes - first / second
        log_slopes = np.where((step >= low) & (step <= high) & (second > 0), step, (low + high) / 2)
    return np.exp(log_slopes)
