"""``mixkern paper``: run the paper's experiments, and write its tables and figures beside the published ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mixkern.cli.group import Stopped
from mixkern.cli.option import name_list
from mixkern.cli.output import step_progress, write_picture
from mixkern.datasets import Dataset, names
from mixkern.imports import optional
from mixkern_study import BASELINES, KERNELS, DensityStrategy, LabelChoice, Protocol, Store, run, run_times
from mixkern_study.cli.table import data_command, own_table, print_accuracies
from mixkern_study.plot import paper_figures
from mixkern_study.report import write_pages, write_report
from mixkern_study.variant import PEERS, REPEATS, run_variants

STORE = "paper.sqlite"
TIMES = "times"
PICTURES = ("png", "svg", "pdf")


def _store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that identify results."""
    store = click.option(
        "--store",
        type=click.Path(dir_okay=False, path_type=Path),
        default=STORE,
        show_default=True,
        help="File of the results.",
    )
    density = click.option(
        "--density",
        type=click.Choice([str(each) for each in DensityStrategy]),
        default=str(DensityStrategy.DEFAULT),
        show_default=True,
        help="How the density is chosen without labels.",
    )
    labels = click.option(
        "--labels",
        type=click.Choice([str(each) for each in LabelChoice]),
        default=str(LabelChoice.COMPONENTS),
        show_default=True,
        help="Which rows are labelled in experiment 1.",
    )
    n_folds = click.option(
        "--folds", "n_folds", type=click.IntRange(2), default=5, show_default=True, help="Outer folds."
    )
    seed = click.option("--seed", type=int, default=Protocol().seed, show_default=True, help="Seed of all draws.")
    return store(labels(density(n_folds(seed(function)))))


@click.group("paper")
def paper_group() -> None:
    """Run the paper's experiments, beside the published figures."""


paper_group.add_command(data_command)


@paper_group.command("run", short_help="Run the experiments.")
@click.option(
    "--experiment",
    "experiments",
    type=click.Choice(["1", "2", "3", TIMES]),
    multiple=True,
    help="Which one, may be given several times: 4 labels per class, 10 %, 100 %, run-times.  [default: all]",
)
@click.option(
    "--data-sets",
    callback=name_list(names, has_openml=True),
    help="Some data sets: iris,wine.  [default: all twenty]",
)
@click.option(
    "--kernels",
    callback=name_list(lambda: KERNELS),
    default=",".join(KERNELS),
    show_default=True,
    help="Some kernels.",
)
@click.option("--baselines", is_flag=True, help="Further methods as extra columns.")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    help="Draws of labels, experiments 1 and 2.  [default: 5 in experiment 1, 1 in experiment 2]",
)
@click.option("--readings", is_flag=True, help="Run all readings of the protocol as well.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 is one for each core.")
@click.option(
    "--table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="A CSV of your own as a further data set; may be given several times.",
)
@click.option("--target", help="The column of the CSV that holds the labels.  [default: the last]")
@_store_option
def run_command(
    experiments: tuple[str, ...],
    data_sets: list[str] | None,
    kernels: list[str],
    baselines: bool,
    repeats: int | None,
    readings: bool,
    jobs: int,
    table: tuple[Path, ...],
    target: str | None,
    **store_options: Any,
) -> None:
    """Run the experiments; what the store has already is not computed again.

    Stop it whenever you like: the same command goes on where it stopped.

    \b
    Examples:
      mixkern paper run --experiment 1 --data-sets iris,wine
      mixkern paper run --experiment 1 --repeats 10 --baselines
      mixkern paper run --readings
      mixkern paper run --data-sets iris --table my.csv --target label
    """  # noqa: D301
    store = _store(**store_options)
    chosen = experiments or ("1", "2", "3", TIMES)
    tables: list[str | Dataset] = list(names() if data_sets is None and not table else data_sets or [])
    tables += [own_table(path, target) for path in table]
    numbers = [int(each) for each in dict.fromkeys(chosen) if each != TIMES]
    common: dict[str, Any] = {"repeats": REPEATS if repeats is None else repeats, "n_jobs": jobs}
    try:
        with step_progress() as on_step:
            common["on_step"] = on_step
            if numbers:
                labels = list(LabelChoice) if readings else None  # together: kernels are computed once for all of them
                run(store, experiments=numbers, data_sets=tables, kernels=kernels, labels=labels, **common)
                others = [number for number in numbers if number < 3]
                run(store, experiments=others, data_sets=tables, kernels=(), baselines=PEERS, **common)
            if numbers and baselines:
                run(store, experiments=numbers, data_sets=tables, kernels=(), baselines=BASELINES, **common)
            if TIMES in chosen:
                run_times(store, data_sets=tables, on_step=on_step)
            if readings:
                run_variants(store, experiments=numbers, kernels=kernels, data_sets=tables, **common)
    except KeyboardInterrupt:
        raise Stopped("What was finished is kept; the same command goes on from there.") from None
    for number in numbers:
        print_accuracies(store, number)
    click.echo(f"Results: {store.path}. Next: mixkern paper report{_options(**store_options)}")


@paper_group.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="paper-figures",
    show_default=True,
    help="Where pictures go.",
)
@click.option(
    "--format", "suffix", type=click.Choice(PICTURES), default="png", show_default=True, help="Of the pictures."
)
@click.option(
    "--only", callback=name_list(lambda: list(paper_figures())), help="Some figures: introduction,comparison."
)
def figures(folder: Path, suffix: str, only: list[str] | None) -> None:
    """Draw the paper's figures."""
    optional("matplotlib", purpose="A picture")
    drawings = paper_figures()
    wanted = list(drawings) if only is None else only
    for name in wanted:
        path = folder / f"{name}.{suffix}"
        write_picture(path, drawings[name].draw, dpi=130)
        click.echo(f"{path}: Figure {drawings[name].number}: {drawings[name].title}")


@paper_group.command(short_help="Write all tables and figures as one HTML page.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="paper.html",
    show_default=True,
    help="The page to write: one file with everything in it.",
)
@click.option(
    "--pages", type=click.Path(file_okay=False, path_type=Path), help="Write Markdown pages to this folder too."
)
@click.option(
    "--figures/--no-figures", default=True, show_default=True, help="Draw the paper's figures, in about a minute."
)
@_store_option
def report(output: Path, pages: Path | None, figures: bool, **store_options: Any) -> None:
    """Write all tables and figures as one HTML page, and as Markdown, LaTeX and CSV files on request."""
    if not store_options["store"].exists():
        raise click.ClickException(f"There is no {store_options['store']}. Next: mixkern paper run")
    store = _store(**store_options)
    if not store.results():
        raise click.ClickException(f"{store.path} has no results of these settings yet. Next: mixkern paper run")
    try:
        click.echo(f"Report: {write_report(store, output, figures=figures)}")
        if pages is not None:
            click.echo(f"Pages: {len(write_pages(store, pages, figures=figures))} files in {pages}")
    except OSError as error:
        raise click.ClickException(f"The report could not be written: {error}") from error


def _options(store: Path, labels: str, density: str, n_folds: int, seed: int) -> str:
    """Return the options that identify results as text, those with default values left out."""
    usual = Protocol()
    given = {
        "--store": store if store != Path(STORE) else None,
        "--labels": labels if labels != usual.labels else None,
        "--density": density if density != usual.density else None,
        "--folds": n_folds if n_folds != usual.n_folds else None,
        "--seed": seed if seed != usual.seed else None,
    }
    return "".join(f" {name} {value}" for name, value in given.items() if value is not None)


def _store(store: Path, **settings: Any) -> Store:
    return Store(store, Protocol(**settings))
