"""Draw the unlabelled rows that scores are computed on, with their labels where these are given."""

from typing import Any

import numpy as np

from mixkern.encoding import UNLABELLED, encode_labels
from mixkern.errors import LabelError
from mixkern.sampling import subsample
from mixkern.search.scoring import NamedScorer, Scoring
from mixkern.typing import Ints, Objects, Positions, RandomState
from mixkern.wording import listing

GAP = -2  # code of a row without a label in optimistic_labels


def scored_unlabelled(
    scoring: Scoring | NamedScorer,
    codes: Ints,
    n_rows: int,
    true: Ints | None,
    limit: int,
    random: RandomState,
) -> tuple[Positions | None, Ints | None]:
    """Draw unlabelled rows; None where the score uses none, or there are none.

    Parameters
    ----------
    scoring : Scoring or NamedScorer
        The score.
    codes : ndarray of int
        Class codes of the first rows, -1 where unlabelled; further rows are unlabelled.
    n_rows : int
        Number of all rows.
    true : ndarray of int or None
        Codes of ``optimistic_labels``; see :func:`optimistic_codes`.
    limit : int
        Number of rows at most.
    random : RandomState
        Random number generator.

    Returns
    -------
    rows, codes : ndarray of int or None
        Positions of the rows, and their classes where ``true`` is given.
    """
    unlabelled = np.flatnonzero(np.append(codes, np.full(n_rows - len(codes), UNLABELLED)) == UNLABELLED)
    if scoring is Scoring.OPTIMISTIC_ACCURACY:
        unlabelled = unlabelled[unlabelled < len(codes)]
    if scoring not in (Scoring.NEG_EXPECTED_ERROR, Scoring.OPTIMISTIC_ACCURACY) or not len(unlabelled):
        return None, None
    unlabelled = np.sort(subsample(unlabelled, limit, random))
    if true is None:
        return unlabelled, None
    if (true[unlabelled] == GAP).any():
        raise LabelError("optimistic_labels must have a label for every row of X.")
    return unlabelled, true[unlabelled]


def optimistic_codes(scoring: Scoring | NamedScorer, classes: Objects, labels: Any, n: int) -> Ints | None:
    """Encode optimistic_labels by the classes of y; -1 for a class that y does not have."""
    if (labels is not None) != (scoring is Scoring.OPTIMISTIC_ACCURACY):
        raise LabelError("optimistic_labels and scoring='optimistic_accuracy' go together: give both, or neither.")
    if labels is None:
        return None
    true = encode_labels(labels, min_classes=1, classes=classes)
    if len(true.codes) != n:
        raise LabelError(f"optimistic_labels has {len(true.codes)} labels, but X has {n} rows.")
    codes = true.codes_in(classes, unlabelled=GAP)
    if (codes[true.is_labelled] == UNLABELLED).all():
        raise LabelError(
            f"None of optimistic_labels, {listing(true.classes.tolist())}, is a label of y, "
            f"{listing(classes.tolist())}. Give them in the same type."
        )
    return codes
