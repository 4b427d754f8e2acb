"""Run the leaderboard, one job for each fold of a data set; entries that a store has already are left out."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from mixkern import datasets
from mixkern.datasets import Dataset
from mixkern.density.priors import PrecisionPrior
from mixkern.encoding import UNLABELLED
from mixkern.typing import Ints
from mixkern.validation import one_of
from mixkern.wording import listing
from mixkern_study.data_sets import load_tables
from mixkern_study.fold import StudyFold, study_fold
from mixkern_study.leaderboard.label_draw import BUDGETS, N_DRAWS, Choice, LabelDraw, rows_to_label, seed_of
from mixkern_study.method import Learner, Method, TrainingData, chosen_methods, leaderboard_methods
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
    n_jobs: int = -1,
    on_step: OnStep | None = None,
) -> None:
    """Train and test all methods with the same labels; entries that the store has already are not computed again.

    Draw number d tests fold d modulo the number of folds. All methods have the same rows and the same labels. A method
    that fails is recorded with its error, and scored as if it had predicted the most frequent label everywhere.

    Parameters
    ----------
    store : Store
        Where entries go, each as soon as it is computed.
    data_sets : iterable of str or Dataset, default=None
        Names as in :func:`mixkern.datasets.load`, names of :data:`OUTSIDE` or :data:`WIDE`, or tables of your own;
        by default the paper's twenty and all of :data:`OUTSIDE`.
    methods : mapping of str to Method, or iterable of names, default=None
        Names of :data:`METHODS`, or your own by a name; by default all, and gradient boosting where it is installed.
    budgets : iterable of int, default=(2, 4, 8, 16)
        Labels per class on average.
    choices : iterable of {"random", "suggested"}
        How the rows that are labelled are chosen.
    n_draws : int, default=20
        Draws of labels for each budget and choice.
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
    known = leaderboard_methods()
    chosen = chosen_methods(known if methods is None else methods, known, "method")
    draws = _label_draws(budgets, choices, n_draws)
    jobs = _jobs(store, tables, chosen, draws)
    run_jobs(store, jobs, n_jobs=n_jobs, on_step=on_step, count=lambda: store.count(Entry))


def _label_draws(budgets: Iterable[int], choices: Iterable[str], n_draws: int) -> list[LabelDraw]:
    sizes, words = sorted(set(budgets)), [str(one_of(Choice, choice, "choice")) for choice in dict.fromkeys(choices)]
    if n_draws < 1 or any(size < 1 for size in sizes):
        raise StudyError(f"Budgets and draws are counted from 1, but they are {listing(sizes)} and {n_draws}.")
    return [LabelDraw(size, word, number) for size in sizes for word in words for number in range(n_draws)]


def _jobs(
    store: Store, tables: Iterable[Dataset], methods: Mapping[str, Method], draws: list[LabelDraw]
) -> list["_FoldJob"]:
    """Return a job for each fold that lacks entries; those of other settings of a method do not count."""
    done = store.distinct(Entry, [*Entry.key, "settings"])
    jobs = []
    for data in tables:
        for fold in range(store.protocol.n_folds):
            own = [draw for draw in draws if draw.fold(store.protocol) == fold]
            missing = {
                name: tuple(d for d in own if (data.name, *astuple(d), name, method.settings) not in done)
                for name, method in methods.items()
            }
            jobs.append(_FoldJob(data, fold, {name: lacking for name, lacking in missing.items() if lacking}, methods))
    return [job for job in jobs if job.missing]


@dataclass(frozen=True, eq=False)
class _FoldJob:
    """All missing entries of one fold of one data set."""

    data: Dataset
    fold: int
    missing: Mapping[str, tuple[LabelDraw, ...]]  # by method
    methods: Mapping[str, Method]

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
        mixture = data.density(PrecisionPrior.EVIDENCE)  # for suggestions, as in `mixkern.suggest`
        data.density(PrecisionPrior.TYPICAL)  # fills the gaps for methods whose seconds do not include it
        wanted = {draw for lacking in self.missing.values() for draw in lacking}
        rows = {draw: rows_to_label(fold, mixture, draw, store.protocol) for draw in sorted(wanted)}
        for name, lacking in self.missing.items():  # one method at a time: a graph takes a gigabyte
            trainer = _Trainer(name, self.methods[name], data)
            for draw in lacking:
                store.add([trainer.entry(fold, draw, rows[draw], seed_of(fold, draw, store.protocol))])


class _Trainer:
    """A method prepared on a fold; its errors are recorded, and do not stop other methods."""

    def __init__(self, name: str, method: Method, data: TrainingData) -> None:
        self.name, self.method = name, method
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
        start = process_time()
        predicted, error = self._predicted(codes, fold, seed)
        learning_s = process_time() - start
        is_correct = predicted == fold.test_codes
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
            learning_s=learning_s,
            error=error,
            seed=seed,
        )

    def _predicted(self, codes: Ints, fold: StudyFold, seed: int) -> tuple[Ints, str]:
        error = self.error
        if self.learner is not None:
            try:
                with quiet():
                    return self.learner.predict(codes, fold.test, seed), ""
            except Exception as failure:
                error = sentence(failure)
        return np.full(len(fold.test), np.bincount(codes[codes != UNLABELLED]).argmax()), error
