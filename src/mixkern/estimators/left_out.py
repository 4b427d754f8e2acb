"""Decision values of labelled rows by classifiers that were trained without them, and what those predict elsewhere."""

from dataclasses import dataclass

import numpy as np

from mixkern.density import Rows
from mixkern.errors import ignored_warnings
from mixkern.estimators.svc import MixtureSVC
from mixkern.fitting import NotConvergedWarning
from mixkern.svm import label_folds
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.folds import FOLDS, fewer_folds
from mixkern.svm.one_vs_one import chosen, pair_values
from mixkern.svm.scheme import class_scores
from mixkern.typing import Floats, Ints, Positions, RandomState


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Decisions of classifiers that were trained without some labels.

    Attributes
    ----------
    values : ndarray of shape (r, l, q)
        Decision values for the labelled rows in each repeat, each by a classifier without its label; NaN for the only
        label of a class, which is never left out.
    predicted : ndarray of int, shape (f, u)
        Classes that the classifier of each fold of each repeat predicts for rows without a label.
    """

    values: Floats
    predicted: Ints

    @property
    def n_folds(self) -> int:
        """Number of folds in a repeat."""
        return len(self.predicted) // len(self.values)


def left_out(
    model: MixtureSVC, rows: Rows, codes: Ints, others: Positions, n_repeats: int, random: RandomState
) -> LeftOut:
    """Train a classifier again without the labels of each fold.

    The kernel, C and the weight of the semi-supervised SVM stay those of all labels: to choose them again in every fold
    takes several times as long.

    Parameters
    ----------
    model : MixtureSVC
        Trained on all labels; it is not changed.
    rows : Rows
        All rows, as ``learn_structure`` returns them.
    codes : ndarray of int
        Classes of the first rows, -1 where unlabelled.
    others : ndarray of int, shape (u,)
        Positions of rows without a label.
    n_repeats : int
        How often folds are drawn.
    random : RandomState
        Random number generator of the folds.
    """
    labelled = np.flatnonzero(codes >= 0)
    known, near = codes[labelled], rows[labelled]
    trainer = _Trainer(model, rows, codes, others, kernel_matrix(model.kernel_, near))
    n_folds, n_classes = fewer_folds(known, FOLDS), len(np.unique(known))
    values, predicted = np.full((n_repeats, len(known), len(model.intercept_)), np.nan), []
    for repeat in values:
        folds = label_folds(known, n_folds, random)
        for fold in range(n_folds):
            out, kept = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            repeat[out], of_others = trainer.decisions(kept, out)
            predicted.append(chosen(class_scores(of_others, n_classes)))
    return LeftOut(values, np.array(predicted))


class _Trainer:
    """The SVM of a classifier and its S3VM, to be trained on some of the labels."""

    def __init__(self, model: MixtureSVC, rows: Rows, codes: Ints, others: Positions, K: Floats) -> None:
        labelled = np.flatnonzero(codes >= 0)
        self._model, self._codes, self._K = model, codes[labelled], K
        self._to_labelled = kernel_matrix(model.kernel_, rows[others], rows[labelled])
        self._share = model.avoiding_share_
        self._problem = model.avoiding_problem(rows, codes, K) if self._share else None
        if self._problem is not None:
            own = Rows(rows.values[others], self._problem.kernel.mixture)
            self._to_landmarks = kernel_matrix(self._problem.kernel, own, self._problem.rows[self._problem.landmarks])

    def decisions(self, kept: Ints, out: Ints) -> tuple[Floats, Floats]:
        """Train on the labels that are kept; return the decision values of those left out, and of the other rows."""
        with ignored_warnings(NotConvergedWarning):  # the training on all labels issues the same
            dual = self._model.solve(self._K[np.ix_(kept, kept)], self._codes[kept], C=self._model.C_)
        values, others = dual.decision(self._K[np.ix_(out, kept)]), dual.decision(self._to_labelled[:, kept])
        if self._problem is None:
            return values, others
        avoiding, at, n_classes = self._problem.trained(kept), self._problem.landmarks, len(np.unique(self._codes))
        own = pair_values(avoiding.decision(self._problem.matrix[out], at), n_classes)
        own_others = pair_values(avoiding.decision(self._to_landmarks, at), n_classes)
        return (1 - self._share) * values + self._share * own, (1 - self._share) * others + self._share * own_others
