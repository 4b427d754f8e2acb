"""Encoded rows and what a mixture gives for them, against the methods of the mixture."""

import numpy as np
import pytest

from mixkern import Mixture
from mixkern.density import Rows

MIXTURE = Mixture(
    [0.6, 0.4],
    [[0.0, 0.0], [3.0, 1.0]],
    [np.eye(2), [[2.0, 0.5], [0.5, 1.0]]],
    categories=[[[0.7, 0.3], [0.2, 0.8]]],
)
GAP = np.nan
VALUES = np.array([[0.1, -0.3, 0.0], [GAP, 1.2, 1.0], [2.5, GAP, GAP], [GAP, GAP, 0.0], [1.0, 0.5, 1.0]])
VALUES.flags.writeable = False


@pytest.fixture
def rows():
    return Rows(VALUES, MIXTURE)


def test_everything_is_as_the_mixture_computes_it(rows):
    np.testing.assert_array_equal(rows.responsibilities, MIXTURE.responsibilities(VALUES))
    np.testing.assert_array_equal(rows.log_density, MIXTURE.log_density(VALUES))
    np.testing.assert_array_equal(rows.numbers, MIXTURE.conditional_mean(VALUES)[:, :2])
    np.testing.assert_array_equal(rows.filled, MIXTURE.conditional_mean(VALUES))
    assert rows.codes.dtype == np.int32
    assert rows.codes.ravel().tolist() == [0, 1, -1, 0, 1]
    assert (len(rows), rows.shape, rows.n_continuous, rows.has_gaps) == (5, (5, 3), 2, True)


def test_each_density_is_computed_once(rows, monkeypatch):
    calls = []
    original = Mixture.row_densities
    monkeypatch.setattr(
        Mixture, "row_densities", lambda self, X, **how: calls.append(len(X)) or original(self, X, **how)
    )
    for _ in range(2):
        _ = rows.log_density, rows.responsibilities, rows.numbers, rows.filled, rows[1:3].responsibilities
    assert calls == [5]


@pytest.mark.parametrize("at", [slice(1, 4), np.array([3, 0, 3]), np.arange(5) % 2 == 0, np.empty(0, dtype=int)])
@pytest.mark.parametrize("is_computed", [True, False])
def test_parts_of_the_rows(rows, at, is_computed):
    if is_computed:
        _ = rows.log_density, rows.numbers, rows.codes
    part, expected = rows[at], Rows(VALUES[at], MIXTURE)
    np.testing.assert_array_equal(part.values, VALUES[at])
    for name in ("responsibilities", "log_density", "numbers", "filled", "codes"):
        np.testing.assert_allclose(getattr(part, name), getattr(expected, name), rtol=1e-14)


def test_as_an_array_the_gaps_of_numbers_are_filled(rows):
    np.testing.assert_array_equal(np.asarray(rows), rows.filled)
    assert np.asarray(rows, dtype=np.float32).dtype == np.float32
    copy = np.array(rows[:1])
    copy[:] = 9.0
    assert rows.values[0, 0] == 0.1


def test_rows_without_gaps_are_not_copied():
    values = np.array(VALUES[[0, 4]])
    assert Rows(values, MIXTURE).filled is values


def test_rows_without_a_mixture_are_numbers_and_codes():
    rows = Rows(VALUES[[0, 4]], n_categorical=1)
    assert rows.numbers.tolist() == [[0.1, -0.3], [1.0, 0.5]]
    assert rows[1:].codes.tolist() == [[1]]
    assert Rows(VALUES[[0]]).codes is None


def test_a_row_that_no_component_explains_has_the_weights_as_responsibilities():
    mixture = Mixture([0.6, 0.4], [[0.0], [1.0]], [[[1.0]], [[1.0]]], categories=[[[1.0, 0.0], [1.0, 0.0]]])
    rows = Rows(np.array([[0.0, 1.0]]), mixture)
    assert rows.responsibilities.tolist() == [[0.6, 0.4]]
    assert rows.log_density.tolist() == [-np.inf]  # the log densities are not changed by it
