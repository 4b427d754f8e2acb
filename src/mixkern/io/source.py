"""The bytes of a file or of standard input, decompressed; whatever fails on the way is a :class:`TableFileError`.

A file can be read as often as one likes. What comes through a pipe comes once.
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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Self

from mixkern.errors import MixkernError, TableFileError
from mixkern.imports import optional
from mixkern.io.signature import compression, no_table_in_zip
from mixkern.wording import counted, nearest

STANDARD_INPUT = "-"
CHUNK = 1 << 20  # bytes
_FIRST = 512  # bytes that tell what a file is
_SPOOLED = 1 << 24  # bytes of a pipe that stay in memory where one must be able to go back; more go to a temporary file
_DAMAGES = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, ValueError, RuntimeError)
# NotImplementedError, of a zip archive in an unusual compression, is a RuntimeError.

Progress = Callable[[int, int | None], None]


class Source:
    """Where a table comes from.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv.gz"
    ...     _ = path.write_bytes(gzip.compress(b"age,town"))
    ...     with Source(path).opened() as stream:
    ...         b"".join(stream.chunks())
    b'age,town'
    """

    def __init__(self, path: str | Path) -> None:
        self.is_input = str(path) == STANDARD_INPUT
        self.path = Path(path)
        self.name = "standard input" if self.is_input else self.path.name
        self._once: Stream | None = None  # of a pipe, once it has been looked at
        self._is_spent = False
        self._spool: IO[bytes] | None = None  # a copy of a pipe, where one must be able to go back

    def look(self, n_bytes: int) -> bytes:
        """Give the first bytes, decompressed; fewer where the file is shorter."""
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
        """Open what is not compressed so that one can go back and forth in it."""
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
        """Put what the operating system and decompressors say into words of our own."""
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
                return Stream(self, _standard_input(), is_ours=False)
            self._check_path()
            return Stream(self, self.path.open("rb", buffering=0))

    @property
    def is_pipe(self) -> bool:
        """Tell whether bytes come once only: standard input, and named pipes, which have no size."""
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
    """Bytes on their way, decompressed, with a head that one may look at before."""

    def __init__(self, source: Source, raw: IO[bytes], *, is_ours: bool = True) -> None:
        self._source = source
        self._stack = ExitStack()
        if is_ours:
            self._stack.callback(raw.close)
        try:
            self._total = None if source.is_pipe else source.path.stat().st_size
            self._raw = _Replayed(raw)
            self._plain, self._is_zip = self._unpacked()
        except BaseException:
            self.close()
            raise
        self._head = b""
        self._n_bytes = 0

    def head(self, n_bytes: int) -> bytes:
        """Give the first bytes, without taking them away."""
        while len(self._head) < n_bytes and (chunk := self._read(n_bytes - len(self._head))):
            self._head += chunk
        return self._head[:n_bytes]

    def chunks(self) -> Iterator[bytes]:
        """Give all bytes, piece by piece, those of the head first."""
        head, self._head = self._head, b""
        if head:
            yield head
        while chunk := self._read(CHUNK):
            yield chunk

    @property
    def progress(self) -> tuple[int, int | None]:
        """Bytes read and bytes in all, as they lie in the file; in a zip archive, as they are unpacked."""
        return (self._n_bytes if self._is_zip else self._raw.n_bytes), self._total

    def close(self) -> None:
        """Give back what was opened; standard input stays open."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, n_bytes: int) -> bytes:
        with self._source.guarded():
            chunk: bytes = self._plain.read(n_bytes) or b""
        self._n_bytes += len(chunk)
        return chunk

    def _unpacked(self) -> tuple[Any, bool]:
        """Give a file of plain bytes, and whether it came out of a zip archive."""
        how = compression(self._raw.first)
        packed = io.BufferedReader(self._raw, CHUNK)
        if how is None:
            return packed, False
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
        """Open the one member of a zip archive, whose table of contents is at its end."""
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
        self._total = archive.getinfo(members[0]).file_size
        return self._stack.enter_context(archive.open(members[0]))


class _Replayed(io.RawIOBase):
    """A file whose first bytes have been looked at and come again; it counts what it gives."""

    def __init__(self, inner: IO[bytes]) -> None:
        # What is there, not as much as was asked for: between two waits for a pipe, Python can hear Ctrl-C.
        self._take: Callable[[int], bytes | None] = getattr(inner, "read1", inner.read)
        self.first = b""
        while len(self.first) < _FIRST and (chunk := self._take(_FIRST - len(self.first))):
            self.first += chunk
        self._pending = self.first
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        chunk = self._pending[:size] or self._take(size) or b""
        self._pending = self._pending[size:]
        buffer[: len(chunk)] = chunk
        self.n_bytes += len(chunk)
        return len(chunk)


def _standard_input() -> IO[bytes]:
    found: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    if found is None or found.closed:
        raise TableFileError("Standard input is closed. Name a file, or send a table through a pipe.")
    return found


def _spooled(chunks: Iterator[bytes]) -> IO[bytes]:
    """Copy bytes to where one can go back and forth: memory, or a temporary file if they are many."""
    file: Any = tempfile.SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115
    for chunk in chunks:
        file.write(chunk)
    file.seek(0)
    return file


def _zstd(packed: IO[bytes]) -> Any:
    """Decompress by Python itself where it can (from 3.14 on), else by pyarrow."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(packed)
    pyarrow = optional("pyarrow", purpose="A file compressed by zstd")
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(packed, mode="r"), "zstd")


def _reason(error: BaseException) -> str:
    """Give the first line of what somebody else says, without a full stop."""
    said = (getattr(error, "strerror", None) or str(error) or type(error).__name__).splitlines()[0]
    return said.strip().rstrip(".")
