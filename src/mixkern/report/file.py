"""Files that are whole or not there."""

import os
import tempfile
from pathlib import Path

PERMISSIONS = 0o644  # a temporary file is its owner's alone


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file beside its place and then put it there: a failure leaves the old one as it was.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "deep" / "a.txt", "text").read_text()
    'text'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        temporary.chmod(PERMISSIONS)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
