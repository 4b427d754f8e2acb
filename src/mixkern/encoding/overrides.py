"""Column types that the user has chosen, and the texts of warnings about columns.

Users choose by the parameters ``continuous`` and ``categorical`` of :class:`mixkern.TableEncoder`. A warning lists the
columns that could be read in two ways and for which no type was chosen.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.free_text import TextColumn
from mixkern.encoding.inference import Inference, TableColumn
from mixkern.errors import Hint, UnknownColumnError, hint
from mixkern.wording import counted, few_lines, listing, names_argument, nearest, shortened

ColumnNames = str | int | Sequence[str | int] | None

N_CATEGORIES = 5  # listed for one column in a warning
CHOOSE = hint(
    python="\nTo choose, name the columns: TableEncoder(continuous=[...], categorical=[...]), "
    "given to an estimator as encoder=.",
    cli="\nTo choose, name a column: --continuous COLUMN or --categorical COLUMN.",
)
ENCODED = (
    "\nIf the columns were encoded before, such as by TableEncoder in a pipeline, leave that step out: estimators of "
    "mixkern encode tables themselves."
)
NO_LABELS = " If there are no labels yet, add this column, empty; mixkern label needs no column."
COUNT = hint(python="\nencoder.unseen(X) counts them.")


def user_choices(
    names: list[str], continuous: ColumnNames, categorical: ColumnNames, labels: list[Any] | None = None
) -> dict[int, Inference]:
    """Return the chosen types of columns, by the positions of the columns.

    Parameters
    ----------
    names : list of str
        The names of all columns.
    continuous, categorical : str, int or sequence of them, or None
        The user's choices.
    labels : list, default=None
        Column labels of the frame before conversion to text. If they are integers, an integer in ``continuous`` or
        ``categorical`` is such a label, otherwise a position.

    Examples
    --------
    >>> user_choices(["age", "town"], continuous=None, categorical="town")[1].reason
    'chosen by the user'
    >>> list(user_choices(["1", "0"], continuous=0, categorical=None, labels=[1, 0]))
    [1]
    """
    chosen: dict[int, Inference] = {}
    options: tuple[tuple[str, ColumnNames, type[TableColumn]], ...] = (
        ("continuous", continuous, ContinuousColumn),
        ("categorical", categorical, CategoricalColumn),
    )
    for option, given, column_type in options:
        for key in _keys(given):
            position = _position(key, names, labels or [], option)
            inference = chosen.setdefault(position, Inference(column_type, "chosen by the user"))
            if inference.column_type is not column_type:
                raise UnknownColumnError(
                    f"Column {names[position]!r} is named as continuous and as categorical. Name it once."
                )
    return chosen


def column_positions(
    labels: Sequence[Any], options: Mapping[str, ColumnNames], table: str = "The table"
) -> dict[str, list[int]]:
    """Return the positions of named columns; raise an error, with the nearest name, where there is no such column.

    Parameters
    ----------
    labels : sequence
        Column labels of the table.
    options : mapping
        Columns by the name of the parameter, or of the option of a command, that names them.
    table : str, default="The table"
        What the table is called in messages.

    Examples
    --------
    >>> column_positions(["age", "town"], {"drop": "town", "keep": ()})
    {'drop': [1], 'keep': []}
    """
    names = [str(label) for label in labels]
    return {
        option: [_position(key, names, list(labels), option, table) for key in _keys(given)]
        for option, given in options.items()
    }


def _keys(given: ColumnNames) -> Iterable[object]:
    """Return names as a sequence, also a single one."""
    if given is None:
        return ()
    return given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _position(key: object, names: list[str], labels: list[Any], option: str, table: str = "The table") -> int:
    """Find a column by name, by integer label or by position."""
    step = hint(python=f"Correct the parameter {option}.", cli=f"Correct --{option}.")
    if isinstance(key, str):
        if key in names:
            return names.index(key)
        whole = next((name for name in names if key in map(str.strip, name.split(","))), None)
        if whole is not None:
            quoted = f"A name with a comma stands in double quotes: --{option} {names_argument([whole])}"
            step = hint(python=step.python, cli=quoted)
        near = nearest(key, names)
        more = "" if near or option != "target" else NO_LABELS
        raise UnknownColumnError(
            f"{table} has no column {key!r}.{near} It has {listing(names, limit=10)}.{more}", hint=step
        )
    has_integer_labels = bool(labels) and all(map(_is_integer, labels))
    if _is_integer(key):
        if has_integer_labels and key in labels:
            return labels.index(key)
        if not has_integer_labels and 0 <= key < len(names):
            return int(key)
    other = f"one of the labels {listing(labels)}" if has_integer_labels else f"a position from 0 to {len(names) - 1}"
    raise UnknownColumnError(f"{table} has no column {key!r}: expected a name, or {other}.", hint=step)


def _is_integer(key: object) -> TypeGuard[int]:
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


@dataclass(frozen=True)
class Unseen:
    """Categories of one column that were absent at fit time."""

    name: str  # of the column
    counts: Mapping[str, int]  # number of cells with each of them, most frequent first
    n_cells: int  # number of all cells of the column that are not gaps


def ambiguity_text(
    names: Sequence[str], inferences: Sequence[Inference], *, is_array: bool = False
) -> tuple[str, Hint]:
    """Return text and hint of a warning about columns that could be read in two ways; both empty if there are none.

    The hint for an array says what to do if it has been encoded before.
    """
    found: dict[str, list[str]] = {}
    conversions: dict[str, list[str]] = {}  # for the first column of each reason
    for name, inference in zip(names, inferences, strict=True):
        if inference.is_ambiguous:
            if inference.conversion and inference.reason not in found:
                conversions.setdefault(inference.conversion, []).append(name)
            found.setdefault(inference.reason, []).append(name)
    if not found:
        return "", Hint()
    lines = [f"{listing(group)}: {reason}" for reason, group in found.items()]
    text = "\n  ".join(["Some columns could be read in two ways.", *lines])
    steps = [f"\nTo convert {listing(group)}: {conversion}" for conversion, group in conversions.items()]
    texts = [n for n, each in zip(names, inferences, strict=True) if each.column_type is TextColumn]
    are_texts = len(texts) == sum(map(len, found.values()))
    choose, drop = _categories_hint(texts) if are_texts else CHOOSE, _drop_hint(texts)
    encoded = ENCODED if is_array else ""
    return text, hint(python="".join([*steps, choose.python, drop.python, encoded]), cli=choose.cli + drop.cli)


def _categories_hint(names: Sequence[str]) -> Hint:
    """Return how to read columns of texts as categories."""
    step, options = f"\nTo read {listing(names)} as categories:", names_argument(names)
    return hint(
        python=f"{step} TableEncoder(categorical={list(names)}), given to an estimator as encoder=.",
        cli=f"{step} --categorical {options}",
    )


def _drop_hint(names: Sequence[str]) -> Hint:
    """Return how to leave out columns of texts; empty if there are none."""
    if not names:
        return Hint()
    step, options = f"\nTo leave out {listing(names)}:", f"--drop {names_argument(names)}"
    return hint(python=f"{step} X.drop(columns={list(names)}).", cli=f"{step} {options}")


def unseen_text(found: Sequence[Unseen]) -> str:
    """Return the text of a warning that counts cells with unseen categories and lists the most frequent ones."""
    n_cells = sum(sum(column.counts.values()) for column in found)
    held, they = ("holds a category that was", "it is") if n_cells == 1 else ("hold categories that were", "they are")
    first = f"{counted(n_cells, 'cell')} {held} absent at fit time; {they} coded as 'other'."
    lines = [f"{column.name!r}: {_tally(column)}" for column in found]
    return "\n  ".join([first, *few_lines(lines)])


def ignored_text(counts: Mapping[str, int]) -> str:
    """Return the text of a warning that counts values in columns that were empty at fit time."""
    lines = [f"{name!r}: {counted(n, 'value')}" for name, n in counts.items() if n]
    first = "Values are ignored, and read as gaps, in columns that held none at fit time."
    return "\n  ".join([first, *few_lines(lines)]) + "\nFit again, with rows that have values in these columns."


def _tally(column: Unseen) -> str:
    """List the most frequent unseen categories of a column with their counts."""
    shown = [f"{shortened(category)!r} ({count})" for category, count in list(column.counts.items())[:N_CATEGORIES]]
    rest = len(column.counts) - N_CATEGORIES
    if rest <= 0:
        return ", ".join(shown)
    if sum(column.counts.values()) == column.n_cells:
        return f"all {counted(column.n_cells, 'cell')}, as in an identifier"
    return f"{', '.join(shown)} and {rest} more"
