"""Read the bytes of a file or of standard input, decompressed.

The first bytes show what a file is. A file can be read many times, a pipe only once. Everything that fails raises a
:class:`TableFileError`.
"""

import bz2
import gzip
import io
import lzma
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Self

from mixkern.errors import MixkernError, TableFileError
from mixkern.imports import optional
from mixkern.validation import as_path
from mixkern.wording import counted, nearest

MAGIC = {"parquet": b"PAR1", "arrow": b"ARROW1"}  # the first bytes of a file
_TWICE = "a file compressed twice: unpack it first"
_PICKLE = "a pickle, which could run code: save the table as CSV or Parquet"
_NOT_TABLES = {
    b"\xd0\xcf\x11\xe0": "an older Excel file: save it as .xlsx or CSV",
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "a picture"),
    b"%PDF": "a PDF: save the table as CSV",
    b"SQLite format 3\0": "an SQLite database: save the table as CSV",
    b"\x89HDF": "an HDF5 file: save the table as CSV or Parquet",
    b"\x93NUMPY": "a NumPy array: save it as CSV, with a line of column names",
    **dict.fromkeys((b"\x80\x04\x95", b"\x80\x05\x95"), _PICKLE),
    b"ORC": "an ORC file: save it as Parquet",
    b"Obj\x01": "an Avro file: save it as Parquet",
    b"\x7fELF": "a program",
    b"7z\xbc\xaf": "a 7z archive: unpack it first",
    b"Rar!": "a RAR archive: unpack it first",
    **dict.fromkeys((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"), _TWICE),
}
_NOT_TEXTS = {
    **dict.fromkeys((b"<!doctype", b"<html"), "a web page: save the table as CSV"),
    b"<?xml": "an XML file: save the table as CSV",
    **dict.fromkeys((b'{"', b"[{"), "a JSON file: save the table as CSV"),
}
_TAR = slice(257, 262)
_MEMBERS = {
    "[Content_Types].xml": "an Office document: save the table as CSV",
    "mimetype": "a LibreOffice file: save it as .xlsx or CSV",
    **dict.fromkeys(("model.json", "schema.json", "mixkern.json"), "a model rather than a table"),
}
_COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    **dict.fromkeys((b"PK\x03\x04", b"PK\x05\x06"), "zip"),
}


def compression(first: bytes) -> str | None:
    """Return the compression of a file, detected from its first bytes."""
    if first.startswith(b"BZh"):
        return "bzip2" if first[3:4].isdigit() and first[4:10] in (b"1AY&SY", b"\x17rE8P\x90") else None
    return next((name for magic, name in _COMPRESSIONS.items() if first.startswith(magic)), None)


def no_table(first: bytes) -> str:
    """Return what a file is that is no table, and what to do; empty where it may be a table."""
    if first[_TAR] == b"ustar":
        return "a tar archive: unpack it first"
    start = first[:64].lstrip().lower()
    found = [what for magic, what in _NOT_TABLES.items() if first.startswith(magic)]
    return next(iter([*found, *(what for magic, what in _NOT_TEXTS.items() if start.startswith(magic))]), "")


def no_table_in_zip(members: Collection[str]) -> str:
    """Return what a zip archive is, by the names of its members; empty where it may be a compressed table."""
    if "[Content_Types].xml" in members and any(name.startswith("xl/") for name in members):
        return "an Excel file of another kind: save it as .xlsx or CSV"
    if members and all(name.endswith(".npy") for name in members):
        return "NumPy arrays: save the table as CSV, with a line of column names"
    return next((what for member, what in _MEMBERS.items() if member in members), "")


STANDARD_INPUT = "-"
CHUNK = 1 << 20  # bytes
FIRST = 512  # bytes that show what a file is
MOST_UNPACKED, MOST_TIMES = 1 << 28, 5000  # bytes, and their multiple of compressed ones; gzip reaches 1,000
_SPOOLED = 1 << 24  # bytes of a pipe that are kept in memory for repeated reading; more go to a temporary file
_DAMAGES = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, ValueError, RuntimeError)
# NotImplementedError, of a zip archive in an unusual compression, is a RuntimeError.

