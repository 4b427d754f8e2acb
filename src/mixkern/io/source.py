"""Read the bytes of a file or of standard input, decompressed; what fails raises a :class:`TableFileError`."""

import bz2
import gzip
import io
import lzma
import re
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Self

from mixkern.errors import MixkernError, TableFileError
from mixkern.imports import optional
from mixkern.validation import as_path
from mixkern.wording import counted, nearest

MAGIC = {"parquet": b"PAR1", "arrow": b"ARROW1"}  # the first bytes of a file
COMPRESSIONS = {  # patterns of the first bytes
    rb"\x1f\x8b": "gzip",
    rb"BZh\d(?:1AY&SY|\x17rE8P\x90)": "bzip2",
    rb"\xfd7zXZ\x00": "xz",
    rb"\x28\xb5\x2f\xfd": "zstd",
    rb"PK(?:\x03\x04|\x05\x06)": "zip",
}
NOT_TABLES = {
    rb"(?s).{257}ustar": "a tar archive: unpack it first",
    rb"\xd0\xcf\x11\xe0": "an older Excel file: save it as .xlsx or CSV",
    rb"\x89PNG|\xff\xd8\xff|GIF8": "a picture",
    rb"%PDF": "a PDF: save the table as CSV",
    rb"SQLite format 3\x00": "an SQLite database: save the table as CSV",
    rb"\x89HDF": "an HDF5 file: save the table as CSV or Parquet",
    rb"\x93NUMPY": "a NumPy array: save it as CSV, with a line of column names",
    rb"\x80[\x04\x05]\x95": "a pickle, which could run code: save the table as CSV or Parquet",
    rb"ORC": "an ORC file: save it as Parquet",
    rb"Obj\x01": "an Avro file: save it as Parquet",
    rb"\x7fELF": "a program",
    rb"7z\xbc\xaf": "a 7z archive: unpack it first",
    rb"Rar!": "a RAR archive: unpack it first",
    rb"(?i)\s{0,60}(?:<!doctype|<html)": "a web page: save the table as CSV",
    rb"(?i)\s{0,60}<\?xml": "an XML file: save the table as CSV",
    rb'\s{0,60}(?:\{"|\[\{)': "a JSON file: save the table as CSV",
    **dict.fromkeys(COMPRESSIONS, "a file compressed twice: unpack it first"),
}
_MEMBERS = {
    "[Content_Types].xml": "an Office document: save the table as CSV",
    "mimetype": "a LibreOffice file: save it as .xlsx or CSV",
    **dict.fromkeys(("model.json", "schema.json", "mixkern.json"), "a model rather than a table"),
}


def recognised(first: bytes, kinds: Mapping[bytes, str]) -> str:
    """Return what a file is, by its first bytes; empty where no pattern matches."""
    return next((kind for pattern, kind in kinds.items() if re.match(pattern, first)), "")


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
    """The file, pipe or standard input that a table is read from; a file can be read many times, a pipe once."""

    def __init__(self, path: str | Path) -> None:
        self.path = as_path(path, TableFileError)
        self.is_input = str(path) == STANDARD_INPUT
        self.name = "standard input" if self.is_input else self.path.name
        self._once: Stream | None = None  # the stream of a pipe whose first bytes have been read
        self._is_spent = False
        self._spool: IO[bytes] | None = None  # a copy of a pipe, for repeated reading

    def peek(self, n_bytes: int) -> bytes:
        """Return the first bytes, decompressed; fewer if the file is shorter."""
        if self.is_pipe:
            self._once = self._once or self._stream()
            return self._once.head(n_bytes)
        with self._stream() as stream:
            return stream.head(n_bytes)

    @contextmanager
    def opened(self) -> Iterator["Stream"]:
        """Open the source at its beginning."""
        with self._once or self._stream() as stream:
            self._once, self._is_spent = None, self.is_pipe
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
    def guarded(
        self,
        damages: tuple[type[Exception], ...] = _DAMAGES,
        what: str = "is damaged, or not whole",
        step: str = "Get it again",
    ) -> Iterator[None]:
        """Convert errors of the operating system and of other libraries to a TableFileError."""
        try:
            yield
        except MixkernError:
            raise
        except damages as error:
            raise TableFileError(f"{self.name} {what}: {_reason(error)}. {step}.") from error
        except OSError as error:
            raise TableFileError(f"{self.name} cannot be read: {_reason(error)}.") from error

    def _stream(self) -> "Stream":
        if self._is_spent:
            raise TableFileError(f"{self.name} can be read only once. Write it to a file first, and name the file.")
        with self.guarded(), ExitStack() as stack:
            if not self.is_input:
                self._check_path()
            raw = _standard_input() if self.is_input else stack.enter_context(self.path.open("rb", buffering=0))
            return Stream(self, raw, stack)

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


class Stream:
    """The bytes of an opened source; the files in ``stack`` are closed with it, but standard input stays open."""

    def __init__(self, source: TableSource, raw: IO[bytes], stack: ExitStack) -> None:
        self._source, self._stack = source, stack
        self._total = None if source.is_pipe else source.path.stat().st_size
        self._n_packed = 0  # bytes of the member of a zip archive
        # read1 returns the bytes that are there, so that Ctrl-C works while a pipe is waited for.
        self._raw = _Ahead(getattr(raw, "read1", raw.read))
        self._how = recognised(self._raw.head(FIRST), COMPRESSIONS)
        self._plain = _Ahead(self._unpacked().read) if self._how else self._raw
        self._stack = stack.pop_all()

    def head(self, n_bytes: int) -> bytes:
        """Return the first bytes; :meth:`chunks` returns them again."""
        with self._source.guarded():
            return self._plain.head(n_bytes)

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in pieces."""
        while True:
            with self._source.guarded():
                chunk = self._plain.read(CHUNK)
            if not chunk:
                return
            n_bytes, n_packed = self._plain.n_bytes, self._n_packed or self._raw.n_bytes
            if n_bytes > MOST_UNPACKED and n_bytes > MOST_TIMES * n_packed:
                raise TableFileError(
                    f"{self._source.name} is compressed to less than 1/{MOST_TIMES} of its size: no table is. Unpack "
                    "it first, and look what it holds."
                )
            yield chunk

    @property
    def progress(self) -> tuple[int, int | None]:
        """Number of bytes read and of all bytes of the file; in a zip archive, of unpacked bytes."""
        return (self._plain if self._how == "zip" else self._raw).n_bytes, self._total

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _unpacked(self) -> Any:
        """Return a file of decompressed bytes."""
        openers: dict[str, Callable[[Any], Any]] = {
            "gzip": gzip.open,
            "bzip2": bz2.open,
            "xz": lzma.open,
            "zstd": _zstd,
            "zip": self._unzipped,
        }
        return self._stack.enter_context(openers[self._how](io.BufferedReader(self._raw, CHUNK)))

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
        return archive.open(members[0])


class _Ahead(io.RawIOBase):
    """A file whose first bytes can be read in advance; it counts the bytes that it returns."""

    def __init__(self, take: Callable[[int], bytes | None]) -> None:
        self._take, self._head, self.n_bytes = take, b"", 0

    def head(self, n_bytes: int) -> bytes:
        """Return the first bytes; :meth:`read` returns them again."""
        while len(self._head) < n_bytes and (chunk := self._take(n_bytes - len(self._head))):
            self._head += chunk
        return self._head[:n_bytes]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._head[:size] or self._take(size) or b""
        self._head = self._head[size:]
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
