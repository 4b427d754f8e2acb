"""Labels in a journal, as the commands read and write them: with the table that they belong to."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from mixkern.cli.formula import FormulaGuard
from mixkern.cli.output import Notes, free_name
from mixkern.cli.table import SOURCE, ModelTable, TrainingTable, cells_for, dialect_for, open_table, training_table
from mixkern.encoding.cell import is_gap
from mixkern.errors import OptionError, UnknownColumnError, hint
from mixkern.imports import pa
from mixkern.io import Block, table_writer
from mixkern.io.writer import PACKED
from mixkern.labelling import Journal, LabelSession, LabelTable
from mixkern.labelling.journal import SUFFIX
from mixkern.labelling.table import text_cells
from mixkern.typing import Objects
from mixkern.wording import nearest

FILE_OPTIONS = ("delimiter", "decimal", "encoding", "gaps", "sheet")  # for the format of a file


def journal_path(table: str, journal: str | None) -> Path:
    """Return the journal of a table: beside it, with another ending.

    >>> journal_path("data/customers.csv.gz", None).name, journal_path("sales.2024.parquet", None).name
    ('customers.labels', 'sales.2024.labels')
    """
    if journal is not None:
        return Path(journal)
    if table == "-":
        raise OptionError("A table from standard input has no journal beside it.", hint=hint(cli="Name one: --journal"))
    path = Path(table)
    plain = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return plain.with_suffix(SUFFIX)


def target_of(target: str | None, path: Path) -> str:
    """Return the column of labels: the one that is given, or that of an existing journal."""
    if target is not None:
        return target
    found = None
    if path.exists():
        with Journal(path, read_only=True) as journal:
            found = journal.meta().get("target")
    if found is None:
        raise OptionError(
            f"There is no label in {path.name} yet, so the column of labels must be named.",
            hint=hint(cli="Add: --target COLUMN"),
        )
    return found


def given_target(target: str | None, labels: Path | None) -> str:
    """Return the column of labels: the one that is given, or that of a given journal."""
    if target is not None:
        return target
    if labels is None:
        raise click.UsageError("Missing option '--target', the column of labels, or '--labels', a journal of them.")
    return target_of(target, labels)


def table_to_label(path: str, notes: Notes, *, target: str, **reading: Any) -> TrainingTable:
    """Read a table whose column of labels may be missing; the name of a similar column is an error."""
    columns = open_table(path, {name: value for name, value in reading.items() if name in FILE_OPTIONS}, []).names
    if target in columns:
        return training_table(path, notes, target=target, **reading)
    similar = nearest(target, columns)
    if similar:
        raise UnknownColumnError(f"{Path(path).name} has no column {target!r}.{similar}")
    notes.append(f"{Path(path).name} has no column {target!r}: labels are in the journal alone.")
    return replace(training_table(path, notes, target=None, **reading), target=target)


def labelled_table(
    path: str, notes: Notes, *, target: str | None, labels: Path | None, **reading: Any
) -> TrainingTable:
    """Read a table to learn from, with the labels of a journal if one is given."""
    if labels is not None:
        return with_labels(table_to_label(path, notes, target=target_of(target, labels), **reading), labels, notes)
    if target is not None:
        notes += unused_journal(path)
    return training_table(path, notes, target=target, **reading)


def unused_journal(table: str) -> Notes:
    """Return a note about labels of the labelling page or of ``merge`` that are not used, if there are any."""
    if table == "-":
        return []
    path = journal_path(table, None)
    if not path.is_file():
        return []
    return [f"The labels in {path.name} are not used. To use them: --labels {shlex.quote(str(path))}"]


def label_table(data: TrainingTable, classes: tuple[str, ...] = ()) -> LabelTable:
    """Return a table as labelling sessions take it."""
    labels = None if data.y is None else data.y.to_pylist()
    return _label_table(data, data.block, data.X, labels, data.source, encoder=data.encoder, classes=classes)


def _label_table(
    data: TrainingTable | ModelTable, block: Block, X: Any, labels: Any, sources: Any, **options: Any
) -> LabelTable:
    """Return the rows of a block; they are identified by all columns but the labels and their sources."""
    kept = [i for i, name in enumerate(data.file.names) if name not in (data.target, data.source_column)]
    nothing = [None] * len(block)
    return LabelTable(
        name=data.file.name,
        target=str(data.target),
        cells=text_cells(block.cells.select(kept).rename_columns([data.file.names[i] for i in kept])),
        X=X,
        given=[None if is_gap(label) else str(label) for label in (nothing if labels is None else labels)],
        sources=[None if source is None else str(source) for source in (nothing if sources is None else sources)],
        **options,
    )


def with_labels(data: TrainingTable, path: Path, notes: Notes) -> TrainingTable:
    """Return a table with the labels of a journal, and how each row was chosen."""
    y, source = _journal_labels(label_table(data), path, notes)
    return replace(data, y=pa.chunked_array([pa.array(y.tolist(), pa.string())]), source=source)


def _journal_labels(table: LabelTable, path: Path, notes: Notes) -> tuple[Objects, Objects]:  # (n,), (n,)
    """Return the labels of a table and of its journal, and how each row was chosen."""
    with Journal(path, read_only=True) as journal:
        session = LabelSession(table, journal)
        notes += session.notes
        return session.y, session.sources()


def model_rows(data: ModelTable, path: str, labels: Path | None, notes: Notes) -> tuple[Any, Any, Any]:
    """Return all rows of a model's table, their labels and how each was chosen, with those of a journal if given.

    Parameters
    ----------
    data : ModelTable
        The table.
    path : str
        File of the table, for a note about a journal beside it that is not used.
    labels : Path or None
        The journal.
    notes : list of str
        List to which remarks are added.
    """
    if labels is None:
        notes += unused_journal(path)
        data.check_has_labels()
    block = data.whole()
    X, y, source = data.labelled(block)
    if labels is not None:
        y, source = _journal_labels(_label_table(data, block, X, y, source, encoder=None), labels, notes)
    return X, y, source


def write_labelled(
    data: TrainingTable, session: LabelSession, output: str, encoding: str | None, *, guard_formulas: bool
) -> Notes:
    """Write the table with all labels and their sources, as it was read; return notes."""
    names = list(data.file.names)
    cells = cells_for(output, data.file, data.block)
    labels, sources = (pa.array(each.tolist(), pa.string()) for each in (session.y, session.sources()))
    for name, values in ((str(data.target), labels), (data.source_column or free_name(SOURCE, names), sources)):
        if name in names:
            cells = cells.set_column(names.index(name), cells.column_names[names.index(name)], values)
        else:
            cells, names = cells.append_column(name, values), [*names, name]
    guard = FormulaGuard((), is_active=guard_formulas)
    with table_writer(output, dialect_for(data.file, encoding)) as write:
        write(guard(cells))
    return guard.notes
