"""Open tables in files, and read them whole."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from mixkern.encoding.raw_column import Coded
from mixkern.errors import FileFormatWarning, OptionError, TableFileError, issue
from mixkern.imports import optional, pa
from mixkern.io.arrow_file import ArrowFile
from mixkern.io.blocks import DelimitedFile, TableFile, no_rows
from mixkern.io.dialect import N_LOOKED_AT, Dialect, HeaderLine, dialect_of, header_line, with_decimals
from mixkern.io.excel import ExcelFile, is_workbook
from mixkern.io.source import CHUNK, FIRST, MAGIC, NOT_TABLES, TableSource, recognised
from mixkern.io.text_blocks import TextBlocks
from mixkern.validation import one_of
from mixkern.wording import counted, listing

LARGEST_HEAD = 1 << 25  # bytes: a header and a row of a million columns
_BLANK = b"\r\n\t \xef\xbb\xbf"


class Format(StrEnum):
    """File formats of tables."""

    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    ARROW = "arrow"


def table_file(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | Mapping[str, str] | None = None,
    encoding: str | None = None,
    format: str | None = None,  # noqa: A002
    gaps: Collection[str] = (),
    sheet: str | None = None,
    like: Dialect | None = None,
) -> TableFile:
    """Open a table in a file. Only its beginning is read, to detect how it is written where no option is given.

    The parameters are those of :func:`mixkern.read_table`, and ``like``: how another table of the same kind is written.
    Its delimiter is tried first, and its encoding where the bytes are not UTF-8.
    """
    how = one_of(Format, format, "format") if format is not None else None
    source = TableSource(path)
    if how is None and is_workbook(source):
        return ExcelFile(source, sheet, gaps, decimal)
    if sheet is not None:
        raise OptionError(f"{source.name} has no sheets, because it is no Excel file (.xlsx). Leave out the sheet.")
    first = source.peek(FIRST)
    found = how or next((Format(kind) for kind, magic in MAGIC.items() if first.startswith(magic)), None)
    if found in (Format.PARQUET, Format.ARROW):
        return ArrowFile(source, found.value, gaps)
    if what := recognised(first, NOT_TABLES):
        raise TableFileError(f"{source.name} looks like {what}.")
    if how is Format.TSV and delimiter is None:
        delimiter = "tab"
    return _delimited_file(source, decimal, gaps, delimiter=delimiter, encoding=encoding, like=like)


def _delimited_file(
    source: TableSource, decimal: str | Mapping[str, str] | None, gaps: Collection[str], **how: Any
) -> DelimitedFile:
    """Open a text file: detect its dialect, its column names and its decimal signs from its first bytes."""
    size = CHUNK
    head = source.peek(size)
    if not head.strip(_BLANK):
        raise TableFileError(f"{source.name} is empty. Expected a line of column names, and a line for each row.")
    dialect = dialect_of(head, source.name, **how)
    header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    while not rows and len(head) == size < LARGEST_HEAD:
        size *= 4
        head = source.peek(size)
        header, rows = _start(head, dialect, source.name, is_cut=len(head) == size)
    if header is None or not rows:
        raise no_rows(source.name)
    columns = list(zip(*rows, strict=True))
    return DelimitedFile(source, with_decimals(dialect, header.names, columns, decimal), header, rows, gaps)


def _start(head: bytes, dialect: Dialect, name: str, *, is_cut: bool) -> tuple[HeaderLine | None, list[list[str]]]:
    """Return the header and the first rows, as far as the bytes hold them."""
    records = TextBlocks([head], dialect, name, ()).head(is_cut=is_cut)
    record = records.header()
    if not record:
        return None, []
    header = header_line(record, records.line - 1, name)
    rest = records.rest
    is_blank = not rest.strip("\r\n") or (len(record) > 1 and rest.isspace() and not dialect.delimiter.isspace())
    if is_blank and (not is_cut or len(rest) > CHUNK // 2):
        raise no_rows(name, " in the MB after it" if is_cut else "")
    return header, records.rows(len(record), N_LOOKED_AT)


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table that was read from a file by :func:`mixkern.read_table`.

    Attributes
    ----------
    name : str
        Name of the file.
    arrow : pyarrow.Table
        The columns, each in the narrowest type that fits its cells; gaps are null.
    notes : tuple of FileFormatWarning
        Signs, encodings and columns that could have been read in another way.
    dialect : Dialect
        How the file is written: format, delimiter, encoding, line ends, decimal sign of each column.
    """

    name: str
    arrow: Any
    notes: tuple[FileFormatWarning, ...]
    dialect: Dialect

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.arrow.column_names)

    @cached_property
    def frame(self) -> Any:
        """The table as a pandas frame; where pandas is not installed, ``arrow``."""
        try:
            return pandas_frame(self.arrow)
        except ImportError:
            return self.arrow

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __repr__(self) -> str:
        how = self.dialect
        read = f"{how.format}, {how.encoding}, delimited by {how.delimiter_name}" if how.format == "csv" else how.format
        lines = [
            f"Table of {counted(len(self), 'row')} and {counted(len(self.columns), 'column')}: {self.name}",
            f"  read as {read}",
            f"  columns: {listing(self.columns)}",
            *(f"  note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)


def read_table(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | Mapping[str, str] | None = None,
    encoding: str | None = None,
    format: str | None = None,  # noqa: A002
    gaps: Collection[str] = (),
    sheet: str | None = None,
    text: Collection[str] = (),
) -> Table:
    r"""Read a table from a file: delimited text such as CSV, compressed or not, Parquet, Arrow IPC or Excel (.xlsx).

    How it is written is detected, as by the commands of the tool.

    Parameters
    ----------
    path : str or Path
        The file; ``"-"`` is standard input. Compression (gzip, bzip2, xz, zip with one file, zstd) is detected from
        the bytes, not from the name.
    delimiter : str, default=None
        The character between fields, or "comma", "semicolon", "tab", "pipe" or "space"; ``None`` detects it.
    decimal : {".", ","} or mapping of str, default=None
        The decimal sign of all columns, or of those in a mapping as far as the first rows can be read with it; ``None``
        detects it.
    encoding : str, default=None
        Encoding of the text; ``None`` is the encoding of a byte order mark, or UTF-8, or cp1252 where the first letter
        outside ASCII is none in UTF-8.
    format : {"csv", "tsv", "parquet", "arrow"}, default=None
        Format of the file; ``None`` detects Parquet and Arrow IPC (Feather) from the bytes, and takes other files for
        text.
    gaps : collection of str, default=()
        Texts of cells that are gaps, such as "-999", in addition to empty cells, NA, null and similar ones.
    sheet : str, default=None
        Sheet of an Excel file; ``None`` is the first one.
    text : collection of str, default=()
        Columns whose cells stay texts, such as labels that are numbers.

    Returns
    -------
    Table

    Raises
    ------
    TableFileError
        If the file is no table; the message names the line and the next step.
    OptionError
        For an invalid option.

    Warns
    -----
    FileFormatWarning
        For each of the table's notes: signs, encodings and columns that could have been read in another way.

    Examples
    --------
    >>> import tempfile, warnings
    >>> from mixkern import read_table
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;town\n31,5;Kassel\n47;Passau\n")
    ...     table = read_table(path)
    >>> table
    Table of 2 rows and 2 columns: people.csv
      read as csv, utf-8, delimited by a semicolon
      columns: 'age', 'town'
      note: Decimal commas were found: 31,5 is read as 31.5. If the comma is no decimal sign: decimal='.'.
    >>> table.frame
        age    town
    0  31.5  Kassel
    1  47.0  Passau
    """
    how: dict[str, Any] = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding, "format": format}
    file = table_file(path, gaps=gaps, sheet=sheet, **how)
    table = Table(file.name, file.table(text), file.notes, file.dialect)
    for note in table.notes:
        issue(note)
    return table


def pandas_frame(table: Any, start: int = 0) -> Any:
    """Return an Arrow table as a pandas frame whose index begins with ``start``; texts are objects, gaps ``None``."""
    pandas = optional("pandas", purpose="A pandas frame")
    index = pandas.RangeIndex(start, start + table.num_rows)
    series = {}
    for name, cells in zip(table.column_names, table.columns, strict=True):
        kind = cells.type
        is_object = pa.types.is_string(kind) or pa.types.is_decimal(kind) or pa.types.is_large_string(kind)
        if is_object or (cells.null_count and (pa.types.is_boolean(kind) or pa.types.is_integer(kind))):
            values = pandas.Series(_objects(cells), index=index, dtype=object)
        else:
            values = cells.to_pandas().set_axis(index)
        series[name] = values
    return pandas.DataFrame(series, index=index)


def _objects(cells: Any) -> Any:
    """Return cells as Python objects, gaps as ``None``; equal cells are one object."""
    coded = Coded.of_arrow(cells)
    if pa.types.is_decimal(cells.type):
        coded = coded.mapped(lambda cell: int(cell) if cell == int(cell) else cell)
    return coded.taken(coded.distinct, None, object)
