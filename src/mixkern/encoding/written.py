"""Read columns of texts as numbers, booleans and dates, in frames and in files."""

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
LARGEST_INTEGER = 2**63
MOST_DIGITS = 76  # of a whole number, as in Arrow
_MOST_DECIMAL_DIGITS = 38  # in a column of decimals
_PLURALS = {Kind.NUMBER: "numbers", Kind.BOOLEAN: "booleans", Kind.DATE: "dates"}


@dataclass(frozen=True, eq=False)
class TypedTexts:
    """Texts of a column that were read in one type, each distinct one once. Made by :func:`typed_texts`."""

    cells: Coded  # without words for gaps
    kind: Kind
    values: Any  # of the distinct cells: an array of floats or dates, a list of whole numbers, booleans or texts
    spelling: Spelling | None = None  # of texts, none

    @property
    def example(self) -> str:
        """A cell for notes: one with thousands set apart if there is any."""
        distinct, spelling = self.cells.distinct, self.spelling
        if spelling and spelling.kind is Kind.NUMBER and plain_numbers(distinct, spelling.decimal) is None:
            for cell in distinct:
                found = number(cell, spelling.decimal, spelling.unit)
                if found is not None and found.is_grouped:
                    return str(cell)
        return str(distinct[0]) if distinct else ""


def typed_texts(cells: Coded, spelling: Spelling | None) -> TypedTexts:
    """Read texts in a spelling; where one of them is not written so, all stay texts. Without any text: floats.

    Whole numbers are integers, and floats where a gap is among them, while floats are exact.

    >>> typed = typed_texts(Coded.of_cells(["1", "2", None]), Spelling(Kind.NUMBER))
    >>> typed.kind.value, typed.values
    ('number', array([1., 2.]))
    """
    read = None
    if spelling is not None:
        read = _numbers(cells, spelling) if spelling.kind is Kind.NUMBER else _others(cells, spelling)
    if read is not None:
        return TypedTexts(cells, *read, spelling)
    if not cells.distinct:
        return TypedTexts(cells, Kind.NUMBER, np.empty(0))
    return TypedTexts(cells, Kind.TEXT, cells.distinct)


def without_gap_words(cells: Coded) -> Coded:
    """Return texts with gaps in place of words for gaps; the same object where there are none."""
    if not any(map(is_gap_word, cells.distinct)):
        return cells
    return cells.mapped(lambda cell: None if is_gap_word(cell) else cell)


def _others(cells: Coded, spelling: Spelling) -> tuple[Kind, Any] | None:
    """Return booleans or dates; ``None`` where a cell is none."""
    found: Any = plain_dates(cells.distinct) if spelling.kind is Kind.DATE else None
    if found is None:
        found = [spelling.value(cell) for cell in cells.distinct]
        if None in found:
            return None
    return spelling.kind, np.array(found, "datetime64[us]") if spelling.kind is Kind.DATE else found


def _numbers(cells: Coded, spelling: Spelling) -> tuple[Kind, Any] | None:
    """Return floats, or whole numbers; ``None`` where a cell is no number, or has too many digits."""
    values = plain_numbers(cells.distinct, spelling.decimal)
    if values is not None and (np.abs(values) < LARGEST).all():
        joined = "\0".join(cells.distinct)
        is_whole = not any(mark in joined for mark in (spelling.decimal, "e", "E"))
    else:
        found = [
            number(cell, spelling.decimal) or number(cell, spelling.decimal, spelling.unit) for cell in cells.distinct
        ]
        if None in found:
            return None
        numbers = [one for one in found if one is not None]
        is_whole = all(one.is_whole for one in numbers)
        values = np.array([one.value for one in numbers])
        if is_whole and not (np.abs(values) < LARGEST).all():
            exact = [int(one.plain) for one in numbers]
            return (Kind.INTEGER, exact) if max(map(abs, exact)) < 10**MOST_DIGITS else None
    return Kind.INTEGER if is_whole and cells.distinct and not cells.n_gaps() else Kind.NUMBER, values


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
                old = frame.iloc[:, i]
                if old.dtype == values.dtype == object:  # otherwise pandas would infer another type
                    values = type(old)(values, index=old.index, dtype=object)
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
    texts = {i: without_gap_words(raw.coded()) for i, raw in raws.items() if raw.kind is Kind.TEXT}
    signs = _signs(texts, decimal_sign)
    found, values, changed = dict(raws), {}, {}
    for i, cells in texts.items():
        spelling = spelling_of(cells.distinct, signs[i]) if known is None else known.get(raws[i].name)
        typed = typed_texts(cells, None if i in kept else spelling)
        if typed.spelling is not None:
            changed[i] = typed
        if typed.spelling is not None or cells is not raws[i].cells:
            found[i], values[i] = _column(raws[i], typed)
    spellings = {i: typed.spelling for i, typed in changed.items() if typed.spelling is not None}
    if known is not None:
        return Written(found, values, spellings)
    stayed = {raws[i].name: cells for i, cells in texts.items() if i not in changed and i not in kept}
    return Written(found, values, spellings, _notes({raws[i].name: typed for i, typed in changed.items()}, stayed))


