"""The paper's own statistics, computed again."""

from collections.abc import Mapping
from dataclasses import dataclass

from scipy import stats

from mixkern_study.published import KERNELS, published_accuracies
from mixkern_study.result_table import PERCENT, RANK, WINS, Cell, StudyTable
from mixkern_study.statistics import RankTest, critical_value, rank_test


@dataclass(frozen=True)
class PublishedStatistics:
    """What the paper says about ranks: in kernels' order, and the tests.

    Attributes
    ----------
    ranks, wins : tuple of float
        As the last rows of its tables have them.
    chi_square, chi_square_limit : float
        Friedman's statistic and its critical value.
    alpha : float
        Level of significance.
    critical_value, critical_difference : float
        Nemenyi's.
    """

    ranks: tuple[float, ...]
    wins: tuple[float, ...]
    chi_square: float
    chi_square_limit: float
    alpha: float
    critical_value: float
    critical_difference: float


PUBLISHED_STATISTICS: Mapping[int, PublishedStatistics] = {
    1: PublishedStatistics((1.375, 2.750, 2.825, 3.050), (14.5, 2.5, 2.0, 1.0), 20.83, 11.1, 0.01, 3.275, 1.337),
    2: PublishedStatistics((1.500, 2.500, 2.475, 3.525), (13.2, 2.8, 3.2, 0.8), 24.62, 6.24, 0.1, 2.351, 0.960),
    3: PublishedStatistics((2.250, 2.025, 2.025, 3.700), (5.5, 6.8, 6.8, 0.8), 23.44, 6.24, 0.1, 2.351, 0.960),
}


def published_test(experiment: int, *, bold_is_tie: bool) -> RankTest:
    """Rank the published accuracies; those in bold face may count as equal, as the paper seems to have done."""
    table = published_accuracies(experiment).values()
    percents = [[row[k].percent for k in KERNELS] for row in table]
    is_best = [[row[k].is_best for k in KERNELS] for row in table]
    return rank_test(percents, KERNELS, ties=is_best if bold_is_tie else None)


def statistics_table() -> StudyTable:
    """Compute the paper's statistics again from its own accuracies, and its critical values exactly.

    Examples
    --------
    >>> [cell.to_text() for cell in statistics_table().rows[8]]
    ["1: Friedman's chi-square", '20.83', '20.835', '20.835', '-']
    """
    return StudyTable(
        name="statistics",
        title="The paper's statistics, computed again",
        caption=(
            "From the published accuracies as printed; with those in bold face as ties; and exact values where theory "
            "gives them. Experiment 1 comes out as published. The wins of experiments 2 and 3 come out only where the "
            "accuracies in bold face count as ties, though some are printed with different digits; the ranks then come "
            "out within 0.05 (bold face shows no ties below the first place). Each published chi-square is that of the "
            "published ranks. For experiment 3, the paper's text gives RWM 5.8 wins, and its table 5.5. The critical "
            "values 3.275 and 2.351 are larger than those of Nemenyi's test for four methods, 3.113 and 2.291, and so "
            "are the critical differences: what the paper calls significant is so by the exact ones, too."
        ),
        columns=("Experiment and quantity", "published", "as printed", "bold as ties", "exact"),
        rows=tuple(row for experiment in PUBLISHED_STATISTICS for row in _statistics_rows(experiment)),
    )


def _statistics_rows(experiment: int) -> list[tuple[Cell, ...]]:
    paper = PUBLISHED_STATISTICS[experiment]
    printed, tied = (published_test(experiment, bold_is_tie=flag) for flag in (False, True))
    k, n = len(KERNELS), printed.n_data_sets

    def row(label: str, published: float, *values: float | None, spec: str = RANK) -> tuple[Cell, ...]:
        cells = (Cell(value, spec=RANK) for value in values)
        return (Cell(f"{experiment}: {label}"), Cell(published, spec=spec), *cells)

    of_ranks = 12 * n / (k * (k + 1)) * (sum(rank**2 for rank in paper.ranks) - k * (k + 1) ** 2 / 4)
    ranks = zip(KERNELS, paper.ranks, printed.ranks, tied.ranks, strict=True)
    wins = zip(KERNELS, paper.wins, printed.wins, tied.wins, strict=True)
    return [
        *(row(f"mean rank of {kernel.upper()}", *values, None) for kernel, *values in ranks),
        *(row(f"wins of {kernel.upper()}", *values, None, spec=WINS) for kernel, *values in wins),
        row("Friedman's chi-square", paper.chi_square, printed.chi_square, tied.chi_square, None, spec=PERCENT),
        row("the same, of the published ranks", paper.chi_square, None, None, of_ranks, spec=PERCENT),
        row(
            f"critical chi-square at {paper.alpha:g}",
            paper.chi_square_limit,
            None,
            None,
            float(stats.chi2.isf(paper.alpha, k - 1)),
            spec="g",
        ),
        row(f"critical value at {paper.alpha:g}", paper.critical_value, None, None, critical_value(k, paper.alpha)),
        row(
            f"critical difference at {paper.alpha:g}",
            paper.critical_difference,
            None,
            None,
            printed.critical_difference(paper.alpha),
        ),
    ]
