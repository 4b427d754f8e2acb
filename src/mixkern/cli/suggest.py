"""``mixkern suggest``: suggest the rows to label next."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mixkern.advice import LabelSource, estimated_accuracy, suggestion_table
from mixkern.cli.formula import FormulaGuard
from mixkern.cli.journal import given_target, labelled_table
from mixkern.cli.option import (
    check_output,
    given_paths,
    repeat_options,
)
from mixkern.cli.output import Notes, free_name, print_result, print_wide, spinner, text_table, warnings_as_notes
from mixkern.cli.table import SOURCE, TrainingTable, cells_for, dialect_for
from mixkern.encoding.cell import is_gap
from mixkern.errors import LabelError, MixkernError, OptionError, hint
from mixkern.estimators import MixtureSVC
from mixkern.imports import pa
from mixkern.io import table_file, table_writer
from mixkern.wording import brief, counted, shortened

ROW = "row"  # column of row numbers, counted from 1
MOST_SHOWN = 3  # columns shown with a suggestion, so that the row is recognised


def suggest_command(
    table: str,
    target: str | None,
    labels: Path | None,
    n: int,
    audit: float,
    output: str | None,
    guard_formulas: bool,
    output_encoding: str | None,
    as_json: bool,
    seed: int,
    **reading: Any,
) -> None:
    """Print the rows to label next, or write them to a table that can be filled in."""
    target = given_target(target, labels)
    if output is not None:
        check_output(output, table, *given_paths(labels))
    notes: Notes = []
    with _replaced(output, target, table), warnings_as_notes(notes):
        data = labelled_table(table, notes, target=target, labels=labels, **reading)
        n_left = len(data.X) - sum(data.counts.values())
        if not n_left:
            raise LabelError(f"Every row has a label. Next: mixkern fit {shlex.quote(table)} {repeat_options()}")
        if n > n_left:
            notes.append(f"{counted(n_left, 'row')} have no label: all of them are suggested, not {n}.")
        model = MixtureSVC(encoder=data.encoder, random_state=seed)
        expected = None
        if len(data.counts) > 1:
            with spinner(f"Learning from {counted(len(data.X), 'row')}"):
                model.fit(data.X, data.y)
                expected = estimated_accuracy(model, data.X, data.y, source=data.source, random_state=seed)
        with spinner(f"Comparing {counted(len(data.X), 'row')}"):
            found = suggestion_table(data.X, min(n, n_left), data.y, model=model, audit=audit, random_state=seed)
    column = data.source_column or free_name(SOURCE, data.file.names)
    result: dict[str, Any] = {
        "table": data.file.name,
        "target": target,
        "source_column": column,
        "suggestions": _suggestions(data, found),
        "accuracy": None if expected is None else {**asdict(expected), "in_words": list(expected.sentences)},
    }
    if output is not None:
        notes += _write(data, found, column, output, output_encoding, guard_formulas)
        result["output"] = output
    options = [repeat_options()]
    if data.source_column is None and column != SOURCE:  # without this, it would be learned from
        options += ["--source", column]
    step = f"mixkern fit {shlex.quote(table)} {' '.join(options)}"
    if output is not None:
        step = f"mixkern merge {shlex.join([table, output])} {repeat_options(journal='--journal')}"
    print_result(result, notes, lambda: _show(result, step), as_json=as_json)


@contextmanager
def _replaced(output: str | None, target: str, table: str) -> Iterator[None]:
    """Check a table of earlier suggestions that will be replaced: typed labels are kept, and it goes after an error.

    Otherwise earlier suggestions would be taken for new ones.
    """
    path = None if output is None else Path(output)
    if path is None or not path.is_file():
        yield
        return
    n_labels = _n_typed(path, target)
    if n_labels:
        raise OptionError(
            f"{path.name} has {counted(n_labels, 'label')} in column {target!r}, which would be lost.",
            hint=hint(
                cli=f"Record them: mixkern merge {shlex.join([table, str(path)])} {repeat_options(journal='--journal')}"
            ),
        )
    try:
        yield
    except BaseException:
        if n_labels is not None:
            path.unlink(missing_ok=True)
        raise


def _n_typed(path: Path, target: str) -> int | None:
    """Return the number of labels in a table of earlier suggestions; None where the file is something else."""
    try:
        file = table_file(path)
        if ROW not in file.names or target not in file.names:
            return None
        labels = file.table(text=(target,))[target].to_pylist()
    except MixkernError:
        return None
    return sum(not is_gap(label) for label in labels)


def _write(
    data: TrainingTable, found: Any, column: str, output: str, encoding: str | None, guard_formulas: bool
) -> Notes:
    """Write suggested rows as they are in the file, without labels, with their numbers and sources; return notes."""
    positions = found["position"].to_pylist()
    cells = cells_for(output, data.file, data.block).take(positions)
    if data.target in data.file.names:
        cells = _filled(cells, data.file.names.index(data.target), [None] * len(positions))
    else:  # its labels are in a journal
        cells = cells.append_column(str(data.target), pa.nulls(len(positions), pa.string()))
    if data.source_column is None:
        cells = cells.add_column(0, column, found["source"])
    else:
        cells = _filled(cells, data.file.names.index(column), found["source"].to_pylist())
    cells = cells.add_column(0, free_name(ROW, cells.column_names), [[position + 1 for position in positions]])
    guard = FormulaGuard((), is_active=guard_formulas)
    with table_writer(output, dialect_for(data.file, encoding)) as write:
        write(guard(cells))
    return guard.notes


def _filled(cells: Any, at: int, values: list[Any]) -> Any:
    """Replace the cells of a column."""
    return cells.set_column(at, cells.column_names[at], [values])


def _suggestions(data: TrainingTable, found: Any) -> list[dict[str, Any]]:
    suggestions = []
    for record in found.drop_columns(["rank"]).to_pylist():
        position = int(record.pop("position"))
        (values,) = data.X.slice(position, 1).to_pylist()
        suggestions.append({"row": position + 1, "line": data.file.line_of(position), **record, "values": values})
    return suggestions


def _show(result: dict[str, Any], step: str) -> None:
    rows = []
    for each in result["suggestions"]:
        some = list(each["values"].items())[:MOST_SHOWN]
        values = ", ".join(f"{shortened(name, 16)} {shortened(brief(cell), 16)}" for name, cell in some)
        rows.append([str(each["row"]), each["reason"], values])
    title = f"Rows to label next in {result['table']}, the most important first"
    print_wide(title, text_table(["row", "reason", "first columns"], rows, right=["row"]))
    _show_random(result["suggestions"])
    if result["accuracy"] is not None:
        click.echo("\n" + " ".join(result["accuracy"]["in_words"]))
    if "output" in result:
        click.echo(f"\nThese rows, to be labelled: {result['output']}")
        click.echo(f"\nLabel them there in column {result['target']!r}, then: {step}")
        return
    click.echo(
        f"\nLabel them in column {result['target']!r}, and write suggested or random into column "
        f"{result['source_column']!r}, then: {step}"
    )


def _show_random(suggestions: list[dict[str, Any]]) -> None:
    """Print how many rows are drawn at random, and what for."""
    n = sum(each["source"] == LabelSource.RANDOM for each in suggestions)
    if n:
        are, their = ("is", "its label") if n == 1 else ("are", "their labels")
        rows = counted(len(suggestions), "row")
        click.echo(
            f"\n{n} of {rows} {are} drawn at random: with {their} the accuracy can be estimated for the whole table."
        )
