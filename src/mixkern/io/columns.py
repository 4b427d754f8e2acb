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
from mixkern.encoding.grammar import COMMA, GAP_WORDS, POINT, boolean, is_gap_word, moment, number, unit_of
from mixkern.encoding.inference import TableColumn
from mixkern.encoding.raw_column import Coded
from mixkern.encoding.spelling import Spelling, near_miss, padded_number, spelling_of
from mixkern.encoding.written import LARGEST, LARGEST_INTEGER, TypedTexts, typed_texts, without_gap_words
from mixkern.errors import FileFormatWarning, TableFileError
from mixkern.imports import pa, pc
from mixkern.wording import shortened

LineOf = Callable[[int], int | None]
_DECIMALS = "^[+-]?[0-9]*[.eE][0-9eE+-]*$"
_DIGITS = 38  # of a decimal in 128 bits
_FEW = 100  # cells that are converted first
_WITH_HOUR = len("2024-12-31 10")  # which only Arrow takes for a date


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
    quick = plain_numbers(cells, sign)
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
    note, step = near_miss(name, coded.distinct, sign, lambda cell: line_of(pc.index(cells, cell).as_py()))
    return Typed(values, note=FileFormatWarning(note, hint=step) if note else None)


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
            quick, expected = plain_numbers(cells, sign, as_floats=True), "numbers"
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


def plain_numbers(cells: Any, sign: str, *, as_floats: bool = False) -> Any:
    """Return a column of plain numbers; ``None`` where cells must be parsed one by one."""
    written = cells
    if sign == COMMA:
        if pc.any(pc.match_substring(cells, POINT)).as_py():
            return None
        written = pc.replace_substring(cells, COMMA, POINT)
    whole = None if as_floats else _cast(written, pa.int64())
    is_whole = whole is not None and not (whole.null_count and largest(whole) < LARGEST)
    values = whole if is_whole else _cast(written, pa.float64())
    if values is None or (not as_floats and any(map(_has_padded, cells.chunks))):
        return None
    is_plain = as_floats or whole is not None or _has_decimals(written)  # otherwise +5, or many digits
    return values if is_plain and np.isfinite(largest(values)) else None


def _plain_dates(cells: Any) -> Any:
    """Return a column of ISO dates without time zones; ``None`` where cells must be parsed one by one."""
    values = _cast(cells, pa.timestamp("us"))
    if values is None:
        return None
    is_other = pc.or_(pc.equal(pc.binary_length(cells), _WITH_HOUR), pc.starts_with(cells, "0000"))
    return None if pc.any(is_other).as_py() else values


def _cast(cells: Any, kind: Any) -> Any:
    """Return cells in another type, null for words for gaps; ``None`` where Arrow refuses one, or all are gaps."""
    try:
        for part in (cells.slice(0, _FEW), cells):  # most texts are refused at once
            values = pc.cast(pc.if_else(pc.is_in(part, _gap_words()), None, part), kind)
    except pa.ArrowInvalid:
        return None
    return values if values.null_count < len(values) else None


def largest(numbers: Any) -> float:
    """Return the largest absolute value, NaN where one is no number."""
    chunks = [np.asarray(chunk.fill_null(0) if chunk.null_count else chunk) for chunk in numbers.chunks]
    return float(np.max([(-float(chunk.min(initial=0)), chunk.max(initial=0)) for chunk in chunks], initial=0))


def _has_decimals(cells: Any) -> bool:
    parts = (cells.slice(0, _FEW), cells)
    return any(pc.any(pc.match_substring_regex(part, _DECIMALS)).as_py() for part in parts)


def _has_padded(chunk: Any) -> bool:
    """Return whether a number has leading zeros, or is hexadecimal."""
    offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    data = np.frombuffer(chunk.buffers()[2] or b"", np.uint8)[: offsets[-1]]
    if not len(data):
        return False
    starts, ends = offsets[:-1], offsets[1:]
    starts = starts + (data.take(starts, mode="clip") < ord("."))  # a sign
    is_zero = (data.take(starts, mode="clip") == ord("0")) & (ends - starts > 1)
    second = data[starts[is_zero] + 1]
    return bool(((second - np.uint8(48) < 10) | (second | 32 == ord("x"))).any())


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
