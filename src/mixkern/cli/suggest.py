"""``mixkern suggest``: the rows to label next."""

import shlex
from typing import Any

import click

from mixkern.advice import suggestion_table
from mixkern.cli.option import (
    again,
    check_output,
    column_options,
    json_option,
    reading_options,
    seed_option,
    target_option,
)
from mixkern.cli.output import Notes, free_name, give, noting
from mixkern.cli.terminal import print_wide, text_table, working
from mixkern.cli.training_table import LabelledTable, read_labelled
from mixkern.errors import LabelError
from mixkern.estimators import MixtureSVC
from mixkern.io import table_writer
from mixkern.wording import counted, shortened

ROW = "row"  # a column with its number, counted from 1
MOST_SHOWN = 3  # columns beside a suggestion, so that one sees which row is meant


@click.command("suggest")
@click.argument("table")
@target_option(required=True)
@click.option("-n", "n", type=click.IntRange(1), default=10, show_default=True, help="How many rows.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write these rows to a table, to be labelled.")
@column_options
@reading_options
@seed_option
@json_option
def suggest_command(
    table: str, target: str, n: int, output: str | None, as_json: bool, seed: int, **reading: Any
) -> None:
    """Give the rows of TABLE to label next, the most important one first, and why each.

    With no labels so far the rows spread over all that the table holds; with some, they are those that the labels leave
    open. Rows are counted from 1, the line of the header not counted.

    \b
    Examples:
      mixkern suggest customers.csv --target churn -n 10
      mixkern suggest customers.csv --target churn -n 30 -o to_label.csv
    """  # noqa: D301
    if output is not None:
        check_output(output, table)
    notes: Notes = []
    with noting(notes):
        data = read_labelled(table, notes, target=target, **reading)
        n_left = len(data.X) - sum(data.counts.values())
        if not n_left:
            raise LabelError(f"Every row has a label. Next: mixkern fit {shlex.quote(table)} {again()}")
        if n > n_left:
            notes.append(f"{counted(n_left, 'row')} have no label: all of them are suggested, not {n}.")
        machine = MixtureSVC(encoder=data.encoder, random_state=seed)
        with working(f"Looking at {counted(len(data.X), 'row')}"):
            found = suggestion_table(data.X, min(n, n_left), data.y, model=machine, random_state=seed)
    answer: dict[str, Any] = {"table": data.file.name, "target": target, "suggestions": _suggestions(data, found)}
    if output is not None:
        rows = data.frame.iloc[found["position"]].assign(**{target: None})
        rows.insert(0, free_name(ROW, rows.columns), found["position"].to_numpy() + 1)
        with table_writer(output) as write:
            write(rows)
        answer["output"] = output
    give(answer, notes, lambda: _show(answer, table), as_json=as_json)


def _suggestions(data: LabelledTable, found: Any) -> list[dict[str, Any]]:
    facts = []
    for record in found.to_dict("records"):
        position = int(record.pop("position"))
        values = {str(name): data.X[name].iloc[position] for name in data.X}
        facts.append({"row": position + 1, "line": data.file.line_of(position), **record, "values": values})
    return facts


def _show(answer: dict[str, Any], path: str) -> None:
    rows = []
    for each in answer["suggestions"]:
        some = list(each["values"].items())[:MOST_SHOWN]
        values = ", ".join(f"{shortened(name, 16)} {shortened(str(cell), 16)}" for name, cell in some)
        rows.append([str(each["row"]), each["reason"], values])
    title = f"Rows to label next in {answer['table']}, the most important first"
    print_wide(title, text_table(["row", "why", "its first columns"], rows, right=["row"]))
    if "output" in answer:
        click.echo(f"\nThese rows, to be labelled: {answer['output']}")
    click.echo(f"\nLabel them in column {answer['target']!r}, then: mixkern fit {shlex.quote(path)} {again()}")
