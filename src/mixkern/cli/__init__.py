"""``mixkern ...``: what the library does, from a terminal."""

import click

import mixkern
from mixkern.cli.datasets import datasets_command
from mixkern.cli.paper import paper_group
from mixkern.cli.study import study_group

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mixkern.__version__, prog_name="mixkern")
def cli() -> None:
    """Learn a table's structure from all its rows, classify it from a handful of labels."""


cli.add_command(datasets_command)
cli.add_command(paper_group)
cli.add_command(study_group)