Progress = Callable[[int, int | None], None]


class TableSource:
    """The file, pipe or standard input that a table is read from.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv.gz"
    ...     _ = path.write_bytes(gzip.compress(b"age,town"))
    ...     with TableSource(path).opened() as stream:
    ...         b"".join(stream.chunks())
    b'age,town'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path(path, TableFileError)
        self.is_input = str(path) == STANDARD_INPUT
        self.name = "standard input" if self.is_input else self.path.name
        self._once: Stream | None = None  # the stream of a pipe whose first bytes have been read
        self._is_spent = False
        self._spool: IO[bytes] | None = None  # a copy of a pipe, for repeated reading

    def peek(self, n_bytes: int) -> bytes:
        """Return the first bytes, decompressed; fewer if the file is shorter."""
        if not self.is_pipe:
            with self._stream() as stream:
                return stream.head(n_bytes)
        if self._once is None and not self._is_spent:
            self._once = self._stream()
        if self._once is None:
            raise self._spent()
        return self._once.head(n_bytes)

    @contextmanager
    def opened(self) -> Iterator["Stream"]:
        """Open the source at its beginning."""
        if self._is_spent:
            raise self._spent()
        stream = self._once or self._stream()
        self._once = None
        self._is_spent = self.is_pipe
        with stream:
            yield stream

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """Open an uncompressed source for random access."""
        if not self.is_pipe:
            with self.guarded():
                file = self.path.open("rb")
            with file:
                yield file
            return
        if self._spool is None:
            with self.opened() as stream:
                self._spool = _spooled(stream.chunks())
            weakref.finalize(self, self._spool.close)
        self._spool.seek(0)
        yield self._spool

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Convert errors of the operating system and of decompressors to a TableFileError."""
        try:
            yield
        except MixkernError:
            raise
        except _DAMAGES as error:
            raise TableFileError(f"{self.name} is damaged, or not whole: {_reason(error)}. Get it again.") from error
        except OSError as error:
            raise TableFileError(f"{self.name} cannot be read: {_reason(error)}.") from error

    def _stream(self) -> "Stream":
        with self.guarded():
            if self.is_input:
                return Stream(self, _standard_input(), is_owned=False)
            self._check_path()
            return Stream(self, self.path.open("rb", buffering=0))

    @property
    def is_pipe(self) -> bool:
        """Whether the bytes can be read only once: standard input and named pipes."""
        with self.guarded():
            return self.is_input or (self.path.exists() and not self.path.is_file() and not self.path.is_dir())

    def _check_path(self) -> None:
        if self.path.is_dir():
            raise TableFileError(f"{self.name or self.path} is a folder. Name a file inside it.")
        if not self.path.exists():
            folder = self.path.parent
            names = [other.name for other in folder.iterdir()] if folder.is_dir() else []
            raise TableFileError(f"{self.name} cannot be read: there is no such file.{nearest(self.name, names)}")

    def _spent(self) -> TableFileError:
        return TableFileError(f"{self.name} can be read only once. Write it to a file first, and name the file.")


