"""Which training rows have a label: so many per class on average, drawn at random or suggested."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from mixkern.advice import suggested_rows
from mixkern.density import Mixture
from mixkern.typing import Ints
from mixkern_study.fold import MOST_DRAWS, StudyFold
from mixkern_study.protocol import Protocol, StudyError

BUDGETS = (2, 4, 8, 16)
N_DRAWS = 20


class Choice(StrEnum):
    """How the rows that are labelled are chosen."""

    RANDOM = "random"  # evenly from all training rows; classes are not balanced
    SUGGESTED = "suggested"  # by mixkern's advice, from all rows and no label


@dataclass(frozen=True, order=True)
class LabelDraw:
    """One draw of labels.

    Attributes
    ----------
    budget : int
        Labels per class on average.
    choice : {"random", "suggested"}
        How the rows are chosen.
    draw : int
        Number of the draw, from 0; modulo the number of folds, the fold that is tested.
    """

    budget: int
    choice: str
    draw: int

    def fold(self, protocol: Protocol) -> int:
        """Return the number of the fold that is tested.

        >>> LabelDraw(4, "random", 7).fold(Protocol())
        2
        """
        return self.draw % protocol.n_folds


def rows_to_label(fold: StudyFold, mixture: Mixture | None, draw: LabelDraw, protocol: Protocol) -> Ints:
    """Return the training rows that are labelled, the same ones for all methods.

    Random rows are drawn evenly from all training rows, and again only if all have one class. Suggested rows are taken
    as they are; if all have one class, random rows replace the last of them until there are two, so that the number of
    labels stays the same.

    Parameters
    ----------
    fold : StudyFold
        The fold that they are drawn from.
    mixture : Mixture or None
        The density of all training rows, which suggestions need.
    draw : LabelDraw
        How many, how they are chosen, and which draw.
    protocol : Protocol
        Its seed decides all draws.

    Returns
    -------
    ndarray of int
        Positions in ``fold.train``, ascending.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern_study import study_fold
    >>> from mixkern_study.fold import fitted_density
    >>> fold = study_fold(datasets.load("iris"), 0, Protocol())
    >>> mixture = fitted_density(fold, "default", Protocol())
    >>> len(rows_to_label(fold, mixture, LabelDraw(4, "random", 0), Protocol()))
    12
    """
    n = min(draw.budget * fold.n_classes, len(fold.train))
    seed = seed_of(fold, draw, protocol)
    random = np.random.RandomState(seed)
    if draw.choice == Choice.SUGGESTED:
        return np.sort(_with_two_classes(_suggested(fold, mixture, n, seed), fold.train_codes, random))
    for _ in range(MOST_DRAWS):
        rows = random.choice(len(fold.train), n, replace=False)
        if _n_classes(fold.train_codes[rows]) > 1:
            return np.sort(rows)
    raise StudyError(
        f"{MOST_DRAWS} draws of {n} labels from {fold.data_set!r} have found a single class. Give more labels per "
        "class."
    )


def seed_of(fold: StudyFold, draw: LabelDraw, protocol: Protocol) -> int:
    """Return the seed of a draw of labels, and of all methods that are trained on it."""
    return protocol.seed_of("leaderboard", fold.data_set, draw.budget, draw.draw)


def _suggested(fold: StudyFold, mixture: Mixture | None, n: int, seed: int) -> Ints:
    if mixture is None:
        raise StudyError("Suggested rows need a density of the training rows. Pass one as the mixture.")
    return np.asarray(suggested_rows(fold.train, mixture, n, random_state=seed), dtype=np.intp)


def _with_two_classes(rows: Ints, codes: Ints, random: np.random.RandomState) -> Ints:
    """Replace the last row, the least informative, by random ones until there are two classes."""
    for row in random.permutation(np.setdiff1d(np.arange(len(codes)), rows)):
        if _n_classes(codes[rows]) > 1:
            break
        rows = np.append(rows[:-1], row)
    return rows


def _n_classes(codes: Ints) -> int:
    return len(np.unique(codes))
