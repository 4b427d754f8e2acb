"""Type the columns of a text file: numbers, booleans, dates or texts, as :mod:`mixkern.encoding.grammar` defines them.

:func:`inferred` finds the narrowest type that fits every cell of a whole column. :func:`converted` takes the type from
a fitted column, so that a cell is read in the same way whatever the other rows are. Plain numbers and ISO dates are
converted by Arrow; in all other columns each distinct cell is parsed once.
"""

import decimal
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from mixkern.encoding.cell import Kind, text
from mixkern.encoding.column import ContinuousColumn
from mixkern.encoding.grammar import COMMA, GAP_WORDS, boolean, is_gap_word, moment, number, unit_of
from mixkern.encoding.inference import TableColumn
from mixkern.encoding.raw_column import Coded
from mixkern.encoding.spelling import Spelling, near_miss, padded_number, spelling_of
from mixkern.encoding.written import LARGEST, LARGEST_INTEGER, TypedTexts, typed_texts, without_gap_words
from mixkern.errors import FileFormatWarning, TableFileError
from mixkern.imports import pa, pc
from mixkern.wording import shortened

LineOf = Callable[[int], int | None]
_DIGITS = 38  # of a decimal in 128 bits
_DATE_LENGTHS = {0, 10, 16, 19, *range(21, 27)}  # of 2024-12-31, with a time, with parts of seconds


@dataclass(frozen=True)
class Typed:
    """The cells of a column in their type, and what could have been read in another way."""

    values: Any  # pyarrow.ChunkedArray
    spelling: tuple[Spelling, str] | None = None  # other than plain, with an example
    padded: str = ""  # a number with leading zeros
    note: FileFormatWarning | None = None


def inferred(name: str, cells: Any, sign: str, line_of: LineOf) -> Typed:
    """Return a whole column in the narrowest type that fits all its cells.

    Plain numbers and dates are read by Arrow, others by :func:`typed_texts`; a column of gaps is one of floats.

    >>> inferred("a", pa.chunked_array([["1", "2", ""]]), ".", int).values.to_pylist()
    [1.0, 2.0, None]
    >>> inferred("zip", pa.chunked_array([["01234", "20095"]]), ".", int).values.to_pylist()
    ['01234', '20095']
    """
    quick = _plain_numbers(cells, sign)
    quick = _plain_dates(cells) if quick is None else quick
    if quick is not None:
        return Typed(quick)
    coded = without_gap_words(Coded.of_arrow(cells))
    typed = typed_texts(coded, spelling_of(coded.distinct, sign))
    if typed.kind is not Kind.TEXT:
        return Typed(_arrow(typed), None if typed.spelling is None else (typed.spelling, typed.example))
    values = pc.if_else(pa.array(coded.codes >= 0), cells, None) if coded.n_gaps() else cells
    if padded := padded_number(coded.distinct, sign):
        return Typed(values, padded=padded)
    note = near_miss(name, coded.distinct, sign, lambda cell: line_of(pc.index(cells, cell).as_py()))
    return Typed(values, note=FileFormatWarning(note) if note else None)


def converted(
    name: str,
    cells: Any,
    column: TableColumn | None,
    sign: str,
    line_of: LineOf,
    on_spelling: Callable[[Spelling, str], Any] = lambda *_: None,
    *,
    day_first: bool | None = None,
) -> Any:
    """Return cells in the type of a fitted column; without a column, they stay texts.

    >>> from mixkern.encoding.column import CategoricalColumn
    >>> column = CategoricalColumn("a", Kind.INTEGER, ("1", "2"))
    >>> converted("a", pa.chunked_array([["1.0", "2", "NA"]]), column, ".", int).to_pylist()
    ['1', '2', None]
    """
    kind = None if column is None else column.kind
    spelling: Spelling | None = getattr(column, "spelling", None)
    day_first = day_first if spelling is None else spelling.day_first
    read: Callable[[str], Any]
    if isinstance(column, ContinuousColumn):
        if kind is Kind.DURATION or not column.n_values:
            return texts(cells)  # the encoder raises an error, or ignores them
        if kind is Kind.DATE:
            quick, expected = _plain_dates(cells), "dates such as 2024-05-31"
            to, read = pa.timestamp("us"), lambda cell: moment(cell, day_first)
        else:
            quick, expected = _plain_numbers(cells, sign, as_floats=True), "numbers"
            to, read = pa.float64(), lambda cell: _float(cell, sign, kind, on_spelling)
        return quick if quick is not None else _each(name, cells, read, to, expected, line_of)
    if kind in (Kind.NUMBER, Kind.INTEGER, Kind.DATE, Kind.BOOLEAN):
        readers: dict[Kind, Callable[[str], str]] = {
            Kind.BOOLEAN: str.strip,
            Kind.DATE: lambda cell: text(moment(cell, day_first)) or cell,
            Kind.NUMBER: lambda cell: _number_text(cell, sign, is_exact=False),
            Kind.INTEGER: lambda cell: _number_text(cell, sign, is_exact=True),
        }
        return _each(name, cells, readers[kind], pa.string(), "", line_of)
    return texts(cells)


