"""The command line tool ``mixkern``."""

import click

from mixkern.cli.group import Commands

__all__ = ["cli"]

# Module, function and one line of help of each command: a command is imported when it is used.
COMMANDS = {
    "look": ("mixkern.cli.look:look_command", "Show what is in a table and how its columns are read."),
    "suggest": ("mixkern.cli.suggest:suggest_command", "Suggest the rows to label next."),
    "label": ("mixkern.cli.label:label_command", "Label the rows of a table in a browser."),
    "merge": ("mixkern.cli.label:merge_command", "Record labels that were typed into a table of suggested rows."),
    "fit": ("mixkern.cli.fit:fit_command", "Learn a model from a table with a few labels."),
    "predict": ("mixkern.cli.predict:predict_command", "Write a table with a label for every row."),
    "explain": ("mixkern.cli.explain:explain_command", "Explain the label of one row."),
    "report": ("mixkern.cli.report:report_command", "Write a page about a model and its table."),
    "export": ("mixkern.cli.export:export_command", "Write a model as an ONNX file, for other programs."),
    "serve": ("mixkern.cli.serve:serve_command", "Answer requests for predictions over HTTP."),
    "convert": ("mixkern.cli.convert:convert_command", "Convert a model file of an older format."),
    "datasets": ("mixkern.cli.datasets:datasets_command", "List the packaged data sets, or write one as a table."),
}


@click.group(cls=Commands, commands_in=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
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
