"""Unusual cells, compared with the densities of rows in which a cell is a gap."""

import numpy as np
import pytest

from mixkern import Mixture
from mixkern.explain.unusual_cells import unusual_cells

RANDOM = np.random.RandomState(0)
ROOTS = RANDOM.normal(size=(3, 3, 3))
FULL = ROOTS @ np.swapaxes(ROOTS, 1, 2) + 0.3 * np.eye(3)
MEANS = 2 * RANDOM.normal(size=(3, 3))
TABLES = [[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]], [[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]]]
WEIGHTS = [0.5, 0.3, 0.2]
MIXTURES = {
    "full": Mixture(WEIGHTS, MEANS, FULL, categories=TABLES),
    "diag": Mixture(WEIGHTS, MEANS, np.abs(RANDOM.normal(size=(3, 3))) + 0.2, "diag", TABLES),
    "tied": Mixture(WEIGHTS, MEANS, FULL[0], "tied", TABLES),
    "factor": Mixture(WEIGHTS, MEANS, np.full((3, 3), 0.4), "factor", TABLES, RANDOM.normal(size=(3, 3, 1))),
    "numbers": Mixture(WEIGHTS, MEANS, FULL),
}


def rows_of(mixture, n=25):
    rows = mixture.sample(n, 1)[0]
    rows[:, :3] += RANDOM.normal(size=(n, 3))
    rows[RANDOM.uniform(size=rows.shape) < 0.2] = np.nan
    return rows


def deviance(mixture, row, k):
    """Return twice the logarithm of the ratio of the densities at the peak of a component and at a row."""
    observed = ~np.isnan(row[:3])
    covariance = mixture.full_covariances[k][np.ix_(observed, observed)]
    difference = row[:3][observed] - mixture.means[k][observed]
    total = difference @ np.linalg.solve(covariance, difference) if observed.any() else 0.0
    for table, code in zip(mixture.categories, row[3:], strict=True):
        if not np.isnan(code):
            total += 2 * np.log(table[k].max() / table[k][int(code)])
    return total


@pytest.mark.parametrize("kind", MIXTURES)
def test_parts_are_what_a_gap_takes_away(kind):
    mixture = MIXTURES[kind]
    rows = rows_of(mixture)
    found = unusual_cells(mixture, rows)
    for i, row in enumerate(rows):
        for j in range(rows.shape[1]):
            without = row.copy()
            without[j] = np.nan
            k = int(mixture.responsibilities(without[None])[0].argmax())
            if np.isnan(row[j]):
                assert found.parts[i, j] == 0
                continue
            expected = deviance(mixture, row, k) - deviance(mixture, without, k)
            assert found.parts[i, j] == pytest.approx(expected, rel=1e-8, abs=1e-8)
            if j < 3:
                own = Mixture([1.0], mixture.means[[k]], mixture.full_covariances[[k]])
                assert found.means[i, j] == pytest.approx(own.conditional_mean(without[None, :3])[0, j])
                far = (row[j] - found.means[i, j]) / found.deviations[i, j]
                assert found.parts[i, j] == pytest.approx(far**2, rel=1e-8)
            else:
                assert found.shares[i, j - 3] == pytest.approx(mixture.categories[j - 3][k, int(row[j])])


def test_a_wide_component_does_not_hide_an_unusual_cell():
    """Far rows are most probable in a wide component; the other cells of the row belong to a narrow one."""
    mixture = Mixture([0.95, 0.05], [[0.0, 0.0]] * 2, [[0.04, 0.04], [100.0, 100.0]], "diag")
    found = unusual_cells(mixture, np.array([[9.0, 0.1]]))
    assert found.parts[0].argmax() == 0
    assert found.parts[0, 0] == pytest.approx(9**2 / 0.04)


def test_impossible_categories_are_very_unusual():
    mixture = Mixture([0.5, 0.5], [[0.0], [5.0]], [[1.0], [1.0]], "diag", [[[1.0, 0.0], [1.0, 0.0]]])
    found = unusual_cells(mixture, np.array([[0.1, 1.0], [0.1, 0.0]]))
    assert found.parts[0, 1] > 1000
    assert found.parts[1, 1] == 0
    assert np.isfinite(found.parts).all()


def test_categories_alone():
    mixture = Mixture([0.5, 0.5], np.empty((2, 0)), np.empty((2, 0, 0)), categories=[[[0.9, 0.1], [0.1, 0.9]]] * 2)
    found = unusual_cells(mixture, np.array([[0.0, 1.0], [np.nan, 1.0]]))
    assert found.parts.shape == (2, 2)
    assert found.parts[0].tolist() == pytest.approx([2 * np.log(9)] * 2)
    assert found.parts[1, 0] == 0
