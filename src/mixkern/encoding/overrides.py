"""What the user has settled: the columns named in ``continuous`` and ``categorical``."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np

from mixkern.encoding.column import CategoricalColumn, Column, ContinuousColumn
from mixkern.encoding.inference import Reading
from mixkern.errors import UnknownColumnError
from mixkern.wording import listing, nearest

ColumnNames = str | int | Sequence[str | int] | None


def told(
    names: list[str], continuous: ColumnNames, categorical: ColumnNames, labels: list[Any] | None = None
) -> dict[int, Reading]:
    """Give the positions whose reading the user has settled.

    ``labels`` is what the frame itself calls its columns. Where these are integers, an integer is a label; else it
    is a position.

    >>> told(["age", "town"], continuous=None, categorical="town")[1].reason
    'as told'
    >>> list(told(["1", "0"], continuous=0, categorical=None, labels=[1, 0]))
    [1]
    """
    settled: dict[int, Reading] = {}
    options: tuple[tuple[str, ColumnNames, type[Column]], ...] = (
        ("continuous", continuous, ContinuousColumn),
        ("categorical", categorical, CategoricalColumn),
    )
    for option, given, column_type in options:
        for key in _keys(given):
            position = _position(key, names, labels or [], option)
            if settled.setdefault(position, Reading(column_type, "as told")).column_type is not column_type:
                raise UnknownColumnError(
                    f"Column {names[position]!r} is named in both continuous and categorical. Name it in one."
                )
    return settled


def _keys(given: ColumnNames) -> Iterable[object]:
    if given is None:
        return ()
    return given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _position(key: object, names: list[str], labels: list[Any], option: str) -> int:
    """Find a column by name, by integer label or by position."""
    if isinstance(key, str):
        if key in names:
            return names.index(key)
        raise UnknownColumnError(
            f"{option} names the column {key!r}, but the table has {listing(names)}.{nearest(key, names)}"
        )
    has_integer_labels = bool(labels) and all(map(_is_integer, labels))
    if _is_integer(key):
        if has_integer_labels and key in labels:
            return labels.index(key)
        if not has_integer_labels and 0 <= key < len(names):
            return int(key)
    expected = (
        f"one of the labels {listing(labels)}" if has_integer_labels else f"a position from 0 to {len(names) - 1}"
    )
    raise UnknownColumnError(f"{option} names the column {key!r}, but expected a name, or {expected}.")


def _is_integer(key: object) -> TypeGuard[int]:
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)
