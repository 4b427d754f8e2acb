"""``mixkern label``: label the rows of a table in a browser; ``mixkern merge``: record labels that were typed."""

import shlex
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mixkern.cli.journal import journal_path, label_table, table_to_label, target_of, write_labelled
from mixkern.cli.option import (
    COLUMN_OPTIONS,
    FILE_OPTIONS,
    check_output,
    given_paths,
    repeat_options,
)
from mixkern.cli.output import Notes, class_counts, print_notes, print_result, warnings_as_notes
from mixkern.cli.suggest import ROW
from mixkern.cli.table import SOURCE, TrainingTable, open_table
from mixkern.labelling import Journal, LabelServer, LabelSession
from mixkern.labelling.start import account
from mixkern.labelling.table import text_cells
from mixkern.labelling.typed import typed_events
from mixkern.web.secret import read_secret
from mixkern.wording import counted

# Parameters that labelling again needs.
LABEL_OPTIONS = (
    *("target", "classes", "journal", "users", "audit", "overlap", "seed"),
    *("host", "port", "password_file", "names", *FILE_OPTIONS, *COLUMN_OPTIONS),
)


def label_command(
    table: str,
    target: str | None,
    journal: str | None,
    classes: tuple[str, ...],
    export: str | None,
    typed: str | None,
    output_encoding: str | None,
    guard_formulas: bool,
    as_json: bool,
    audit: float,
    overlap: float,
    seed: int,
    users: tuple[str, ...],
    port: int,
    host: str,
    password_file: Path | None,
    names: tuple[str, ...],
    browser: bool,
    **reading: Any,
) -> None:
    """Serve the labelling page until Ctrl-C; or record typed labels, or write the table with all labels."""
    if export is not None:
        check_output(export, table, *given_paths(journal))
    password = "" if password_file is None else read_secret(password_file, "password")
    notes: Notes = []
    path = journal_path(table, journal)
    with warnings_as_notes(notes):
        data = table_to_label(table, notes, target=target_of(target, path), **reading)
    with _session(data, path, classes=classes, audit=audit, overlap=overlap, seed=seed) as session:
        notes += session.notes
        if typed is None and export is None:
            persons = users or (account(),)
            server = LabelServer(session, persons, host=host, port=port, password=password, names=names)
            _serve(server, notes, browser=browser)
        if typed is not None:
            _record(session, typed, users, reading)
        if export is not None:
            notes += write_labelled(data, session, export, output_encoding, guard_formulas=guard_formulas)
        result = {**_result(session, data), "export": export}
    if typed is None and export is None:
        n = sum(result["classes"].values())
        click.echo(f"{counted(n, 'label')} in {path}. Next: {_next_step(result, table)}", err=True)
    else:
        print_result(result, notes, lambda: _show(result, table), as_json=as_json)


@contextmanager
def _session(data: TrainingTable, path: Path, classes: tuple[str, ...] = (), **options: Any) -> Iterator[LabelSession]:
    """Open the journal of a table, and close it at the end."""
    with Journal(path) as journal:
        yield LabelSession(label_table(data, classes), journal, **options)


def _serve(server: LabelServer, notes: Notes, *, browser: bool) -> None:
    """Print the addresses, and serve the page until Ctrl-C."""
    if len(set(server.addresses.values())) == 1:  # of one person, or with a password
        click.echo(server.url)
    else:
        for name, address in server.addresses.items():
            click.echo(f"{address}  {name}")
    sys.stdout.flush()
    print_notes(notes)
    if not server.is_local:
        click.echo("From other computers, use the name of this computer in place of 'localhost'.", err=True)
    click.echo(f"Labels are written to {server.session.journal.path}. Stop by Ctrl-C.", err=True)
    if browser:
        webbrowser.open(server.url)
    with suppress(KeyboardInterrupt):
        server.run()


def merge_command(
    table: str,
    typed: str,
    target: str | None,
    journal: str | None,
    users: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Record the labels of a table that was filled in."""
    notes: Notes = []
    path = journal_path(table, journal)
    with warnings_as_notes(notes):
        data = table_to_label(table, notes, target=target_of(target, path), **reading)
    with _session(data, path) as session:
        notes += session.notes
        n = _record(session, typed, users, reading)
        result = {**_result(session, data), "recorded": n}
    print_result(result, notes, lambda: _show(result, table), as_json=as_json)


def _record(session: LabelSession, typed: str, users: tuple[str, ...], reading: dict[str, Any]) -> int:
    """Record the labels of a table that was filled in; return how many are new."""
    how = {name: reading[name] for name in FILE_OPTIONS if name != "sheet" and reading.get(name)}
    file = open_table(typed, how, [])
    cells = file.whole(text=file.names).cells.rename_columns(list(file.names))
    row_column = next((name for name in file.names if name in (ROW, f"mixkern_{ROW}")), ROW)
    source_column = reading.get("source") or next((name for name in file.names if name.endswith(SOURCE)), None)
    events = typed_events(
        session,
        text_cells(cells),
        row_column=row_column,
        source_column=source_column,
        user=users[0] if users else account(),
        name=file.name,
    )
    session.record(events)
    return len(events)


def _result(session: LabelSession, data: TrainingTable) -> dict[str, Any]:
    labels = list(session.labels.values())
    return {
        "table": data.file.name,
        "target": data.target,
        "rows": len(session.table),
        "journal": str(session.journal.path),
        "classes": {name: labels.count(name) for name in session.classes},
        "persons": session.answers.users(),
    }


def _show(result: dict[str, Any], table: str) -> None:
    n = sum(result["classes"].values())
    if "recorded" in result:
        click.echo(f"{counted(result['recorded'], 'new label')} recorded.")
    click.echo(
        f"{counted(n, 'label')} of {counted(result['rows'], 'row')} in {result['target']!r}: "
        f"{class_counts(result['classes'])}."
        if n
        else f"No label of {counted(result['rows'], 'row')} yet."
    )
    if result.get("export"):
        click.echo(f"Table with all labels: {result['export']}")
    click.echo(f"Next: {_next_step(result, table)}")


def _next_step(result: dict[str, Any], table: str) -> str:
    """Return the next command: fit with labels of two classes, else label with the options that were given."""
    if sum(n > 0 for n in result["classes"].values()) > 1:
        options = repeat_options((*COLUMN_OPTIONS, *FILE_OPTIONS))
        words = [f"mixkern fit {shlex.quote(table)} --labels {shlex.quote(result['journal'])}", options]
    else:
        context = click.get_current_context()
        is_given = {
            name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        }
        words = [f"mixkern label {shlex.quote(table)}", repeat_options(is_given.intersection(LABEL_OPTIONS))]
    return " ".join(filter(None, words))
