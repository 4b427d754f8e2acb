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
    assert plan.plan(pairs, 1e-12, is_matrix=False).a is None


def test_rows_of_one_component_stand_together():
    rows = separated(0, 1000, 10, 2)
    found = plan.plan(check.pairs(*rows.both, rows.whiteners), 1e-12, is_matrix=False)
    assert sorted(found.a.rows) == list(range(1000))
    assert (np.diff(rows.shares_A.argmax(axis=1)[found.a.rows]) >= 0).all()
    assert found.a.keep.shape == (-(-1000 // plan.GROUP), 10)
    assert found.b.keep.shape == (-(-333 // plan.GROUP), 10)
    assert found.a.keep.sum(axis=1).max() <= 3


def test_rows_that_keep_several_components_come_last_by_their_two_main_ones():
    shares = np.full((200, 4), 1e-20)
    main, second = np.arange(200) % 4, (np.arange(200) // 4) % 4
    shares[np.arange(200), main] = 0.7
    is_mixed = np.arange(200) % 10 == 0
    shares[is_mixed, second[is_mixed]] += 0.3
    W = np.broadcast_to(np.eye(3), (4, 3, 3)).copy()
    pairs = check.pairs(np.zeros((200, 3)), shares, None, None, W)
    keep = plan.kept(pairs.a, plan.stretches(W), 1e-12)
    found = plan.order(pairs.a, keep)
    n_kept = keep.sum(axis=1)[found.rows]
    assert (np.diff(n_kept > 1) >= 0).all()
    pure = found.rows[n_kept == 1]
    assert (np.diff(main[pure]) >= 0).all()
    mixed = found.rows[n_kept > 1]
    assert (np.diff(4 * main[mixed] + second[mixed]) >= 0).all()
    for group, kept in enumerate(found.keep):  # all that its rows keep, and nothing else
        rows = found.rows[group * plan.GROUP : (group + 1) * plan.GROUP]
        np.testing.assert_array_equal(kept, keep[rows].any(axis=0))


def test_skipping_in_a_matrix_must_pay_for_the_order_of_its_columns():
    """With few components and columns it does not, with many it does; a product has no columns to bring back."""
    for k, d, pays in ((5, 2, False), (10, 18, True), (30, 5, True)):
        rows = separated(0, 1000, k, d)
        pairs = check.pairs(*rows.both, rows.whiteners)
        assert (plan.plan(pairs, 1e-12, is_matrix=True).a is not None) == pays
        assert plan.plan(pairs, 1e-12, is_matrix=False).a is not None


def test_one_row_of_shares_skips_components_without_a_share():
    rows = case(0, 300, 200, 10, 2)
    weights = np.array([0.5, 0.5] + [0.0] * 8)
    found = plan.plan(check.pairs(rows.A, weights, rows.B, weights, rows.whiteners), 1e-12, is_matrix=False)
    assert found.a.keep.tolist() == [[1, 1] + [0] * 8] * len(found.a.keep)


@pytest.mark.parametrize(
    ("n", "d", "tile"), [(2048, 9, 288), (2048, 8, 192), (725, 9, 288), (724, 9, 96), (100, 9, 288)]
)
def test_tiles_follow_the_matrix_and_the_work(n, d, tile):
    rows = case(0, n, 1, 12, d)
    assert plan.plan(check.pairs(*rows.one, None, None, rows.whiteners), 1e-12, is_matrix=True).tile == tile


@pytest.mark.parametrize(("rtol", "sharpness"), [(0.0, 100.0), (1e-12, 1.0)])
def test_nothing_is_skipped_where_it_may_not_or_does_not_pay(rtol, sharpness):
    rows = case(0, 500, 400, 10, 2, sharpness=sharpness)
    found = plan.plan(check.pairs(*rows.both, rows.whiteners), rtol, is_matrix=False)
    assert found.a is None
    assert found.b is None
