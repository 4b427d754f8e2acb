"""Type the columns of a text file: numbers, booleans, dates or texts, as :mod:`mixkern.encoding.grammar` defines them.

:func:`inferred` finds the narrowest type that fits every cell of a whole column. :func:`converted` takes the type from
a fitted column, so that a cell is read in the same way whatever the other rows are. Plain numbers and ISO dates are
converted by Arrow; in all other columns each distinct cell is parsed once.
"""

import decimal
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from mixkern.encoding.cell import Kind, text
from mixkern.encoding.column import ContinuousColumn
from mixkern.encoding.grammar import COMMA, GAP_WORDS, boolean, is_date, is_gap_word, moment, number, unit_of
from mixkern.encoding.inference import TableColumn
from mixkern.encoding.spelling import Spelling, spelling_of
from mixkern.errors import FileFormatWarning, TableFileError
from mixkern.imports import OnDemand
from mixkern.wording import listing, shortened

pa: Any = OnDemand("pyarrow", purpose="A table in a file")
pc: Any = OnDemand("pyarrow.compute", purpose="A table in a file")

LARGEST = 2**53  # from here on, not every whole number is a float
LineOf = Callable[[int], int | None]
_LOOKED_AT = 10_000  # distinct texts that are compared with numbers and dates for a note
_MOST_DIGITS = 76  # of an exact number in Arrow
_DATE_LENGTHS = {0, 10, 16, 19, *range(21, 27)}  # of 2024-12-31, with a time, with parts of seconds
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")  # 31/12/24
_MEASURE = re.compile(r"\W{0,2}\d[\d.,]*\s?(?:\W|[^\W\d]{1,3})?\W?")  # 3 cm


@dataclass(frozen=True)
class Typed:
    """The cells of a column in their type, and what could have been read in another way."""

    values: Any  # pyarrow.ChunkedArray
    spelling: tuple[Spelling, str] | None = None  # other than plain, with an example
    padded: str = ""  # a number with leading zeros
    note: FileFormatWarning | None = None


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

    @property
    def has_gaps(self) -> bool:
        """Whether a cell is a gap."""
        return len(self.texts) < len(self.words) or self.encoded.null_count > 0

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
    numbers             floats, percentages and amounts of money as they are written
    true and false      booleans
    dates               dates, in UTC
    only gaps           floats, all null
    others              texts, null for gaps
    ==================  ===========================================================================

    >>> inferred("a", pa.chunked_array([["1", "2", ""]]), ".", int).values.to_pylist()
    [1.0, 2.0, None]
    >>> inferred("zip", pa.chunked_array([["01234", "20095"]]), ".", int).values.to_pylist()
    ['01234', '20095']
    """
    quick = _plain_numbers(cells, sign)
    quick = _plain_dates(cells) if quick is None else quick
    if quick is not None:
        return Typed(quick)
    distinct = Distinct.of(cells)
    if not distinct.texts:
        return Typed(distinct.mapped({}, pa.float64()))
    spelling = spelling_of(distinct.texts, sign)
    if spelling is not None and spelling.kind is Kind.NUMBER:
        found = _numbers(distinct, spelling)
        if found is not None:
            return found
    elif spelling is not None:
        values = {cell: spelling.value(cell) for cell in distinct.texts}
        kind = pa.timestamp("us") if spelling.kind is Kind.DATE else pa.bool_()
        return Typed(distinct.mapped(values, kind), (spelling, distinct.texts[0]))
    is_text = distinct.mapped(dict.fromkeys(distinct.texts, True), pa.bool_()) if distinct.has_gaps else None
    values = cells if is_text is None else pc.if_else(is_text.fill_null(False), cells, None)
    return _near_miss(name, cells, values, distinct.texts, sign, line_of)


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
    data = np.append(part.data, np.zeros(3, np.uint8))  # behind the last cell
    starts, ends = part.offsets[:-1], part.offsets[1:]
    starts = starts + (data[starts] < ord(".")) if b"-" in part.others or b"+" in part.others else starts
    is_padded = (data[starts] == ord("0")) & (data[starts + 1] - np.uint8(48) < 10) & (ends - starts > 1)
    return bool(is_padded.any())


@cache
def _gap_words() -> Any:
    return pa.array(sorted(GAP_WORDS))


# ---------------------------------------------------------------- cell by cell


def _numbers(distinct: Distinct, spelling: Spelling) -> Typed | None:
    """Return a column of numbers; ``None`` where whole ones have too many digits."""
    found = {cell: number(cell, spelling.decimal, spelling.unit) for cell in distinct.texts}
    example = next((cell for cell, one in found.items() if one and one.is_grouped), distinct.texts[0])
    whole = {cell: int(one.plain) for cell, one in found.items() if one and one.is_whole}
    low, high = min(whole.values(), default=0), max(whole.values(), default=0)
    if len(whole) < len(found) or (distinct.has_gaps and low > -LARGEST and high < LARGEST):
        values = distinct.mapped({cell: one.value for cell, one in found.items() if one}, pa.float64())
    elif low >= -(2**63) and high < 2**63:
        values = distinct.mapped(whole, pa.int64())
    else:
        n_digits = len(str(max(-low, high)))
        if n_digits > _MOST_DIGITS:
            return None
        exact = {cell: decimal.Decimal(value) for cell, value in whole.items()}
        values = distinct.mapped(exact, pa.decimal256(n_digits) if n_digits > 38 else pa.decimal128(n_digits))
    return Typed(values, (spelling, example))


def _near_miss(name: str, cells: Any, values: Any, distinct: list[str], sign: str, line_of: LineOf) -> Typed:
    """Return a column of texts, with a note on the cells that keep it from being numbers or dates."""
    looked_at = list(islice(distinct, _LOOKED_AT))
    numbers = {cell: number(cell, sign, unit_of(cell)) for cell in looked_at}
    others = {"numbers": [cell for cell, one in numbers.items() if one is None]}
    others["dates"] = [cell for cell in looked_at if not is_date(cell)] if others["numbers"] else looked_at
    padded = next((cell for cell, one in numbers.items() if one and one.is_padded), "")
    if not others["numbers"] and padded:
        return Typed(values, padded=padded)
    for what, odd in others.items():
        if odd and 2 * len(odd) < len(looked_at):
            place = f"{'first in ' if len(odd) > 1 else ''}line {line_of(pc.index(cells, odd[0]).as_py())}"
            return Typed(
                values,
                note=FileFormatWarning(
                    f"{name!r} holds {what}, but also {listing(map(shortened, odd), limit=3)} ({place}): "
                    "all were read as text. Correct these cells, or leave them empty."
                ),
            )
    dates = [cell for cell in looked_at if _DATE.fullmatch(cell.strip())]
    measures = [cell for cell in looked_at if any(map(str.isdigit, cell)) and _MEASURE.fullmatch(cell.strip())]
    forms = (("dates", dates, "Write them in the form 2024-12-31."), ("numbers", measures, "Write plain numbers."))
    for what, alike, step in forms:
        example = next((cell for cell in alike if what == "dates" or not numbers[cell]), None)
        if len(looked_at) > 2 and 2 * len(alike) > len(looked_at) and example is not None:
            text = f"{name!r} holds {what} in a form such as {example!r}: they were read as text. {step}"
            return Typed(values, note=FileFormatWarning(text))
    return Typed(values)


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
