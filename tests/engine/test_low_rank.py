"""Metrics of low rank, with and without a diagonal, against matrices: whitened rows, distances, kernels, products."""

import numpy as np
import pytest

from mixkern import engine
from mixkern.engine import LowRankWhiteners, ProjectedWhiteners, dispatch
from mixkern.errors import EngineError

K, D, Q = 3, 9, 2


@pytest.fixture(scope="module")
def metrics():
    """Low-rank whiteners, and lower triangular ones of the same covariances."""
    random = np.random.default_rng(0)
    variances, loadings = random.uniform(0.1, 2.0, (K, D)), random.normal(size=(K, D, Q))
    covariances = loadings @ np.swapaxes(loadings, 1, 2) + variances[:, :, None] * np.eye(D)
    dense = np.tril(np.linalg.inv(np.linalg.cholesky(covariances)))
    return LowRankWhiteners.of(variances, loadings), dense, covariances


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(1)
    A, B = random.normal(size=(31, D)), random.normal(size=(17, D))
    A[5] = A[11]
    codes = [random.integers(0, 3, (n, 2)).astype(np.int32) for n in (31, 17)]
    return A, random.dirichlet(np.ones(K), 31), B, random.dirichlet(np.ones(K), 17), *codes


def test_whitened_rows_have_the_metric(metrics, rows):
    low, dense, covariances = metrics
    for k in range(K):
        for form in (low, dense):
            white = engine.whitened(form, k, rows[0])
            expected = np.linalg.solve(covariances[k], rows[0].T).T
            np.testing.assert_allclose(engine.whitened_back(form, k, white), expected, rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose((white**2).sum(axis=1), (rows[0] * expected).sum(axis=1), rtol=1e-10)
    log_dets = -0.5 * np.linalg.slogdet(covariances)[1]
    np.testing.assert_allclose(low.log_dets, log_dets, rtol=1e-10)
    diagonal = np.abs(dense[:, np.arange(D), np.arange(D)])
    white = engine.whitened(diagonal, 1, rows[0])
    np.testing.assert_array_equal(engine.whitened_back(diagonal, 1, white), rows[0] * diagonal[1] * diagonal[1])


def test_traces(metrics):
    low, dense, _ = metrics
    random = np.random.default_rng(2)
    variances, loadings = random.uniform(0.1, 1, D), random.normal(size=(D, 4))
    total = np.diag(variances) + loadings @ loadings.T
    expected = [np.trace(W @ total @ W.T) for W in dense]
    np.testing.assert_allclose(low.traces(variances, loadings), expected, rtol=1e-10)


@pytest.mark.parametrize("cells", [2**20, 40])
def test_distances_kernels_and_products_are_those_of_matrices(metrics, rows, cells, monkeypatch):
    monkeypatch.setattr(dispatch, "_LOW_RANK_CELLS", cells)  # one block, or many
    low, dense, _ = metrics
    A, shares_A, B, shares_B, codes_A, codes_B = rows
    V = np.random.default_rng(3).normal(size=(17, 2))
    options = {"gamma": 0.2, "alpha": 0.7, "beta": 0.3, "codes_A": codes_A}
    other = {**options, "codes_B": codes_B}
    for sides in ((A, shares_A), (A, shares_A, B, shares_B), (A, shares_A[0]), (A, shares_A[0], B, None)):
        one, two = (engine.distance(*sides, whiteners=metric) for metric in (low, dense))
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-12)
    one, two = (engine.kernel(A, shares_A, whiteners=metric, **options) for metric in (low, dense))
    np.testing.assert_allclose(one, two, rtol=1e-10)
    one, two = (engine.kernel_times(A, shares_A, B, shares_B, V, whiteners=metric, **other) for metric in (low, dense))
    np.testing.assert_allclose(one, two, rtol=1e-9)


@pytest.mark.parametrize("cells", [2**20, 40])
def test_equal_rows_have_no_distance_and_the_matrix_is_symmetric(metrics, rows, cells, monkeypatch):
    monkeypatch.setattr(dispatch, "_LOW_RANK_CELLS", cells)
    found = engine.distance(rows[0], rows[1], whiteners=metrics[0])
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diagonal(found), 0.0)
    assert found[5, 11] == 0.0


