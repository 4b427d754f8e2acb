"""Where the inference begins: rows dealt out to components, whole rows to one component each."""

from enum import StrEnum

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from mixkern.density.mixture import category_slots
from mixkern.density.statistics import Statistics
from mixkern.typing import Floats, Positions

MOST_INDICATORS = 500  # categories in all, beyond which they take no part in the choice of seeds


CANDIDATES = 20  # rows per component among which seeds are sought


class Start(StrEnum):
    """How the first centres are chosen."""

    KMEANS_PLUS_PLUS = "k-means++"  # rows far from each other
    RANDOM = "random"  # any rows


def start_statistics(
    X: Floats,
    codes: Floats,
    weights: Floats | None,
    n_slots: list[int],
    n_components: int,
    how: Start,
    random: np.random.RandomState,
    *,
    is_diagonal: bool,
) -> Statistics:
    """Choose centres among the rows, give every row to the nearest one, and add up."""
    features = _features(X, codes, n_slots)
    k = min(n_components, len(np.unique(features, axis=0)) if len(features) <= n_components else n_components)
    if how is Start.RANDOM:
        centres = features[random.choice(len(features), size=k, replace=False)]
    else:
        from sklearn.cluster import kmeans_plusplus  # slow to import, and needed only here

        some = _some(len(features), CANDIDATES * k, random)
        share = None if weights is None else weights[some]
        centres, _ = kmeans_plusplus(features[some], k, sample_weight=share, random_state=random)
    owners = pairwise_distances_argmin(features, centres)
    return _hard_statistics(np.nan_to_num(X), codes, weights, n_slots, owners, k, is_diagonal=is_diagonal)


def _some(n: int, most: int, random: np.random.RandomState) -> Positions | slice:
    """Give so many rows at most, all of them where there are few."""
    return slice(None) if n <= most else random.choice(n, size=most, replace=False)


def _features(X: Floats, codes: Floats, n_slots: list[int]) -> Floats:
    """Give numbers and category indicators on one scale; a gap is the mean, which is zero."""
    parts = [np.nan_to_num(X)]
    if sum(n_slots) <= MOST_INDICATORS or not X.shape[1]:
        for column, n in zip(codes.T, n_slots, strict=True):
            there = np.flatnonzero(~np.isnan(column))
            indicators = np.zeros((len(column), n))
            indicators[there, category_slots(column[there], n)] = np.sqrt(0.5)  # different categories are 1 apart
            parts.append(indicators)
    return np.hstack(parts)


def _hard_statistics(
    X: Floats,
    codes: Floats,
    weights: Floats | None,
    n_slots: list[int],
    owners: Positions,
    k: int,
    *,
    is_diagonal: bool,
) -> Statistics:
    d = X.shape[1]
    share = np.ones(len(X)) if weights is None else weights
    counts = np.bincount(owners, weights=share, minlength=k).astype(float)
    sums, squares = np.empty((k, d)), np.empty((k, d) if is_diagonal else (k, d, d))
    for j in range(k):  # one component at a time: all at once would take k times the memory of the table
        mine, part = X[owners == j], share[owners == j]
        sums[j] = part @ mine
        squares[j] = part @ mine**2 if is_diagonal else (mine.T * part) @ mine
    tables = []
    for column, n in zip(codes.T, n_slots, strict=True):
        there = ~np.isnan(column)
        table = np.zeros((k, n))
        np.add.at(table, (owners[there], category_slots(column[there], n)), share[there])
        tables.append(table)
    return Statistics(counts, sums, squares, np.zeros((k, d)), tuple(tables), log_normaliser=0.0)
