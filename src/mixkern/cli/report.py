"""``mixkern report``: a model and its table on one page."""

from pathlib import Path
from typing import Any

import click

from mixkern.cli.model_table import known_table
from mixkern.cli.option import check_output, json_option, reading_options
from mixkern.cli.output import Notes, give, noting
from mixkern.cli.terminal import working
from mixkern.cli.training_table import counts_of, note_of
from mixkern.errors import MixkernError
from mixkern.report import write_model_report
from mixkern.storage import read_model


@click.command("report")
@click.argument("model", type=click.Path())
@click.argument("table")
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="The page.  [default: MODEL.html]")
@click.option("--title", help="Of the page.  [default: from the target]")
@click.option("--figures/--no-figures", default=True, show_default=True, help="With pictures.")
@reading_options
@json_option
def report_command(
    model: str, table: str, output: str | None, title: str | None, figures: bool, as_json: bool, **reading: Any
) -> None:
    """Write one HTML page about MODEL and TABLE, the table that it was fitted on, with labels so far.

    It has a summary, columns, groups of similar rows, the estimated accuracy, the rows to label next, the
    settings and versions, and needs nothing but a browser.

    \b
    Example:
      mixkern report churn.mixkern customers.csv -o churn.html
    """  # noqa: D301
    place = Path(model).with_suffix(".html") if output is None else Path(output)
    if place.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter(f"{place.name} does not end like a page: use .html.", param_hint="-o")
    check_output(place, model, table)
    notes: Notes = []
    file = read_model(model)
    with noting(notes):
        data = known_table(table, file, notes, **reading)
        X, y = data.labelled()
        note_of(data.file, notes)
        facts = {"Table": data.file.name, "Model file": Path(model).name, "Fitted": file.created}
        facts |= _other_labels(counts_of(y), file.notes.get("classes"), notes)
        with working("Writing the report"):
            try:
                write_model_report(
                    file.model, X, y, place, target=data.target, title=title, figures=figures, facts=facts
                )
            except OSError as error:
                raise MixkernError(f"{place.name} cannot be written: {error.strerror or error}.") from error
    answer = {"table": data.file.name, "report": str(place), "bytes": place.stat().st_size}
    give(answer, notes, lambda: click.echo(f"Report: {place}"), as_json=as_json)


def _other_labels(now: dict[str, int], at_fit: Any, notes: Notes) -> dict[str, str]:
    """Say that the table has other labels than the model has learned from."""
    if not isinstance(at_fit, dict) or at_fit == now:
        return {}
    before = ", ".join(f"{n} of {label!r}" for label, n in at_fit.items())
    notes.append(
        f"The model was fitted on other labels ({before}) than the table has now. Fit it again, for a report that is "
        "all of one piece."
    )
    return {"Labels at fit": before}
