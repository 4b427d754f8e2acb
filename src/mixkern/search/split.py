"""Cross-validation where most rows have no label."""

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, indexable

from mixkern.encoding import UNLABELLED, encode_labels, encode_targets
from mixkern.errors import LabelError
from mixkern.svm.folds import fewer_folds, label_folds
from mixkern.typing import Ints


class SemiSupervisedSplit:
    """Folds of the labelled rows; the unlabelled ones are trained on and never tested.

    For ``cv=`` of scikit-learn's ``cross_val_score``, ``GridSearchCV`` and their kin, which would otherwise compare
    predictions with -1 and call it accuracy.

    Parameters
    ----------
    cv : int or splitter, default=5
        How many folds, dealt out class by class: no more of them than a class has labels on average, and the only
        label of a class is always trained on. Or any splitter of scikit-learn; it sees the labelled rows alone.
    regression : bool, default=False
        Whether ``y`` holds numbers to follow rather than classes: None and NaN are unlabelled then, -1 is a number.
    transductive : bool, default=True
        Whether the unlabelled rows are part of every training set. Without, nothing but labelled rows is used.
    random_state : int, RandomState or None, default=0
        Which rows go together. The default makes every method meet the same folds.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from mixkern import MixtureSVC, SemiSupervisedSplit, datasets
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(per_class=8, random_state=0)
    >>> scores = cross_val_score(MixtureSVC(random_state=0), iris.X, y, cv=SemiSupervisedSplit(4))
    >>> len(scores), bool(scores.mean() > 0.8)
    (4, True)
    """

    def __init__(
        self, cv: Any = 5, *, regression: bool = False, transductive: bool = True, random_state: Any = 0
    ) -> None:
        self.cv = cv
        self.regression = regression
        self.transductive = transductive
        self.random_state = random_state

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Give the rows to train on and the rows to test on, fold by fold.

        Parameters
        ----------
        X : array-like of shape (n, n_columns)
            The table; only its length matters.
        y : array-like of shape (n,)
            Labels, or numbers for a regressor, most of them missing.
        groups : array-like of shape (n,), default=None
            For splitters that keep groups together.
        """
        indexable(X, y, groups)
        codes = self._codes(y)
        labelled = np.flatnonzero(codes != UNLABELLED)
        for train, test in self._folds(codes[labelled], groups, labelled):
            others = np.flatnonzero(codes == UNLABELLED) if self.transductive else np.empty(0, dtype=np.intp)
            yield np.sort(np.concatenate([labelled[train], others])), labelled[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Give the number of folds; where labels are few, ``y`` is needed to tell."""
        if isinstance(self.cv, numbers.Integral):
            return self._n_folds() if y is None else fewer_folds(_tested(self._codes(y)), self._n_folds())
        splitter = self._splitter()
        if y is None:
            return int(splitter.get_n_splits(X, y, groups))
        codes = self._codes(y)
        labelled = np.flatnonzero(codes != UNLABELLED)
        groups = None if groups is None else np.asarray(groups)[labelled]
        return int(splitter.get_n_splits(labelled, codes[labelled], groups))

    def _folds(self, codes: Ints, groups: Any, labelled: Ints) -> Iterator[tuple[Ints, Ints]]:
        if not isinstance(self.cv, numbers.Integral):
            groups = None if groups is None else np.asarray(groups)[labelled]
            yield from self._splitter().split(codes, codes, groups)
            return
        n_folds = fewer_folds(_tested(codes), self._n_folds())
        folds = label_folds(codes, n_folds, check_random_state(self.random_state))
        for fold in range(n_folds):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _n_folds(self) -> int:
        if self.cv < 2:
            raise LabelError(f"cv must be 2 or more, or a splitter, but it is {self.cv!r}.")
        return int(self.cv)

    def _splitter(self) -> Any:
        if isinstance(self.cv, type) or not hasattr(self.cv, "split") or not hasattr(self.cv, "get_n_splits"):
            raise LabelError(f"cv must be 2 or more, or a splitter, but it is {self.cv!r}.")
        return self.cv

    def _codes(self, y: Any) -> Ints:
        """Give class codes; numbers to follow are one class, so that they are dealt out evenly."""
        if not self.regression:
            return encode_labels(y, min_classes=1).codes
        return np.where(np.isnan(encode_targets(y)), UNLABELLED, 0)

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name != "cv"}
        return f"SemiSupervisedSplit({', '.join([repr(self.cv), *(f'{k}={v!r}' for k, v in shown.items())])})"


def _tested(codes: Ints) -> Ints:
    """Give the codes of labelled rows, if some can be left out."""
    known = codes[codes != UNLABELLED]
    if np.unique(known, return_counts=True)[1].max() < 2:
        raise LabelError("Every class has one label only, so none can be left out for a test. Label more rows.")
    return known
