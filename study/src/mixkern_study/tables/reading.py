"""The readings of an experiment side by side."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from mixkern.wording import counted
from mixkern_study.protocol import Experiment
from mixkern_study.ranking import ALPHA, READING_TITLE, Standing, standings
from mixkern_study.result_table import PERCENT, RANK, SMALL, Cell, StudyTable
from mixkern_study.statistics import RankTest
from mixkern_study.store import Store


def readings_table(store: Store, experiment: int) -> StudyTable:
    """Put the readings of an experiment side by side: mean accuracies, ranks, and whether the kernels differ.

    Parameters
    ----------
    store : Store
        Results.
    experiment : {1, 2, 3}
        Which.

    Returns
    -------
    StudyTable

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     readings_table(Store(f"{folder}/paper.sqlite"), 2).columns
    ('', 'no label peeked at', 'optimistic', 'ceiling', 'published')
    """
    found = standings(store, experiment)
    columns = list(found.values())
    kernels = columns[0].methods

    def row(label: str, value: Callable[[Standing], float], spec: str) -> tuple[Cell, ...]:
        return (Cell(label), *(Cell(value(each), spec=spec) for each in columns))

    def accuracy(kernel: str) -> tuple[Cell, ...]:
        return row(f"{kernel.upper()} accuracy", lambda each: each.means[kernel], PERCENT)

    def rank(kernel: str) -> tuple[Cell, ...]:
        return row(f"{kernel.upper()} mean rank", lambda each: each.rank(kernel), RANK)

    def tested(label: str, value: Callable[[RankTest], float], spec: str) -> tuple[Cell, ...]:
        return row(label, lambda each: math.nan if each.test is None else value(each.test), spec)

    rows = [*_best_of_columns([*map(accuracy, kernels)], max), *_best_of_columns([*map(rank, kernels)], min)]
    if {"rwm", "rbf"} <= set(kernels):
        rows.insert(len(kernels), row("RWM ahead of RBF", lambda each: each.means["rwm"] - each.means["rbf"], "+.2f"))
    rows += [
        tested("Friedman's chi-square", lambda test: test.chi_square, PERCENT),
        tested("its p-value, with ties", lambda test: test.p_value, SMALL),
        tested("Iman-Davenport's F", lambda test: test.iman_davenport, PERCENT),
        tested("its p-value", lambda test: test.iman_davenport_p, SMALL),
        tested(f"Critical difference at {ALPHA:g}", lambda test: test.critical_difference(ALPHA), RANK),
    ]
    return StudyTable(
        name=f"readings_{experiment}",
        title=f"Experiment {experiment}, {Experiment(experiment).title}: the readings side by side",
        caption=(
            f"Mean accuracies in percent over {counted(columns[0].n_data_sets, 'data set')} of the paper that all "
            "kernels have by all readings; the published column is computed from the published accuracies of the same "
            "sets. The best of a column is bold."
        ),
        columns=("", *READING_TITLE.values(), "published"),
        rows=tuple(rows),
    )


def _best_of_columns(rows: Sequence[tuple[Cell, ...]], best: Callable[..., float]) -> list[tuple[Cell, ...]]:
    winners = [best((row[j].value for row in rows), default=None) for j in range(1, len(rows[0]) if rows else 1)]
    return [
        (row[0], *(replace(cell, is_best=cell.value == winner) for cell, winner in zip(row[1:], winners, strict=True)))
        for row in rows
    ]
