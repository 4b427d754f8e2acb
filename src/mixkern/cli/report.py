"""``mixkern report``: an HTML page about a model and its table, or a model card."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pandas as pd

from mixkern.advice import AccuracyEstimate
from mixkern.cli.journal import ModelRows, model_rows
from mixkern.cli.option import (
    check_output,
    given_paths,
)
from mixkern.cli.output import Notes, print_result, spinner, warnings_as_notes
from mixkern.cli.table import ModelTable, add_file_notes, label_counts, model_table
from mixkern.encoding.intake import prediction_names
from mixkern.errors import MixkernError
from mixkern.io import ModelFile, read_model
from mixkern.labelling.table import text_cells
from mixkern.report import write_model_card, write_model_report
from mixkern.report.card import file_facts
from mixkern.report.facts import FitRecord

PAGES, CARD = (".html", ".htm"), ".md"
KEY_SHARE = 0.95  # of the rows: a column that is not learned from, with as many values, identifies rows


def report_command(
    model: str,
    table: str,
    labels: Path | None,
    output: str | None,
    title: str | None,
    figures: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Write an HTML page or a model card."""
    path = Path(model).with_suffix(".html") if output is None else Path(output)
    if path.suffix.lower() not in (*PAGES, CARD):
        raise click.BadParameter(f"{path.name} does not end like a page or a card: use .html or .md.", param_hint="-o")
    is_card = path.suffix.lower() == CARD
    check_output(path, model, table, *given_paths(labels))
    notes: Notes = []
    file = read_model(model)
    with warnings_as_notes(notes):
        data = model_table(table, file, notes, **reading)
        rows = model_rows(data, table, labels, notes)
        add_file_notes(data.file, notes)
        facts = {**file_facts(table=table, model_file=model), "Table": data.file.name, "Fitted": file.created}
        at_fit = _fit_record(file, rows)
        facts |= _changed_labels(label_counts(rows.y), at_fit.labels, notes)
        about: dict[str, Any] = {"source": rows.source, "target": data.target, "title": title, "facts": facts}
        about |= {"command": _command(file), "at_fit": at_fit}
        with spinner("Writing the card" if is_card else "Writing the report"):
            try:
                if is_card:
                    write_model_card(file.model, rows.X, rows.y, path, **about)
                else:
                    about |= {"name": data.file.name, "row_names": _row_names(data, rows, file.notes.get("ignored"))}
                    write_model_report(file.model, rows.X, rows.y, path, figures=figures, **about)
            except OSError as error:
                raise MixkernError(f"{path.name} cannot be written: {error.strerror or error}.") from error
    result = {"table": data.file.name, "report": str(path), "bytes": path.stat().st_size}
    print_result(result, notes, lambda: click.echo(f"{'Card' if is_card else 'Report'}: {path}"), as_json=as_json)


def _command(file: ModelFile) -> str:
    """Return the command that has fitted a model, if its file has it."""
    command = file.notes.get("command")
    return command if isinstance(command, str) else ""


def _fit_record(file: ModelFile, rows: ModelRows) -> FitRecord:
    """Return what the file of a model has recorded about its labels; the file may come from anywhere."""
    journal = file.notes.get("journal")
    state = journal if isinstance(journal, dict) else {}
    name, entry = state.get("name"), state.get("entry")
    is_recorded = isinstance(name, str) and isinstance(entry, int)
    return FitRecord(
        labels=_fitted_counts(file),
        estimate=AccuracyEstimate.restored(file.notes.get("accuracy")),
        journal=str(name) if is_recorded else "",
        entry=entry if is_recorded else None,
        entry_now=rows.journal.entry if is_recorded and rows.journal is not None else None,
    )


def _fitted_counts(file: ModelFile) -> dict[str, int]:
    """Return the number of labels of each class at fit time; empty where it is not known."""
    own = getattr(file.model, "n_labels_", None)  # not in files of earlier versions
    if own is not None:
        return dict(zip(map(str, file.model.classes_.tolist()), own.tolist(), strict=True))
    classes = file.notes.get("classes")
    counts = classes if isinstance(classes, dict) else {}
    known = {name: n for name, n in counts.items() if isinstance(n, int)}
    return known if len(known) == len(counts) else {}


def _row_names(data: ModelTable, rows: ModelRows, ignored: Any) -> Any:
    """Return the first column by which rows are recognised: not learned from, with another value in nearly each row."""
    names: Sequence[str] = data.file.names
    ignored = set(ignored) if isinstance(ignored, list) else set()
    ignored -= {data.target, data.source_column, *prediction_names(names)}
    for at, name in enumerate(names):
        if name in ignored:
            (column,) = text_cells(rows.block.cells.select([at])).columns
            cells = pd.Series(column.to_pylist(), name=name, dtype=object)
            if cells.nunique() >= KEY_SHARE * len(cells):
                return cells
    return None


def _changed_labels(now: dict[str, int], at_fit: Mapping[str, int], notes: Notes) -> dict[str, str]:
    """Return the labels at fit time as a fact for the page, and note them, where the table has others by now."""
    if not at_fit or at_fit == now:
        return {}
    before = ", ".join(f"{n} of {label!r}" for label, n in at_fit.items())
    notes.append(
        f"The model was fitted on other labels ({before}) than the table has now, and the file that was written says "
        "so. For a consistent one, fit the model again."
    )
    return {"Labels at fit": before}
