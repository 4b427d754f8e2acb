import dataclasses

import numpy as np
import pytest

from mixkern.svm import Dual


def test_decision_is_the_sum_over_support_rows():
    random = np.random.default_rng(0)
    K = random.normal(size=(4, 6))
    dual = Dual(np.array([1, 5, 2]), random.normal(size=(3, 2)), np.array([0.5, -1.0]))
    for x in range(4):
        for q in range(2):
            f = sum(K[x, i] * dual.coefficients[s, q] for s, i in enumerate(dual.support)) + dual.intercepts[q]
            assert dual.decision(K)[x, q] == pytest.approx(f)


def test_rows_that_do_not_support_do_not_matter():
    """Whoever evaluates need not compute the kernel with them."""
    K = np.full((2, 5), np.nan)
    K[:, [0, 3]] = [[1.0, 2.0], [3.0, 4.0]]
    dual = Dual(np.array([0, 3]), np.array([[1.0], [-1.0]]), np.array([10.0]))
    assert dual.decision(K).tolist() == [[9.0], [9.0]]


def test_without_support_only_the_intercepts_are_left():
    dual = Dual(np.empty(0, dtype=np.intp), np.empty((0, 3)), np.array([1.0, 2.0, 3.0]))
    assert dual.decision(np.zeros((2, 7))).tolist() == [[1.0, 2.0, 3.0]] * 2
    assert dual.decision(np.zeros((0, 7))).shape == (0, 3)


def test_a_value():
    dual = Dual(np.array([0]), np.array([[1.0]]), np.array([0.0]))
    assert dual.converged
    assert not dual.is_interrupted
    with pytest.raises(dataclasses.FrozenInstanceError):
        dual.converged = False
