"""Accuracies of an experiment on a terminal."""

from collections.abc import Callable, Mapping, Sequence

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from mixkern.cli.output import print_wide
from mixkern.wording import counted
from mixkern_study import KERNELS, Accuracy, Experiment, Reading, Store, published_accuracies
from mixkern_study.ranking import (
    READING_TITLE,
    Score,
    Scores,
    Standing,
    common_titles,
    method_title,
    published_standing,
    scores,
    standing,
)
from mixkern_study.result_table import DASH

PAPER = "(paper)"
NAME_WIDTH = 16  # of a data set: longer names are cut


def print_accuracies(store: Store, experiment: int, reading: str = Reading.EXPECTED_ERROR) -> None:
    """Print mean accuracies in percent, the published ones beside them, for data sets that have any.

    Four kernels fit into 80 characters.
    """
    table = scores(store, experiment, reading)
    if not table:
        return
    present = {method for row in table.values() for method in row}
    methods = [*(kernel for kernel in KERNELS if kernel in present), *sorted(present - set(KERNELS))]
    shown, notes = _table(table, methods, experiment, store.protocol.n_folds)
    title = f"Experiment {int(experiment)}, {Experiment(experiment).title}: accuracy in %, {READING_TITLE[reading]}"
    console = print_wide(title, shown)
    for note in notes:
        console.print(note, highlight=False)
    console.print()


def _table(table: Scores, methods: Sequence[str], experiment: int, n_folds: int) -> tuple[Table, list[str]]:
    """Give the table, and what one has to know to read it."""
    published = published_accuracies(experiment)
    beside = {method: method in KERNELS and any(title in published for title in table) for method in methods}
    shown = Table(box=SIMPLE, show_edge=False, padding=0)
    shown.add_column("", no_wrap=True, max_width=NAME_WIDTH)
    for method, has_paper in beside.items():
        shown.add_column(method_title(method), justify="right", no_wrap=True, min_width=len("100.0*"))
        if has_paper:
            shown.add_column(PAPER, justify="right", no_wrap=True, style="dim", header_style="dim")
    for title, row in table.items():
        shown.add_row(title, *_row(row, published.get(title, {}), beside, n_folds))
    common = common_titles(table, methods)
    ours = standing(table, methods, common)
    is_comparable = set(methods) <= set(KERNELS) and set(common) <= set(published)
    notes = []
    if ours.n_data_sets > 1:
        shown.add_section()
        _add_footer(shown, ours, published_standing(experiment, methods, common) if is_comparable else None, beside)
        notes.append(f"Mean, rank and wins: {counted(ours.n_data_sets, 'data set')} that all methods have.")
    if any(score.n_folds < n_folds for row in table.values() for score in row.values()):
        notes.append(f"With an asterisk: fewer than {n_folds} folds are done.")
    return shown, notes


def _row(
    ours: Mapping[str, Score], theirs: Mapping[str, Accuracy], beside: Mapping[str, bool], n_folds: int
) -> list[Text]:
    best = max(round(score.percent, 9) for score in ours.values())
    cells = []
    for method, has_paper in beside.items():
        score = ours.get(method)
        cells.append(Text(DASH) if score is None else _ours(score, n_folds, best))
        if has_paper:
            cells.append(_theirs(theirs[method].percent if method in theirs else None, ".1f"))
    return cells


def _ours(score: Score, n_folds: int, best: float) -> Text:
    mark = "*" if score.n_folds < n_folds else ""
    return Text(f"{score.percent:.1f}{mark}", "bold" if round(score.percent, 9) == best else "")


def _theirs(value: float | None, spec: str) -> Text:
    return Text("" if value is None else f"({format(value, spec)})")


def _add_footer(shown: Table, ours: Standing, theirs: Standing | None, beside: Mapping[str, bool]) -> None:
    rows: list[tuple[str, str, Callable[..., float], Callable[[Standing, str], float]]] = [
        ("Mean", ".1f", max, lambda each, method: each.means[method])
    ]
    if ours.test is not None:
        rows += [("Mean rank", ".2f", min, Standing.rank), ("Wins", ".1f", max, Standing.wins)]
    for label, spec, best, value in rows:
        winner = best(value(ours, method) for method in beside)
        cells = []
        for method, has_paper in beside.items():
            own = value(ours, method)
            cells.append(Text(format(own, spec), "bold" if own == winner else ""))
            if has_paper:
                cells.append(_theirs(None if theirs is None else value(theirs, method), spec))
        shown.add_row(label, *cells)
