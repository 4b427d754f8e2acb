"""Scores of hyperparameters: errors on labels left out, and on unlabelled rows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from mixkern.errors import OptionError
from mixkern.search.gram_cache import DistanceGramCache, GramCache
from mixkern.search.grid import KernelPoint, line
from mixkern.svm.calibration import own_values, slope
from mixkern.svm.folds import Train, trained_folds
from mixkern.svm.one_vs_one import chosen, class_probabilities, class_scores
from mixkern.typing import Floats, Ints, Positions


class Rating(StrEnum):
    """Error that hyperparameters are compared by; the smallest wins."""

    VALIDATION = "validation"  # on labelled rows that were left out
    EXPECTED_ERROR = "expected_error"  # the same, plus one minus the mean confidence on unlabelled rows
    OPTIMISTIC = "optimistic"  # on rows left out and on unlabelled rows: uses labels that are not available in practice


_ERRORS = {
    Rating.VALIDATION: "validation_error",
    Rating.EXPECTED_ERROR: "expected_error",
    Rating.OPTIMISTIC: "optimistic_error",
}


@dataclass(frozen=True, kw_only=True)
class SearchTrial:
    """Hyperparameters and their errors.

    Attributes
    ----------
    validation_error : float
        Share of wrong predictions among the labels that were left out.
    expected_error : float
        The same, plus one minus ``confidence``; NaN where no unlabelled rows were used.
    optimistic_error : float
        Share of wrong predictions among the labels left out and the unlabelled rows; NaN where their labels were not
        given.
    log_loss : float
        Mean log loss of the labels that were left out; decides between equal errors.
    confidence : float
        Mean probability of the predicted class on unlabelled rows; NaN where none were used.
    n_support : float
        Mean number of support vectors in the folds.
    C, gamma, alpha, beta : float
        The hyperparameters; gamma is NaN for a linear SVM, the first stage of a line search.
    ratio : float
        Ratio of a Laplacian kernel, NaN for others.
    rating : str
        Which of the errors ``error`` is.
    """

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
    rating: str

    @property
    def error(self) -> float:
        """The error by ``rating``."""
        return self.error_by(self.rating)

    @property
    def order(self) -> tuple[float, float]:
        """Sort key by ``rating``, the best first."""
        return self.order_by(self.rating)

    @property
    def point(self) -> KernelPoint:
        """Hyperparameters of the kernel."""
        gamma, ratio = (None if np.isnan(value) else value for value in (self.gamma, self.ratio))
        return KernelPoint(gamma, self.alpha, self.beta, ratio)

    @property
    def is_linear(self) -> bool:
        """Whether it is a trial of a linear SVM, which determines the line but is no result."""
        return bool(np.isnan(self.gamma))

    def error_by(self, rating: str) -> float:
        """Give the error by a rating; without unlabelled rows, the validation error."""
        error: float = getattr(self, _ERRORS[Rating(rating)])
        return self.validation_error if np.isnan(error) else error

    def order_by(self, rating: str) -> tuple[float, float]:
        """Give the sort key by a rating, the best first."""
        return self.error_by(rating), self.log_loss


@dataclass(frozen=True, eq=False)
class Scorer:
    """Labels and folds that all hyperparameters are scored on."""

    codes: Ints  # (n,), classes of the labelled rows
    weights: Floats  # (n,), sample weights
    folds: Ints  # (n,), -1 for rows that are never left out
    trainer: Callable[[float], Train]  # from C to a function that trains
    other_codes: Ints | None = None  # (m,), classes of the unlabelled rows, for the optimistic rating alone
    rating: str = Rating.VALIDATION

    def trial(self, point: KernelPoint, C: float, among: Floats, towards: Floats | None) -> SearchTrial:
        """Score C and the hyperparameters of a kernel, given its matrices.

        Parameters
        ----------
        point : KernelPoint
            Hyperparameters of the kernel.
        C : float
            Cost of an error.
        among : ndarray of shape (n, n)
            Kernel among the labelled rows.
        towards : ndarray of shape (m, n) or None
            Kernel between the unlabelled rows and the labelled ones.
        """
        train = self.trainer(C)
        values, rows, n_support = self._left_out(train, among)
        codes, weights = self.codes[rows], self.weights[rows]
        n_classes = int(self.codes.max()) + 1
        steepness = slope([own_values(values, codes, weights)])
        probable = class_probabilities(values, steepness, n_classes)[np.arange(len(codes)), codes]
        is_wrong = chosen(class_scores(values, n_classes)) != codes
        error = float(np.average(is_wrong, weights=weights))
        confidence = optimistic = np.nan
        if towards is not None:
            others = train(among, self.codes, np.arange(len(self.codes))).decision(towards)
            confidence = float(class_probabilities(others, steepness, n_classes).max(axis=1).mean())
            if self.other_codes is not None:
                is_wrong = np.append(is_wrong, chosen(class_scores(others, n_classes)) != self.other_codes)
                optimistic = float(np.average(is_wrong, weights=np.append(weights, np.ones(len(others)))))
        return SearchTrial(
            validation_error=error,
            expected_error=error + 1 - confidence,
            optimistic_error=optimistic,
            log_loss=float(np.average(-np.log(np.maximum(probable, 1e-300)), weights=weights)),
            confidence=confidence,
            n_support=n_support,
            C=C,
            gamma=np.nan if point.gamma is None else point.gamma,
            alpha=point.alpha,
            beta=point.beta,
            ratio=np.nan if point.ratio is None else point.ratio,
            rating=self.rating,
        )

    def _left_out(self, train: Train, among: Floats) -> tuple[Floats, Positions, float]:
        """Give decision values of rows that were left out, their positions, and the mean number of support vectors."""
        parts = list(trained_folds(among, self.codes, self.folds, train))
        rows, values = np.concatenate([out for out, _, _ in parts]), np.vstack([found for _, found, _ in parts])
        return values, rows, float(np.mean([len(dual.support) for _, _, dual in parts]))


class Trials:
    """Trials of hyperparameters, one after the other.

    Parameters
    ----------
    cache : GramCache
        Kernel matrices.
    scorer : Scorer
        Labels and folds.
    """

    def __init__(self, cache: GramCache, scorer: Scorer) -> None:
        self._cache, self._scorer = cache, scorer

    def grid(self, points: Sequence[KernelPoint], C: Sequence[float]) -> Iterator[SearchTrial]:
        """Try every C with every kernel."""
        for point in points:
            yield from self._of_kernel(point, C)

    def lines(
        self, shapes: Sequence[tuple[float, float]], C: Sequence[float], gamma: Sequence[float]
    ) -> Iterator[SearchTrial]:
        """Try a linear SVM with every C, then the line through the best one, for each pair of alpha and beta."""
        assert isinstance(self._cache, DistanceGramCache)  # Laplacian kernels are refused before
        for alpha, beta in shapes:
            linear = []
            for trial in self._of_kernel(KernelPoint(None, alpha, beta), C):
                linear.append(trial)
                yield trial
            unit = self._cache.unit(alpha, beta)
            best = min(linear, key=lambda trial: trial.order)
            for c, g in line(best.C * unit, C, gamma):
                yield from self._of_kernel(KernelPoint(g, alpha, beta), [c])

    def _of_kernel(self, point: KernelPoint, C: Sequence[float]) -> Iterator[SearchTrial]:
        """Compute the matrices of a kernel once, and try every C with them."""
        among, towards = self._cache.among(point), self._cache.towards(point)
        for each in C:
            yield self._scorer.trial(point, each, among, towards)


def distinct_shapes(alpha: Sequence[float], beta: Sequence[float]) -> list[tuple[float, float]]:
    """Give the pairs of alpha and beta that differ in their ratio: a common factor is made up for by C.

    >>> len(distinct_shapes([1.0, 2.0], [1.0, 2.0]))  # (2, 2) has the ratio of (1, 1)
    3
    """
    pairs = [(a, b) for a in alpha for b in beta if a or b]
    if not pairs:
        raise OptionError("alpha and beta are both 0, so all rows would be equal.")
    return list({f"{b / (a + b):.9g}": (a, b) for a, b in reversed(pairs)}.values())[::-1]
