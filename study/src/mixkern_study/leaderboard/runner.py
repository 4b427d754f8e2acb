"""The leaderboard, fold by fold, on all cores; what the store has already is left out."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter, process_time

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import UNLABELLED
from mixkern.errors import InterruptedWarning, StudyError
from mixkern.typing import Ints
from mixkern.validation import one_of
from mixkern.wording import listing, nearest
from mixkern_study.fold import StudyFold, study_fold
from mixkern_study.leaderboard.entry import Entry, LeaderboardStore
from mixkern_study.leaderboard.label_draw import BUDGETS, N_DRAWS, Choice, Deal, dealt_rows, seed_of
from mixkern_study.leaderboard.method import METHODS, Ground, Learner, Method
from mixkern_study.leaderboard.outside import OUTSIDE, load_any
from mixkern_study.runner import Step

PATIENCE = 2.0  # seconds between two looks at how far workers are


@dataclass(frozen=True, eq=False)
class _Job:
    """All that is missing of one fold of one data set."""

    data: Dataset
    fold: int
    missing: Mapping[str, tuple[Deal, ...]]  # by method
    methods: Mapping[str, Method]

    @property
    def what(self) -> str:
        return f"{self.data.title}, fold {self.fold + 1}"

    @property
    def n_entries(self) -> int:
        return sum(map(len, self.missing.values()))

    @property
    def effort(self) -> float:
        return len(self.data.X) * self.n_entries


def run_leaderboard(
    store: LeaderboardStore,
    *,
    data_sets: Iterable[str | Dataset] | None = None,
    methods: Mapping[str, Method] | Iterable[str] = METHODS,
    budgets: Iterable[int] = BUDGETS,
    choices: Iterable[str] = tuple(Choice),
    n_draws: int = N_DRAWS,
    n_jobs: int = -1,
    on_step: Callable[[Step], object] | None = None,
) -> None:
    """Let methods compete; what the store has already is not computed again.

    Draw number d tests fold d modulo the number of folds. All methods see the same rows and the same labels. A method
    that fails is recorded with its error, and scored as if it had predicted the most frequent label everywhere.

    Parameters
    ----------
    store : LeaderboardStore
        Where entries go, each as soon as it is there.
    data_sets : iterable of str or Dataset, default=None
        Names as in :func:`mixkern.datasets.load`, names of :data:`OUTSIDE`, or tables of your own; by default the
        paper's twenty and all of :data:`OUTSIDE`.
    methods : mapping of str to Method, or iterable of names
        Names of :data:`METHODS`, or your own by a name; by default all.
    budgets : iterable of int, default=(2, 4, 8, 16)
        Labels per class on average.
    choices : iterable of {"random", "suggested"}
        Who chooses the rows that are labelled.
    n_draws : int, default=20
        Handfuls of labels for each budget and choice.
    n_jobs : int, default=-1
        Processes; -1 is one for each core.
    on_step : callable, default=None
        Called with a :class:`Step` now and then; it counts entries.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = LeaderboardStore(f"{folder}/leaderboard.sqlite")
    ...     small = {"budgets": [4], "choices": ["random"], "n_draws": 2}
    ...     run_leaderboard(store, data_sets=["iris"], methods=["rwm", "bayes"], n_jobs=1, **small)
    ...     len(store.entries())
    4
    """
    if n_jobs == 0:
        raise StudyError("n_jobs must be a number of processes, or -1 for one per core, but it is 0.")
    tables = _tables(store, data_sets)
    competitors = _competitors(methods)
    deals = _deals(budgets, choices, n_draws)
    jobs = _jobs(store, tables, competitors, deals)
    if not jobs:
        return
    store.begin()  # one run for all workers
    total, errors = sum(job.n_entries for job in jobs), []
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    with _watched(store, total, on_step) as finished:
        for what, error in parallel(delayed(_done)(store, job) for job in jobs):
            errors += [f"{what}: {error}"] if error else []
            finished(what)
    if errors:
        raise StudyError(f"{len(errors)} of {len(jobs)} folds failed, all others are kept. The first: {errors[0]}")


# ---------------------------------------------------------------- what there is to do


def _tables(store: LeaderboardStore, data_sets: Iterable[str | Dataset] | None) -> list[Dataset]:
    chosen = [*datasets.names(), *OUTSIDE] if data_sets is None else list(data_sets)
    tables: dict[str, Dataset] = {}
    for table in (load_any(each) if isinstance(each, str) else each for each in chosen):
        if tables.setdefault(table.name, table).key != table.key:
            raise StudyError(f"Two tables are called {table.name!r}. Give one of them another name.")
    for table in tables.values():
        store.add_data_set(table.name, table.key)
    return list(tables.values())


def _competitors(methods: Mapping[str, Method] | Iterable[str]) -> dict[str, Method]:
    if isinstance(methods, Mapping):
        return dict(methods)
    names = list(dict.fromkeys(methods))
    for name in names:
        if name not in METHODS:
            raise StudyError(
                f"There is no method {name!r}.{nearest(name, METHODS)} There are "
                f"{listing(METHODS, limit=len(METHODS))}."
            )
    return {name: METHODS[name] for name in names}


def _deals(budgets: Iterable[int], choices: Iterable[str], n_draws: int) -> list[Deal]:
    sizes, words = sorted(set(budgets)), [str(one_of(Choice, choice, "choice")) for choice in dict.fromkeys(choices)]
    if n_draws < 1 or any(size < 1 for size in sizes):
        raise StudyError(f"Budgets and draws are counted from 1, but they are {listing(sizes)} and {n_draws}.")
    return [Deal(size, word, draw) for size in sizes for word in words for draw in range(n_draws)]


def _jobs(
    store: LeaderboardStore, tables: Iterable[Dataset], methods: Mapping[str, Method], deals: list[Deal]
) -> list[_Job]:
    """Give the folds that lack entries, those with most work first."""
    done = store.done({name: method.settings for name, method in methods.items()})
    jobs = []
    for data in tables:
        for fold in range(store.protocol.n_folds):
            own = [deal for deal in deals if deal.fold(store.protocol) == fold]
            missing = {name: tuple(d for d in own if (data.name, d, name) not in done) for name in methods}
            jobs.append(_Job(data, fold, {name: lacking for name, lacking in missing.items() if lacking}, methods))
    return sorted((job for job in jobs if job.missing), key=lambda job: -job.effort)


# ---------------------------------------------------------------- doing it


@contextmanager
def _watched(
    store: LeaderboardStore, total: int, on_step: Callable[[Step], object] | None
) -> Iterator[Callable[[str], None]]:
    """Tell how many entries there are while workers work: a fold of a large table takes minutes."""
    is_over, last, start, before = Event(), ["structure"], perf_counter(), store.count()

    def tell(done: int) -> None:
        if on_step is not None:
            on_step(Step(done, total, last[0], perf_counter() - start))

    def watch() -> None:
        while not is_over.wait(PATIENCE):
            tell(min(store.count() - before, total))

    def finished(what: str) -> None:
        last[0] = what

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield finished
        tell(total)
    finally:
        is_over.set()
        watcher.join()


def _done(store: LeaderboardStore, job: _Job) -> tuple[str, str]:
    """Do a job; what fails, other than a method, is told at the end."""
    try:
        with _as_they_come(), threadpool_limits(1):  # seconds of one core, whatever else is going on
            _compete(store, job)
    except Exception as failure:
        return job.what, _sentence(failure)
    return job.what, ""


def _compete(store: LeaderboardStore, job: _Job) -> None:
    fold = study_fold(job.data, job.fold, store.protocol)
    seed = store.protocol.seed_of("leaderboard", fold.data_set, fold.number)
    ground = Ground(fold.train, fold.n_categorical, seed)
    mixture = ground.density(PrecisionPrior.EVIDENCE)  # which suggestions are made by, as in `mixkern.suggest`
    ground.density(PrecisionPrior.TYPICAL)  # which fills the gaps of methods that are not charged for it
    wanted = {deal for lacking in job.missing.values() for deal in lacking}
    rows = {deal: dealt_rows(fold, mixture, deal, store.protocol) for deal in sorted(wanted)}
    for name, lacking in job.missing.items():  # one structure at a time: a graph takes a gigabyte
        contestant = _Contestant(name, job.methods[name], ground)
        for deal in lacking:
            store.add([contestant.entry(fold, deal, rows[deal], seed_of(fold, deal, store.protocol))])


class _Contestant:
    """A method on its ground, that may fail and never stops the others."""

    def __init__(self, name: str, method: Method, ground: Ground) -> None:
        self.name, self.method = name, method
        self.learner: Learner | None = None
        self.error = ""
        density_s = ground.density_s(method.prior) if method.prior else 0.0
        start = process_time()
        try:
            self.learner = method.prepare(ground)
        except Exception as failure:
            self.error = _sentence(_unless_stopped(failure))
        self.structure_s = density_s + process_time() - start

    def entry(self, fold: StudyFold, deal: Deal, rows: Ints, seed: int) -> Entry:
        """Learn from some labels, and be tested."""
        codes = np.full(len(fold.train), UNLABELLED)
        codes[rows] = fold.train_codes[rows]
        start = process_time()
        predicted, error = self._predicted(codes, fold, seed)
        learning_s = process_time() - start
        right = predicted == fold.test_codes
        by_class = [right[fold.test_codes == code].mean() for code in np.unique(fold.test_codes)]
        return Entry(
            data_set=fold.data_set,
            budget=deal.budget,
            choice=str(deal.choice),
            draw=deal.draw,
            method=self.name,
            settings=self.method.settings,
            accuracy=float(right.mean()),
            balanced_accuracy=float(np.mean(by_class)),
            n_labelled=len(rows),
            n_seen=len(np.unique(fold.train_codes[rows])),
            structure_s=self.structure_s,
            learning_s=learning_s,
            error=error,
            seed=seed,
        )

    def _predicted(self, codes: Ints, fold: StudyFold, seed: int) -> tuple[Ints, str]:
        error = self.error
        if self.learner is not None:
            try:
                return self.learner.predict(codes, fold.test, seed), ""
            except Exception as failure:
                error = _sentence(_unless_stopped(failure))
        return np.full(len(fold.test), np.bincount(codes[codes != UNLABELLED]).argmax()), error


@contextmanager
def _as_they_come() -> Iterator[None]:
    """Take methods as they come, warnings and all; but a machine that was stopped half way is no result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", InterruptedWarning)
        yield


def _unless_stopped(failure: Exception) -> Exception:
    if isinstance(failure, InterruptedWarning):
        raise KeyboardInterrupt from None
    return failure


def _sentence(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}"
