"""Fewer rows: all labelled ones, and others at random."""

import numpy as np
import pytest

from mixkern.errors import DrawnRowsWarning
from mixkern.estimators.subsample import drawn

CODES = np.array([-1, 0, -1, 1, -1, -1, 0])


def rows(n, codes, limit, seed=0):
    return drawn(n, codes, limit, np.random.RandomState(seed))


@pytest.mark.parametrize("n", [0, 1, 7])
def test_few_rows_are_all_taken(n):
    assert rows(n, None, 7).tolist() == list(range(n))
    assert rows(7, CODES, 7).tolist() == list(range(7))


def test_labelled_rows_are_kept():
    message = "There are 20 rows, and matrices .* all 3 labelled rows and 5 others, drawn at random, are used"
    for seed in range(10):
        with pytest.warns(DrawnRowsWarning, match=message):
            found = rows(20, CODES, 8, seed)
        assert len(found) == len(set(found)) == 8
        assert {1, 3, 6} <= set(found)
        assert (np.diff(found) > 0).all()


def test_more_labels_than_rows_allowed_are_kept_all_the_same():
    with pytest.warns(DrawnRowsWarning, match="all 3 labelled rows and 0 others"):
        assert rows(20, CODES, 2).tolist() == [1, 3, 6]


def test_without_labels_any_rows_are_drawn():
    with pytest.warns(DrawnRowsWarning, match="all 0 labelled rows and 4 others"):
        found = rows(50, None, 4)
    assert len(set(found)) == 4


def test_every_row_is_drawn_at_some_time():
    with pytest.warns(DrawnRowsWarning):
        seen = {i for seed in range(60) for i in rows(10, CODES, 5, seed)}
    assert seen == set(range(10))


def test_the_seed_decides():
    with pytest.warns(DrawnRowsWarning):
        a, b, c = (rows(50, CODES, 10, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_all_labelled():
    with pytest.warns(DrawnRowsWarning, match="all 7 labelled rows and 0 others"):
        assert rows(7, np.zeros(7, dtype=int), 3).tolist() == list(range(7))
