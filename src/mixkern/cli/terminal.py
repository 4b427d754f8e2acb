"""What several commands need: lists of names as options, a progress bar, tables as wide as they must be."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from mixkern.errors import nearest
from mixkern.study import Step

WIDEST = 1_000  # characters: many methods make a table wider than most terminals


def listed(
    known: Callable[[], Sequence[str]], *, has_openml: bool = False
) -> Callable[[Any, Any, str | None], list[str] | None]:
    """Read several names in one word, with commas between them; names of OpenML are not looked up here."""

    def read(ctx: Any, param: Any, value: str | None) -> list[str] | None:
        if value is None:
            return None
        given = [name.strip() for name in value.split(",") if name.strip()]
        for name in given:
            if name not in known() and not (has_openml and name.startswith("openml:")):
                hint = f"{name!r} is not known.{nearest(name, known())} There are: {', '.join(known())}."
                raise click.BadParameter(hint, ctx=ctx, param=param)
        return given

    return read


@contextmanager
def progress_bar() -> Iterator[Callable[[Step], None]]:
    """Show how far the work is, on the terminal's other stream."""
    columns = [TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn()]
    clock = [TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, *clock, console=Console(stderr=True)) as progress:
        task = progress.add_task("densities", total=None)
        yield lambda step: progress.update(task, completed=step.done, total=step.total, description=step.what)


def print_wide(title: str, table: Table) -> Console:
    """Print a table whole, whatever the width of the terminal; give the console for what stands below it."""
    console = Console()
    needed = console.measure(table, options=console.options.update(width=WIDEST)).maximum
    console = Console(width=max(console.width, needed))
    console.print(title, style="italic", highlight=False, soft_wrap=True)
    console.print(table)
    return console
