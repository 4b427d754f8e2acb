"""Scores and probabilities of one class against the others, by the formula."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.svm import one_vs_one
from mixkern.svm.one_vs_rest import class_probabilities, class_scores, own_values

values = st.floats(-30, 30)


def literal(values, slope):
    """The formula of the module, number by number."""
    sigmoid = [1 / (1 + math.exp(-slope * f)) for f in values]
    if len(values) == 1:
        return [1 - sigmoid[0], sigmoid[0]]
    return [each / sum(sigmoid) for each in sigmoid]


@settings(deadline=None)
@given(st.lists(st.lists(values, min_size=4, max_size=4), min_size=1, max_size=5), st.floats(0.01, 5))
def test_probabilities_against_the_formula(rows, slope):
    for rows_of in (np.array(rows), np.array(rows)[:, :1]):
        n_classes = 4 if rows_of.shape[1] > 1 else 2
        found = class_probabilities(rows_of, slope, n_classes)
        np.testing.assert_allclose(found, [literal(row, slope) for row in rows_of], atol=1e-12)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("q", [1, 3, 5])
@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
def test_the_chosen_class_has_the_largest_probability(q, size):
    """Also where sigmoids are equal, or too small for a float."""
    c = max(2, q)
    values = size * np.random.RandomState(0).standard_normal((200, q))
    values[:5], values[5:10] = 0.0, -size
    shares = class_probabilities(values, 3.0, c)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), one_vs_one.chosen(class_scores(values, c)))


def test_a_larger_value_has_a_larger_probability():
    values = np.linspace(-2, 2, 50)[:, None] * [1.0, 0.0, 0.0]
    assert (np.diff(class_probabilities(values, 2.0, 3)[:, 0]) > 0).all()
    assert (np.diff(class_probabilities(values[:, :1], 2.0, 2)[:, 1]) > 0).all()


def test_scores():
    one, three = np.array([[1.0], [-2.0]]), np.arange(6.0).reshape(2, 3)
    assert class_scores(one, 2).tolist() == [1.0, -2.0]
    assert class_scores(three, 3) is three


def test_own_values_by_a_loop():
    random = np.random.RandomState(0)
    codes, weights = np.array([2, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0])
    for values, c in ((random.standard_normal((4, 3)), 3), (random.standard_normal((4, 1)), 2)):
        codes = codes % c
        expected = []
        for i, row in enumerate(values):
            for label, f in zip([1] if c == 2 else range(c), row, strict=True):
                expected.append((f if codes[i] == label else -f, weights[i]))
        own = own_values(values, codes, weights)
        np.testing.assert_array_equal(np.column_stack([own.values, own.weights]), expected)
        assert own_values(values, codes).weights.tolist() == [1.0] * values.size


def test_no_rows():
    assert class_probabilities(np.empty((0, 3)), 1.0, 3).shape == (0, 3)
    assert own_values(np.empty((0, 3)), np.empty(0, dtype=int)).values.shape == (0,)
