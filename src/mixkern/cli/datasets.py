"""``mixkern datasets``: the tables of the paper."""

import json
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from mixkern.cli.option import seed_option
from mixkern.cli.output import give
from mixkern.cli.picture import draw_to
from mixkern.datasets import Dataset, load, names
from mixkern.encoding import UNLABELLED
from mixkern.imports import optional
from mixkern.io import table_writer
from mixkern.io.writer import STANDARD_OUTPUT
from mixkern.plot import gallery
from mixkern.wording import counted

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
    """List the twenty data sets of the paper, or write one as a table.

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
    rows = [_figures(load(each)) for each in names()]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    else:
        _print_figures(rows)
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


def _figures(data: Dataset) -> dict[str, Any]:
    return {
        "name": data.name,
        "title": data.title,
        "n_samples": data.n_samples,
        "n_continuous": len(data.continuous),
        "n_categorical": len(data.categorical),
        "n_classes": len(data.classes),
        "largest_class_percent": round(max(data.class_percent.values()), 1),
    }


def _print_figures(rows: list[dict[str, Any]]) -> None:
    """Print one line for each data set."""
    table = Table(title="The twenty data sets of the paper", title_justify="left", box=SIMPLE)
    table.add_column("name", no_wrap=True)
    headings = {
        "n_samples": "rows",
        "n_continuous": "continuous",
        "n_categorical": "categorical",
        "n_classes": "classes",
        "largest_class_percent": "largest class, %",
    }
    for heading in headings.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row["name"], *(str(row[field]) for field in headings))
    Console().print(table)
