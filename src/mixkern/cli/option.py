"""Options that several commands share."""

import re
import shlex
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mixkern.wording import nearest, quoted_name

Command = Callable[..., Any]

SQLITE = b"SQLite format 3\x00"  # first bytes of a file

COLUMN_OPTIONS = ("drop", "keep", "continuous", "categorical", "unlabelled", "source")  # how columns are read
FILE_OPTIONS = ("delimiter", "decimal", "encoding", "gaps", "sheet")  # for the format of a file
# Parameters that the next command needs as well when it reads the same table.
TABLE_PARAMETERS = ("target", "labels", *COLUMN_OPTIONS, *FILE_OPTIONS)


def repeat_options(names: Collection[str] = TABLE_PARAMETERS, *, journal: str = "--labels") -> str:
    """Return the given options of the running command, to be typed again with the next one.

    Parameters
    ----------
    names : collection of str
        Parameters that are repeated if they are given.
    journal : {"--labels", "--journal"}, default="--labels"
        Option by which the next command takes a journal: ``label`` and ``merge`` write it, others only read it.
    """
    context = click.get_current_context()
    words = []
    for option in context.command.params:
        value = context.params.get(option.name or "")
        if option.name in names and value:
            texts = [str(each) for each in (value if option.multiple else [value])]
            texts = [quoted_name(each) for each in texts] if option.callback is names_of else texts
            spelled = journal if option.name == "labels" else option.opts[0]
            words += [word for text in texts for word in (spelled, text)]
    return shlex.join(words)


def given_command() -> str:
    """Return the running command with its options, to be kept in files; paths without their folders."""
    context = click.get_current_context()
    words = ["mixkern", str(context.info_name)]
    for each in context.command.params:
        name = str(each.name)
        if name == "as_json":  # changes nothing in files
            continue
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE or name not in context.params:
            continue
        given = context.params[name]
        if isinstance(each, click.Option) and each.is_flag:
            words.append((each.opts if given else each.secondary_opts or each.opts)[0])
            continue
        is_path = isinstance(each.type, click.Path) or name == "table"
        values = [Path(value).name if is_path else value for value in (given if each.multiple else [given])]
        is_option = isinstance(each, click.Option)
        words += [word for value in values for word in ([each.opts[0]] * is_option + [str(value)])]
    return shlex.join(words)


# A name between commas: in double quotes, in which "" is a quote, or without, from its first to its last sign.
_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^",][^,]*)?)(,|\Z)')


def split_names(text: str) -> list[str]:
    """Split names that are separated by commas; a name in double quotes may hold commas.

    >>> split_names('age, "price, EUR",5" pipe')
    ['age', 'price, EUR', '5" pipe']
    """
    found, at = [], 0
    while at <= len(text):
        match = _NAME.match(text, at)
        if match is None:
            rest = text[at:].strip()
            raise click.BadParameter(
                f"{rest} begins with a double quote, which must end before the next comma. A name with a comma is put "
                """in double quotes, a quote in them is written twice: '"price, EUR","5"" pipe"'."""
            )
        quoted, plain, end = match.groups()
        name = (plain or "").strip() if quoted is None else quoted.replace('""', '"')
        found += [name] if name else []
        at = match.end() if end else len(text) + 1
    return found


def names_of(_ctx: Any, _param: Any, value: tuple[str, ...]) -> tuple[str, ...]:
    """Split names that are separated by commas, see :func:`split_names`; the option may be repeated as well."""
    return tuple(name for each in value for name in split_names(each))


def name_list(
    choices: Callable[[], Sequence[str]], *, has_openml: bool = False
) -> Callable[[Any, Any, str | None], list[str] | None]:
    """Return a callback that splits names at commas and rejects those that are not among the choices.

    Parameters
    ----------
    choices : callable
        Returns the allowed names; called when the option is given.
    has_openml : bool, default=False
        Whether names that begin with ``openml:`` are accepted unseen.
    """

    def split(ctx: Any, param: Any, value: str | None) -> list[str] | None:
        if value is None:
            return None
        names = split_names(value)
        for name in names:
            if name not in choices() and not (has_openml and name.startswith("openml:")):
                text = f"There is no {name!r}.{nearest(name, choices())} Choose from: {', '.join(choices())}."
                raise click.BadParameter(text, ctx=ctx, param=param)
        return names

    return split


def reading_options(command: Command) -> Command:
    """Add the options for the format of a file, for what cannot be detected in it."""
    for option in (
        click.option("--sheet", help="Sheet of an Excel file.  [default: the first]"),
        click.option("--gap", "gaps", multiple=True, metavar="TEXT", help="A text that marks a gap, such as -999."),
        click.option("--encoding", help="Encoding of the file, such as cp1252.  [default: detected]"),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign.  [default: detected]"),
        click.option("--delimiter", help="Sign between columns; 'tab' is a tab.  [default: detected]"),
    ):
        command = option(command)
    return command


