"""Run the leaderboard, one job for each fold of a data set; entries that a store has already are left out."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from time import process_time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import UNLABELLED
from mixkern.typing import Floats, Ints
from mixkern.validation import one_of
from mixkern.wording import listing
from mixkern_study.calibration import (
    NO_PROBABILITIES,
    bins_text,
    checked_probabilities,
    mean_log_loss,
    reliability,
)
from mixkern_study.data_sets import load_tables
from mixkern_study.fold import StudyFold, study_fold
from mixkern_study.leaderboard.label_draw import BUDGETS, N_DRAWS, Choice, LabelDraw, rows_to_label, seed_of
from mixkern_study.method import Learner, Method, TrainingData
from mixkern_study.method_list import chosen_leaderboard_methods
from mixkern_study.other_sets import OUTSIDE
from mixkern_study.protocol import StudyError
from mixkern_study.record import Entry
from mixkern_study.runner import OnStep, quiet, run_jobs, sentence
from mixkern_study.store import Store


def run_leaderboard(
    store: Store,
    *,
    data_sets: Iterable[str | Dataset] | None = None,
    methods: Mapping[str, Method] | Iterable[str] | None = None,
    budgets: Iterable[int] = BUDGETS,
    choices: Iterable[str] = tuple(Choice),
    n_draws: int = N_DRAWS,
    probabilities: bool = True,
    n_jobs: int = -1,
    on_step: OnStep | None = None,
) -> None:
    """Train and test all methods with the same labels; entries that the store has already are not computed again.

    Draw number d tests fold d modulo the number of folds. All methods have the same rows and the same labels. A method
    that fails is recorded with its error, and scored as if it had predicted the most frequent label everywhere, with
    the shares of the labels as probabilities.

    Parameters
    ----------
    store : Store
        Where entries go, each as soon as it is computed.
    data_sets : iterable of str or Dataset, default=None
        Names as in :func:`mixkern.datasets.load`, names of ``OUTSIDE`` or ``WIDE``, or tables of your own;
        by default the paper's twenty and all of ``OUTSIDE``.
    methods : mapping of str to Method, or iterable of names, default=None
        Names of ``METHODS``, or your own by a name; by default all, and those of optional libraries (gradient
        boosting, scikit-activeml, TabPFN) that are installed.
    budgets : iterable of int, default=(2, 4, 8, 16)
        Labels per class on average.
    choices : iterable of {"random", "suggested"}
        How the rows that are labelled are chosen.
    n_draws : int, default=20
        Draws of labels for each budget and choice.
    probabilities : bool, default=True
        Whether to compute calibration error and log loss of methods with probabilities. Estimators of mixkern are
        trained a second time for them, which the seconds of an entry do not include. Entries of the store without them
        are computed again.
    n_jobs : int, default=-1
        Processes; -1 is one for each core.
    on_step : callable, default=None
        Called with a :class:`Step` every few seconds and after every fold; it counts entries.

    Examples
    --------
    >>> import tempfile
    >>> from mixkern_study import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(f"{folder}/leaderboard.sqlite")
    ...     small = {"budgets": [4], "choices": ["random"], "n_draws": 2}
    ...     run_leaderboard(store, data_sets=["iris"], methods=["rwm", "bayes"], n_jobs=1, **small)
    ...     len(store.entries())
    4
    """
    tables = load_tables(store, [*datasets.names(), *OUTSIDE] if data_sets is None else data_sets)
    draws = _label_draws(budgets, choices, n_draws)
    jobs = _jobs(store, tables, chosen_leaderboard_methods(methods), draws, probabilities=probabilities)
    run_jobs(store, jobs, n_jobs=n_jobs, on_step=on_step, count=lambda: store.count(Entry))


def _label_draws(budgets: Iterable[int], choices: Iterable[str], n_draws: int) -> list[LabelDraw]:
    sizes, words = sorted(set(budgets)), [str(one_of(Choice, choice, "choice")) for choice in dict.fromkeys(choices)]
    if n_draws < 1 or any(size < 1 for size in sizes):
        raise StudyError(f"Budgets and draws are counted from 1, but they are {listing(sizes)} and {n_draws}.")
    return [LabelDraw(size, word, number) for size in sizes for word in words for number in range(n_draws)]


def _jobs(
    store: Store,
    tables: Iterable[Dataset],
    methods: Mapping[str, Method],
    draws: list[LabelDraw],
    *,
    probabilities: bool,
) -> list["_FoldJob"]:
    """Return a job for each fold that lacks entries; those of other settings of a method do not count."""
    found = store.distinct(Entry, [*Entry.key, "settings", "reliability"])
    done = {tuple(key) for *key, bins in found if bins or not probabilities}
    jobs = []
    for data in tables:
        for fold in range(store.protocol.n_folds):
            own = [draw for draw in draws if draw.fold(store.protocol) == fold]
            missing = {
                name: tuple(d for d in own if (data.name, *astuple(d), name, method.settings) not in done)
                for name, method in methods.items()
            }
            lacking = {name: own_draws for name, own_draws in missing.items() if own_draws}
            jobs.append(_FoldJob(data, fold, lacking, methods, probabilities))
    return [job for job in jobs if job.missing]


@dataclass(frozen=True, eq=False)
class _FoldJob:
    """All missing entries of one fold of one data set."""

    data: Dataset
    fold: int
    missing: Mapping[str, tuple[LabelDraw, ...]]  # by method
    methods: Mapping[str, Method]
    probabilities: bool

    @property
    def what(self) -> str:
        return f"{self.data.title}, fold {self.fold + 1}"

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.missing.values()))

    @property
    def effort(self) -> float:
        return len(self.data.X) * self.n_cells

    def work(self, store: Store) -> None:
        with threadpool_limits(1):  # seconds of one core, whatever else is running
            self._work(store)

    def _work(self, store: Store) -> None:
        fold = study_fold(self.data, self.fold, store.protocol)
        data = TrainingData(
            fold.train, fold.n_categorical, store.protocol.seed_of("leaderboard", fold.data_set, fold.number)
        )
        data.density(PrecisionPrior.TYPICAL)  # fills the gaps for methods whose seconds do not include it
        wanted = {draw for lacking in self.missing.values() for draw in lacking}
        is_suggested = any(draw.choice == Choice.SUGGESTED for draw in wanted)
        mixture = data.density(PrecisionPrior.EVIDENCE) if is_suggested else None  # as in `mixkern.suggest`
        rows = {draw: rows_to_label(fold, mixture, draw, store.protocol) for draw in sorted(wanted)}
        for name, lacking in self.missing.items():  # one method at a time: a graph takes a gigabyte
            trainer = _Trainer(name, self.methods[name], data, probabilities=self.probabilities)
            for draw in lacking:
                store.add([trainer.entry(fold, draw, rows[draw], seed_of(fold, draw, store.protocol))])


class _Trainer:
    """A method prepared on a fold; its errors are recorded, and do not stop other methods."""

    def __init__(self, name: str, method: Method, data: TrainingData, *, probabilities: bool) -> None:
        self.name, self.method, self.probabilities = name, method, probabilities
        self.learner: Learner | None = None
        self.error = ""
        density_s = data.density_s(method.prior) if method.prior else 0.0
        start = process_time()
        try:
            with quiet():
                self.learner = method.prepare(data)
        except Exception as failure:
            self.error = sentence(failure)
        self.structure_s = density_s + process_time() - start

    def entry(self, fold: StudyFold, draw: LabelDraw, rows: Ints, seed: int) -> Entry:
        """Train on one draw of labels, and test."""
        codes = np.full(len(fold.train), UNLABELLED)
        codes[rows] = fold.train_codes[rows]
        tested = self._tested(codes, fold, seed)
        is_correct = tested.predicted == fold.test_codes
        by_class = [is_correct[fold.test_codes == code].mean() for code in np.unique(fold.test_codes)]
        return Entry(
            data_set=fold.data_set,
            budget=draw.budget,
            choice=str(draw.choice),
            draw=draw.draw,
            method=self.name,
            settings=self.method.settings,
            accuracy=float(is_correct.mean()),
            balanced_accuracy=float(np.mean(by_class)),
            n_labelled=len(rows),
            n_seen=len(np.unique(fold.train_codes[rows])),
            structure_s=self.structure_s,
            learning_s=tested.learning_s,
            error=tested.error,
            seed=seed,
            **(_calibration(tested, fold.test_codes) if self.probabilities else {}),
        )

    def _tested(self, codes: Ints, fold: StudyFold, seed: int) -> "_Tested":
        error, start = self.error, process_time()
        if self.learner is not None:
            try:
                with quiet():
                    trained = self.learner.train(codes, seed)
                    predicted = trained.predict(fold.test)
                    learning_s = process_time() - start
                    probabilities = trained.probabilities if self.probabilities else None
                    found = None if probabilities is None else probabilities(fold.test)
                return _Tested(predicted, found, learning_s)
            except Exception as failure:
                error = sentence(failure)
        classes, counts = np.unique(codes[codes != UNLABELLED], return_counts=True)
        shares = np.tile(counts / counts.sum(), (len(fold.test), 1))
        predicted = np.full(len(fold.test), classes[counts.argmax()])
        return _Tested(predicted, (classes, shares), process_time() - start, error)


@dataclass(frozen=True, eq=False)
class _Tested:
    """Predictions for the test rows, and probabilities where the method has them."""

    predicted: Ints
    probabilities: tuple[Ints, Floats] | None
    learning_s: float
    error: str = ""


def _calibration(tested: _Tested, truth: Ints) -> dict[str, Any]:
    """Return the log loss and the reliability of an entry."""
    if tested.probabilities is None:
        return {"reliability": NO_PROBABILITIES}
    classes, values = tested.probabilities
    values = checked_probabilities(values)
    return {
        "log_loss": mean_log_loss(classes, values, truth),
        "reliability": bins_text(reliability(classes, values, truth)),
    }
