"""Whether a column is read as numbers or as categories, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mixkern.errors import NotNumericError, UnknownColumnError, listing, nearest
from mixkern.table.cell import parsed
from mixkern.table.column import CategoricalColumn, Column, ContinuousColumn
from mixkern.table.frame import Kind, RawColumn
from mixkern.table.gap import is_gap

FEW_VALUES = 10  # up to this many distinct values, an integer may be a measurement or a code

ColumnNames = str | int | Sequence[str | int] | None


@dataclass(frozen=True)
class Reading:
    """How a column is read; ``is_choice`` where one could decide otherwise, so that the user should hear of it."""

    column_type: type[Column]
    reason: str = ""
    is_choice: bool = False


def told(names: list[str], continuous: ColumnNames, categorical: ColumnNames) -> dict[int, Reading]:
    """Give the positions whose reading the user has settled.

    >>> told(["age", "town"], continuous=None, categorical="town")[1].reason
    'as told'
    """
    settled: dict[int, Reading] = {}
    options: tuple[tuple[str, ColumnNames, type[Column]], ...] = (
        ("continuous", continuous, ContinuousColumn),
        ("categorical", categorical, CategoricalColumn),
    )
    for option, given, column_type in options:
        for key in _keys(given):
            position = _position(key, names, option)
            if settled.setdefault(position, Reading(column_type, "as told")).column_type is not column_type:
                raise UnknownColumnError(
                    f"Column {names[position]!r} is named in both continuous and categorical. Name it in one."
                )
    return settled


def reading(raw: RawColumn) -> Reading:
    """Decide how to read a column that the user has said nothing about."""
    if raw.kind is Kind.INTEGER or _were_integers(raw):
        return _integer_reading(raw)
    if raw.kind is Kind.TEXT:
        return _text_reading(raw)
    is_number = raw.kind.is_numeric or raw.kind is Kind.EMPTY
    return Reading(ContinuousColumn if is_number else CategoricalColumn)


def _were_integers(raw: RawColumn) -> bool:
    """Tell whether only a gap made floats of them: in pandas, integers with a gap are floats."""
    if raw.kind is not Kind.NUMBER:
        return False
    values = raw.numbers()
    there = values[~np.isnan(values)]
    is_whole = np.isfinite(there) & (there == np.floor(there))
    return 0 < len(there) < len(values) and bool(is_whole.all())


def _integer_reading(raw: RawColumn) -> Reading:
    if isinstance(raw.cells, np.ndarray):
        n_distinct = len(np.unique(raw.cells[~np.isnan(raw.cells)]))
    else:  # objects, large integers among them, which may become equal as floats
        n_distinct = len({cell for cell in raw.cells if not is_gap(cell)})
    if n_distinct == 2:
        reason = "integers with 2 distinct values, read as categories"
        return Reading(CategoricalColumn, reason, is_choice=True)
    if 2 < n_distinct <= FEW_VALUES:
        reason = f"integers with 3 to {FEW_VALUES} distinct values, read as numbers"
        return Reading(ContinuousColumn, reason, is_choice=True)
    return Reading(ContinuousColumn)


def _text_reading(raw: RawColumn) -> Reading:
    """Look for numbers stored as text, and for identifiers; short lists of texts are what they seem."""
    texts = raw.texts()
    cells = [text for text in texts if text is not None]
    distinct = list(dict.fromkeys(cells))  # in the order in which they come
    if len(distinct) <= FEW_VALUES:
        return Reading(CategoricalColumn)
    strange = [text for text in distinct if parsed(text) is None]
    if not strange:
        return Reading(CategoricalColumn, "texts that are all numbers, read as categories", is_choice=True)
    if 2 * len(strange) < len(distinct):
        raise NotNumericError(
            f"Column {raw.name!r} is text, yet {len(distinct) - len(strange)} of its {len(distinct)} distinct "
            f"values are numbers. Not a number: {listing(strange)}, first in row {texts.index(strange[0])}. "
            "Leave such cells empty (None or NaN) and convert the column to numbers, or read it as categories: "
            f"TableEncoder(categorical=[{raw.name!r}])."
        )
    if len(distinct) == len(cells):
        reason = "texts that differ in every row, read as categories; drop them if they are identifiers"
        return Reading(CategoricalColumn, reason, is_choice=True)
    return Reading(CategoricalColumn)


def _keys(given: ColumnNames) -> Iterable[object]:
    if given is None:
        return ()
    return given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _position(key: object, names: list[str], option: str) -> int:
    """Find a column by name or position."""
    if isinstance(key, str):
        if key in names:
            return names.index(key)
        raise UnknownColumnError(
            f"{option} names the column {key!r}, but the table has {listing(names)}.{nearest(key, names)}"
        )
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and 0 <= key < len(names):
        return int(key)
    raise UnknownColumnError(
        f"{option} names the column {key!r}, but expected a name, or a position from 0 to {len(names) - 1}."
    )
