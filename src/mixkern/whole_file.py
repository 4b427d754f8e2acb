"""Write files that are complete or absent: an error leaves the old file as it was."""

import glob
import os
import platform
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file under a temporary name and rename it at the end, so that an error leaves the old file as it was.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "deep" / "a.txt", "text").read_text()
    'text'
    """
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written piece by piece; it appears when all pieces are written, and not after an error.

    A process that is killed leaves a temporary file; the next one that writes the same file removes it.

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
    # A shared folder may have files of processes on other computers, whose numbers mean nothing here.
    prefix = f".{path.name[:50]}.{zlib.crc32(platform.node().encode()):08x}-"
    _remove_strays(path.parent, prefix)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f"{prefix}{os.getpid()}-")
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_strays(folder: Path, prefix: str) -> None:
    """Remove the temporary files of processes that have ended."""
    for stray in folder.glob(f"{glob.escape(prefix)}*"):
        process = re.match(r"\d+(?=-)", stray.name[len(prefix) :])
        if process is not None and not _is_running(int(process[0])):
            with suppress(OSError):
                stray.unlink()


def _is_running(process: int) -> bool:
    """Return whether a process exists; not needed on Windows, where open files cannot be removed."""
    if sys.platform == "win32":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it belongs to another user
        return True
    return True


def _umask() -> int:
    """Return the permissions that new files do not get; they can be read only by setting them."""
    current = os.umask(0)
    os.umask(current)
    return current