class Stream:
    """A decompressed stream of bytes, whose first bytes can be read in advance."""

    def __init__(self, source: TableSource, raw: IO[bytes], *, is_owned: bool = True) -> None:
        self._source = source
        self._stack = ExitStack()
        if is_owned:
            self._stack.callback(raw.close)
        try:
            self._total = None if source.is_pipe else source.path.stat().st_size
            self._n_packed = 0  # bytes of the member of a zip archive
            self._raw = _Replayed(raw)
            self._plain, self._is_zip = self._unpacked()
        except BaseException:
            self.close()
            raise
        self._head = b""
        self._n_bytes = 0

    def head(self, n_bytes: int) -> bytes:
        """Return the first bytes; :meth:`chunks` returns them again."""
        while len(self._head) < n_bytes and (chunk := self._read(n_bytes - len(self._head))):
            self._head += chunk
        return self._head[:n_bytes]

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in pieces."""
        head, self._head = self._head, b""
        if head:
            yield head
        while chunk := self._read(CHUNK):
            yield chunk

    @property
    def progress(self) -> tuple[int, int | None]:
        """Number of bytes read and of all bytes of the file; in a zip archive, of unpacked bytes."""
        return (self._n_bytes if self._is_zip else self._raw.n_bytes), self._total

    def close(self) -> None:
        """Close the files that were opened; standard input stays open."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, n_bytes: int) -> bytes:
        with self._source.guarded():
            chunk: bytes = self._plain.read(n_bytes) or b""
        self._n_bytes += len(chunk)
        n_packed = self._n_packed or self._raw.n_bytes
        if self._n_bytes > MOST_UNPACKED and self._n_bytes > MOST_TIMES * n_packed:
            raise TableFileError(
                f"{self._source.name} is compressed to less than 1/{MOST_TIMES} of its size: no table is. Unpack it "
                "first, and look what it holds."
            )
        return chunk

    def _unpacked(self) -> tuple[Any, bool]:
        """Return a file of decompressed bytes, and whether it is a member of a zip archive."""
        how = compression(self._raw.first)
        if how is None:
            return self._raw, False
        packed = io.BufferedReader(self._raw, CHUNK)
        if how == "zip":
            return self._unzipped(packed), True
        opener: dict[str, Callable[[], Any]] = {
            "gzip": lambda: gzip.GzipFile(fileobj=packed),
            "bzip2": lambda: bz2.BZ2File(packed),
            "xz": lambda: lzma.LZMAFile(packed),  # noqa: SIM115
            "zstd": lambda: _zstd(packed),
        }
        return self._stack.enter_context(opener[how]()), False

    def _unzipped(self, packed: IO[bytes]) -> Any:
        """Open the only member of a zip archive, which needs random access."""
        is_pipe = self._total is None
        file = _spooled(iter(lambda: packed.read(CHUNK), b"")) if is_pipe else self._source.path.open("rb")
        self._stack.callback(file.close)
        archive = self._stack.enter_context(zipfile.ZipFile(file))
        names = [info.filename for info in archive.infolist() if not info.is_dir()]
        name = self._source.name
        if what := no_table_in_zip(names):
            raise TableFileError(f"{name} looks like {what}.")
        members = [member for member in names if not member.startswith("__MACOSX/")]
        if len(members) != 1:
            raise TableFileError(
                f"{name} is a zip archive of {counted(len(members), 'file')}, but expected is one table. "
                "Unpack it, and name one of its files."
            )
        self._total, self._n_packed = archive.getinfo(members[0]).file_size, archive.getinfo(members[0]).compress_size
        return self._stack.enter_context(archive.open(members[0]))


class _Replayed(io.RawIOBase):
    """A file whose first bytes have been read and are returned again; it counts the bytes that it returns."""

    def __init__(self, inner: IO[bytes]) -> None:
        # read1 returns the bytes that are there, so that Ctrl-C works while a pipe is waited for.
        self._take: Callable[[int], bytes | None] = getattr(inner, "read1", inner.read)
        self.first = b""
        while len(self.first) < FIRST and (chunk := self._take(FIRST - len(self.first))):
            self.first += chunk
        self._pending = self.first
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._pending[:size] or self._take(size) or b""
        self._pending = self._pending[size:]
        self.n_bytes += len(chunk)
        return chunk

    def readinto(self, buffer: Any) -> int:
        chunk = self.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _standard_input() -> IO[bytes]:
    found: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if found is None or found.closed:
        raise TableFileError("Standard input is closed. Name a file, or send a table through a pipe.")
    return found


def _spooled(chunks: Iterator[bytes]) -> IO[bytes]:
    """Copy bytes to memory, or to a temporary file if there are many, for random access."""
    file: Any = tempfile.SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115
    for chunk in chunks:
        file.write(chunk)
    file.seek(0)
    return file


def _zstd(packed: IO[bytes]) -> Any:
    pyarrow = optional("pyarrow", purpose="A file compressed by zstd")
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(packed, mode="r"), "zstd")


def _reason(error: BaseException) -> str:
    """Return the first line of another library's message, without a full stop."""
    message = (getattr(error, "strerror", None) or str(error) or type(error).__name__).splitlines()[0]
    return message.strip().rstrip(".")
