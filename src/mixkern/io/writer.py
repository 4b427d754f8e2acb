"""Tables as files, written block by block: whole at the end, or not there."""

import bz2
import csv
import gzip
import lzma
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from mixkern.errors import TableFileError
from mixkern.imports import optional
from mixkern.io.atomic import whole_file

STANDARD_OUTPUT = "-"
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
PARQUET = (".parquet", ".pq")
PACKED: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file, mode="wb", mtime=0),  # equal tables give equal files
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}

Write = Callable[[Any], None]


@contextmanager
def table_writer(path: str | Path) -> Iterator[Write]:
    """Open a table to be written in blocks of rows; it appears at the end, and not at all if something fails.

    Parameters
    ----------
    path : str or Path
        Ends with .csv, .tsv or .parquet, text with .gz, .bz2 or .xz behind it; "-" is standard output, as CSV. Numbers
        have as many digits as it takes to read the same ones again.

    Yields
    ------
    callable
        Takes a pandas frame, the same columns in each; its index is not written.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with table_writer(f"{folder}/a.csv") as write:
    ...         write(pd.DataFrame({"x": [1, 2]}))
    ...         write(pd.DataFrame({"x": [3]}))
    ...     Path(f"{folder}/a.csv").read_text().split()
    ['x', '1', '2', '3']
    """
    write_to, pack = _format(path)
    if str(path) == STANDARD_OUTPUT:
        sys.stdout.flush()
        with write_to(sys.stdout.buffer) as write:
            yield write
        sys.stdout.buffer.flush()
        return
    try:
        with (
            whole_file(Path(path)) as file,
            nullcontext(file) if pack is None else pack(file) as packed,
            write_to(packed) as write,
        ):
            yield write
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise TableFileError(f"{Path(path).name} cannot be written: {error.strerror or error}.") from error


def _format(path: str | Path) -> tuple[Callable[[Any], Any], Callable[[BinaryIO], Any] | None]:
    """Tell from the end of a name how a table is written."""
    if str(path) == STANDARD_OUTPUT:
        return lambda file: _text(file, ","), None
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    pack = PACKED.get(suffixes[-1]) if suffixes else None
    kind = (suffixes[-2:-1] if pack else suffixes[-1:]) or [""]
    if kind[0] in PARQUET and pack is None:
        return _parquet, None
    if kind[0] not in DELIMITERS:
        raise TableFileError(
            f"{Path(path).name!r} does not end like a table: use .csv, .tsv or .parquet; .csv and .tsv may have "
            f"{', '.join(PACKED)} behind them."
        )
    return lambda file: _text(file, DELIMITERS[kind[0]]), pack


@contextmanager
def _text(file: Any, delimiter: str) -> Iterator[Write]:
    is_first = True

    def write(frame: Any) -> None:
        nonlocal is_first
        how = {"sep": delimiter, "index": False, "header": is_first, "lineterminator": "\n"}
        text = frame.to_csv(**how)
        if "\r" in text:  # Python's csv would leave it bare, and a reader would take it for the end of a row
            text = frame.to_csv(**how, quoting=csv.QUOTE_NONNUMERIC)
        is_first = False
        file.write(text.encode())

    yield write


@contextmanager
def _parquet(file: Any) -> Iterator[Write]:
    arrow = optional("pyarrow", purpose="A Parquet file")
    parquet = optional("pyarrow.parquet", purpose="A Parquet file")
    writer: Any = None

    def write(frame: Any) -> None:
        nonlocal writer
        try:
            schema = _schema(arrow, frame) if writer is None else writer.schema
            table = arrow.Table.from_pandas(frame, schema=schema, preserve_index=False)
            writer = writer or parquet.ParquetWriter(file, schema)
            writer.write_table(table)
        except arrow.ArrowException as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise TableFileError(f"The table cannot be written as Parquet: {reason}. Write a .csv file.") from error

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()  # a failure, too: else it would close when the file is gone, and complain


def _schema(arrow: Any, frame: Any) -> Any:
    """Tell the types of columns; one that is empty so far may hold texts in later blocks."""
    found = arrow.Schema.from_pandas(frame, preserve_index=False)
    for i, field in enumerate(found):
        if arrow.types.is_null(field.type):
            found = found.set(i, field.with_type(arrow.string()))
    return found
