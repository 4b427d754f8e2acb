"""The commands: options and help of each. Its function, with all that it imports, is imported when it is run."""

from pathlib import Path

import click

from mixkern.cli.group import runs
from mixkern.cli.option import (
    column_options,
    dask_option,
    device_option,
    json_option,
    labels_option,
    names_of,
    reading_options,
    seed_option,
    server_name_option,
    target_option,
    writing_options,
)
from mixkern.defaults import (
    AUDIT,
    OVERLAP,
    REQUEST_MIB,
    REQUEST_ROWS,
    REQUEST_SECONDS,
    REQUESTS,
    STANDARD_OUTPUT,
    DType,
    KernelName,
)
from mixkern.web.address import LOCAL, MOST_PORT

POSITIVE = click.IntRange(min=1)


@click.command("look", short_help="Show what is in a table and how its columns are read.")
@click.argument("table")
@target_option(required=False)
@labels_option
@column_options
@reading_options
@seed_option
@device_option
@json_option
@runs("mixkern.cli.look:look_command")
def look() -> None:
    """Show what is in TABLE: columns, gaps, labels, groups of similar rows, and which groups have no label.

    TABLE is a CSV, TSV, Excel or Parquet file, compressed or not; - is standard input.

    \b
    Example:
      mixkern look customers.csv --target churn
    """  # noqa: D301


@click.command("suggest", short_help="Suggest the rows to label next.")
@click.argument("table")
@target_option(required=False)
@labels_option
@click.option("-n", "n", type=click.IntRange(1), default=10, show_default=True, help="Number of rows.")
@click.option(
    "--audit",
    type=click.FloatRange(0, 1),
    default=AUDIT,
    show_default=True,
    metavar="FRACTION",
    help="Share of rows that are drawn at random, to estimate the accuracy.",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write these rows to a table that can be filled in."
)
@writing_options
@column_options
@reading_options
@seed_option
@device_option
@json_option
@runs("mixkern.cli.suggest:suggest_command")
def suggest() -> None:
    """Suggest the rows of TABLE to label next, the most important one first, each with a reason.

    Without any labels, the rows are spread over the whole table; with some, they are those whose label is most
    uncertain. One row in five is drawn at random: with the labels of such rows, fit can estimate the accuracy on the
    whole table. Rows are counted from 1; the header is not counted.

    \b
    Examples:
      mixkern suggest customers.csv --target churn -n 10
      mixkern suggest customers.csv --target churn -n 30 -o to_label.csv
      mixkern suggest customers.csv --labels customers.labels
    """  # noqa: D301


@click.command("label", short_help="Label the rows of a table in a browser.")
@click.argument("table")
@click.option("--target", help="Column of labels; the table need not have it.  [default: that of the journal]")
@click.option("--classes", multiple=True, callback=names_of, metavar="NAMES", help="Classes to choose from: yes,no.")
@click.option("--journal", type=click.Path(dir_okay=False), help="File of all answers.  [default: TABLE.labels]")
@click.option("--user", "users", multiple=True, metavar="NAME", help="Who labels; may be repeated.  [default: account]")
@click.option("--audit", type=click.FloatRange(0, 1), default=AUDIT, show_default=True, help="Share of random rows.")
@click.option(
    "--overlap",
    type=click.FloatRange(0, 1),
    default=OVERLAP,
    show_default=True,
    help="Share of a person's rows that another one has labelled before.",
)
@click.option(
    "--port",
    type=click.IntRange(0, MOST_PORT),
    default=0,
    show_default=True,
    help="Port; 0 is that of the last time, or any free one.",
)
@click.option("--host", default=LOCAL, show_default=True, help="Address to listen on; others need a password.")
@click.option("--password-file", type=click.Path(dir_okay=False, path_type=Path), help="File with the password.")
@server_name_option
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
@click.option("--export", type=click.Path(dir_okay=False), help="Write the table with all labels, and stop.")
@click.option("--from", "typed", type=click.Path(dir_okay=False), help="Record labels typed in a table, and stop.")
@click.option("--output-encoding", help="Encoding of the export, such as utf-8.  [default: that of TABLE]")
@click.option(
    "--guard-formulas/--no-guard-formulas",
    default=True,
    show_default=True,
    help="In the export, write an apostrophe before cells that a spreadsheet takes for formulas.",
)
@column_options
@reading_options
@seed_option
@device_option
@json_option
@runs("mixkern.cli.label:label_command")
def label() -> None:
    """Label the rows of TABLE in a browser.

    The first line that is printed is the address of the page. Every label is written to a journal beside the table
    before the page says so; TABLE itself is never written. Stop the server by Ctrl-C, and start it again at any time.

    \b
    Examples:
      mixkern label customers.csv --target churn
      mixkern label customers.csv --target churn --user anna --user ben
      mixkern label customers.csv --export exported.csv
    """  # noqa: D301


