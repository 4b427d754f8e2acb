"""Pictures as files that are whole or not there."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mixkern.io.atomic import write_whole


def draw_to(path: Path, draw: Callable[[], Any], dpi: float) -> None:
    """Draw a figure into a file, in the format that its name ends with."""
    content = io.BytesIO()
    draw().savefig(content, format=path.suffix.lstrip(".").lower(), dpi=dpi)
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        raise click.ClickException(f"The picture could not be written: {error}") from error
