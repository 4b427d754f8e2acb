"""Subsamples of rows and of labels."""

import numpy as np
import pytest

from mixkern.sampling import class_rows, class_subsample, subsample


def test_few_rows_are_all_kept_and_no_random_number_is_drawn():
    random = np.random.RandomState(0)
    assert subsample(np.array([4, 2, 9]), 3, random).tolist() == [4, 2, 9]
    assert random.randint(1000) == np.random.RandomState(0).randint(1000)


def test_rows_are_drawn_once_each():
    rows = subsample(np.arange(100, 200), 60, np.random.RandomState(0))
    assert len(set(rows)) == 60
    assert rows.min() >= 100


def test_classes_keep_their_proportions_and_none_is_lost():
    codes = np.repeat([0, 1, 2], [100, 3, 1])
    np.testing.assert_array_equal(np.bincount(codes[class_subsample(codes, 20, np.random.RandomState(0))]), [19, 2, 1])
    np.testing.assert_array_equal(class_subsample(codes, 1_000, np.random.RandomState(0)), np.arange(104))
    least = class_subsample(codes, 20, np.random.RandomState(0), least=1)
    np.testing.assert_array_equal(np.bincount(codes[least]), [19, 1, 1])


@pytest.mark.parametrize("size", [3, 11, 50])
def test_the_draw_is_a_choice_within_each_class(size):
    """Later draws from the stream do not depend on the size."""
    codes = np.array([0, 1, 0, 0, 1, 0, 2, 0, 2, 1, 0])
    first, second = np.random.RandomState(5), np.random.RandomState(5)
    expected = []
    for code in range(3):
        own = np.flatnonzero(codes == code)
        expected.append(second.choice(own, min(len(own), max(2, round(size * len(own) / 11))), replace=False))
    assert class_subsample(codes, size, first).tolist() == np.sort(np.concatenate(expected)).tolist()
    assert first.randint(1000) == second.randint(1000)


def test_classes_are_drawn_whole():
    codes = np.arange(3000) % 700
    rows = class_rows(codes, 1000, np.random.RandomState(0))
    assert 990 < len(rows) <= 1000
    assert (np.diff(rows) > 0).all()
    assert np.isin(codes, codes[rows]).sum() == len(rows)
    other = class_rows(codes, 1000, np.random.RandomState(1))
    assert set(codes[rows]) != set(codes[other])


def test_two_classes_are_drawn_at_least():
    codes = np.repeat([0, 1, 2], 100)
    assert len(class_rows(codes, 5, np.random.RandomState(0))) == 200
    np.testing.assert_array_equal(class_rows(codes, 300, np.random.RandomState(0)), np.arange(300))
