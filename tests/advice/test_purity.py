"""Labels inside components, against loops over rows and pairs."""

from itertools import combinations

import numpy as np
import pytest

from mixkern.advice.purity import PRIOR, purity


def situation(n=60, k=4, c=3, n_labels=25, seed=0):
    random = np.random.RandomState(seed)
    codes = np.full(n, -1)
    codes[random.permutation(n)[:n_labels]] = np.arange(n_labels) % c
    return random.dirichlet(np.full(k, 0.3), size=n), codes


def test_pairs_by_a_loop_over_pairs():
    rho, codes = situation()
    labelled = np.flatnonzero(codes >= 0)
    pairs = same = chance = 0.0
    for i, j in combinations(labelled, 2):
        together = sum(rho[i, k] * rho[j, k] for k in range(rho.shape[1]))
        pairs += together
        same += together * (codes[i] == codes[j])
        chance += codes[i] == codes[j]
    chance /= len(labelled) * (len(labelled) - 1) / 2
    found = purity(rho, codes)
    assert found.pairs == pytest.approx(pairs)
    assert found.same_pairs == pytest.approx(same)
    assert found.chance == pytest.approx(chance)
    assert found.overall == pytest.approx((same + PRIOR * chance) / (pairs + PRIOR))
    assert found.lift == pytest.approx((found.overall - chance) / (1 - chance))


def test_components_by_a_loop_over_rows():
    rho, codes = situation(seed=1)
    found = purity(rho, codes)
    n_labels = (codes >= 0).sum()
    for k in range(rho.shape[1]):
        inside = [sum(rho[i, k] for i in range(len(codes)) if codes[i] == c) for c in range(3)]
        expected = [(inside[c] + PRIOR * (codes == c).sum() / n_labels) / (sum(inside) + PRIOR) for c in range(3)]
        assert found.shares[k] == pytest.approx(sum(rho[:, k]) / len(rho))
        assert found.labels[k] == pytest.approx(sum(inside))
        assert found.of_components[k] == pytest.approx(max(expected))
        assert found.majorities[k] == np.argmax(expected)


def test_one_label_does_not_make_a_component_pure():
    found = purity(np.eye(3)[[0, 1, 1, 2]], np.array([0, 1, 1, -1]))
    assert found.of_components[0] < 0.8
    assert found.of_components[1] > found.of_components[0]
    np.testing.assert_array_equal(found.is_empty, [False, False, True])


@pytest.mark.parametrize("n_labels", [6, 20])
def test_unrelated_labels_have_the_purity_of_chance(n_labels):
    """However few they are: the share of a majority would be far above."""
    differences = []
    for seed in range(400):
        random = np.random.RandomState(seed)
        codes = np.append(random.permutation(np.arange(n_labels) % 2), np.full(50, -1))
        found = purity(random.dirichlet(np.full(5, 0.1), size=len(codes)), codes)
        differences.append(found.overall - found.chance)
    assert abs(np.mean(differences)) < 4 * np.std(differences) / 20


def test_a_single_label_has_the_purity_of_chance():
    found = purity(np.eye(2), np.array([0, -1]))
    assert (found.pairs, found.overall, found.lift) == (0.0, 1.0, 0.0)
