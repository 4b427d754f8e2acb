import numpy as np
import pytest

from mixkern.export.classes import chosen_class, probabilities
from mixkern.svm import least_squares, one_vs_one, one_vs_rest
from mixkern.svm.one_vs_one import averaged_probabilities, chosen

SLOPES = (0.3, 1.0, 2.0, 9.0, 60.0)


def decided(computed, scheme, values, c, slopes=SLOPES, dtype="float64"):
    def make(graph, values):
        winner = chosen_class(graph, scheme, values, c)
        return [winner, probabilities(graph, scheme, values, slopes, winner, c, dtype)]

    codes, shares = computed(make, values=values)
    return codes[:, 0], shares


@pytest.mark.parametrize("scheme", [one_vs_one, one_vs_rest, least_squares], ids=lambda scheme: scheme.__name__)
@pytest.mark.parametrize("c", [2, 3, 7])
def test_labels_and_probabilities_are_those_of_the_scheme(computed, scheme, c):
    random = np.random.RandomState(c)
    values = random.randn(400, scheme.n_functions(c)) * np.geomspace(1e-3, 30, 400)[:, None]
    codes, shares = decided(computed, scheme, values, c)
    np.testing.assert_array_equal(codes, chosen(scheme.class_scores(values, c)))
    expected = averaged_probabilities(values, np.array(SLOPES), c, scheme.class_probabilities)
    np.testing.assert_allclose(shares, expected, atol=1e-13)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(shares.argmax(axis=1), codes)


@pytest.mark.parametrize("scheme", [one_vs_one, one_vs_rest, least_squares], ids=lambda scheme: scheme.__name__)
def test_the_chosen_class_is_the_most_probable_one_in_float32(computed, scheme):
    values = 1e-9 * np.random.RandomState(0).randn(400, scheme.n_functions(4))  # nearly ties
    codes, shares = decided(computed, scheme, values, 4, dtype="float32")
    assert shares.dtype == np.float32
    assert len(set(codes.tolist())) == 4
    np.testing.assert_array_equal(shares.argmax(axis=1), codes)


def test_probabilities_are_exchanged_where_votes_differ(computed):
    random = np.random.RandomState(0)
    values = random.randn(5000, 6)
    winner = chosen(one_vs_one.class_scores(values, 4))
    differs = one_vs_one.coupled(values, 1.0, 4).argmax(axis=1) != winner
    assert differs.sum() > 10
    _, shares = decided(computed, one_vs_one, values[differs], 4, [1.0])
    np.testing.assert_array_equal(shares.argmax(axis=1), winner[differs])
    np.testing.assert_allclose(shares, one_vs_one.class_probabilities(values[differs], 1.0, 4), atol=1e-13)


@pytest.mark.parametrize("scheme", [one_vs_one, one_vs_rest], ids=lambda scheme: scheme.__name__)
def test_zero_is_for_the_first_of_two_classes(computed, scheme):
    codes, shares = decided(computed, scheme, np.zeros((1, 1)), 2)
    assert codes.tolist() == [0]
    np.testing.assert_array_equal(shares, [[0.5, 0.5]])


def test_sigmoids_that_underflow(computed):
    values = np.array([[-1e4, -1e4, -9e3], [1e4, -1e4, 0.0]])
    _, shares = decided(computed, one_vs_rest, values, 3, [1.0])
    np.testing.assert_allclose(shares, one_vs_rest.class_probabilities(values, 1.0, 3), atol=1e-15)
