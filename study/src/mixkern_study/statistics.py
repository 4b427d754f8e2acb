"""Tests whether methods differ over several data sets, as Demsar (2006) recommends, and pairwise tests."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mixkern.typing import Floats
from mixkern_study.protocol import StudyError


@dataclass(frozen=True, eq=False)
class RankTest:
    """Ranks of k methods on n data sets, with Friedman's and Iman-Davenport's tests.

    Attributes
    ----------
    methods : tuple of str
        Their names.
    ranks : ndarray of shape (k,)
        Mean rank of each, 1 the best; equal scores share a rank.
    wins : ndarray of shape (k,)
        Data sets on which each is best; shared ones count in parts.
    n_data_sets : int
        n.
    chi_square, p_value : float
        Friedman's statistic without and his test with the correction for ties.
    chi_square_tied : float
        The statistic with it.
    iman_davenport, iman_davenport_p : float
        The less conservative statistic of Iman and Davenport, from the uncorrected one, and its p-value.
    """

    methods: tuple[str, ...]
    ranks: Floats
    wins: Floats
    n_data_sets: int
    chi_square: float
    chi_square_tied: float
    p_value: float
    iman_davenport: float
    iman_davenport_p: float

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Return the difference of mean ranks from which two methods differ significantly by Nemenyi's test."""
        k = len(self.methods)
        return critical_value(k, alpha) * float(np.sqrt(k * (k + 1) / (6 * self.n_data_sets)))

    def groups(self, alpha: float = 0.05, value: float | None = None) -> list[tuple[str, ...]]:
        """Return the largest groups of methods that do not differ significantly, the best first.

        ``value`` is the critical difference, where another than the exact one is to be used.
        """
        order = np.argsort(self.ranks, kind="stable")
        limit = self.critical_difference(alpha) if value is None else value
        found: list[tuple[int, int]] = []
        for i in range(len(order)):
            j = max(j for j in range(i, len(order)) if self.ranks[order[j]] - self.ranks[order[i]] < limit)
            if j > i and not any(a <= i and j <= b for a, b in found):
                found.append((i, j))
        return [tuple(self.methods[m] for m in order[i : j + 1]) for i, j in found]


def rank_test(scores: ArrayLike, methods: Sequence[str], *, ties: ArrayLike | None = None) -> RankTest:
    """Rank methods on each data set and test whether the ranks could be chance.

    Parameters
    ----------
    scores : array-like of shape (n, k)
        One row per data set, one column per method; higher is better.
    methods : sequence of str
        Names of the columns.
    ties : array-like of bool, shape (n, k), default=None
        Scores that count as equal to the best of their row.

    Examples
    --------
    >>> test = rank_test([[0.9, 0.8], [0.7, 0.7], [0.8, 0.6]], ["new", "old"])
    >>> test.ranks, test.wins
    (array([1.16666667, 1.83333333]), array([2.5, 0.5]))
    """
    table = np.array(scores, dtype=float)
    if table.ndim != 2 or table.shape[1] != len(methods) or len(methods) < 2 or len(table) < 2:
        raise StudyError(
            f"scores must have one row per data set and one column for each of {len(methods)} methods, at least two of "
            f"both, but its shape is {table.shape}."
        )
    if not np.isfinite(table).all():
        raise StudyError("scores must be finite: a data set on which a method is missing cannot be ranked.")
    if ties is not None:
        table = np.where(np.asarray(ties, dtype=bool), table.max(axis=1, keepdims=True), table)
    n, k = table.shape
    ranked = stats.rankdata(-table, axis=1)
    ranks = ranked.mean(axis=0)
    is_best = table == table.max(axis=1, keepdims=True)
    # Without the correction for ties, as the paper has it and most tables do
    chi_square = 12 * n / (k * (k + 1)) * float((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    # The share of variance that ties leave, Friedman's correction
    tied = chi_square * (k**3 - k) * n / (12 * max(float(((ranked - (k + 1) / 2) ** 2).sum()), 1e-300))
    f = (n - 1) * chi_square / max(n * (k - 1) - chi_square, 1e-300)
    return RankTest(
        methods=tuple(methods),
        ranks=ranks,
        wins=(is_best / is_best.sum(axis=1, keepdims=True)).sum(axis=0),
        n_data_sets=n,
        chi_square=chi_square,
        chi_square_tied=tied,
        p_value=float(stats.chi2.sf(tied, k - 1)),
        iman_davenport=f,
        iman_davenport_p=float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
    )


def critical_value(n_methods: int, alpha: float = 0.05) -> float:
    """Return the critical value of Nemenyi's test: that of the studentised range, over the square root of two.

    >>> round(critical_value(4, 0.01), 3), round(critical_value(4, 0.1), 3)
    (3.113, 2.291)
    """
    if not 0 < alpha < 1:
        raise StudyError(f"alpha must lie between 0 and 1, but it is {alpha!r}.")
    return float(stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2))


# ---------------------------------------------------------------- pairwise tests


def signed_rank_p(differences: ArrayLike) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, two-sided; 1 where nothing differs.

    >>> round(signed_rank_p([1.0, 2.0, 3.0, -0.5, 4.0, 5.0]), 4)
    0.0625
    """
    values = np.asarray(differences, dtype=float)
    return float(stats.wilcoxon(values).pvalue) if values.any() else 1.0


def rank_biserial(differences: ArrayLike) -> float:
    """Return the matched-pairs rank-biserial correlation: the ranks of gains against those of losses.

    Differences are ranked by their size, zeros left out. The ranks of positive ones, less those of negative ones, over
    all ranks: 1 where all are positive, -1 where all are negative (Kerby, 2014).

    Parameters
    ----------
    differences : array-like of shape (n,)
        One for each data set.

    Examples
    --------
    >>> rank_biserial([1.0, 2.0, -3.0])
    0.0
    >>> rank_biserial([1.0, 2.0, 3.0])
    1.0
    """
    values = np.asarray(differences, dtype=float)
    values = values[values != 0]
    if not len(values):
        return 0.0
    ranks = stats.rankdata(np.abs(values))
    return float(np.sign(values) @ ranks / ranks.sum())


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down procedure.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if not np.isfinite(p).all():
        raise StudyError("p-values must be finite numbers.")
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    corrected = np.empty(len(p))
    corrected[order] = stepped
    return [float(each) for each in corrected]
