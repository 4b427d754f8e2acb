"""Which cells make a row unusual: how far each cell is from what rows with the same other cells have."""

from dataclasses import dataclass

import numpy as np

from mixkern.density import Mixture
from mixkern.density.block import gap_patterns
from mixkern.density.mixture import LOG_2PI, category_slots
from mixkern.typing import Floats, Ints

SMALLEST = 1e-300  # probability of a category that a component does not have


@dataclass(frozen=True, eq=False)
class UnusualCells:
    """Cells of n rows compared with their distribution given the other cells of the row.

    The distribution is that of the component with the largest responsibility for the other cells.

    Attributes
    ----------
    parts : ndarray of shape (n, d + e)
        How unusual each cell is, 0 for a gap. For a number, the squared distance from its expectation in standard
        deviations; for a category, twice the logarithm of the ratio of the largest probability and its own. This is by
        how much the deviance of the row from the component decreases when the cell becomes a gap.
    means, deviations : ndarray of shape (n, d)
        Expectation and standard deviation of each number.
    shares : ndarray of shape (n, e)
        Probability of each category.
    """

    parts: Floats
    means: Floats
    deviations: Floats
    shares: Floats


def unusual_cells(mixture: Mixture, rows: Floats) -> UnusualCells:
    """Compare each cell of encoded rows with the other cells of its row.

    Examples
    --------
    >>> mixture = Mixture([1.0], [[0.0, 0.0]], [[[1.0, 0.8], [0.8, 1.0]]])
    >>> found = unusual_cells(mixture, np.array([[2.0, -1.0]]))
    >>> found.parts.round(1), found.means.round(1)
    (array([[21.8, 18.8]]), array([[-0.8,  1.6]]))
    """
    n, d = len(rows), mixture.n_continuous
    log_joint = mixture.log_joint(rows)  # (n, k)
    at = np.arange(n)[:, None]
    means, precisions = _conditionals(mixture, rows)  # (n, k, d) each
    gaps = np.isnan(rows[:, None, :d])
    sq_distances = np.where(gaps, 0.0, (np.nan_to_num(rows[:, None, :d]) - means) ** 2 * precisions)
    log_own = np.where(gaps, 0.0, (np.log(precisions) - LOG_2PI - sq_distances) / 2)
    best = _likeliest(log_joint, log_own)  # (n, d)
    columns = np.arange(d)
    parts, shares = [sq_distances[at, best, columns]], []
    for e, table in enumerate(mixture.categories):
        codes = rows[:, d + e]
        is_there = ~np.isnan(codes)
        slots = category_slots(np.where(is_there, codes, 0.0), table.shape[1])
        own = np.where(is_there[:, None], np.maximum(table, SMALLEST)[:, slots].T, 1.0)  # (n, k)
        component = _likeliest(log_joint, np.log(own)[..., None])[:, 0]
        shares.append(own[np.arange(n), component])
        part = 2 * (np.log(table.max(axis=1)[component]) - np.log(shares[-1]))
        parts.append(np.where(is_there, part, 0.0)[:, None])
    return UnusualCells(
        parts=np.hstack(parts),
        means=means[at, best, columns],
        deviations=1 / np.sqrt(precisions[at, best, columns]),
        shares=np.column_stack(shares) if shares else np.empty((n, 0)),
    )


def _likeliest(log_joint: Floats, log_own: Floats) -> Ints:  # (n, columns)
    """Return the component with the largest responsibility for a row without a cell, for each cell."""
    without = np.nan_to_num(log_joint[..., None] - log_own, nan=-np.inf, neginf=-np.inf)
    return without.argmax(axis=1)


def _conditionals(mixture: Mixture, rows: Floats) -> tuple[Floats, Floats]:  # (n, k, d) each
    """Return expectation and precision of each number in each component, given the row's other numbers."""
    d, k = mixture.n_continuous, mixture.n_components
    means = np.broadcast_to(mixture.means, (len(rows), k, d)).copy()
    precisions = np.ones((len(rows), k, d))
    for at, observed, _ in gap_patterns(rows[:, :d]):
        if not len(observed):
            continue
        numbers = rows[np.ix_(at, observed)]
        for component in range(k):
            from_mean = numbers - mixture.means[component, observed]
            pulled = mixture.precision_times(component, from_mean, observed)
            own = np.diagonal(mixture.precision_times(component, np.eye(len(observed)), observed))
            means[at[:, None], component, observed] = numbers - pulled / own
            precisions[at[:, None], component, observed] = own
    return means, precisions
