"""Which training rows have a label: so many per class on average, drawn at random or suggested."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from mixkern.advice import suggested_rows
from mixkern.density import Mixture
from mixkern.errors import StudyError
from mixkern.typing import Ints
from mixkern_study.fold import MOST_DRAWS, StudyFold
from mixkern_study.protocol import Protocol

BUDGETS = (2, 4, 8, 16)
N_DRAWS = 20


class Choice(StrEnum):
    """Who says which rows are labelled."""

    RANDOM = "random"  # chance, which guarantees no class its share
    SUGGESTED = "suggested"  # mixkern's advice, which has seen all rows and no label


@dataclass(frozen=True, order=True)
class Deal:
    """One handful of labels.

    Attributes
    ----------
    budget : int
        Labels per class on average.
    choice : {"random", "suggested"}
        Who chooses the rows.
    draw : int
        From 0; it says which fold is tested, and how often labels were drawn in that fold before.
    """

    budget: int
    choice: str
    draw: int

    def fold(self, protocol: Protocol) -> int:
        """Give the fold that is tested.

        >>> Deal(4, "random", 7).fold(Protocol())
        2
        """
        return self.draw % protocol.n_folds


def dealt_rows(fold: StudyFold, mixture: Mixture, deal: Deal, protocol: Protocol) -> Ints:
    """Choose the training rows whose labels are told: the same ones for all methods.

    Random rows are drawn evenly from all training rows, and again only if all have one class. Rows that were suggested
    are taken as they are; if all have one class, the last of them gives way to random ones until there are two, so
    that nobody has more labels than others.

    Parameters
    ----------
    fold : StudyFold
        Where from.
    mixture : Mixture
        The density of all training rows, for suggestions.
    deal : Deal
        How many, by whom, and which draw.
    protocol : Protocol
        Whose seed everything follows from.

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
    >>> len(dealt_rows(fold, mixture, Deal(4, "random", 0), Protocol()))
    12
    """
    n = min(deal.budget * fold.n_classes, len(fold.train))
    seed = seed_of(fold, deal, protocol)
    random = np.random.RandomState(seed)
    if deal.choice == Choice.SUGGESTED:
        return np.sort(_with_two_classes(_suggested(fold, mixture, n, seed), fold.train_codes, random))
    for _ in range(MOST_DRAWS):
        rows = random.choice(len(fold.train), n, replace=False)
        if _n_classes(fold.train_codes[rows]) > 1:
            return np.sort(rows)
    raise StudyError(
        f"{MOST_DRAWS} draws of {n} labels from {fold.data_set!r} have found a single class. Give more labels per "
        "class."
    )


def seed_of(fold: StudyFold, deal: Deal, protocol: Protocol) -> int:
    """Give the seed of a deal, and of all methods that learn from it."""
    return protocol.seed_of("leaderboard", fold.data_set, deal.budget, deal.draw)


def _suggested(fold: StudyFold, mixture: Mixture, n: int, seed: int) -> Ints:
    return np.asarray(suggested_rows(fold.train, mixture, n, random_state=seed), dtype=np.intp)


def _with_two_classes(rows: Ints, codes: Ints, random: np.random.RandomState) -> Ints:
    """Exchange the last row, which says least, for random ones until there are two classes."""
    for row in random.permutation(np.setdiff1d(np.arange(len(codes)), rows)):
        if _n_classes(codes[rows]) > 1:
            break
        rows = np.append(rows[:-1], row)
    return rows


def _n_classes(codes: Ints) -> int:
    return len(np.unique(codes))
