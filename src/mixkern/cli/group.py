"""The group of all commands: imported when used, extended by other packages; an error is printed as one message."""

import io
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from mixkern.errors import MixkernError
from mixkern.imports import STOPPED, raise_on_interrupt
from mixkern.wording import nearest

ENTRY_POINTS = "mixkern.commands"  # group of entry points through which other packages add commands
STUDY_COMMANDS = {"paper", "study"}
STUDY = "For mixkern paper and mixkern study: pip install mixkern-study"


class Stopped(click.ClickException):
    """Interrupted by Ctrl-C; the message states what is kept."""

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
        """List the names of the commands, those of other packages last."""
        return [*self.commands_in, *sorted(_plugins())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import a command."""
        if name in self.commands_in:
            module, _, attribute = self.commands_in[name][0].partition(":")
            return getattr(import_module(module), attribute)
        plugin = _plugins().get(name)
        return super().get_command(ctx, name) if plugin is None else plugin.load()

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command by its name, and import it; the error has the nearest name."""
        try:
            found = super().resolve_command(ctx, args)
        except click.UsageError as error:
            step = f" {STUDY}" if args[0] in STUDY_COMMANDS else nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message}{step}", ctx) from None
        raise_on_interrupt()  # from here on the command cleans up after itself
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing them."""
        plugins = _plugins()
        rows = [(name, text) for name, (_, text) in self.commands_in.items()]
        rows += [(name, f"From {_package(plugins[name])}.") for name in sorted(plugins)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        if not STUDY_COMMANDS & set(plugins):
            formatter.write_paragraph()
            formatter.write_text(STUDY)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command. The exit code is 1 for errors in files and data, 2 for errors in the command itself."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that cannot show a character shows a question mark
        try:
            return super().invoke(ctx)
        except MixkernError as error:
            raise click.ClickException(error.on("cli")) from error
        except MemoryError as error:
            raise click.ClickException("There is not enough memory. Give fewer rows or columns.") from error
        except KeyboardInterrupt:
            raise Stopped("No file was changed.") from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if _is_interrupt(error):
                raise Stopped("No file was changed.") from None
            raise


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error follows from Ctrl-C: one in the middle of an import may end as another error."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_interrupt(error.__context__))


def _plugins() -> dict[str, EntryPoint]:
    """Find the commands of other packages."""
    return {each.name: each for each in entry_points(group=ENTRY_POINTS)}


def _package(command: EntryPoint) -> str:
    return "another package" if command.dist is None else command.dist.name
