"""``mixkern predict``: a label for every row of a table."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import click

from mixkern.cli.option import check_output, json_option, reading_options
from mixkern.cli.output import Notes, byte_progress, free_name, print_notes, print_result, warnings_as_notes
from mixkern.cli.table import ModelTable, add_file_notes, model_table
from mixkern.errors import TableError
from mixkern.estimators import MixtureSVC
from mixkern.imports import optional
from mixkern.io import read_model, table_writer
from mixkern.io.writer import STANDARD_OUTPUT
from mixkern.wording import counted

ROW = "row"


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option("-o", "--output", default=STANDARD_OUTPUT, help="The labelled table.  [default: standard output, as CSV]")
@click.option("--probabilities", is_flag=True, help="Add the probability of each class.")
@click.option("--only", is_flag=True, help="Write row numbers and predictions, and no column of TABLE.")
@reading_options
@json_option
def predict_command(
    model: str, table: str, output: str, probabilities: bool, only: bool, as_json: bool, **reading: Any
) -> None:
    """Write TABLE with four more columns: label, probability, component and novelty of each row.

    The probability is that of the label; the component is the group of similar rows that a row belongs to; the novelty
    is the share of training rows that have a higher density: a row above 0.99 is unlike nearly all of them. TABLE is
    read in blocks, so that it may be larger than memory.

    \b
    Examples:
      mixkern predict churn.mixkern customers.csv -o labelled.csv
      mixkern predict churn.mixkern - --only < customers.csv
    """  # noqa: D301
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and the table would both be printed. Name a file for the table: -o FILE.")
    # The table may be overwritten where the output has all its cells.
    check_output(output, model, *[table] * only)
    notes: Notes = []
    file = read_model(model)
    counts: Counter[str] = Counter()
    arrow = optional("pyarrow", purpose="Writing a table")
    with warnings_as_notes(notes):
        data = model_table(table, file, notes, **reading)
        with table_writer(output) as write, byte_progress(f"Predicting {data.file.name}") as on_progress:
            for labels, frame in _predictions(file.model, data, on_progress, probabilities=probabilities, only=only):
                counts.update(labels)
                write(arrow.Table.from_pandas(frame, preserve_index=False))
        add_file_notes(data.file, notes)
    result = {"table": data.file.name, "output": output, "rows": counts.total(), "labels": dict(sorted(counts.items()))}
    if output == STANDARD_OUTPUT:
        print_notes(notes)
    else:
        print_result(result, notes, lambda: _show(result), as_json=as_json)


def _predictions(
    model: MixtureSVC,
    data: ModelTable,
    on_progress: Callable[[int, int | None], None],
    *,
    probabilities: bool,
    only: bool,
) -> Iterator[tuple[Any, Any]]:
    """Iterate over blocks of rows: their labels, and the frame to write."""
    for X, cells in data.blocks(on_progress):
        try:
            found = model.assess(X, all_classes=probabilities)
        except TableError as error:  # its row is counted from the first one of the block
            raise error.below(int(X.index[0]) if len(X) else 0) from error
        labels = found["label"].tolist()
        if only:
            found.insert(0, ROW, found.index + 1)
            yield labels, found
        else:
            found.columns = [free_name(name, cells.columns) for name in found.columns]
            yield labels, cells.join(found)


def _show(result: dict[str, Any]) -> None:
    each = ", ".join(f"{count:,} of {label!r}" for label, count in result["labels"].items())
    click.echo(f"{counted(result['rows'], 'row')}: {each}.\nLabelled table: {result['output']}")
