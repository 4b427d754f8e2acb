"""Parse the columns of a file: numbers, booleans, dates or texts.

:func:`inferred` finds the narrowest type that fits every cell of a whole column. :func:`converted` takes the type from
a fitted column, so that a cell is read in the same way whatever the other rows are.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixkern.encoding.cell import text
from mixkern.encoding.column import Column, ContinuousColumn
from mixkern.encoding.frame import Kind
from mixkern.encoding.grammar import COMMA, GAP_WORDS, POINT, Number, boolean, is_gap_word, moment, number
from mixkern.errors import FileFormatWarning, TableFileError, hint
from mixkern.typing import Floats, Objects
from mixkern.wording import listing, shortened

LARGEST = 2**53  # from here on, not every whole number is a float
_LOOKED_AT = 10_000  # distinct texts that are compared with numbers and dates for a note
_USUAL = b"0123456789eE+-.,\0"  # characters of plain numbers, joined by NUL
_SHAPE = bytes.maketrans(b"23456789-", b"11111111+")
_PADDED = (b"\x0000", b"\x0001", b"\0+00", b"\0+01")  # shapes of numbers with leading zeros
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")  # 31.12.2024, 12/31/24
_MEASURE = re.compile(r"\W{0,2}\d[\d.,]*\s?(?:\W|[^\W\d]{1,3})?\W?")  # 12 %, $5, 3 cm


@dataclass(frozen=True)
class Typed:
    """The cells of a column in their type, and a note where they could have been read in another way."""

    values: Any  # array, or a pandas array of integers with gaps
    note: FileFormatWarning | None = None


def inferred(name: str, cells: Sequence[str], sign: str, line_of: Callable[[int], int | None]) -> Typed:
    """Return a whole column in the narrowest type that fits all its cells.

    ==================  ===========================================================================
    cells               become
    ==================  ===========================================================================
    whole numbers       integers; floats where there are gaps, as in pandas, while floats are exact
    numbers             floats
    true and false      booleans
    ISO dates           dates, in UTC
    only gaps           floats, all NaN
    others              texts, ``None`` for gaps
    ==================  ===========================================================================

    >>> inferred("a", ["1", "2", ""], ".", int).values
    array([ 1.,  2., nan])
    >>> inferred("zip", ["01234", "20095"], ".", int).values
    array(['01234', '20095'], dtype=object)
    """
    quick = _quick_floats(cells, sign)
    if quick is not None:
        values, is_whole = quick
        if not is_whole or not (np.abs(values[~np.isnan(values)]) >= LARGEST).any():
            return Typed(_narrow(values, is_whole))
    distinct = [cell for cell in dict.fromkeys(cells) if not is_gap_word(cell)]
    if not distinct:
        return Typed(np.full(len(cells), np.nan))
    for attempt in (_numbers, _booleans, _dates):
        found = attempt(name, cells, distinct, sign)
        if found is not None:
            return found
    note = _near_miss(name, cells, distinct, sign, line_of)
    return Typed(texts(cells), FileFormatWarning(note) if note else None)


def converted(
    name: str,
    cells: Sequence[str],
    column: Column | None,
    sign: str,
    line_of: Callable[[int], int | None],
    on_note: Callable[[FileFormatWarning], object] = str,
) -> Any:
    """Return cells in the type of a fitted column; without a column, they stay texts.

    >>> from mixkern.encoding.column import CategoricalColumn
    >>> converted("a", ["1.0", "2", "NA"], CategoricalColumn("a", Kind.INTEGER, ("1", "2")), ".", int)
    array(['1', '2', None], dtype=object)
    """
    if isinstance(column, ContinuousColumn):
        if column.kind is Kind.DURATION or not column.n_values:
            return texts(cells)  # the encoder raises an error, or ignores them
        if column.kind is Kind.DATE:
            return _moments(_each(cells, moment, name, "dates such as 2024-05-31", line_of))
        return _floats(name, cells, column.kind, sign, line_of, on_note)
    if column is not None and column.kind is Kind.BOOLEAN:
        return texts([cell.strip() for cell in cells])
    if column is not None and column.kind is Kind.DATE:
        found = _each(cells, lambda cell: moment(cell) or cell, name, "", line_of)
        return objects(found)
    if column is not None and column.kind in (Kind.NUMBER, Kind.INTEGER):
        is_exact = column.kind is Kind.INTEGER
        return objects(_each(cells, lambda cell: _number_text(cell, sign, is_exact), name, "", line_of))
    return texts(cells)


def texts(cells: Sequence[str]) -> Objects:  # (n,)
    """Return cells as texts, gaps as ``None``; equal texts are one object.

    >>> texts(["a", "", "a"])
    array(['a', None, 'a'], dtype=object)
    """
    distinct = {cell: None if is_gap_word(cell) else cell for cell in dict.fromkeys(cells)}
    return objects([distinct[cell] for cell in cells])


def _quick_floats(cells: Sequence[str], sign: str) -> tuple[Floats, bool] | None:
    """Return plain numbers and whether all are whole; ``None`` where cells must be parsed one by one."""
    there = [cell for cell in cells if cell not in GAP_WORDS]
    joined = "\0".join(there)
    if not there or _is_unusual(joined) or (sign == COMMA and POINT in joined):
        return None
    if sign == COMMA:
        joined = joined.replace(COMMA, POINT)
        there = joined.split("\0")
    try:
        numbers = np.array(list(map(float, there)))
    except ValueError:
        return None
    is_whole = not any(mark in joined for mark in (POINT, "e", "E"))
    if len(there) == len(cells):
        return numbers, is_whole
    values = np.full(len(cells), np.nan)
    values[[cell not in GAP_WORDS for cell in cells]] = numbers
    return values, is_whole


def _is_unusual(joined: str) -> bool:
    """Return whether cells joined by NUL hold anything but plain numbers, or a leading zero."""
    if not joined.isascii():
        return True
    signs = joined.encode("ascii")
    if signs.translate(None, _USUAL):
        return True
    shape = b"\0" + signs.translate(_SHAPE)
    return any(start in shape for start in _PADDED)


def _narrow(values: Floats, is_whole: bool) -> NDArray[Any]:
    """Give whole numbers without gaps as integers."""
    is_integer = is_whole and len(values) > 0 and bool(np.isfinite(values).all())
    return values.astype(np.int64) if is_integer else values


def _numbers(name: str, cells: Sequence[str], distinct: list[str], sign: str) -> Typed | None:
    found: dict[str, Number] = {}
    for cell in distinct:
        one = number(cell, sign)
        if one is None or one.is_padded:
            return None
        found[cell] = one
    grouped = next((cell for cell, one in found.items() if one.is_grouped), None)
    note = _grouped(name, grouped, found[grouped], sign) if grouped is not None else None
    is_whole = all(one.is_whole for one in found.values())
    if is_whole and any(abs(one.value) >= LARGEST for one in found.values()):
        return Typed(_exact([int(found[cell].plain) if cell in found else None for cell in cells]), note)
    values = np.array([found[cell].value if cell in found else np.nan for cell in cells])
    return Typed(_narrow(values, is_whole), note)


def _grouped(name: str, cell: str, one: Number, sign: str) -> FileFormatWarning:
    """Give a note on a sign that was taken for one between thousands."""
    other = COMMA if sign == POINT else POINT
    return FileFormatWarning(
        f"{name!r}: {cell} was read as {one.plain}, with thousands set apart.",
        hint=hint(
            python=f"If that is a decimal sign: decimal={other!r}.", cli=f"If that is a decimal sign: --decimal {other}"
        ),
    )


def _exact(values: list[int | None]) -> NDArray[Any]:
    """Return large whole numbers with all digits, as Python integers where there are gaps or more than 64 bits."""
    if None not in values and all(-(2**63) <= value < 2**63 for value in values if value is not None):
        return np.array(values, dtype=np.int64)
    return objects(values)


def _booleans(name: str, cells: Sequence[str], distinct: list[str], sign: str) -> Typed | None:  # noqa: ARG001
    found = {cell: boolean(cell) for cell in distinct}
    if None in found.values():
        return None
    values = [found.get(cell) for cell in cells]
    return Typed(objects(values) if None in values else np.array(values))


def _dates(name: str, cells: Sequence[str], distinct: list[str], sign: str) -> Typed | None:  # noqa: ARG001
    found = {}
    for cell in distinct:
        found[cell] = moment(cell)
        if found[cell] is None:
            return None
    return Typed(_moments([found.get(cell) for cell in cells]))


def _near_miss(
    name: str, cells: Sequence[str], distinct: list[str], sign: str, line_of: Callable[[int], int | None]
) -> str:
    """Give a text about the cells that keep a column from being numbers or dates."""
    looked_at = list(islice(distinct, _LOOKED_AT))
    numbers = {cell: number(cell, sign) for cell in looked_at}
    padded = next((cell for cell, one in numbers.items() if one and one.is_padded), None)
    tests: tuple[tuple[str, Callable[[str], Any]], ...] = (("numbers", numbers.get), ("dates", moment))
    for what, is_one in tests:
        others = [cell for cell in looked_at if is_one(cell) is None]
        if others and 2 * len(others) < len(looked_at):
            row = cells.index(others[0])
            place = f"{'first in ' if len(others) > 1 else ''}line {line_of(row)}"
            return (
                f"{name!r} holds {what}, but also {listing(map(shortened, others), limit=3)} ({place}): "
                "all were read as text. Correct these cells, or leave them empty."
            )
        if what == "numbers" and padded is not None and not others:
            return f"{name!r} has numbers with leading zeros such as {padded}: they were read as text, as codes are."
    dates = [cell for cell in looked_at if _DATE.fullmatch(cell.strip())]
    if len(looked_at) > 2 and 2 * len(dates) > len(looked_at):
        return (
            f"{name!r} holds dates in a form such as {dates[0]!r}: they were read as text. Write them in the form "
            "2024-12-31."
        )
    measures = [cell for cell in looked_at if any(map(str.isdigit, cell)) and _MEASURE.fullmatch(cell.strip())]
    if len(looked_at) > 2 and 2 * len(measures) > len(looked_at) and any(not numbers[cell] for cell in measures):
        example = next(cell for cell in measures if not numbers[cell])
        return f"{name!r} holds numbers in a form such as {example!r}: they were read as text. Write plain numbers."
    return ""


def _floats(
    name: str,
    cells: Sequence[str],
    kind: Kind,
    sign: str,
    line_of: Callable[[int], int | None],
    on_note: Callable[[FileFormatWarning], object],
) -> Floats:  # (n,)
    quick = _quick_floats(cells, sign)
    if quick is not None:
        return quick[0]

    def value(cell: str) -> float | None:
        one = number(cell, sign)
        if one is not None:
            if one.is_grouped:
                on_note(_grouped(name, cell, one, sign))
            return one.value
        truth = boolean(cell) if kind is Kind.BOOLEAN else None
        return None if truth is None else float(truth)

    found = _each(cells, value, name, "numbers", line_of)
    return np.array([np.nan if one is None else one for one in found], dtype=float)


def _number_text(cell: str, sign: str, is_exact: bool) -> str:
    """Return the text of a number as the encoder writes categories: 1 and 1.0 are the same."""
    one = number(cell, sign)
    if one is None or one.is_padded:
        return cell
    return str(int(one.plain)) if is_exact and one.is_whole else text(one.value) or cell


def _each(
    cells: Sequence[str],
    convert: Callable[[str], Any],
    name: str,
    expected: str,
    line_of: Callable[[int], int | None],
) -> list[Any]:
    """Convert each distinct cell once, gaps to ``None``; any other cell that gives ``None`` is an error."""
    known = {cell: None if is_gap_word(cell) else convert(cell) for cell in dict.fromkeys(cells)}
    wrong = next((cell for cell, value in known.items() if value is None and not is_gap_word(cell)), None)
    if wrong is not None:
        row = list(cells).index(wrong)
        line = line_of(row)
        start, end = ("", " in {row}") if line is None else (f"line {line}: ", "")
        raise TableFileError(
            f"{start}column {name!r} was fitted as {expected}, but holds {shortened(wrong)!r}{end}. "
            "Correct the cell, or leave it empty.",
            row=row,
        )
    return [known[cell] for cell in cells]


def _moments(values: list[Any]) -> NDArray[np.datetime64]:  # (n,)
    return np.array(values, dtype="datetime64[us]")


def objects(values: Sequence[Any]) -> Objects:  # (n,)
    """Return an array of Python objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
