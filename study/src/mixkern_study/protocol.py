"""The paper's experimental setup: settings that identify a result."""

import hashlib
import json
from dataclasses import asdict, dataclass
from enum import IntEnum, StrEnum
from zlib import crc32

from mixkern.density.search import PAPER_PRIORS
from mixkern.errors import MixkernError
from mixkern.search.svc import DECADES, PAPER_WEIGHTS
from mixkern.validation import numbers_to_try, one_of

KEY_LENGTH = 12
REVISION = 2  # raised when the same settings give other results


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
    CEILING = "ceiling"  # and so is the prior of the density: what the method could reach
    DEFAULT = "default"  # nothing is chosen: default settings


RATED = (Reading.EXPECTED_ERROR, Reading.OPTIMISTIC, Reading.CEILING)


class DensityStrategy(StrEnum):
    """How the density is chosen without labels."""

    DEFAULT = "default"  # the project's own: default priors, and covariances shrunk towards their mean in kernels
    REPRESENTATIVITY = "representativity"  # the paper's: a search over priors by the divergence from a Parzen window


GRIDS = ("C", "gamma", "intrinsic", "ambient", "weights")


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
    density : {"default", "representativity"}
        How the density is chosen without labels.
    priors : tuple of float
        Precision priors that the search by representativity, and the ceiling, choose from.
    max_graph_rows : int
        Rows of LAP's graph at most, drawn at random.
    max_labelled, max_unlabelled : int
        Rows that settings are rated on at most; the chosen ones are trained on all labelled rows.
    scout_rows, n_finalists : int
        Where more rows than the first are labelled, settings are rated on so many first, and only the best on more.
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
    density: str = "default"
    priors: tuple[float, ...] = PAPER_PRIORS
    max_graph_rows: int = 3_000
    scout_rows: int = 300
    n_finalists: int = 12
    max_labelled: int = 3_000
    max_unlabelled: int = 2_000
    max_iter: int = 20_000
    seed: int = 2015

    def __post_init__(self) -> None:
        one_of(DensityStrategy, self.density, "density")
        for name in GRIDS:
            object.__setattr__(self, name, tuple(numbers_to_try(getattr(self, name), name, zero=name == "weights")))
        if self.n_folds < 2 or self.n_inner_folds < 2:
            raise StudyError(f"There must be two folds or more, but there are {self.n_folds} and {self.n_inner_folds}.")

    def to_json(self) -> str:
        """Return all settings as JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def key(self) -> str:
        """Short digest of these settings."""
        return hashlib.sha256(f"{REVISION} {self.to_json()}".encode()).hexdigest()[:KEY_LENGTH]

    def seed_of(self, *parts: object) -> int:
        """Return a seed for one part of the study, which does not depend on the order of computation."""
        return crc32("/".join(map(str, (self.seed, *parts))).encode()) % (2**31)
