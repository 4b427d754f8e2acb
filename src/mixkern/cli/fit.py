"""``mixkern fit``: a model from a table with a few labels."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mixkern.advice import estimated_accuracy
from mixkern.cli.option import (
    again,
    check_output,
    column_options,
    json_option,
    reading_options,
    seed_option,
    target_option,
)
from mixkern.cli.output import Notes, give, noting
from mixkern.cli.terminal import working
from mixkern.cli.training_table import LabelledTable, read_labelled
from mixkern.encoding.jsonable import jsonable
from mixkern.errors import LabelError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.kernel_factory import KernelName
from mixkern.io.spelling import COMMA
from mixkern.storage import save
from mixkern.wording import counted

SUFFIX = ".mixkern"


@click.command("fit")
@click.argument("table")
@target_option(required=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The model.  [default: TABLE.mixkern]")
@click.option(
    "--kernel",
    type=click.Choice([str(name) for name in KernelName]),
    default=str(KernelName.BLEND),
    show_default=True,
    help="How alike two rows are; rwm is the kernel of the paper.",
)
@click.option("--estimate/--no-estimate", default=True, show_default=True, help="Estimate the accuracy.")
@column_options
@reading_options
@seed_option
@json_option
def fit_command(
    table: str,
    target: str,
    output: str | None,
    kernel: str,
    estimate: bool,
    as_json: bool,
    seed: int,
    **reading: Any,
) -> None:
    """Learn from all rows of TABLE, and from the labels of some, and write a model.

    Rows whose TARGET is empty are unlabelled: they say what the table looks like. The estimated accuracy is found by
    leaving labels out and predicting them.

    \b
    Example:
      mixkern fit customers.csv --target churn -o churn.mixkern
    """  # noqa: D301
    place = Path(_place(table) if output is None else output)
    check_output(place, table)
    notes: Notes = []
    with noting(notes):
        data = read_labelled(table, notes, target=target, **reading)
        if len(data.counts) < 2:
            came = f"labels of one class, {next(iter(data.counts))!r}" if data.counts else "no label"
            raise LabelError(
                f"Column {target!r} has {came}, and two classes are needed. Label some rows. Which: mixkern suggest "
                f"{shlex.quote(table)} {again()}"
            )
        model = MixtureSVC(kernel, encoder=data.encoder, random_state=seed)
        with working(f"Learning from {counted(len(data.X), 'row')}"):
            model.fit(data.X, data.y)
        answer = {**_answer(data, model), "model": str(place)}
        if estimate:
            with working("Estimating the accuracy"):
                found = estimated_accuracy(model, data.X, data.y, random_state=seed)
            answer["accuracy"] = {**asdict(found), "in_words": str(found)}
    save(model, place, notes=jsonable({key: value for key, value in answer.items() if key != "model"}))
    give(answer, notes, lambda: _show(answer, table), as_json=as_json)


def _place(table: str) -> str:
    """Put a model beside the table, or where one is if the table is not a file."""
    if table == "-":
        return f"model{SUFFIX}"
    path = Path(table)
    return str(path.with_name(path.name.partition(".")[0] + SUFFIX))


def _answer(data: LabelledTable, model: MixtureSVC) -> dict[str, Any]:
    return {
        "table": data.file.name,
        "target": data.target,
        "rows": len(data.X),
        "classes": data.counts,
        "columns": list(data.X.columns),
        "ignored": list(data.ignored),
        "gaps": list(data.gaps),
        "decimals": {name: sign for name, sign in data.file.decimals.items() if name in data.X and sign == COMMA},
        "unlabelled": list(data.unlabelled),
        "kernel": str(model.kernel),
        "components": model.mixture_.n_components,
        "support_vectors": len(model.support_),
        "C": model.C_,
    }


def _show(answer: dict[str, Any], path: str) -> None:
    n_labels = sum(answer["classes"].values())
    click.echo(
        f"Learned {answer['target']!r} from {counted(n_labels, 'label')} and {counted(answer['rows'], 'row')} in "
        f"{counted(answer['components'], 'component')}."
    )
    if "accuracy" in answer:
        click.echo(answer["accuracy"]["in_words"])
    words = [
        shlex.quote(answer["model"]),
        shlex.quote(path),
        again(("delimiter", "decimal", "encoding")),
        "-o labelled.csv",
    ]
    click.echo(f"Model: {answer['model']}\nNext: mixkern predict {' '.join(filter(None, words))}")
