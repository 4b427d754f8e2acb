"""What a store says: how accurate methods are, and how they stand against each other."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mixkern_study.protocol import RATED, Reading
from mixkern_study.published import KERNELS, published_accuracies
from mixkern_study.statistics import RankTest, rank_test
from mixkern_study.store import Result, Store

ALPHA = 0.05  # level of significance

READING_TITLE: Mapping[str, str] = {
    Reading.EXPECTED_ERROR: "no label peeked at",
    Reading.OPTIMISTIC: "optimistic",
    Reading.CEILING: "ceiling",
}


@dataclass(frozen=True)
class Score:
    """A method on a data set.

    Attributes
    ----------
    percent, deviation : float
        Mean and sample standard deviation, in percentage points, over folds; each fold is the mean of its repeats.
    n_support : float
        Mean number of support vectors; NaN for machines that have none.
    draws : frozenset of (int, int)
        Which folds there are, and which draws of labels in each.
    """

    percent: float
    deviation: float
    n_support: float
    draws: frozenset[tuple[int, int]]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len({fold for fold, _ in self.draws})


Scores = Mapping[str, Mapping[str, Score]]  # by title of the data set, then by method


def scores(store: Store, experiment: int, reading: str) -> dict[str, dict[str, Score]]:
    """Summarise the results of an experiment by one reading; learners that choose nothing are always among them."""
    found: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for each in (reading, Reading.DEFAULT):
        for result in store.results(experiment=int(experiment), reading=str(each)):
            found[title_of(result.data_set), result.method].append(result)
    by_title: dict[str, dict[str, Score]] = defaultdict(dict)
    for (title, method), results in found.items():
        by_title[title][method] = _score(results)
    known = [title for title in published_accuracies(1) if title in by_title]
    return {title: by_title[title] for title in [*known, *(title for title in by_title if title not in known)]}


def title_of(data_set: str) -> str:
    """Give the title that the paper has for a data set; others are their own.

    >>> title_of("credit_a"), title_of("my_own")
    ('Credit A', 'my_own')
    """
    return _TITLE.get(data_set, data_set)


_TITLE = {title.lower().replace(" ", "_"): title for title in published_accuracies(1)}


def method_title(method: str) -> str:
    """Give the heading of a method: kernels in capitals, as in the paper."""
    return method.upper() if method in KERNELS else method


def _score(results: Sequence[Result]) -> Score:
    by_fold: dict[int, list[float]] = defaultdict(list)
    for result in results:
        by_fold[result.fold].append(100 * result.accuracy)
    means = [float(np.mean(values)) for values in by_fold.values()]
    support = [result.n_support for result in results if result.n_support >= 0]
    return Score(
        percent=float(np.mean(means)),
        # over n - 1, as the paper does: its 4.944 for Iris is that of five folds of thirty rows, over n it cannot be
        deviation=float(np.std(means, ddof=1)) if len(means) > 1 else math.nan,
        n_support=float(np.mean(support)) if support else math.nan,
        draws=frozenset((result.fold, result.repeat) for result in results),
    )


@dataclass(frozen=True, eq=False)
class Standing:
    """How methods stand on the data sets that all of them have.

    Attributes
    ----------
    methods : tuple of str
        Which.
    means : dict of float
        Mean accuracies in percent, by method.
    n_data_sets : int
        On how many data sets.
    test : RankTest or None
        Ranks, wins and tests; None where there are fewer than two data sets or methods.
    """

    methods: tuple[str, ...]
    means: Mapping[str, float]
    n_data_sets: int
    test: RankTest | None

    def rank(self, method: str) -> float:
        """Give a mean rank, NaN where there is none."""
        return math.nan if self.test is None else float(self.test.ranks[self.methods.index(method)])

    def wins(self, method: str) -> float:
        """Give the number of wins, NaN where there is none."""
        return math.nan if self.test is None else float(self.test.wins[self.methods.index(method)])


def standing(table: Scores, methods: Sequence[str], titles: Sequence[str]) -> Standing:
    """Compare methods on some data sets."""
    # Equal shares of right answers may differ in the last digit, by the order in which they were summed.
    return _standing([[round(table[t][m].percent, 9) for m in methods] for t in titles], methods)


def published_standing(experiment: int, methods: Sequence[str], titles: Sequence[str]) -> Standing:
    """Compare the published accuracies on the same data sets; those in bold face are ties, as the paper counts."""
    table = published_accuracies(experiment)
    percents = [[table[t][m].percent for m in methods] for t in titles]
    return _standing(percents, methods, [[table[t][m].is_best for m in methods] for t in titles])


def _standing(percents: list[list[float]], methods: Sequence[str], ties: list[list[bool]] | None = None) -> Standing:
    n = len(percents)
    means = np.mean(percents, axis=0) if n else np.full(len(methods), np.nan)
    test = rank_test(percents, methods, ties=ties) if n > 1 and len(methods) > 1 else None
    return Standing(tuple(methods), dict(zip(methods, map(float, means), strict=True)), n, test)


def common_titles(table: Scores, methods: Sequence[str]) -> list[str]:
    """Give the data sets that all methods have, on the same folds and with the same labels."""
    return [
        title
        for title, row in table.items()
        if all(method in row for method in methods) and len({row[method].draws for method in methods}) == 1
    ]


def kernels_of(table: Scores) -> list[str]:
    """Give the kernels that occur on data sets of the paper, in the paper's order."""
    rows = [row for title, row in table.items() if title in _TITLE.values()]
    return [kernel for kernel in KERNELS if any(kernel in row for row in rows)]


def standings(store: Store, experiment: int) -> dict[str, Standing]:
    """Compare the kernels by each reading, and as published, all on the same data sets of the paper.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/paper.sqlite")
    ...     {name: each.n_data_sets for name, each in standings(store, 1).items()}
    {'expected_error': 0, 'optimistic': 0, 'ceiling': 0, 'published': 0}
    """
    tables = {str(reading): scores(store, experiment, reading) for reading in RATED}
    kernels = [k for k in KERNELS if all(k in kernels_of(table) for table in tables.values())]
    titles = [
        title
        for title in published_accuracies(experiment)
        if all(title in common_titles(table, kernels) for table in tables.values())
    ]
    found = {name: standing(table, kernels, titles) for name, table in tables.items()}
    return {**found, "published": published_standing(experiment, kernels, titles)}
