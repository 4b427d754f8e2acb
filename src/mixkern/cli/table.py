"""Tables as the commands read them: with labels to learn from, or with the columns of a model."""

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mixkern.cli.output import PREFIX, Notes, byte_progress
from mixkern.encoding import TableEncoder, encode_labels, identifiers
from mixkern.encoding.cell import not_numbers
from mixkern.encoding.column import Column
from mixkern.errors import ColumnMismatchError, LabelError, ModelFileError, TableError, UnknownColumnError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.classifier import ASSESSED
from mixkern.io import TableFile, table_file
from mixkern.storage import ModelFile
from mixkern.wording import counted, listing, nearest, shortened

BLOCK = 50_000  # rows that are predicted at a time
MOST_CLASSES = 50  # more different values are taken for names or measurements
FEW_NUMBERS = 5  # more different numbers, few of them twice, are taken for measurements


def open_table(path: str, reading: Mapping[str, Any], notes: Notes) -> TableFile:
    """Open a table file and add what was detected in it to the notes."""
    file = table_file(path, **reading)
    notes += [note.on("cli") for note in file.notes]
    return file


def add_file_notes(file: TableFile, notes: Notes) -> None:
    """Add what was found while rows were read to the notes."""
    notes += [note for note in (each.on("cli") for each in file.notes) if note not in notes]


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table to learn from. Made by :func:`training_table`.

    Attributes
    ----------
    file : TableFile
        The file of the table.
    frame, X : pandas.DataFrame
        All columns, and those to learn from.
    y : pandas.Series or None
        Labels as texts, ``None`` for an unlabelled row; ``None`` where no target was given.
    target : str or None
        Name of the column of labels.
    ignored : tuple of str
        Columns that are not learned from.
    gaps, unlabelled : tuple of str
        Texts that mark a gap and an unlabelled row, besides an empty cell.
    encoder : TableEncoder
        Encoder with the kinds of columns that were given by options.
    """

    file: TableFile
    frame: Any
    X: Any
    y: Any
    target: str | None
    ignored: tuple[str, ...]
    gaps: tuple[str, ...]
    unlabelled: tuple[str, ...]
    encoder: TableEncoder

    @property
    def counts(self) -> dict[str, int]:
        """Number of labels of each class."""
        return {} if self.y is None else label_counts(self.y)


def label_counts(y: Any) -> dict[str, int]:
    """Count the labels of each class."""
    return {str(label): int(n) for label, n in y.value_counts().sort_index().items()}


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
    **reading
        Format of the file, see :func:`mixkern.io.table_file`.
    """
    file = open_table(path, reading, notes)
    targets = () if target is None else (target,)
    _check_columns(file, target=targets, drop=drop, keep=keep, continuous=continuous, categorical=categorical)
    with byte_progress(f"Reading {file.name}") as on_progress:
        frame = file.frame(text=targets, on_progress=on_progress)
    add_file_notes(file, notes)
    X = frame.drop(columns=[*drop, *targets])
    unused = _unused_columns(X, {*keep, *continuous, *categorical}, notes)
    X = X.drop(columns=unused)
    if not X.shape[1]:
        reason = f": {listing(unused)} cannot help to predict a label" if unused else ""
        raise TableError(
            f"{file.name} has no column left to learn from{reason}. Drop fewer columns, or keep some: --keep COLUMNS."
        )
    y = None if target is None else read_labels(frame[target], target, unlabelled)
    encoder = TableEncoder(
        continuous=[name for name in continuous if name in X] or None,
        categorical=[name for name in categorical if name in X] or None,
    )
    gaps = tuple(reading.get("gaps", ()))
    return TrainingTable(file, frame, X, y, target, (*drop, *unused), gaps, tuple(unlabelled), encoder)


def _check_columns(file: TableFile, **options: Sequence[str]) -> None:
    """Raise an error, with the nearest name, where an option names a column that the file does not have."""
    for option, names in options.items():
        for name in names:
            if name not in file.columns:
                near = nearest(name, file.columns)
                step = "" if near or option != "target" else " If there are no labels yet, add this column, empty."
                raise UnknownColumnError(
                    f"--{option} {name}: {file.name} has no such column.{near} "
                    f"It has {listing(file.columns, limit=10)}.{step}"
                )


def _unused_columns(X: Any, requested: Collection[str], notes: Notes) -> list[str]:
    """List the columns that cannot help to predict a label, but for those requested, and note why."""
    if not X.shape[1]:
        return []
    found = {
        "nearly all values differ": identifiers(X),
        "all rows have the same value, or none": [name for name in X if X[name].nunique() <= 1],
        "mixkern predict has written them": _prediction_columns(X),
    }
    by_reason = {reason: [name for name in names if name not in requested] for reason, names in found.items()}
    for reason, names in by_reason.items():
        if names:
            keep = f"To use a column all the same: --keep {shlex.quote(names[0])}"
            notes.append(f"Not learned from, because {reason}: {listing(names)}. {keep}")
    unused = {name for names in by_reason.values() for name in names}
    keys = [name for name in X if name not in unused and name not in requested and _may_be_key(X[name])]
    if keys:
        notes.append(f"All values of {listing(keys)} differ. If they are keys: --drop {shlex.quote(keys[0])}")
    return [name for name in X if name in unused]


def _prediction_columns(X: Any) -> list[str]:
    """List the columns that an earlier ``mixkern predict`` has added to the table."""
    sets = [[f"{prefix}{name}" for name in ASSESSED] for prefix in ("", PREFIX)]
    is_complete = any(set(names) <= set(X) for names in sets)
    return [name for names in sets for name in names if name in X] if is_complete else []


