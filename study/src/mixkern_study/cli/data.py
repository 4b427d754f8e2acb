"""``mixkern paper data``: the twenty data sets beside the figures that the paper gives for them."""

import json
from dataclasses import asdict
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from mixkern_study.data_table import DatasetComparison, compare_data_sets


@click.command("data")
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
