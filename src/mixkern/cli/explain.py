"""``mixkern explain``: what speaks for an answer."""

from typing import Any

import click

from mixkern.cli.model_table import known_table
from mixkern.cli.option import json_option, reading_options
from mixkern.cli.output import Notes, give, noting
from mixkern.cli.terminal import printable
from mixkern.cli.training_table import note_of
from mixkern.explain import Explanation
from mixkern.storage import read_model


@click.command("explain")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option("--row", type=click.IntRange(1), required=True, help="Which row, counted from 1 below the header.")
@reading_options
@json_option
def explain_command(model: str, table: str, row: int, as_json: bool, **reading: Any) -> None:
    """Say which labelled rows, which component and which columns speak for the label of a row of TABLE.

    Nothing is estimated: the pulls of all labelled rows add up to the score. Numbers of labelled rows are those of the
    table that the model was fitted on.

    \b
    Example:
      mixkern explain churn.mixkern customers.csv --row 318
    """  # noqa: D301
    notes: Notes = []
    file = read_model(model)
    with noting(notes):
        data = known_table(table, file, notes, **reading)
        found = Explanation.of(file.model, data.row(row - 1).set_axis([row]), first=1)
        note_of(data.file, notes)
    give(
        {"table": data.file.name, **found.to_dict()}, notes, lambda: click.echo(printable(str(found))), as_json=as_json
    )
