"""The group of all commands: a command imports its work when it runs; other packages add theirs; errors as messages."""

import io
import sys
from collections.abc import Callable
from functools import wraps
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


def runs(where: str) -> Callable[[Callable[[], None]], Callable[..., Any]]:
    """Decorate the declaration of a command: a function runs it, which is imported when all options have been read.

    So help and errors in options take no time for the imports of the libraries that compute.

    Parameters
    ----------
    where : str
        ``"module:name"`` of the function; it takes the arguments and options of the command by their names.

    Examples
    --------
    >>> @click.command()
    ... @click.argument("items", nargs=-1)
    ... @runs("json:dumps")
    ... def dump():
    ...     '''Write items as JSON.'''
    >>> dump.help
    'Write items as JSON.'
    """
    module, _, name = where.partition(":")

    def decorate(declaration: Callable[[], None]) -> Callable[..., Any]:
        @wraps(declaration)
        def run(**options: Any) -> Any:
            function = getattr(import_module(module), name)
            raise_on_interrupt()  # from here on the command cleans up after itself
            return function(**options)

        return run

    return decorate


class Commands(click.Group):
    """A group of commands, to which other packages may add theirs; these are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """List the names of the commands, those of other packages last."""
        return [*self.commands, *sorted(_plugins())]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Find a command, and import it if it is one of another package."""
        own = super().get_command(ctx, name)
        plugin = _plugins().get(name) if own is None else None
        if plugin is None:
            return own
        found: click.Command = plugin.load()
        raise_on_interrupt()  # from here on the command cleans up after itself
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command by its name; the error has the nearest name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            step = f" {STUDY}" if args[0] in STUDY_COMMANDS else nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message}{step}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing those of other packages."""
        plugins = _plugins()
        rows = [(name, command.get_short_help_str()) for name, command in self.commands.items()]
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
