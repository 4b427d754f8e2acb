"""``mixkern explain``: why a row has its label."""

from typing import Any

import click

from mixkern.cli.option import json_option, reading_options
from mixkern.cli.output import Notes, print_result, printable, warnings_as_notes
from mixkern.cli.table import add_file_notes, model_table
from mixkern.explain import Explanation
from mixkern.io import read_model


@click.command("explain")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option(
    "--row", type=click.IntRange(1), required=True, help="Number of the row; the first one below the header is row 1."
)
@reading_options
@json_option
def explain_command(model: str, table: str, row: int, as_json: bool, **reading: Any) -> None:
    """Explain the label of a row of TABLE: the labelled rows, the component and the columns that decided it.

    The contributions of all labelled rows add up to the score exactly. Labelled rows have the numbers of the table that
    the model was fitted on.

    \b
    Examples:
      mixkern explain churn.mixkern customers.csv --row 318
      mixkern explain churn.mixkern - --row 1 --json < customer.csv
    """  # noqa: D301
    notes: Notes = []
    file = read_model(model)
    with warnings_as_notes(notes):
        data = model_table(table, file, notes, **reading)
        found = Explanation.of(file.model, data.row(row - 1).set_axis([row]), first=1)
        add_file_notes(data.file, notes)
    result = {"table": data.file.name, **found.to_dict()}
    print_result(result, notes, lambda: click.echo(printable(str(found))), as_json=as_json)