@click.command("merge", short_help="Record labels that were typed into a table of suggested rows.")
@click.argument("table")
@click.argument("typed")
@click.option("--target", help="Column of labels.  [default: that of the journal]")
@click.option("--journal", type=click.Path(dir_okay=False), help="File of all answers.  [default: TABLE.labels]")
@click.option("--user", "users", multiple=True, metavar="NAME", help="Who has typed them.  [default: account]")
@column_options
@reading_options
@json_option
@runs("mixkern.cli.label:merge_command")
def merge() -> None:
    """Record the labels that were typed into TYPED, a table of suggested rows, for TABLE.

    Rows are matched by the column 'row', which mixkern suggest writes. The labels go into the journal beside TABLE, as
    those of mixkern label do.

    \b
    Example:
      mixkern merge customers.csv to_label.csv --target churn
    """  # noqa: D301


@click.command("fit", short_help="Learn a model from a table with a few labels.")
@click.argument("table")
@target_option(required=False)
@labels_option
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File of the model.  [default: TABLE.mixkern]")
@click.option(
    "--kernel",
    type=click.Choice([str(name) for name in KernelName]),
    default=str(KernelName.BLEND),
    show_default=True,
    help="Similarity of two rows; rwm is the kernel of the paper.",
)
@click.option(
    "--estimate/--no-estimate", default=True, show_default=True, help="Estimate the accuracy, which takes longer."
)
@column_options
@reading_options
@seed_option
@dask_option
@device_option
@json_option
@runs("mixkern.cli.fit:fit_command")
def fit() -> None:
    """Fit a model on all rows of TABLE, of which only some need a label, and write it to a file.

    Rows whose TARGET is empty are unlabelled: the model learns the structure of the table from them, too. The accuracy
    is estimated by leaving labels out and predicting them.

    \b
    Examples:
      mixkern fit customers.csv --target churn -o churn.mixkern
      mixkern fit customers.csv --labels customers.labels
      mixkern fit 'events/*.parquet' --target churn -o churn.mixkern --dask
    """  # noqa: D301


@click.command("predict", short_help="Write a table with a label for every row.")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option("-o", "--output", default=STANDARD_OUTPUT, help="The labelled table.  [default: standard output]")
@click.option("--probabilities", is_flag=True, help="Add the probability of each class.")
@click.option(
    "--abstain",
    type=click.FloatRange(0.0, 1.0, min_open=True),
    metavar="SHARE",
    help="Leave the label empty where its probability is below SHARE, such as 0.8.",
)
@click.option("--only", is_flag=True, help="Write row numbers and predictions, and no column of TABLE.")
@writing_options
@reading_options
@dask_option
@device_option
@json_option
@runs("mixkern.cli.predict:predict_command")
def predict() -> None:
    """Write TABLE with four more columns: label, probability, component and novelty of each row.

    The probability is that of the label; the component is the group of similar rows that a row belongs to; the novelty
    is the share of training rows that have a higher density: a row above 0.99 is unlike nearly all of them. TABLE is
    read in blocks, so that it may be larger than memory.

    With --abstain 0.8, rows whose label has a probability below 0.8 have an empty label; the probability stays.

    The output is written as TABLE is: its delimiter, encoding and decimal sign, and its cells unchanged. A name that
    ends with .tsv, .parquet or .arrow has that format; in Parquet and Arrow the columns of the model have types.

    \b
    Examples:
      mixkern predict churn.mixkern customers.csv -o labelled.csv
      mixkern predict churn.mixkern customers.csv -o labelled.csv --abstain 0.8
      mixkern predict churn.mixkern - --only < customers.csv
      mixkern predict churn.mixkern 'events/*.parquet' -o labelled --dask
    """  # noqa: D301


@click.command("explain", short_help="Explain the label of one row.")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option(
    "--row", type=click.IntRange(1), required=True, help="Number of the row; the first one below the header is row 1."
)
@reading_options
@json_option
@runs("mixkern.cli.explain:explain_command")
def explain() -> None:
    """Explain the label of a row of TABLE: the labelled rows, the component and the columns that decided it.

    The contributions of all labelled rows add up to the score exactly. Labelled rows have the numbers of the table that
    the model was fitted on.

    \b
    Examples:
      mixkern explain churn.mixkern customers.csv --row 318
      mixkern explain churn.mixkern - --row 1 --json < customer.csv
    """  # noqa: D301


