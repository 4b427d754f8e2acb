"""Choose settings of a classifier by cross-validation on few labels."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from mixkern.encoding import UNLABELLED
from mixkern.svm.folds import NEVER, fewer_folds, label_folds
from mixkern.typing import Ints

INNER_FOLDS = 4
RATED_ROWS = 1_000  # rows that settings are rated on, all labelled ones among them


class FewLabelSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose settings by cross-validation on few labels.

    Folds are such that each class keeps a label for training. Of equally good values the first is chosen, and where no
    label can be left out, the first of all. Rows with the label -1 are unlabelled, for classifiers that use them: they
    are always in the training part, and settings are rated on at most 1,000 rows, the unlabelled ones drawn at random.

    Parameters
    ----------
    estimator : classifier of scikit-learn
        The classifier to tune.
    setting : str or tuple of str
        Name of the setting, or of several.
    values : sequence
        Values to try, the usual one first; of several settings, a tuple of values each.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    best_estimator_ : classifier
        Fitted to all rows.
    classes_ : ndarray of shape (c,)
        The classes.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> search = FewLabelSearch(SVC(), "C", (1.0, 10.0), random_state=0)
    >>> search.fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1]).best_estimator_.C
    1.0
    """

    def __init__(
        self, estimator: Any, setting: str | tuple[str, ...], values: Sequence[Any], random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.setting = setting
        self.values = values
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the best values, then fit to all rows."""
        X, y = np.asarray(X), np.asarray(y)
        has_label = np.array([label != UNLABELLED for label in y.tolist()])
        self.classes_, compact = np.unique(y[has_label], return_inverse=True)
        codes = np.full(len(y), UNLABELLED)
        codes[has_label] = compact
        random = check_random_state(self.random_state)
        folds = np.full(len(y), NEVER)
        folds[has_label] = label_folds(compact, fewer_folds(compact, INNER_FOLDS), random)
        grid = self._grid()
        best = grid[0]
        if (folds != NEVER).any():
            rated = _rated_rows(has_label, random)
            search = GridSearchCV(self.estimator, _lists(grid), cv=PredefinedSplit(folds[rated]), refit=False)
            best = search.fit(X[rated], codes[rated]).best_params_
        self.best_estimator_ = clone(self.estimator).set_params(**best).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict with the best values."""
        return np.asarray(self.best_estimator_.predict(X))

    @available_if(lambda self: hasattr(self.best_estimator_, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities with the best values."""
        return np.asarray(self.best_estimator_.predict_proba(X))

    def _grid(self) -> list[dict[str, Any]]:
        if isinstance(self.setting, str):
            return [{self.setting: value} for value in self.values]
        return [dict(zip(self.setting, value, strict=True)) for value in self.values]


def _lists(grid: list[dict[str, Any]]) -> list[dict[str, list[Any]]]:
    return [{name: [value] for name, value in point.items()} for point in grid]


def _rated_rows(has_label: Any, random: np.random.RandomState) -> Ints:
    """Return all labelled rows, and others at random up to the limit."""
    labelled, others = np.flatnonzero(has_label), np.flatnonzero(~has_label)
    n_others = max(0, min(len(others), RATED_ROWS - len(labelled)))
    return np.sort(np.append(labelled, random.permutation(others)[:n_others]))
