"""One setting, found by cross-validation on a handful of labels."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit

from mixkern.svm.folds import NEVER, fewer_folds, label_folds

INNER_FOLDS = 4


class FewLabelSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Find one setting on folds that stay sane when a class has one or two labels.

    Equally good values are decided by their order. Where no label can be left out, the first one is taken.

    Parameters
    ----------
    estimator : classifier of scikit-learn
        What to tune.
    setting : str
        What of it.
    values : sequence
        What to try, the usual one first.
    random_state : int, RandomState or None, default=None
        Which folds.

    Attributes
    ----------
    best_estimator_ : classifier
        Fitted to all labels.
    classes_ : ndarray of shape (c,)
        The labels.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> search = FewLabelSearch(SVC(), "C", (1.0, 10.0), random_state=0)
    >>> search.fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).best_estimator_.C
    1.0
    """

    def __init__(self, estimator: Any, setting: str, values: Sequence[Any], random_state: Any = None) -> None:
        self.estimator = estimator
        self.setting = setting
        self.values = values
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the best value, then learn from all labels."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        folds = label_folds(codes, fewer_folds(codes, INNER_FOLDS), self.random_state)
        best = self.values[0]
        if (folds != NEVER).any():
            grid = {self.setting: list(self.values)}
            search = GridSearchCV(self.estimator, grid, cv=PredefinedSplit(folds), refit=False)
            best = search.fit(X, codes).best_params_[self.setting]
        self.best_estimator_ = clone(self.estimator).set_params(**{self.setting: best}).fit(X, y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the best one."""
        return np.asarray(self.best_estimator_.predict(X))
