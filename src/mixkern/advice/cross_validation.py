"""Labels left out and predicted from the others: what estimates of a machine are made from."""

import warnings
from collections.abc import Iterator
from copy import copy

import numpy as np

from mixkern.estimators import MixtureSVC
from mixkern.kernels import LaplacianKernel
from mixkern.search import SemiSupervisedSplit
from mixkern.svm.dual import NotConvergedWarning
from mixkern.svm.one_vs_one import chosen, class_scores
from mixkern.typing import Floats, Ints

N_FOLDS = 5
LEAST_TESTED = 4  # labels that can be left out; below, there is nothing to estimate from


def is_testable(codes: Ints) -> bool:
    """Tell whether labels can be left out of two classes, and enough of them to be worth it.

    >>> is_testable(np.array([0, 0, 1])), is_testable(np.array([0, 0, 1, 1]))
    (False, True)
    """
    counts = np.bincount(codes)
    return bool((counts > 1).sum() > 1 and counts[counts > 1].sum() >= LEAST_TESTED)


def taken(codes: Ints, most: int, random: np.random.RandomState) -> Ints:
    """Give positions of labels, fewer where they are too many, two or more of each class that has them.

    >>> taken(np.array([0, 0, 0, 0, 1, 1]), 3, np.random.RandomState(0))
    array([2, 3, 4, 5])
    """
    share = min(1.0, most / len(codes))
    shuffled = [random.permutation(np.flatnonzero(codes == label)) for label in range(codes.max() + 1)]
    return np.sort(np.concatenate([rows[: max(2, int(share * len(rows)))] for rows in shuffled]))


def rounds(rows: Floats, codes: Ints, n: int, random: np.random.RandomState) -> Iterator[tuple[Ints, Ints]]:
    """Give which labels are kept and which are left out, fold by fold, n times over."""
    split = SemiSupervisedSplit(N_FOLDS, random_state=random)  # each round takes other folds from the same generator
    for _ in range(n):
        yield from split.split(rows, codes)


def predicted(machine: MixtureSVC, rows: Floats, codes: Ints, kept: Ints, out: Ints) -> Ints:
    """Train on what is kept, and give the classes of what is left out.

    The machine has learned the structure of the table, and only its last step is repeated.
    """
    with warnings.catch_warnings():  # the machine says it again when it is trained in earnest
        warnings.simplefilter("ignore", NotConvergedWarning)
        own = copy(machine).train(rows[kept], codes[kept])
    # Labels may change a kernel, but never a bent one, which keeps large matrices: those need not be made again.
    kernel = machine.kernel_ if isinstance(machine.kernel_, LaplacianKernel) else own.kernel_
    values = kernel(rows[out], own.support_vectors_) @ own.dual_coef_ + own.intercept_
    return np.asarray(chosen(class_scores(values, len(machine.classes_))), dtype=np.intp)
