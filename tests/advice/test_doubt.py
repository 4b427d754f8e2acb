"""Tests of how undecided labels leave a row."""

import numpy as np

from mixkern.advice.doubt import doubt

LABELLED = np.array([[0.0], [2.0], [4.0]])


def gaussian(A, B):
    return np.exp(-((A - B.T) ** 2))


def doubts(rows, codes, labelled=LABELLED):
    return doubt(gaussian(np.array(rows), labelled), gaussian(labelled, labelled), np.array(codes))


def test_doubt_is_greatest_between_classes():
    at = doubts([[0.0], [2.0], [4.0]], [0, 1], labelled=np.array([[0.0], [4.0]]))
    assert at[1] > 0.9
    assert max(at[0], at[2]) < 0.3


def test_doubt_lies_between_0_and_1():
    at = doubts(np.linspace(-50, 50, 101)[:, None], [0, 1, 2])
    assert at.min() >= 0
    assert at.max() <= 1


def test_one_class_leaves_all_rows_alike():
    assert doubts([[0.0], [9.0]], [4, 4, 4]).tolist() == [1, 1]


def test_codes_are_names_only():
    rows = [[0.3], [1.2], [3.1]]
    np.testing.assert_array_equal(doubts(rows, [0, 1, 0]), doubts(rows, [7, 3, 7]))
