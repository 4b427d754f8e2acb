"""Tables of accuracies: an experiment beside the published figures, and its readings side by side."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mixkern.report.table import TextTable
from mixkern.validation import one_of
from mixkern.wording import counted
from mixkern_study.protocol import Experiment, Reading
from mixkern_study.published import KERNELS, published_accuracies
from mixkern_study.ranking import (
    ALPHA,
    READING_TITLE,
    Ranking,
    Score,
    Scores,
    common_titles,
    kernels_of,
    method_title,
    published_ranking,
    ranking,
    rankings,
    scores,
)
from mixkern_study.result_table import IN_PARENTHESES, PERCENT, RANK, SMALL, WINS, Cell
from mixkern_study.statistics import RankTest
from mixkern_study.store import Store


def accuracy_table(store: Store, experiment: int, reading: str = Reading.EXPECTED_ERROR) -> TextTable:
    """Return the accuracies of an experiment by one reading, beside the published ones.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern_study.record import Result
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/paper.sqlite")
    ...     fact = dict(experiment=1, data_set="wine", repeat=0, method="rwm", reading="optimistic", n_labelled=12)
    ...     store.add([Result(fold=fold, accuracy=0.9 + fold / 100, **fact) for fold in range(5)])
    ...     accuracy_table(store, 1, "optimistic").rows[18][1].to_text()
    '92.00 ± 1.58 (96.05)'
    """
    chosen = Experiment(experiment), one_of(Reading, reading, "reading")
    table, published = scores(store, *chosen), published_accuracies(experiment)
    peers = sorted({method for row in table.values() for method in row} - set(KERNELS))
    titles = [*published, *(title for title in table if title not in published)]
    n_folds = store.protocol.n_folds
    headings = [
        (method, part) for method in (*KERNELS, *peers) for part in (("", " SV") if method in KERNELS else ("",))
    ]
    footer, note = _accuracy_footer(table, experiment, peers, headings)
    return TextTable(
        name=f"accuracy_{chosen[0].value}_{chosen[1]}",
        title=f"Experiment {experiment}, {chosen[0].title}: accuracy, {READING_TITLE.get(chosen[1], 'as they are')}",
        caption=(
            "Percent of right labels on the test folds, mean ± standard deviation over folds, and SV, the mean number "
            f"of support vectors. {IN_PARENTHESES} The best of a row is bold, ours and the published one."
            f"{'' if experiment == Experiment.ALL else _draws_note(table)}{_partial_note(table, n_folds)}{note}"
        ),
        columns=("Data set", *(f"{method_title(method)}{part}" for method, part in headings)),
        rows=tuple(
            _accuracy_row(title, table.get(title, {}), published.get(title, {}), headings, n_folds) for title in titles
        ),
        footer=footer,
    )


def _accuracy_row(
    title: str,
    ours: Mapping[str, Score],
    theirs: Mapping[str, Any],
    headings: Sequence[tuple[str, str]],
    n_folds: int,
) -> tuple[Cell, ...]:
    best = max((round(score.percent, 9) for score in ours.values()), default=math.nan)
    cells = [Cell(title)]
    for method, part in headings:
        score, paper = ours.get(method), theirs.get(method)
        if part:
            support = None if score is None else score.n_support
            cells.append(Cell(support, published=paper and paper.n_support, spec=".1f"))
            continue
        cells.append(
            Cell(
                None if score is None else score.percent,
                deviation=None if score is None else score.deviation,
                published=paper and paper.percent,
                is_best=score is not None and round(score.percent, 9) == best,
                is_published_best=paper is not None and paper.is_best,
                is_partial=score is not None and score.n_folds < n_folds,
            )
        )
    return tuple(cells)


def _accuracy_footer(
    table: Scores, experiment: int, peers: Sequence[str], headings: Sequence[tuple[str, str]]
) -> tuple[tuple[tuple[Cell, ...], ...], str]:
    """Return rows of means, ranks and wins: kernels on the paper's data sets, then all methods on all data sets."""
    published = published_accuracies(experiment)
    kernels = kernels_of(table)
    titles = [title for title in common_titles(table, kernels) if title in published]
    rows = _ranking_rows(ranking(table, kernels, titles), published_ranking(experiment, kernels, titles), headings)
    note = (
        f" Mean, mean rank and wins (shared ones in parts) are those of the {counted(len(kernels), 'kernel')} on "
        f"{counted(len(titles), 'data set')} that all of them have; the published ones, from the published "
        "accuracies of the same sets with those in bold face as ties."
    )
    everything = [*kernels, *peers]
    more = common_titles(table, everything)
    if peers or more != titles:
        whole = ranking(table, everything, more)
        rows += _ranking_rows(whole, None, headings, suffix=", all")
        note += f' Rows with "all" compare all methods on {counted(len(more), "data set")}.'
    return tuple(rows), note


def _ranking_rows(
    ours: Ranking, theirs: Ranking | None, headings: Sequence[tuple[str, str]], suffix: str = ""
) -> list[tuple[Cell, ...]]:
    def row(
        label: str, value: Callable[[Ranking, str], float], spec: str, best: Callable[..., float]
    ) -> tuple[Cell, ...]:
        cells = [Cell(label + suffix)]
        winner = _winner(ours, value, best)
        published_winner = None if theirs is None else _winner(theirs, value, best)
        for method, part in headings:
            if part or method not in ours.methods:
                cells.append(Cell())
                continue
            cells.append(
                Cell(
                    value(ours, method),
                    published=None if theirs is None else value(theirs, method),
                    spec=spec,
                    is_best=value(ours, method) == winner,
                    is_published_best=theirs is not None and value(theirs, method) == published_winner,
                )
            )
        return tuple(cells)

    return [
        row("Mean", lambda each, method: each.means[method], PERCENT, max),
        row("Mean rank", Ranking.rank, RANK, min),
        row("Wins", Ranking.wins, WINS, max),
    ]


def _winner(each: Ranking, value: Callable[[Ranking, str], float], best: Callable[..., float]) -> float:
    return best((value(each, method) for method in each.methods), default=math.nan)


def _draws_note(table: Scores) -> str:
    """Return a sentence on the number of draws of labels in a fold."""
    counts = {len(score.draws) / score.n_folds for row in table.values() for score in row.values()}
    low, high = min(counts, default=1), max(counts, default=1)
    if high == 1:
        return " Each fold has one draw of labels."
    return f" A fold is the mean of {low:g}{'' if low == high else f' to {high:g}'} draws of labels."


def _partial_note(table: Scores, n_folds: int) -> str:
    is_partial = any(score.n_folds < n_folds for row in table.values() for score in row.values())
    return f" With an asterisk: fewer than {n_folds} folds are done." if is_partial else ""


# ---------------------------------------------------------------- readings


def readings_table(store: Store, experiment: int) -> TextTable:
    """Return mean accuracies, ranks and tests of an experiment by each reading, side by side.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     readings_table(Store(f"{folder}/paper.sqlite"), 2).columns
    ('', 'training labels', 'optimistic', 'ceiling', 'published')
    """
    found = rankings(store, experiment)
    columns = list(found.values())
    kernels = columns[0].methods

    def row(label: str, value: Callable[[Ranking], float], spec: str) -> tuple[Cell, ...]:
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
    return TextTable(
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
