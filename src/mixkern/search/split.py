"""Cross-validation where most rows have no label."""

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

from mixkern.encoding import UNLABELLED, encode_labels, encode_targets
from mixkern.errors import LabelError, LengthError, OptionError, hint
from mixkern.sampling import check_random_state
from mixkern.svm.folds import fewer_folds, label_folds
from mixkern.typing import Ints, Positions
from mixkern.wording import counted


class SemiSupervisedSplit:
    """Cross-validation splitter whose test folds contain labelled rows only.

    Unlabelled rows are part of every training set. Pass it as ``cv=`` to scikit-learn's ``cross_val_score``,
    ``GridSearchCV`` and similar functions, whose own splitters would count a prediction for an unlabelled row as wrong.

    Parameters
    ----------
    cv : int or splitter, default=5
        Number of stratified folds: no more than a class has labels on average; the only label of a class is always in
        the training set. Or any splitter of scikit-learn, which is given the labelled rows alone.
    regression : bool, default=False
        Whether ``y`` holds numbers for a regressor rather than classes: None and NaN are unlabelled then, -1 is a
        number.
    transductive : bool, default=True
        Whether the unlabelled rows are part of every training set. If not, only labelled rows are used.
    random_state : int, RandomState or None, default=0
        Controls the folds. With the default, all estimators get the same folds.

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

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Positions, Positions]]:
        """Yield the positions of training and test rows, fold by fold.

        Parameters
        ----------
        X : array-like of shape (n, n_columns)
            The table; only its length is used.
        y : array-like of shape (n,)
            Labels, or numbers for a regressor, most of them missing.
        groups : array-like of shape (n,), default=None
            Groups, for splitters that use them.
        """
        codes = self._codes(y)
        _check_lengths(codes, X=X, groups=groups)
        labelled = np.flatnonzero(codes != UNLABELLED)
        for train, test in self._folds(codes[labelled], groups, labelled):
            others = np.flatnonzero(codes == UNLABELLED) if self.transductive else np.empty(0, dtype=np.intp)
            yield np.sort(np.concatenate([labelled[train], others])), labelled[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Give the number of folds, which is smaller than ``cv`` where ``y`` has few labels."""
        if isinstance(self.cv, numbers.Integral):
            return self._n_folds() if y is None else fewer_folds(_tested(self._codes(y)), self._n_folds())
        splitter = self._splitter()
        if y is None:
            return int(splitter.get_n_splits(X, y, groups))
        codes = self._codes(y)
        _check_lengths(codes, groups=groups)
        labelled = np.flatnonzero(codes != UNLABELLED)
        groups = None if groups is None else np.asarray(groups)[labelled]
        return int(splitter.get_n_splits(labelled, codes[labelled], groups))

    def _folds(self, codes: Ints, groups: Any, labelled: Positions) -> Iterator[tuple[Positions, Positions]]:
        """Split the labelled rows."""
        if not isinstance(self.cv, numbers.Integral):
            groups = None if groups is None else np.asarray(groups)[labelled]
            yield from self._splitter().split(codes, codes, groups)
            return
        n_folds = fewer_folds(_tested(codes), self._n_folds())
        folds = label_folds(codes, n_folds, check_random_state(self.random_state))
        for fold in range(n_folds):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def _n_folds(self) -> int:
        """Check a number of folds."""
        if self.cv < 2:
            raise OptionError(f"cv must be 2 or more, or a splitter, but it is {self.cv!r}.")
        return int(self.cv)

    def _splitter(self) -> Any:
        """Check a splitter."""
        if isinstance(self.cv, type) or not hasattr(self.cv, "split") or not hasattr(self.cv, "get_n_splits"):
            raise OptionError(f"cv must be 2 or more, or a splitter, but it is {self.cv!r}.")
        return self.cv

    def _codes(self, y: Any) -> Ints:
        """Give class codes; all numbers of a regressor are one class, so that folds are equally large."""
        if not self.regression:
            return encode_labels(y, min_classes=1).codes
        return np.where(np.isnan(encode_targets(y)), UNLABELLED, 0)

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name != "cv"}
        return f"SemiSupervisedSplit({', '.join([repr(self.cv), *(f'{k}={v!r}' for k, v in shown.items())])})"


def _check_lengths(codes: Ints, **given: Any) -> None:
    """Raise an error for arguments that have not one row for each label."""
    for name, rows in given.items():
        if rows is None:
            continue
        shape = getattr(rows, "shape", None)
        n = len(rows) if shape is None and hasattr(rows, "__len__") else (shape or (0,))[0]
        if n != len(codes):
            raise LengthError(
                f"{name} has {counted(n, 'row')}, but y has {counted(len(codes), 'label')}.",
                hint=hint(python="Give one label per row, None where there is none."),
            )


def _tested(codes: Ints) -> Ints:
    """Give the codes of labelled rows; refuse labels of which none can be left out."""
    labelled = codes[codes != UNLABELLED]
    check_labels(labelled)
    return labelled


def check_labels(codes: Ints) -> None:
    """Refuse labels of which none can be left out, because each is the only one of its class."""
    if np.unique(codes, return_counts=True)[1].max() < 2:
        raise LabelError("Every class has one label only, so none can be left out for a test. Label more rows.")


def check_density(density: Any) -> None:
    """Refuse a density that is fitted with labels, where labels are left out after it is fitted."""
    if getattr(density, "use_labels", False):
        raise LabelError(
            "The density is fitted with labels, so it depends on those that are left out for a test.",
            hint=hint(
                python="Use one that is not, such as VBMixture(), or fit it in each fold, by scikit-learn's "
                "cross_val_score or GridSearchCV with cv=SemiSupervisedSplit()."
            ),
        )
