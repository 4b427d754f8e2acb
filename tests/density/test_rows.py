"""Rows, their weights, and the blocks that they are cut into."""

import re
from dataclasses import replace

import numpy as np
import pytest

from mixkern.density.coordinates import Coordinates
from mixkern.density.mixture import BLOCK, MOST_CATEGORIES, check_codes
from mixkern.density.rows import CELLS, SMALLEST_BLOCK, Rows, n_slots_of
from mixkern.errors import MixtureError

NAN = np.nan


def make_rows(n, d, e=1, *, weights=False, gaps=0.0):
    random = np.random.default_rng(0)
    X = np.where(random.random((n, d)) < gaps, NAN, random.normal(size=(n, d)))
    return Rows(X, random.integers(0, 3, (n, e)).astype(float), random.random(n) if weights else None, (4,) * e)


def test_length_and_taking_some():
    rows = make_rows(10, 2, weights=True)
    some = rows.take(np.array([7, 2]))
    assert (len(rows), len(some)) == (10, 2)
    np.testing.assert_array_equal(some.X, rows.X[[7, 2]])
    np.testing.assert_array_equal(some.codes, rows.codes[[7, 2]])
    np.testing.assert_array_equal(some.weights, rows.weights[[7, 2]])
    assert some.n_slots == rows.n_slots
    assert make_rows(3, 1).take(np.array([0])).weights is None


@pytest.mark.parametrize("n", [0, 1, 7919, 2 * BLOCK + 1])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_blocks_hold_every_row_once(n, gaps):
    rows = make_rows(n, 2, weights=True, gaps=gaps)
    table = rows.blocks(5, is_diagonal=False)
    values = np.hstack([np.vstack([b.values, b.codes, b.weights[None]]) for b in table]) if n else np.empty((4, 0))
    expected = np.column_stack([rows.X, rows.codes, rows.weights]).T
    np.testing.assert_array_equal(values[:, np.argsort(values[3])], expected[:, np.argsort(expected[3])])
    assert all(block.values.shape[1] <= BLOCK for block in table)


@pytest.mark.parametrize(
    ("d", "k", "is_diagonal"), [(2, 5, False), (100, 20, False), (300, 20, True), (20000, 20, True)]
)
def test_blocks_of_wide_tables_are_short(d, k, is_diagonal):
    rows = Rows(np.broadcast_to(0.0, (50, d)), np.empty((50, 0)), None, ())
    size = max(block.values.shape[1] for block in rows.blocks(k, is_diagonal=is_diagonal))
    assert size <= SMALLEST_BLOCK or size * k * d <= CELLS


def test_slots_have_room_for_one_more():
    assert n_slots_of(np.array([[0.0, 4.0, NAN], [1.0, NAN, NAN]])) == (3, 6, 1)
    assert n_slots_of(np.empty((3, 0))) == ()


def test_codes_of_categories_pass():
    check_codes(np.array([[0.0, 4.0, NAN], [MOST_CATEGORIES - 1, NAN, NAN]]))
    check_codes(np.empty((3, 0)))


@pytest.mark.parametrize("code", [-1.0, 0.5, float(MOST_CATEGORIES), 1e12])
def test_what_is_no_code_is_refused(code):
    text = f"must hold whole numbers from 0 to {MOST_CATEGORIES - 1}, or NaN for a gap, but they hold {code:g}."
    with pytest.raises(MixtureError, match=re.escape(text)):
        check_codes(np.array([[0.0], [code]]))


def test_volume_of_the_coordinates():
    rows = make_rows(10, 2, weights=True)
    assert rows.log_volume == 0
    coordinates = Coordinates(np.zeros(2), np.array([2.0, 3.0]))
    assert replace(rows, coordinates=coordinates).log_volume == pytest.approx(rows.weights.sum() * np.log(6))
