"""Files that are whole or not there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PERMISSIONS = 0o644  # a temporary file is its owner's alone


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
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            yield file
        temporary.chmod(PERMISSIONS)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
