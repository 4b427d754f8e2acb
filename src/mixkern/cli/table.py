"""Tables as the commands read them: with labels to learn from, or with the columns of a model."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mixkern.advice import LabelSource
from mixkern.advice.source import label_sources
from mixkern.cli.output import Notes, byte_progress
from mixkern.encoding import TableEncoder, label_column, prepare_table
from mixkern.encoding.cell import is_gap
from mixkern.encoding.column import ContinuousColumn
from mixkern.encoding.inference import TableColumn
from mixkern.encoding.matching import check_names_given
from mixkern.encoding.overrides import column_positions
from mixkern.errors import (
    LabelError,
    MixkernWarning,
    ModelFileError,
    OptionError,
    TableError,
    UnknownColumnError,
    hint,
)
from mixkern.estimators import MixtureSVC
from mixkern.imports import pc
from mixkern.io import Block, Dialect, ModelFile, TableFile, table_file
from mixkern.io.dialect import delimiter_named, encoding_of
from mixkern.io.table import pandas_frame
from mixkern.io.writer import has_types
from mixkern.typing import Objects
from mixkern.wording import counted, nearest

BLOCK = 50_000  # rows that are predicted at a time
SOURCE = "label_source"  # column of the sources of labels, if no other is named
UNKNOWN = "unknown"  # labels whose source is not recorded, in counts


def open_table(path: str, reading: Mapping[str, Any], notes: Notes) -> TableFile:
    """Open a table file and add what was detected in it to the notes."""
    file = table_file(path, **reading)
    notes += [note.on("cli") for note in file.notes]
    return file


def add_file_notes(file: TableFile, notes: Notes) -> None:
    """Add what was found while rows were read to the notes."""
    notes += [note for note in (each.on("cli") for each in file.notes) if note not in notes]


@dataclass(frozen=True)
class JournalState:
    """A journal of labels at one moment: its name and the number of its last entry, 0 for none."""

    name: str
    entry: int


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table to learn from. Made by :func:`training_table`.

    Attributes
    ----------
    file : TableFile
        The file of the table.
    block : Block
        All rows: typed, and as they are in the file.
    X : pyarrow.Table
        The columns to learn from.
    y : pyarrow.ChunkedArray or None
        Labels as texts, null for an unlabelled row; ``None`` where no target was given.
    target : str or None
        Name of the column of labels.
    source : ndarray of shape (n,)
        How each row was chosen, ``None`` where it is not recorded; see :class:`mixkern.advice.LabelSource`.
    source_column : str or None
        Name of the column that has it; ``None`` where there is none.
    ignored : tuple of str
        Columns that are not learned from.
    gaps, unlabelled : tuple of str
        Texts that mark a gap and an unlabelled row, besides an empty cell.
    encoder : TableEncoder
        Encoder with the kinds of columns that were given by options.
    journal : JournalState or None
        The journal that labels come from; ``None`` where they are those of the file alone.
    """

    file: TableFile
    block: Block
    X: Any
    y: Any
    target: str | None
    source: Objects
    source_column: str | None
    ignored: tuple[str, ...]
    gaps: tuple[str, ...]
    unlabelled: tuple[str, ...]
    encoder: TableEncoder
    journal: JournalState | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Number of labels of each class."""
        return {} if self.y is None else label_counts(self.y)

    @property
    def source_counts(self) -> dict[str, int]:
        """Number of labels of each source, and of those whose source is not recorded."""
        labels = [] if self.y is None else self.y.to_pylist()
        pairs = zip(labels, self.source.tolist(), strict=self.y is not None)
        found = Counter(UNKNOWN if source is None else str(source) for label, source in pairs if not is_gap(label))
        return {name: found[name] for name in (*map(str, LabelSource), UNKNOWN)}


def label_counts(y: Any) -> dict[str, int]:
    """Count the labels of each class."""
    labels = y.to_pylist() if hasattr(y, "to_pylist") else y.tolist()
    return dict(sorted(Counter(str(label) for label in labels if not is_gap(label)).items()))


def training_table(
    path: str,
    notes: Notes,
    *,
    target: str | None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    continuous: Sequence[str] = (),
    categorical: Sequence[str] = (),
    unlabelled: Sequence[str] = (),
    source: str | None = None,
    **reading: Any,
) -> TrainingTable:
    """Read a table and its labels, without the columns that cannot help to predict them.

    Parameters
    ----------
    path : str
        The file, ``-`` for standard input.
    notes : list of str
        List to which remarks about the table are added.
    target : str or None
        Column of labels.
    drop, keep, continuous, categorical, unlabelled : list of str
        As the options of the same names.
    source : str, default=None
        Column of the sources of labels; by default ``label_source``, if the table has it and no other option names it.
    **reading
        Format of the file, see :func:`mixkern.io.table_file`.
    """
    file = open_table(path, reading, notes)
    targets = () if target is None else (target,)
    choices: dict[str, Any] = {"drop": drop, "keep": keep, "continuous": continuous, "categorical": categorical}
    named = {"target": targets, **choices, "source": () if source is None else (source,)}
    column_positions(file.columns, named, table=file.name)  # before the rows are read
    if source is None and SOURCE in file.columns and not any(SOURCE in names for names in named.values()):
        source = SOURCE
    sources = () if source is None else (source,)
    with byte_progress(f"Reading {file.name}") as on_progress:
        block = file.whole(text=(*targets, *sources), on_progress=on_progress)
    add_file_notes(file, notes)
    choices["drop"] = tuple(dict.fromkeys((*drop, *sources)))
    try:
        with warnings.catch_warnings(action="ignore", category=MixkernWarning):  # the notes have them
            table = prepare_table(block.typed, target, **choices, unlabelled=unlabelled, parse_texts=False)
    except TableError as error:
        raise error.prefixed(f"{file.name}: ") from error
    notes += [note.on("cli") for note in table.notes]
    return TrainingTable(
        file=file,
        block=block,
        X=table.X,
        y=table.y,
        target=target,
        source=label_sources(None if source is None else block.typed[source], len(block), source),
        source_column=source,
        ignored=(*choices["drop"], *table.unused),
        gaps=tuple(reading.get("gaps", ())),
        unlabelled=tuple(unlabelled),
        encoder=table.encoder,
    )


@dataclass(frozen=True, eq=False)
class ModelTable:
    """A table that has the columns of a model. Made by :func:`model_table`.

    Attributes
    ----------
    file : TableFile
        The file of the table.
    columns : dict
        Name and fitted encoding of each column that the model was fitted on.
    target : str
        Name of the column of labels, whether or not this table has it.
    source_column : str or None
        Name of the column of the sources of labels; ``None`` where this table has none.
    unlabelled : tuple of str
        Texts that mark an unlabelled row.
    classes : tuple of str
        The classes of the model.
    """

    file: TableFile
    columns: dict[str, TableColumn]
    target: str
    source_column: str | None
    unlabelled: tuple[str, ...]
    classes: tuple[str, ...]

    @property
    def numbers(self) -> list[str]:
        """Columns that hold only numbers, or dates."""
        return [name for name, column in self.columns.items() if isinstance(column, ContinuousColumn)]

    def blocks(self, on_progress: Callable[[int, int | None], None] | None = None) -> Iterator[Block]:
        """Iterate over blocks of rows; the typed columns are those of the model, in their order."""
        for block in self.file.blocks(self.columns, BLOCK, on_progress=on_progress):
            yield replace(block, typed=block.typed.select(list(self.columns)))

    def row(self, position: int) -> Any:
        """Return one row as a frame."""
        n = 0
        for block in self.file.blocks(self.columns, BLOCK):
            n += len(block)
            if position < n:
                return pandas_frame(block.typed, block.start).loc[[position], list(self.columns)]
        raise TableError(f"{self.file.name} has {counted(n, 'row')}, and no row {position + 1}.")

    @property
    def has_labels(self) -> bool:
        """Whether this table has the column of labels."""
        return self.target in self.file.names

    def whole(self) -> Block:
        """Read all rows; labels and their sources are texts."""
        texts = [name for name in (self.target, self.source_column) if name in self.file.names]
        with byte_progress(f"Reading {self.file.name}") as on_progress:
            return self.file.whole(text=texts, kinds=self.columns, on_progress=on_progress)

    def check_has_labels(self) -> None:
        """Raise an error where this table lacks the column of labels."""
        if not self.has_labels:
            raise UnknownColumnError(
                f"{self.file.name} has no column {self.target!r}, which the labels were learned from."
                f"{nearest(self.target, self.file.columns)} Give the table with the labels, or their journal: --labels"
            )

    def labelled(self, block: Block) -> tuple[Any, Any, Any]:
        """Return rows that were read by :meth:`whole`, their labels, and how each was chosen; None where unknown."""
        frame = pandas_frame(block.typed)
        try:
            y = label_column(frame[self.target], self.unlabelled, classes=self.classes) if self.has_labels else None
            source = None if self.source_column is None else label_sources(frame[self.source_column], len(frame))
            return frame[list(self.columns)], y, source
        except LabelError as error:  # its hint names options of other commands
            step = hint(cli="Give the table that the model was fitted on.")
            raise type(error)(error.args[0], hint=step, row=error.row) from error


def model_table(
    path: str, model_file: ModelFile, notes: Notes, *, gaps: tuple[str, ...] = (), **reading: Any
) -> ModelTable:
    """Open a table for a model; raise an error where it lacks columns that the model was fitted on."""
    model = model_file.model
    if not isinstance(model, MixtureSVC) or model.encoder_ is None or not hasattr(model, "feature_names_in_"):
        raise ModelFileError(
            "The model in this file is no classifier that was fitted on a table with named columns. Fit one by: "
            "mixkern fit TABLE --target COLUMN"
        )
    at_fit = model_file.notes
    if reading.get("decimal") is None:  # numbers are written as they were at fit time
        reading["decimal"] = _decimal_signs(at_fit.get("decimals"))
    reading["like"] = _dialect(at_fit.get("dialect"))
    file = open_table(path, {**reading, "gaps": (*gaps, *_texts(at_fit.get("gaps")))}, notes)
    columns = {column.name: column for column in model.encoder_.columns_}
    check_names_given(file.name, file.names, columns)
    return ModelTable(
        file=file,
        columns=columns,
        target=str(at_fit.get("target", "label")),
        source_column=_column_of(file, at_fit.get("source_column")),
        unlabelled=_texts(at_fit.get("unlabelled")),
        classes=tuple(model.classes_.tolist()),
    )


def dialect_for(file: TableFile, encoding: str | None = None) -> Dialect:
    """Return how a table is written: as it was read, or in another encoding."""
    if encoding is None:
        return file.dialect
    return replace(file.dialect, encoding=encoding_of(b"", encoding), has_mark=False)


def cells_for(output: str, file: TableFile, block: Block) -> Any:
    """Return the cells of a block to be written to a file: typed columns in their types if the file keeps types.

    Other columns of a text file stay texts there, so that keys and leading zeros survive; empty cells are null.
    """
    if file.dialect.format != "csv" or not has_types(output):
        return block.cells
    typed = dict(zip(block.typed.column_names, block.typed.columns, strict=True))
    found = block.cells
    for i, name in enumerate(file.names):
        column = typed.get(name)
        if column is None:
            column = pc.if_else(pc.equal(found.column(i), ""), None, found.column(i))
        found = found.set_column(i, found.column_names[i], column)
    return found


# A model file may come from anywhere: its notes are checked before they are used.


def _decimal_signs(note: Any) -> dict[str, str]:
    """Return the decimal signs of columns in a model's notes."""
    return {name: sign for name, sign in note.items() if sign in (".", ",")} if isinstance(note, dict) else {}


def _dialect(note: Any) -> Dialect | None:
    """Return how the table of a model was written, as far as its notes have it."""
    if not isinstance(note, dict):
        return None
    try:
        delimiter, encoding = delimiter_named(str(note.get("delimiter"))), encoding_of(b"", str(note.get("encoding")))
    except OptionError:
        return None
    orders = note.get("day_first")
    orders = {n: order for n, order in orders.items() if isinstance(order, bool)} if isinstance(orders, dict) else {}
    return Dialect("csv", delimiter=delimiter, encoding=encoding, day_first=orders)


def _column_of(file: TableFile, note: Any) -> str | None:
    """Return the name of a column in a model's notes, if the table has it."""
    return note if isinstance(note, str) and note in file.names else None


def _texts(note: Any) -> tuple[str, ...]:
    """Return the texts of a list in a model's notes."""
    return tuple(each for each in note if isinstance(each, str)) if isinstance(note, list) else ()