def texts(cells: Any) -> Any:
    """Return cells as texts, null for gaps.

    >>> texts(pa.chunked_array([["a", "", " NA"]])).to_pylist()
    ['a', None, None]
    """
    is_gap = pc.is_in(pc.utf8_trim_whitespace(cells), _gap_words())
    return pc.if_else(is_gap, None, cells) if pc.any(is_gap).as_py() else cells


def without_gaps(cells: Any, gaps: Collection[str], sign: str) -> Any:
    """Return cells without those whose text, or number, was named as a gap."""
    if not gaps:
        return cells
    values = {one.value for gap in gaps if (one := number(gap))}
    found = [
        word
        for word in pc.unique(cells.drop_null()).to_pylist()
        if word.strip() in gaps or ((one := number(word, sign)) and one.value in values)
    ]
    return pc.if_else(pc.is_in(cells, pa.array(found)), None, cells) if found else cells


# ---------------------------------------------------------------- by Arrow


def _plain_numbers(cells: Any, sign: str, *, as_floats: bool = False) -> Any:
    """Return a column of plain numbers; ``None`` where cells must be parsed one by one."""
    parts = _plain(cells, b"+-eE" + sign.encode())
    if parts is None or (not as_floats and any(map(_has_padded, parts))):
        return None
    is_whole = not any(mark in part.others for part in parts for mark in (b"e", b"E", sign.encode()))
    there = pa.chunked_array([part.texts(decimal_comma=sign == COMMA and not is_whole) for part in parts])
    try:
        if as_floats or not is_whole:
            return pc.cast(there, pa.float64())
        whole = pc.cast(there, pa.int64())
        is_exact = there.null_count and max(map(abs, pc.min_max(whole).as_py().values())) < LARGEST
        return pc.cast(there, pa.float64()) if is_exact else whole
    except pa.ArrowInvalid:  # 1-2, or more than 64 bits
        return None


