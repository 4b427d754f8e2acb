"""Open a table in a file: the column names at once, the rows when they are read."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from mixkern.encoding.column import Column
from mixkern.errors import FileFormatWarning, OptionError, TableFileError
from mixkern.imports import optional
from mixkern.io.source import FIRST, PARQUET, Progress, TableSource, no_table
from mixkern.validation import one_of

N_ROWS = 50_000  # of a block


class TableFile(ABC):
    r"""A table in a file, opened by :func:`mixkern.io.table_file`.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    columns : tuple of str
        Names of the columns, in the order of the file.
    notes : tuple of FileFormatWarning
        Signs, encodings and columns that could have been read in another way. Some are found only while rows are read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mixkern.encoding import TableEncoder
    >>> from mixkern.io import table_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("age;town;churn\n20,5;Kassel;no\n40,5;Passau;\n;Kassel;yes\n")
    ...     file = table_file(path)
    ...     frame = file.frame(text=["churn"])
    ...     encoder = TableEncoder().fit(frame[["age", "town"]])
    ...     kinds = {column.name: column for column in encoder.columns_}
    ...     blocks = [block for block in file.blocks(kinds, n_rows=2, text=["churn"])]
    >>> file.columns, file.line_of(2)
    (('age', 'town', 'churn'), 4)
    >>> frame
        age    town churn
    0  20.5  Kassel    no
    1  40.5  Passau  None
    2   NaN  Kassel   yes
    >>> [len(block) for block in blocks]
    [2, 1]
    """

    def __init__(self, name: str, columns: tuple[str, ...], notes: tuple[FileFormatWarning, ...] = ()) -> None:
        self.name = name
        self.columns = columns
        self._notes = list(notes)

    @property
    def notes(self) -> tuple[FileFormatWarning, ...]:
        """Signs, encodings and columns that could have been read in another way."""
        return tuple(self._notes)

    @property
    def decimals(self) -> dict[str, str]:
        """The decimal sign of each column of a text file; empty for other files."""
        return {}

    @abstractmethod
    def frame(
        self,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        kinds: Mapping[str, Column] | None = None,
    ) -> Any:
        """Read all rows.

        Parameters
        ----------
        text : collection of str, default=()
            Columns of labels: their cells stay texts, ``None`` where they are empty.
        on_progress : callable, default=None
            Called with the number of bytes read and the number in all, which is ``None`` for a pipe.
        kinds : mapping from str to Column, default=None
            Fitted columns, as in :meth:`blocks`; without it, each column gets the narrowest type that fits its cells.

        Returns
        -------
        pandas.DataFrame
            With the columns ``columns``; the index begins with 0.
        """

    @abstractmethod
    def blocks(
        self,
        kinds: Mapping[str, Column],
        n_rows: int = N_ROWS,
        text: Collection[str] = (),
        on_progress: Progress | None = None,
        *,
        with_texts: bool = False,
    ) -> Iterator[Any]:
        """Read rows block by block, without holding all of them in memory.

        A row is read in the same way in any block, because ``kinds`` determines the type of each column.

        Parameters
        ----------
        kinds : mapping from str to ContinuousColumn or CategoricalColumn
            The fitted columns of an encoder (``TableEncoder.columns_``) by their names. Other columns stay texts.
        n_rows : int, default=50_000
            Rows of a block; the last may have fewer.
        text : collection of str, default=()
            Columns that stay texts, even if they are in ``kinds``.
        on_progress : callable, default=None
            Called with the number of bytes read and the number in all, which is ``None`` for a pipe.
        with_texts : bool, default=False
            Whether to yield each block twice: converted, and with the texts of the file, to be written again.

        Yields
        ------
        pandas.DataFrame, or two of them
            The index continues from block to block.
        """

    def line_of(self, row: int) -> int | None:  # noqa: ARG002
        """Return the line at which a row begins, ``None`` for files without lines and rows that were not read yet."""
        return None

    def _note(self, note: FileFormatWarning) -> None:
        """Add a note, once."""
        if str(note) not in map(str, self._notes):
            self._notes.append(note)


def pandas() -> Any:
    """Return the module pandas."""
    return optional("pandas", purpose="Reading a table from a file")


def frame_of(cells: Mapping[str, Any], start: int, n_rows: int) -> Any:
    """Return a frame whose index begins with ``start``; each column keeps its type."""
    index = pandas().RangeIndex(start, start + n_rows)
    # As series, because pandas converts arrays of texts and None to another type.
    series = {name: pandas().Series(values, index=index, dtype=values.dtype) for name, values in cells.items()}
    return pandas().DataFrame(series)


def checked_rows(n_rows: int) -> int:
    """Return the number of rows of a block, which must be positive."""
    if n_rows < 1:
        raise OptionError(f"A block must have at least 1 row, but n_rows is {n_rows}.")
    return n_rows


def no_rows(name: str) -> TableFileError:
    """Return the error about a file that has column names and no rows."""
    return TableFileError(f"{name} has a line of column names, but no rows. Expected a line for each row.")


class Format(StrEnum):
    """File formats of tables."""

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
    r"""Open a table in a file: delimited text such as CSV, or Parquet, compressed or not.

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
        Encoding of the text; ``None`` is UTF-8, or the encoding of a byte order mark.
    format : {"csv", "tsv", "parquet"}, default=None
        Format of the file; ``None`` detects Parquet from the bytes, and takes other files for text.
    gaps : collection of str, default=()
        Texts of cells that are gaps, such as "-999", in addition to empty cells, NA, null and similar ones.

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
    ...     table_file(path).frame()
        age    town
    0  31.5  Kassel
    1  47.0  Passau
    """
    # Imported here, because these modules import TableFile.
    from mixkern.io.delimited import delimited_file
    from mixkern.io.parquet import ParquetTable

    how = one_of(Format, format, "format") if format is not None else None
    source = TableSource(path)
    first = source.peek(FIRST)
    if how is Format.PARQUET or (how is None and first.startswith(PARQUET)):
        return ParquetTable(source, gaps)
    if what := no_table(first):
        raise TableFileError(f"{source.name} looks like {what}.")
    if how is Format.TSV and delimiter is None:
        delimiter = "tab"
    return delimited_file(source, delimiter=delimiter, decimal=decimal, encoding=encoding, gaps=gaps)
