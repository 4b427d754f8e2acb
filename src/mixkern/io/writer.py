"""Write files that are complete or absent: an error leaves the old file as it was."""

import bz2
import csv
import gzip
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from mixkern.errors import TableFileError
from mixkern.imports import optional


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file under a temporary name and rename it at the end, so that an error leaves the old file as it was.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "deep" / "a.txt", "text").read_text()
    'text'
    """
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written piece by piece; it appears when all pieces are written, and not after an error.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"first, ")
    ...         is_there = (Path(folder) / "a.txt").exists()
    ...         _ = file.write(b"second")
    ...     is_there, (Path(folder) / "a.txt").read_text()
    (False, 'first, second')
    """
    path = path.resolve()  # a symbolic link stays, and its target is written
    if path.exists() and not path.is_file():  # a pipe or device cannot be replaced
        with path.open("wb") as special:
            yield special
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """Return the permissions that new files do not get; they can be read only by setting them."""
    current = os.umask(0)
    os.umask(current)
    return current


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
    """Open a table file to be written in blocks of rows; it appears at the end, and not after an error.

    Parameters
    ----------
    path : str or Path
        Ends with .csv, .tsv or .parquet; .csv and .tsv may be followed by .gz, .bz2 or .xz. "-" is standard output, as
        CSV. Numbers have as many digits as it takes to read the same ones again.

    Yields
    ------
    callable
        Takes a pandas frame; all must have the same columns. The index is not written.

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
    """Return the writer and the compression for the ending of a name."""
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
        if "\r" in text:  # Python's csv does not quote it, and readers take it for the end of a row
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
            writer.close()  # after an error too: otherwise it would be closed after the file, with another error


def _schema(arrow: Any, frame: Any) -> Any:
    """Return the types of columns; one without values in the first block is taken for text."""
    found = arrow.Schema.from_pandas(frame, preserve_index=False)
    for i, field in enumerate(found):
        if arrow.types.is_null(field.type):
            found = found.set(i, field.with_type(arrow.string()))
    return found
