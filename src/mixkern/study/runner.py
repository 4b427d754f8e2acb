"""The study, cell by cell, on all cores; what a store already has is left out."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.errors import MixkernWarning, StudyError, listing, nearest
from mixkern.study.contest import Contest, Draw
from mixkern.study.fold import StudyFold, density_names, fitted_density, labelled_rows, study_fold
from mixkern.study.peer import PEERS, Peer, peer_result
from mixkern.study.protocol import Experiment
from mixkern.study.published import KERNELS
from mixkern.study.run_time import fold_timings
from mixkern.study.store import CellKey, Store

EFFORT = {"lap": 12.0, "rwm": 6.0, "gmm": 6.0}  # against others, so that long cells begin first


@dataclass(frozen=True)
class Step:
    """How far a run is.

    Attributes
    ----------
    done, total : int
        Parts of the work.
    what : str
        The part that was finished last.
    seconds : float
        How long it took.
    """

    done: int
    total: int
    what: str
    seconds: float


@dataclass(frozen=True, eq=False)
class _Job:
    """A part of the work: what a worker does before it writes."""

    data: Dataset
    fold: int
    method: str = ""  # none: the densities
    draws: tuple[tuple[int, int], ...] = ()  # experiment and repeat
    peer: Peer | None = None

    @property
    def what(self) -> str:
        return f"{self.data.title}, fold {self.fold + 1}, {self.method or 'density'}"

    @property
    def effort(self) -> float:
        most = max((experiment for experiment, _ in self.draws), default=1)
        return len(self.data.X) * EFFORT.get(self.method, 1.0) * (most + 0.2 * len(self.draws))


def run(
    store: Store,
    *,
    experiments: Iterable[int] = (1, 2, 3),
    data_sets: Iterable[str | Dataset] | None = None,
    kernels: Iterable[str] = KERNELS,
    peers: Mapping[str, Peer] | Iterable[str] = (),
    repeats: int | Mapping[int, int] = 1,
    folds: Iterable[int] | None = None,
    n_jobs: int = -1,
    on_step: Callable[[Step], object] | None = None,
) -> None:
    """Replay the paper's experiments into a store; what it has already is not computed again.

    Parameters
    ----------
    store : Store
        Where results go, with the protocol that they follow.
    experiments : iterable of {1, 2, 3}, default=(1, 2, 3)
        Four labels per class, a tenth of the rows labelled, all of them labelled.
    data_sets : iterable of str or Dataset, default=None
        Names as in :func:`mixkern.datasets.load`, or tables of your own; by default the paper's twenty.
    kernels : iterable of {"rwm", "gmm", "rbf", "lap"}
        Which kernels.
    peers : mapping of str to callable, or iterable of names, default=()
        Other learners: names of :data:`PEERS`, or your own by a name.
    repeats : int or mapping of int to int, default=1
        Draws of labels in experiments 1 and 2, or in each experiment that is named: ``{1: 5}``.
    folds : iterable of int, default=None
        Some folds only, counted from 0; by default all.
    n_jobs : int, default=-1
        Processes; -1 is one for each core.
    on_step : callable, default=None
        Called with a :class:`Step` after every part of the work.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern.study import Protocol, Store, run
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store(f"{folder.name}/paper.sqlite", Protocol(C=(1.0, 100.0), gamma=(0.1, 1.0), priors=(1.0,)))
    >>> run(store, experiments=[1], data_sets=["iris"], kernels=["rbf"], folds=[0], n_jobs=1)
    >>> [result.reading for result in store.results(data_set="iris")]
    ['expected_error', 'optimistic', 'ceiling']
    """
    tables = _tables(data_sets)
    methods = _methods(kernels, peers)
    wanted = [(int(e), r) for e in map(Experiment, experiments) for r in range(_n_draws(e, repeats))]
    numbers = list(range(store.protocol.n_folds) if folds is None else folds)
    first, second = _densities(store, tables, numbers), _cells(store, tables, numbers, methods, wanted)
    total, done = len(first) + len(second), 0
    _ = store.run  # one for all workers
    for jobs, work in ((first, _learn), (second, _compete)):
        for job, seconds in _done(work, store, jobs, n_jobs):
            done += 1
            if on_step is not None:
                on_step(Step(done, total, job.what, seconds))


def run_times(
    store: Store,
    *,
    data_sets: Iterable[str | Dataset] | None = None,
    folds: Iterable[int] | None = None,
    on_step: Callable[[Step], object] | None = None,
) -> None:
    """Measure run-times as the paper does, one after the other, so that nothing else is in the way.

    Parameters
    ----------
    store, data_sets, folds, on_step
        As in :func:`run`.
    """
    tables = _tables(data_sets)
    numbers = list(range(store.protocol.n_folds) if folds is None else folds)
    known = {(timing.data_set, timing.fold) for timing in store.timings()}
    jobs = [_Job(data, fold, "times") for data in tables for fold in numbers if (data.name, fold) not in known]
    _ = store.run
    for done, (job, seconds) in enumerate(_done(_measure, store, jobs, 1), 1):
        if on_step is not None:
            on_step(Step(done, len(jobs), job.what, seconds))


# ---------------------------------------------------------------- what there is to do


def _tables(data_sets: Iterable[str | Dataset] | None) -> list[Dataset]:
    chosen = datasets.names() if data_sets is None else list(data_sets)
    return [each if isinstance(each, Dataset) else datasets.load(each) for each in chosen]


def _n_draws(experiment: Experiment, repeats: int | Mapping[int, int]) -> int:
    if experiment is Experiment.ALL:
        return 1  # there is nothing to draw
    return repeats.get(experiment, 1) if isinstance(repeats, Mapping) else repeats


def _methods(kernels: Iterable[str], peers: Mapping[str, Peer] | Iterable[str]) -> dict[str, Peer | None]:
    found: dict[str, Peer | None] = {}
    for name in kernels:
        if name not in KERNELS:
            raise StudyError(
                f"There is no kernel {name!r}.{nearest(name, list(KERNELS))} There are {listing(KERNELS)}."
            )
        found[name] = None
    if isinstance(peers, Mapping):
        found.update(peers)
        return found
    for name in peers:
        if name not in PEERS:
            raise StudyError(
                f"There is no peer {name!r}.{nearest(name, PEERS)} There are {listing(PEERS, limit=len(PEERS))}."
            )
        found[name] = PEERS[name]
    return found


def _densities(store: Store, tables: Sequence[Dataset], folds: Sequence[int]) -> list[_Job]:
    known = store.density_names()
    names = density_names(store.protocol)
    jobs = [
        _Job(data, fold) for data in tables for fold in folds if any((data.name, fold, n) not in known for n in names)
    ]
    return sorted(jobs, key=lambda job: -job.effort)


def _cells(
    store: Store,
    tables: Sequence[Dataset],
    folds: Sequence[int],
    methods: Mapping[str, Peer | None],
    wanted: Sequence[tuple[int, int]],
) -> list[_Job]:
    done = store.done()
    jobs = []
    for data in tables:
        for fold in folds:
            for method, peer in methods.items():
                draws = tuple(d for d in wanted if CellKey(d[0], data.name, fold, d[1], method) not in done)
                if draws:
                    jobs.append(_Job(data, fold, method, draws, peer))
    return sorted(jobs, key=lambda job: -job.effort)


# ---------------------------------------------------------------- doing it


def _done(
    work: Callable[[Store, _Job], None], store: Store, jobs: Sequence[_Job], n_jobs: int
) -> Iterator[tuple[_Job, float]]:
    """Do all jobs, and give each as it is done."""
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    for i, seconds in parallel(delayed(_timed)(work, store, job, i) for i, job in enumerate(jobs)):
        yield jobs[i], seconds


def _timed(work: Callable[[Store, _Job], None], store: Store, job: _Job, i: int) -> tuple[int, float]:
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)  # hundreds of them, that nobody could act upon
        work(store, job)
    return i, perf_counter() - start


def _learn(store: Store, job: _Job) -> None:
    fold = study_fold(job.data, job.fold, store.protocol)
    for name in density_names(store.protocol):
        if store.density(job.data.name, job.fold, name) is None:
            start = perf_counter()
            mixture = fitted_density(fold, name, store.protocol)
            store.add_density(job.data.name, job.fold, name, mixture, perf_counter() - start)


def _compete(store: Store, job: _Job) -> None:
    fold, mixtures = study_fold(job.data, job.fold, store.protocol), _mixtures(store, job)
    plain = mixtures[store.protocol.density]
    draws = [_draw(store, fold, plain, experiment, repeat) for experiment, repeat in job.draws]
    if job.peer is not None:
        store.add([peer_result(fold, plain, job.method, job.peer, draw) for draw in draws])
        return
    store.add(*Contest(fold, mixtures, job.method, store.protocol).results(draws))


def _measure(store: Store, job: _Job) -> None:
    _learn(store, job)
    fold = study_fold(job.data, job.fold, store.protocol)
    mixture = _mixtures(store, job)[store.protocol.density]
    labelled = labelled_rows(fold, mixture, Experiment.A_TENTH, 0, store.protocol)
    store.add_timings(fold_timings(fold, mixture, labelled, store.protocol))


def _mixtures(store: Store, job: _Job) -> dict[str, Any]:
    return {name: store.density(job.data.name, job.fold, name) for name in density_names(store.protocol)}


def _draw(store: Store, fold: StudyFold, mixture: Any, experiment: int, repeat: int) -> Draw:
    rows = labelled_rows(fold, mixture, Experiment(experiment), repeat, store.protocol)
    return Draw(experiment, repeat, rows, store.protocol.seed_of(fold.data_set, fold.number, repeat))
