"""Calibration, against the formulas written out."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss

from mixkern_study.calibration import (
    N_BINS,
    bins_text,
    checked_probabilities,
    expected_calibration_error,
    mean_log_loss,
    reliability,
)


def literal_ece(confidence, is_correct):
    """Sum over bins of the share of rows times the distance of accuracy and confidence."""
    total = 0.0
    for b in range(N_BINS):
        rows = [
            i for i, p in enumerate(confidence) if b / N_BINS <= p < (b + 1) / N_BINS or (p == 1 and b == N_BINS - 1)
        ]
        if rows:
            accuracy = np.mean([is_correct[i] for i in rows])
            total += len(rows) / len(confidence) * abs(accuracy - np.mean([confidence[i] for i in rows]))
    return total


CASES = st.lists(st.tuples(st.integers(0, 63), st.booleans()), min_size=1, max_size=40)


@given(CASES)
def test_the_error_is_the_formula(rows):
    p = np.array([k / 63 for k, _ in rows])
    probabilities = np.column_stack([p, 1 - p])
    truth = np.array([4 if is_second else 1 for _, is_second in rows])
    confidence = probabilities.max(axis=1)
    is_correct = np.array([1, 4])[probabilities.argmax(axis=1)] == truth
    bins = reliability(np.array([1, 4]), probabilities, truth)
    assert sum(n for n, _, _ in bins) == len(rows)
    assert expected_calibration_error([bins]) == pytest.approx(literal_ece(confidence, is_correct), abs=1e-5)


def test_draws_are_added_up():
    """A bin that is too confident in one draw and not enough in another is calibrated on average."""
    low, high = [[4, 3.0, 2]], [[4, 3.0, 4]]
    assert expected_calibration_error([low]) == expected_calibration_error([high]) == 0.25
    assert expected_calibration_error([low, high]) == 0.0


def test_nothing_has_no_error():
    assert math.isnan(expected_calibration_error([]))
    assert math.isnan(expected_calibration_error([[]]))


def test_a_certain_method_is_in_the_last_bin():
    bins = reliability(np.array([0, 1]), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]))
    assert bins[-1] == [2, 2.0, 1]
    assert json.loads(bins_text(bins)) == bins


def test_log_loss_is_the_one_of_scikit_learn():
    random = np.random.RandomState(0)
    probabilities = random.dirichlet([1, 1, 1], 50)
    truth = random.choice([0, 3, 5], 50)
    ours = mean_log_loss(np.array([0, 3, 5]), probabilities, truth)
    assert ours == pytest.approx(log_loss(truth, probabilities, labels=[0, 3, 5]))


def test_log_loss_of_classes_without_a_label_is_left_out():
    probabilities = np.array([[0.5, 0.5], [0.9, 0.1]])
    assert mean_log_loss(np.array([0, 2]), probabilities, np.array([1, 0])) == pytest.approx(-np.log(0.9))
    assert math.isnan(mean_log_loss(np.array([0, 2]), probabilities, np.array([1, 1])))


def test_log_loss_is_finite():
    assert mean_log_loss(np.array([0, 1]), np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(-np.log(1e-6))


def test_rows_without_probabilities_have_equal_ones():
    np.testing.assert_array_equal(
        checked_probabilities(np.array([[np.nan, 0.5, 0.5], [1.0, 0.0, 0.0]])), [[1 / 3] * 3, [1, 0, 0]]
    )