def writing_options(command: Command) -> Command:
    """Add the options for how a table is written."""
    for option in (
        click.option("--output-encoding", help="Encoding of the output, such as utf-8.  [default: that of TABLE]"),
        click.option(
            "--guard-formulas",
            is_flag=True,
            help="Write an apostrophe before cells that a spreadsheet takes for formulas.",
        ),
    ):
        command = option(command)
    return command


def column_options(command: Command) -> Command:
    """Add the options for which columns to learn from, and how to read them."""
    for option in (
        click.option(
            "--source",
            metavar="COLUMN",
            help="How each labelled row was chosen: suggested or random.  [default: label_source, if the table has it]",
        ),
        click.option(
            "--unlabelled",
            multiple=True,
            metavar="TEXT",
            help="A text that marks an unlabelled row, besides an empty cell.",
        ),
        click.option("--categorical", multiple=True, callback=names_of, metavar="COLUMNS", help="Read as categories."),
        click.option("--continuous", multiple=True, callback=names_of, metavar="COLUMNS", help="Read as numbers."),
        click.option(
            "--keep",
            multiple=True,
            callback=names_of,
            metavar="COLUMNS",
            help="Learn from these columns, even if they look like identifiers or hold one value.",
        ),
        click.option(
            "--drop",
            multiple=True,
            callback=names_of,
            metavar="COLUMNS",
            help="Do not learn from these columns: a,b. A name with a comma stands in double quotes: "
            """'"price, EUR",b'.""",
        ),
    ):
        command = option(command)
    return command


def target_option(*, required: bool) -> Callable[[Command], Command]:
    """Add the option for the column of labels."""
    return click.option("--target", required=required, help="Column of labels; rows with an empty cell are unlabelled.")


def labels_option(command: Command) -> Command:
    """Add the option for a journal of labels."""
    return click.option(
        "--labels",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Journal of mixkern label or merge: its labels are used as well.",
    )(command)


def json_option(command: Command) -> Command:
    """Add the option for output as JSON."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")(command)


def seed_option(command: Command) -> Command:
    """Add the option for the seed of random numbers."""
    numbers = click.IntRange(0, 2**32 - 1)  # the seeds of NumPy
    return click.option(
        "--seed", type=numbers, default=0, show_default=True, help="Random seed; the same seed gives the same result."
    )(command)


def server_name_option(command: Command) -> Command:
    """Add the option for further names of a web server, without which requests through a proxy are refused."""
    text = "Further name of the server, such as a proxy's."
    return click.option("--name", "names", multiple=True, metavar="HOST", help=text)(command)


def dask_option(command: Command) -> Command:
    """Add the option to work on a Dask cluster."""

    def checked(_ctx: Any, _param: Any, value: str | None) -> str | None:
        if value and "://" not in value:
            raise click.BadParameter(f"{value!r} is not the address of a scheduler, such as tcp://host:8786.")
        return value

    return click.option(
        "--dask",
        is_flag=False,
        flag_value="",
        default=None,
        metavar="[ADDRESS]",
        callback=checked,
        help="Work on a Dask cluster, at ADDRESS or a local one; TABLE is a folder or pattern of Parquet files.",
    )(command)


def device_option(command: Command) -> Command:
    """Add the option for where a command computes; the setting ends with the command."""
    return click.option(
        "--device",
        type=click.Choice(["cpu", "cuda"]),
        default="cpu",
        show_default=True,
        expose_value=False,
        callback=_use_device,
        help="Where to compute: cuda is an NVIDIA GPU, for tables of many rows.",
    )(command)


def _use_device(ctx: click.Context, _param: Any, value: str) -> None:
    """Set the device until the command ends; a note where no GPU can be used."""
    if value == "cpu" or ctx.resilient_parsing:
        return
    from mixkern.cli.output import Notes, print_notes, warnings_as_notes  # with libraries that help does not need
    from mixkern.device import config

    notes: Notes = []
    with warnings_as_notes(notes):
        ctx.with_resource(config(device=value))
    print_notes(notes)


def check_output(output: str | Path, *inputs: str) -> None:
    """Raise an error for a folder that does not exist, and for files that would be lost: inputs, databases."""
    path = Path(output)
    if not path.absolute().parent.is_dir():
        raise click.ClickException(
            f"{path.name} cannot be written: there is no folder {str(path.parent)!r}. Create it."
        )
    for each in inputs:
        if path.exists() and Path(each).exists() and path.samefile(each):
            text = f"{output} is read by this command, and would be lost. Name another file."
            raise click.BadParameter(text, param_hint="-o")
    if _is_database(path):
        text = f"{output} is an SQLite file, such as a journal of labels, and would be lost. Name another file."
        raise click.BadParameter(text, param_hint="-o")


def given_paths(*paths: str | Path | None) -> list[str]:
    """Return the paths of options that are given."""
    return [str(path) for path in paths if path is not None]


def _is_database(path: Path) -> bool:
    """Return whether a file exists and is one of SQLite, as journals of labels are."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE
