"""Type the columns of a text file: numbers, booleans, dates or texts, as :mod:`mixkern.encoding.grammar` defines them.

:func:`inferred` finds the narrowest type that fits every cell of a whole column. :func:`converted` takes the type from
a fitted column, so that a cell is read in the same way whatever the other rows are. Plain numbers and ISO dates are
converted by Arrow; in all other columns each distinct cell is parsed once.
"""

import decimal
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from mixkern.encoding.cell import Kind, text
from mixkern.encoding.column import Column, ContinuousColumn
from mixkern.encoding.grammar import COMMA, GAP_WORDS, POINT, Number, boolean, is_gap_word, moment, number
from mixkern.errors import FileFormatWarning, Hint, TableFileError, hint
from mixkern.imports import OnDemand
from mixkern.wording import listing, shortened

pa: Any = OnDemand("pyarrow", purpose="A table in a file")
pc: Any = OnDemand("pyarrow.compute", purpose="A table in a file")

LARGEST = 2**53  # from here on, not every whole number is a float
LineOf = Callable[[int], int | None]
_LOOKED_AT = 10_000  # distinct texts that are compared with numbers and dates for a note
_MOST_DIGITS = 76  # of an exact number in Arrow
_USUAL = b"0123456789eE+-"  # characters of plain numbers, besides the decimal sign
_DATE_SIGNS = b"0123456789-: T."
_DATE_LENGTHS = (10, 16, 19, 21, 22, 23, 24, 25, 26)  # of 2024-12-31, with a time, with parts of seconds
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")  # 31.12.2024, 12/31/24
_MEASURE = re.compile(r"\W{0,2}\d[\d.,]*\s?(?:\W|[^\W\d]{1,3})?\W?")  # 12 %, $5, 3 cm


@dataclass(frozen=True)
class Spelling:
    """A form of cells that could have been read in another way; one note names all columns that have it."""

    kind: str
    text: str  # after the name of a column
    plural: str = ""  # after the names of several
    hint: Hint | None = None

    def note(self, names: Sequence[str]) -> FileFormatWarning:
        """Return the note on these columns."""
        end = self.plural if self.plural and len(names) > 1 else self.text
        return FileFormatWarning(f"{listing(names)}{end}", hint=self.hint)


@dataclass(frozen=True)
class Typed:
    """The cells of a column in their type, and a note where they could have been read in another way."""

    values: Any  # pyarrow.ChunkedArray
    note: FileFormatWarning | Spelling | None = None


@dataclass(frozen=True)
class Distinct:
    """The distinct cells of a column, in the order of their first rows, and those that are no gaps."""

    encoded: Any
    words: list[str | None]
    texts: list[str]

    @classmethod
    def of(cls, cells: Any) -> "Distinct":
        """Return the distinct cells of a column."""
        encoded = cells.dictionary_encode().unify_dictionaries()
        words = encoded.chunk(0).dictionary.to_pylist() if encoded.num_chunks else []
        return cls(encoded, words, [word for word in words if not is_gap_word(word)])

    def mapped(self, found: Mapping[str, Any], kind: Any) -> Any:
        """Return the column with each cell replaced; cells that are not in ``found`` become null."""
        values = pa.array([None if word is None else found.get(word) for word in self.words], kind)
        return pa.chunked_array([values.take(chunk.indices) for chunk in self.encoded.chunks], kind)


def inferred(name: str, cells: Any, sign: str, line_of: LineOf) -> Typed:
    """Return a whole column in the narrowest type that fits all its cells.

    ==================  ===========================================================================
    cells               become
    ==================  ===========================================================================
    whole numbers       integers; floats where there are gaps, as in pandas, while floats are exact
    numbers             floats
    true and false      booleans
    ISO dates           dates, in UTC
    only gaps           floats, all null
    others              texts, null for gaps
    ==================  ===========================================================================

    >>> inferred("a", pa.chunked_array([["1", "2", ""]]), ".", int).values.to_pylist()
    [1.0, 2.0, None]
    >>> inferred("zip", pa.chunked_array([["01234", "20095"]]), ".", int).values.to_pylist()
    ['01234', '20095']
    """
    quick = _plain_numbers(cells, sign) or _plain_dates(cells)
    if quick is not None:
        return Typed(quick)
    distinct = Distinct.of(cells)
    if not distinct.texts:
        return Typed(distinct.mapped({}, pa.float64()))
    found = _numbers(distinct, sign) or _others(distinct)
    if found is not None:
        return found
    note = _near_miss(name, cells, distinct.texts, sign, line_of)
    return Typed(_without_gap_words(cells, distinct), note)


