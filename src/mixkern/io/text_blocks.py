"""Read a delimited text file block by block as tables of texts: by Arrow where its grammar is that of Python's ``csv``.

A block ends at the end of a row. In a regular block each quote opens a cell directly after a delimiter or closes it
directly before one. All other blocks, and those that Arrow refuses, are read by :class:`mixkern.io.records.Records`,
which returns the same cells or raises an error with the line.

A blank line is no row, except in a table of a single column: there each line is a row, and a blank one has a gap, up to
the last line that is not blank.

Where the types of columns of plain numbers are given, Arrow converts these columns as it reads them, as long as all
their cells are such numbers; the bytes are kept, because one cell in a later block may make texts of a whole column.
"""

import codecs
import csv
import re
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from mixkern.encoding.grammar import GAP_WORDS, POINT
from mixkern.errors import TableFileError
from mixkern.imports import pa, pa_csv, pc
from mixkern.io.columns import plain_numbers
from mixkern.io.dialect import FALLBACK, Dialect, is_cp1252, not_in_encoding
from mixkern.io.records import QUOTE, Records, decoded, not_text
from mixkern.typing import Ints

Types = Mapping[str, Any]
BLOCK = 1 << 22  # bytes
LONGEST_LINE = 1 << 25  # bytes; a row of a million numbers is shorter
MOST_BLANK = 1 << 26  # bytes of blank lines without a row between them
FIELD_SIZE = csv.field_size_limit()
_PIECE = 1 << 17  # bytes that fit into a cache
_NEWLINE, _RETURN = b"\n\r"
# Words that begin as numbers do take time in all cells; columns with them are converted from texts.
_COMMON_GAPS = sorted(word for word in GAP_WORDS if not word.startswith(("1", "-")))
_NONE = np.empty(0, dtype=np.int64)


