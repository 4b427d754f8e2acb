"""``mixkern ...``: what the library does, from a terminal."""

import click

import mixkern
from mixkern.cli.datasets import datasets_command
from mixkern.cli.explain import explain_command
from mixkern.cli.fit import fit_command
from mixkern.cli.group import Commands
from mixkern.cli.look import look_command
from mixkern.cli.paper import paper_group
from mixkern.cli.predict import predict_command
from mixkern.cli.report import report_command
from mixkern.cli.study import study_group
from mixkern.cli.suggest import suggest_command

__all__ = ["cli"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mixkern.__version__, prog_name="mixkern")
def cli() -> None:
    """Learn a table's structure from all its rows, classify it from a handful of labels.

    \b
    A table with a few labels:
      mixkern look     customers.csv --target churn                   what is in it
      mixkern suggest  customers.csv --target churn -n 10             which rows to label next
      mixkern fit      customers.csv --target churn -o churn.mixkern  learn a model
      mixkern predict  churn.mixkern customers.csv -o labelled.csv    a label for every row
      mixkern explain  churn.mixkern customers.csv --row 318          why this label
      mixkern report   churn.mixkern customers.csv -o churn.html      all of it on one page
    """  # noqa: D301


for command in (
    look_command,
    suggest_command,
    fit_command,
    predict_command,
    explain_command,
    report_command,
    datasets_command,
    paper_group,
    study_group,
):
    cli.add_command(command)
