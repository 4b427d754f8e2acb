"""Decision functions against the plain formula, for every kind of kernel."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct

from mixkern import Mixture
from mixkern.density import Rows
from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
from mixkern.svm import DecisionFunction, classifier
from mixkern.svm.decision import kernel_matrix, readable

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
    other = DecisionFunction(kernel, readable(kernel, rows[dual.support]), dual.coefficients, dual.intercepts)
    np.testing.assert_allclose(other(rows), dual.decision(K), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_kernel_reads_by_itself_what_is_readable(kernel):
    rows = Rows(GAPPY, MIXTURE)
    array = readable(kernel, rows)
    np.testing.assert_allclose(kernel(array), kernel_matrix(kernel, rows), atol=1e-12)


def test_arrays_are_read_too():
    decision = DecisionFunction(RBFKernel(0.3), VALUES[:2], np.ones((2, 1)), np.array([-1.0]))
    np.testing.assert_allclose(decision(VALUES)[:, 0], RBFKernel(0.3)(VALUES, VALUES[:2]).sum(axis=1) - 1, rtol=1e-12)


def test_a_deformed_kernel_is_left_for_its_base():
    kernel = LaplacianKernel(RBFKernel(0.3), VALUES, ratio=2.0)
    rows = Rows(VALUES, MIXTURE)
    decision = DecisionFunction.of(kernel, rows, classifier(kernel_matrix(kernel, rows), CODES))
    assert decision.kernel is kernel.base
