"""``mixkern predict``: a label for every row of a table."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import click

from mixkern.cli.model_table import KnownTable, known_table
from mixkern.cli.option import check_output, json_option, reading_options
from mixkern.cli.output import Notes, free_name, give, noting, tell
from mixkern.cli.terminal import bytes_bar
from mixkern.cli.training_table import note_of
from mixkern.errors import TableError
from mixkern.estimators import MixtureSVC
from mixkern.io import table_writer
from mixkern.io.writer import STANDARD_OUTPUT
from mixkern.storage import read_model
from mixkern.wording import counted

ROW = "row"


@click.command("predict")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option("-o", "--output", default=STANDARD_OUTPUT, help="The labelled table.  [default: standard output, as CSV]")
@click.option("--probabilities", is_flag=True, help="One more column for each class.")
@click.option("--only", is_flag=True, help="Write the number of each row and the answers, and no other column.")
@reading_options
@json_option
def predict_command(
    model: str, table: str, output: str, probabilities: bool, only: bool, as_json: bool, **reading: Any
) -> None:
    """Write TABLE with four more columns: label, probability, component and novelty of each row.

    The probability is that of the label; the component is the group of similar rows that a row belongs to; the novelty
    is the share of training rows in denser places: one above 0.99 is unlike nearly all of them. TABLE is read
    in blocks, whatever its size.

    \b
    Examples:
      mixkern predict churn.mixkern customers.csv -o labelled.csv
      mixkern predict churn.mixkern - --only < customers.csv
    """  # noqa: D301
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and the table would both be printed. Name a file for the table: -o FILE.")
    check_output(output, model)  # over the table itself: it is whole in what is written
    notes: Notes = []
    file = read_model(model)
    counts: Counter[str] = Counter()
    with noting(notes):
        data = known_table(table, file, notes, **reading)
        with table_writer(output) as write, bytes_bar(f"Predicting {data.file.name}") as on_progress:
            for labels, frame in _labelled(file.model, data, on_progress, probabilities=probabilities, only=only):
                counts.update(labels)
                write(frame)
        note_of(data.file, notes)
    answer = {"table": data.file.name, "output": output, "rows": counts.total(), "labels": dict(sorted(counts.items()))}
    if output == STANDARD_OUTPUT:
        tell(notes)
    else:
        give(answer, notes, lambda: _show(answer), as_json=as_json)


def _labelled(
    model: MixtureSVC,
    data: KnownTable,
    on_progress: Callable[[int, int | None], None],
    *,
    probabilities: bool,
    only: bool,
) -> Iterator[tuple[Any, Any]]:
    """Give the labels of some rows at a time, and what is written of them."""
    for X, cells in data.blocks(on_progress):
        answers = _assessed(model, X, all_classes=probabilities)
        labels = answers["label"].tolist()
        if only:
            answers.insert(0, ROW, answers.index + 1)
            yield labels, answers
        else:
            answers.columns = [free_name(name, cells.columns) for name in answers.columns]
            yield labels, cells.join(answers)


def _assessed(model: MixtureSVC, X: Any, *, all_classes: bool) -> Any:
    """Ask the model; where rows are refused, its message counts them from the first of the block."""
    try:
        return model.assess(X, all_classes=all_classes)
    except TableError as error:
        if not X.index[0]:
            raise
        raise TableError(f"In rows {X.index[0] + 1} to {X.index[-1] + 1}, counted from there: {error}") from error


def _show(answer: dict[str, Any]) -> None:
    each = ", ".join(f"{count} of {label!r}" for label, count in answer["labels"].items())
    click.echo(f"{counted(answer['rows'], 'row')}: {each}.\nLabelled table: {answer['output']}")
