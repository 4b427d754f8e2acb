"""The paper's experimental setup: settings that identify a result."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import IntEnum, StrEnum
from zlib import crc32

from mixkern.density.search import PAPER_PRIORS
from mixkern.errors import MixkernError
from mixkern.kernels.graph import GraphWeights
from mixkern.search.svc import DECADES, PAPER_WEIGHTS
from mixkern.validation import numbers_to_try, one_of

KEY_LENGTH = 12
REVISION = 3  # raised when the same settings give other results


class StudyError(MixkernError, ValueError):
    """Results that cannot be compared, invalid settings of a study, or a file that holds no results."""


class Experiment(IntEnum):
    """Number of labels: one of the paper's three experiments."""

    FOUR_PER_CLASS = 1
    A_TENTH = 2  # of the training rows
    ALL = 3

    @property
    def title(self) -> str:
        """Short description of the experiment."""
        return {1: "four labels per class", 2: "a tenth of the rows labelled", 3: "all rows labelled"}[self.value]


class Reading(StrEnum):
    """Criterion that the settings of a classifier, and the prior of its density, were chosen by."""

    EXPECTED_ERROR = "expected_error"  # no label outside the training labels is read
    OPTIMISTIC = "optimistic"  # C and gamma are rated on labels of unlabelled rows, the density has seen none
    CEILING = "ceiling"  # and so is the density of RWM and GMM, the best of six: what the method could reach
    DEFAULT = "default"  # nothing is chosen: default settings


RATED = (Reading.EXPECTED_ERROR, Reading.OPTIMISTIC, Reading.CEILING)


class LabelChoice(StrEnum):
    """Rows that are labelled in experiment 1: readings of "samples lying in high density regions randomly"."""

    COMPONENTS = "components"  # every component by its share, from the denser half of its rows
    DENSE = "dense"  # from the denser half of all rows
    DENSE_PER_CLASS = "dense_per_class"  # equally many of each class, from the denser half of its rows
    RANDOM = "random"  # from all rows


class DensityStrategy(StrEnum):
    """How the density is chosen without labels."""

    DEFAULT = "default"  # the project's own: default priors, and covariances shrunk towards their mean in kernels
    PAPER = "paper"  # a search over all priors by the divergence from a Parzen window; no mergers, nothing shrunk


class Responsibilities(StrEnum):
    """Columns that responsibilities of components are computed from."""

    ALL = "all"
    NUMBERS = "numbers"  # the paper writes the distance as a function of the continuous columns


GRIDS = ("C", "gamma", "intrinsic", "ambient", "weights", "ceiling_weights")


CHOICES: tuple[tuple[type[StrEnum], str], ...] = (
    (LabelChoice, "labels"),
    (DensityStrategy, "density"),
    (Responsibilities, "responsibilities"),
    (GraphWeights, "graph_weights"),
)


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def _tens(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{i}") for i in range(low, high + 1))


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """All settings of a study; results of different protocols are kept apart.

    Attributes
    ----------
    n_folds, n_inner_folds : int
        Folds of the outer cross-validation, whose test rows are used for no choice, and of the inner one on the
        labelled rows.
    labels_per_class : int
        Labels in experiment 1, times the number of classes.
    share : float
        Of the training rows that have a label in experiment 2.
    C, gamma : tuple of float
        Values to try.
    intrinsic, ambient : tuple of float
        Values to try of LAP's gamma_I and gamma_A. The kernel depends on their ratio, and one over gamma_A is its C.
    weights : tuple of float
        Values to try of alpha and beta, for tables with categories.
    ceiling_weights : tuple of float
        The same for the densities that the ceiling alone chooses from.
    labels : {"components", "dense", "dense_per_class", "random"}
        Which rows are labelled in experiment 1, see :class:`LabelChoice`. Dense regions are those of the density of the
        strategy ``"default"``, so that the same rows are labelled whichever density the kernels have.
    density : {"default", "paper"}
        How the density of the kernels is chosen without labels, see :class:`DensityStrategy`.
    priors : tuple of float
        Precision priors that the search of the strategy ``"paper"``, and the ceiling, choose from.
    responsibilities : {"all", "numbers"}
        Columns that the responsibilities in RWM are computed from.
    graph_weights : {"binary", "heat"}
        Weights of the edges of LAP's graph.
    normalised : bool
        Whether the Laplacian of the graph is the normalised one.
    degree : int
        Power p of the Laplacian.
    max_graph_rows : int
        Rows of LAP's graph at most, drawn at random.
    max_labelled, max_unlabelled : int
        Rows that settings are rated on at most; the chosen ones are trained on all labelled rows.
    scout_rows, n_finalists : int
        Where more rows than the first are labelled, settings are rated on so many first, and only the best on more.
    sweep_rows, n_sweep_finalists : int
        A stage before that for tables with categories, where some 4,000 settings are rated.
    max_iter : int
        Iterations of libsvm while settings are rated.
    seed : int
        Seed of all random draws.
    """

    n_folds: int = 5
    n_inner_folds: int = 4
    labels_per_class: int = 4
    share: float = 0.1
    C: tuple[float, ...] = DECADES
    gamma: tuple[float, ...] = DECADES
    intrinsic: tuple[float, ...] = _tens(-6, 2)
    ambient: tuple[float, ...] = _tens(-6, 2)
    weights: tuple[float, ...] = PAPER_WEIGHTS
    ceiling_weights: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0)
    labels: str = "components"
    density: str = "default"
    priors: tuple[float, ...] = PAPER_PRIORS
    responsibilities: str = "all"
    graph_weights: str = "binary"
    normalised: bool = True
    degree: int = 1
    max_graph_rows: int = 3_000
    scout_rows: int = 300
    n_finalists: int = 12
    sweep_rows: int = 100
    n_sweep_finalists: int = 200
    max_labelled: int = 3_000
    max_unlabelled: int = 2_000
    max_iter: int = 20_000
    seed: int = 2015

    def __post_init__(self) -> None:
        for kind, name in CHOICES:
            object.__setattr__(self, name, str(one_of(kind, getattr(self, name), name)))
        for name in GRIDS:
            object.__setattr__(self, name, tuple(numbers_to_try(getattr(self, name), name, zero="weights" in name)))
        if self.degree < 1:
            raise StudyError(f"degree must be 1 or more, but it is {self.degree}.")
        if self.n_folds < 2 or self.n_inner_folds < 2:
            raise StudyError(f"There must be two folds or more, but there are {self.n_folds} and {self.n_inner_folds}.")

    def to_json(self) -> str:
        """Return all settings as JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def key(self) -> str:
        """Short digest of all settings."""
        return digest(f"{REVISION} {self.to_json()}")

    def key_of(self, scope: str, names: Iterable[str]) -> str:
        """Return a short digest of some settings: the key of results that depend on no others.

        >>> Protocol().key_of("density", ["seed"]) == Protocol(C=(1.0,)).key_of("density", ["seed"])
        True
        """
        values = {name: getattr(self, name) for name in names}
        return digest(f"{REVISION} {scope} {json.dumps(values, sort_keys=True)}")

    def seed_of(self, *parts: object) -> int:
        """Return a seed for one part of the study, which does not depend on the order of computation."""
        return crc32("/".join(map(str, (self.seed, *parts))).encode()) % (2**31)
