"""Run the parts of a study on all cores, and continue where an earlier run has stopped.

A study gives jobs, each with the cells that its store lacks. A job writes its own cells, so that whatever is finished
survives; the next run gives jobs for what is still missing.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Protocol

from joblib import Parallel, delayed

from mixkern.device import Settings, current_settings, using
from mixkern.errors import InterruptedWarning
from mixkern_study.protocol import StudyError
from mixkern_study.store import Store

REPLACED = "A worker stopped while some jobs"  # of joblib, which replaces workers that have grown; no job is lost
COUNTING_S = 2.0  # seconds between two counts of the cells that unfinished jobs have written


@dataclass(frozen=True)
class Step:
    """Progress of a run.

    Attributes
    ----------
    done, total : int
        Cells, finished and in all.
    what : str
        The job that was finished last.
    seconds : float
        How long it took.
    error : str
        Why it failed; empty where it did not.
    """

    done: int
    total: int
    what: str
    seconds: float
    error: str = ""


OnStep = Callable[[Step], object]


class Job(Protocol):
    """A part of a study that one process does."""

    @property
    def what(self) -> str:
        """Name of the job, for progress and errors."""

    @property
    def effort(self) -> float:
        """Expected duration, relative to other jobs: the longest job of a stage is begun first."""

    @property
    def n_cells(self) -> int:
        """Cells that it writes, for progress."""

    def work(self, store: Store) -> None:
        """Compute the cells and write each to the store once it is finished."""


def run_jobs(
    store: Store,
    *stages: Sequence[Job],
    n_jobs: int = -1,
    on_step: OnStep | None = None,
    count: Callable[[], int] | None = None,
) -> None:
    """Do all jobs, stage by stage; jobs that fail are reported at the end, and the results of others are kept.

    Parameters
    ----------
    store : Store
        Where jobs write.
    *stages : sequence of Job
        A stage begins once the one before it is finished.
    n_jobs : int, default=-1
        Processes; -1 is one for each core.
    on_step : callable, default=None
        Called with a :class:`Step` after every job.
    count : callable, default=None
        Returns the number of cells in the store; with it, progress is also reported while long jobs run.
    """
    if n_jobs == 0:
        raise StudyError("n_jobs must be a number of processes, or -1 for one per core, but it is 0.")
    jobs = [job for stage in stages for job in stage]
    if not jobs:
        return
    store.begin()  # one run for all processes
    settings = current_settings()  # of mixkern.config, which other processes do not have
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    errors: list[str] = []
    with _Progress(sum(job.n_cells for job in jobs), on_step, count) as progress, warnings.catch_warnings():
        warnings.filterwarnings("ignore", REPLACED, UserWarning)
        for stage in stages:
            ordered = sorted(stage, key=lambda job: -job.effort)
            for i, seconds, error in parallel(delayed(_done)(store, job, i, settings) for i, job in enumerate(ordered)):
                errors += [f"{ordered[i].what}: {error}"] if error else []
                progress.finish(ordered[i], seconds, error)
    if errors:
        raise StudyError(f"{len(errors)} of {len(jobs)} parts failed, all others are kept. The first: {errors[0]}")


def _done(store: Store, job: Job, i: int, settings: Settings) -> tuple[int, float, str]:
    """Do a job in a worker process; return its position, its seconds and its error."""
    start, error = perf_counter(), ""
    try:
        with quiet(), using(settings):
            job.work(store)
    except Exception as failure:
        error = sentence(failure)
    return i, perf_counter() - start, error


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings, but raise KeyboardInterrupt where an estimator was interrupted and is half-trained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", InterruptedWarning)
        try:
            yield
        except InterruptedWarning:
            raise KeyboardInterrupt from None


def sentence(failure: Exception) -> str:
    """Return an error's class and text.

    >>> sentence(ValueError("no labels"))
    'ValueError: no labels'
    """
    return f"{type(failure).__name__}: {failure}"


class _Progress:
    """Count finished cells: after each job, and between jobs by looking into the store."""

    def __init__(self, total: int, on_step: OnStep | None, count: Callable[[], int] | None) -> None:
        self._total, self._on_step, self._count = total, on_step, count
        self._finished = self._shown = 0
        self._last, self._lock, self._is_over = "", Lock(), Event()

    def __enter__(self) -> "_Progress":
        self._start, self._watcher = perf_counter(), Thread(target=self._watch, daemon=True)
        if self._count is not None and self._on_step is not None:
            self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._watcher.ident is not None:  # it was started
            self._watcher.join()

    def finish(self, job: Job, seconds: float, error: str) -> None:
        """Report a finished job."""
        self._finished += job.n_cells
        self._last = job.what
        self._show(self._finished, seconds, error)

    def _watch(self) -> None:
        assert self._count is not None
        before = self._count()
        while not self._is_over.wait(COUNTING_S):
            self._show(min(self._count() - before, self._total), perf_counter() - self._start, "")

    def _show(self, done: int, seconds: float, error: str) -> None:
        with self._lock:
            self._shown = max(self._shown, done)
            if self._on_step is not None:
                self._on_step(Step(self._shown, self._total, self._last, seconds, error))
