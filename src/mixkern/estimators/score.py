"""Scores of predictions; rows without a label are left out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from mixkern.encoding import Labels
from mixkern.encoding.lengths import checked_weights
from mixkern.errors import LabelError, MixkernWarning, hint, warn
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
    if len(rows) < fewest:
        n = counted(len(is_labelled), "row")
        what = f"None of the {n} has a label" if fewest == 1 else f"{len(rows)} of the {n} have a target"
        warn(
            f"{what}, so the score is NaN.",
            NoScoreWarning,
            hint=hint(python=f"In cross_val_score, GridSearchCV and similar functions, use cv={cv}."),
        )
        return rows[:0], None
    if weights is None:
        return rows, None
    if not weights[rows].any():
        raise LabelError("All labelled rows have a sample weight of zero: nothing is left to compare with.")
    return rows, weights[rows]


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
