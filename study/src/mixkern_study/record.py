"""Records that studies keep: one class for each table of a store, and the settings that each record depends on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from mixkern.search import SearchTrial
from mixkern_study.calibration import Bins, expected_calibration_error
from mixkern_study.protocol import DensityStrategy, Experiment
from mixkern_study.published import KERNELS

NAN = float("nan")

# Settings of a protocol that records depend on: those with other values of other settings are the same.
FOLDS = ("n_folds", "seed")
LABELS = {1: ("labels", "labels_per_class"), 2: ("labels", "labels_per_class", "share"), 3: ()}
DENSITY = ("density", "priors")
GRAPH = ("intrinsic", "ambient", "graph_weights", "normalised", "degree")
RATING = (
    *("n_inner_folds", "gamma", "scout_rows", "n_finalists"),
    *("max_labelled", "max_unlabelled", "max_iter"),
)
SWEEP = ("C", "weights", "sweep_rows", "n_sweep_finalists")  # LAP has C from gamma_A, and four pairs of weights
OF_METHOD: Mapping[str, tuple[str, ...]] = {
    "rwm": (*RATING, *SWEEP, *DENSITY, "ceiling_weights", "responsibilities"),
    "gmm": (*RATING, *SWEEP, *DENSITY, "ceiling_weights"),
    "rbf": (*RATING, *SWEEP),
    "lap": (*RATING, *GRAPH, "max_graph_rows"),
}
OTHER = "other"  # methods that choose nothing, with the density of the kernels


class Record:
    """A frozen dataclass that a store keeps: its fields are the columns of a table.

    Records of one table may depend on different settings of a protocol: each is in a scope.
    """

    table: ClassVar[str]
    key: ClassVar[tuple[str, ...]]  # columns; new records replace those with the same values
    is_unique: ClassVar[bool] = True  # whether a key belongs to one record
    scopes: ClassVar[Mapping[str, tuple[str, ...]]]  # settings that records of each scope depend on

    @property
    def scope(self) -> str:
        """Which of the scopes it is in."""
        return next(iter(self.scopes))


def columns(kind: Any) -> list[str]:
    """Return the names of a dataclass's fields, in order.

    >>> columns(CellKey)
    ['experiment', 'data_set', 'fold', 'repeat', 'method']
    """
    return [field.name for field in fields(kind)]


@dataclass(frozen=True)
class CellKey:
    """One cell of the paper's experiments."""

    experiment: int
    data_set: str
    fold: int
    repeat: int
    method: str


CELL = tuple(columns(CellKey))


def cell_scope(experiment: int, method: str) -> str:
    """Return the scope of the results of a method in an experiment.

    >>> cell_scope(1, "rwm"), cell_scope(2, "forest")
    ('1 rwm', '2 other')
    """
    return f"{experiment} {method if method in KERNELS else OTHER}"


CELL_SCOPES: Mapping[str, tuple[str, ...]] = {
    cell_scope(experiment, method): (*FOLDS, *LABELS[experiment], *OF_METHOD.get(method, DENSITY))
    for experiment in Experiment
    for method in (*KERNELS, OTHER)
}


@dataclass(frozen=True, kw_only=True)
class Result(Record):
    """One classifier on one test fold, with settings chosen by one reading.

    Attributes
    ----------
    experiment, data_set, fold, repeat, method, reading
        The key; ``repeat`` counts draws of labels.
    accuracy : float
        Share of correct labels on the test fold.
    n_labelled, n_support : int
        Labels, and support vectors of the classifier; -1 for methods that have none.
    C, gamma, alpha, beta, ratio : float
        The chosen settings; NaN where the method has no such setting.
    density : str
        Name of the density; empty for methods without.
    n_components : int
        Components of the density.
    rated_error : float
        The error that the settings were chosen by.
    n_trials : int
        Settings that were tried.
    smallest_eigenvalue, negative_mass : float
        Of the kernel matrix among labelled rows (at most 2,000 of them); NaN where it was not examined.
    search_s, building_s, training_s, testing_s : float
        Seconds for all trials, for the kernel matrix, for training and for predictions.
    seed : int
        Seed of the draw of labels.
    """

    table = "result"
    key = (*CELL, "reading")
    scopes = CELL_SCOPES

    experiment: int
    data_set: str
    fold: int
    repeat: int
    method: str
    reading: str
    accuracy: float
    n_labelled: int
    n_support: int = -1
    C: float = NAN
    gamma: float = NAN
    alpha: float = NAN
    beta: float = NAN
    ratio: float = NAN
    density: str = ""
    n_components: int = 0
    rated_error: float = NAN
    n_trials: int = 0
    smallest_eigenvalue: float = NAN
    negative_mass: float = NAN
    search_s: float = 0.0
    building_s: float = 0.0
    training_s: float = 0.0
    testing_s: float = 0.0
    seed: int = 0

    @property
    def scope(self) -> str:
        """By experiment and method."""
        return cell_scope(self.experiment, self.method)


