"""Prepare a table for learning: leave out columns that cannot help, and separate the column of labels."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import narwhals as nw
import numpy as np

from mixkern.encoding.cell import Kind
from mixkern.encoding.column import CategoricalColumn
from mixkern.encoding.encoder import TableEncoder
from mixkern.encoding.frame import column_labels, opened
from mixkern.encoding.grammar import SIGNS
from mixkern.encoding.inference import infer_column
from mixkern.encoding.label_checks import FEW_NUMBERS, label_column, label_notes, same_words
from mixkern.encoding.labels import encode_labels
from mixkern.encoding.overrides import ColumnNames, column_positions, user_choices
from mixkern.encoding.raw_column import RawColumn, raw_columns
from mixkern.encoding.spelling import Spelling
from mixkern.encoding.written import Written, written_columns
from mixkern.errors import (
    ColumnChoiceWarning,
    MixkernWarning,
    NotATableError,
    OptionError,
    TableError,
    UnusedColumnWarning,
    hint,
    issue,
)
from mixkern.wording import counted, joined, listing, names_argument, shortened, shown

ASSESSED = ("label", "probability", "component", "novelty")  # columns that a prediction adds to a table
PREFIX = "mixkern_"  # of an added column whose name the table has already
_PREDICTION = re.compile(f"({'|'.join(ASSESSED)})|{PREFIX}({'|'.join(ASSESSED)})(?:_[0-9]+)?")
_OF_A_CLASS = re.compile(f"(?:{PREFIX})?probability_.+", re.DOTALL)  # probabilities of all classes, where requested

IDENTIFIER = "nearly all values differ"
CONSTANT = "all rows have the same value, or none"
PREDICTED = "they are predictions of an earlier model"
MOST_SPELLINGS = 3  # groups of categories that are listed


@dataclass(frozen=True, eq=False, repr=False)
class PreparedTable:
    """A table to learn from. Made by :func:`prepare_table`; printed, it lists its columns.

    Attributes
    ----------
    X : frame
        The columns to learn from, a frame of the library that the table came from.
    y : series or None
        Labels, a gap where a row has none; ``None`` where no target was given. The number -1 stays as it is: without a
        gap in ``y``, estimators read it as unlabelled. Categorical where the target is in ``categorical``.
    target : str or None
        Name of the column of labels.
    unused : mapping
        Columns that were left out, and the reason of each. Columns in ``drop`` are not among them.
    notes : tuple of MixkernWarning
        The warnings that were issued.
    encoder : TableEncoder
        Encoder with the chosen types of columns, to be given to an estimator as ``encoder``.
    spellings : mapping
        How the texts of columns were written that became numbers, booleans or dates in ``X``.
    """

    X: Any
    y: Any
    target: str | None
    unused: Mapping[Any, str]
    notes: tuple[MixkernWarning, ...]
    encoder: TableEncoder
    spellings: Mapping[str, Spelling]

    def select(self, frame: Any) -> Any:
        """Return the columns to learn from of another table, such as later rows, read as in this one.

        Parameters
        ----------
        frame : pandas, polars or other frame, or pyarrow.Table
            A table with the columns of ``X``, and others.

        Examples
        --------
        >>> import warnings
        >>> import pandas as pd
        >>> from mixkern import prepare_table
        >>> table = pd.DataFrame({"day": ["01/02/2024", "31/12/2024"], "rate": ["1,5 %", "2,5 %"]})
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     prepared = prepare_table(table)
        >>> prepared.select(pd.DataFrame({"rate": ["1,234 %"], "other": [0], "day": ["03/04/2024"]}))
                 day   rate
        0 2024-04-03  1.234
        """
        native, labels = _opened(frame)
        wanted = column_labels(self.X) or []
        positions = column_positions(labels, {"X": wanted})["X"]
        native = _selected(native, positions)
        written = written_columns(dict(enumerate(raw_columns(native))), known=self.spellings)
        return written.put_into(native, wanted)

    def __repr__(self) -> str:
        n_rows, n_columns = self.X.shape
        lines = [
            f"PreparedTable of {counted(n_rows, 'row')}",
            f"  {counted(n_columns, 'column')} to learn from: {listing(column_labels(self.X) or [])}",
        ]
        if self.y is not None:
            n_labels = int(encode_labels(self.y, min_classes=0).is_labelled.sum())
            lines.append(f"  {counted(n_labels, 'label')} in {self.target!r}")
        for reason in dict.fromkeys(self.unused.values()):
            names = [name for name, own in self.unused.items() if own == reason]
            lines.append(f"  left out, because {reason}: {listing(names)}")
        return "\n".join(lines)


def prepare_table(
    frame: Any,
    target: str | int | None = None,
    *,
    drop: ColumnNames = (),
    keep: ColumnNames = (),
    continuous: ColumnNames = (),
    categorical: ColumnNames = (),
    unlabelled: Any = (),
    decimal: str | None = None,
    parse_texts: bool = True,
) -> PreparedTable:
    """Split a table into columns to learn from and labels, without the columns that cannot help to predict a label.

    The commands ``mixkern look``, ``fit`` and ``suggest`` and :func:`mixkern.datasets.read_dataset` prepare their
    tables by this function. Three kinds of columns are left out: identifiers, whose values differ in nearly every
    row; columns with one value, or none; and predictions that an earlier ``mixkern predict`` has written. A warning
    names them. All rows stay in, with a label or without. The table that is passed is not changed.

    Parameters
    ----------
    frame : pandas, polars or other frame, Arrow table or stream
        The table.
    target : str, default=None
        Column of labels: texts, whole numbers, booleans or categories. Spaces around a text do not count, and a row
        with an empty text, ``"?"``, ``"NA"`` or another text that is a gap in files is unlabelled. ``None``: the table
        has no labels.
    drop, keep : str or list of str, default=()
        Columns that are never, and that are always learned from.
    continuous, categorical : str or list of str, default=()
        Columns that are read as numbers, and as categories. They are kept, too. The target in ``categorical``: each of
        its values is a class, also -1, measurements, and more values than a column of classes has.
    unlabelled : object or list, default=()
        Labels that mark unlabelled rows, such as ``"?"``. They are compared as texts: 9 and ``"9"`` are the same.
    decimal : {".", ","} or None, default=None
        Decimal sign of numbers that are texts; by default, that of each column is found from its first cells.
    parse_texts : bool, default=True
        Whether columns of texts are read as numbers, booleans or dates where all their cells are, and words for gaps
        such as ``"?"`` and ``"NA"`` as gaps: as in files, see :func:`mixkern.read_table`. Columns in ``categorical``
        stay texts.

    Returns
    -------
    PreparedTable

    Raises
    ------
    UnknownColumnError
        If a named column is not in the table; the message has the nearest name.
    LabelError
        If the target holds measurements, names or keys rather than classes, and is not in ``categorical``.
    TableError
        If no column is left to learn from.

    Warns
    -----
    UnusedColumnWarning
        If columns are left out.
    ColumnChoiceWarning
        If texts are read as numbers, booleans or dates, one for each kind. If all values of a column of whole numbers
        differ, which may be keys. If -1 is among the labels; if labels differ in capital letters or spaces only; if a
        label may mark unlabelled rows; if a class has one label, and others have many.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from mixkern import prepare_table
    >>> n = range(30)
    >>> people = pd.DataFrame({"id": n, "age": [20.5 + i % 7 for i in n], "churn": ["no", "yes", "?"] * 10})
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     table = prepare_table(people, target="churn", unlabelled="?")
    >>> table
    PreparedTable of 30 rows
      1 column to learn from: 'age'
      20 labels in 'churn'
      left out, because nearly all values differ: 'id'
    """
    if decimal not in (None, *SIGNS):
        raise OptionError(f"The decimal sign must be '.' or ',', but it is {shown(decimal)}.")
    native, labels = _opened(frame)
    options = {"target": target, "drop": drop, "keep": keep, "continuous": continuous, "categorical": categorical}
    named = _named_columns(labels, options)
    left = [i for i in range(len(labels)) if i not in named["drop"] and i not in named["target"]]
    requested = {i for option in ("keep", "continuous", "categorical") for i in named[option]}
    raws = dict(zip(left, raw_columns(_selected(native, left)), strict=True)) if left else {}
    written = (
        written_columns(raws, kept=named["categorical"], decimal_sign=decimal) if parse_texts else Written(raws, {}, {})
    )
    predictions = prediction_names([str(label) for label in labels])
    unused, notes = unused_columns(written.raws, requested, predictions)
    notes += written.notes
    used = [i for i in left if i not in unused]
    if not used:
        raise _nothing_left([labels[i] for i in unused])
    notes += spelling_notes([written.raws[i] for i in used])
    y, name = None, None
    for i in named["target"]:
        name = str(labels[i])
        is_categorical = i in named["categorical"]
        y = label_column(_column(native, i), unlabelled, name=name, categorical=is_categorical)
        notes += label_notes(y, name, categorical=is_categorical)
    for note in notes:
        issue(note)
    choices = {option: [labels[i] for i in named[option] if i in used] for option in ("continuous", "categorical")}
    return PreparedTable(
        X=_selected(written.put_into(native, labels), used),
        y=y,
        target=name,
        unused=MappingProxyType({labels[i]: reason for i, reason in unused.items()}),
        notes=tuple(notes),
        encoder=TableEncoder(**{option: names or None for option, names in choices.items()}),
        spellings=MappingProxyType({str(labels[i]): each for i, each in written.spellings.items() if i in used}),
    )


def _opened(frame: Any) -> tuple[Any, list[Any]]:
    """Return a native frame and its column labels; raise an error for a table without them."""
    native = opened(frame)
    labels = column_labels(native)
    if labels is None:
        raise NotATableError(
            "A table with named columns is needed, but this one has no names.",
            hint=hint(python="Give them names: pd.DataFrame(X, columns=[...])."),
        )
    return native, labels


def _named_columns(labels: list[Any], options: Mapping[str, ColumnNames]) -> dict[str, list[int]]:
    """Return the positions of named columns; raise an error for several targets, and for a column of two types."""
    named = column_positions(labels, options)
    if options["target"] is not None and len(named["target"]) != 1:
        raise OptionError(f"target must be the name of one column, but it is {shown(options['target'])}.")
    user_choices([str(label) for label in labels], options["continuous"], options["categorical"], labels)
    return named


def _selected(native: Any, positions: list[int]) -> Any:
    """Return some columns of a frame, as a frame of the same library."""
    if nw.dependencies.is_pandas_like_dataframe(native):
        return native.iloc[:, positions]
    return nw.from_native(native, eager_only=True)[:, positions].to_native()


def _column(native: Any, position: int) -> Any:
    """Return one column of a frame, as a series of the same library."""
    if nw.dependencies.is_pandas_like_dataframe(native):
        return native.iloc[:, position]
    return nw.from_native(native, eager_only=True)[:, position].to_native()


def unused_columns(
    raws: Mapping[int, RawColumn], requested: Collection[int], predictions: Collection[str]
) -> tuple[dict[int, str], list[MixkernWarning]]:
    """Find the columns that cannot help to predict a label, but for those requested.

    Parameters
    ----------
    raws : mapping from int to RawColumn
        Columns by their positions.
    requested : collection of int
        Positions of columns that are learned from in any case.
    predictions : collection of str
        Names of columns that an earlier prediction has added.

    Returns
    -------
    dict, list of MixkernWarning
        The reason for each such column, by its position; and notes about them and about possible keys.
    """
    reasons = {i: _reason(raw, predictions) for i, raw in raws.items() if i not in requested}
    unused = {i: reason for i, reason in reasons.items() if reason}
    notes: list[MixkernWarning] = []
    for reason in (IDENTIFIER, CONSTANT, PREDICTED):
        names = [raws[i].name for i in unused if unused[i] == reason]
        if names:
            step = "To use a column all the same"
            keep = hint(python=f"{step}: keep={names[:1]}.", cli=f"{step}: --keep {names_argument(names[:1])}")
            notes.append(UnusedColumnWarning(f"Not learned from, because {reason}: {listing(names)}.", hint=keep))
    keys = [raws[i].name for i in reasons if i not in unused and _may_be_key(raws[i])]
    if keys:
        step = "If they are keys"
        drop = hint(python=f"{step}: drop={keys[:1]}.", cli=f"{step}: --drop {names_argument(keys[:1])}")
        notes.append(ColumnChoiceWarning(f"All values of {listing(keys)} differ.", hint=drop))
    return unused, notes


def spelling_notes(raws: Sequence[RawColumn]) -> list[MixkernWarning]:
    """Return a note about categories that differ in capital letters or spaces only.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"plan": ["basic", "BASIC", "premium", "basic"] * 5})
    >>> print(spelling_notes(raw_columns(frame))[0].on("cli"))
    Categories that differ in capital letters or spaces only: 'BASIC' and 'basic' in 'plan'. They count as different. If
    they are the same, write them in the same way in all rows.
    """
    found = []
    for raw in raws:
        if raw.kind in (Kind.TEXT, Kind.CATEGORY) and infer_column(raw).column_type is CategoricalColumn:
            groups = same_words(sorted(cell for cell in raw.coded().distinct if isinstance(cell, str)))
            found += [f"{joined([repr(shortened(each)) for each in group])} in {raw.name!r}" for group in groups]
    if not found:
        return []
    text = f"Categories that differ in capital letters or spaces only: {'; '.join(found[:MOST_SPELLINGS])}"
    text += f"; and {len(found) - MOST_SPELLINGS} more" * (len(found) > MOST_SPELLINGS)
    step = "If they are the same, write them in the same way"
    how = hint(python=f"{step}: X[name].str.lower().", cli=f"{step} in all rows.")
    return [ColumnChoiceWarning(f"{text}. They count as different.", hint=how)]


def _reason(raw: RawColumn, predictions: Collection[str]) -> str:
    """Return why a column cannot help to predict a label, empty where it may."""
    if infer_column(raw).is_identifier:
        return IDENTIFIER
    if _is_constant(raw):
        return CONSTANT
    return PREDICTED if raw.name in predictions else ""


def _is_constant(raw: RawColumn) -> bool:
    """Return whether a column has at most one distinct value, gaps aside."""
    if isinstance(raw.cells, np.ndarray):
        cells = raw.numbers()
        there = cells[~np.isnan(cells)]
        return there.size == 0 or bool(there.min() == there.max())
    return len(raw.coded().distinct) <= 1


def prediction_names(names: Sequence[str]) -> list[str]:
    """List the columns that earlier predictions may have added to a table, if it has all columns of a prediction.

    A column whose name was in use has a prefix, and a number from the third one on. The target may be one of them: a
    table with labels in ``label`` gets ``mixkern_label``, but ``probability`` without a prefix.

    >>> prediction_names(["age", "label", "mixkern_label", "probability", "component", "novelty"])
    ['label', 'mixkern_label', 'probability', 'component', 'novelty']
    >>> prediction_names(["age", "label", "component"])
    []
    """
    found = {name: match[1] or match[2] for name in names if (match := _PREDICTION.fullmatch(name))}
    if set(found.values()) != set(ASSESSED):
        return []
    return [name for name in names if name in found or _OF_A_CLASS.fullmatch(name)]


def _may_be_key(raw: RawColumn) -> bool:
    """Return whether a column holds whole numbers that all differ, like the keys of customers."""
    cells = raw.cells
    if raw.kind is not Kind.INTEGER or len(cells) <= FEW_NUMBERS**2:  # a summary has no cells
        return False
    if isinstance(cells, np.ndarray):
        return not np.isnan(cells).any() and bool((np.diff(np.sort(cells)) > 0).all())
    return len(cells.distinct) == len(cells)


def _nothing_left(unused: Sequence[Any]) -> TableError:
    reason = f": {listing(unused)} cannot help to predict a label" if unused else ""
    step = "Drop fewer columns, or keep some"
    return TableError(
        f"No column is left to learn from{reason}.",
        hint=hint(python=f"{step}: keep=[...].", cli=f"{step}: --keep COLUMNS."),
    )