def _signs(texts: Mapping[int, Coded], given: str | None) -> dict[int, str]:
    """Return the decimal sign of each column."""
    if given is not None:
        return dict.fromkeys(texts, given)
    first = [
        [cells.distinct[code] for code in cells.codes[:SIGN_ROWS].tolist() if code >= 0] for cells in texts.values()
    ]
    return dict(zip(texts, decimal_signs(first), strict=True))


def _column(raw: RawColumn, typed: TypedTexts) -> tuple[RawColumn, NDArray[Any]]:
    """Return a column and its new cells."""
    cells, kind, values = typed.cells, typed.kind, typed.values
    if kind is Kind.DATE:
        moments = cells.taken(values, np.datetime64("NaT"), "datetime64[us]")
        return RawColumn(raw.name, kind, days(moments), raw.place), moments
    if isinstance(values, np.ndarray):
        floats = cells.taken(values, np.nan, float)
        return RawColumn(raw.name, kind, floats, raw.place), floats.astype(np.int64) if kind is Kind.INTEGER else floats
    if kind is Kind.TEXT:
        return RawColumn(raw.name, kind, cells, raw.place), cells.taken(values, None, object)
    new = cells.mapped(dict(zip(cells.distinct, values, strict=True)).get)
    fits = not new.n_gaps() and (
        kind is Kind.BOOLEAN or all(-LARGEST_INTEGER <= value < LARGEST_INTEGER for value in values)
    )
    dtype: Any = bool if kind is Kind.BOOLEAN else np.int64
    column = RawColumn(raw.name, kind if new.distinct else Kind.EMPTY, new, raw.place)
    return column, new.taken(new.distinct, 0 if fits else None, dtype if fits else object)


def _series(name: str, values: NDArray[Any], table: nw.DataFrame[Any]) -> nw.Series[Any]:
    """Return a series for a frame of a library other than pandas, with nulls for gaps."""
    backend = table.implementation
    if values.dtype != object:
        series = nw.new_series(name, values, backend=backend)
        return series.fill_nan(None) if values.dtype.kind == "f" else series
    there = [cell for cell in values if cell is not None]
    if isinstance(there[0], int) and max(map(abs, there)) >= LARGEST_INTEGER:
        is_decimal = max(map(abs, there)) < 10**_MOST_DECIMAL_DIGITS
        convert, large = (decimal.Decimal, None) if is_decimal else (float, nw.Float64())
        return nw.new_series(name, [cell if cell is None else convert(cell) for cell in values], large, backend=backend)
    dtype = {bool: nw.Boolean(), int: nw.Int64()}.get(type(there[0]), nw.String())
    return nw.new_series(name, values.tolist(), dtype, backend=backend)


def _notes(typed: Mapping[str, TypedTexts], stayed: Mapping[str, Coded]) -> tuple[MixkernWarning, ...]:
    """Return a note for each kind of spelling, and one on dates that could be read in two ways."""
    examples = {name: (each.spelling, each.example) for name, each in typed.items() if each.spelling is not None}
    plain: dict[Kind, list[str]] = {}
    for name, (spelling, cell) in examples.items():
        if not spelling_notes({name: (spelling, cell)}):
            plain.setdefault(spelling.kind, []).append(name)
    notes = [
        ColumnChoiceWarning(
            f"Texts are read as {_PLURALS[kind]}: {listing(names)}.",
            hint=hint(python=f"To read them as categories: categorical={names[:1]}."),
        )
        for kind, names in plain.items()
    ]
    special = spelling_notes(examples)
    unclear = {name: cells.distinct[0] for name, cells in stayed.items() if len(date_orders(cells.distinct)) == 2}
    special += [order_note(unclear)] if unclear else []
    return (*notes, *(ColumnChoiceWarning(text, hint=step) for text, step in special))
