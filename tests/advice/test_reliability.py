"""The posterior of slope and shift, and shares of right predictions, against literal loops."""

import numpy as np
import pytest

from mixkern.advice.reliability import (
    CHOICE,
    CHOICE_SPREAD,
    CLASS_POWER,
    CLASS_SPREAD,
    LIMIT,
    SHIFT,
    SHIFT_SPREAD,
    SHIFTS,
    Reliability,
)
from mixkern.svm.class_calibration import LOG_SLOPE_SPREAD, POWER, SLOPE, SLOPES
from mixkern.svm.one_vs_one import chosen, class_probabilities, class_scores

RANDOM = np.random.RandomState(0)
N, C = 6, 3
CODES = np.array([0, 1, 2, 0, 1, 2])
SUGGESTED = np.array([True, False, False, True, True, False])
VALUES = RANDOM.standard_normal((2, N, 3))
ROWS = RANDOM.standard_normal((5, 3))
NOT = np.zeros(N, dtype=bool)


def log_odds(p):
    p = min(max(p, LIMIT), 1 - LIMIT)
    return np.log(p / (1 - p))


def right_probability(values, slope, shift):
    """Probability that the predicted class is right."""
    return 1 / (1 + np.exp(-log_odds(class_probabilities(values[None], slope, C).max()) - shift))


def literal_posterior(values, codes, is_suggested):
    """The posterior as a sum over all slopes, shifts, and shifts of suggested rows."""

    def likelihood(slope, shift, rows):
        total = 0.0
        for i in rows:
            for repeat in values:
                p = right_probability(repeat[i], slope, shift)
                is_right = chosen(class_scores(repeat[[i]], C))[0] == codes[i]
                total += np.log(p if is_right else 1 - p) / len(values)
        return np.exp(POWER * total)

    weights = np.empty((len(SLOPES), len(SHIFTS)))
    for i, slope in enumerate(SLOPES):
        chosen_likelihoods = [likelihood(slope, shift, np.flatnonzero(is_suggested)) for shift in SHIFTS]
        for j, shift in enumerate(SHIFTS):
            prior = np.exp(-0.5 * (np.log(slope / SLOPE) / LOG_SLOPE_SPREAD) ** 2)
            prior *= np.exp(-0.5 * ((shift - SHIFT) / SHIFT_SPREAD) ** 2)
            others = np.exp(-0.5 * ((SHIFTS - shift - CHOICE) / CHOICE_SPREAD) ** 2)
            of_suggested = (others / others.sum()) @ chosen_likelihoods
            weights[i, j] = prior * of_suggested * likelihood(slope, shift, np.flatnonzero(~is_suggested))
    return weights / weights.sum()


@pytest.mark.slow
@pytest.mark.parametrize("is_suggested", [NOT, SUGGESTED, ~NOT], ids=["random", "both", "suggested"])
def test_the_posterior_is_that_of_a_plain_loop(is_suggested):
    found = Reliability.of(VALUES, CODES, is_suggested, C)
    np.testing.assert_allclose(found.weights, literal_posterior(VALUES, CODES, is_suggested), atol=1e-12)


def test_the_posterior_of_few_labels_is_that_of_a_plain_loop():
    few = slice(0, 2)
    found = Reliability.of(VALUES[:1, few], CODES[few], SUGGESTED[few], C)
    np.testing.assert_allclose(
        found.weights, literal_posterior(VALUES[:1, few], CODES[few], SUGGESTED[few]), atol=1e-12
    )


@pytest.mark.parametrize(("i", "j"), [(0, 0), (10, 30), (25, 40), (39, 60)])
def test_shares_are_those_of_a_plain_loop(i, j):
    shares = Reliability.of(VALUES, CODES, NOT, C).shares(ROWS)
    right, missed = np.zeros(C), np.zeros(C)
    for row in ROWS:
        probabilities = class_probabilities(row[None], SLOPES[i], C)[0]
        winner, p = probabilities.argmax(), right_probability(row, SLOPES[i], SHIFTS[j])
        right[winner] += p
        for other in range(C):
            if other != winner:
                missed[other] += (1 - p) * probabilities[other] / max(1 - probabilities[winner], LIMIT)
    assert shares.overall[i, j] == pytest.approx(right.sum() / len(ROWS))
    np.testing.assert_allclose(shares.per_class[i, j], right / (right + missed))
    assert shares.balanced[i, j] == pytest.approx((right / (right + missed)).mean())
    np.testing.assert_allclose(shares.classes[i, j], (right + missed) / len(ROWS))
    assert shares.classes[i, j].sum() == pytest.approx(1)


