"""What may be skipped, by the bound, and the order of the rows."""

import numpy as np
import pytest

from mixkern.engine import check, plan

from .mixtures import case, separated, whiteners


@pytest.mark.parametrize("is_diagonal", [False, True])
def test_no_direction_is_stretched_more_than_by_kappa(is_diagonal):
    random = np.random.RandomState(0)
    W = whiteners(random, 6, 3, is_diagonal=is_diagonal, condition=100.0)
    kappa = plan.stretches(W)
    x = random.standard_normal((2000, 3))
    z = np.linalg.norm(x[:, None] * W if is_diagonal else np.einsum("nc,kbc->nkb", x, W), axis=2)
    assert (z <= kappa * z.min(axis=1, keepdims=True) * (1 + 1e-12)).all()


@pytest.mark.parametrize("W", [np.zeros((2, 2, 2)), np.array([[1.0, 0.0], [1.0, 1.0]])])
def test_a_singular_metric_bounds_no_other(W):
    assert np.isinf(plan.stretches(W)).any() or np.isnan(plan.stretches(W)).any()
    pairs = check.pairs(np.ones((9, 2)), np.eye(2)[np.zeros(9, dtype=int)], None, None, W)
    assert plan.plan(pairs, 1e-12).a is None


def test_rows_of_one_component_stand_together():
    rows = separated(0, 1000, 10, 2)
    found = plan.plan(check.pairs(*rows.both, rows.whiteners), 1e-12)
    assert sorted(found.a.rows) == list(range(1000))
    assert (np.diff(rows.shares_A.argmax(axis=1)[found.a.rows]) >= 0).all()
    assert found.a.keep.shape == (-(-1000 // found.tile), 10)
    assert found.b.keep.shape == (-(-333 // found.tile), 10)
    assert found.a.keep.sum(axis=1).max() <= 3


def test_one_row_of_shares_skips_components_without_a_share():
    rows = case(0, 300, 200, 10, 2)
    weights = np.array([0.5, 0.5] + [0.0] * 8)
    found = plan.plan(check.pairs(rows.A, weights, rows.B, weights, rows.whiteners), 1e-12)
    assert found.a.keep.tolist() == [[1, 1] + [0] * 8] * len(found.a.keep)


@pytest.mark.parametrize(("n", "d", "tile"), [(2048, 9, 288), (2048, 8, 192), (2047, 9, 192), (0, 9, 192)])
def test_tiles_grow_with_the_matrix(n, d, tile):
    rows = case(0, n, 1, 2, d)
    assert plan.plan(check.pairs(*rows.one, None, None, rows.whiteners), 1e-12).tile == tile


@pytest.mark.parametrize(("rtol", "sharpness"), [(0.0, 100.0), (1e-12, 1.0)])
def test_nothing_is_skipped_where_it_may_not_or_does_not_pay(rtol, sharpness):
    rows = case(0, 500, 400, 10, 2, sharpness=sharpness)
    found = plan.plan(check.pairs(*rows.both, rows.whiteners), rtol)
    assert found.a is None
    assert found.b is None
