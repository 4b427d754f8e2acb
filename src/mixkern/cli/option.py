"""Options that several commands have, spelled once."""

import shlex
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]

SHARED = (
    "target",
    "drop",
    "keep",
    "continuous",
    "categorical",
    "unlabelled",
    "delimiter",
    "decimal",
    "encoding",
    "gaps",
)


def again(names: Collection[str] = SHARED) -> str:
    """Give the options of the command at work once more, for the next one that reads the same table."""
    context = click.get_current_context()
    words = []
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if option.name in names and value:
            words += [word for each in (value if option.multiple else [value]) for word in (option.opts[0], str(each))]
    return shlex.join(words)


def _names(_ctx: Any, _param: Any, value: tuple[str, ...]) -> tuple[str, ...]:
    """Read names that were given one by one, or several with commas between them."""
    return tuple(name.strip() for each in value for name in each.split(",") if name.strip())


def reading_options(command: Command) -> Command:
    """Add what says how a file is written, where it cannot be seen from the file."""
    for option in (
        click.option("--gap", "gaps", multiple=True, metavar="TEXT", help="What stands for a gap, such as -999."),
        click.option("--encoding", help="Of the text, such as cp1252.  [default: UTF-8, or as the file says]"),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign.  [default: as found]"),
        click.option("--delimiter", help="Between columns; 'tab' is a tab.  [default: as found]"),
    ):
        command = option(command)
    return command


def column_options(command: Command) -> Command:
    """Add what says which columns there are to learn from, and how to read them."""
    for option in (
        click.option("--unlabelled", multiple=True, metavar="TEXT", help="What stands for no label, besides nothing."),
        click.option("--categorical", multiple=True, callback=_names, metavar="COLUMNS", help="Read as categories."),
        click.option("--continuous", multiple=True, callback=_names, metavar="COLUMNS", help="Read as numbers."),
        click.option("--keep", multiple=True, callback=_names, metavar="COLUMNS", help="Use, though like identifiers."),
        click.option("--drop", multiple=True, callback=_names, metavar="COLUMNS", help="Do not use: a,b,c."),
    ):
        command = option(command)
    return command


def target_option(*, required: bool) -> Callable[[Command], Command]:
    """Add the column of labels."""
    return click.option("--target", required=required, help="The column of labels; empty cells are unlabelled rows.")


def json_option(command: Command) -> Command:
    """Add a form for scripts."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")(command)


def seed_option(command: Command) -> Command:
    """Add the seed of what is drawn."""
    numbers = click.IntRange(0, 2**32 - 1)  # as NumPy has it
    return click.option("--seed", type=numbers, default=0, show_default=True, help="Of everything drawn.")(command)


def check_output(output: str | Path, *inputs: str) -> None:
    """Refuse to write over what is read: a table, a model."""
    place = Path(output)
    for each in inputs:
        if place.exists() and Path(each).exists() and place.samefile(each):
            lost = f"{output} is read by this command, and would be lost. Name another file."
            raise click.BadParameter(lost, param_hint="-o")
