"""Labels in a journal, as the commands read and write them: with the table that they belong to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from mixkern.cli.formula import FormulaGuard
from mixkern.cli.output import Notes, free_name
from mixkern.cli.table import SOURCE, TrainingTable, cells_for, dialect_for, open_table, training_table
from mixkern.encoding.cell import is_gap
from mixkern.errors import OptionError, UnknownColumnError, hint
from mixkern.imports import pa
from mixkern.io import table_writer
from mixkern.io.writer import PACKED
from mixkern.labelling import Journal, LabelSession, LabelTable
from mixkern.labelling.journal import SUFFIX
from mixkern.labelling.table import text_cells
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
        with Journal(path, create=False) as journal:
            found = journal.meta().get("target")
    if found is None:
        raise OptionError(
            f"There is no label in {path.name} yet, so the column of labels must be named.",
            hint=hint(cli="Add: --target COLUMN"),
        )
    return found


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


def label_table(data: TrainingTable, classes: tuple[str, ...] = ()) -> LabelTable:
    """Return a table as labelling sessions take it."""
    assert data.target is not None  # of table_to_label
    hidden = {data.target, data.source_column}
    kept = [i for i, name in enumerate(data.file.names) if name not in hidden]
    cells = data.block.cells.select(kept).rename_columns([data.file.names[i] for i in kept])
    labels = [None] * len(data.block) if data.y is None else data.y.to_pylist()
    return LabelTable(
        name=data.file.name,
        target=data.target,
        cells=text_cells(cells),
        X=data.X,
        encoder=data.encoder,
        given=[None if is_gap(label) else str(label) for label in labels],
        sources=[None if source is None else str(source) for source in data.source.tolist()],
        classes=classes,
    )


def with_labels(data: TrainingTable, path: Path, notes: Notes) -> TrainingTable:
    """Return a table with the labels of a journal, and how each row was chosen."""
    with Journal(path, create=False) as journal:
        session = LabelSession(label_table(data), journal)
        notes += session.notes
        y = pa.chunked_array([pa.array(session.y.tolist(), pa.string())])
        return replace(data, y=y, source=session.sources())


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
