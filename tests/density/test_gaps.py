"""Groups of rows that miss the same columns."""

import numpy as np
import pytest

from mixkern.density.gaps import gap_patterns

NAN = np.nan


def test_rows_without_gaps_are_one_group():
    [(rows, observed, missing)] = gap_patterns(np.ones((3, 2)))
    assert (rows.tolist(), observed.tolist(), missing.tolist()) == ([0, 1, 2], [0, 1], [])


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (50, 9), (200, 17)])
def test_every_row_is_in_the_one_group_that_misses_what_it_misses(n, d):
    random = np.random.default_rng(n)
    X = np.where(random.random((n, d)) < 0.4, NAN, 1.0)
    seen = []
    patterns = set()
    for rows, observed, missing in gap_patterns(X):
        assert sorted([*observed, *missing]) == list(range(d))
        np.testing.assert_array_equal(np.isnan(X[rows]), np.tile(np.isin(np.arange(d), missing), (len(rows), 1)))
        patterns.add(tuple(missing))
        seen.extend(rows)
    assert sorted(seen) == list(range(n))
    assert len(patterns) == len(list(gap_patterns(X))) == len({tuple(row) for row in np.isnan(X)})


def test_rows_of_a_group_keep_their_order():
    X = np.array([[NAN, 1.0], [1.0, 1.0]] * 20)
    for rows, _, _ in gap_patterns(X):
        assert rows.tolist() == sorted(rows)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0), (0, 0)])
def test_an_empty_table_is_one_group(shape):
    [(rows, observed, missing)] = gap_patterns(np.empty(shape))
    assert (len(rows), len(observed), len(missing)) == (*shape, 0)


def test_only_gaps():
    [(rows, observed, missing)] = gap_patterns(np.full((4, 2), NAN))
    assert (rows.tolist(), observed.tolist(), missing.tolist()) == ([0, 1, 2, 3], [], [0, 1])
