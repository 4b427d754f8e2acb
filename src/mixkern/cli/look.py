"""``mixkern look``: what is in a table."""

import shlex
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text

from mixkern.advice.reason import LEAST_SHARE
from mixkern.cli.option import again, column_options, json_option, reading_options, seed_option, target_option
from mixkern.cli.output import Notes, give, noting
from mixkern.cli.terminal import print_wide, text_table, working
from mixkern.cli.training_table import LabelledTable, counts_of, read_labelled
from mixkern.density import component_table
from mixkern.encoding import CategoricalColumn
from mixkern.estimators import MixtureSVC
from mixkern.wording import counted, percent, shortened

MOST_SHOWN = 40  # columns, components: more are counted
MOST_CATEGORIES = 4


@click.command("look")
@click.argument("table")
@target_option(required=False)
@column_options
@reading_options
@seed_option
@json_option
def look_command(table: str, as_json: bool, seed: int, **reading: Any) -> None:
    """Say what is in TABLE: its columns, gaps and labels, its groups of similar rows, and which have no label.

    TABLE is a CSV, TSV or Parquet file, compressed or not; - is standard input.

    \b
    Example:
      mixkern look customers.csv --target churn
    """  # noqa: D301
    notes: Notes = []
    with noting(notes):
        data = read_labelled(table, notes, **reading)
        machine = MixtureSVC(encoder=data.encoder, random_state=seed)
        with working(f"Learning the structure of {counted(len(data.X), 'row')}"):
            machine.learn_structure(data.X)
            answer = _answer(data, machine)
    give(answer, notes, lambda: _show(answer, table), as_json=as_json)


def _answer(data: LabelledTable, machine: MixtureSVC) -> dict[str, Any]:
    return {
        "table": data.file.name,
        "rows": len(data.X),
        "target": data.target,
        "labelled": sum(data.counts.values()),
        "classes": data.counts,
        "ignored": list(data.ignored),
        "columns": _columns(data, machine),
        "components": _components(data, machine),
    }


def _columns(data: LabelledTable, machine: MixtureSVC) -> list[dict[str, Any]]:
    assert machine.encoder_ is not None
    found = []
    for column in machine.encoder_.columns_:
        fact: dict[str, Any] = {
            "name": column.name,
            "kind": str(column.kind),
            "read_as": "categories" if isinstance(column, CategoricalColumn) else "numbers",
            "gaps": column.n_gaps,
        }
        cells = data.X[column.name].dropna()
        if isinstance(column, CategoricalColumn):
            counts = cells.astype(str).value_counts()
            fact["categories"] = len(column.categories)
            fact["most_frequent"] = {str(k): int(n) for k, n in counts.head(MOST_CATEGORIES).items()}
        elif len(cells):
            fact |= {"least": cells.min(), "median": cells.quantile(0.5), "most": cells.max()}
        found.append({**fact, "remark": column.remark})
    return found


def _components(data: LabelledTable, machine: MixtureSVC) -> list[dict[str, Any]]:
    """Give the groups of similar rows, the largest first; a row counts where it most probably belongs."""
    component = machine.responsibilities(data.X).argmax(axis=1)
    words = component_table(machine.mixture_, machine.encoder_, n_columns=3)
    sizes = np.bincount(component, minlength=machine.mixture_.n_components)
    found = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        fact = {"component": k, "share": sizes[k] / len(component), "rows": int(sizes[k])}
        if data.counts:
            fact["labels"] = counts_of(data.y[component == k])
        found.append({**fact, "distinct": [text for text in words.loc[k].drop("weight") if text]})
    return found


# ---------------------------------------------------------------- for people


def _show(answer: dict[str, Any], path: str) -> None:
    n, target = answer["rows"], answer["target"]
    title = f"{answer['table']}: {counted(n, 'row')}, {counted(len(answer['columns']), 'column')} to learn from"
    print_wide(title, _column_table(answer["columns"], n))
    _rest(len(answer["columns"]), "column")
    click.echo()
    if target is not None:
        each = ", ".join(f"{count} of {label!r}" for label, count in answer["classes"].items())
        click.echo(f"Labels in {target!r}: {answer['labelled']} of {counted(n, 'row')}{': ' if each else ''}{each}.\n")
    groups = answer["components"]
    print_wide(f"{counted(len(groups), 'component')} (groups of similar rows)", _component_table(groups))
    _rest(len(groups), "component")
    click.echo()
    _advise(answer, shlex.quote(path))


def _column_table(columns: list[dict[str, Any]], n: int) -> Table:
    rows = [
        [column["name"], column["read_as"], percent(column["gaps"] / n) if column["gaps"] else "", _values(column)]
        for column in columns[:MOST_SHOWN]
    ]
    return text_table(["column", "read as", "gaps", "values"], rows, right=["gaps"])


def _values(column: dict[str, Any]) -> str:
    if "categories" in column:
        few = ", ".join(shortened(each, 20) for each in column["most_frequent"])
        rest = column["categories"] - len(column["most_frequent"])
        return few + (f" and {rest} more" if rest > 0 else "")
    return f"{_brief(column['least'])} to {_brief(column['most'])}" if "least" in column else "none"


def _brief(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def _component_table(groups: list[dict[str, Any]]) -> Table:
    has_labels = "labels" in groups[0]
    rows = []
    for group in groups[:MOST_SHOWN]:
        cells: list[str | Text] = [str(group["component"]), str(group["rows"])]
        if has_labels:
            some = ", ".join(f"{n} {label}" for label, n in group["labels"].items())
            cells.append(some or Text("none", "bold"))
        rows.append([*cells, "; ".join(group["distinct"])])
    headings = ["component", "rows", *["labels"] * has_labels, "unlike the rest by"]
    return text_table(headings, rows, right=["component", "rows"])


def _rest(n: int, noun: str) -> None:
    if n > MOST_SHOWN:
        click.echo(f"and {counted(n - MOST_SHOWN, f'more {noun}')} (--json has all)")


def _advise(answer: dict[str, Any], path: str) -> None:
    if answer["target"] is None:
        click.echo(f"Next: mixkern look {path} --target COLUMN, the column of labels.")
        return
    empty = [group for group in answer["components"] if not group.get("labels") and group["rows"]]
    share = sum(group["share"] for group in empty)
    if empty and answer["labelled"]:
        click.echo(f"{counted(len(empty), 'component')} with {percent(share)} of all rows without a label.")
    step = "suggest" if len(answer["classes"]) < 2 or share >= LEAST_SHARE else "fit"
    click.echo(f"Next: mixkern {step} {path} {again()}")
