"""Jitter within the resolution of coarse columns, and one-hot rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern import Mixture, MixtureSVC, VBMixture
from mixkern.density.preprocessing import FEW_VALUES, jitter, one_hot_rows, resolution


def literal_resolution(column):
    """The smallest difference of two values, where there are at most ten, or less than the root of the rows."""
    there = [value for value in column if value == value]
    distinct = sorted(set(there))
    if len(distinct) < 2 or len(distinct) > max(FEW_VALUES, len(there) ** 0.5):
        return 0.0
    return min(b - a for a, b in pairwise(distinct))


@settings(deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([np.nan, *np.arange(30) / 4]), max_size=60))
def test_resolution_is_the_smallest_difference_of_few_values(column):
    assert resolution(np.array(column)) == literal_resolution(column)


def test_many_rows_make_more_values_few():
    column = np.arange(2000) % 40.0
    assert resolution(column) == 1.0  # 40 < sqrt(2000)
    assert resolution(column[:1500]) == 0.0


def test_constant_and_empty_columns_have_none():
    assert resolution(np.full(5, 2.0)) == 0.0
    assert resolution(np.full(5, np.nan)) == 0.0
    assert resolution(np.empty(0)) == 0.0


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(0, 40), st.integers(0, 10**6))
def test_only_coarse_numbers_move_and_by_half_a_resolution_at_most(n, seed):
    random = np.random.RandomState(seed)
    coarse, fine = random.randint(1, 6, n) * 0.5, random.standard_normal(n)
    rows = np.column_stack([coarse, fine, np.full(n, 7.0), random.randint(0, 3, n)])
    rows[random.uniform(size=rows.shape) < 0.2] = np.nan
    before = rows.copy()
    moved = jitter(rows, 3, random)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(np.isnan(moved), np.isnan(rows))
    np.testing.assert_array_equal(moved[:, 2:], rows[:, 2:])  # a constant, and codes of categories
    if resolution(rows[:, 1]) == 0:
        np.testing.assert_array_equal(moved[:, 1], rows[:, 1])
    there = ~np.isnan(rows[:, 0])
    assert (np.abs(moved - rows)[there, 0] <= resolution(rows[:, 0]) / 2).all()


def test_moved_numbers_fill_the_resolution_evenly():
    marks = np.repeat([[1.0], [2.0], [3.0]], 400, axis=0)
    offset = (jitter(marks, 1, np.random.RandomState(0)) - marks)[:, 0]
    assert np.histogram(offset, bins=4, range=(-0.5, 0.5))[0].min() > 240
    assert abs(offset.mean()) < 0.03


def test_the_same_seed_moves_alike():
    marks = np.array([[1.0], [2.0], [2.0]])
    a, b, c = (jitter(marks, 1, np.random.RandomState(seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def lattice(n=300, seed=0):
    """Marks from 1 to 5 in three subjects, two kinds of pupils."""
    random = np.random.RandomState(seed)
    y = np.arange(n) % 2
    marks = np.clip(np.rint(2.2 + 1.6 * y[:, None] + 0.8 * random.standard_normal((n, 3))), 1, 5)
    return marks, y


def test_a_lattice_does_not_collapse():
    """Without jitter, the density finds narrow peaks; with it, the two kinds."""
    marks, _ = lattice()
    raw = VBMixture(random_state=0).fit(marks).mixture_
    jittered = VBMixture(random_state=0).fit(jitter(marks, 3, np.random.RandomState(0))).mixture_
    assert jittered.n_components <= 4
    assert jittered.variances.min() > 1 / 24  # half that of the resolution itself, 1 / 12
    assert raw.variances.min() < jittered.variances.min()


def test_a_classifier_of_a_lattice():
    marks, y = lattice()
    few = np.where(np.arange(len(y)) < 12, y, -1)
    classifier = MixtureSVC(encoder="passthrough", random_state=0).fit(marks, few)
    assert classifier.mixture_.n_components <= 4
    assert 0.01 < classifier.kernel_.gamma < 10
    assert classifier.score(marks, y) > 0.8


@pytest.mark.parametrize("kernel", ["rwm", "gmm"])
def test_distances_are_those_of_the_rows_as_they_are(kernel):
    """Only the density is fitted to moved numbers: equal rows stay equal to the kernel."""
    marks, y = lattice(60)
    classifier = MixtureSVC(kernel, encoder="passthrough", random_state=0, probability=False).fit(marks, y)
    np.testing.assert_array_equal(classifier.support_vectors_, marks[classifier.support_])


def test_gaps_are_filled_and_categories_become_columns():
    mixture = Mixture([1.0], [[2.0, -1.0]], [[[1.0, 0.5], [0.5, 1.0]]], categories=[[[0.2, 0.3, 0.5]]])
    rows = np.array([[0.0, 1.0, 2.0], [4.0, np.nan, 0.0], [np.nan, np.nan, np.nan]])
    expected = [[0, 1, 0, 0, 1], [4, 0, 1, 0, 0], [2, -1, 0, 0, 0]]  # given 4, two above the mean, -1 + 0.5 * 2
    np.testing.assert_allclose(one_hot_rows(mixture, rows), expected, atol=1e-12)
