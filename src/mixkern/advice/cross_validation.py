"""Labels left out and predicted from the others."""

from collections.abc import Iterator
from copy import copy

import numpy as np

from mixkern.density import Rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import ignored_warnings
from mixkern.estimators import MixtureSVC
from mixkern.fitting import NotConvergedWarning
from mixkern.search import SemiSupervisedSplit
from mixkern.svm.one_vs_one import chosen
from mixkern.svm.scheme import class_scores
from mixkern.typing import Ints, Positions, RandomState
from mixkern.validation import Rule, is_number

N_FOLDS = 5
LEAST_TESTED = 4  # labels that can be left out; with fewer there is no estimate
CONFIDENCE = Rule("a number between 0 and 1", lambda value: is_number(value) and 0 < value < 1)


def is_testable(codes: Ints) -> bool:
    """Whether labels of at least two classes can be left out, and enough of them for an estimate.

    >>> is_testable(np.array([0, 0, 1])), is_testable(np.array([0, 0, 1, 1]))
    (False, True)
    """
    counts = np.bincount(codes)
    return bool((counts > 1).sum() > 1 and counts[counts > 1].sum() >= LEAST_TESTED)


def n_repeats_of(codes: Ints, most: int, max_predictions: int) -> int:
    """Return how often the folds are repeated: less often for many labels, at most ``most`` times.

    >>> n_repeats_of(np.zeros(8), 10, 5_000), n_repeats_of(np.zeros(2_000), 10, 5_000)
    (10, 2)
    """
    return int(np.clip(max_predictions // len(codes), 1, most))


def repeated_folds(codes: Ints, n_repeats: int, random: RandomState) -> Iterator[tuple[Positions, Positions]]:
    """Give the labels that are kept and those that are left out, fold by fold, with other folds in each repeat."""
    split = SemiSupervisedSplit(N_FOLDS, random_state=random)
    for _ in range(n_repeats):
        yield from split.split(codes, codes)


def left_out_predictions(estimator: MixtureSVC, rows: Rows, codes: Ints, kept: Positions, out: Positions) -> Ints:
    """Train on the labels that are kept, and predict the classes of others; all other rows are unlabelled.

    Parameters
    ----------
    estimator : MixtureSVC
        Trained on all labels; only ``train`` is repeated, with the weight of the semi-supervised SVM that it has.
    rows : Rows
        All rows, as ``learn_structure`` returns them.
    codes : ndarray of int
        Classes of the first rows, -1 where unlabelled.
    kept, out : ndarray of int
        Positions of the labels to train on and of the rows to predict.
    """
    known = np.full(len(codes), UNLABELLED)
    known[kept] = codes[kept]
    with ignored_warnings(NotConvergedWarning):  # the final training issues the same
        trained = copy(estimator).set_params(verbose=0).train(rows, known, avoiding_share=estimator.avoiding_share_)
    scores = class_scores(trained.decide(rows[out]), len(estimator.classes_))
    return np.asarray(chosen(scores), dtype=np.intp)
