"""The rival that knows labels only: what it is given, and that it is scikit-learn's own machine."""

import numpy as np
from sklearn.svm import SVC

from mixkern import Mixture
from mixkern.advice.labels_only import C, plain_numbers, predicted


def test_gaps_are_filled_and_categories_spread():
    mixture = Mixture([1.0], [[2.0, -1.0]], [[[1.0, 0.5], [0.5, 1.0]]], categories=[[[0.2, 0.3, 0.5]]])
    rows = np.array([[0.0, 1.0, 2.0], [4.0, np.nan, 0.0], [np.nan, np.nan, np.nan]])
    expected = [[0, 1, 0, 0, 1], [4, 0, 1, 0, 0], [2, -1, 0, 0, 0]]  # given 4, two above the mean, -1 + 0.5 * 2
    np.testing.assert_allclose(plain_numbers(mixture, rows), expected, atol=1e-12)


def test_nothing_but_the_kept_rows_is_learned_from():
    random = np.random.RandomState(0)
    numbers, codes = random.standard_normal((30, 2)), np.arange(30) % 3
    kept, out = np.arange(20), np.arange(20, 30)
    expected = SVC(C=C, gamma="scale").fit(numbers[:20], codes[:20]).predict(numbers[20:])
    np.testing.assert_array_equal(predicted(numbers, codes, kept, out), expected)
    np.testing.assert_array_equal(predicted(numbers, np.where(np.arange(30) < 20, codes, 0), kept, out), expected)