def _plain_dates(cells: Any) -> Any:
    """Return a column of ISO dates without time zones; ``None`` where cells must be parsed one by one."""
    parts = _plain(cells, b"-: T.")
    if parts is None or any(part.lengths - _DATE_LENGTHS for part in parts):
        return None
    try:
        return pc.cast(pa.chunked_array([part.texts() for part in parts]), pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None


@dataclass(frozen=True)
class _Characters:
    """The cells of a chunk as characters in a row: where each cell begins, and all characters but digits."""

    offsets: Any  # (n + 1,)
    data: Any
    others: bytes

    @classmethod
    def of(cls, chunk: Any) -> "_Characters":
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = np.frombuffer(chunk.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
        return cls(offsets - offsets[0], data, data.tobytes().translate(None, b"0123456789"))

    @property
    def lengths(self) -> set[int]:
        """The lengths of the cells."""
        return set(np.flatnonzero(np.bincount(np.diff(self.offsets))).tolist())

    def texts(self, *, decimal_comma: bool = False) -> Any:
        """Return the cells, null for empty ones, with points in place of decimal commas."""
        data = self.data.tobytes().replace(b",", b".") if decimal_comma else self.data
        is_there = np.packbits(self.offsets[1:] > self.offsets[:-1], bitorder="little")
        buffers = [pa.py_buffer(is_there), pa.py_buffer(self.offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.string(), len(self.offsets) - 1, buffers)


def _plain(cells: Any, signs: bytes) -> list[_Characters] | None:
    """Return the characters of a column that has only digits, some signs and words for gaps, and not gaps alone."""
    found = []
    for chunk in cells.chunks:
        part = _Characters.of(chunk.fill_null("") if chunk.null_count else chunk)  # nulls may have characters
        if part.others.translate(None, signs):  # words for gaps?
            part = _Characters.of(pc.if_else(pc.is_in(chunk, _gap_words()), None, chunk))
        if part.others.translate(None, signs):
            return None
        found.append(part)
    return found if any(len(part.data) for part in found) else None


def _has_padded(part: _Characters) -> bool:
    """Return whether a number has leading zeros."""
    if not len(part.data):
        return False
    starts, ends = part.offsets[:-1], part.offsets[1:]
    if b"-" in part.others or b"+" in part.others:
        starts = starts + (part.data.take(starts, mode="clip") < ord("."))
    is_zero = (part.data.take(starts, mode="clip") == ord("0")) & (ends - starts > 1)
    return bool((part.data[starts[is_zero] + 1] - np.uint8(48) < 10).any())


@cache
def _gap_words() -> Any:
    return pa.array(sorted(GAP_WORDS))


# ---------------------------------------------------------------- cell by cell


def _arrow(typed: TypedTexts) -> Any:
    """Return the values of all rows."""
    values, codes = typed.values, typed.cells.codes
    if typed.kind is not Kind.INTEGER:
        kinds = {Kind.NUMBER: pa.float64(), Kind.BOOLEAN: pa.bool_(), Kind.DATE: pa.timestamp("us")}
        distinct = pa.array(values, kinds[typed.kind])
    elif np.min(values) >= -LARGEST_INTEGER and np.max(values) < LARGEST_INTEGER:
        distinct = pa.array(np.array(values, np.int64))
    else:
        n_digits = len(str(max(map(abs, values))))
        kind = pa.decimal256(n_digits) if n_digits > _DIGITS else pa.decimal128(n_digits)
        distinct = pa.array(map(decimal.Decimal, values), kind)
    return pa.chunked_array([distinct.take(pa.array(codes, mask=codes < 0))])


def _float(cell: str, sign: str, kind: Kind | None, on_spelling: Callable[[Spelling, str], Any]) -> float | None:
    """Return the number in a cell of a fitted column, with any unit or none."""
    unit = unit_of(cell)
    one = number(cell, sign, unit)
    if one is not None:
        if one.is_grouped or unit:
            on_spelling(Spelling(Kind.NUMBER, sign, unit), cell)
        return one.value
    truth = boolean(cell) if kind is Kind.BOOLEAN else None
    return None if truth is None else float(truth)


def _number_text(cell: str, sign: str, *, is_exact: bool) -> str:
    """Return the text of a number as the encoder writes categories: 1 and 1.0 are the same."""
    one = number(cell, sign, unit_of(cell))
    if one is None or one.is_padded:
        return cell
    return str(int(one.plain)) if is_exact and one.is_whole else text(one.value) or cell


def _each(name: str, cells: Any, read: Callable[[str], Any], kind: Any, expected: str, line_of: LineOf) -> Any:
    """Convert each distinct cell once; a cell that gives ``None`` and is no gap is an error."""

    def convert(cell: str | None) -> Any:
        if cell is None or is_gap_word(cell):
            return None
        value = read(cell)
        if value is None:
            row = pc.index(cells, cell).as_py()
            line = line_of(row)
            start, end = ("", " in {row}") if line is None else (f"line {line}: ", "")
            raise TableFileError(
                f"{start}column {name!r} was fitted as {expected}, but holds {shortened(cell)!r}{end}. "
                "Correct the cell, or leave it empty.",
                row=row,
            )
        return value

    return mapped(cells, convert, kind)


def mapped(cells: Any, convert: Callable[[Any], Any], kind: Any) -> Any:
    """Return a column with each cell replaced; distinct cells are converted once where Arrow can compare them."""
    try:
        chunks = cells.dictionary_encode().unify_dictionaries().chunks
    except pa.ArrowNotImplementedError:
        return pa.chunked_array([pa.array([convert(cell) for cell in cells.to_pylist()], kind)])
    values = pa.array([convert(word) for word in chunks[0].dictionary.to_pylist()] if chunks else [], kind)
    return pa.chunked_array([values.take(chunk.indices) for chunk in chunks], kind)