class LineNumbers:
    """The line at which each row begins, stored only where it does not follow the line of the previous row.

    >>> numbers = LineNumbers()
    >>> numbers.add(np.array([2, 3, 6, 7]))
    >>> [numbers.of(row) for row in range(5)]
    [2, 3, 6, 7, None]
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._offsets: list[int] = []
        self.n_rows = 0  # read so far

    def add(self, lines: Ints) -> None:
        """Store the lines of the next rows."""
        offsets = lines - np.arange(self.n_rows, self.n_rows + len(lines))
        before = self._offsets[-1] if self._offsets else None
        jumps = [i for i in np.flatnonzero(np.diff(offsets, prepend=offsets[:1] - 1)).tolist() if offsets[i] != before]
        self._rows += [self.n_rows + i for i in jumps]
        self._offsets += offsets[jumps].tolist()
        self.n_rows += len(lines)

    def of(self, row: int) -> int | None:
        """Return the line of a row, ``None`` if it has not been read."""
        return row + self._offsets[bisect_right(self._rows, row) - 1] if 0 <= row < self.n_rows else None


class TextBlocks:
    r"""Iterate over the rows of a text file as tables of texts.

    >>> blocks = TextBlocks([b'a,b\n1,"x\n', b'y"\n\n2,z\n'], Dialect("csv"), "a.csv", ["a", "b"])
    >>> [block.to_pylist() for block in blocks]
    [[{'a': '1', 'b': 'x\ny'}, {'a': '2', 'b': 'z'}]]
    >>> [blocks.numbers.of(row) for row in range(2)]
    [2, 5]
    """

    def __init__(
        self, chunks: Iterable[bytes], dialect: Dialect, name: str, names: Sequence[str], types: Types | None = None
    ) -> None:
        self.encoding = dialect.encoding  # changes where a text turns out to be in cp1252
        self.numbers = LineNumbers()
        self.types = types or {}  # of columns that Arrow has converted in all blocks so far
        self._kept = deque[Callable[[], Any]](maxlen=None if types else 0)  # return the texts of each block
        self._dialect, self._name, self._names = dialect, name, names
        self._pieces = self._in_utf8(chunks)
        self._is_last = False
        self._line = 1  # of the next block
        self._n_blank = 0  # bytes since the last row
        self.n_blank_rows = 0  # rows that are blank lines

    def __iter__(self) -> Iterator[Any]:
        data = self._without_header()
        while data or not self._is_last:
            data, blank = self._without_end(data)
            lines, table, rest = (self._fast(data) or self._slow(data)) if data else (_NONE, None, b"")
            n_bytes, rest = len(data) - len(rest), rest + blank
            self._n_blank = 0 if len(lines) else self._n_blank + n_bytes
            if max(self._n_blank, len(blank)) > MOST_BLANK:
                raise TableFileError(
                    f"{self._name}, line {self._line}: there is no row in the {MOST_BLANK >> 20} MB before this line, "
                    "which are blank. Expected a line for each row; save the table again."
                )
            if len(lines):
                self.numbers.add(lines)
                yield table
            data = self._filled(rest, BLOCK if n_bytes else len(rest) + BLOCK)

    def _without_end(self, data: bytes) -> tuple[bytes, bytes]:
        """Divide the bytes before blank lines at their end: in a single column, these are rows if others follow."""
        if len(self._names) > 1:
            return data, b""
        end = len(data.rstrip(b"\r\n"))
        if self._is_last:
            return data[:end], b""
        if end:  # the end of the last line that is not blank
            end += data.startswith(b"\r", end)
            end += data.startswith(b"\n", end)
        return data[:end], data[end:]

    def texts(self) -> Any:
        """Return all rows that were read as a table of texts; they are kept where types were given."""
        return pa.concat_tables([read() for read in self._kept])

    def _in_utf8(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the bytes in UTF-8; a text is in cp1252 if its first letter outside ASCII is none in UTF-8."""
        mark = codecs.BOM_UTF8 if self.encoding == "utf-8-sig" else b""
        is_open = self.encoding == "utf-8"
        decoder = codecs.getincrementaldecoder(self.encoding)()
        for chunk in chain(chunks, [b""]):
            if is_open and not chunk.isascii():
                is_open, self.encoding = False, FALLBACK if is_cp1252(chunk) else self.encoding
                decoder = codecs.getincrementaldecoder(self.encoding)()
            is_utf8 = self.encoding in ("utf-8", "utf-8-sig")
            piece = chunk if is_utf8 else decoder.decode(chunk, final=not chunk).encode()
            piece, mark = piece.removeprefix(mark), b""
            yield piece.replace(b"\r", b"\n") if self._dialect.is_mac else piece

    def _filled(self, rest: bytes, size: int) -> bytes:
        """Return the bytes with more behind them, at least ``size`` in all while there are any."""
        pieces, n_bytes = [rest], len(rest)
        try:
            while n_bytes < size and not self._is_last:
                piece = next(self._pieces, None)
                self._is_last = piece is None
                pieces.append(piece or b"")
                n_bytes += len(pieces[-1])
        except UnicodeDecodeError as error:
            line = self._line + sum(piece.count(b"\n") for piece in pieces)
            raise not_text(error, self.encoding, self._name, line, is_mac=self._dialect.is_mac) from error
        except UnicodeError as error:
            raise not_in_encoding(self._name, self.encoding, error) from error
        data = b"".join(pieces)
        if len(data) > LONGEST_LINE and b"\n" not in data:
            raise TableFileError(
                f"{self._name}, line {self._line}: no end after {len(data.decode(errors='replace')):,} characters. "
                "A table in text has a line for each row; save it again as CSV."
            )
        return data

    def head(self, *, is_cut: bool) -> Records:
        """Return the records of the first chunk, which is all of a file or its beginning."""
        return self._records(self._filled(b"", 1 if is_cut else sys.maxsize))[0]

    def _without_header(self) -> bytes:
        """Return the first bytes after the line of column names."""
        data, header = b"", None
        while not header and not self._is_last:
            data = self._filled(data, len(data) + 1)
            records, tail = self._records(data)
            header = records.header()
        rest = records.rest.encode() + tail
        self._line += data.count(b"\n", 0, len(data) - len(rest))
        return self._filled(rest, 1)

    def _records(self, data: bytes) -> tuple[Records, bytes]:
        """Return the records of the whole lines, and the bytes after them."""
        whole = data if self._is_last else data[: data.rfind(b"\n") + 1]
        text = decoded(whole, self.encoding, self._name, self._line)
        is_cut = not self._is_last and len(data) <= LONGEST_LINE
        return Records(text, self._dialect, self._name, line=self._line, is_cut=is_cut), data[len(whole) :]

    def _slow(self, data: bytes) -> tuple[Ints, Any, bytes]:
        """Return the lines and the cells of the rows, and the bytes after them."""
        records, tail = self._records(data)
        rows = records.rows(len(self._names), is_first=not self.numbers.n_rows)
        columns = list(zip(*rows, strict=True)) or [()] * len(self._names)
        table = pa.table([pa.array(cells, pa.string()) for cells in columns], names=self._names)
        self._kept.append(lambda: table)
        self.types = {}
        rest = records.rest.encode() + tail
        self._line += data.count(b"\n", 0, len(data) - len(rest))
        self.n_blank_rows += records.n_blank
        return np.array(records.lines, dtype=np.int64), table, rest

    def _fast(self, data: bytes) -> tuple[Ints, Any, bytes] | None:
        """Return the same as :meth:`_slow`; ``None`` where a block is not regular, or Arrow refuses it."""
        delimiter = self._dialect.delimiter
        if not delimiter.isascii() or data.startswith(codecs.BOM_UTF8) or b"\0" in data:
            return None
        signs = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(signs == ord(QUOTE)) if b'"' in data else _NONE
        end = len(data) if self._is_last else _last_end(data, quotes)
        if (
            not _is_regular(signs, quotes, ord(delimiter))
            or (b"\r" in data and data.count(b"\r", 0, end) != data.count(b"\r\n", 0, end))
            or (self._is_last and len(quotes) % 2)
            or (len(data) > LONGEST_LINE and not end)
        ):
            return None
        if not end or (data.isspace() and len(self._names) > 1 and not delimiter.isspace()):
            self._line += data.count(b"\n", 0, end)
            return _NONE, None, data[end:]
        read = partial(self._by_arrow, pa.py_buffer(memoryview(data)[:end]), len(quotes) > 0)
        half = FIELD_SIZE // 2
        has_breaks = all(data.find(b"\n", i, i + half) >= 0 for i in range(0, end, half))
        self.types = self._plain_types(signs[:end], has_quotes=len(quotes) > 0) if has_breaks else {}
        try:
            table = self._converted(read)
        except pa.ArrowInvalid:
            return None
        if (len(quotes) or not has_breaks) and max(map(_longest, table.columns)) > FIELD_SIZE:
            return None  # csv has a limit
        self._kept.append(read)
        return self._lines_of(signs[:end], quotes, table.num_rows), table, data[end:]

    def _plain_types(self, signs: Any, *, has_quotes: bool) -> Types:
        """Return the types of columns without leading zeros and hexadecimal numbers, which Arrow reads otherwise."""
        delimiter = ord(self._dialect.delimiter)
        padded = _padded(signs, delimiter) if self.types else _NONE
        if not len(padded):
            return self.types
        if has_quotes:
            return {}
        others = _columns_at(padded, signs, delimiter)
        return {n: self.types[n] for i, n in enumerate(self._names) if n in self.types and i not in others}

    def _lines_of(self, signs: Any, quotes: Ints, n_rows: int) -> Ints:
        """Return the line of each row of a block, and go on to the next block."""
        pieces = (signs[i : i + _PIECE] for i in range(0, len(signs), _PIECE))
        n_breaks, line = sum(int(np.count_nonzero(piece == _NEWLINE)) for piece in pieces), self._line
        self._line += n_breaks
        are_rows = n_rows == n_breaks + (signs[-1] != _NEWLINE)
        if are_rows and len(self._names) > 1:
            return np.arange(line, line + n_rows)
        if not n_rows:
            return _NONE
        lines, is_blank = _lines(signs, np.flatnonzero(signs == _NEWLINE), quotes)
        if len(self._names) > 1:
            return line + lines[~is_blank]
        self.n_blank_rows += int(is_blank.sum())
        return line + lines

    def _converted(self, read: Callable[..., Any]) -> Any:
        """Return the cells of a block, those of columns of plain numbers in their types, the others as texts."""
        if not self.types:
            return read()
        try:
            return read(self.types)
        except pa.ArrowInvalid:
            texts = read()
        floats, signs = pa.float64(), self._dialect.decimals
        found = {n: plain_numbers(texts[n], signs[n], as_floats=self.types[n] == floats) for n in self.types}
        self.types = {n: kind for n, kind in self.types.items() if found[n] is not None and found[n].type == kind}
        for name in self.types:
            texts = texts.set_column(self._names.index(name), name, found[name])
        return texts

    def _by_arrow(self, data: Any, has_quotes: bool, types: Types = MappingProxyType({})) -> Any:
        r"""Return the cells of a block as texts, some columns in other types; without quotes, in two threads.

        The blank lines of a single column are rows, but Arrow loses some of those with "\r\n" between its own blocks.
        """
        is_whole = has_quotes or len(self._names) == 1
        sign = next((self._dialect.decimals[name] for name, kind in types.items() if kind == pa.float64()), POINT)
        return pa_csv.read_csv(
            data,
            pa_csv.ReadOptions(column_names=self._names, block_size=data.size + 1 if is_whole else BLOCK // 2),
            pa_csv.ParseOptions(
                delimiter=self._dialect.delimiter,
                newlines_in_values=has_quotes,
                ignore_empty_lines=len(self._names) > 1,
            ),
            pa_csv.ConvertOptions(
                column_types={**dict.fromkeys(self._names, pa.string()), **types},
                null_values=_COMMON_GAPS,
                strings_can_be_null=False,
                decimal_point=sign,
            ),
        )


def _is_regular(signs: Any, quotes: Ints, delimiter: int) -> bool:
    """Return whether each quote opens a cell after a delimiter or closes one before it, or is one of two in a cell."""
    if not len(quotes):
        return True
    opening, closing, last = quotes[::2], quotes[1::2], len(signs) - 1
    before = signs[opening - 1]
    is_open = (opening == 0) | (before == delimiter) | (before == _NEWLINE)
    is_open[1:] |= opening[1:] == closing[: len(opening) - 1] + 1
    after = signs[np.minimum(closing + 1, last)]
    is_closed = (closing == last) | np.isin(after, (delimiter, _NEWLINE, _RETURN, ord(QUOTE)))
    return bool(is_open.all() and is_closed.all())


def _last_end(data: bytes, quotes: Ints) -> int:
    """Return the end of the last line that ends outside quotes, 0 where there is none."""
    end = data.rfind(b"\n")
    while end >= 0 and (n_before := int(np.searchsorted(quotes, end))) % 2:
        end = data.rfind(b"\n", 0, quotes[n_before - 1])
    return end + 1


def _lines(signs: Any, breaks: Ints, quotes: Ints) -> tuple[Ints, Any]:  # (n,), (n,)
    """Return the number of lines before each row or blank line, and which of them are blank."""
    ends = breaks[np.searchsorted(quotes, breaks) % 2 == 0]
    ends = ends if signs[-1] == _NEWLINE else np.append(ends, len(signs))
    starts = np.append(0, ends[:-1] + 1)
    return np.searchsorted(breaks, starts), ends - starts <= (signs[starts] == _RETURN)


def _longest(cells: Any) -> int:
    return pc.max(pc.binary_length(cells)).as_py() or 0 if pa.types.is_string(cells.type) else 0


def _padded(signs: Any, delimiter: int) -> Ints:  # (n,)
    """Return where a cell may begin with a zero and another digit, or the x of a hexadecimal number, after a sign."""
    found = []
    for i in range(0, len(signs), _PIECE):
        part = signs[i : i + _PIECE + 2]
        before, zeros, after = part[:-2], part[1:-1], part[2:]
        is_start = before < ord(".") if delimiter < ord(".") else (before < ord(".")) | (before == delimiter)
        found.append(i + np.flatnonzero((zeros == ord("0")) & (after >= ord("0")) & is_start))
    at = np.concatenate(found)
    second, starts = signs[at + 2], (delimiter, _NEWLINE, ord(QUOTE))
    is_padded = (second - np.uint8(ord("0")) < 10) | (second | 32 == ord("x"))
    is_signed = np.isin(signs[at], list(b" \t+-")) & np.isin(signs[at - 1], (*starts, *b" \t"))
    at = at[is_padded & (is_signed | np.isin(signs[at], starts))] + 1
    return np.append(0, at) if re.match(rb'"?[ \t]*[+-]?0[0-9xX]', signs[:9].tobytes()) else at


def _columns_at(places: Ints, signs: Any, delimiter: int) -> set[int]:
    """Return the columns of some places in lines without quotes."""
    delimiters, breaks = (np.flatnonzero(signs == sign) for sign in (delimiter, _NEWLINE))
    starts = np.append(0, breaks + 1)[np.searchsorted(breaks, places)]
    return set((np.searchsorted(delimiters, places) - np.searchsorted(delimiters, starts)).tolist())
