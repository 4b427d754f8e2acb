"""Read the texts of a frame as numbers, booleans and dates, as those of a file are read."""

import decimal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from mixkern.encoding.cell import Kind, days
from mixkern.encoding.grammar import is_gap_word, number, plain_dates, plain_numbers
from mixkern.encoding.raw_column import Coded, RawColumn
from mixkern.encoding.spelling import (
    SIGN_ROWS,
    Spelling,
    date_orders,
    decimal_signs,
    order_note,
    spelling_notes,
    spelling_of,
)
from mixkern.errors import ColumnChoiceWarning, MixkernWarning, hint
from mixkern.wording import listing

LARGEST = 2**53  # from here on, not every whole number is a float
_LARGEST_INTEGER = 2**63
_MOST_DIGITS = 76  # of a whole number, as in files
_MOST_DECIMAL_DIGITS = 38  # in a column of decimals
_PLURALS = {Kind.NUMBER: "numbers", Kind.BOOLEAN: "booleans", Kind.DATE: "dates"}


@dataclass(frozen=True, eq=False)
class Written:
    """Columns of texts that were read as numbers, booleans or dates. Made by :func:`written_columns`.

    Attributes
    ----------
    raws : mapping from int to RawColumn
        All columns, by their positions.
    values : mapping from int to ndarray
        New cells of the columns that have changed.
    spellings : mapping from int to Spelling
        How the cells of these columns are written; without columns of texts in which words for gaps became gaps.
    notes : tuple of ColumnChoiceWarning
        One for each kind of spelling.
    """

    raws: Mapping[int, RawColumn]
    values: Mapping[int, NDArray[Any]]
    spellings: Mapping[int, Spelling]
    notes: tuple[MixkernWarning, ...] = ()

    def put_into(self, frame: Any, labels: Sequence[Any]) -> Any:
        """Return a frame with the new cells; the frame itself is not changed."""
        if not self.values:
            return frame
        if nw.dependencies.is_pandas_like_dataframe(frame):
            frame = frame.copy(deep=False)
            for i, values in self.values.items():
                frame.isetitem(i, values)
            return frame
        table = nw.from_native(frame, eager_only=True)
        series = [_series(str(labels[i]), values, table) for i, values in self.values.items()]
        return table.with_columns(*series).to_native()


def written_columns(
    raws: Mapping[int, RawColumn],
    *,
    kept: Collection[int] = (),
    decimal_sign: str | None = None,
    known: Mapping[str, Spelling] | None = None,
) -> Written:
    """Read columns of texts as numbers, booleans and dates where all their cells are; words for gaps become gaps.

    Parameters
    ----------
    raws : mapping from int to RawColumn
        The columns of a table, by their positions.
    kept : collection of int, default=()
        Positions of columns that stay texts.
    decimal_sign : {".", ","} or None, default=None
        Decimal sign of all numbers; by default, that of each column is found from its first cells.
    known : mapping from str to Spelling, default=None
        How the columns of an earlier table were written, by their names; the others stay texts.

    Examples
    --------
    >>> from mixkern.encoding.raw_column import raw_columns
    >>> raws = dict(enumerate(raw_columns([["12,5 %", "a"], ["7 %", "?"]])))
    >>> written = written_columns(raws)
    >>> written.values[0], written.values[1]
    (array([12.5,  7. ]), array(['a', None], dtype=object))
    """
    texts = {i: _without_gap_words(raw.coded()) for i, raw in raws.items() if raw.kind is Kind.TEXT}
    signs = _signs(texts, decimal_sign)
    found, values, spellings = dict(raws), {}, {}
    for i, cells in texts.items():
        spelling = spelling_of(cells.distinct, signs[i]) if known is None else known.get(raws[i].name)
        if i in kept:
            spelling = None
        read = None if spelling is None else _read(raws[i], cells, spelling)
        if read is not None and spelling is not None:
            found[i], values[i] = read
            spellings[i] = spelling
        elif cells is not raws[i].cells:
            found[i], values[i] = _texts(raws[i], cells)
    if known is not None:
        return Written(found, values, spellings)
    stayed = {i: cells for i, cells in texts.items() if i not in spellings and i not in kept}
    return Written(found, values, spellings, tuple(_notes(raws, texts, spellings, stayed)))


def _without_gap_words(cells: Coded) -> Coded:
    """Return the same object where there are no words for gaps."""
    if not any(map(is_gap_word, cells.distinct)):
        return cells
    return cells.mapped(lambda cell: None if is_gap_word(cell) else cell)


def _signs(texts: Mapping[int, Coded], given: str | None) -> dict[int, str]:
    """Return the decimal sign of each column."""
    if given is not None:
        return dict.fromkeys(texts, given)
    first = [
        [cells.distinct[code] for code in cells.codes[:SIGN_ROWS].tolist() if code >= 0] for cells in texts.values()
    ]
    return dict(zip(texts, decimal_signs(first), strict=True))


def _read(raw: RawColumn, cells: Coded, spelling: Spelling) -> tuple[RawColumn, NDArray[Any]] | None:
    """Return a column and its cells in their type; ``None`` where a cell is not written in this way."""
    name, place = raw.name, raw.place
    if spelling.kind is Kind.NUMBER:
        return _numbers(raw, cells, spelling)
    found: Any = plain_dates(cells.distinct) if spelling.kind is Kind.DATE else None
    if found is None:
        found = [spelling.value(cell) for cell in cells.distinct]
        if None in found:
            return None
    if spelling.kind is Kind.DATE:
        moments = cells.taken(np.array(found, dtype="datetime64[us]"), np.datetime64("NaT"), "datetime64[us]")
        return RawColumn(name, Kind.DATE, days(moments), place), moments
    truths = cells.mapped(spelling.value)
    values = truths.taken(truths.distinct, None, object if truths.n_gaps() else bool)
    return RawColumn(name, Kind.BOOLEAN if truths.distinct else Kind.EMPTY, truths, place), values


