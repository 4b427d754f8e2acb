"""Inner coordinates keep digits and meaning; blocks hold every row once; gap patterns group all rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mixkern.density.block import (
    BLOCK,
    BLOCK_CELLS,
    ENGINE_BLOCK,
    RESOLUTION,
    SMALLEST_BLOCK,
    Coordinates,
    InnerRows,
    gap_patterns,
    n_slots_of,
)
from mixkern.density.covariance import CovarianceType
from mixkern.density.mixture import Mixture

NAN = np.nan
FULL, SPHERICAL = CovarianceType.FULL, CovarianceType.SPHERICAL


def outer(coordinates, mixture):
    return replace(mixture, **coordinates.outer(mixture))


@pytest.mark.parametrize(("centre", "scale"), [(0, 1), (1e9, 1), (1e9, 1e-3), (0, 1e-9), (-1e9, 1e6), (3, 1e9)])
def test_inner_columns_have_mean_zero_and_deviation_one(centre, scale):
    X = centre + scale * np.random.default_rng(0).normal(size=(50, 3))
    inner = Coordinates.of(X, None, FULL).inner(X)
    resolution = np.spacing(abs(centre) + scale) / scale
    np.testing.assert_allclose(inner.mean(axis=0), 0, atol=1e-12 + 10 * resolution)
    np.testing.assert_allclose(inner.std(axis=0), 1, rtol=1e-12 + 10 * resolution)


def test_gaps_and_weights_count_as_they_should():
    random = np.random.default_rng(1)
    X = random.normal(size=(30, 2))
    X[::3, 0] = NAN
    weights = random.integers(0, 4, 30).astype(float)
    weighted = Coordinates.of(X, weights, FULL)
    repeated = Coordinates.of(np.repeat(X, weights.astype(int), axis=0), None, FULL)
    np.testing.assert_allclose(weighted.centre, repeated.centre, rtol=1e-12)
    np.testing.assert_allclose(weighted.scale, repeated.scale, rtol=1e-12)
    np.testing.assert_allclose(repeated.centre, np.nanmean(np.repeat(X, weights.astype(int), axis=0), axis=0))


def test_constant_columns_and_columns_of_gaps_have_scale_one():
    X = np.array([[5.0, NAN, 0.1], [5.0, NAN, 0.1], [5.0, NAN, 0.1]])
    coordinates = Coordinates.of(X, None, FULL)
    assert coordinates.scale.tolist() == [1, 1, 1]
    assert coordinates.centre.tolist() == [5, 0, 0.1]


def test_a_column_whose_weights_are_all_zero_is_a_column_of_gaps():
    X = np.array([[1.0, NAN], [2.0, NAN], [NAN, 7.0]])
    coordinates = Coordinates.of(X, np.array([1.0, 1.0, 0.0]), FULL)
    assert np.isfinite(coordinates.centre).all()
    assert coordinates.scale.tolist() == [0.5, 1]


def test_spheres_stay_spheres():
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 10, 100]
    scale = Coordinates.of(X, None, SPHERICAL).scale
    assert (scale == scale[0]).all()
    np.testing.assert_allclose(scale[0] ** 2, X.var(axis=0).mean())


def test_no_columns(kind):
    coordinates = Coordinates.of(np.empty((4, 0)), None, CovarianceType(kind))
    assert coordinates.inner(np.empty((4, 0))).shape == (4, 0)
    assert coordinates.log_volume(np.empty((4, 0)), None) == 0
    mixture = Mixture([1.0], np.empty((1, 0)), np.ones(CovarianceType(kind).shape(1, 0)), kind, [[[0.5, 0.5]]])
    assert outer(coordinates, mixture) == mixture


def test_densities_differ_by_the_volume(kind, make_mixture):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 2, 3] + [5, 0, -5]
    coordinates = Coordinates.of(X, None, CovarianceType(kind))
    inner = make_mixture(kind, 3, 3, (2,))
    rows = np.column_stack([X, np.arange(40) % 2])
    rows[::3, 1] = NAN
    inner_rows = np.column_stack([coordinates.inner(rows[:, :3]), rows[:, 3]])
    total = inner.log_density(inner_rows).sum() - coordinates.log_volume(rows[:, :3], None)
    np.testing.assert_allclose(outer(coordinates, inner).log_density(rows).sum(), total, rtol=1e-12)
    np.testing.assert_allclose(
        outer(coordinates, inner).responsibilities(rows), inner.responsibilities(inner_rows), atol=1e-12
    )


def test_weights_enter_the_volume():
    X = np.array([[1.0, NAN], [3.0, 4.0]])
    coordinates = Coordinates(np.zeros(2), np.array([2.0, 5.0]))
    assert coordinates.log_volume(X, None) == pytest.approx(2 * np.log(2) + np.log(5))
    assert coordinates.log_volume(X, np.array([3.0, 0.5])) == pytest.approx(3.5 * np.log(2) + 0.5 * np.log(5))


def test_wishart_scales_transform_like_precisions():
    """If Lambda ~ W(W, nu), then S Lambda S, the precision of x / s, is W(S W S, nu)."""
    coordinates = Coordinates(np.zeros(2), np.array([2.0, 5.0]))
    W = np.array([[2.0, 0.3], [0.3, 1.0]])
    inner = np.linalg.inv(coordinates.inner_inverse_scale(np.linalg.inv(W)))
    S = np.diag(coordinates.scale)
    np.testing.assert_allclose(inner, S @ W @ S)
    precision = np.array([[1.0, 0.2], [0.2, 3.0]])
    jacobian = 3 * np.log(np.linalg.det(S))  # d (d + 1) / 2 directions, ln |S| to the power of d + 1
    np.testing.assert_allclose(
        stats.wishart(4, W).logpdf(precision) - jacobian, stats.wishart(4, inner).logpdf(S @ precision @ S)
    )
    np.testing.assert_allclose(coordinates.inner_inverse_scale(np.array([1.0, 2.0])), [1 / 4, 2 / 25])


@pytest.mark.parametrize("is_diagonal", [False, True])
def test_priors_below_the_resolution_of_the_table_have_a_floor(is_diagonal):
    coordinates = Coordinates(np.zeros(2), np.array([1e9, 1.0]))
    given = np.array([0.01, 3.0])
    inner = coordinates.inner_inverse_scale(given if is_diagonal else np.diag(given))
    np.testing.assert_allclose(inner if is_diagonal else np.diag(inner), [RESOLUTION, 3.0])


# ---------------------------------------------------------------- gap patterns


def test_rows_without_gaps_are_one_group():
    [(rows, observed, missing)] = gap_patterns(np.ones((3, 2)))
    assert (rows.tolist(), observed.tolist(), missing.tolist()) == ([0, 1, 2], [0, 1], [])


@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (50, 9), (200, 17), (60, 33), (60, 64), (60, 65)])
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


@pytest.mark.parametrize("d", [3, 9, 20, 40, 70])
def test_groups_are_in_the_order_of_their_gaps(d):
    X = np.where(np.random.default_rng(d).random((80, d)) < 0.1, NAN, 1.0)
    found = [np.isin(np.arange(d), missing).tolist() for _, _, missing in gap_patterns(X)]
    assert found == sorted(found)


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


# ---------------------------------------------------------------- rows and blocks


def make_rows(n, d, e=1, *, weights=False, gaps=0.0):
    random = np.random.default_rng(0)
    X = np.where(random.random((n, d)) < gaps, NAN, random.normal(size=(n, d)))
    return InnerRows(X, random.integers(0, 3, (n, e)).astype(float), random.random(n) if weights else None, (4,) * e)


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
@pytest.mark.parametrize("by_gaps", [False, True])
def test_blocks_hold_every_row_once(n, gaps, by_gaps):
    rows = make_rows(n, 2, weights=True, gaps=gaps)
    table = rows.gap_blocks(5, 0) if by_gaps else rows.blocks()
    values = np.hstack([np.vstack([b.values, b.codes, b.weights[None]]) for b in table]) if n else np.empty((4, 0))
    expected = np.column_stack([rows.X, rows.codes, rows.weights]).T
    np.testing.assert_array_equal(values[:, np.argsort(values[3])], expected[:, np.argsort(expected[3])])
    assert all(block.values.shape[1] <= (BLOCK if by_gaps else ENGINE_BLOCK) for block in table)


def test_blocks_of_the_engine_keep_the_order_of_the_rows(monkeypatch):
    monkeypatch.setattr("mixkern.density.block.ENGINE_BLOCK", 4)
    rows = make_rows(11, 2, gaps=0.3)
    table = rows.blocks()
    assert [block.values.shape[1] for block in table] == [4, 4, 3]
    np.testing.assert_array_equal(np.hstack([block.values for block in table]).T, rows.X)


@pytest.mark.parametrize(("d", "k"), [(2, 5), (300, 20), (20000, 20)])
def test_blocks_of_wide_tables_are_short(d, k):
    rows = InnerRows(np.broadcast_to(0.0, (50, d)), np.empty((50, 0)), None, ())
    size = max(block.values.shape[1] for block in rows.gap_blocks(k, 3))
    assert size <= SMALLEST_BLOCK or size * k * d <= BLOCK_CELLS


def test_blocks_of_rare_patterns_hold_rows_with_as_many_gaps():
    rows = make_rows(400, 6, gaps=0.3)
    table = rows.gap_blocks(5, 2)
    assert any(block.is_scattered for block in table)
    assert any(not block.is_scattered for block in table)
    for block in table:
        if block.is_scattered:
            found = [np.flatnonzero(np.isnan(column)).tolist() for column in block.values.T]
            assert found == block.missing.tolist()
        else:
            np.testing.assert_array_equal(np.isnan(block.values).all(axis=1).nonzero()[0], block.missing)


def test_largest_norm_leaves_gaps_out():
    (block,) = InnerRows(np.array([[3.0, 4.0], [NAN, 6.0]]), np.empty((2, 0)), None, ()).blocks()
    assert block.largest_sq_norm == 36


def test_slots_have_room_for_one_more():
    assert n_slots_of(np.array([[0.0, 4.0, NAN], [1.0, NAN, NAN]])) == (3, 6, 1)
    assert n_slots_of(np.empty((3, 0))) == ()


def test_volume_of_the_coordinates():
    rows = make_rows(10, 2, weights=True)
    assert rows.log_volume == 0
    coordinates = Coordinates(np.zeros(2), np.array([2.0, 3.0]))
    assert replace(rows, coordinates=coordinates).log_volume == pytest.approx(rows.weights.sum() * np.log(6))
