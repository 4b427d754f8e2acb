"""``mixkern study``: compare mixkern with other methods."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.table import Table

from mixkern.cli.group import Stopped
from mixkern.cli.option import name_list
from mixkern.cli.output import print_notes, print_wide, step_progress, write_picture
from mixkern.datasets import Dataset, names
from mixkern.imports import optional
from mixkern.report.table import TextTable
from mixkern.whole_file import write_whole
from mixkern.wording import counted
from mixkern_study import (
    CONFIRMATION,
    OUTSIDE,
    TUNING,
    WIDE,
    Entry,
    Protocol,
    Store,
    leaderboard_tables,
    plot,
    run_leaderboard,
)
from mixkern_study.cli.table import own_table
from mixkern_study.leaderboard import Choice, leaderboard
from mixkern_study.leaderboard.label_draw import BUDGETS, N_DRAWS
from mixkern_study.method_list import METHODS, leaderboard_methods
from mixkern_study.optional_method import OPTIONAL, why_left_out
from mixkern_study.result_table import Cell, cells_of, to_csv

STORE = "leaderboard.sqlite"
GROUPS: Mapping[str, Callable[[], Sequence[str]]] = {
    "paper": names,
    "outside": lambda: list(OUTSIDE),
    "wide": lambda: list(WIDE),
    "wide-tuning": lambda: list(TUNING),
    "wide-confirmation": lambda: list(CONFIRMATION),
}
DEFAULT_GROUPS = ("paper", "outside")
TOO_WIDE = "data_sets_"  # name prefix of tables with a column for each method, which are written to files only


def _numbers(ctx: Any, param: Any, value: str) -> list[int]:
    """Read whole numbers with commas between them."""
    given = [each.strip() for each in value.split(",") if each.strip()]
    if not given or not all(each.isdecimal() and int(each) > 0 for each in given):
        raise click.BadParameter(f"{value!r} is not a list of whole numbers, such as 2,4,8.", ctx=ctx, param=param)
    return sorted({int(each) for each in given})


def _tables(ctx: Any, param: Any, value: Sequence[str]) -> list[Dataset]:
    """Read the user's tables, each FILE or FILE:TARGET."""
    found = []
    for each in value:
        file, colon, target = each.rpartition(":")
        path, column = (Path(file), target) if colon and not Path(each).exists() else (Path(each), None)
        if not path.is_file():
            raise click.BadParameter(f"There is no file {str(path)!r}.", ctx=ctx, param=param)
        found.append(own_table(path, column))
    return found


@click.group("study")
def study_group() -> None:
    """Compare mixkern with other methods."""


@study_group.command("leaderboard", short_help="Rank methods with few labels.")
@click.option(
    "--data-sets",
    callback=name_list(lambda: [*names(), *OUTSIDE, *WIDE, *GROUPS], has_openml=True),
    help="Some data sets: iris,wine; paper is its twenty, outside those that it does not have, wide those of 30 to 751 "
    "columns, wide-tuning and wide-confirmation half of these.  [default: paper,outside]",
)
@click.option(
    "--methods",
    callback=name_list(lambda: [*METHODS, *OPTIONAL]),
    help="Some methods: rwm,svc.  [default: all]",
)
@click.option(
    "--budgets",
    callback=_numbers,
    default=",".join(map(str, BUDGETS)),
    show_default=True,
    help="Labels per class on average.",
)
@click.option(
    "--choices",
    callback=name_list(lambda: [str(each) for each in Choice]),
    default=",".join(Choice),
    show_default=True,
    help="How labelled rows are chosen.",
)
@click.option("--draws", type=click.IntRange(1), default=N_DRAWS, show_default=True, help="Draws of labels of each.")
@click.option(
    "--store",
    type=click.Path(dir_okay=False, path_type=Path),
    default=STORE,
    show_default=True,
    help="The file that results are kept in.",
)
@click.option(
    "--probabilities/--no-probabilities",
    default=True,
    show_default=True,
    help="Compute calibration error and log loss as well, for which some methods are trained a second time.",
)
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one for each core.")
@click.option("--seed", type=int, default=Protocol().seed, show_default=True, help="Seed of all draws.")
@click.option(
    "--csv",
    "tables",
    metavar="FILE[:TARGET]",
    multiple=True,
    callback=_tables,
    help="A CSV of your own as a further data set, labels in its last column or in TARGET; may be given several times.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write a page in Markdown, tables as CSV and a picture to this folder.",
)
@click.option("--picture/--no-picture", default=True, show_default=True, help="With a picture in that folder.")
@click.option("--show-only", is_flag=True, help="Run nothing, show the results of the store.")
def leaderboard_command(
    data_sets: list[str] | None,
    methods: list[str] | None,
    budgets: list[int],
    choices: list[str],
    draws: int,
    store: Path,
    probabilities: bool,
    jobs: int,
    seed: int,
    tables: list[Dataset],
    output: Path | None,
    picture: bool,
    show_only: bool,
) -> None:
    """Train and rank estimators of mixkern and others with few labels.

    Each method sees the labelled training rows and the features of all training rows, nothing else, and is tested on a
    fold of other rows. Stop it whenever you like: the same command goes on where it stopped.

    \b
    Examples:
      mixkern study leaderboard --data-sets iris,wine --methods mixture_svc,svc --budgets 4 --draws 5
      mixkern study leaderboard --csv mine.csv:label --choices random
      mixkern study leaderboard --output leaderboard
    """  # noqa: D301
    if show_only and not store.exists():
        raise click.ClickException(f"There is no {store}. Next: mixkern study leaderboard")
    kept = Store(store, Protocol(seed=seed))
    wanted = list(DEFAULT_GROUPS) if data_sets is None and not tables else data_sets or []
    chosen: list[str | Dataset] = [name for each in wanted for name in (GROUPS[each]() if each in GROUPS else [each])]
    chosen += tables
    chosen_methods = list(leaderboard_methods()) if methods is None else methods
    options = {"methods": chosen_methods, "budgets": budgets, "choices": choices, "n_draws": draws}
    if not show_only:
        if methods is None:
            print_notes([f"Left out: {why}" for why in map(why_left_out, OPTIONAL) if why])
        _run(kept, data_sets=chosen, n_jobs=jobs, probabilities=probabilities, **options)
    titles = [each if isinstance(each, str) else each.name for each in chosen]
    entries = [
        entry
        for entry in kept.entries()
        if entry.data_set in titles
        and entry.method in chosen_methods
        and entry.budget in budgets
        and entry.choice in choices
        and entry.draw < draws
    ]
    _show(entries, choices)
    if output is not None:
        _write(entries, choices, output, picture=picture)
    click.echo(f"Results: {kept.path}.")


