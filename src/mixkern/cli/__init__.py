"""The command line tool ``mixkern``."""

import click

from mixkern.cli.commands import COMMANDS
from mixkern.cli.group import Commands

__all__ = ["cli"]


@click.group(cls=Commands, commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mixkern", prog_name="mixkern")
def cli() -> None:
    """Learn a table's structure from all its rows, classify it from a handful of labels.

    \b
    For a table with a few labels:
      mixkern look     customers.csv --target churn                   what is in it
      mixkern label    customers.csv --target churn                   label rows in a browser
      mixkern suggest  customers.csv --target churn -n 10             which rows to label next
      mixkern fit      customers.csv --target churn -o churn.mixkern  learn a model
      mixkern predict  churn.mixkern customers.csv -o labelled.csv    a label for every row
      mixkern explain  churn.mixkern customers.csv --row 318          why this label
      mixkern report   churn.mixkern customers.csv -o churn.html      all of it on one page
      mixkern serve    churn.mixkern --port 8000                      predictions over HTTP
    """  # noqa: D301