def _may_be_key(column: Any) -> bool:
    """Whether a column holds whole numbers that all differ, like the keys of customers."""
    return column.dtype.kind == "i" and len(column) > FEW_NUMBERS**2 and bool(column.is_unique)


def read_labels(column: Any, target: str, unlabelled: Sequence[str]) -> Any:
    """Return labels as texts, ``None`` for unlabelled rows; raise an error where the column holds no classes."""
    no_label = {"", *unlabelled}
    texts = [label.strip() if isinstance(label, str) else "" for label in column]
    y = type(column)([None if text in no_label else text for text in texts], index=column.index, dtype=object)
    if "-1" in set(y):
        raise LabelError(
            f"Column {target!r} holds -1, which could be a class or mark unlabelled rows. If it marks unlabelled rows: "
            "--unlabelled -1. If it is a class, give it another name."
        )
    labels = encode_labels(y, min_classes=0)
    _check_classes(labels.classes.tolist(), int(labels.is_labelled.sum()), target)
    return y


def _check_classes(classes: Sequence[str], n_labelled: int, target: str) -> None:
    """Raise an error for labels that differ in nearly every row: measurements, names, keys."""
    n_classes = len(classes)
    shown = ", ".join(repr(shortened(label, 20)) for label in classes[:3])
    found = (
        f"Column {target!r} holds {counted(n_classes, 'different value')} in {n_labelled} labelled rows ({shown}, ...)"
    )
    if n_classes > max(MOST_CLASSES, n_labelled // 2):
        raise LabelError(
            f"{found}: more than a column of classes has. Name another --target, or sort its values into groups."
        )
    if n_classes > max(FEW_NUMBERS, n_labelled // 2) and not not_numbers(classes):
        raise LabelError(
            f"{found}: numbers, not classes. Name another --target, or sort its values into groups, such as low and "
            "high. To predict numbers, use mixkern.MixtureSVR from Python."
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
    unlabelled : tuple of str
        Texts that mark an unlabelled row.
    """

    file: TableFile
    columns: dict[str, Column]
    target: str
    unlabelled: tuple[str, ...]

    def blocks(self, on_progress: Callable[[int, int | None], None] | None = None) -> Iterator[tuple[Any, Any]]:
        """Iterate over blocks of rows: the columns of the model, and all columns as the file has them."""
        for typed, cells in self.file.blocks(self.columns, BLOCK, on_progress=on_progress, with_texts=True):
            yield typed[list(self.columns)], cells

    def row(self, position: int) -> Any:
        """Return one row as a frame."""
        n = 0
        for block in self.file.blocks(self.columns, BLOCK):
            n += len(block)
            if position < n:
                return block.loc[[position], list(self.columns)]
        raise TableError(f"{self.file.name} has {counted(n, 'row')}, and no row {position + 1}.")

    def labelled(self) -> tuple[Any, Any]:
        """Return all rows and their labels."""
        if self.target not in self.file.columns:
            raise UnknownColumnError(
                f"{self.file.name} has no column {self.target!r}, which the labels were learned from."
                f"{nearest(self.target, self.file.columns)} Give the table with the labels."
            )
        with byte_progress(f"Reading {self.file.name}") as on_progress:
            frame = self.file.frame(text=(self.target,), kinds=self.columns, on_progress=on_progress)
        return frame[list(self.columns)], read_labels(frame[self.target], self.target, self.unlabelled)


def model_table(
    path: str, model_file: ModelFile, notes: Notes, *, gaps: tuple[str, ...] = (), **reading: Any
) -> ModelTable:
    """Open a table for a model; raise an error where it lacks columns that the model was fitted on."""
    model = model_file.model
    if not isinstance(model, MixtureSVC) or model.encoder_ is None or not hasattr(model, "feature_names_in_"):
        raise ModelFileError(
            f"The file holds a {type(model).__name__} that was not fitted on a table with named columns. Fit one "
            "by: mixkern fit TABLE --target COLUMN"
        )
    at_fit = model_file.notes
    if reading.get("decimal") is None:  # numbers are written as they were at fit time
        reading["decimal"] = _decimal_signs(at_fit.get("decimals"))
    file = open_table(path, {**reading, "gaps": (*gaps, *_texts(at_fit.get("gaps")))}, notes)
    columns = {column.name: column for column in model.encoder_.columns_}
    missing = [name for name in columns if name not in file.columns]
    if missing:
        step = f" Add {'it' if len(missing) == 1 else 'them'}; cells of unknown values can be empty."
        raise ColumnMismatchError(
            f"{file.name} lacks {counted(len(missing), 'column')} that the model was fitted on: {listing(missing)}."
            f"{nearest(missing[0], set(file.columns) - set(columns)) or step}"
        )
    return ModelTable(file, columns, str(at_fit.get("target", "label")), _texts(at_fit.get("unlabelled")))


# A model file may come from anywhere: its notes are checked before they are used.


def _decimal_signs(note: Any) -> dict[str, str]:
    """Return the decimal signs of columns in a model's notes."""
    return {name: sign for name, sign in note.items() if sign in (".", ",")} if isinstance(note, dict) else {}


def _texts(note: Any) -> tuple[str, ...]:
    """Return the texts of a list in a model's notes."""
    return tuple(each for each in note if isinstance(each, str)) if isinstance(note, list) else ()
