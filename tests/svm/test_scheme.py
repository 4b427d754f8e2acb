"""Functions of pairs up to a number of classes, of single ones beyond."""

import numpy as np
import pytest

from mixkern.svm import least_squares, one_vs_one
from mixkern.svm.scheme import (
    MOST_LANDMARK_PAIRED,
    MOST_PAIRED,
    class_probabilities,
    class_scores,
    scheme_for,
    scheme_of,
)


@pytest.mark.parametrize("c", [2, 3, 4, 20, MOST_PAIRED])
def test_few_classes_have_pairs(c):
    assert scheme_for(c) is one_vs_one
    assert scheme_of(c * (c - 1) // 2, c) is one_vs_one
    if c <= MOST_LANDMARK_PAIRED:
        assert scheme_of(c, c) is one_vs_one  # which then have a wrong number


def test_with_landmarks_fewer_classes_have_pairs():
    assert scheme_for(MOST_LANDMARK_PAIRED, has_landmarks=True) is one_vs_one
    assert scheme_for(MOST_LANDMARK_PAIRED + 1, has_landmarks=True) is least_squares
    assert scheme_of(MOST_LANDMARK_PAIRED + 1, MOST_LANDMARK_PAIRED + 1) is least_squares


@pytest.mark.parametrize("c", [MOST_PAIRED + 1, 300])
def test_many_classes_have_a_function_each(c):
    assert scheme_for(c) is least_squares
    assert scheme_of(c, c) is least_squares
    assert scheme_of(c * (c - 1) // 2, c) is one_vs_one  # in files of earlier versions


@pytest.mark.parametrize(("c", "q"), [(2, 1), (3, 3), (5, 10), (101, 5050), (101, 101)])
def test_values_are_converted_by_their_scheme(c, q):
    values, scheme = np.random.RandomState(0).uniform(-1, 1, size=(4, q)), scheme_of(q, c)
    np.testing.assert_array_equal(class_scores(values, c), scheme.class_scores(values, c))
    np.testing.assert_array_equal(class_probabilities(values, 2.0, c), scheme.class_probabilities(values, 2.0, c))


@pytest.mark.parametrize("scheme", [one_vs_one, least_squares])
def test_a_scheme_has_the_same_functions(scheme):
    c = 5
    values, codes = np.random.RandomState(0).uniform(-1, 1, size=(4, scheme.n_functions(c))), np.array([0, 4, 2, 2])
    own = scheme.own_probabilities(values, codes, np.array([0.5, 2.0]))
    for share, slope in zip(own, (0.5, 2.0), strict=True):
        np.testing.assert_allclose(share, scheme.class_probabilities(values, slope, c)[np.arange(4), codes])
    assert scheme.learned_slope(values, codes) > 0
    assert scheme.learned_slope(values, codes, np.ones(4)) == scheme.learned_slope(values, codes)
