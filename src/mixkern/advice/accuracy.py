"""How accurate a machine is, as far as the labels at hand can tell."""

from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.utils import check_random_state

from mixkern.advice.cross_validation import is_testable, predicted, rounds, taken
from mixkern.advice.gain import corrected_variance
from mixkern.encoding import UNLABELLED
from mixkern.errors import LabelError, OptionError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.kernel_factory import as_read_by
from mixkern.estimators.setting import POSITIVE
from mixkern.typing import Floats, Ints
from mixkern.wording import counted

N_REPEATS = 5
FEWEST = 2  # labels that an interval is made of, however many classes there are
MOST_LABELS = 1_000  # that take part: their interval is some five points wide
MOST_TRAININGS = 2_500  # labels times repeats: with many labels, one round of folds says enough


@dataclass(frozen=True)
class AccuracyEstimate:
    """How accurate a machine is on rows like the labelled ones, and how sure that is. ``print`` it.

    Attributes
    ----------
    value : float or None
        Share of labels that were predicted rightly while they were left out; ``None`` where too few can be.
    interval : tuple of float or None
        Where the accuracy of the machine that is trained on all labels lies.
    confidence : float
        How often such an interval should be right.
    n_labels, n_tested : int
        Labels in all, and those that were left out at some time: all but the only ones of their class.
    n_folds, n_repeats : int
        In how many parts they were left out, how many times over; 0 where there is no estimate.
    labels : dict
        Number of labels of each class.
    per_class : dict
        The same share for each class; ``None`` for a class whose only label cannot be left out.
    """

    value: float | None
    interval: tuple[float, float] | None
    confidence: float
    n_labels: int
    n_tested: int = 0
    n_folds: int = 0
    n_repeats: int = 0
    labels: dict[Any, int] = field(default_factory=dict)
    per_class: dict[Any, float | None] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether there were labels enough for an estimate."""
        return self.value is not None

    def __str__(self) -> str:
        if self.value is None or self.interval is None:
            return (
                f"The accuracy cannot be told from {counted(self.n_labels, 'label')}: an estimate needs two labels or "
                "more in at least two classes."
            )
        low, high = (100 * end for end in self.interval)
        return (
            f"About {100 * self.value:.0f} % of rows like the labelled ones are predicted rightly "
            f"({100 * self.confidence:g} % interval {low:.0f} to {high:.0f} %, from {counted(self.n_labels, 'label')})."
        )


def estimated_accuracy(
    model: MixtureSVC | None, X: Any, y: Any, *, confidence: float = 0.95, random_state: Any = 0
) -> AccuracyEstimate:
    """Estimate from the labels at hand how accurate a machine is, with an interval that few labels make wide.

    The structure of the table is learned once, without labels. Then labels are left out, fold by fold and several
    times over, and predicted from the others.

    Parameters
    ----------
    model : MixtureSVC or None
        A fitted one lends its density, and nothing but its last step is repeated. One that is not fitted says how to
        learn; ``None`` is ``MixtureSVC()``.
    X : frame or array-like of shape (n, n_columns)
        The table: numbers, categories, gaps.
    y : array-like of shape (n,)
        Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    confidence : float, default=0.95
        How often the interval should hold the accuracy.
    random_state : int, RandomState or None, default=0
        Which labels are left out together.

    Returns
    -------
    AccuracyEstimate
        ``print`` it, or read ``value``, ``interval``, ``per_class``; ``value`` is ``None`` where there are too few.

    Notes
    -----
    It is about rows like the labelled ones. Where rare classes were labelled as often as frequent ones, each class
    counts as much as its labels; where labels were chosen because they are hard, or easy, so is the estimate.

    The interval reaches as far as the wider of two does: Wilson's for as many labels less one for each class, and that
    of the corrected resampled t-test (Nadeau and Bengio, 2003). A label that is the only one of its class cannot be
    left out; it counts as wrong for the lower end and as right for the upper one. With more than 1,000 labels, 1,000
    take part.

    Measured on eight tables (heart, credit_a, iris, wine, glass, pima, clouds, page_blocks), 40 draws each of some 8,
    16, 30 and 60 labels, half of them at random and half as many of each class: intervals of 95 % held the accuracy of
    the machine trained on all labels, on hidden rows weighted by class as the labels are, in 95.3 % of 1,231 draws
    (96.5, 94.6, 94.9 and 95.3 % by the number of labels; by table 91.8 % on pima to 98.1 % on iris). They were 63, 45,
    30 and 20 points wide. The estimate was 0.4 points too low on average: machines that are trained on four of five
    labels are a little worse. Where classes had been labelled evenly that are not equally frequent, the plain accuracy
    on all hidden rows lay inside less often: in 86 % of the draws on glass, in 88 % on page_blocks.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import estimated_accuracy
    >>> iris = datasets.load("iris")
    >>> estimate = estimated_accuracy(None, iris.X, iris.few_labels(per_class=8, random_state=0))
    >>> estimate.interval[0] < estimate.value < estimate.interval[1]
    True
    >>> print(estimated_accuracy(None, iris.X, iris.few_labels(per_class=1, random_state=0)))
    The accuracy cannot be told from 3 labels: an estimate needs two labels or more in at least two classes.
    """
    if not POSITIVE[1](confidence) or confidence >= 1:
        raise OptionError(f"confidence must be a number between 0 and 1, but it is {confidence!r}.")
    machine, rows, codes = _structure(model, X, y)
    random = check_random_state(random_state)
    counts = np.bincount(codes, minlength=len(machine.classes_))
    labels = dict(zip(machine.classes_.tolist(), counts.tolist(), strict=True))
    if not is_testable(codes):
        return AccuracyEstimate(None, None, confidence, len(codes), labels=labels, per_class=dict.fromkeys(labels))
    some = taken(codes, MOST_LABELS, random)
    trial = _tried(machine, rows[some], codes[some], random)
    shares = [None if np.isnan(share) else float(share) for share in trial.per_class(len(labels))]
    return AccuracyEstimate(
        value=trial.value,
        interval=trial.interval(confidence),
        confidence=confidence,
        n_labels=len(codes),
        n_tested=int(trial.is_tested.sum()),
        n_folds=len(trial.accuracies) // trial.n_repeats,
        n_repeats=trial.n_repeats,
        labels=labels,
        per_class=dict(zip(labels, shares, strict=True)),
    )


def wilson(share: float, n: float, confidence: float) -> tuple[float, float]:
    r"""Where a probability lies of which so large a share was seen among n (Wilson, 1927).

    >>> [round(end, 2) for end in wilson(1.0, 8, 0.95)]
    [0.68, 1.0]
    """
    z = float(stats.norm.ppf((1 + confidence) / 2))
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))


# ---------------------------------------------------------------- the structure, without labels


def _structure(model: MixtureSVC | None, X: Any, y: Any) -> tuple[MixtureSVC, Floats, Ints]:
    """Give a machine that knows the density, the labelled rows as it reads them, and their classes."""
    if model is not None and not isinstance(model, MixtureSVC):
        raise OptionError(f"model must be None, a MixtureSVC or a LaplacianSVC, but it is {model!r}.")
    if model is not None and getattr(model.density, "use_labels", False):
        raise LabelError(
            "A density that uses labels has seen those that are left out to judge it by. Ask with a density that does "
            "not: MixtureSVC(density=VBMixture())."
        )
    is_fitted = hasattr(model, "mixture_")
    machine = MixtureSVC(random_state=0) if model is None else copy(model) if is_fitted else clone(model)
    machine.set_params(probability=False)  # nobody asks for it, and it takes most of the time
    codes, _ = machine.read_labels(X, y, None)
    labelled = np.flatnonzero(codes != UNLABELLED)
    rows = _read(machine, X) if is_fitted else machine.learn_structure(X)
    return machine, rows[labelled], codes[labelled]


def _read(machine: MixtureSVC, X: Any) -> Floats:
    """Give all rows as the kernel of a fitted machine reads them."""
    rows = np.asarray(X, dtype=float) if machine.encoder_ is None else machine.encoder_.transform(X)
    return as_read_by(machine.kernel_, machine.mixture_, rows)


# ---------------------------------------------------------------- labels left out


@dataclass(frozen=True, eq=False)
class _Trial:
    """What became of labels that were left out."""

    codes: Ints  # (n,)
    n_right: Floats  # (n,) rounds in which each was predicted rightly
    is_tested: NDArray[np.bool_]  # (n,)
    accuracies: Floats  # one for each fold of each round
    ratio: float  # tested labels per label that was trained on
    n_repeats: int

    @property
    def value(self) -> float:
        """Share of the tested labels that were predicted rightly."""
        return float(self.n_right[self.is_tested].mean() / self.n_repeats)

    def per_class(self, n_classes: int) -> Floats:  # (c,)
        """Give the same share class by class, NaN where none was tested."""
        known = self.codes[self.is_tested]
        right = np.bincount(known, self.n_right[self.is_tested], n_classes) / self.n_repeats
        n_tested = np.bincount(known, minlength=n_classes)
        return np.divide(right, n_tested, out=np.full(n_classes, np.nan), where=n_tested > 0)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Give the wider interval; labels that were not tested are wrong below and right above."""
        n, right = len(self.codes), self.n_right.sum() / self.n_repeats
        free = max(FEWEST, n - len(np.unique(self.codes)))  # without one label of each class nobody knows the class
        low = wilson(right / n, free, confidence)[0]
        high = wilson((right + (~self.is_tested).sum()) / n, free, confidence)[1]
        quantile = stats.t.ppf((1 + confidence) / 2, len(self.accuracies) - 1)
        half = float(quantile * np.sqrt(corrected_variance(self.accuracies, self.ratio)))
        return max(0.0, min(low, self.value - half)), min(1.0, max(high, self.value + half))


def _tried(machine: MixtureSVC, rows: Floats, codes: Ints, random: np.random.RandomState) -> _Trial:
    """Leave labels out again and again, and predict them."""
    n_repeats = int(np.clip(MOST_TRAININGS // len(codes), 1, N_REPEATS))
    n_right, is_tested = np.zeros(len(codes)), np.zeros(len(codes), dtype=bool)
    accuracies, ratios = [], []
    for kept, out in rounds(rows, codes, n_repeats, random):
        is_right = predicted(machine, rows, codes, kept, out) == codes[out]
        n_right[out] += is_right
        is_tested[out] = True
        accuracies.append(is_right.mean())
        ratios.append(len(out) / len(kept))
    return _Trial(codes, n_right, is_tested, np.array(accuracies), float(np.mean(ratios)), n_repeats)
