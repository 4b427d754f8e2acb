"""Tests of the rows that may be suggested."""

import numpy as np

from mixkern.advice.pool import Pool

GAP = np.nan


def pool_of(rows, taken=()):
    is_taken = np.zeros(len(rows), dtype=bool)
    is_taken[list(taken)] = True
    return Pool.of(np.array(rows, dtype=float), is_taken)


def test_equal_rows_share_a_group_and_gaps_are_equal_to_gaps():
    groups = pool_of([[1, GAP], [1, 2], [1, -GAP], [0.0, 1], [-0.0, 1], [GAP, 1]]).groups
    assert groups[0] == groups[2]
    assert groups[3] == groups[4]
    assert len(set(groups)) == 4


def test_rows_that_differ_in_the_last_digit_are_different():
    assert len(set(pool_of([[1e9, 1.0], [1e9, np.nextafter(1.0, 2)]]).groups)) == 2


def test_fresh_rows_are_equal_to_none_that_is_taken_and_copies_are():
    pool = pool_of([[1], [1], [2], [2], [3]], taken=[0])
    assert pool.fresh.tolist() == [2, 3, 4]
    assert pool.copies.tolist() == [1]


def test_taking_rows_makes_another_pool():
    pool = pool_of([[1], [2], [2]])
    smaller = pool.without(np.array([1]))
    assert smaller.fresh.tolist() == [0]
    assert smaller.copies.tolist() == [2]
    assert pool.fresh.tolist() == [0, 1, 2]


def test_a_group_is_drawn_once_and_counts_as_often_as_it_has_rows():
    rows, counts = pool_of([[2], [1], [2], [3], [2]], taken=[3]).drawn(100, np.random.RandomState(0))
    assert rows.tolist() == [0, 1]
    assert counts.tolist() == [3, 1]


def test_no_more_rows_are_drawn_than_the_limit():
    rows, counts = pool_of(np.arange(50.0)[:, None]).drawn(7, np.random.RandomState(0))
    assert len(set(rows)) == 7
    assert counts.sum() == 7
