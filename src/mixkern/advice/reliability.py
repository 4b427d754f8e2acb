r"""The probability that predictions are right, from labels that were left out, and its mean over other rows.

A classifier gives the class that it predicts a probability :math:`p(x; t)`, where t is the slope of its sigmoid. The
prediction is right with the log odds

.. math:: \ln \frac{p(x; t)}{1 - p(x; t)} + \delta

The shift :math:`\delta` is one number for the whole table: probabilities are too high or too low, and left-out labels
show by how much. Labelled rows that were suggested have the shift :math:`\delta + \beta`: they were chosen, so they may
be harder or easier than other rows with the same probability. The three numbers have prior distributions, which were
fitted to other tables, and the left-out labels give their posterior. The accuracy is the mean probability over the rows
without a label. So labelled rows may be difficult ones: their probabilities are low then, and what counts is how far
the probabilities are off. (Angelopoulos and others, Prediction-powered inference, 2023, combine labels with predictions
for the same purpose, for labels that are drawn at random.)

The classifiers of several folds share most of their labels, so they are right or wrong together, and n left-out labels
tell less than n independent ones: the likelihood has a power of less than one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit, logsumexp

from mixkern.svm.class_calibration import LOG_SLOPE_SPREAD, POWER, SLOPE, SLOPES
from mixkern.svm.one_vs_one import chosen
from mixkern.svm.scheme import class_probabilities, class_scores
from mixkern.typing import Bools, Floats, Ints

SHIFTS = np.linspace(-4.5, 4.5, 61)  # delta, and delta + beta
# Priors, chosen on 26 tables that docs/estimate.md lists; the paper's twenty were not among them.
SHIFT, SHIFT_SPREAD = -0.1, 0.4  # mean and standard deviation of delta
CHOICE, CHOICE_SPREAD = -0.5, 0.7  # and of beta
CLASS_SPREAD = 1.5  # standard deviation of the shift of a class beside that of the table
CLASS_POWER = 0.2  # of the likelihood of its labels, which have a part in the shift of the table already
CLASS_SHIFTS = np.linspace(-5, 5, 81)
LEVELS = (np.arange(41) + 0.5) / 41  # quantiles that a distribution is represented by
LIMIT = 1e-4  # smallest distance of a probability to 0 and 1


@dataclass(frozen=True, eq=False)
class Shares:
    """A share of right predictions for every slope and shift, (t, s) each."""

    overall: Floats
    per_class: Floats  # (t, s, c), of the rows of a class
    balanced: Floats
    classes: Floats  # (t, s, c), expected share of the rows that are of a class, whatever is predicted


@dataclass(frozen=True, eq=False)
class Reliability:
    """Posterior distribution of the slope and of the shift.

    Attributes
    ----------
    weights : ndarray of shape (t, s)
        Posterior probability of each of ``SLOPES`` and ``SHIFTS``.
    n_classes : int
        Number of classes.
    """

    weights: Floats
    n_classes: int

    @classmethod
    def of(cls, values: Floats, codes: Ints, is_suggested: Bools, n_classes: int) -> "Reliability":
        """Compute the posterior from decision values of labels that were left out.

        Parameters
        ----------
        values : ndarray of shape (r, n, q)
            Decision values, in each of r repeats.
        codes : ndarray of int, shape (n,)
            The labels.
        is_suggested : ndarray of bool, shape (n,)
            Whether the row was suggested, and not drawn at random.
        n_classes : int
            c, with a function for each pair of classes or for each class.

        Examples
        --------
        >>> values = np.array([[[2.0], [1.0], [-1.0], [-2.0]]])
        >>> right, wrong = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])
        >>> rows = np.array([[1.5], [-1.5]])
        >>> sure, unsure = (Reliability.of(values, codes, np.zeros(4, bool), 2) for codes in (right, wrong))
        >>> sure.mean(sure.shares(rows).overall) > unsure.mean(unsure.shares(rows).overall)
        True
        """
        is_right = np.array([chosen(class_scores(repeat, n_classes)) for repeat in values]) == codes
        log_posterior = np.empty((len(SLOPES), len(SHIFTS)))
        log_choice = -0.5 * ((SHIFTS - SHIFTS[:, None] - CHOICE) / CHOICE_SPREAD) ** 2  # (shift, shift of suggested)
        log_choice -= logsumexp(log_choice, axis=1, keepdims=True)
        for i, slope in enumerate(SLOPES):
            odds = np.array([_log_odds(class_probabilities(repeat, slope, n_classes).max(axis=1)) for repeat in values])
            signed = np.where(is_right, 1.0, -1.0) * (odds + SHIFTS[:, None, None])  # (s, r, n)
            log_likelihoods = POWER * -np.logaddexp(0, -signed).mean(axis=1)
            of_suggested = log_likelihoods[:, is_suggested].sum(axis=1)
            log_posterior[i] = log_likelihoods[:, ~is_suggested].sum(axis=1) + logsumexp(
                log_choice + of_suggested, axis=1
            )
        log_posterior -= 0.5 * (np.log(SLOPES / SLOPE) / LOG_SLOPE_SPREAD)[:, None] ** 2
        log_posterior -= 0.5 * ((SHIFTS - SHIFT) / SHIFT_SPREAD) ** 2
        return cls(np.exp(log_posterior - logsumexp(log_posterior)), n_classes)

    def shares(self, values: Floats) -> Shares:
        """Compute the expected share of right predictions among rows with these decision values, (u, q)."""
        predicted = chosen(class_scores(values, self.n_classes))
        is_predicted = predicted[:, None] == np.arange(self.n_classes)  # (u, c)
        overall, per_class, classes = [], [], []
        for slope in SLOPES:
            shares = class_probabilities(values, slope, self.n_classes)
            winner = shares.max(axis=1)
            right = expit(_log_odds(winner) + SHIFTS[:, None])  # (s, u)
            others = np.where(is_predicted, 0.0, shares) / np.maximum(1 - winner, LIMIT)[:, None]
            of_class = right @ is_predicted  # (s, c), rows of a class that are predicted right
            all_of_class = of_class + (1 - right) @ others
            overall.append(right.mean(axis=1))
            per_class.append(of_class / np.maximum(all_of_class, np.finfo(float).tiny))
            classes.append(all_of_class / len(values))
        found = np.array(per_class)
        return Shares(np.array(overall), found, found.mean(axis=2), np.array(classes))

    def mean(self, share: Floats) -> float:
        """Compute the posterior mean of a share, (t, s)."""
        return float((self.weights * share).sum())

    def interval(self, share: Floats, confidence: float) -> tuple[float, float]:
        """Compute the quantiles between which a share lies with some probability."""
        order = np.argsort(share, axis=None)
        total = np.cumsum(self._flat[order])
        low, high = np.interp([(1 - confidence) / 2, (1 + confidence) / 2], total, share.ravel()[order])
        return float(low), float(high)

    def class_interval(
        self, share: Floats, rights: Floats, is_suggested: Bools, confidence: float
    ) -> tuple[float, float]:
        """Compute the interval of the share of a class: it may have a shift beside that of the table.

        Parameters
        ----------
        share : ndarray of shape (t, s)
            Its share of right predictions, as by :meth:`shares`.
        rights : ndarray of shape (n,)
            Share of repeats in which each of its labels was predicted right.
        is_suggested : ndarray of bool, shape (n,)
            Whether the row was suggested.
        confidence : float
            Level of the interval.
        """
        order = np.argsort(share, axis=None)
        values = np.interp(LEVELS, np.cumsum(self._flat[order]), share.ravel()[order])
        odds = _log_odds(values)[:, None] + CLASS_SHIFTS  # (levels, shifts)
        of_labels = odds[..., None] + np.where(is_suggested, CHOICE, 0.0)
        log_likelihood = -(rights * np.logaddexp(0, -of_labels) + (1 - rights) * np.logaddexp(0, of_labels)).sum(axis=2)
        log_posterior = CLASS_POWER * log_likelihood - 0.5 * (CLASS_SHIFTS / CLASS_SPREAD) ** 2
        weights = np.exp(log_posterior - logsumexp(log_posterior))
        shifted = expit(odds)
        order = np.argsort(shifted, axis=None)
        ends = [(1 - confidence) / 2, (1 + confidence) / 2]
        low, high = np.interp(ends, np.cumsum(weights.ravel()[order]), shifted.ravel()[order])
        return float(low), float(high)

    @cached_property
    def _flat(self) -> Floats:
        return self.weights.ravel()


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(logit(np.clip(probabilities, LIMIT, 1 - LIMIT)))
