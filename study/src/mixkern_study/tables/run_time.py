"""Run-times beside the published ones."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mixkern.wording import counted
from mixkern_study.published import KERNELS, RunTimes, published_run_times
from mixkern_study.ranking import title_of
from mixkern_study.result_table import IN_PARENTHESES, SECONDS, Cell, StudyTable, is_there
from mixkern_study.store import Store, Timing

PARTS = ("building", "training", "testing")


def run_time_table(store: Store) -> StudyTable:
    """Put run-times in seconds beside the published ones, and beside scikit-learn's RBF kernel on the same rows.

    Parameters
    ----------
    store : Store
        With timings, from :func:`mixkern_study.runner.run_times`.

    Returns
    -------
    StudyTable

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_time_table(Store(f"{folder}/paper.sqlite")).rows[0][1].to_text()
    '- (2.7)'
    """
    ours, published = _mean_times(store.timings()), published_run_times()
    columns = _time_columns()
    titles = [*published, *(title for title in ours if title not in published)]
    complete = [
        title for title in ours if title in published and not any(map(math.isnan, _times(ours[title], columns)))
    ]
    rows = [_time_row(title, ours.get(title, {}), published.get(title), columns) for title in titles]
    done = [row for row, title in zip(rows, titles, strict=True) if title in complete]
    return StudyTable(
        name="run_times",
        title="Run-times in seconds",
        caption=(
            f"Mean over folds: the density; the kernel matrix among all training rows; the machine on a tenth of the "
            f"labels; the predictions of all other training rows. {IN_PARENTHESES} Those were measured on another "
            "machine, so compare them with each other and not with ours. rbf_kernel is scikit-learn's function on the "
            "same rows, and RWM / rbf_kernel how many times as long RWM's matrix takes. LAP grid is LAP's matrix for "
            f"all ratios of the grid at one gamma. The mean is over {counted(len(done), 'data set')} of the paper that "
            "have all figures; its ratio is the mean of ratios."
        ),
        columns=("Data set", *(heading for heading, *_ in columns)),
        rows=tuple(rows),
        footer=(_mean_row(done, len(columns)),),
    )


_Time = tuple[str, Callable[[Mapping[str, float]], float], Callable[[RunTimes], float] | None]


def _time_columns() -> list[_Time]:
    """Give the heading of each column, what it is of our times, and of the published ones."""

    def of_kernel(kernel: str, part: str) -> _Time:
        key = f"{kernel} {part}"
        return (
            f"{kernel.upper()} {part}",
            lambda times: times.get(key, math.nan),
            lambda paper: getattr(paper, part)[kernel],
        )

    def ratio(times: Mapping[str, float]) -> float:
        return times.get("rwm building", math.nan) / times.get("rbf_kernel building", math.nan)

    return [
        ("Density", lambda times: times.get("density building", math.nan), lambda paper: paper.model_estimation),
        *(of_kernel(kernel, part) for part in PARTS for kernel in KERNELS),
        ("rbf_kernel", lambda times: times.get("rbf_kernel building", math.nan), None),
        ("RWM / rbf_kernel", ratio, None),
        ("LAP grid", lambda times: times.get("lap grid", math.nan), None),
    ]


def _mean_times(timings: Iterable[Timing]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for timing in timings:
        for part in (*PARTS, "grid"):
            seconds = getattr(timing, f"{part}_s")
            if not math.isnan(seconds):
                found[title_of(timing.data_set)][f"{timing.method} {part}"].append(seconds)
    return {title: {key: float(np.mean(each)) for key, each in times.items()} for title, times in found.items()}


def _times(ours: Mapping[str, float], columns: Sequence[_Time]) -> list[float]:
    return [value(ours) for _, value, _ in columns]


def _time_row(
    title: str, ours: Mapping[str, float], paper: RunTimes | None, columns: Sequence[_Time]
) -> tuple[Cell, ...]:
    cells = (
        Cell(value(ours), published=None if paper is None or theirs is None else theirs(paper), spec=SECONDS)
        for _, value, theirs in columns
    )
    return (Cell(title), *cells)


def _mean_row(rows: Sequence[tuple[Cell, ...]], n_columns: int) -> tuple[Cell, ...]:
    def mean(values: Iterable[Any]) -> float | None:
        there = [value for value in values if is_there(value)]
        return float(np.mean(there)) if there else None

    cells = (
        Cell(mean(row[j].value for row in rows), published=mean(row[j].published for row in rows), spec=SECONDS)
        for j in range(1, n_columns + 1)
    )
    return (Cell("Mean"), *cells)