@click.command("report", short_help="Write a page about a model and its table.")
@click.argument("model", type=click.Path())
@click.argument("table")
@labels_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="File of the page, or of the card if it ends with .md.  [default: MODEL.html]",
)
@click.option("--title", help="Title of the page.  [default: made from the target]")
@click.option("--figures/--no-figures", default=True, show_default=True, help="Include figures.")
@reading_options
@device_option
@json_option
@runs("mixkern.cli.report:report_command")
def report() -> None:
    """Write one HTML page about MODEL and TABLE, the table that it was fitted on, with its labels.

    The page has a summary, the columns, the groups of similar rows, the estimated accuracy, the rows to label next,
    the settings and the versions. It is a single file that any browser shows.

    A name that ends with .md is a model card in Markdown: data, labels, accuracy, what the model must not be used for,
    files with their SHA-256, and versions.

    \b
    Examples:
      mixkern report churn.mixkern customers.csv -o churn.html
      mixkern report churn.mixkern customers.csv -o churn.md
      mixkern report churn.mixkern customers.csv --labels customers.labels
    """  # noqa: D301


@click.command("export", short_help="Write a model as an ONNX file, for other programs.")
@click.argument("model", type=click.Path())
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File of the export.  [default: MODEL.onnx]")
@click.option(
    "--dtype",
    type=click.Choice([str(each) for each in DType]),
    default=str(DType.FLOAT64),
    show_default=True,
    help="Type of numbers in inputs and outputs; float32 rounds cells to seven digits.",
)
@json_option
@runs("mixkern.cli.export:export_command")
def export() -> None:
    """Write MODEL as an ONNX file, which predicts without Python: label, probabilities, component and novelty.

    Each column of the table is an input of shape (N, 1). A gap is NaN among numbers and an empty text among texts; a
    date is the number of days since 1970. Models with columns of free text cannot be exported. The metadata of the file
    have the SHA-256 of MODEL.

    \b
    Examples:
      mixkern export churn.mixkern -o churn.onnx
      mixkern export churn.mixkern --dtype float32 --json
    """  # noqa: D301


@click.command("serve", short_help="Answer requests for predictions over HTTP.")
@click.argument("model", type=click.Path())
@click.option("--port", type=click.IntRange(0, MOST_PORT), default=0, show_default=True, help="Port; 0 is any free.")
@click.option("--host", default=LOCAL, show_default=True, help="Address to listen on; others need a token.")
@click.option("--token-file", type=click.Path(dir_okay=False, path_type=Path), help="File with the token of clients.")
@server_name_option
@click.option("--workers", type=POSITIVE, default=1, show_default=True, help="Processes that predict.")
@click.option("--max-rows", type=POSITIVE, default=REQUEST_ROWS, show_default=True, help="Rows of a request.")
@click.option("--max-mib", type=POSITIVE, default=REQUEST_MIB, show_default=True, help="MiB of a request.")
@click.option(
    "--max-requests",
    type=POSITIVE,
    default=REQUESTS,
    show_default=True,
    help="Requests that are answered at the same time.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=REQUEST_SECONDS,
    show_default=True,
    help="Seconds for a request.",
)
@click.option("--log", metavar="FILE", help="Append a line of JSON for each request; - is standard error.")
@runs("mixkern.cli.serve:serve_command")
def serve() -> None:
    """Answer requests for predictions of MODEL, a classifier, over HTTP, as JSON and Arrow.

    The first line that is printed is the address: a page with the columns of the model and an example. POST /predict
    takes rows; /health, /metrics and /model are for machines. Stop the server by Ctrl-C or SIGTERM.

    \b
    Examples:
      mixkern serve churn.mixkern --port 8000
      mixkern serve churn.mixkern --host 0.0.0.0 --token-file token.txt --workers 4 --log requests.jsonl
    """  # noqa: D301


@click.command("convert", short_help="Convert a model file of an older format.")
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
@runs("mixkern.cli.convert:convert_command")
def convert() -> None:
    """Convert the model file OLD, which a development version of mixkern 0.1 has written, to the file NEW.

    This needs skops: pip install 'mixkern[convert]'. Convert only files that you have written yourself.

    \b
    Example:
      mixkern convert churn.mixkern churn_new.mixkern
    """  # noqa: D301


@click.command("datasets", short_help="List the packaged data sets, or write one as a table.")
@json_option
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the two-dimensional data sets into this file (png, svg, pdf).",
)
@click.option("--write", "name", metavar="NAME", help="Write a data set as a table, to try the other commands on.")
@click.option("-o", "--output", help="File of that table.  [default: NAME.csv]")
@click.option("--target", default="class", show_default=True, help="Name of its column of labels.")
@click.option("--labels", type=click.IntRange(1), help="Labels to keep of each class.  [default: all]")
@seed_option
@runs("mixkern.cli.datasets:datasets_command")
def datasets() -> None:
    """List the twenty data sets of the paper, or write one as a table.

    \b
    Examples:
      mixkern datasets --picture sets.png
      mixkern datasets --write heart --labels 10 --target disease -o heart.csv
    """  # noqa: D301


# In the order of the help.
COMMANDS = (look, suggest, label, merge, fit, predict, explain, report, export, serve, convert, datasets)
