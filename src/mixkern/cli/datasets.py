"""``mixkern datasets``: list the packaged data sets, draw them, or write one as a table."""

import json
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from mixkern.cli.output import print_result, write_picture
from mixkern.datasets import Dataset, load, names
from mixkern.defaults import STANDARD_OUTPUT
from mixkern.encoding import UNLABELLED
from mixkern.imports import optional, pa
from mixkern.io import table_writer
from mixkern.plot import gallery
from mixkern.wording import counted

PICTURES = (".png", ".svg", ".pdf")


def datasets_command(
    as_json: bool,
    picture: Path | None,
    name: str | None,
    output: str | None,
    target: str,
    labels: int | None,
    seed: int,
) -> None:
    """Print the packaged data sets, draw them, or write one as a table."""
    if name is not None:
        path = f"{name}.csv" if output is None else output
        result = _write(load(name), path, target, labels, seed)
        print_result(result, [], lambda: click.echo(_summary(result), err=path == STANDARD_OUTPUT), as_json=as_json)
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
        write_picture(picture, gallery, dpi=110)
        click.echo(f"Picture: {picture}", err=as_json)


def _write(data: Dataset, output: str, target: str, labels: int | None, seed: int) -> dict[str, Any]:
    """Write a data set as a table; the column of labels is empty where a label is hidden."""
    y = data.y if labels is None else data.few_labels(labels, random_state=seed)
    y = y.astype(object).where(~y.isin([UNLABELLED]), None)
    if target in data.X:
        raise click.UsageError(f"{data.title} has a column {target!r} already. Name another --target.")
    with table_writer(output) as write:
        write(pa.Table.from_pandas(data.X.assign(**{target: y}), preserve_index=False))
    n_labels = int(y.notna().sum())
    return {"name": data.name, "output": output, "rows": len(y), "target": target, "labels": n_labels}


def _summary(result: dict[str, Any]) -> str:
    rows, labels = counted(result["rows"], "row"), counted(result["labels"], "label")
    return f"{result['name']}: {rows}, {labels} in {result['target']!r}: {result['output']}"


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
