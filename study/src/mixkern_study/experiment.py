"""The paper's experiments: which cells a store lacks, and how each is computed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.density import Mixture
from mixkern.encoding import UNLABELLED
from mixkern.validation import one_of
from mixkern.wording import listing, nearest
from mixkern_study.data_sets import load_tables
from mixkern_study.evaluation import Draw, Evaluation
from mixkern_study.fold import StudyFold, density_names, fitted_density, labelled_rows, study_fold
from mixkern_study.method import Method, TrainingData, chosen_methods
from mixkern_study.method_list import BASELINES
from mixkern_study.protocol import DensityStrategy, Experiment, LabelChoice, Protocol, Reading, StudyError
from mixkern_study.published import KERNELS
from mixkern_study.record import OTHER, CellKey, Result
from mixkern_study.run_time import fold_timings
from mixkern_study.runner import OnStep, quiet, run_jobs
from mixkern_study.store import Store

EFFORT = {"lap": 12.0, "rwm": 6.0, "gmm": 6.0}  # against other methods
WITH_DENSITY, WITHOUT_DENSITY = {"rwm", "gmm"}, {"rbf", "lap"}


def run(
    store: Store,
    *,
    experiments: Iterable[int] = (1, 2, 3),
    data_sets: Iterable[str | Dataset] | None = None,
    kernels: Iterable[str] = KERNELS,
    baselines: Mapping[str, Method] | Iterable[str] = (),
    repeats: int | Mapping[int, int] = 1,
    labels: Iterable[str] | None = None,
    folds: Iterable[int] | None = None,
    n_jobs: int = -1,
    on_step: OnStep | None = None,
) -> None:
    """Run the paper's experiments into a store; cells that it has already are not computed again.

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
    baselines : mapping of str to Method, or iterable of names, default=()
        Other methods as extra columns: names of ``BASELINES``, or your own by a name.
    repeats : int or mapping of int to int, default=1
        Draws of labels in experiments 1 and 2, or in each experiment that is named: ``{1: 5}``.
    labels : iterable of str, default=None
        Choices of labels in experiment 1, see :class:`LabelChoice`: their results are those of protocols that differ in
        ``labels`` alone, and kernels are computed once for all of them. By default that of the protocol, which is
        always the one of experiment 2.
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
    methods: dict[str, Method | None] = {
        **dict.fromkeys(map(_kernel, kernels)),
        **chosen_methods(baselines, BASELINES, "baseline"),
    }
    places = _places(store, data_sets, folds)
    choices = [store.protocol.labels] if labels is None else list(labels)
    stores = _by_labels(store, choices)
    wanted = [
        (str(choice), int(e), r)
        for e in map(Experiment, dict.fromkeys(experiments))
        for choice in (dict.fromkeys(choices) if e is Experiment.FOUR_PER_CLASS else [store.protocol.labels])
        for r in range(_n_draws(e, repeats))
    ]
    names, known = needed_densities(store.protocol, methods), store.density_names()
    done = {choice: each.done() for choice, each in stores.items()}
    densities = [
        _DensityJob(data, fold, names)
        for data, fold in places
        if any((data.name, fold, name) not in known for name in names)
    ]
    cells = [
        _CellJob(data, fold, name, method, draws)
        for data, fold in places
        for name, method in methods.items()
        if (draws := tuple(d for d in wanted if CellKey(d[1], data.name, fold, d[2], name) not in done[d[0]]))
    ]
    run_jobs(store, densities, cells, n_jobs=n_jobs, on_step=on_step)


def run_times(
    store: Store,
    *,
    data_sets: Iterable[str | Dataset] | None = None,
    folds: Iterable[int] | None = None,
    on_step: OnStep | None = None,
) -> None:
    """Measure run-times as the paper does, one after the other in this process.

    Parameters
    ----------
    store, data_sets, folds, on_step
        As in :func:`run`.
    """
    done = {(timing.data_set, timing.fold) for timing in store.timings()}
    names = needed_densities(store.protocol, [OTHER])  # none of the ceiling
    places = [(data, fold) for data, fold in _places(store, data_sets, folds) if (data.name, fold) not in done]
    run_jobs(store, [_TimingJob(data, fold, names) for data, fold in places], n_jobs=1, on_step=on_step)


def _places(
    store: Store, data_sets: Iterable[str | Dataset] | None, folds: Iterable[int] | None
) -> list[tuple[Dataset, int]]:
    """Return data sets, each with its folds."""
    tables = load_tables(store, datasets.names() if data_sets is None else data_sets)
    numbers = range(store.protocol.n_folds) if folds is None else dict.fromkeys(map(int, folds))
    return [(table, number) for table in tables for number in numbers]


def _by_labels(store: Store, labels: Iterable[str]) -> dict[str, Store]:
    """Return the stores of protocols with several choices of labels, that of the protocol first."""
    protocol = store.protocol
    choices = dict.fromkeys([protocol.labels, *(one_of(LabelChoice, each, "labels") for each in labels)])
    return {str(each): store.with_protocol(replace(protocol, labels=str(each))) for each in choices}


def _kernel(name: str) -> str:
    if name not in KERNELS:
        raise StudyError(f"There is no kernel {name!r}.{nearest(name, list(KERNELS))} There are {listing(KERNELS)}.")
    return name