def test_results_of_any_type_and_place(metrics, rows):
    expected = engine.distance(rows[0], rows[1], whiteners=metrics[0])
    out = np.full((31, 31), np.nan)
    assert engine.distance(rows[0], rows[1], whiteners=metrics[0], out=out) is out
    np.testing.assert_array_equal(out, expected)
    found = engine.distance(rows[0], rows[1], whiteners=metrics[0], dtype=np.float32)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    nothing = engine.distance(rows[0][:0], rows[1][:0], rows[2], rows[3], whiteners=metrics[0])
    assert nothing.shape == (0, 17)


def test_whiteners_that_do_not_fit(metrics, rows):
    low = metrics[0]
    wrong = LowRankWhiteners(low.scales, low.directions[:, :4], low.log_dets)
    with pytest.raises(EngineError, match=r"directions must have the shape \(3, 9, q\), but the shape is \(3, 4, 2\)"):
        engine.distance(rows[0], rows[1], whiteners=wrong)
    with pytest.raises(EngineError, match="A has 4 continuous columns, but the whiteners have 9"):
        engine.distance(rows[0][:, :4], rows[1], whiteners=low)


# ---------------------------------------------------------------- projected metrics


@pytest.fixture(scope="module")
def projected():
    random = np.random.default_rng(2)
    whiteners = np.tril(random.normal(size=(K, Q, Q))) + 2 * np.eye(Q)
    return ProjectedWhiteners(random.normal(size=(Q, D)), whiteners)


def test_projected_distances_by_the_formula(projected, rows):
    A, shares_A, B, shares_B, *_ = rows
    expected = np.zeros((len(A), len(B)))
    for i, j in np.ndindex(expected.shape):
        for k in range(K):
            length = np.linalg.norm(projected.whiteners[k] @ projected.projection @ (A[i] - B[j]))
            expected[i, j] += 0.5 * (shares_A[i, k] + shares_B[j, k]) * length
    found = engine.distance(A, shares_A, B, shares_B, whiteners=projected)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert engine.distance(A, shares_A, whiteners=projected)[5, 11] == 0.0


def test_projected_kernels_and_products(projected, rows):
    A, shares_A, B, shares_B, codes_A, codes_B = rows
    options = {"whiteners": projected, "gamma": 0.2, "codes_A": codes_A, "codes_B": codes_B}
    K_AB = engine.kernel(A, shares_A, B, shares_B, **options)
    counts = (codes_A[:, None] != codes_B[None]).sum(axis=2)
    D_AB = engine.distance(A, shares_A, B, shares_B, whiteners=projected)
    np.testing.assert_allclose(K_AB, np.exp(-0.2 * (D_AB**2 + counts**2)), rtol=1e-9)
    values = np.arange(2.0 * len(B)).reshape(len(B), 2)
    np.testing.assert_allclose(engine.kernel_times(A, shares_A, B, shares_B, values, **options), K_AB @ values)


def test_projected_rows_back_and_traces(projected, rows):
    A, S = rows[0], np.diag(np.arange(1.0, D + 1))
    for k, W in enumerate(projected.whiteners):
        both = W @ projected.projection
        np.testing.assert_allclose(engine.whitened(projected, k, A), A @ both.T)
        np.testing.assert_allclose(engine.whitened_back(projected, k, A @ both.T), A @ both.T @ both)
        trace = np.trace(both @ (S + np.ones((D, D))) @ both.T)
        np.testing.assert_allclose(projected.traces(np.diagonal(S), np.ones((D, 1)))[k], trace)


def test_rows_that_do_not_fit_projected_metrics(projected, rows):
    A, shares, B, shares_B, *_ = rows
    with pytest.raises(EngineError, match=f"A has {D - 1} continuous columns, but the whiteners have {D}"):
        engine.distance(np.ascontiguousarray(A[:, :-1]), shares, whiteners=projected)
    with pytest.raises(EngineError, match="B contains NaN"):
        engine.distance(A, shares, np.full_like(B, np.nan), shares_B, whiteners=projected)
