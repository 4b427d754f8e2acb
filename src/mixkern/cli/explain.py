"""``mixkern explain``: why a row has its label."""

from typing import Any

import click

from mixkern.cli.output import Notes, print_result, printable, warnings_as_notes
from mixkern.cli.table import add_file_notes, model_table
from mixkern.explain import Explanation
from mixkern.io import read_model


def explain_command(model: str, table: str, row: int, as_json: bool, **reading: Any) -> None:
    """Print why a row has its label."""
    notes: Notes = []
    file = read_model(model)
    with warnings_as_notes(notes):
        data = model_table(table, file, notes, **reading)
        found = Explanation.of(file.model, data.row(row - 1).set_axis([row]), first=1)
        add_file_notes(data.file, notes)
    result = {"table": data.file.name, **found.to_dict()}
    print_result(result, notes, lambda: click.echo(printable(str(found))), as_json=as_json)
