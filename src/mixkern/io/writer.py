"""Write tables to files, block by block: delimited text as it was read, Parquet, Arrow."""

import bz2
import codecs
import gzip
import lzma
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial, reduce
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mixkern.defaults import STANDARD_OUTPUT
from mixkern.encoding.grammar import COMMA, POINT
from mixkern.errors import TableFileError, hint
from mixkern.imports import optional, pa, pc
from mixkern.io.dialect import Dialect
from mixkern.whole_file import whole_file

TEXTS = {".csv": ",", ".txt": "\t", ".tsv": "\t", ".tab": "\t"}  # delimiter of a table that was not read from text
TABS = (".tsv", ".tab")
PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather")
PACKED: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file, mode="wb", mtime=0),  # equal tables give equal files
    ".bz2": partial(bz2.open, mode="wb"),
    ".xz": partial(lzma.open, mode="wb"),
}
N_ROWS, N_BYTES = 50_000, 1 << 28  # most rows and bytes that are joined to one text

Write = Callable[[Any], None]


@contextmanager
def table_writer(path: str | Path, dialect: Dialect | None = None) -> Iterator[Write]:
    """Open a table file to be written in blocks of rows; it appears at the end, and not after an error.

    Parameters
    ----------
    path : str or Path
        Ends with .csv, .tsv, .parquet or .arrow; .csv and .tsv may be followed by .gz, .bz2 or .xz. "-" is standard
        output, as text. Numbers have as many digits as it takes to read the same ones again.
    dialect : Dialect, default=None
        How a text file is written, as ``TableFile.dialect``; ``None`` is UTF-8 with commas. A name that ends with
        .tsv has tabs in any dialect.

    Yields
    ------
    callable
        Takes a pyarrow.Table; all must have the same columns.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with table_writer(f"{folder}/a.csv") as write:
    ...         write(pa.table({"x": [1, 2]}))
    ...         write(pa.table({"x": [3]}))
    ...     Path(f"{folder}/a.csv").read_text().split()
    ['x', '1', '2', '3']
    """
    write_to, pack = _format(path, dialect)
    if str(path) == STANDARD_OUTPUT:
        sys.stdout.flush()
        with write_to(sys.stdout.buffer) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    if not Path(path).absolute().parent.is_dir():
        folder = str(Path(path).parent)
        raise TableFileError(f"{Path(path).name} cannot be written: there is no folder {folder!r}. Create it.")
    try:
        with whole_file(Path(path)) as file, pack(file) as packed, write_to(packed) as write:
            yield write
    except BrokenPipeError:
        raise
    except OSError as error:
        raise TableFileError(f"{Path(path).name} cannot be written: {error.strerror or error}.") from error


def has_types(path: str | Path) -> bool:
    """Return whether a file keeps the types of columns, by its name: Parquet and Arrow do, text does not."""
    return Path(path).suffix.lower() in PARQUET + ARROW


def _format(path: str | Path, dialect: Dialect | None) -> tuple[Callable[[Any], Any], Callable[[BinaryIO], Any]]:
    """Return the writer and the compression for the ending of a name."""
    name = Path("out.csv" if str(path) == STANDARD_OUTPUT else str(path).lower())
    pack = PACKED.get(name.suffix, nullcontext)
    kind = Path(name.stem).suffix if name.suffix in PACKED else name.suffix
    if name.suffix in PARQUET + ARROW:
        return partial(_typed, is_parquet=kind in PARQUET), nullcontext
    if kind not in TEXTS:
        raise TableFileError(
            f"{Path(path).name!r} does not end like a table: use .csv, .tsv, .parquet or .arrow; .csv and .tsv may "
            f"have {', '.join(PACKED)} behind them."
        )
    if dialect is None or dialect.format != "csv":
        dialect = Dialect("csv", TEXTS[kind])
    delimiter = TEXTS[kind] if kind in TABS else dialect.delimiter
    return lambda file: nullcontext(_Text(file, delimiter, dialect)), pack


@contextmanager
def _typed(file: Any, *, is_parquet: bool) -> Iterator[Write]:
    """Write Parquet or Arrow IPC; the first block decides the types, where a column without values is text."""
    new = optional("pyarrow.parquet", purpose="A Parquet file").ParquetWriter if is_parquet else pa.ipc.new_file
    opened: list[Any] = []

    def write(table: Any) -> None:
        try:
            if not opened:
                types = [pa.string() if pa.types.is_null(each.type) else each.type for each in table.schema]
                schema = pa.schema(zip(table.column_names, types, strict=True))
                opened[:] = stack.enter_context(new(file, schema)), schema
            opened[0].write_table(table.cast(opened[1]))
        except pa.ArrowException as error:
            reason = str(error).splitlines()[0].rstrip(".")
            name = "Parquet" if is_parquet else "Arrow"
            raise TableFileError(f"The table cannot be written as {name}: {reason}. Write a .csv file.") from error

    with ExitStack() as stack:  # after an error too: otherwise it would be closed after the file, with another error
        yield write