def _n_draws(experiment: Experiment, repeats: int | Mapping[int, int]) -> int:
    if experiment is Experiment.ALL:
        return 1  # all rows are labelled
    return repeats.get(experiment, 1) if isinstance(repeats, Mapping) else repeats


def needed_densities(protocol: Protocol, methods: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the densities that are needed: the one that labels are drawn by, and those of methods.

    RWM and GMM use those of the ceiling as well, RBF and LAP none.

    >>> protocol = Protocol(density="paper")
    >>> needed_densities(protocol, ["rbf"]), needed_densities(protocol, ["rwm"])
    (('default',), ('default', 'paper'))
    """
    methods, names = set(methods), density_names(protocol)
    if not methods & WITH_DENSITY:
        names = names[: 0 if methods <= WITHOUT_DENSITY else 1]
    return tuple(dict.fromkeys([str(DensityStrategy.DEFAULT), *names]))


# ---------------------------------------------------------------- jobs


@dataclass(frozen=True, eq=False)
class _DensityJob:
    """The densities of one fold."""

    data: Dataset
    fold: int
    names: tuple[str, ...]
    n_cells: int = 1

    @property
    def what(self) -> str:
        return f"{self.data.title}, fold {self.fold + 1}, density"

    @property
    def effort(self) -> float:
        return len(self.data.X)

    def work(self, store: Store) -> None:
        fold = study_fold(self.data, self.fold, store.protocol)
        for name in self.names:
            if store.density(self.data.name, self.fold, name) is None:
                start = perf_counter()
                mixture = fitted_density(fold, name, store.protocol)
                store.add_density(self.data.name, self.fold, name, mixture, perf_counter() - start)


class _TimingJob(_DensityJob):
    """The run-times of one fold, after its density."""

    @property
    def what(self) -> str:
        return f"{self.data.title}, fold {self.fold + 1}, times"

    def work(self, store: Store) -> None:
        super().work(store)
        fold = study_fold(self.data, self.fold, store.protocol)
        mixtures = _mixtures(store, fold, self.names)
        labelled = labelled_rows(fold, mixtures[DensityStrategy.DEFAULT], Experiment.A_TENTH, 0, store.protocol)
        store.add(fold_timings(fold, mixtures[store.protocol.density], labelled, store.protocol))


@dataclass(frozen=True, eq=False)
class _CellJob:
    """One method on one fold, with several draws of labels."""

    data: Dataset
    fold: int
    name: str
    method: Method | None  # None for a kernel
    draws: tuple[tuple[str, int, int], ...]  # choice of labels, experiment and repeat
    n_cells: int = 1

    @property
    def what(self) -> str:
        return f"{self.data.title}, fold {self.fold + 1}, {self.name}"

    @property
    def effort(self) -> float:
        largest = max(experiment for _, experiment, _ in self.draws)
        return len(self.data.X) * EFFORT.get(self.name, 1.0) * (largest + 0.2 * len(self.draws))

    def work(self, store: Store) -> None:
        protocol = store.protocol
        fold = study_fold(self.data, self.fold, protocol)
        mixtures = _mixtures(store, fold, needed_densities(protocol, [self.name]))
        draws = [_draw(fold, mixtures[DensityStrategy.DEFAULT], *each, protocol) for each in self.draws]
        stores = _by_labels(store, [draw.labels for draw in draws])
        if self.method is not None:
            mixture = mixtures[protocol.density]
            for draw in draws:
                stores[draw.labels].add([baseline_result(fold, mixture, self.name, self.method, draw)])
            return
        wanted = [name for name in density_names(protocol) if name in mixtures] or [DensityStrategy.DEFAULT]
        densities = {name: mixtures[name] for name in wanted}
        found = Evaluation(fold, densities, self.name, protocol).results(draws)
        for draw, records in zip(draws, found, strict=True):
            stores[draw.labels].add(*records)


def _mixtures(store: Store, fold: StudyFold, names: Iterable[str]) -> dict[str, Mixture]:
    found = {name: store.density(fold.data_set, fold.number, name) for name in names}
    return {name: mixture for name, mixture in found.items() if mixture is not None}


def _draw(fold: StudyFold, mixture: Mixture, labels: str, experiment: int, repeat: int, protocol: Protocol) -> Draw:
    rows = labelled_rows(fold, mixture, Experiment(experiment), repeat, replace(protocol, labels=labels))
    return Draw(experiment, repeat, rows, protocol.seed_of(fold.data_set, fold.number, repeat), labels)


def baseline_result(fold: StudyFold, mixture: Mixture, name: str, method: Method, draw: Draw) -> Result:
    """Train a method on one draw of labels, with the density of the kernels, and test it."""
    codes = np.full(len(fold.train), UNLABELLED)
    codes[draw.labelled] = fold.train_codes[draw.labelled]
    start = perf_counter()
    with quiet():
        learner = method.prepare(TrainingData(fold.train, fold.n_categorical, draw.seed, mixture))
        is_correct = learner.train(codes, draw.seed).predict(fold.test) == fold.test_codes
    return Result(
        experiment=draw.experiment,
        data_set=fold.data_set,
        fold=fold.number,
        repeat=draw.repeat,
        method=name,
        reading=str(Reading.DEFAULT),
        accuracy=float(is_correct.mean()),
        n_labelled=len(draw.labelled),
        training_s=perf_counter() - start,
        seed=draw.seed,
    )