@dataclass(frozen=True, kw_only=True)
class Trial(Record):
    """One setting that was tried for a cell: see :class:`mixkern.search.SearchTrial`."""

    table = "trial"
    key = CELL
    is_unique = False
    scopes = CELL_SCOPES

    experiment: int
    data_set: str
    fold: int
    repeat: int
    method: str
    density: str
    validation_error: float
    expected_error: float
    optimistic_error: float
    log_loss: float
    confidence: float
    n_support: float
    C: float
    gamma: float
    alpha: float
    beta: float
    ratio: float

    @property
    def scope(self) -> str:
        """By experiment and method."""
        return cell_scope(self.experiment, self.method)

    @classmethod
    def of(cls, cell: CellKey, density: str, trial: SearchTrial) -> Self:
        """Make a record of a trial of a search."""
        scores = {name: getattr(trial, name) for name in columns(cls)[len(CELL) + 1 :]}
        return cls(**{name: getattr(cell, name) for name in CELL}, density=density, **scores)


@dataclass(frozen=True, kw_only=True)
class Timing(Record):
    """Run-times of one fold, in seconds, as in the paper's table.

    Attributes
    ----------
    data_set, fold, method
        The key. Methods ``"density"`` (the estimation of the density) and ``"rbf_kernel"`` (scikit-learn's function on
        the same rows) have ``building_s`` only.
    n_rows, n_labelled, n_test : int
        Rows of the kernel matrix, labels, and rows that are predicted.
    building_s, training_s, testing_s : float
        The kernel matrix among all training rows (of LAP: the graph and the base kernel of all rows, and the matrix
        among labelled ones), training on a tenth of them, and predictions of the test fold.
    grid_s : float
        All ratios of LAP at one gamma; NaN for others.
    """

    table = "timing"
    key = ("data_set", "fold", "method")
    scopes: ClassVar = {"timing": (*FOLDS, *LABELS[2], *DENSITY, *GRAPH)}

    data_set: str
    fold: int
    method: str
    n_rows: int
    n_labelled: int
    n_test: int
    building_s: float
    training_s: float = NAN
    testing_s: float = NAN
    grid_s: float = NAN


@dataclass(frozen=True, kw_only=True)
class FoldDensity(Record):
    """A density of a fold's training rows, as JSON, and the seconds that it took."""

    table = "density"
    key = ("data_set", "fold", "name")
    scopes: ClassVar = {"fitted": FOLDS, "searched": (*FOLDS, "priors")}

    data_set: str
    fold: int
    name: str
    mixture: str
    seconds: float

    @property
    def scope(self) -> str:
        """Whether its priors were searched; else they are part of the name."""
        return "searched" if self.name == DensityStrategy.PAPER else "fitted"


@dataclass(frozen=True, kw_only=True)
class Entry(Record):
    """One method of the leaderboard with one draw of labels.

    Attributes
    ----------
    data_set, budget, choice, draw, method
        The key; see :class:`~mixkern_study.leaderboard.LabelDraw`.
    settings : str
        All settings of the method.
    accuracy, balanced_accuracy : float
        On the test fold: the share of correct labels, and its mean over the classes of the fold. Those of the most
        frequent label, where the method has failed.
    n_labelled, n_seen : int
        Labels, and the number of classes among them.
    structure_s, learning_s : float
        Seconds of one core: for what needs no label, and for fit and predict.
    error : str
        Why the method has failed; empty where it has not.
    seed : int
        Seed of the draw of labels.
    log_loss : float
        Of the probabilities on the test fold, see :func:`~mixkern_study.calibration.mean_log_loss`; NaN where there are
        none.
    reliability : str
        Rows of the test fold by confidence, see :func:`~mixkern_study.calibration.reliability`, as JSON; ``"[]"`` for a
        method without probabilities, and empty where they were not computed, as in entries of earlier versions.
    """

    table = "entry"
    key = ("data_set", "budget", "choice", "draw", "method")
    scopes: ClassVar = {"entry": FOLDS}

    data_set: str
    budget: int
    choice: str
    draw: int
    method: str
    settings: str
    accuracy: float
    balanced_accuracy: float
    n_labelled: int
    n_seen: int
    structure_s: float
    learning_s: float
    error: str = ""
    seed: int = 0
    log_loss: float = NAN
    reliability: str = ""

    @property
    def bins(self) -> Bins:
        """Rows by confidence; empty where there are no probabilities."""
        bins: Bins = json.loads(self.reliability or "[]")
        return bins

    @property
    def ece(self) -> float:
        """Expected calibration error of this draw, from 0 to 1; NaN where there are no probabilities."""
        return expected_calibration_error([self.bins])

    @property
    def seconds(self) -> float:
        """Seconds of one whole fit: structure, fit, predict."""
        return self.structure_s + self.learning_s


RECORDS: tuple[type[Record], ...] = (FoldDensity, Result, Trial, Timing, Entry)
