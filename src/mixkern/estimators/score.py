"""Scores of predictions, and sums of parts of a table that they follow from; rows without a label are left out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from mixkern.encoding import Labels, encode_labels
from mixkern.encoding.lengths import checked_weights
from mixkern.encoding.raw_column import GAP, Coded
from mixkern.errors import LabelError, MixkernWarning, hint, warn
from mixkern.gpu_array import on_host
from mixkern.typing import Floats, Ints, Positions
from mixkern.wording import counted, listing

FEWEST_TARGETS = 2  # R^2 compares with the variance of the targets


class NoScoreWarning(MixkernWarning, UndefinedMetricWarning):
    """Too few rows have a label to compute a score, which is NaN."""


def scored_rows(is_labelled: NDArray[np.bool_], sample_weight: Any, fewest: int, cv: str) -> tuple[Positions, Any]:
    """Return the positions of the rows that a score is computed from, and their weights or ``None``.

    With fewer than ``fewest`` labelled rows there are none, and a warning names the splitter to use.
    """
    weights = checked_weights(sample_weight, len(is_labelled))
    rows = np.flatnonzero(is_labelled)
    own = None if weights is None else weights[rows]
    if not _is_enough(len(rows), len(is_labelled), 1.0 if own is None else own.sum(), fewest, cv):
        return rows[:0], None
    return rows, own


def _is_enough(n_labelled: int, n_rows: int, weight: float, fewest: int, cv: str) -> bool:
    """Return whether there is a score, with a warning if not; an error if no row with a label has a weight."""
    if n_labelled < fewest:
        n = counted(n_rows, "row")
        what = f"None of the {n} has a label" if fewest == 1 else f"{n_labelled} of the {n} have a target"
        warn(
            f"{what}, so the score is NaN.",
            NoScoreWarning,
            hint=hint(python=f"In cross_val_score, GridSearchCV and similar functions, use cv={cv}."),
        )
        return False
    if not weight:
        raise LabelError("All labelled rows have a sample weight of zero: nothing is left to compare with.")
    return True


def true_codes(labels: Labels, classes: NDArray[Any]) -> Ints:  # (n,)
    """Return the position of each label in ``classes``, -1 for one that is not there, and where unlabelled."""
    given, known = labels.classes.tolist(), classes.tolist()
    if given and not set(known) & set(given) and isinstance(given[0], str) != isinstance(known[0], str):
        raise LabelError(
            f"The labels of y, {listing(given)}, are of another type than those in fit, {listing(known)}. Give them in "
            "the same type."
        )
    return labels.codes_in(classes)


def accuracy(true: Ints, predicted: Ints, weights: Floats | None) -> float:
    """Return the share of rows that are predicted correctly, by weight.

    >>> accuracy(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), None)
    0.75
    """
    return float(np.average(true == predicted, weights=weights))


# ---------------------------------------------------------------- sums of parts of a table


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """Rows of a part of a table, counted by the cell of their label and by their predicted class.

    Which cells are labels is a question about the whole column: -1 marks an unlabelled row only where nothing else
    does. So cells are counted as they are, and encoded when all parts are added up.

    Attributes
    ----------
    classes : ndarray
        The classes of the classifier.
    n_rows : int
        Number of rows, with those without a label.
    has_gaps : bool
        Whether a row has no label.
    of_cell : dict
        For each distinct cell with its type, the number of its rows, and their weights by predicted class.
    """

    classes: NDArray[Any]
    n_rows: int
    has_gaps: bool
    of_cell: dict[tuple[type, Any], tuple[int, Floats]]

    @classmethod
    def of(cls, cells: Coded, predicted: Ints, classes: NDArray[Any], weights: Floats | None) -> "LabelCounts":
        """Count rows; there is a predicted class for each row with a label."""
        there = np.flatnonzero(cells.codes != GAP)
        table = np.zeros((len(cells.distinct), len(classes)))
        np.add.at(table, (cells.codes[there], predicted), 1.0 if weights is None else weights[there])
        n = np.bincount(cells.codes[there], minlength=len(cells.distinct)).tolist()
        keys = [(type(cell), cell) for cell in cells.distinct]
        of_cell = dict(zip(keys, zip(n, table, strict=True), strict=True))
        return cls(classes, len(cells), len(there) < len(cells), of_cell)

    def __add__(self, below: "LabelCounts") -> "LabelCounts":
        of_cell = dict(self.of_cell)
        for key, (n, weights) in below.of_cell.items():
            more, others = of_cell.get(key, (0, 0.0))
            of_cell[key] = n + more, weights + others
        return LabelCounts(self.classes, self.n_rows + below.n_rows, self.has_gaps or below.has_gaps, of_cell)

    def score(self, column: Callable[[list[Any]], Any]) -> float:
        """Return the accuracy; ``column`` returns cells as a column of the type that they have in the table."""
        cells = [cell for _, cell in self.of_cell] + ([None] if self.has_gaps else [])
        labels = encode_labels(column(cells), min_classes=0, classes=self.classes.tolist())
        true = true_codes(labels, self.classes)
        found = [
            (n, weights.sum(), weights[code] if code >= 0 else 0.0)
            for (n, weights), code, is_label in zip(
                self.of_cell.values(), true.tolist(), labels.is_labelled.tolist(), strict=False
            )
            if is_label
        ]
        n, weight, correct = map(sum, zip(*found, strict=True)) if found else (0, 0.0, 0.0)
        is_there = _is_enough(n, self.n_rows, weight, 1, "SemiSupervisedSplit()")
        return float(correct / weight) if is_there else np.nan


@dataclass(frozen=True)
class TargetMoments:
    """Moments of the targets of a part of a table, and the sum of squared errors.

    Attributes
    ----------
    n_rows, n : int
        Number of rows, and of those with a target.
    weight, mean, sq_deviations, sq_errors : float
        Sum of weights, mean target, and sums of squared differences from the mean and from the predictions.
    """

    n_rows: int = 0
    n: int = 0
    weight: float = 0.0
    mean: float = 0.0
    sq_deviations: float = 0.0
    sq_errors: float = 0.0

    @classmethod
    def of(cls, n_rows: int, targets: Floats, predicted: Floats, weights: Floats | None) -> "TargetMoments":
        """Return the moments of targets without gaps."""
        own = np.ones(len(targets)) if weights is None else weights
        if not own.any():
            return cls(n_rows, len(targets))
        mean = float(np.average(targets, weights=own))
        return cls(
            n_rows,
            len(targets),
            float(own.sum()),
            mean,
            float(own @ (targets - mean) ** 2),
            float(own @ (targets - predicted) ** 2),
        )

    def __add__(self, below: "TargetMoments") -> "TargetMoments":
        weight = self.weight + below.weight
        share = below.weight / weight if weight else 0.0
        gap = below.mean - self.mean  # pairwise, as one sum of squares would lose digits (Chan, Golub and LeVeque)
        return TargetMoments(
            self.n_rows + below.n_rows,
            self.n + below.n,
            weight,
            self.mean + share * gap,
            self.sq_deviations + below.sq_deviations + gap**2 * self.weight * share,
            self.sq_errors + below.sq_errors,
        )

    def score(self, column: Any = None) -> float:  # noqa: ARG002
        """Return R^2, as scikit-learn defines it for equal targets, too."""
        if not _is_enough(self.n, self.n_rows, self.weight, FEWEST_TARGETS, "SemiSupervisedSplit(regression=True)"):
            return np.nan
        if not self.sq_deviations:
            return 0.0 if self.sq_errors else 1.0
        return 1 - self.sq_errors / self.sq_deviations


def part_weights(sample_weight: Any, n: int) -> Floats | None:
    """Return the weights of a part of a table, which may all be 0, or raise an error."""
    sample_weight = on_host(sample_weight)
    if sample_weight is not None and np.ndim(sample_weight) == 1 and len(sample_weight) == n:
        given = np.asarray(sample_weight)
        if given.dtype.kind in "biuf" and not given.any():
            return np.zeros(n)
    return checked_weights(sample_weight, n)
