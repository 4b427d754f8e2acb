"""Output of the commands: results and notes, tables, progress bars, pictures."""

import io
import json
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
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

from mixkern.encoding import PREFIX
from mixkern.encoding.cell import jsonable
from mixkern.errors import MixkernWarning
from mixkern.whole_file import write_whole

WIDEST = 1_000  # characters: many methods make a table wider than most terminals
WIDEST_CELL = 60
MOST_CLASSES = 12  # counted one by one

Notes = list[str]


@contextmanager
def warnings_as_notes(notes: Notes) -> Iterator[None]:
    """Turn the library's warnings into notes for the command line, one for each category of warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MixkernWarning)
        yield
    found: dict[type[Warning], list[str]] = {}
    for each in caught:
        if isinstance(each.message, MixkernWarning):
            found.setdefault(each.category, []).append(each.message.on("cli"))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    for first, *others in found.values():
        notes.append(first + ("\nLater rows are affected as well." if set(others) - {first} else ""))


def print_result(result: Mapping[str, Any], notes: Notes, show: Callable[[], None], *, as_json: bool) -> None:
    """Print a result: as JSON with its notes, or by ``show`` with the notes on standard error."""
    if as_json:
        is_ascii = not (sys.stdout.encoding or "").lower().startswith("utf")  # escape what the terminal cannot show
        text = json.dumps(jsonable({**result, "notes": notes}), indent=1, ensure_ascii=is_ascii, allow_nan=False)
        click.echo(text)
        return
    show()
    print_notes(notes)


def print_notes(notes: Notes) -> None:
    """Print notes on standard error."""
    for note in notes:
        click.echo(f"Note: {note}", err=True)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for an added column that no other column of the table has.

    >>> free_name("label", ["age"]), free_name("label", ["label"]), free_name("label", ["label", "mixkern_label"])
    ('label', 'mixkern_label', 'mixkern_label_2')
    """
    prefixed = f"{PREFIX}{name}"
    names = chain([name, prefixed], (f"{prefixed}_{i}" for i in count(2)))
    return next(each for each in names if each not in taken)


def printable(text: str) -> str:
    r"""Return a text with its control characters replaced: a cell may hold commands to the terminal.

    >>> printable("a\x1b[31mb")
    'a?[31mb'
    """
    return "".join(sign if sign == "\n" or category(sign) != "Cc" else "?" for sign in text)


def class_counts(counts: Mapping[str, int]) -> str:
    """Write the number of rows of each class; only the first ones where they are many.

    >>> class_counts({"a": 3, "b": 1})
    "3 of 'a', 1 of 'b'"
    """
    each = [f"{n:,} of {label!r}" for label, n in counts.items()]
    rest = len(each) - MOST_CLASSES
    return ", ".join(each) if rest <= 1 else f"{', '.join(each[:MOST_CLASSES])} and {rest} more classes"


def text_table(headings: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Sequence[str] = ()) -> Table:
    """Return a table of texts for the terminal; brackets in a cell or heading are no markup.

    Parameters
    ----------
    headings : list of str
        Names of the columns.
    rows : iterable of list
        Cells of each row, texts or styled texts.
    right : list of str, default=()
        Headings of the columns that are aligned to the right.
    """
    table = Table(box=SIMPLE, show_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(Text(heading), justify="right" if heading in right else "left", max_width=WIDEST_CELL)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(printable(cell)) for cell in row))
    return table


def print_wide(title: str, table: Table) -> Console:
    """Print a table in full width, whatever the width of the terminal; return the console it was printed on."""
    console = Console()
    needed = console.measure(table, options=console.options.update(width=WIDEST)).maximum
    console = Console(width=max(console.width, needed))
    console.print(title, style="italic", highlight=False, soft_wrap=True, markup=False)  # file names may have brackets
    console.print(table)
    return console


@contextmanager
def step_progress() -> Iterator[Callable[[Any], None]]:
    """Show a progress bar on standard error; the function that is given updates it after each step."""
    columns = [TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn()]
    clock = [TimeElapsedColumn(), TimeRemainingColumn()]
    with Progress(*columns, *clock, console=Console(stderr=True)) as progress:
        task = progress.add_task("densities", total=None)
        yield lambda step: progress.update(task, completed=step.done, total=step.total, description=step.what)


def terminal_progress(*columns: Any) -> Progress:
    """Return a progress display on standard error: nothing is printed in a pipe, nor for a command with ``--json``."""
    console, context = Console(stderr=True), click.get_current_context(silent=True)
    is_json = context is not None and bool(context.params.get("as_json"))
    description = TextColumn("{task.description}", markup=False)
    is_hidden = is_json or not console.is_terminal
    return Progress(SpinnerColumn(), description, *columns, console=console, transient=True, disable=is_hidden)


@contextmanager
def spinner(description: str) -> Iterator[None]:
    """Show a spinner while work of unknown length runs."""
    with terminal_progress(TimeElapsedColumn()) as progress:
        progress.add_task(description, total=None)
        yield


@contextmanager
def byte_progress(description: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how much of a file is read; the function that is given takes the bytes read and the bytes in all."""
    with terminal_progress(BarColumn(), DownloadColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def write_picture(path: Path, draw: Callable[[], Any], dpi: float) -> None:
    """Draw a figure into a file, in the format that its name ends with; on failure an old file stays as it was."""
    content = io.BytesIO()
    draw().savefig(content, format=path.suffix.lstrip(".").lower(), dpi=dpi)
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        raise click.ClickException(f"The picture could not be written: {error}") from error
