"""How good settings are, judged by few labels and by rows without."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from mixkern.svm.calibration import own_values, slope
from mixkern.svm.folds import Train, trained_folds
from mixkern.svm.one_vs_one import chosen, class_probabilities, class_scores
from mixkern.typing import Floats, Ints


class Rating(StrEnum):
    """What settings are judged by; the smallest wins."""

    VALIDATION = "validation"  # error on labelled rows that were left out
    EXPECTED_ERROR = "expected_error"  # the same, plus one minus the mean confidence on unlabelled rows
    OPTIMISTIC = "optimistic"  # error on rows left out and on unlabelled rows: reads labels that nobody would have


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What one setting has achieved, by every rating that could be given.

    Attributes
    ----------
    validation_error : float
        Share of wrong labels among those that were left out.
    expected_error : float
        The same, plus one minus ``confidence``; NaN where no unlabelled row was asked.
    optimistic_error : float
        Share of wrong labels among those left out and the unlabelled rows; NaN where their labels were not given.
    log_loss : float
        Mean surprise at the labels that were left out: decides between equal errors.
    confidence : float
        Mean probability of the predicted class on unlabelled rows; NaN where none was asked.
    n_support : float
        Mean number of support vectors in the folds.
    """

    validation_error: float
    expected_error: float
    optimistic_error: float
    log_loss: float
    confidence: float
    n_support: float

    def error_by(self, rating: str) -> float:
        """Give the error by a rating; where there is no unlabelled row to rate by, labels left out are all there is."""
        error: float = getattr(self, _ERRORS[Rating(rating)])
        return self.validation_error if np.isnan(error) else error

    def order_by(self, rating: str) -> tuple[float, float]:
        """Give what settings are sorted by, the best first."""
        return self.error_by(rating), self.log_loss


_ERRORS = {
    Rating.VALIDATION: "validation_error",
    Rating.EXPECTED_ERROR: "expected_error",
    Rating.OPTIMISTIC: "optimistic_error",
}


@dataclass(frozen=True, eq=False)
class Judge:
    """Labels, folds and what is known of the other rows: everything that all settings are judged by."""

    codes: Ints  # (n,) of the labelled rows
    weights: Floats  # (n,), how much each label counts
    folds: Ints  # (n,), -1 for rows that are never left out
    trainer: Callable[[float], Train]  # how to train with a C
    other_codes: Ints | None = None  # (m,) of the other rows, for the optimistic rating alone

    def scores(self, C: float, among: Floats, towards: Floats | None) -> Scores:
        """Judge one setting by its C and its kernel matrices."""
        train = self.trainer(C)
        values, rows, n_support = self._left_out(train, among)
        codes, weights = self.codes[rows], self.weights[rows]
        n_classes = int(self.codes.max()) + 1
        steepness = slope([own_values(values, codes, weights)])
        probable = class_probabilities(values, steepness, n_classes)[np.arange(len(codes)), codes]
        log_loss = float(np.average(-np.log(np.maximum(probable, 1e-300)), weights=weights))
        is_wrong = chosen(class_scores(values, n_classes)) != codes
        error = float(np.average(is_wrong, weights=weights))
        confidence = optimistic = np.nan
        if towards is not None:
            others = train(among, self.codes, np.arange(len(self.codes))).decision(towards)
            confidence = float(class_probabilities(others, steepness, n_classes).max(axis=1).mean())
            if self.other_codes is not None:
                is_wrong = np.append(is_wrong, chosen(class_scores(others, n_classes)) != self.other_codes)
                optimistic = float(np.average(is_wrong, weights=np.append(weights, np.ones(len(others)))))
        return Scores(
            validation_error=error,
            expected_error=error + 1 - confidence,
            optimistic_error=optimistic,
            log_loss=log_loss,
            confidence=confidence,
            n_support=n_support,
        )

    def _left_out(self, train: Train, among: Floats) -> tuple[Floats, Ints, float]:
        """Give decision values of rows by machines that have not seen them, which rows, and support vectors."""
        parts = list(trained_folds(among, self.codes, self.folds, train))
        rows, values = np.concatenate([out for out, _, _ in parts]), np.vstack([found for _, found, _ in parts])
        return values, rows, float(np.mean([len(dual.support) for _, _, dual in parts]))
