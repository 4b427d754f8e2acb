"""The source of labels: rows that were suggested, drawn at random, or labelled with many others by one answer.

Suggested rows are no sample of a table: some are typical, others difficult. Rows that are drawn at random are one. So a
share of the rows to label is drawn at random, and the source of each label is recorded. Labels that were given to a
whole component train a classifier, but nobody has looked at their rows: they are no evidence of its accuracy.
"""

import math
from enum import StrEnum
from typing import Any

import numpy as np

from mixkern.encoding import UNLABELLED
from mixkern.encoding.grammar import is_gap_word
from mixkern.encoding.labels import label_cells, subject
from mixkern.encoding.lengths import check_length
from mixkern.errors import LabelError, hint
from mixkern.typing import Bools, Ints, Objects, Positions, RandomState
from mixkern.wording import nearest, shown

TINY = 1e-9  # 5 * 0.2 may be less than 1


class LabelSource(StrEnum):
    """How a row was chosen to be labelled.

    Examples
    --------
    >>> [str(source) for source in LabelSource]
    ['random', 'suggested', 'component']
    """

    RANDOM = "random"  # drawn from all rows without a label
    SUGGESTED = "suggested"  # by mixkern.suggest
    COMPONENT = "component"  # labelled with many others by one answer: all of its component, or a selection


def label_sources(source: Any, n_rows: int, name: str | None = None) -> Objects:  # (n,)
    """Return how each row was chosen, ``None`` where it is not recorded.

    Parameters
    ----------
    source : array-like of shape (n_rows,) or None
        ``"suggested"``, ``"random"`` or ``"component"``; ``None``, NaN, an empty text or another text that is a gap in
        files, where it is not recorded. ``None`` where no row has a record.
    n_rows : int
        Number of rows of the table.
    name : str, default=None
        Name of the column in messages; by default that of a series.

    Raises
    ------
    LabelError
        For other words, and for another number of rows.

    Examples
    --------
    >>> label_sources(["random", "", None], 3).tolist()
    [<LabelSource.RANDOM: 'random'>, None, None]
    """
    if source is None:
        return np.full(n_rows, None)
    cells = label_cells(source, name, "source")
    check_length(n_rows, len(cells), "source", "cell")
    known = {str(each): each for each in LabelSource}
    words = [str(cell).strip() for cell in cells.distinct]
    wrong = next((i for i, word in enumerate(words) if word not in known and not is_gap_word(word)), None)
    if wrong is not None:
        raise LabelError(
            f"{subject(source, name, 'source')} holds {shown(cells.distinct[wrong])} in {{row}}, but expected is "
            f"'suggested', 'random', 'component' or a gap.{nearest(words[wrong], known)}",
            hint=hint(
                python="Use None where it is not recorded.",
                cli="Correct the cell. If the column has another meaning, name it in --drop.",
            ),
            row=int(cells.rows_of([wrong])[0]),
        )
    return cells.taken([known.get(word) for word in words], None, object)


def suggested_labels(source: Any, codes: Ints) -> Bools:  # (n,)
    """Return the mask of the labelled rows that were suggested; rows without a record count as random.

    Parameters
    ----------
    source : array-like of shape (n,) or None
        As in :func:`label_sources`.
    codes : ndarray of int, shape (n,)
        Class codes, -1 for rows without a label.

    Examples
    --------
    >>> suggested_labels(["suggested", "random", None, "suggested"], np.array([0, 1, 1, -1]))
    array([ True, False, False, False])
    """
    is_suggested: Bools = label_sources(source, len(codes)) == LabelSource.SUGGESTED
    return is_suggested & (codes != UNLABELLED)


def component_labels(source: Any, codes: Ints) -> Bools:  # (n,)
    """Return the mask of the labelled rows that were labelled with many others by one answer.

    >>> component_labels(["component", "random", None], np.array([0, 1, 1]))
    array([ True, False, False])
    """
    is_one: Bools = label_sources(source, len(codes)) == LabelSource.COMPONENT
    return is_one & (codes != UNLABELLED)


def n_random(n_labels: int, n: int, audit: float) -> int:
    """Return how many of the next n rows are drawn at random.

    It depends on the number of labels so far: if rows are labelled one at a time, every fifth is random, too.

    >>> n_random(0, 10, 0.2), n_random(10, 10, 0.2)
    (2, 2)
    >>> [n_random(n_labels, 1, 0.2) for n_labels in range(10)]
    [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    """
    return math.floor((n_labels + n) * audit + TINY) - math.floor(n_labels * audit + TINY)


def random_rows(is_left: Bools, n: int, n_labels: int, random: RandomState) -> Positions:
    """Draw n rows at random from those that are left.

    >>> is_left = np.array([False, True, True, False])
    >>> sorted(random_rows(is_left, 2, 0, RandomState(0)).tolist())
    [1, 2]
    """
    # With one seed for all calls, draws from pools of similar size would be at similar places.
    own = RandomState([random.randint(2**31), n_labels])
    return own.choice(np.flatnonzero(is_left), n, replace=False)
