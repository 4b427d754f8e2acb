"""Files that are whole or not there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file beside its place and then put it there: a failure leaves the old one as it was.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "deep" / "a.txt", "text").read_text()
    'text'
    """
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written piece by piece; it appears once all are there, and not at all if one fails.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.txt") as file:
    ...         _ = file.write(b"first, ")
    ...         is_there = (Path(folder) / "a.txt").exists()
    ...         _ = file.write(b"second")
    ...     is_there, (Path(folder) / "a.txt").read_text()
    (False, 'first, second')
    """
    path = path.resolve()  # what a link leads to is written, and the link stays
    if path.exists() and not path.is_file():  # a pipe, /dev/null: there is nothing to put in its place
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
    """Tell which permissions the user takes from new files; asking is setting."""
    current = os.umask(0)
    os.umask(current)
    return current
