"""``mixkern datasets``: the tables of the paper."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from mixkern.cli.answer import give
from mixkern.cli.option import seed_option
from mixkern.cli.picture import draw_to
from mixkern.datasets import Dataset, load
from mixkern.errors import counted
from mixkern.optional import optional
from mixkern.plot import gallery
from mixkern.study import DatasetComparison, compare_data_sets
from mixkern.table import UNLABELLED, table_writer
from mixkern.table.writer import STANDARD_OUTPUT

PICTURES = (".png", ".svg", ".pdf")


@click.command("datasets")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the two-dimensional sets to this file (png, svg, pdf).",
)
@click.option("--write", "name", metavar="NAME", help="Write a data set as a table, to try the other commands on.")
@click.option("-o", "--output", help="That table.  [default: NAME.csv]")
@click.option("--target", default="class", show_default=True, help="Name of its column of labels.")
@click.option("--labels", type=click.IntRange(1), help="Labels of each class that it keeps.  [default: all]")
@seed_option
def datasets_command(
    as_json: bool,
    picture: Path | None,
    name: str | None,
    output: str | None,
    target: str,
    labels: int | None,
    seed: int,
) -> None:
    """List the twenty data sets beside the figures that the paper gives for them, or write one as a table.

    \b
    Examples:
      mixkern datasets --picture sets.png
      mixkern datasets --write heart --labels 10 --target disease -o heart.csv
    """  # noqa: D301
    if name is not None:
        place = f"{name}.csv" if output is None else output
        answer = _write(load(name), place, target, labels, seed)
        give(answer, [], lambda: click.echo(_told(answer), err=place == STANDARD_OUTPUT), as_json=as_json)
        return
    if picture is not None:
        if picture.suffix.lower() not in PICTURES:
            raise click.UsageError(f"{picture.name!r} does not end like a picture: use .png, .svg or .pdf.")
        optional("matplotlib", purpose="A picture")  # before anything is printed
    rows = compare_data_sets()
    if as_json:
        click.echo(json.dumps([_record(row) for row in rows], indent=1))
    else:
        _print_comparison(rows)
    if picture is not None:
        draw_to(picture, gallery, dpi=110)
        click.echo(f"Picture: {picture}", err=as_json)


def _write(data: Dataset, output: str, target: str, labels: int | None, seed: int) -> dict[str, Any]:
    """Write a table with a column of labels, empty where they are hidden."""
    y = data.y if labels is None else data.few_labels(labels, random_state=seed)
    y = y.astype(object).where(~y.isin([UNLABELLED]), None)
    if target in data.X:
        raise click.UsageError(f"{data.title} has a column {target!r} already. Name another --target.")
    with table_writer(output) as write:
        write(data.X.assign(**{target: y}))
    n_labels = int(y.notna().sum())
    return {"name": data.name, "output": output, "rows": len(y), "target": target, "labels": n_labels}


def _told(answer: dict[str, Any]) -> str:
    rows, labels = counted(answer["rows"], "row"), counted(answer["labels"], "label")
    return f"{answer['name']}: {rows}, {labels} in {answer['target']!r}: {answer['output']}"


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
