import numpy as np
import pytest

from mixkern.export.novelty import novelty_values


def share_denser(computed, values, known):
    return computed(lambda graph, values: [novelty_values(graph, values, known)], values=values[:, None])[0][:, 0]


@pytest.mark.parametrize("m", [1, 2, 3, 8, 1999])
def test_it_is_the_share_of_denser_rows(computed, m):
    random = np.random.RandomState(m)
    known = random.randn(m)
    values = np.concatenate([random.randn(500), [-1e9, 1e9, -np.inf]])
    expected = [(known > value).mean() for value in values]
    np.testing.assert_allclose(share_denser(computed, values, known), expected, atol=1e-15)


def test_training_rows_count_as_equal_in_spite_of_rounding(computed):
    known = np.repeat([-700.0, -3.0, 2.0], [3, 5, 2])
    values = np.array([-700.0, -700 * (1 + 1e-14), -3.0, 2.0, 2 - 1e-14, 1.9])
    expected = [0.7, 0.7, 0.2, 0.0, 0.0, 0.2]
    np.testing.assert_allclose(share_denser(computed, values, known), expected)


def test_impossible_training_rows(computed):
    known = np.array([-np.inf, -np.inf, 1.0])
    np.testing.assert_allclose(share_denser(computed, np.array([-np.inf, 0.0, 1.0]), known), [1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(share_denser(computed, np.array([-np.inf, 0.0]), known[:2]), [0, 0])