def test_without_labels_the_posterior_is_the_prior():
    found = Reliability.of(np.empty((1, 0, 3)), np.empty(0, dtype=int), np.empty(0, dtype=bool), C)
    assert found.mean(np.broadcast_to(SHIFTS, found.weights.shape)) == pytest.approx(SHIFT, abs=1e-3)
    assert found.mean(np.broadcast_to(np.log(SLOPES)[:, None], found.weights.shape)) == pytest.approx(0, abs=0.1)


def test_suggested_labels_that_are_wrong_lower_the_estimate_less():
    values, wrong = np.tile([[[1.5, 1.5, 0.0]]], (1, N, 1)), np.ones(N, dtype=int)
    random, suggested = (Reliability.of(values, wrong, mask, C) for mask in (NOT, ~NOT))
    rows = np.array([[1.5, 1.5, 0.0]])
    assert random.mean(random.shares(rows).overall) < suggested.mean(suggested.shares(rows).overall)


def test_the_interval_has_the_probability_that_is_asked_for():
    found = Reliability.of(VALUES, CODES, NOT, C)
    share = found.shares(ROWS).overall
    for confidence in (0.5, 0.9):
        low, high = found.interval(share, confidence)
        inside = found.weights[(share >= low) & (share <= high)].sum()
        assert inside == pytest.approx(confidence, abs=0.02)
        assert low < found.mean(share) < high


def test_the_interval_of_a_class_is_that_of_a_plain_loop():
    found = Reliability.of(VALUES, CODES, NOT, C)
    share = found.shares(ROWS).per_class[:, :, 0]
    rights, mask = np.array([1.0, 0.5]), np.array([False, True])
    order = np.argsort(share, axis=None)
    levels = np.interp((np.arange(41) + 0.5) / 41, np.cumsum(found.weights.ravel()[order]), share.ravel()[order])
    points = []
    for value in levels:
        for shift in np.linspace(-5, 5, 81):
            odds = log_odds(value) + shift
            weight = np.exp(-0.5 * (shift / CLASS_SPREAD) ** 2)
            for right, is_suggested in zip(rights, mask, strict=True):
                p = 1 / (1 + np.exp(-odds - CHOICE * is_suggested))
                weight *= (p**right * (1 - p) ** (1 - right)) ** CLASS_POWER
            points.append((1 / (1 + np.exp(-odds)), weight))
    points.sort()
    shares, weights = np.array(points).T
    expected = np.interp([0.05, 0.95], np.cumsum(weights) / weights.sum(), shares)
    assert found.class_interval(share, rights, mask, 0.9) == pytest.approx(tuple(expected))


def test_the_interval_of_a_class_is_wider_than_the_uncertainty_of_the_table():
    found = Reliability.of(VALUES, CODES, NOT, C)
    share = found.shares(ROWS).per_class[:, :, 1]
    wide, narrow = found.class_interval(share, np.ones(2), NOT[:2], 0.9), found.interval(share, 0.9)
    assert wide[1] - wide[0] > narrow[1] - narrow[0]
    many = found.class_interval(share, np.ones(200), np.zeros(200, dtype=bool), 0.9)
    assert many[0] > wide[0]


def test_many_labels_outweigh_the_prior():
    n = 2_000
    values = np.tile([[[2.0]]], (1, n, 1))
    codes = (np.arange(n) % 10 == 0).astype(int)  # one in ten is wrong
    found = Reliability.of(values, codes, np.zeros(n, dtype=bool), 2)
    share = found.shares(np.array([[2.0]])).overall
    assert found.mean(share) == pytest.approx(0.9, abs=0.01)
    low, high = found.interval(share, 0.95)
    assert high - low < 0.05