def _numbers(raw: RawColumn, cells: Coded, spelling: Spelling) -> tuple[RawColumn, NDArray[Any]] | None:
    """Return a column of numbers: integers where all are whole, floats where a gap is among them."""
    plain = plain_numbers(cells.distinct, spelling.decimal)
    if plain is not None and (np.abs(plain) < LARGEST).all():
        joined = "\0".join(cells.distinct)
        is_whole = not any(mark in joined for mark in (spelling.decimal, "e", "E"))
        return _column(raw, cells.taken(plain, np.nan, float), is_whole=is_whole)
    found = [number(cell, spelling.decimal) or number(cell, spelling.decimal, spelling.unit) for cell in cells.distinct]
    if None in found:
        return None
    numbers = [one for one in found if one is not None]
    is_whole = all(one.is_whole for one in numbers)
    values = [one.value for one in numbers]
    if not is_whole or all(abs(value) < LARGEST for value in values):
        return _column(raw, cells.taken(values, np.nan, float), is_whole=is_whole)
    if max(len(one.plain) for one in numbers) > _MOST_DIGITS:
        return None
    exact = cells.mapped(lambda cell: int(_plain(cell, spelling)))
    column = RawColumn(raw.name, Kind.INTEGER, exact, raw.place)
    fits = not exact.n_gaps() and all(-_LARGEST_INTEGER <= value < _LARGEST_INTEGER for value in exact.distinct)
    return column, exact.taken(exact.distinct, 0 if fits else None, np.int64 if fits else object)


def _column(raw: RawColumn, values: NDArray[Any], *, is_whole: bool) -> tuple[RawColumn, NDArray[Any]]:
    is_integer = is_whole and len(values) > 0 and not np.isnan(values).any()
    column = RawColumn(raw.name, Kind.INTEGER if is_integer else Kind.NUMBER, values, raw.place)
    return column, values.astype(np.int64) if is_integer else values


def _plain(cell: str, spelling: Spelling) -> str:
    found = number(cell, spelling.decimal) or number(cell, spelling.decimal, spelling.unit)
    return found.plain if found else ""


def _texts(raw: RawColumn, cells: Coded) -> tuple[RawColumn, NDArray[Any]]:
    """Return a column of texts with gaps; without any text, floats."""
    if not cells.distinct:
        gaps = np.full(len(cells), np.nan)
        return RawColumn(raw.name, Kind.NUMBER, gaps, raw.place), gaps
    return RawColumn(raw.name, Kind.TEXT, cells, raw.place), cells.taken(cells.distinct, None, object)


def _series(name: str, values: NDArray[Any], table: nw.DataFrame[Any]) -> nw.Series[Any]:
    """Return a series for a frame of a library other than pandas, with nulls for gaps."""
    backend = table.implementation
    if values.dtype != object:
        series = nw.new_series(name, values, backend=backend)
        return series.fill_nan(None) if values.dtype.kind == "f" else series
    there = [cell for cell in values if cell is not None]
    if isinstance(there[0], int) and max(map(abs, there)) >= _LARGEST_INTEGER:
        is_decimal = max(map(abs, there)) < 10**_MOST_DECIMAL_DIGITS
        convert, large = (decimal.Decimal, None) if is_decimal else (float, nw.Float64())
        return nw.new_series(name, [cell if cell is None else convert(cell) for cell in values], large, backend=backend)
    dtype = {bool: nw.Boolean(), int: nw.Int64()}.get(type(there[0]), nw.String())
    return nw.new_series(name, values.tolist(), dtype, backend=backend)


def _notes(
    raws: Mapping[int, RawColumn],
    texts: Mapping[int, Coded],
    spellings: Mapping[int, Spelling],
    stayed: Mapping[int, Coded],
) -> list[MixkernWarning]:
    """Return a note for each kind of spelling, and one on dates that could be read in two ways."""
    examples = {raws[i].name: (spelling, _example(texts[i], spelling)) for i, spelling in spellings.items()}
    special = spelling_notes(examples)
    plain: dict[Kind, list[str]] = {}
    for name, (spelling, cell) in examples.items():
        if not spelling_notes({name: (spelling, cell)}):
            plain.setdefault(spelling.kind, []).append(name)
    notes: list[MixkernWarning] = [
        ColumnChoiceWarning(
            f"Texts are read as {_PLURALS[kind]}: {listing(names)}.",
            hint=hint(python=f"To read them as categories: categorical={names[:1]}."),
        )
        for kind, names in plain.items()
    ]
    notes += [ColumnChoiceWarning(text, hint=step) for text, step in special]
    unclear = {raws[i].name: cells.distinct[0] for i, cells in stayed.items() if len(date_orders(cells.distinct)) == 2}
    if unclear:
        text, step = order_note(unclear)
        notes.append(ColumnChoiceWarning(text, hint=step))
    return notes


def _example(cells: Coded, spelling: Spelling) -> str:
    """Return a cell for notes: one with thousands set apart if there is any."""
    if spelling.kind is Kind.NUMBER and plain_numbers(cells.distinct, spelling.decimal) is None:
        for cell in cells.distinct:
            found = number(cell, spelling.decimal, spelling.unit)
            if found is not None and found.is_grouped:
                return str(cell)
    return str(cells.distinct[0]) if cells.distinct else ""
