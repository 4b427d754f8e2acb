"""``mixkern look``: show the columns, labels and groups of similar rows of a table."""

import shlex
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text

from mixkern.advice.advice import LEAST_SHARE
from mixkern.cli.option import column_options, json_option, reading_options, repeat_options, seed_option, target_option
from mixkern.cli.output import Notes, print_result, print_wide, spinner, text_table, warnings_as_notes
from mixkern.cli.table import TrainingTable, label_counts, training_table
from mixkern.density import component_table
from mixkern.encoding import CategoricalColumn
from mixkern.estimators import MixtureSVC
from mixkern.wording import counted, percent, shortened

MOST_SHOWN = 40  # columns or components in a printed table
MOST_CATEGORIES = 4


@click.command("look")
@click.argument("table")
@target_option(required=False)
@column_options
@reading_options
@seed_option
@json_option
def look_command(table: str, as_json: bool, seed: int, **reading: Any) -> None:
    """Show what is in TABLE: columns, gaps, labels, groups of similar rows, and which groups have no label.

    TABLE is a CSV, TSV or Parquet file, compressed or not; - is standard input.

    \b
    Example:
      mixkern look customers.csv --target churn
    """  # noqa: D301
    notes: Notes = []
    with warnings_as_notes(notes):
        data = training_table(table, notes, **reading)
        model = MixtureSVC(encoder=data.encoder, random_state=seed)
        with spinner(f"Learning the structure of {counted(len(data.X), 'row')}"):
            model.learn_structure(data.X)
            result = _result(data, model)
    print_result(result, notes, lambda: _show(result, table), as_json=as_json)


def _result(data: TrainingTable, model: MixtureSVC) -> dict[str, Any]:
    """Return the facts that are printed, as text or as JSON."""
    return {
        "table": data.file.name,
        "rows": len(data.X),
        "target": data.target,
        "labelled": sum(data.counts.values()),
        "classes": data.counts,
        "ignored": list(data.ignored),
        "columns": _columns(data, model),
        "components": _components(data, model),
    }


def _columns(data: TrainingTable, model: MixtureSVC) -> list[dict[str, Any]]:
    """Describe each column: how it is read, its gaps and its values."""
    assert model.encoder_ is not None
    found = []
    for column in model.encoder_.columns_:
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


def _components(data: TrainingTable, model: MixtureSVC) -> list[dict[str, Any]]:
    """Describe the groups of similar rows, the largest first; a row belongs to its most probable component."""
    component = model.responsibilities(data.X).argmax(axis=1)
    descriptions = component_table(model.mixture_, model.encoder_, n_columns=3)
    sizes = np.bincount(component, minlength=model.mixture_.n_components)
    found = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        fact = {"component": k, "share": sizes[k] / len(component), "rows": int(sizes[k])}
        if data.counts:
            fact["labels"] = label_counts(data.y[component == k])
        found.append({**fact, "distinct": [text for text in descriptions.loc[k].drop("weight") if text]})
    return found


def _show(result: dict[str, Any], table: str) -> None:
    n, target = result["rows"], result["target"]
    title = f"{result['table']}: {counted(n, 'row')}, {counted(len(result['columns']), 'column')} to learn from"
    print_wide(title, _column_table(result["columns"], n))
    _show_rest(len(result["columns"]), "column")
    click.echo()
    if target is not None:
        each = ", ".join(f"{count:,} of {label!r}" for label, count in result["classes"].items())
        click.echo(f"Labels in {target!r}: {result['labelled']} of {counted(n, 'row')}{': ' if each else ''}{each}.\n")
    groups = result["components"]
    title = f"{counted(len(groups), 'component')} (groups of similar rows)"
    print_wide(title if len(groups) > 1 else "1 component: the rows form no groups", _component_table(groups))
    _show_rest(len(groups), "component")
    click.echo()
    _show_next_step(result, shlex.quote(table))


def _column_table(columns: list[dict[str, Any]], n: int) -> Table:
    rows = [
        [column["name"], column["read_as"], percent(column["gaps"] / n) if column["gaps"] else "", _values(column)]
        for column in columns[:MOST_SHOWN]
    ]
    return text_table(["column", "read as", "gaps", "values"], rows, right=["gaps"])


def _values(column: dict[str, Any]) -> str:
    """Return the most frequent categories, or the range of the numbers."""
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
        rows.append([*cells, "; ".join(group["distinct"])] if len(groups) > 1 else cells)
    headings = ["component", "rows", *["labels"] * has_labels, *["differs from other rows in"] * (len(groups) > 1)]
    return text_table(headings, rows, right=["component", "rows"])


def _show_rest(n: int, noun: str) -> None:
    """Print how many rows of a table were left out."""
    if n > MOST_SHOWN:
        click.echo(f"and {counted(n - MOST_SHOWN, f'more {noun}')} (--json has all)")


def _show_next_step(result: dict[str, Any], table: str) -> None:
    """Print the next command: suggest while labels are missing where many rows are, then fit."""
    if result["target"] is None:
        click.echo(f"Next: mixkern look {table} --target COLUMN, the column of labels.")
        return
    empty = [group for group in result["components"] if not group.get("labels") and group["rows"]]
    share = sum(group["share"] for group in empty)
    if empty and result["labelled"]:
        has = "has" if len(empty) == 1 else "have"
        click.echo(f"{counted(len(empty), 'component')} with {percent(share)} of all rows {has} no label.")
    step = "suggest" if len(result["classes"]) < 2 or share >= LEAST_SHARE else "fit"
    click.echo(f"Next: mixkern {step} {table} {repeat_options()}")
