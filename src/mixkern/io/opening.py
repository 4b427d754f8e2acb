"""From a path to a table in a file."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from pathlib import Path

from mixkern.errors import TableFileError
from mixkern.io.delimited import delimited_file
from mixkern.io.parquet import ParquetTable
from mixkern.io.signature import PARQUET, no_table
from mixkern.io.source import Source
from mixkern.io.table_file import TableFile
from mixkern.validation import one_of

_FIRST = 512  # bytes that tell what a file is


class Format(StrEnum):
    """How tables are stored."""

    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


def table_file(
    path: str | Path,
    *,
    delimiter: str | None = None,
    decimal: str | Mapping[str, str] | None = None,
    encoding: str | None = None,
    format: str | None = None,  # noqa: A002
    gaps: Collection[str] = (),
) -> TableFile:
    r"""Open a table in a file: CSV and its kin, or Parquet; compressed or not.

    Only the head of the file is read. It tells how the file is written, unless an option does.

    Parameters
    ----------
    path : str or Path
        The file; ``"-"`` is standard input. Compression (gzip, bzip2, xz, zip with one file, zstd) is found from the
        bytes, whatever the name.
    delimiter : str, default=None
        What separates fields: one character, or "comma", "semicolon", "tab", "pipe" or "space".
    decimal : {".", ","} or mapping of str, default=None
        The sign before decimals: in all columns, or in those that a mapping names, as far as the first rows can be
        read so; ``None`` is what is found.
    encoding : str, default=None
        How text is encoded; ``None`` is UTF-8, or what a byte order mark says.
    format : {"csv", "tsv", "parquet"}, default=None
        How the table is stored; ``None`` is Parquet where the bytes say so, else text.
    gaps : collection of str, default=()
        Cells that say that nothing is known, such as "-999", besides empty ones, NA, null and their kin.

    Returns
    -------
    TableFile

    Raises
    ------
    TableFileError
        Where there is no table: the error names the line, and what to do.
    OptionError
        For an option that cannot be.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;town\n31,5;Kassel\n47;Passau\n")
    ...     table_file(path).frame()
        age    town
    0  31.5  Kassel
    1  47.0  Passau
    """
    how = one_of(Format, format, "format") if format is not None else None
    source = Source(path)
    first = source.look(_FIRST)
    if how is Format.PARQUET or (how is None and first.startswith(PARQUET)):
        return ParquetTable(source, gaps)
    if what := no_table(first):
        raise TableFileError(f"{source.name} looks like {what}.")
    if how is Format.TSV and delimiter is None:
        delimiter = "tab"
    return delimited_file(source, delimiter=delimiter, decimal=decimal, encoding=encoding, gaps=gaps)