class _Text:
    """Write tables as delimited text; the numbers of typed columns have the decimal sign of most columns."""

    def __init__(self, file: Any, delimiter: str, dialect: Dialect) -> None:
        self._file, self._delimiter, self._dialect = file, delimiter, dialect
        signs = list(dialect.decimals.values())
        self._sign = COMMA if 2 * signs.count(COMMA) > len(signs) else POINT
        self._encoding = dialect.encoding if dialect.has_mark else dialect.encoding.removesuffix("-sig")
        self._encoder = codecs.getincrementalencoder(self._encoding)()  # writes a byte order mark once
        self._is_first = True

    def __call__(self, table: Any) -> None:
        """Write a block of rows; before the first one, the names of the columns."""
        if self._is_first:
            self._write([f"sep={self._delimiter}"] * self._dialect.n_skipped)  # a line for Excel
            self._write(self._lines([pa.array([name]) for name in table.column_names]))
        self._is_first = False
        n_rows = max(1, min(N_ROWS, N_BYTES * len(table) // max(1, table.nbytes)))
        for start in range(0, len(table), n_rows):
            self._write(self._lines([self._texts(column) for column in table.slice(start, n_rows).columns]))

    def _write(self, lines: Any) -> None:
        """Write lines; each gets an end."""
        ended = pa.concat_arrays([pa.array(lines, pa.string()), pa.array([""])])
        text = pc.binary_join(
            pa.ListArray.from_arrays(pa.array([0, len(ended)], pa.int32()), ended), self._dialect.line_end
        )
        if self._encoding == "utf-8":
            self._file.write(text[0].as_buffer())
            return
        try:
            self._file.write(self._encoder.encode(text[0].as_py()))
        except UnicodeEncodeError as error:
            raise TableFileError(
                f"The table cannot be written in {self._encoding}, which has no {error.object[error.start]!r}.",
                hint=hint(python="Give a dialect with encoding='utf-8'.", cli="Add: --output-encoding utf-8"),
            ) from error

    def _lines(self, columns: list[Any]) -> Any:
        """Join the fields of each row."""
        if self._dialect.has_spaces:
            columns = [*columns[:1], *map(_spaced, columns[1:])]
        fields = [self._quoted(texts) for texts in columns]
        if len(fields) == 1:  # an empty line is no row
            fields = [pc.if_else(pc.equal(fields[0].fill_null(""), ""), '""', fields[0])]
        return pc.binary_join_element_wise(*fields, self._delimiter, null_handling="replace")

    def _quoted(self, texts: Any) -> Any:
        """Put fields into quotes that hold a delimiter, a quote or a line end."""
        _, offsets, content = texts.buffers()
        first, last = np.frombuffer(offsets, np.int32)[[texts.offset, texts.offset + len(texts)]]
        raw = content.slice(first, last - first).to_pybytes() if content else b""
        found = [mark for mark in (self._delimiter, '"', "\n", "\r") if mark.encode() in raw]  # mostly none
        if not found:
            return texts
        is_special = reduce(pc.or_, (pc.match_substring(texts, mark) for mark in found))
        doubled = pc.replace_substring(texts, '"', '""')
        return pc.if_else(is_special, pc.binary_join_element_wise('"', doubled, '"', ""), texts)

    def _texts(self, column: Any) -> Any:
        """Return a column as one array of texts, with nulls for gaps."""
        cells = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if pa.types.is_floating(cells.type):
            texts = _numbers(cells)
            return texts if self._sign == POINT else pc.replace_substring(texts, POINT, self._sign)
        if pa.types.is_boolean(cells.type):
            return pc.if_else(cells, "True", "False")
        if pa.types.is_timestamp(cells.type):
            return _moments(cells)
        try:
            if not pa.types.is_duration(cells.type):  # Arrow's text has no unit
                return pc.cast(cells, pa.string())
        except pa.ArrowException:  # lists, bytes that are no text
            pass
        return pa.array([None if cell is None else str(cell) for cell in cells.to_pylist()], pa.string())


def _spaced(texts: Any) -> Any:
    """Put a space before each text that has none."""
    is_spaced = pc.or_(pc.starts_with(texts, " "), pc.equal(texts, ""))
    return pc.if_else(is_spaced, texts, pc.binary_join_element_wise(" ", texts, ""))


def _numbers(cells: Any) -> Any:
    """Return floats as Python writes them: Arrow has the same digits, and quickly, but other exponents."""
    texts = pc.cast(cells, pa.string())
    if cells.type != pa.float64():
        cells = pc.cast(texts, pa.float64())  # 0.1 in 32 bits is written as 0.1
    values = cells.to_numpy(zero_copy_only=False)
    is_gap, size = np.isnan(values), np.abs(values)
    is_other = ~is_gap & ((size < 1e-4) | (size >= 1e10) | (values == np.trunc(values)))
    if is_other.any():
        spelled = pa.array([repr(value) for value in values[is_other].tolist()])
        texts = pc.replace_with_mask(texts, pa.array(is_other), spelled)
    return pc.if_else(pa.array(is_gap), None, texts) if is_gap.any() else texts


def _moments(cells: Any) -> Any:
    """Return dates and times, without decimals of seconds and times of the day that are zero in all cells."""
    texts = pc.replace_substring_regex(pc.cast(cells, pa.string()), "Z$", "+0000")
    for zeros in (r"\.0+(\+....|-....|)$", " 00:00:00()$"):
        if pc.all(pc.match_substring_regex(texts, zeros)).as_py():
            texts = pc.replace_substring_regex(texts, zeros, r"\1")
    return pc.replace_substring_regex(texts, r"([+-]\d\d)(\d\d)$", r"\1:\2")  # as in ISO 8601
