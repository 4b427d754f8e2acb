"""Learn while people label: the structure of the table once, a classifier and suggestions after each label.

All of it runs in threads of its own. What they find is published as values that never change, so that a request reads
the latest one and waits for nothing.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Condition, Thread
from typing import Any

import numpy as np

from mixkern.advice.accuracy import AccuracyEstimate, accuracy_of
from mixkern.advice.mistaken import STANDS_OUT, Doubts
from mixkern.advice.source import LabelSource
from mixkern.advice.suggest import Suggester
from mixkern.advice.suggestion import NARROW, represented, suggestion_reason
from mixkern.density import Rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import MixkernWarning, ignored_warnings
from mixkern.estimators import MixtureSVC
from mixkern.fitting import NotConvergedWarning
from mixkern.labelling.table import LabelTable
from mixkern.sampling import subsample
from mixkern.svm.decision import kernel_matrix, values_for
from mixkern.typing import Bools, Floats, Ints, Positions, RandomState

SAMPLE_ROWS = 2_000  # rows of the first structure: suggestions within a second
MAP_ROWS = 100_000  # rows on the map, and with predictions
COMPARED_ROWS = 10_000  # rows that a suggestion may stand for
OTHER_ROWS = 1_000  # rows without a label that the accuracy is estimated on
MOST_TRAINED = 2_000  # labels that the classifier of the page is trained on
CONFIDENCE = 0.95
TYPICAL = 0.9  # responsibility from which a row is typical of its component
UNKNOWN = 255  # code of no class, in bytes


@dataclass(frozen=True, eq=False)
class Structure:
    """The density of some or all rows.

    Attributes
    ----------
    version : int
        1 for that of a sample, 2 for that of all rows.
    estimator : MixtureSVC
        With its structure learned.
    rows : Rows
        Encoded rows.
    positions : ndarray of int, shape (n,)
        Their positions in the table, ascending.
    suggester : Suggester
        Chooses rows to label next.
    is_complete : bool
        Whether these are all rows of the table.
    """

    version: int
    estimator: MixtureSVC
    rows: Rows
    positions: Positions
    suggester: Suggester
    is_complete: bool
    _typical: dict[int, list[int]] = field(default_factory=dict, repr=False)  # by component, once it was asked for

    @classmethod
    def of(cls, table: LabelTable, positions: Positions, version: int, seed: int) -> "Structure":
        """Learn the density of some rows."""
        is_complete = len(positions) == len(table)
        X = table.X if is_complete else table.X.take(positions)
        # Without the semi-supervised SVM: an update takes a tenth of the time.
        estimator = MixtureSVC(encoder=table.encoder, unlabelled="ignore", random_state=seed)
        with ignored_warnings(MixkernWarning):
            rows = estimator.learn_structure(X)
        values = values_for(estimator.kernel_, rows)
        suggester = Suggester.of(values, estimator.mixture_, RandomState(seed))
        found = cls(version, estimator, rows, positions, suggester, is_complete)
        _ = found.sizes, found.map_rows.numbers, found.map_rows.codes, rows.log_density  # now, and not in a request
        return found

    def rows_at(self, table: LabelTable, positions: Positions) -> Rows:
        """Return encoded rows of the table, which need not be among those of the sample."""
        if self.is_complete:
            return self.rows[positions]
        return self.estimator.rows_of(table.X.take(positions))

    @cached_property
    def component(self) -> Ints:  # (n,)
        """The most responsible component of each row."""
        component: Ints = self.rows.responsibilities.argmax(axis=1)
        return component

    @cached_property
    def sizes(self) -> Ints:  # (k,)
        """Number of rows of each component."""
        return np.bincount(self.component, minlength=self.estimator.mixture_.n_components)

    def typical(self, k: int) -> list[int]:
        """Return the rows that clearly belong to a component, the most typical first."""
        if k not in self._typical:
            members = np.flatnonzero(self.component == k)
            members = members[self.rows.responsibilities[members, k] >= TYPICAL]
            self._typical[k] = members[np.argsort(-self.rows.log_joint[members, k], kind="stable")].tolist()
        return self._typical[k]

    @cached_property
    def on_map(self) -> Positions:
        """Which of the rows are on the map."""
        return np.sort(subsample(np.arange(len(self.rows)), MAP_ROWS, RandomState(0)))

    @cached_property
    def map_rows(self) -> Rows:
        """The rows of the map."""
        return self.rows if len(self.on_map) == len(self.rows) else self.rows[self.on_map]


@dataclass(frozen=True, eq=False)
class LabelState:
    """Labels at one moment.

    Attributes
    ----------
    version : int
        Version of the answers.
    positions, codes : ndarray of int
        Rows that have a label, ascending, and the code of each: its place among all classes.
    is_suggested : ndarray of bool
        Whether a row was chosen in another way than at random.
    taken : ndarray of int
        Further rows that must not be suggested.
    n_suggestions : int
        How many suggestions to prepare.
    is_untested : ndarray of bool, default=None
        Whether a row was labelled with many others by one answer, so that its label is no evidence of the accuracy.
    classes : tuple of int
        Number of each code's class: classes can be renamed and merged later.
    """

    version: int
    positions: Positions
    codes: Ints
    is_suggested: Bools
    taken: Positions
    n_suggestions: int
    is_untested: Bools | None = None
    classes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Suggestion:
    """A row to label next, and why."""

    row: int
    reason: str


@dataclass(frozen=True)
class Doubt:
    """A label that the others contradict; codes are places among all classes."""

    row: int
    label: int
    likely: int
    probability: float
    support: float


@dataclass(frozen=True, eq=False)
class Model:
    """What was learned from the labels of one moment.

    Attributes
    ----------
    version : int
        Version of the answers that it was learned from.
    structure : Structure
        The density.
    positions, codes : ndarray of int
        The labels.
    labelled : Rows
        Encoded rows of the labels.
    estimator : MixtureSVC or None
        The classifier; None with labels of fewer than two classes. Its classes are codes.
    predicted, confidence : ndarray of uint8
        Code and probability (255 is one) of the predicted class of each row of the map.
    estimate : AccuracyEstimate or None
        The estimated accuracy.
    doubts : tuple of Doubt
        Labels that stand out as mistaken.
    classes : tuple of int
        Number of each code's class.
    """

    version: int
    structure: Structure
    positions: Positions
    codes: Ints
    labelled: Rows
    estimator: MixtureSVC | None = None
    predicted: Any = field(default_factory=lambda: np.empty(0, np.uint8))
    confidence: Any = field(default_factory=lambda: np.empty(0, np.uint8))
    estimate: AccuracyEstimate | None = None
    doubts: tuple[Doubt, ...] = ()
    classes: tuple[int, ...] = ()

    @property
    def kernel(self) -> Any:
        """Kernel that compares rows."""
        return self.structure.suggester.kernel if self.estimator is None else self.estimator.kernel_


class Learner:
    """The threads that learn.

    Parameters
    ----------
    table : LabelTable
        The table.
    state : callable
        Returns the labels of this moment, a :class:`LabelState`.
    on_model : callable, default=None
        Called with each new :class:`Model`, in the thread that learns.
    seed : int, default=0
        Seed of all draws.

    Attributes
    ----------
    structure : Structure or None
        The latest one.
    model : Model or None
        The latest one.
    suggestions : tuple of Suggestion
        Rows to label next, the most important one first.
    error : str
        Why the last update failed; empty where it did not.
    """

    def __init__(
        self,
        table: LabelTable,
        state: Callable[[], LabelState],
        on_model: Callable[[Model], object] | None = None,
        seed: int = 0,
    ) -> None:
        self._table, self._state, self._on_model, self._seed = table, state, on_model, seed
        self._changed = Condition()
        self._is_changed = self._is_stopped = self._has_suggested = False
        self._threads: list[Thread] = []
        self.structure: Structure | None = None
        self.model: Model | None = None
        self.suggestions: tuple[Suggestion, ...] = ()
        self.error = ""

    def start(self) -> None:
        """Begin to learn the structure; the first suggestions come from a sample of the rows."""
        for work in (self.learn, self._follow):
            thread = Thread(target=work, daemon=True, name=f"mixkern label: {work.__name__.strip('_')}")
            self._threads.append(thread)
            thread.start()

    def notify(self) -> None:
        """Say that the labels have changed."""
        with self._changed:
            self._is_changed = True
            self._changed.notify_all()

    def wait_for_suggestions(self, seconds: float) -> None:
        """Wait until the first suggestions were made, at most so long."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_suggested or self._is_stopped or bool(self.error), seconds)

    def stop(self) -> None:
        """Stop the threads; a computation that is going on is not waited for long."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout=10.0)

    # ---------------------------------------------------------------- threads

    def learn(self) -> None:
        """Learn the structure of a sample, then of all rows; :meth:`start` does it in a thread."""
        n, random = len(self._table), RandomState(self._seed)
        stages = [np.arange(n)]
        if n > 2 * SAMPLE_ROWS:
            stages.insert(0, np.sort(random.choice(n, SAMPLE_ROWS, replace=False)))
        for version, positions in enumerate(stages, start=3 - len(stages)):
            if self._is_stopped:
                return
            try:
                self.structure = Structure.of(self._table, positions, version, self._seed)
            except Exception as error:
                self._fail(error)
                return
            self.notify()

    def _follow(self) -> None:
        """Update the model whenever labels or structure have changed."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_changed or self._is_stopped)
                if self._is_stopped:
                    return
                self._is_changed = False
            if self.structure is None:
                continue  # not learned yet, or never: its error stays
            try:
                self.follow_once()
                self.error = ""
            except Exception as error:
                self._fail(error)

    def follow_once(self) -> None:
        """Update the model and the suggestions, once there is a structure; :meth:`start` does it in a thread."""
        if self.structure is not None:
            self.update(self.structure, self._state())

    def _fail(self, error: Exception) -> None:
        """Keep a failure for the page: labels can still be given."""
        with self._changed:
            self.error = f"{type(error).__name__}: {error}"
            self._changed.notify_all()

    def update(self, structure: Structure, state: LabelState) -> None:
        """Train and suggest once; suggestions come first where there are none yet."""
        if not self._has_suggested:
            self._suggest(structure, state, None)
        model = self._trained(structure, state)
        if model.estimator is not None:
            model = self._judged(model, state)
        self.model = model
        if self._on_model is not None:
            self._on_model(model)
        self._suggest(structure, self._state(), model)

    # ---------------------------------------------------------------- one update

    def _trained(self, structure: Structure, state: LabelState) -> Model:
        """Train a classifier, and predict the rows of the map."""
        some = np.sort(subsample(np.arange(len(state.positions)), MOST_TRAINED, RandomState(self._seed)))
        positions, codes = state.positions[some], state.codes[some]
        labelled = structure.rows_at(self._table, positions) if len(positions) else structure.rows[:0]
        model = Model(state.version, structure, positions, codes, labelled, classes=state.classes)
        if len(np.unique(codes)) < 2:
            return model
        estimator = copy(structure.estimator)
        own_codes, _ = estimator.read_labels(self._table.X.take(positions), codes, None)
        with ignored_warnings(NotConvergedWarning):
            estimator.train(labelled, own_codes)
        shares = estimator.predict_proba(structure.map_rows)
        predicted = estimator.classes_[shares.argmax(axis=1)]
        return replace(
            model,
            estimator=estimator,
            predicted=np.minimum(predicted, UNKNOWN).astype(np.uint8),
            confidence=np.round(255 * shares.max(axis=1)).astype(np.uint8),
        )

    def _judged(self, model: Model, state: LabelState) -> Model:
        """Estimate the accuracy, and find labels that the others contradict."""
        assert model.estimator is not None  # the caller has checked
        structure, random = model.structure, RandomState(self._seed)
        is_known = np.isin(structure.positions, state.positions)
        others = subsample(np.flatnonzero(~is_known), OTHER_ROWS, random)
        if structure.is_complete:
            rows = structure.rows[np.append(model.positions, others)]
        else:
            rows = Rows(np.vstack([model.labelled.values, structure.rows.values[others]]), model.labelled.mixture)
        classes, codes = np.unique(model.codes, return_inverse=True)
        at = np.searchsorted(state.positions, model.positions)
        is_suggested, is_untested = state.is_suggested[at], None if state.is_untested is None else state.is_untested[at]
        estimator = copy(model.estimator).set_params(probability=False)
        with ignored_warnings(NotConvergedWarning):
            estimate = accuracy_of(estimator, rows, codes, is_suggested, CONFIDENCE, random, is_untested=is_untested)
        found = Doubts.of(kernel_matrix(model.kernel, model.labelled), codes)
        order = np.argsort(-found.probability, kind="stable")
        doubts = tuple(
            Doubt(
                int(model.positions[at]),
                int(model.codes[at]),
                int(classes[found.likely[at]]),
                float(found.probability[at]),
                float(found.support[at]),
            )
            for at in order
            if found.probability[at] > STANDS_OUT
        )
        return replace(model, estimate=estimate, doubts=doubts)

    def _suggest(self, structure: Structure, state: LabelState, model: Model | None) -> None:
        """Choose rows to label next."""
        codes = np.full(len(structure.rows), UNLABELLED)
        at = np.searchsorted(structure.positions, state.positions)
        at = np.minimum(at, len(codes) - 1)
        is_here = structure.positions[at] == state.positions
        codes[at[is_here]] = state.codes[is_here]
        is_taken = np.isin(structure.positions, state.taken)
        picks = structure.suggester.suggested(
            state.n_suggestions, codes, RandomState([self._seed, len(state.positions)]), is_taken
        )
        reasons = self._reasons(structure, picks, np.flatnonzero(codes != UNLABELLED), model)
        found = tuple(
            Suggestion(int(structure.positions[pick]), reason) for pick, reason in zip(picks, reasons, strict=True)
        )
        with self._changed:
            self.suggestions, self._has_suggested = found, True
            self._changed.notify_all()

    def _reasons(self, structure: Structure, picks: Positions, labelled: Positions, model: Model | None) -> list[str]:
        """Write why each row is suggested, without what the model expects."""
        if not len(picks):
            return []
        some = subsample(np.arange(len(structure.rows)), COMPARED_ROWS, RandomState(self._seed))
        known = structure.rows[np.append(picks, labelled)]
        stands_for = represented(structure.suggester.kernel, structure.rows[some], known)[: len(picks)] / len(some)
        novelty = structure.estimator.novelty(structure.rows[picks])
        margins = np.ones(len(picks))
        if model is not None and model.estimator is not None:
            shares = np.sort(model.estimator.predict_proba(structure.rows[picks]), axis=1)
            margins = shares[:, -1] - shares[:, -2]
        texts = []
        for i, pick in enumerate(picks):
            line = {
                "source": LabelSource.SUGGESTED,
                "stands_for": max(1, round(stands_for[i] * len(self._table))),
                "share": stands_for[i],
                "component": structure.component[pick],
                "novelty": novelty[i],
            }
            undecided = " The model is undecided about it." if margins[i] < NARROW else ""
            texts.append(suggestion_reason(line) + undecided)
        return texts


def shares_of(model: Model, rows: Rows) -> tuple[Ints, Floats] | None:
    """Return class codes and their probabilities for one row, the most probable first; None without a classifier."""
    if model.estimator is None:
        return None
    shares = model.estimator.predict_proba(rows)[0]
    order = np.argsort(-shares, kind="stable")
    return model.estimator.classes_[order], shares[order]
