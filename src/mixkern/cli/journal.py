"""Labels in a journal, as the commands read and write them: with the table that they belong to."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from mixkern.cli.formula import FormulaGuard
from mixkern.cli.option import COLUMN_OPTIONS, FILE_OPTIONS, repeat_options
from mixkern.cli.output import Notes, free_name
from mixkern.cli.table import (
    SOURCE,
    JournalState,
    ModelTable,
    TrainingTable,
    cells_for,
    dialect_for,
    open_table,
    training_table,
)
from mixkern.encoding.cell import is_gap
from mixkern.encoding.label_checks import label_notes
from mixkern.errors import OptionError, UnknownColumnError, hint
from mixkern.imports import pa
from mixkern.io import Block, table_writer
from mixkern.io.writer import PACKED
from mixkern.labelling import Journal, LabelSession, LabelTable
from mixkern.labelling.journal import SUFFIX
from mixkern.labelling.table import text_cells
from mixkern.typing import Objects
from mixkern.wording import nearest


def journal_path(table: str, journal: str | None) -> Path:
    """Return the journal of a table: beside it, with another ending.

    >>> journal_path("data/customers.csv.gz", None).name, journal_path("sales.2024.parquet", None).name
    ('customers.labels', 'sales.2024.labels')
    """
    if journal is not None:
        return Path(journal)
    if table == "-":
        raise OptionError("A table from standard input has no journal beside it.", hint=hint(cli="Name one: --journal"))
    path = Path(table) if Path(table).name else Path(table) / "table"  # a folder, which is refused when it is read
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
        data = table_to_label(path, notes, target=target_of(target, labels), **reading)
        return with_labels(data, labels, notes, path)
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


def with_labels(data: TrainingTable, path: Path, notes: Notes, table: str) -> TrainingTable:
    """Return a table with the labels of a journal, and how each row was chosen; note labels that may be slips.

    Notes about the labels of the table alone are taken back: those of the journal may have corrected them.
    """
    y, source, state = _journal_labels(label_table(data), path, notes)
    labels = pa.chunked_array([pa.array(y.tolist(), pa.string())])
    found, name = replace(data, y=labels, source=source, journal=state), str(data.target)
    before = [] if data.y is None else [note.on("cli") for note in label_notes(data.y, name)]
    notes[:] = [note for note in notes if note not in before]
    options = repeat_options(("target", *COLUMN_OPTIONS, *FILE_OPTIONS))
    command = " ".join(filter(None, [f"mixkern label {shlex.join([table, '--journal', str(path)])}", options]))
    notes += [f"{note.text} To correct labels: {command}" for note in label_notes(labels, name, categorical=True)]
    return found


def _journal_labels(table: LabelTable, path: Path, notes: Notes) -> tuple[Objects, Objects, JournalState]:  # (n,), (n,)
    """Return the labels of a table and of its journal, how each row was chosen, and the journal's last entry."""
    with Journal(path, read_only=True) as journal:
        session = LabelSession(table, journal)
        notes += session.notes
        return session.y, session.sources(), JournalState(path.name, session.answers.last_id)


@dataclass(frozen=True, eq=False)
class ModelRows:
    """All rows of a model's table.

    Attributes
    ----------
    X, y, source : frame, array or None, array or None
        The columns of the model, the labels, and how each row was chosen.
    block : Block
        The rows as they are in the file.
    journal : JournalState or None
        The journal that labels come from; ``None`` where they are those of the file alone.
    """

    X: Any
    y: Any
    source: Any
    block: Block
    journal: JournalState | None = None


def model_rows(data: ModelTable, path: str, labels: Path | None, notes: Notes) -> ModelRows:
    """Return all rows of a model's table with their labels, and those of a journal if one is given.

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
    journal = None
    if labels is not None:
        y, source, journal = _journal_labels(_label_table(data, block, X, y, source, encoder=None), labels, notes)
    return ModelRows(X, y, source, block, journal)


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
