"""All commands together: imported when used, joined by those of other packages; errors become one sentence."""

import io
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from mixkern.cli.spoken import spoken
from mixkern.errors import MixkernError

ENTRY_POINTS = "mixkern.commands"  # the group in which other packages name theirs
STOPPED = 130  # the exit code of shells: 128 and the number of the signal
STUDY = "mixkern paper and mixkern study replay the paper and the leaderboard: pip install mixkern-study"


class Stopped(click.ClickException):
    """Interrupted by Ctrl-C; the output so far is kept."""

    exit_code = STOPPED

    def show(self, file: Any = None) -> None:
        """Print the message without calling it an error."""
        click.echo(f"Stopped. {self.message}", file=file, err=True)


class Commands(click.Group):
    """A group of commands that are imported when they are used.

    Parameters
    ----------
    commands_in : dict
        ``"module:name"`` and one line of help for each command.
    """

    def __init__(self, *args: Any, commands_in: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands_in = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands, those of other packages last."""
        return [*self.commands_in, *sorted(_joined())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if name in self.commands_in:
            module, _, attribute = self.commands_in[name][0].partition(":")
            return getattr(import_module(module), attribute)
        found = _joined().get(name)
        return None if found is None else found.load()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing them."""
        joined = _joined()
        rows = [(name, text) for name, (_, text) in self.commands_in.items()]
        rows += [(name, f"From {_package(joined[name])}.") for name in sorted(joined)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        if not joined:
            formatter.write_paragraph()
            formatter.write_text(STUDY)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of mixkern is one sentence: exit code 1 for files and data, 2 for a typo."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows another
        try:
            return super().invoke(ctx)
        except MixkernError as error:
            raise click.ClickException(spoken(str(error))) from error
        except MemoryError as error:
            raise click.ClickException("There is not enough memory. Give fewer rows or columns.") from error
        except KeyboardInterrupt:
            raise Stopped("No file was changed.") from None


def _joined() -> dict[str, EntryPoint]:
    """Find the commands that other packages add."""
    return {each.name: each for each in entry_points(group=ENTRY_POINTS)}


def _package(command: EntryPoint) -> str:
    return "another package" if command.dist is None else command.dist.name
