"""All commands together, and what becomes of errors: one sentence, and an exit code."""

import io
import sys
from typing import Any

import click

from mixkern.cli.spoken import spoken
from mixkern.cli.terminal import Stopped
from mixkern.errors import MixkernError


class Commands(click.Group):
    """A group of commands whose errors are sentences: code 1 for what is wrong with files and data, 2 for a typo."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors that we raise on purpose have no traceback."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows another, and goes on
        try:
            return super().invoke(ctx)
        except MixkernError as error:
            raise click.ClickException(spoken(str(error))) from error
        except MemoryError as error:
            raise click.ClickException("There is not enough memory. Give fewer rows or columns.") from error
        except KeyboardInterrupt:
            raise Stopped("No file was changed.") from None