def converted(
    name: str, cells: Any, column: Column | None, sign: str, line_of: LineOf, on_note: Callable[[Spelling], Any] = repr
) -> Any:
    """Return cells in the type of a fitted column; without a column, they stay texts.

    >>> from mixkern.encoding.column import CategoricalColumn
    >>> column = CategoricalColumn("a", Kind.INTEGER, ("1", "2"))
    >>> converted("a", pa.chunked_array([["1.0", "2", "NA"]]), column, ".", int).to_pylist()
    ['1', '2', None]
    """
    kind = None if column is None else column.kind
    if isinstance(column, ContinuousColumn):
        if kind is Kind.DURATION or not column.n_values:
            return texts(cells)  # the encoder raises an error, or ignores them
        if kind is Kind.DATE:
            quick = _plain_dates(cells)
            dates = "dates such as 2024-05-31"
            return quick if quick is not None else _each(name, cells, moment, pa.timestamp("us"), dates, line_of)
        quick = _plain_numbers(cells, sign, as_floats=True)
        read = _float_reader(sign, kind, on_note)
        return quick if quick is not None else _each(name, cells, read, pa.float64(), "numbers", line_of)
    if kind in (Kind.NUMBER, Kind.INTEGER, Kind.DATE, Kind.BOOLEAN):
        readers: dict[Kind, Callable[[str], str]] = {
            Kind.BOOLEAN: str.strip,
            Kind.DATE: lambda cell: text(moment(cell)) or cell,
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
    distinct = Distinct.of(cells)
    kept = {
        word: word
        for word in distinct.words
        if word is not None and word.strip() not in gaps and not ((one := number(word, sign)) and one.value in values)
    }
    return distinct.mapped(kept, pa.string()) if len(kept) < len(distinct.words) else cells


# ---------------------------------------------------------------- by Arrow


def _plain_numbers(cells: Any, sign: str, *, as_floats: bool = False) -> Any:
    """Return a column of plain numbers; ``None`` where cells must be parsed one by one."""
    there = _without_gap_words(cells)
    signs = [_signs(chunk) for chunk in there.chunks]
    usual = _USUAL + sign.encode()
    if there.null_count == len(there) or any(each.translate(None, usual) for each in signs):
        return None
    if not as_floats and any(map(_has_padded, there.chunks)):
        return None
    is_whole = not any(mark in each for each in signs for mark in (sign.encode(), b"e", b"E"))
    if sign == COMMA and not is_whole:
        there = pa.chunked_array([_with_points(chunk) for chunk in there.chunks])
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
    there = _without_gap_words(cells)
    if there.null_count == len(there) or any(_signs(chunk).translate(None, _DATE_SIGNS) for chunk in there.chunks):
        return None
    if not set(pc.unique(pc.binary_length(there)).to_pylist()) <= {None, *_DATE_LENGTHS}:
        return None
    try:
        return pc.cast(there, pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None


def _without_gap_words(cells: Any, distinct: Distinct | None = None) -> Any:
    """Return cells with null for words for gaps; without distinct cells, spaces around a word are part of it."""
    if distinct is None:
        is_gap = pc.is_in(cells, _gap_words())
    elif len(distinct.texts) < len(distinct.words):
        is_gap = pc.is_null(distinct.mapped(dict.fromkeys(distinct.texts, True), pa.bool_()))
    else:
        return cells
    return pc.if_else(is_gap, None, cells) if pc.any(is_gap).as_py() else cells


@cache
def _gap_words() -> Any:
    return pa.array(sorted(GAP_WORDS))


def _offsets(chunk: Any) -> Any:  # (n + 1,)
    return np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]


def _signs(chunk: Any) -> bytes:
    """Return the characters of all cells, joined."""
    data, offsets = chunk.buffers()[2], _offsets(chunk)
    return data.slice(offsets[0], offsets[-1] - offsets[0]).to_pybytes() if data is not None else b""


def _has_padded(chunk: Any) -> bool:
    """Return whether a number has leading zeros."""
    data, offsets = np.frombuffer(_signs(chunk), np.uint8), _offsets(chunk)
    starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    starts, ends = starts[ends - starts > 1], ends[ends - starts > 1]
    starts = starts + np.isin(data[starts], (43, 45))  # + and -
    starts = starts[(ends - starts > 1) & (data[starts] == 48)]
    return bool(((data[starts + 1] >= 48) & (data[starts + 1] <= 57)).any())


def _with_points(chunk: Any) -> Any:
    """Return the cells of a chunk with points instead of commas."""
    validity, offsets, data = chunk.buffers()
    points = pa.py_buffer(data.to_pybytes().replace(b",", b"."))
    return pa.Array.from_buffers(pa.string(), len(chunk), [validity, offsets, points], offset=chunk.offset)


# ---------------------------------------------------------------- cell by cell


def _numbers(distinct: Distinct, sign: str) -> Typed | None:
    found: dict[str, Number] = {}
    for cell in distinct.texts:
        one = number(cell, sign)
        if one is None or one.is_padded:
            return None
        found[cell] = one
    grouped = next((cell for cell, one in found.items() if one.is_grouped), None)
    note = _grouped(grouped, found[grouped], sign) if grouped is not None else None
    if not all(one.is_whole for one in found.values()):
        return Typed(distinct.mapped({cell: one.value for cell, one in found.items()}, pa.float64()), note)
    whole = {cell: int(one.plain) for cell, one in found.items()}
    has_gaps = distinct.encoded.null_count or len(found) < len(distinct.words)
    smallest, largest = min(whole.values()), max(whole.values())
    if has_gaps and smallest > -LARGEST and largest < LARGEST:
        return Typed(distinct.mapped({cell: one.value for cell, one in found.items()}, pa.float64()), note)
    if smallest >= -(2**63) and largest < 2**63:
        return Typed(distinct.mapped(whole, pa.int64()), note)
    n_digits = len(str(max(-smallest, largest)))
    if n_digits > _MOST_DIGITS:
        return None
    exact = {cell: decimal.Decimal(value) for cell, value in whole.items()}
    return Typed(distinct.mapped(exact, pa.decimal256(n_digits) if n_digits > 38 else pa.decimal128(n_digits)), note)


def _others(distinct: Distinct) -> Typed | None:
    """Return a column of booleans or dates."""
    readers: tuple[tuple[Callable[[str], Any], Any], ...] = ((boolean, pa.bool_()), (moment, pa.timestamp("us")))
    for read, kind in readers:
        found: dict[str, Any] = {}
        for cell in distinct.texts:
            found[cell] = read(cell)
            if found[cell] is None:
                break
        else:
            return Typed(distinct.mapped(found, kind))
    return None


def _grouped(cell: str, one: Number, sign: str) -> Spelling:
    """Return the note on a sign that was taken for one between thousands."""
    other, start = COMMA if sign == POINT else POINT, "If that is a decimal sign:"
    return Spelling(
        "thousands",
        f": {cell} was read as {one.plain}, with thousands set apart.",
        hint=hint(python=f"{start} decimal={other!r}.", cli=f"{start} --decimal {other}"),
    )


def _near_miss(
    name: str, cells: Any, distinct: list[str], sign: str, line_of: LineOf
) -> FileFormatWarning | Spelling | None:
    """Return a note on the cells that keep a column from being numbers or dates."""
    looked_at = list(islice(distinct, _LOOKED_AT))
    numbers = {cell: number(cell, sign) for cell in looked_at}
    padded = next((cell for cell, one in numbers.items() if one and one.is_padded), None)
    tests: tuple[tuple[str, Callable[[str], Any]], ...] = (("numbers", numbers.get), ("dates", moment))
    for what, is_one in tests:
        others = [cell for cell in looked_at if is_one(cell) is None]
        if others and 2 * len(others) < len(looked_at):
            row = pc.index(cells, others[0]).as_py()
            place = f"{'first in ' if len(others) > 1 else ''}line {line_of(row)}"
            return FileFormatWarning(
                f"{name!r} holds {what}, but also {listing(map(shortened, others), limit=3)} ({place}): "
                "all were read as text. Correct these cells, or leave them empty."
            )
        if what == "numbers" and padded is not None and not others:
            end = f"numbers with leading zeros such as {padded}: they were read as text, as codes are."
            return Spelling("zeros", f" has {end}", f" have {end}")
    dates = [cell for cell in looked_at if _DATE.fullmatch(cell.strip())]
    if len(looked_at) > 2 and 2 * len(dates) > len(looked_at):
        end = f"dates in a form such as {dates[0]!r}: they were read as text. Write them in the form 2024-12-31."
        return Spelling("dates", f" holds {end}", f" hold {end}")
    measures = [cell for cell in looked_at if any(map(str.isdigit, cell)) and _MEASURE.fullmatch(cell.strip())]
    example = next((cell for cell in measures if not numbers[cell]), None)
    if len(looked_at) > 2 and 2 * len(measures) > len(looked_at) and example is not None:
        end = f"numbers in a form such as {example!r}: they were read as text. Write plain numbers."
        return Spelling("measures", f" holds {end}", f" hold {end}")
    return None


def _float_reader(sign: str, kind: Kind | None, on_note: Callable[[Spelling], Any]) -> Callable[[str], float | None]:
    """Return the function that reads a cell of a fitted column of numbers."""

    def read(cell: str) -> float | None:
        one = number(cell, sign)
        if one is not None:
            if one.is_grouped:
                on_note(_grouped(cell, one, sign))
            return one.value
        truth = boolean(cell) if kind is Kind.BOOLEAN else None
        return None if truth is None else float(truth)

    return read


def _number_text(cell: str, sign: str, *, is_exact: bool) -> str:
    """Return the text of a number as the encoder writes categories: 1 and 1.0 are the same."""
    one = number(cell, sign)
    if one is None or one.is_padded:
        return cell
    return str(int(one.plain)) if is_exact and one.is_whole else text(one.value) or cell


def _each(name: str, cells: Any, read: Callable[[str], Any], kind: Any, expected: str, line_of: LineOf) -> Any:
    """Convert each distinct cell once; a cell that gives ``None`` and is no gap is an error."""
    distinct = Distinct.of(cells)
    found = {cell: read(cell) for cell in distinct.texts}
    wrong = next((cell for cell, value in found.items() if value is None), None)
    if wrong is not None:
        row = pc.index(cells, wrong).as_py()
        line = line_of(row)
        start, end = ("", " in {row}") if line is None else (f"line {line}: ", "")
        raise TableFileError(
            f"{start}column {name!r} was fitted as {expected}, but holds {shortened(wrong)!r}{end}. "
            "Correct the cell, or leave it empty.",
            row=row,
        )
    return distinct.mapped(found, kind)
