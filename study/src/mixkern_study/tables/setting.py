"""With what settings, versions and machines results were computed."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from mixkern_study.protocol import Experiment
from mixkern_study.result_table import Cell, StudyTable
from mixkern_study.store import Store


def settings_table(store: Store) -> StudyTable:
    """Say with what settings, versions and machines the results were computed.

    Parameters
    ----------
    store : Store
        Results.

    Returns
    -------
    StudyTable

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [cell.to_text() for cell in settings_table(Store(f"{folder}/paper.sqlite")).rows[0]]
    ['n_folds', '5']
    """
    runs = store.runs()
    facts = [(name, _setting(value)) for name, value in asdict(store.protocol).items()]
    facts += [(f"results of experiment {e.value}", str(len(store.results(experiment=e.value)))) for e in Experiment]
    if runs:
        facts += [
            ("runs", str(len(runs))),
            ("first run", runs[0]["started"]),
            ("last run", runs[-1]["started"]),
            *((name, _distinct(run["versions"].get(name) for run in runs)) for name in runs[-1]["versions"]),
            *((name, _distinct(run["host"].get(name) for run in runs)) for name in runs[-1]["host"]),
        ]
    return StudyTable(
        name="settings",
        title="Settings, versions and machines",
        caption=f"The key of these settings is {store.protocol.key}; results of other settings are kept apart.",
        columns=("What", "Value"),
        rows=tuple((Cell(name), Cell(value)) for name, value in facts),
        numbers=frozenset(),
    )


def _setting(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"{each:g}" for each in value)
    return str(value) if isinstance(value, str) else json.dumps(value)


def _distinct(values: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value is not None))
