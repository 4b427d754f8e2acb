"""What several commands need: lists of names as options, progress on a terminal, tables as wide as they must be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unicodedata import category

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from mixkern.wording import nearest

WIDEST = 1_000  # characters: many methods make a table wider than most terminals
WIDEST_CELL = 60


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
def progress_bar() -> Iterator[Callable[[Any], None]]:
    """Show how far the work is, on the terminal's other stream."""
    columns = [TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn()]
    clock = [TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, *clock, console=Console(stderr=True)) as progress:
        task = progress.add_task("densities", total=None)
        yield lambda step: progress.update(task, completed=step.done, total=step.total, description=step.what)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something is being done, on a terminal; in a pipe nothing is said."""
    console = Console(stderr=True)
    columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()]
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        progress.add_task(what, total=None)
        yield


@contextmanager
def bytes_bar(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how much of a file is done, on a terminal; what is given takes bytes done and bytes in all."""
    console = Console(stderr=True)
    columns = [TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()]
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def printable(text: str) -> str:
    r"""Give a text without what a terminal would obey: a cell of a table may hold anything.

    >>> printable("a\x1b[31mb")
    'a?[31mb'
    """
    return "".join(sign if sign == "\n" or category(sign) != "Cc" else "?" for sign in text)


def text_table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[str] = ()) -> Table:
    """Make a table of texts that may hold anything: brackets in the name of a column are no markup."""
    table = Table(box=SIMPLE, show_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(Text(heading), justify="right" if heading in right else "left", max_width=WIDEST_CELL)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row))
    return table


def print_wide(title: str, table: Table) -> Console:
    """Print a table whole, whatever the width of the terminal; give the console for what stands below it."""
    console = Console()
    needed = console.measure(table, options=console.options.update(width=WIDEST)).maximum
    console = Console(width=max(console.width, needed))
    console.print(
        title, style="italic", highlight=False, soft_wrap=True, markup=False
    )  # names of files may have brackets
    console.print(table)
    return console
