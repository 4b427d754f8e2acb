"""Mean accuracies of methods in the paper's experiments, and their ranking."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mixkern_study.data_sets import paper_titles, title_of
from mixkern_study.protocol import RATED, Reading
from mixkern_study.published import KERNELS, published_accuracies
from mixkern_study.record import Result
from mixkern_study.statistics import RankTest, rank_test
from mixkern_study.store import Store

ALPHA = 0.05  # level of significance

READING_TITLE: Mapping[str, str] = {
    Reading.EXPECTED_ERROR: "training labels",
    Reading.OPTIMISTIC: "optimistic",
    Reading.CEILING: "ceiling",
}

PEER_TITLE: Mapping[str, str] = {"transductive_svm": "TSVM", "s3vm": "S3VM"}  # as the paper abbreviates them


@dataclass(frozen=True)
class Score:
    """Accuracy of a method on a data set.

    Attributes
    ----------
    percent, deviation : float
        Mean and sample standard deviation, in percentage points, over folds; each fold is the mean of its repeats.
    n_support : float
        Mean number of support vectors; NaN for methods that have none.
    draws : frozenset of (int, int)
        Fold and number of each draw of labels.
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
    """Return the accuracies of an experiment by one reading; baselines, which choose nothing, are always included."""
    found: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for each in (reading, Reading.DEFAULT):
        for result in store.results(experiment=int(experiment), reading=str(each)):
            found[title_of(result.data_set), result.method].append(result)
    by_title: dict[str, dict[str, Score]] = defaultdict(dict)
    for (title, method), results in found.items():
        by_title[title][method] = _score(results)
    known = [title for title in published_accuracies(1) if title in by_title]
    return {title: by_title[title] for title in [*known, *(title for title in by_title if title not in known)]}


def kernel_scores(store: Store, experiment: int, readings: Mapping[str, str]) -> dict[str, dict[str, Score]]:
    """Return the accuracies of kernels on the paper's data sets, each kernel by its own reading."""
    tables = {reading: scores(store, experiment, reading) for reading in set(readings.values())}
    return {
        title: {
            kernel: tables[reading][title][kernel]
            for kernel, reading in readings.items()
            if kernel in tables[reading].get(title, {})
        }
        for title in published_accuracies(experiment)
    }


def mean_gap(table: Scores, experiment: int, kernels: Sequence[str], titles: Sequence[str]) -> float:
    """Return the mean absolute difference from the published accuracies, in percentage points."""
    published = published_accuracies(experiment)
    gaps = [abs(table[t][k].percent - published[t][k].percent) for t in titles for k in kernels]
    return float(np.mean(gaps)) if gaps else math.nan


def method_title(method: str) -> str:
    """Return the heading of a method: kernels and classifiers that the paper names as there, others as they are.

    >>> method_title("rwm"), method_title("transductive_svm"), method_title("forest")
    ('RWM', 'TSVM', 'forest')
    """
    return method.upper() if method in KERNELS else PEER_TITLE.get(method, method)


def _score(results: Sequence[Result]) -> Score:
    by_fold: dict[int, list[float]] = defaultdict(list)
    for result in results:
        by_fold[result.fold].append(100 * result.accuracy)
    means = [float(np.mean(values)) for values in by_fold.values()]
    support = [result.n_support for result in results if result.n_support >= 0]
    return Score(
        percent=float(np.mean(means)),
        # over n - 1, as in the paper: its 4.944 for Iris is possible for five folds of thirty rows only over n - 1
        deviation=float(np.std(means, ddof=1)) if len(means) > 1 else math.nan,
        n_support=float(np.mean(support)) if support else math.nan,
        draws=frozenset((result.fold, result.repeat) for result in results),
    )


@dataclass(frozen=True, eq=False)
class Ranking:
    """Mean accuracies and ranks of methods on the data sets that all of them have.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods.
    means : dict of float
        Mean accuracies in percent, by method.
    n_data_sets : int
        Number of data sets.
    test : RankTest or None
        Ranks, wins and tests; None where there are fewer than two data sets or methods.
    """

    methods: tuple[str, ...]
    means: Mapping[str, float]
    n_data_sets: int
    test: RankTest | None

    def rank(self, method: str) -> float:
        """Return the mean rank of a method, NaN where there is none."""
        return math.nan if self.test is None else float(self.test.ranks[self.methods.index(method)])

    def wins(self, method: str) -> float:
        """Return the number of wins of a method, NaN where there is none."""
        return math.nan if self.test is None else float(self.test.wins[self.methods.index(method)])


def ranking(table: Scores, methods: Sequence[str], titles: Sequence[str]) -> Ranking:
    """Compare methods on some data sets."""
    # Equal accuracies may differ in the last digit, by the order of summation.
    return _ranking([[round(table[t][m].percent, 9) for m in methods] for t in titles], methods)


def published_ranking(experiment: int, methods: Sequence[str], titles: Sequence[str]) -> Ranking:
    """Compare the published accuracies on the same data sets; those in bold are ties, as in the paper."""
    table = published_accuracies(experiment)
    percents = [[table[t][m].percent for m in methods] for t in titles]
    return _ranking(percents, methods, [[table[t][m].is_best for m in methods] for t in titles])


def _ranking(percents: list[list[float]], methods: Sequence[str], ties: list[list[bool]] | None = None) -> Ranking:
    n = len(percents)
    means = np.mean(percents, axis=0) if n else np.full(len(methods), np.nan)
    test = rank_test(percents, methods, ties=ties) if n > 1 and len(methods) > 1 else None
    return Ranking(tuple(methods), dict(zip(methods, map(float, means), strict=True)), n, test)


def published_test(experiment: int, *, bold_is_tie: bool) -> RankTest:
    """Rank the published accuracies; those in bold may count as equal, which seems to be the paper's rule."""
    table = published_accuracies(experiment).values()
    percents = [[row[k].percent for k in KERNELS] for row in table]
    is_best = [[row[k].is_best for k in KERNELS] for row in table]
    return rank_test(percents, KERNELS, ties=is_best if bold_is_tie else None)


def common_titles(table: Scores, methods: Sequence[str]) -> list[str]:
    """Return the data sets that all methods have, on the same folds and with the same labels."""
    return [
        title
        for title, row in table.items()
        if all(method in row for method in methods) and len({row[method].draws for method in methods}) == 1
    ]


def kernels_of(table: Scores) -> list[str]:
    """Return the kernels that occur on data sets of the paper, in the paper's order."""
    rows = [row for title, row in table.items() if title in paper_titles().values()]
    return [kernel for kernel in KERNELS if any(kernel in row for row in rows)]


def rankings(store: Store, experiment: int) -> dict[str, Ranking]:
    """Rank the kernels by each reading, and as published, all on the same data sets of the paper.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/paper.sqlite")
    ...     {name: each.n_data_sets for name, each in rankings(store, 1).items()}
    {'expected_error': 0, 'optimistic': 0, 'ceiling': 0, 'published': 0}
    """
    tables = {str(reading): scores(store, experiment, reading) for reading in RATED}
    kernels = [k for k in KERNELS if all(k in kernels_of(table) for table in tables.values())]
    titles = [
        title
        for title in published_accuracies(experiment)
        if all(title in common_titles(table, kernels) for table in tables.values())
    ]
    found = {name: ranking(table, kernels, titles) for name, table in tables.items()}
    return {**found, "published": published_ranking(experiment, kernels, titles)}
