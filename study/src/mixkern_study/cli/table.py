"""Tables of the studies: those of the user as they are read, and those of data sets and accuracies on a terminal."""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixkern.cli.output import print_notes, print_wide
from mixkern.datasets import Dataset, read_dataset
from mixkern.errors import MixkernWarning
from mixkern.wording import counted
from mixkern_study.data_sets import DatasetComparison, compare_data_sets
from mixkern_study.protocol import Experiment, Reading
from mixkern_study.published import KERNELS, Accuracy, published_accuracies
from mixkern_study.ranking import (
    READING_TITLE,
    Ranking,
    Score,
    Scores,
    common_titles,
    method_title,
    published_ranking,
    ranking,
    scores,
)
from mixkern_study.result_table import DASH
from mixkern_study.store import Store

PAPER = "(paper)"
NAME_WIDTH = 16  # of a data set: longer names are cut


def own_table(path: Path, target: str | None) -> Dataset:
    """Read a table of the user, without rows that have no label; print what was left out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MixkernWarning)
        table = read_dataset(path, target)
    # Without the hints, which name options that these commands do not have.
    print_notes([f"{path.name}: {each.message.args[0]}" for each in caught if isinstance(each.message, MixkernWarning)])
    complete = table.labelled()
    n_left_out = table.n_samples - complete.n_samples
    if n_left_out:
        print_notes([f"{path.name}: {counted(n_left_out, 'row')} without a label cannot be tested, and are left out."])
    return complete


@click.command("data", short_help="Compare the data sets with the paper's.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
def data_command(as_json: bool) -> None:
    """List the twenty data sets beside the figures that the paper gives for them."""
    rows = compare_data_sets()
    if as_json:
        click.echo(json.dumps([_record(row) for row in rows], indent=1))
    else:
        _print_comparison(rows)


def _record(row: DatasetComparison) -> dict[str, Any]:
    return {
        "name": row.name,
        "ours": asdict(row.ours),
        "paper": asdict(row.published),
        "differences": row.differences,
        "slip": row.slip,
    }


def _print_comparison(rows: list[DatasetComparison]) -> None:
    """Print one line per set, each figure beside the paper's."""
    title = "Twenty data sets: ours / the paper's; of class shares, the largest difference in %"
    table = Table(title=title, title_justify="left", box=SIMPLE)
    table.add_column("name", no_wrap=True)
    for heading in ("samples", "continuous", "categorical", "classes"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("shares", justify="right", no_wrap=True)
    for row in rows:
        figures = ("n_samples", "n_continuous", "n_categorical", "n_classes")
        cells = [
            _beside(row, field, f"{getattr(row.ours, field)} / {getattr(row.published, field)}") for field in figures
        ]
        shares = _beside(row, "class_percent", f"± {row.largest_share_difference:.1f}")
        table.add_row(row.name, *cells, shares)
    console = Console()
    console.print(table)
    for row in rows:
        if row.differences:
            console.print(f"{row.name}: {row.slip}.", highlight=False, soft_wrap=True)
    same = sum(not row.differences for row in rows)
    console.print(f"{same} of {len(rows)} sets agree with the paper in every figure.", highlight=False)


def _beside(row: DatasetComparison, field: str, text: str) -> str:
    return f"[bold yellow]{text} *[/]" if field in row.differences else text


# ---------------------------------------------------------------- accuracies


def print_accuracies(store: Store, experiment: int, reading: str = Reading.EXPECTED_ERROR) -> None:
    """Print mean accuracies in percent beside the published ones, for data sets that have results.

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
    """Return the table, and notes below it."""
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
    notes = []
    kernels, common = [method for method in methods if method in KERNELS], common_titles(table, methods)
    as_published = [title for title in common_titles(table, kernels) if title in published] if kernels else []
    has_others = (kernels, as_published) != (list(methods), common)
    if max(len(as_published), len(common)) > 1:
        shown.add_section()
    if len(as_published) > 1:
        theirs = published_ranking(experiment, kernels, as_published)
        _add_footer(shown, ranking(table, kernels, as_published), theirs, beside)
        notes.append(f"Mean, rank and wins: the kernels on {counted(len(as_published), 'data set')} that all have.")
    if len(common) > 1 and (has_others or len(as_published) < 2):
        suffix = ", all" if len(as_published) > 1 else ""
        _add_footer(shown, ranking(table, methods, common), None, beside, suffix)
        notes.append(f"Mean, rank and wins{suffix}: {counted(len(common), 'data set')} that all methods have.")
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


def _add_footer(
    shown: Table, ours: Ranking, theirs: Ranking | None, beside: Mapping[str, bool], suffix: str = ""
) -> None:
    rows: list[tuple[str, str, Callable[..., float], Callable[[Ranking, str], float]]] = [
        ("Mean", ".1f", max, lambda each, method: each.means[method])
    ]
    if ours.test is not None:
        rows += [("Mean rank", ".2f", min, Ranking.rank), ("Wins", ".1f", max, Ranking.wins)]
    for label, spec, best, value in rows:
        winner = best(value(ours, method) for method in ours.methods)
        cells = []
        for method, has_paper in beside.items():
            own = value(ours, method) if method in ours.methods else None
            cells.append(Text("" if own is None else format(own, spec), "bold" if own == winner else ""))
            if has_paper:
                cells.append(_theirs(None if theirs is None else value(theirs, method), spec))
        shown.add_row(label + suffix, *cells)
