"""Work of the commands on a Dask cluster: fit a model on Parquet files, and predict them."""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

from mixkern.advice import estimated_accuracy
from mixkern.advice.suggest import MAX_DRAWN, drawn_rows
from mixkern.cli.output import Notes, spinner, terminal_progress, warnings_as_notes
from mixkern.distributed import listening, parquet_table, write_assessed
from mixkern.distributed.collection import partitions_of, table_of
from mixkern.distributed.table import DaskTable
from mixkern.encoding import UNLABELLED, TableEncoder
from mixkern.encoding.cell import jsonable
from mixkern.encoding.intake import prediction_names, unused_columns
from mixkern.encoding.overrides import column_positions
from mixkern.errors import LabelError, ModelFileError, OptionError
from mixkern.estimators import MixtureSVC
from mixkern.imports import optional
from mixkern.io import read_model, save
from mixkern.partitions import PartitionedLabels
from mixkern.sampling import check_random_state
from mixkern.threads import available_threads
from mixkern.wording import counted, listing


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Connect to the scheduler at an address; without one, start workers here, one for each processor."""
    distributed = optional("distributed", purpose="The option --dask")
    if address:
        try:
            client = distributed.Client(address, timeout="10s", set_as_default=True)
        except OSError as error:
            raise OptionError(f"There is no Dask scheduler at {address}.") from error
        with client:
            yield
        return
    options = {"n_workers": available_threads(), "threads_per_worker": 1, "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(dashboard_address="127.0.0.1:0", **options) as local, distributed.Client(local):
        yield


@contextmanager
def pass_progress(description: str) -> Iterator[None]:
    """Show the present pass over the partitions: its name, its number, and how many of its tasks are done."""
    ended = Counter[str]()
    with terminal_progress(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()) as progress:
        task = progress.add_task(description, total=None)

        def show(name: str, done: int, n: int) -> None:
            text = f"{description}: {name}, pass {ended[name] + 1}"
            progress.update(task, description=text, completed=done, total=n)

        def count(name: str, _seconds: float) -> None:
            ended[name] += 1

        with listening(count, show):
            yield


def fit_partitions(
    pattern: str,
    target: str,
    path: Path,
    address: str,
    notes: Notes,
    *,
    kernel: str,
    estimate: bool,
    seed: int,
    reading: dict[str, Any],
) -> dict[str, Any]:
    """Fit a model on Parquet files, write it to a file, and return the facts that are printed."""
    files = parquet_table(pattern)
    names = {name: reading[name] for name in ("drop", "keep", "continuous", "categorical")}
    source = () if reading.get("source") is None else (reading["source"],)
    column_positions(files.names, {"target": (target,), **names, "source": source}, table=pattern)
    dropped = {target, *names["drop"], *source}
    columns = [name for name in files.names if name not in dropped]
    with cluster(address), warnings_as_notes(notes):
        with pass_progress("Reading the columns"):
            labels = files.collection([target], text=(target,), gaps=reading["unlabelled"])[target]
            table = table_of(files.collection(columns), labels)
            requested = [columns.index(name) for name in names["keep"] if name in columns]
            predicted = prediction_names(files.names)
            unused, remarks = unused_columns(dict(enumerate(table.summaries())), requested, predicted)
        notes += [remark.on("cli") for remark in remarks]
        used = [name for i, name in enumerate(columns) if i not in unused]
        if not used:
            raise OptionError(f"No column is left to learn from: {listing(columns)} cannot help to predict a label.")
        table = table.with_columns(used, partitions_of(files.collection(used)))
        counts = Counter(map(str, table.census.cells))
        if len(counts) < 2:
            found = f"labels of one class, {next(iter(counts))!r}" if counts else "no label"
            raise LabelError(f"Column {target!r} has {found}, and two classes are needed.")
        encoder = TableEncoder(continuous=names["continuous"] or None, categorical=names["categorical"] or None)
        model = MixtureSVC(kernel, encoder=encoder, random_state=seed)
        with pass_progress(f"Learning from {counted(len(table), 'row')}"):
            model.fit(table, PartitionedLabels(table))
        result = {
            "table": pattern,
            "target": target,
            "rows": len(table),
            "partitions": len(table.parts),
            "classes": dict(sorted(counts.items())),
            "columns": used,
            "ignored": [name for name in files.names if name not in used and name != target],
            "gaps": [],
            "unlabelled": list(reading["unlabelled"]),
            "kernel": str(model.kernel),
            "components": model.mixture_.n_components,
            "support_vectors": len(model.support_),
            "C": model.C_,
            "model": str(path),
        }
        if estimate:
            with spinner("Estimating the accuracy"):
                result["accuracy"] = _accuracy(model, table, seed)
    save(model, path, notes=jsonable({key: value for key, value in result.items() if key != "model"}))
    return result


def _accuracy(model: MixtureSVC, table: DaskTable, seed: int) -> dict[str, Any]:
    """Estimate the accuracy from the labelled rows and others that are drawn at random."""
    census = table.census
    codes = np.full(len(table), UNLABELLED)
    codes[census.rows] = 0
    drawn = drawn_rows(codes, MAX_DRAWN, check_random_state(seed))
    y = np.full(len(drawn), None, dtype=object)
    y[np.searchsorted(drawn, census.rows)] = list(census.cells)
    found = estimated_accuracy(model, table.some(drawn), y, random_state=seed)
    return {**asdict(found), "in_words": list(found.sentences)}


def predict_partitions(
    model: str,
    pattern: str,
    folder: str,
    address: str,
    *,
    all_classes: bool,
    abstain: float | None,
    reading: dict[str, Any],
) -> tuple[dict[str, Any], Notes]:
    """Write Parquet files with predictions to a folder; return the facts that are printed, and notes."""
    file = read_model(model)
    if not isinstance(file.model, MixtureSVC) or not hasattr(file.model, "feature_names_in_"):
        raise ModelFileError("The model in this file is no classifier that was fitted on a table with named columns.")
    if any(value not in (None, (), False, "") for value in reading.values()):
        raise click.UsageError("With --dask, tables are Parquet files, whose columns have types: no other option fits.")
    files = parquet_table(pattern)
    missing = [name for name in file.model.feature_names_in_ if name not in files.names]
    if missing:
        raise OptionError(f"{pattern} lacks columns that the model was fitted on: {listing(missing)}.")
    notes: Notes = []
    with cluster(address), warnings_as_notes(notes), pass_progress(f"Predicting {counted(len(files), 'row')}"):
        counts = write_assessed(
            file.model, files, Path(folder), all_classes=all_classes, abstain=abstain, key=file.checksum
        )
    return {"table": pattern, "output": folder, "rows": len(files), "labels": counts}, notes
