"""A table with a column of labels, as the commands read it."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mixkern.cli.output import PREFIX, Notes
from mixkern.cli.terminal import bytes_bar
from mixkern.encoding import TableEncoder, encode_labels, identifiers
from mixkern.encoding.lookalike import not_numbers
from mixkern.errors import LabelError, TableError, UnknownColumnError
from mixkern.estimators.svc import ANSWERS
from mixkern.io import TableFile, table_file
from mixkern.wording import counted, listing, nearest, shortened

MOST_CLASSES = 50  # a column with more different values is hardly one of classes
FEW_NUMBERS = 5  # more different numbers than this, hardly one of them twice, are measurements


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows to learn from.

    Attributes
    ----------
    file : TableFile
        Where they come from.
    frame, X : pandas.DataFrame
        All columns, and those to learn from.
    y : pandas.Series or None
        Labels as texts, ``None`` where there is none; ``None`` where nobody has named a target.
    target : str or None
        Name of their column.
    ignored : tuple of str
        Columns that nothing is learned from.
    gaps, unlabelled : tuple of str
        What stands for a gap and for no label, besides the usual.
    encoder : TableEncoder
        How to read the columns.
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
        return {} if self.y is None else counts_of(self.y)


def counts_of(y: Any) -> dict[str, int]:
    """Count the labels of each class."""
    return {str(label): int(n) for label, n in y.value_counts().sort_index().items()}


def opened(path: str, reading: Mapping[str, Any], notes: Notes) -> TableFile:
    """Look at a file, and note what was found out about it."""
    file = table_file(path, **reading)
    notes += file.notes
    return file


def note_of(file: TableFile, notes: Notes) -> None:
    """Take over what was found while rows were read."""
    notes += [note for note in file.notes if note not in notes]


def read_labelled(
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
) -> LabelledTable:
    """Read a table, find its labels, and leave out what tells rows apart but says nothing about them."""
    file = opened(path, reading, notes)
    if target is not None:
        check_column(target, file, "--target")
    for option, names in {
        "--drop": drop,
        "--keep": keep,
        "--continuous": continuous,
        "--categorical": categorical,
    }.items():
        for name in names:
            check_column(name, file, option)
    with bytes_bar(f"Reading {file.name}") as on_progress:
        frame = file.frame(text=() if target is None else (target,), on_progress=on_progress)
    note_of(file, notes)
    X = frame.drop(columns=[*drop, *([] if target is None else [target])])
    told = {*keep, *continuous, *categorical}
    names = _idle(X, told, notes)
    X = X.drop(columns=names)
    if not X.shape[1]:
        raise TableError(
            f"{file.name} has no column left to learn from{f': nothing is said by {listing(names)}' if names else ''}. "
            "Drop fewer columns, or keep some: --keep COLUMNS."
        )
    y = None if target is None else labels_of(frame[target], target, unlabelled)
    settled = {
        "continuous": [name for name in continuous if name in X],
        "categorical": [name for name in categorical if name in X],
    }
    encoder = TableEncoder(**{name: columns or None for name, columns in settled.items()})
    gaps = tuple(reading.get("gaps", ()))
    return LabelledTable(file, frame, X, y, target, (*drop, *names), gaps, tuple(unlabelled), encoder)


def _idle(X: Any, told: Collection[str], notes: Notes) -> list[str]:
    """Name the columns that say nothing about rows, unless the user has told to use them, and note why."""
    if not X.shape[1]:
        return []
    found = {
        "nearly every row has another value": identifiers(X),
        "all rows have the same value, or none": [name for name in X if X[name].nunique() <= 1],
        "mixkern predict has written them": _answers(X),
    }
    idle = {reason: [name for name in names if name not in told] for reason, names in found.items()}
    for reason, names in idle.items():
        if names:
            keep = f"To use a column all the same: --keep {shlex.quote(names[0])}"
            notes.append(f"Not learned from, because {reason}: {listing(names)}. {keep}")
    left = {name for names in idle.values() for name in names}
    keys = [name for name in X if name not in left and name not in told and _is_key(X[name])]
    if keys:
        notes.append(f"All values of {listing(keys)} differ. If they are keys: --drop {shlex.quote(keys[0])}")
    return [name for name in X if name in left]


def _answers(X: Any) -> list[str]:
    """Name the columns that an earlier prediction has left in a table."""
    found = [name for prefix in ("", PREFIX) for name in (f"{prefix}{each}" for each in ANSWERS) if name in X]
    is_complete = any({f"{prefix}{each}" for each in ANSWERS} <= set(X) for prefix in ("", PREFIX))
    return found if is_complete else []


def _is_key(column: Any) -> bool:
    """Tell whether whole numbers are as many as rows, so that they may be the keys of customers."""
    return column.dtype.kind == "i" and len(column) > FEW_NUMBERS**2 and bool(column.is_unique)


def check_column(name: str, file: TableFile, option: str) -> None:
    """Refuse a column that the file does not have, and name the one that was meant."""
    if name not in file.columns:
        raise UnknownColumnError(
            f"{option} {name}: {file.name} has no such column.{nearest(name, file.columns)} "
            f"It has {listing(file.columns, limit=10)}."
        )


def labels_of(column: Any, target: str, unlabelled: Sequence[str]) -> Any:
    """Give labels as texts, ``None`` where there is none; refuse what is no column of classes."""
    nothing = {"", *unlabelled}
    words = [label.strip() if isinstance(label, str) else "" for label in column]
    y = type(column)([None if word in nothing else word for word in words], index=column.index, dtype=object)
    if "-1" in set(y):
        raise LabelError(
            f"Column {target!r} holds -1, which could be a class or stand for no label. If it is none: "
            "--unlabelled -1. If it is a class, give it another name."
        )
    labels = encode_labels(y, min_classes=0)
    _check_classes(labels.classes.tolist(), int(labels.is_labelled.sum()), target)
    return y


def _check_classes(classes: Sequence[str], n_labelled: int, target: str) -> None:
    """Refuse labels that are as good as different in each row: measurements, names, keys."""
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
