"""Open tables in files, and read them whole."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mixkern.errors import FileFormatWarning, OptionError, TableFileError, issue
from mixkern.imports import OnDemand, optional
from mixkern.io.arrow_file import ArrowFile
from mixkern.io.blocks import TableFile
from mixkern.io.delimited import delimited_file
from mixkern.io.dialect import Dialect
from mixkern.io.excel import ExcelFile, is_workbook
from mixkern.io.source import FIRST, MAGIC, TableSource, no_table
from mixkern.validation import one_of
from mixkern.wording import counted, listing

pa: Any = OnDemand("pyarrow", purpose="A table in a file")


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
    r"""Open a table in a file: delimited text such as CSV, compressed or not, Parquet, Arrow IPC or Excel (.xlsx).

    Only the beginning of the file is read, to detect how it is written where no option is given.

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
    like : Dialect, default=None
        How another table of the same kind is written: its delimiter is tried first, and its encoding where the bytes
        are not UTF-8.

    Returns
    -------
    TableFile

    Raises
    ------
    TableFileError
        If the file is no table; the message names the line and the next step.
    OptionError
        For an invalid option.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;town\n31,5;Kassel\n47;Passau\n")
    ...     table_file(path).table().to_pydict()
    {'age': [31.5, 47.0], 'town': ['Kassel', 'Passau']}
    """
    how = one_of(Format, format, "format") if format is not None else None
    source = TableSource(path)
    if how is None and is_workbook(source):
        return ExcelFile(source, sheet, gaps)
    if sheet is not None:
        raise OptionError(f"{source.name} has no sheets, because it is no Excel file (.xlsx). Leave out the sheet.")
    first = source.peek(FIRST)
    found = how or next((Format(kind) for kind, magic in MAGIC.items() if first.startswith(magic)), None)
    if found in (Format.PARQUET, Format.ARROW):
        return ArrowFile(source, found.value, gaps)
    if what := no_table(first):
        raise TableFileError(f"{source.name} looks like {what}.")
    if how is Format.TSV and delimiter is None:
        delimiter = "tab"
    return delimited_file(source, delimiter=delimiter, decimal=decimal, encoding=encoding, gaps=gaps, like=like)


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
    r"""Read a table from a file as the commands of the tool do: how it is written is detected.

    Parameters
    ----------
    path, delimiter, decimal, encoding, format, gaps, sheet
        As in :func:`mixkern.io.table_file`.
    text : collection of str, default=()
        Columns whose cells stay texts, such as labels that are numbers.

    Returns
    -------
    Table

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
    chunks = cells.dictionary_encode().unify_dictionaries().chunks
    words = chunks[0].dictionary.to_pylist() if chunks else []
    if pa.types.is_decimal(cells.type):
        words = [int(word) if word == int(word) else word for word in words]
    values = np.empty(len(words) + 1, dtype=object)
    values[:-1] = words
    return values[np.concatenate([chunk.indices.fill_null(len(words)).to_numpy() for chunk in chunks])]
