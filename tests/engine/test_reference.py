"""The reference against the formulas, one pair and one component at a time."""

import math

import numpy as np
import pytest

from mixkern import engine
from mixkern.engine import reference

from .mixtures import case


def literal_distance(A, shares_A, B, shares_B, whiteners):
    D = np.zeros((len(A), len(B)))
    for i, x in enumerate(A):
        for j, y in enumerate(B):
            for k, W in enumerate(whiteners):
                L = np.linalg.inv(np.diag(W) if W.ndim == 1 else W)
                mahalanobis = math.sqrt((x - y) @ np.linalg.inv(L @ L.T) @ (x - y))
                D[i, j] += 0.5 * (shares_A[i, k] + shares_B[j, k]) * mahalanobis
    return D


@pytest.mark.parametrize("is_diagonal", [False, True])
@pytest.mark.parametrize(("n", "m", "k", "d"), [(3, 5, 1, 1), (7, 4, 3, 2), (5, 6, 4, 7)])
def test_distance_is_the_formula(n, m, k, d, is_diagonal):
    rows = case(0, n, m, k, d, is_diagonal=is_diagonal, offset=3.0)
    expected = literal_distance(*rows.both, rows.whiteners)
    np.testing.assert_allclose(reference.distance(*rows.both, whiteners=rows.whiteners), expected, rtol=1e-11)
    expected = literal_distance(*rows.one, *rows.one, rows.whiteners)
    np.testing.assert_allclose(reference.distance(*rows.one, whiteners=rows.whiteners), expected, rtol=1e-11)


def test_rows_are_taken_in_parts(monkeypatch):
    rows = case(0, 11, 6, 3, 2)
    whole = reference.distance(*rows.both, whiteners=rows.whiteners)
    monkeypatch.setattr(reference, "_AT_A_TIME", 30)
    np.testing.assert_allclose(reference.distance(*rows.both, whiteners=rows.whiteners), whole, rtol=1e-14)


def test_gaps_are_a_category_of_their_own():
    codes = np.array([[0, 1], [0, -1], [0, -7]], dtype=np.int32)
    assert reference.count(codes).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert reference.count(codes, codes).tolist() == reference.count(codes).tolist()


def test_kernel_is_the_formula():
    rows = case(0, 4, 3, 2, 2)
    codes_A, codes_B = np.array([[0], [1], [1], [2]], dtype=np.int32), np.array([[1], [1], [0]], dtype=np.int32)
    D = reference.distance(*rows.both, whiteners=rows.whiteners)
    C = (codes_A != codes_B.T).astype(float)
    how = {"whiteners": rows.whiteners, "gamma": 0.3, "alpha": 2.0, "beta": 0.5, "codes_A": codes_A, "codes_B": codes_B}
    expected = np.exp(-0.3 * (2 * D**2 + 0.5 * C**2))
    np.testing.assert_allclose(reference.kernel(*rows.both, **how), expected, rtol=1e-13)
    V = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(reference.kernel_times(*rows.both, V, **how), expected @ V, rtol=1e-13)


@pytest.mark.parametrize(("n", "m", "e"), [(0, 3, 2), (1, 1, 1), (7, 5, 3), (4, 6, 0)])
def test_count_is_a_plain_loop_and_a_verb_of_the_engine(n, m, e):
    assert engine.count is reference.count
    assert "count" in engine.__all__
    random = np.random.RandomState(n)
    A, B = (random.randint(-1, 3, size=(rows, e)).astype(np.int32) for rows in (n, m))
    for other in (B, None):
        found = engine.count(A, other)
        rows = A if other is None else other
        assert found.shape == (n, len(rows))
        for i, a in enumerate(A):
            for j, b in enumerate(rows):
                assert found[i, j] == sum(u != v for u, v in zip(a, b, strict=True))
