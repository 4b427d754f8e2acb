"""The study, cell by cell, on all cores; what a store already has is left out."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.errors import MixkernWarning, StudyError
from mixkern.wording import listing, nearest
from mixkern_study.baselines import PEERS, Peer, peer_result
from mixkern_study.evaluation import Contest, Draw
from mixkern_study.fold import StudyFold, density_names, fitted_density, labelled_rows, study_fold
from mixkern_study.protocol import Experiment
from mixkern_study.published import KERNELS
from mixkern_study.run_time import fold_timings
from mixkern_study.store import CellKey, Store

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
    error : str
        Why it failed; empty where it did not.
    """

    done: int
    total: int
    what: str
    seconds: float
    error: str = ""


@dataclass(frozen=True, eq=False)
class _Job:
    """A part of the work: what a worker does before it writes."""

    data: Dataset
    fold: int
    method: str = ""  # none: the densities
    draws: tuple[tuple[int, int], ...] = ()  # experiment and repeat
    peer: Peer | None = None
    densities: tuple[str, ...] = ()  # to learn

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
    >>> from mixkern_study import Protocol, Store, run
    >>> small = Protocol(C=(1.0, 100.0), gamma=(0.1, 1.0), priors=(1.0,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/paper.sqlite", small)
    ...     run(store, experiments=[1], data_sets=["iris"], kernels=["rbf"], folds=[0], n_jobs=1)
    ...     [result.reading for result in store.results(data_set="iris")]
    ['expected_error', 'optimistic', 'ceiling']
    """
    tables, numbers = _tables(store, data_sets), _folds(store, folds)
    methods = _methods(kernels, peers)
    wanted = [(int(e), r) for e in map(Experiment, dict.fromkeys(experiments)) for r in range(_n_draws(e, repeats))]
    first, second = _densities(store, tables, numbers, methods), _cells(store, tables, numbers, methods, wanted)
    _follow(store, [(_learn, first), (_compete, second)], n_jobs, on_step)


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
    tables, numbers = _tables(store, data_sets), _folds(store, folds)
    known = {(timing.data_set, timing.fold) for timing in store.timings()}
    names = _names(store, ())
    jobs = [
        _Job(data, fold, "times", densities=names)
        for data in tables
        for fold in numbers
        if (data.name, fold) not in known
    ]
    _follow(store, [(_measure, jobs)], 1, on_step)


# ---------------------------------------------------------------- what there is to do


def _tables(store: Store, data_sets: Iterable[str | Dataset] | None) -> list[Dataset]:
    chosen = datasets.names() if data_sets is None else list(data_sets)
    tables = [each if isinstance(each, Dataset) else datasets.load(each) for each in chosen]
    for table in tables:
        store.add_data_set(table.name, table.key)
    return list({table.name: table for table in tables}.values())


def _folds(store: Store, folds: Iterable[int] | None) -> list[int]:
    return list(range(store.protocol.n_folds)) if folds is None else [int(fold) for fold in dict.fromkeys(folds)]


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


def _densities(store: Store, tables: Sequence[Dataset], folds: Sequence[int], methods: Iterable[str]) -> list[_Job]:
    """Give the folds that lack a density: the one found without labels, and those of the ceiling if anybody asks."""
    known = store.density_names()
    names = _names(store, methods)
    jobs = [
        _Job(data, fold, densities=names)
        for data in tables
        for fold in folds
        if any((data.name, fold, name) not in known for name in names)
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


def _names(store: Store, methods: Iterable[str]) -> tuple[str, ...]:
    """Name the densities that methods need."""
    return tuple(density_names(store.protocol)[: None if {"rwm", "gmm"} & set(methods) else 1])


# ---------------------------------------------------------------- doing it


Work = Callable[[Store, _Job], None]


def _follow(
    store: Store, stages: Sequence[tuple[Work, Sequence[_Job]]], n_jobs: int, on_step: Callable[[Step], object] | None
) -> None:
    """Do all jobs, stage by stage; what fails is told at the end, and the rest is kept."""
    if n_jobs == 0:
        raise StudyError("n_jobs must be a number of processes, or -1 for one per core, but it is 0.")
    total, done, errors = sum(len(jobs) for _, jobs in stages), 0, []
    store.begin()  # one run for all workers
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    for work, jobs in stages:
        for i, seconds, error in parallel(delayed(_timed)(work, store, job, i) for i, job in enumerate(jobs)):
            done += 1
            errors += [f"{jobs[i].what}: {error}"] if error else []
            if on_step is not None:
                on_step(Step(done, total, jobs[i].what, seconds, error))
    if errors:
        raise StudyError(f"{len(errors)} of {total} parts failed, all others are kept. The first: {errors[0]}")


def _timed(work: Work, store: Store, job: _Job, i: int) -> tuple[int, float, str]:
    start, error = perf_counter(), ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixkernWarning)  # hundreds of them, that nobody could act upon
        try:
            work(store, job)
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
    return i, perf_counter() - start, error


def _learn(store: Store, job: _Job) -> None:
    fold = study_fold(job.data, job.fold, store.protocol)
    for name in job.densities:
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
    names = _names(store, [job.method])
    return {name: store.density(job.data.name, job.fold, name) for name in names}


def _draw(store: Store, fold: StudyFold, mixture: Any, experiment: int, repeat: int) -> Draw:
    rows = labelled_rows(fold, mixture, Experiment(experiment), repeat, store.protocol)
    return Draw(experiment, repeat, rows, store.protocol.seed_of(fold.data_set, fold.number, repeat))
