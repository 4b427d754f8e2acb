"""``mixkern convert``: convert a model file of an older format."""

import click

from mixkern.cli.output import printable
from mixkern.io import convert


@click.command("convert")
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
def convert_command(old: str, new: str) -> None:
    """Convert the model file OLD, which a development version of mixkern 0.1 has written, to the file NEW.

    This needs skops: pip install 'mixkern[convert]'. Convert only files from sources that you trust.

    \b
    Example:
      mixkern convert churn.mixkern churn_new.mixkern
    """  # noqa: D301
    click.echo(printable(f"Wrote {convert(old, new)}"))
