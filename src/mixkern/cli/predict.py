"""``mixkern predict``: a label for every row of a table."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import click

from mixkern.cli.formula import FormulaGuard
from mixkern.cli.option import check_output, json_option, reading_options, writing_options
from mixkern.cli.output import (
    Notes,
    byte_progress,
    class_counts,
    free_name,
    print_notes,
    print_result,
    warnings_as_notes,
)
from mixkern.cli.table import ModelTable, add_file_notes, cells_for, dialect_for, model_table
from mixkern.errors import TableError
from mixkern.estimators import MixtureSVC
from mixkern.io import Block, read_model, table_writer
from mixkern.io.writer import STANDARD_OUTPUT
from mixkern.wording import counted

ROW = "row"


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option("-o", "--output", default=STANDARD_OUTPUT, help="The labelled table.  [default: standard output]")
@click.option("--probabilities", is_flag=True, help="Add the probability of each class.")
@click.option("--only", is_flag=True, help="Write row numbers and predictions, and no column of TABLE.")
@writing_options
@reading_options
@json_option
def predict_command(
    model: str,
    table: str,
    output: str,
    probabilities: bool,
    only: bool,
    guard_formulas: bool,
    output_encoding: str | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Write TABLE with four more columns: label, probability, component and novelty of each row.

    The probability is that of the label; the component is the group of similar rows that a row belongs to; the novelty
    is the share of training rows that have a higher density: a row above 0.99 is unlike nearly all of them. TABLE is
    read in blocks, so that it may be larger than memory.

    The output is written as TABLE is: its delimiter, encoding and decimal sign, and its cells unchanged. A name that
    ends with .tsv, .parquet or .arrow has that format; in Parquet and Arrow the columns of the model have types.

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
    with warnings_as_notes(notes):
        data = model_table(table, file, notes, **reading)
        guard = FormulaGuard(data.numbers, is_active=guard_formulas)
        with (
            table_writer(output, dialect_for(data.file, output_encoding)) as write,
            byte_progress(f"Predicting {data.file.name}") as on_progress,
        ):
            for block, found in _predictions(file.model, data, on_progress, all_classes=probabilities):
                counts.update(found["label"].to_pylist())
                cells = _numbered(block, found) if only else _joined(cells_for(output, data.file, block), found)
                write(guard(cells))
        add_file_notes(data.file, notes)
        notes += guard.notes
    result = {"table": data.file.name, "output": output, "rows": counts.total(), "labels": dict(sorted(counts.items()))}
    if output == STANDARD_OUTPUT:
        print_notes(notes)
    else:
        print_result(result, notes, lambda: _show(result), as_json=as_json)


def _predictions(
    model: MixtureSVC, data: ModelTable, on_progress: Callable[[int, int | None], None], *, all_classes: bool
) -> Iterator[tuple[Block, Any]]:
    """Iterate over blocks of rows and their predictions, in Arrow tables."""
    for block in data.blocks(on_progress):
        try:
            yield block, model.assess(block.typed, all_classes=all_classes)
        except TableError as error:  # its row is counted from the first one of the block
            raise error.below(block.start) from error


def _numbered(block: Block, found: Any) -> Any:
    """Put row numbers before predictions."""
    return found.add_column(0, ROW, [range(block.start + 1, block.start + len(block) + 1)])


def _joined(cells: Any, found: Any) -> Any:
    """Append predictions to the cells of a table, under names that it does not have."""
    for name, column in zip(found.column_names, found.columns, strict=True):
        cells = cells.append_column(free_name(name, cells.column_names), column)
    return cells


def _show(result: dict[str, Any]) -> None:
    each = class_counts(result["labels"])
    click.echo(f"{counted(result['rows'], 'row')}: {each}.\nLabelled table: {result['output']}")
