"""Run the trials of a search one by one or in parallel, show them, and tabulate their scores."""

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from mixkern.device import Settings, current_settings, using
from mixkern.errors import InterruptedWarning, issue, warn
from mixkern.fitting import Task
from mixkern.typing import Floats
from mixkern.validation import NONE, Rule, is_whole

N_JOBS = Rule("a whole number other than 0", lambda value: is_whole(value) and value != 0) | NONE

_Result = TypeVar("_Result")


def is_parallel(n_jobs: int | None) -> bool:
    """Whether tasks run in several processes or threads: by ``n_jobs``, or by the context of joblib if it is None."""
    return bool(effective_n_jobs(n_jobs) > 1)


def run_tasks(
    function: Callable[..., _Result], tasks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Generator[_Result]:
    """Yield ``function(*task)`` for each task, in the order of the tasks.

    One after the other, a task begins when its result is needed. In parallel, results are yielded as soon as those
    before them are; closing the generator cancels the remaining tasks. Other processes and threads
    have the settings of this call (``mixkern.config``). Warnings of other processes are issued in this one, where the
    user has set filters for them.

    >>> list(run_tasks(pow, [(2, 3), (3, 2)], n_jobs=None))
    [8, 9]
    """
    if not is_parallel(n_jobs):
        yield from (function(*task) for task in tasks)
        return
    pid, settings = os.getpid(), current_settings()
    calls = (delayed(_recorded)(pid, settings, function, *task) for task in tasks)
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    try:
        for result, messages in results:
            for message in messages:
                issue(message)
            yield result
    finally:
        # An exception cancels without the warning of joblib's close(). A filter for that warning would fail at times:
        # filters belong to the process, and tasks in threads set their own.
        with suppress(_Cancelled):
            results.throw(_Cancelled())


class _Cancelled(BaseException):
    """Thrown into joblib's generator of results to cancel the remaining tasks."""


def _recorded(
    pid: int, settings: Settings, function: Callable[..., _Result], *task: Any
) -> tuple[_Result, list[Warning]]:
    """Return the result of a task, and the warnings that it issued in another process than the given one."""
    if os.getpid() == pid:
        with using(settings):
            return function(*task), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with using(settings):
            result = function(*task)
    return result, [each.message for each in caught if isinstance(each.message, Warning)]


def collect_trials(
    found: Generator[_Result],
    step: Task,
    n: int,
    line: Callable[[_Result, int], str],
    is_result: Callable[[_Result], bool] = lambda _: True,
) -> list[_Result]:
    """Collect trials until all are done, a callback stops the search, or Ctrl-C does.

    Parameters
    ----------
    found : generator
        The trials; it is closed at the end.
    step : Task
        Called after each trial; returns whether a callback requests a stop.
    n : int
        Number of trials that are planned, for the warning.
    line : callable
        Returns the line that ``verbose=2`` prints for a trial and its number.
    is_result : callable
        Whether a trial may be chosen. Before there is one, a callback cannot stop the search, and Ctrl-C is raised.
    """
    trials: list[_Result] = []
    is_stopped = False
    try:
        with closing(found):
            for trial in found:
                trials.append(trial)
                if step(partial(line, trial, len(trials))) and is_result(trial):
                    is_stopped = True
                    break
    except KeyboardInterrupt:
        if not any(map(is_result, trials)):
            raise
        is_stopped = True
    if is_stopped and len(trials) < n:
        warn(f"Stopped after {len(trials)} of {n} trials; the best of them is used.", InterruptedWarning)
    return trials


def trial_line(number: int, n: int, settings: Mapping[str, Any], score: float, seconds: float) -> str:
    """Return a line about a trial, for ``verbose``.

    >>> trial_line(3, 36, {"C": 1.0, "gamma": 0.1}, 0.875, 0.02)
    '[ 3/36] C=1, gamma=0.1: score 0.875, 0.02 s'
    """
    texts = [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in settings.items()]
    return f"[{number:{len(str(n))}}/{n}] {', '.join(texts)}: score {score:.3f}, {seconds:.2f} s"


def ranks(orders: Sequence[Any]) -> list[int]:
    """Return the rank of each sort key, 1 for the smallest; equal keys have equal ranks.

    >>> ranks([(0.2, 1.0), (0.1, 3.0), (0.2, 1.0), (0.1, 4.0)])
    [3, 1, 3, 2]
    """
    first: dict[Any, int] = {}
    for i, order in enumerate(sorted(orders)):
        first.setdefault(order, i + 1)
    return [first[order] for order in orders]


def results_table(
    params: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Sequence[Any]],
    split_scores: Sequence[Sequence[float]],
    scores: Sequence[float],
    rank: Sequence[int],
    times: Sequence[tuple[float, float]],
) -> dict[str, Any]:
    """Return trials in the form of scikit-learn's ``cv_results_``.

    Parameters
    ----------
    params : sequence of dict
        Parameters of each trial.
    columns : dict of sequences
        Columns for the names ``param_...``.
    split_scores : sequence of sequences of float
        Scores of each trial in the folds.
    scores, rank : sequence
        Mean score and rank of each trial.
    times : sequence of tuple
        Mean seconds of training and of scoring of each trial.

    Examples
    --------
    >>> table = results_table([{"C": 1.0}], {"C": [1.0]}, [[0.5, 1.0]], [0.75], [1], [(0.1, 0.2)])
    >>> {name: values[0] for name, values in table.items()}["std_test_score"]
    np.float64(0.25)
    """
    seconds = np.asarray(times, dtype=float).reshape(-1, 2)
    of_folds: Floats = np.asarray(split_scores, dtype=float)  # (trials, folds)
    table: dict[str, Any] = {"mean_fit_time": seconds[:, 0], "mean_score_time": seconds[:, 1]}
    table |= {f"param_{name}": _column(values) for name, values in columns.items()}
    table["params"] = [dict(each) for each in params]
    table |= {f"split{i}_test_score": column for i, column in enumerate(of_folds.T)}
    table["mean_test_score"] = np.asarray(scores, dtype=float)
    table["std_test_score"] = _deviation(of_folds)
    table["rank_test_score"] = np.asarray(rank, dtype=np.int32)
    return table


def _column(values: Sequence[Any]) -> Any:
    """Return values as an array: of numbers where all are, else of objects."""
    if all(isinstance(value, (int, float)) for value in values):
        return np.array(values, dtype=float)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _deviation(of_folds: Floats) -> Floats:
    """Return the standard deviation over folds; those without a score are left out."""
    there = np.isfinite(of_folds)
    n = there.sum(axis=1)
    mean = np.sum(of_folds, axis=1, where=there) / np.maximum(n, 1)
    sq = np.sum((of_folds - mean[:, None]) ** 2, axis=1, where=there) / np.maximum(n, 1)
    return np.where(n > 0, np.sqrt(sq), np.nan)