def _run(store: Store, **options: Any) -> None:
    try:
        with step_progress() as on_step:
            run_leaderboard(store, on_step=on_step, **options)
    except KeyboardInterrupt:
        raise Stopped("What was finished is kept; the same command goes on from there.") from None


def _show(entries: Sequence[Entry], choices: Sequence[str]) -> None:
    """Print all tables that fit on a terminal."""
    tables = [table for choice in choices for table in leaderboard_tables(entries, choice)]
    if not tables:
        raise click.ClickException("There is no data set yet that all methods have finished.")
    for table in tables:
        if not table.name.startswith(TOO_WIDE):
            print_table(table)
    n_failed = sum(bool(entry.error) for entry in entries)
    if n_failed:
        first = next(entry for entry in entries if entry.error)
        click.echo(
            f"{counted(n_failed, 'draw')} failed. The first: {first.method} on {first.data_set}, {first.budget} labels "
            f"per class: {first.error}"
        )


def print_table(table: TextTable) -> None:
    """Print a table of a study with its full width, the best of a column in bold."""
    shown = Table(box=SIMPLE, show_edge=False, padding=(0, 1, 0, 0))
    for i, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if i else "left", no_wrap=True)
    for row in cells_of(table):
        shown.add_row(*map(_text, row))
    console = print_wide(table.title, shown)
    console.print(table.caption, style="dim", highlight=False)
    console.print()


def _text(cell: Cell) -> str:
    return cell.to_text(strong="[bold]{}[/bold]".format)


def _write(entries: Sequence[Entry], choices: Sequence[str], folder: Path, *, picture: bool) -> None:
    """Write the page, its tables and its picture."""
    n_sets = len({entry.data_set for entry in entries})
    parts = [f"# Leaderboard: {counted(n_sets, 'data set')}\n"]
    files: dict[str, str] = {}
    for choice in choices:
        tables = leaderboard_tables(entries, choice)
        if not tables:
            continue
        parts.append(f"## {choice.capitalize()} rows\n")
        if picture:
            optional("matplotlib", purpose="A picture")
            write_picture(folder / "images" / f"leaderboard_{choice}.png", _drawing(entries, choice), dpi=150)
            parts.append(f"![Leaderboard, {choice} rows](images/leaderboard_{choice}.png)\n")
        for table in tables:
            files[f"tables/{table.name}.csv"] = to_csv(table)
            parts.append(f"{table.to_markdown()}\nAs a file: [CSV](tables/{table.name}.csv).\n")
    files["leaderboard.md"] = "\n".join(parts)
    try:
        for name, content in files.items():
            write_whole(folder / name, content)
    except OSError as error:
        raise click.ClickException(f"The leaderboard could not be written: {error}") from error
    click.echo(f"Page: {folder / 'leaderboard.md'}")


def _drawing(entries: Sequence[Entry], choice: str) -> Callable[[], Any]:
    return lambda: plot.leaderboard(leaderboard(entries, choices=[choice])).figure
