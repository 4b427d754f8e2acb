"""``mixkern fit``: fit a model on a table with a few labels."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from mixkern.advice import estimated_accuracy, mistaken_labels
from mixkern.cli.journal import given_target, labelled_table
from mixkern.cli.option import (
    check_output,
    given_command,
    given_paths,
    repeat_options,
)
from mixkern.cli.output import Notes, print_result, spinner, warnings_as_notes
from mixkern.cli.table import TrainingTable
from mixkern.encoding.cell import jsonable
from mixkern.errors import LabelError, MixkernError
from mixkern.estimators import MixtureSVC
from mixkern.io import TableFile, read_model, save
from mixkern.svm.scheme import MOST_LANDMARK_PAIRED, MOST_PAIRED, SchemeName
from mixkern.wording import counted, joined, shortened, shown

SUFFIX = ".mixkern"


def fit_command(
    table: str,
    target: str | None,
    labels: Path | None,
    output: str | None,
    kernel: str,
    estimate: bool,
    as_json: bool,
    seed: int,
    dask: str | None,
    **reading: Any,
) -> None:
    """Fit a model, write it to a file, and print what it was learned from and its estimated accuracy."""
    path = Path(_default_path(table) if output is None else output)
    check_output(path, table, *given_paths(labels))
    notes: Notes = []
    if dask is not None:
        if labels is not None or target is None:
            raise click.UsageError("With --dask, the labels are a column of TABLE: give --target COLUMN.")
        from mixkern.cli.cluster import fit_partitions  # needs an extra

        notes += [] if output is not None else _replaced(path, target)
        result = fit_partitions(
            table, target, path, dask, notes, kernel=kernel, estimate=estimate, seed=seed, reading=reading
        )
        print_result(result, notes, lambda: _show(result, table, dask=dask), as_json=as_json)
        return
    with warnings_as_notes(notes):
        data = labelled_table(table, notes, target=given_target(target, labels), labels=labels, **reading)
        if len(data.counts) < 2:
            found = f"labels of one class, {next(iter(data.counts))!r}" if data.counts else "no label"
            raise LabelError(
                f"Column {data.target!r} has {found}, and two classes are needed. Label some rows: mixkern label "
                f"{shlex.quote(table)} {repeat_options(journal='--journal')}"
            )
        model = MixtureSVC(kernel, encoder=data.encoder, random_state=seed)
        with spinner(f"Learning from {counted(len(data.X), 'row')}"):
            model.fit(data.X, data.y)
        if model.scheme_ == SchemeName.ONE_VS_REST:
            most_paired = MOST_LANDMARK_PAIRED if model.n_landmarks_ else MOST_PAIRED
            notes.append(
                f"There are {len(model.classes_):,} classes, and a decision function for each of them against all "
                f"others. Up to {most_paired} classes, there is one for each pair of classes."
            )
        if model.n_landmarks_:
            notes.append(
                f"There are {int(model.n_labels_.sum()):,} labels, and decision functions are sums over "
                f"{model.n_landmarks_:,} of the labelled rows. Up to {model.max_labels:,} labels, an SVM is trained on "
                "the kernel matrix of all of them."
            )
        result = {**_result(data, model), "model": str(path)}
        if estimate:
            with spinner("Estimating the accuracy"):
                accuracy = estimated_accuracy(model, data.X, data.y, source=data.source, random_state=seed)
            result["accuracy"] = {**asdict(accuracy), "in_words": list(accuracy.sentences)}
            result["doubtful"] = _doubtful(model, data)
    kept = {key: value for key, value in result.items() if key != "model"}
    notes += [] if output is not None else _replaced(path, data.target)
    journal = {} if data.journal is None else {"journal": asdict(data.journal)}
    save(model, path, notes=jsonable({**kept, **journal, "command": given_command()}))
    print_result(result, notes, lambda: _show(result, table), as_json=as_json)


def _default_path(table: str) -> str:
    """Return a path beside the table, or in the current folder where the table is standard input."""
    path = Path(table)
    if table == "-" or not path.name:  # a folder is refused when it is read
        return f"model{SUFFIX}"
    return str(path.with_name(path.name.partition(".")[0] + SUFFIX))


def _replaced(path: Path, target: str | None) -> Notes:
    """Return a note where a file that was not named has a model of another target."""
    try:
        before = read_model(path).notes.get("target") if path.exists() else None
    except MixkernError:
        before = None
    if before in (None, target):
        return []
    return [f"{path.name} had a model of {shown(before)}, which is replaced. To keep both, name another file: -o FILE"]


def _result(data: TrainingTable, model: MixtureSVC) -> dict[str, Any]:
    """Return the facts that are printed, and kept in the model file."""
    return {
        "table": data.file.name,
        "target": data.target,
        "rows": len(data.X),
        "classes": data.counts,
        "columns": data.X.column_names,
        "ignored": list(data.ignored),
        "gaps": list(data.gaps),
        "dialect": _dialect(data.file),
        "decimals": {name: sign for name, sign in data.file.dialect.decimals.items() if name in data.X.column_names},
        "unlabelled": list(data.unlabelled),
        "source_column": data.source_column,
        "label_sources": data.source_counts,
        "kernel": str(model.kernel),
        "components": model.mixture_.n_components,
        "support_vectors": len(model.support_),
        "C": model.C_,
    }


def _doubtful(model: MixtureSVC, data: TrainingTable) -> list[dict[str, Any]]:
    """Return the labels that stand out as mistaken; rows are counted from 1."""
    found = mistaken_labels(data.X, data.y, model=model)
    table = found.table.slice(0, found.n_standing_out).drop_columns(["reason"])
    return [{"row": line.pop("position") + 1, **line} for line in table.to_pylist()]


def _doubts(doubtful: list[dict[str, Any]]) -> list[str]:
    """Write which labels stand out as mistaken."""
    rows = [f"row {each['row']} ({each['label']!r}, rather {each['likely']!r})" for each in doubtful]
    return [f"Labels that may be mistaken: {joined(rows)}."] if rows else []


def _dialect(file: TableFile) -> dict[str, Any] | None:
    """Return how the table is written, for other tables of the model; ``None`` for files with types."""
    found = file.dialect
    if found.format != "csv":
        return None
    orders = {name: spelling.day_first for name, (spelling, _) in file.spellings.items()}
    day_first = {name: order for name, order in orders.items() if order is not None}
    return {"delimiter": found.delimiter, "encoding": found.encoding, "day_first": day_first}


def _show(result: dict[str, Any], table: str, dask: str | None = None) -> None:
    counts = sorted(result["classes"].items(), key=lambda item: -item[1])
    labels = counted(sum(result["classes"].values()), "label")
    classes = joined([f"{n:,} {shortened(str(name))!r}" for name, n in counts])
    click.echo(
        f"Learned {result['target']!r} from {labels} ({classes}) and {counted(result['rows'], 'row')} in "
        f"{counted(result['components'], 'component')}."
    )
    if "accuracy" in result:
        for sentence in (*result["accuracy"]["in_words"], *_doubts(result.get("doubtful", []))):
            click.echo(sentence)
    words = [shlex.join([result["model"], table]), repeat_options(("sheet",)), "-o labelled.csv"]
    if dask is not None:
        words = [shlex.join([result["model"], table]), "-o labelled", f"--dask {dask}".strip()]
    click.echo(f"Model: {result['model']}\nNext: mixkern predict {' '.join(filter(None, words))}")
