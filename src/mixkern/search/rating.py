"""How good settings are, judged by few labels and by rows without."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from mixkern.solvers.fold import Train, trained_folds
from mixkern.solvers.slope import own_values, slope
from mixkern.solvers.vote import chosen, class_probabilities, class_scores

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Rating(StrEnum):
    """What settings are judged by; the smallest wins."""

    VALIDATION = "validation"  # error on labelled rows that were left out
    EXPECTED_ERROR = "expected_error"  # the same, plus one minus the mean confidence on unlabelled rows
    OPTIMISTIC = "optimistic"  # error on rows left out and on unlabelled rows: reads labels that nobody would have


@dataclass(frozen=True)
class Scores:
    """What one setting has achieved.

    Attributes
    ----------
    error : float
        What it is judged by.
    log_loss : float
        Mean surprise at the labels that were left out: decides between equal errors.
    validation_error : float
        Share of wrong labels among those that were left out.
    confidence : float
        Mean probability of the predicted class on unlabelled rows; NaN where it was not asked for.
    n_support : float
        Mean number of support vectors.
    """

    error: float
    log_loss: float
    validation_error: float
    confidence: float
    n_support: float


@dataclass(frozen=True, eq=False)
class Judge:
    """Labels, folds and what is known of the other rows: everything that all settings are judged by."""

    rating: Rating
    codes: Ints  # (n,) of the labelled rows
    weights: Floats  # (n,), how much each label counts
    folds: Ints  # (n,), -1 for rows that are never left out
    train: Train
    other_codes: Ints | None = None  # (m,) of the other rows, for the optimistic rating alone

    def scores(self, among: Floats, towards: Floats | None) -> Scores:
        """Judge one setting by its kernel matrices."""
        values, rows, n_support = self._left_out(among)
        codes, weights = self.codes[rows], self.weights[rows]
        n_classes = int(self.codes.max()) + 1
        steepness = slope([own_values(values, codes, weights)])
        probable = class_probabilities(values, steepness, n_classes)[np.arange(len(codes)), codes]
        log_loss = float(np.average(-np.log(np.maximum(probable, 1e-300)), weights=weights))
        is_wrong = chosen(class_scores(values, n_classes)) != codes
        error = float(np.average(is_wrong, weights=weights))
        if towards is None:
            return Scores(error, log_loss, error, np.nan, n_support)
        others = self.train(among, self.codes, np.arange(len(self.codes))).decision(towards)
        confidence = float(class_probabilities(others, steepness, n_classes).max(axis=1).mean())
        rated = error + 1 - confidence
        if self.other_codes is not None:
            is_wrong = np.append(is_wrong, chosen(class_scores(others, n_classes)) != self.other_codes)
            rated = float(np.average(is_wrong, weights=np.append(weights, np.ones(len(others)))))
        return Scores(rated, log_loss, error, confidence, n_support)

    def _left_out(self, among: Floats) -> tuple[Floats, Ints, float]:
        """Give decision values of rows by machines that have not seen them, which rows, and support vectors."""
        parts = list(trained_folds(among, self.codes, self.folds, self.train))
        rows, values = np.concatenate([out for out, _, _ in parts]), np.vstack([found for _, found, _ in parts])
        return values, rows, float(np.mean([len(dual.support) for _, _, dual in parts]))
