"""``mixkern look``: show the columns, labels and groups of similar rows of a table."""

import shlex
from collections import Counter
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text
from sklearn.base import clone

from mixkern.advice.advice import LEAST_SHARE
from mixkern.cli.journal import labelled_table
from mixkern.cli.option import (
    repeat_options,
)
from mixkern.cli.output import Notes, class_counts, print_result, print_wide, spinner, text_table, warnings_as_notes
from mixkern.cli.table import TrainingTable, label_counts
from mixkern.density import Rows, component_table
from mixkern.density.block import gap_patterns
from mixkern.density.preprocessing import jitter
from mixkern.encoding import CategoricalColumn, ContinuousColumn, TableEncoder, TextColumn
from mixkern.encoding.cell import Kind, text
from mixkern.encoding.inference import TableColumn
from mixkern.encoding.raw_column import raw_columns
from mixkern.estimators import MixtureSVC
from mixkern.estimators.base import default_density, default_prior
from mixkern.imports import pa, pc
from mixkern.sampling import check_random_state, subsample
from mixkern.threads import single_threaded_algebra
from mixkern.typing import Positions
from mixkern.wording import brief, counted, percent, shortened

MOST_ROWS = 30_000  # from which components are learned: more take longer, and hardly change them
MOST_SHOWN = 40  # columns or components in a printed table
MOST_CATEGORIES = 4
_MOMENTS = {Kind.DATE: "dates", Kind.DURATION: "durations"}


def look_command(table: str, as_json: bool, seed: int, **reading: Any) -> None:
    """Print what is in a table, as text or JSON."""
    notes: Notes = []
    with warnings_as_notes(notes):
        data = labelled_table(table, notes, **reading)
        with spinner(f"Learning the structure of {counted(len(data.X), 'row')}"):
            result = _result(data, *_structure(data, seed, notes))
    print_result(result, notes, lambda: _show(result, table), as_json=as_json)


def _structure(data: TrainingTable, seed: int, notes: Notes) -> tuple[TableEncoder, Rows]:
    """Learn the components, from some rows where there are many; return the fitted encoder and all rows."""
    model = MixtureSVC(encoder=data.encoder, random_state=seed)
    if len(data.X) <= MOST_ROWS:
        rows = model.learn_structure(data.X)
        assert model.encoder_ is not None
        return model.encoder_, rows
    notes.append(f"The components were learned from {MOST_ROWS:,} of {len(data.X):,} rows, drawn at random.")
    encoder = clone(data.encoder)
    values = encoder.fit_transform(data.X)
    drawn = np.sort(subsample(np.arange(len(values)), MOST_ROWS, check_random_state(seed)))
    n_categorical = len(encoder.categorical_)
    n_continuous = values.shape[1] - n_categorical
    density = default_density(str(default_prior(model.kernel)), MOST_ROWS, n_continuous, seed)
    density.set_params(n_categorical=n_categorical).fit(jitter(values[drawn], n_continuous, check_random_state(seed)))
    return encoder, Rows(values, density.mixture_)


def _result(data: TrainingTable, encoder: TableEncoder, rows: Rows) -> dict[str, Any]:
    """Return the facts that are printed, as text or as JSON."""
    return {
        "table": data.file.name,
        "rows": len(data.X),
        "target": data.target,
        "labelled": sum(data.counts.values()),
        "classes": data.counts,
        "ignored": list(data.ignored),
        "columns": [_column(column, data.X[column.name]) for column in encoder.columns_],
        "components": _components(data, encoder, rows),
    }


def _column(column: TableColumn, cells: Any) -> dict[str, Any]:
    """Describe a column: how it is read, its gaps and its values, and what else is derived from it."""
    read_as = _MOMENTS.get(column.kind, "numbers")
    fact: dict[str, Any] = {"name": column.name, "kind": str(column.kind), "read_as": read_as, "gaps": column.n_gaps}
    if isinstance(column, CategoricalColumn):
        counts = _most_frequent(cells)
        fact |= {"read_as": "categories", "categories": len(column.categories), "most_frequent": counts}
    elif isinstance(column, TextColumn):
        fact["read_as"] = "text"
    elif column.n_values:
        fact |= _range(column, cells)
    derived = [part.name for part in column.parts if part is not column]
    return {**fact, **({"derived": derived} if derived else {}), "remark": column.remark}


def _most_frequent(cells: Any) -> dict[str, int]:
    """Count the most frequent categories."""
    counts = Counter({text(each["values"]): each["counts"] for each in cells.value_counts().to_pylist()})
    counts.pop(None, None)
    return {str(word): n for word, n in counts.most_common(MOST_CATEGORIES)}


def _range(column: ContinuousColumn, cells: Any) -> dict[str, Any]:
    """Return the least value, the median and the largest value."""
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        (raw,) = raw_columns(pa.table({column.name: cells}))
        cells = pa.chunked_array([raw.numbers(column.spelling)])
    if pa.types.is_floating(cells.type):
        cells = cells.filter(pc.is_finite(cells))
    if pa.types.is_date(cells.type):
        cells = cells.cast(pa.timestamp("ms"))
    is_plain = pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type)
    median = pc.quantile(cells if is_plain else cells.cast(pa.int64()), 0.5)[0]
    if pa.types.is_temporal(cells.type):
        median = median.cast(pa.int64(), safe=False).cast(cells.type)
    extremes = pc.min_max(cells).as_py()
    return {"least": extremes["min"], "median": median.as_py(), "most": extremes["max"]}


def _components(data: TrainingTable, encoder: TableEncoder, rows: Rows) -> list[dict[str, Any]]:
    """Describe the groups of similar rows, the largest first; a row belongs to its most probable component."""
    mixture = rows.mixture
    assert mixture is not None
    component = _most_responsible(rows)
    table = component_table(mixture, encoder, n_columns=3).drop_columns(["weight"])
    descriptions = {each.pop("component"): [text for text in each.values() if text] for each in table.to_pylist()}
    sizes = np.bincount(component, minlength=mixture.n_components)
    found = []
    for k in np.argsort(-sizes, kind="stable").tolist():
        fact = {"component": k, "share": sizes[k] / len(component), "rows": int(sizes[k])}
        if data.counts:
            fact["labels"] = label_counts(data.y.filter(component == k))
        found.append({**fact, "distinct": descriptions[k]})
    return found


def _most_responsible(rows: Rows) -> Positions:  # (n,)
    """Return the component of each row; rows with the same gaps are computed together, which is faster."""
    found = np.empty(len(rows), dtype=np.intp)
    order = np.concatenate([at for at, _, _ in gap_patterns(rows.values[:, : rows.n_continuous])])
    with single_threaded_algebra():  # of small matrices, for which threads take longer
        found[order] = rows[order].responsibilities.argmax(axis=1)
    return found


def _show(result: dict[str, Any], table: str) -> None:
    n, target = result["rows"], result["target"]
    title = f"{result['table']}: {counted(n, 'row')}, {counted(len(result['columns']), 'column')} to learn from"
    print_wide(title, _column_table(result["columns"], n))
    _show_rest(len(result["columns"]), "column")
    click.echo()
    if target is not None:
        each = class_counts(result["classes"])
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
    derived = [name.removeprefix(f"{column['name']}: ") for name in column.get("derived", ())]
    if column["read_as"] == "text":
        return f"{counted(len(derived), 'column')} of what the texts have in common"
    more = f", with {' and '.join(derived)}" if derived else ""
    return f"{brief(column['least'])} to {brief(column['most'])}{more}" if "least" in column else "none"


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
