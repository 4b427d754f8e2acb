"""``mixkern predict``: a label for every row of a table."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import click

from mixkern.cli.formula import FormulaGuard
from mixkern.cli.option import check_output
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
from mixkern.defaults import STANDARD_OUTPUT
from mixkern.errors import TableError
from mixkern.estimators import MixtureSVC
from mixkern.io import Block, read_model, table_writer
from mixkern.wording import counted

ROW = "row"


def predict_command(
    model: str,
    table: str,
    output: str,
    probabilities: bool,
    abstain: float | None,
    only: bool,
    guard_formulas: bool,
    output_encoding: str | None,
    as_json: bool,
    dask: str | None,
    **reading: Any,
) -> None:
    """Write a table with predictions, block by block."""
    if dask is not None:
        if output == STANDARD_OUTPUT or only or guard_formulas or output_encoding is not None:
            raise click.UsageError("With --dask, a folder of Parquet files is written: name it by -o FOLDER.")
        from mixkern.cli.cluster import predict_partitions  # needs an extra

        check_output(output)
        found, remarks = predict_partitions(
            model, table, output, dask, all_classes=probabilities, abstain=abstain, reading=reading
        )
        found = _with_empty(found, abstain)
        print_result(found, remarks, lambda: _show(found, abstain), as_json=as_json)
        return
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and the table would both be printed. Name a file for the table: -o FILE.")
    # The table may be overwritten where the output has all its cells.
    check_output(output, model, *[table] * only)
    notes: Notes = []
    file = read_model(model)
    counts: Counter[str | None] = Counter()
    with warnings_as_notes(notes):
        data = model_table(table, file, notes, **reading)
        guard = FormulaGuard(data.numbers, is_active=guard_formulas)
        with (
            table_writer(output, dialect_for(data.file, output_encoding)) as write,
            byte_progress(f"Predicting {data.file.name}") as on_progress,
        ):
            for block, found in _predictions(file.model, data, on_progress, all_classes=probabilities, abstain=abstain):
                counts.update(found["label"].to_pylist())
                cells = _numbered(block, found) if only else _joined(cells_for(output, data.file, block), found)
                write(guard(cells))
        add_file_notes(data.file, notes)
        notes += guard.notes
    labels = dict(sorted((label, n) for label, n in counts.items() if label is not None))
    result = {"table": data.file.name, "output": output, "rows": counts.total(), "labels": labels}
    result = _with_empty(result, abstain)
    if output == STANDARD_OUTPUT:
        print_notes(notes)
    else:
        print_result(result, notes, lambda: _show(result, abstain), as_json=as_json)


def _predictions(
    model: MixtureSVC,
    data: ModelTable,
    on_progress: Callable[[int, int | None], None],
    *,
    all_classes: bool,
    abstain: float | None,
) -> Iterator[tuple[Block, Any]]:
    """Iterate over blocks of rows and their predictions, in Arrow tables."""
    for block in data.blocks(on_progress):
        try:
            yield block, model.assess(block.typed, all_classes=all_classes, abstain=abstain)
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


def _with_empty(result: dict[str, Any], abstain: float | None) -> dict[str, Any]:
    """Add the number of rows without a label, where --abstain was given."""
    return result if abstain is None else {**result, "empty": result["rows"] - sum(result["labels"].values())}


def _show(result: dict[str, Any], abstain: float | None) -> None:
    each = class_counts(result["labels"]) or "no label"
    if abstain is not None:
        n = result["empty"]
        each += f". {counted(n, 'label')} left empty: {'its' if n == 1 else 'their'} probability is below {abstain:g}"
    click.echo(f"{counted(result['rows'], 'row')}: {each}.\nLabelled table: {result['output']}")
