"""Laplacians of graphs of nearest neighbours."""

import numpy as np
import pytest

from mixkern import RBFKernel, datasets
from mixkern.errors import KernelError, OptionError
from mixkern.kernels.graph import graph_laplacian

X, _ = datasets.make_two_moons(n=70, random_state=0)
D = RBFKernel().distance(X)
each_weight = pytest.mark.parametrize("weights", ["binary", "heat"])
each_form = pytest.mark.parametrize("normalised", [True, False])


@each_weight
@each_form
@pytest.mark.parametrize("k", [1, 5])
def test_laplacian_against_the_literal_one(k, weights, normalised, literal_laplacian):
    found = graph_laplacian(D, k, weights=weights, normalised=normalised).toarray()
    np.testing.assert_allclose(found, literal_laplacian(D, k, weights, normalised), atol=1e-12)


def test_binary_weights_of_the_normalised_laplacian_are_the_default():
    expected = graph_laplacian(D, 7, weights="binary", normalised=True).toarray()
    np.testing.assert_array_equal(graph_laplacian(D).toarray(), expected)


@each_weight
def test_laplacian_of_few_rows_and_of_equal_rows(weights):
    assert graph_laplacian(np.zeros((1, 1)), weights=weights).toarray().tolist() == [[1.0]]
    assert graph_laplacian(np.zeros((1, 1)), weights=weights, normalised=False).toarray().tolist() == [[0.0]]
    assert graph_laplacian(np.zeros((0, 0)), weights=weights).shape == (0, 0)
    for normalised in (True, False):
        L = graph_laplacian(np.zeros((4, 4)), 7, weights=weights, normalised=normalised).toarray()
        np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-12)


def test_the_unit_of_lengths_does_not_matter():
    expected = graph_laplacian(D, weights="heat").toarray()
    np.testing.assert_allclose(graph_laplacian(1e-200 * D, weights="heat").toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(graph_laplacian(1e200 * D, weights="heat").toarray(), expected, atol=1e-12)


def test_equal_rows_do_not_change_the_width():
    """Distances of 0 are left out of the mean: edges of length 1 have the weight exp(-1/2)."""
    points = np.array([0.0, 0.0, 1.0])
    L = graph_laplacian(abs(np.subtract.outer(points, points)), 2, weights="heat", normalised=False).toarray()
    np.testing.assert_allclose(-L[np.triu_indices(3, 1)], [1.0, np.exp(-0.5), np.exp(-0.5)])


@each_form
def test_a_row_far_from_all_others(normalised):
    """Its weights underflow: it has no neighbours, and all entries are finite."""
    points = np.append(np.arange(200.0), 1e5)
    far = abs(np.subtract.outer(points, points))
    L = graph_laplacian(far, 2, weights="heat", normalised=normalised).toarray()
    assert np.isfinite(L).all()
    assert L[-1, -1] == float(normalised)
    assert not L[-1, :-1].any()


@each_weight
@each_form
def test_eigenvalues_lie_within_their_bounds(weights, normalised):
    L = graph_laplacian(D, weights=weights, normalised=normalised).toarray()
    values = np.linalg.eigvalsh(L)
    assert values[0] == pytest.approx(0, abs=1e-12)
    assert values[-1] <= (2 if normalised else 2 * L.diagonal().max()) + 1e-12
    np.testing.assert_allclose(L, L.T, atol=1e-15)


def test_what_cannot_be():
    with pytest.raises(OptionError, match=r"weights must be one of 'binary', 'heat', but it is 'het'\. Did you mean"):
        graph_laplacian(D, weights="het")
    with pytest.raises(KernelError, match="normalised must be True or False, but it is 'yes'"):
        graph_laplacian(D, normalised="yes")
