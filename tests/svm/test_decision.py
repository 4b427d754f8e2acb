"""Decision functions against the plain formula, for every kind of kernel."""

import dataclasses

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct

from mixkern import Mixture
from mixkern.density import Rows
from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
from mixkern.svm import DecisionFunction, Dual, classifier, decision
from mixkern.svm.decision import kernel_matrix, values_for

MIXTURE = Mixture([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], [np.eye(2), np.diag([2.0, 0.5])])
VALUES = MIXTURE.sample(40, 0)[0]
GAPPY = VALUES.copy()
GAPPY[::3, 1] = np.nan
CODES = np.arange(40) % 3
KERNELS = [
    RWMKernel(MIXTURE, 0.3),
    GMMKernel(MIXTURE, 0.3),
    BlendKernel(MIXTURE, 0.3),
    RBFKernel(0.3),
    RBF(1.5),
    RWMKernel(MIXTURE, 0.3) + DotProduct(),
    LaplacianKernel(RBFKernel(0.3), VALUES, ratio=2.0),
    LaplacianKernel(RWMKernel(MIXTURE, 0.3), GAPPY, ratio=2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("values", [VALUES, GAPPY], ids=["whole", "gaps"])
def test_it_is_the_sum_over_support_vectors(kernel, values):
    rows = Rows(values, MIXTURE)
    K = kernel_matrix(kernel, rows)
    dual = classifier(K, CODES)
    found = DecisionFunction.of(kernel, rows, dual)(rows)
    np.testing.assert_allclose(found, dual.decision(K), atol=1e-9)
    other = DecisionFunction(kernel, values_for(kernel, rows[dual.support]), dual.coefficients, dual.intercepts)
    np.testing.assert_allclose(other(rows), dual.decision(K), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_kernel_reads_by_itself_what_is_readable(kernel):
    rows = Rows(GAPPY, MIXTURE)
    array = values_for(kernel, rows)
    np.testing.assert_allclose(kernel(array), kernel_matrix(kernel, rows), atol=1e-12)


def test_arrays_are_read_too():
    decision = DecisionFunction(RBFKernel(0.3), VALUES[:2], np.ones((2, 1)), np.array([-1.0]))
    np.testing.assert_allclose(decision(VALUES)[:, 0], RBFKernel(0.3)(VALUES, VALUES[:2]).sum(axis=1) - 1, rtol=1e-12)


def test_a_deformed_kernel_is_left_for_its_base():
    kernel = LaplacianKernel(RBFKernel(0.3), VALUES, ratio=2.0)
    rows = Rows(VALUES, MIXTURE)
    decision = DecisionFunction.of(kernel, rows, classifier(kernel_matrix(kernel, rows), CODES))
    assert decision.kernel is kernel.base


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


def test_many_rows_are_evaluated_in_blocks_that_keep_nothing(monkeypatch):
    mixture = Mixture([0.5, 0.5], [[-1.0, 0.0], [1.0, 0.0]], [0.2, 0.4], "spherical")
    values = np.random.RandomState(0).standard_normal((23, 2))
    function = DecisionFunction(RWMKernel(mixture, 0.5), values[:4], np.ones((4, 2)), np.array([0.0, 1.0]))
    whole = Rows(values, mixture)
    expected = function(whole)
    assert "log_joint" in vars(whole)  # few rows keep what is computed, for novelty and components
    monkeypatch.setattr(decision, "ROWS", 7)
    parts = Rows(values, mixture)
    np.testing.assert_allclose(function(parts), expected, rtol=1e-13)
    assert "log_joint" not in vars(parts)
