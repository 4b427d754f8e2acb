import numpy as np

from mixkern import Mixture
from mixkern.density import plain_numbers


def test_gaps_are_filled_and_categories_spread():
    mixture = Mixture([1.0], [[2.0, -1.0]], [[[1.0, 0.5], [0.5, 1.0]]], categories=[[[0.2, 0.3, 0.5]]])
    rows = np.array([[0.0, 1.0, 2.0], [4.0, np.nan, 0.0], [np.nan, np.nan, np.nan]])
    expected = [[0, 1, 0, 0, 1], [4, 0, 1, 0, 0], [2, -1, 0, 0, 0]]  # given 4, two above the mean, -1 + 0.5 * 2
    np.testing.assert_allclose(plain_numbers(mixture, rows), expected, atol=1e-12)
