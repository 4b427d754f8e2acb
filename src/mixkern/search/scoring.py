"""Scores of hyperparameters: accuracy, scikit-learn's scorers, and scores that use unlabelled rows."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names

from mixkern.errors import OptionError, hint, ignored_warnings
from mixkern.svm.one_vs_one import chosen
from mixkern.svm.scheme import class_probabilities, class_scores
from mixkern.typing import Floats, Objects, Positions
from mixkern.wording import nearest


class Scoring(StrEnum):
    """Scores of mixkern; the highest wins."""

    ACCURACY = "accuracy"  # on labelled rows that were left out
    NEG_EXPECTED_ERROR = "neg_expected_error"  # minus: error on them, plus one minus the confidence on unlabelled rows
    OPTIMISTIC_ACCURACY = "optimistic_accuracy"  # on rows left out and on unlabelled rows, by labels hidden in practice


ScorerFunction: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class NamedScorer:
    """A scorer of scikit-learn, or a function of the user, with the name to show."""

    name: str
    function: ScorerFunction
    is_builtin: bool

    def __call__(self, model: Any, rows: Any, y: Objects, weights: Floats | None) -> float:
        """Return the score of a classifier for rows; with weights, where the scorer has a parameter for them."""
        extra = {"sample_weight": weights} if weights is not None and _takes_weights(self.function) else {}
        try:
            with ignored_warnings(UndefinedMetricWarning):  # with few labels, a class may not be predicted
                score = self.function(model, rows, y, **extra)
        except (ValueError, TypeError, AttributeError) as error:
            if not self.is_builtin:
                raise
            raise OptionError(
                f"The score {self.name!r} cannot be computed for these labels: {str(error).rstrip('.')}.",
                hint=hint(
                    python="With any number of classes: 'accuracy', 'balanced_accuracy', 'f1_macro', 'roc_auc_ovr' or "
                    "'neg_log_loss'."
                ),
            ) from error
        if not np.isscalar(score) or not np.isreal(score):
            raise OptionError(f"scoring must return a number, but {self.name} returned a {type(score).__name__}.")
        return float(score)  # type: ignore[arg-type]

    def or_nan(self, model: "LeftOutClassifier", rows: Positions, y: Objects, weights: Floats | None) -> float:
        """Return the score, or NaN where it is not defined, as for a single class in a fold."""
        try:
            return self(model, rows, y, weights)
        except (ValueError, ZeroDivisionError):
            return float("nan")


def _takes_weights(function: ScorerFunction) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # without a signature
        return False


def resolved_scoring(scoring: Any) -> Scoring | NamedScorer:
    """Return the score for a value of ``scoring``, or raise an error with the nearest name.

    >>> resolved_scoring("neg_expected_error"), resolved_scoring("f1_macro").name
    (<Scoring.NEG_EXPECTED_ERROR: 'neg_expected_error'>, 'f1_macro')
    """
    if scoring is None:
        return Scoring.ACCURACY
    if callable(scoring):
        return NamedScorer(getattr(scoring, "__name__", type(scoring).__name__), scoring, is_builtin=False)
    own, names = [str(each) for each in Scoring], get_scorer_names()
    if isinstance(scoring, str) and scoring in own:
        return Scoring(scoring)
    if isinstance(scoring, str) and scoring in names:
        return NamedScorer(scoring, get_scorer(scoring), is_builtin=True)
    raise OptionError(
        f"scoring must be one of {', '.join(map(repr, own))}, the name of a scorer of scikit-learn or a function, but "
        f"it is {scoring!r}.{nearest(scoring, [*own, *names])}",
        hint=hint(python="All names: sklearn.metrics.get_scorer_names()."),
    )


class LeftOutClassifier(ClassifierMixin, BaseEstimator):
    """Predictions for labelled rows by the classifiers that were trained without them, for scikit-learn's scorers.

    In place of a table, its methods take positions of rows in the table of ``fit``.

    Parameters
    ----------
    rows : ndarray of int, shape (n,)
        Positions of the rows that were left out.
    values : ndarray of shape (n, q)
        Their decision values, of pairs of classes or of each class.
    slope : float
        Slope of the probabilities.
    classes : ndarray of shape (c,)
        The labels.
    """

    def __init__(self, rows: Positions, values: Floats, slope: float, classes: Objects) -> None:
        self.rows = rows
        self.values = values
        self.slope = slope
        self.classes = classes

    @property
    def classes_(self) -> Objects:
        """The labels."""
        return self.classes

    def _values(self, X: Positions) -> Floats:
        order = np.argsort(self.rows)
        return self.values[order[np.searchsorted(self.rows, X, sorter=order)]]

    def decision_function(self, X: Positions) -> Floats:
        """Return the score of each class; see :meth:`MixtureSVC.decision_function`."""
        return class_scores(self._values(X), len(self.classes))

    def predict(self, X: Positions) -> Objects:
        """Return the predicted labels."""
        return self.classes[chosen(self.decision_function(X))]

    def predict_proba(self, X: Positions) -> Floats:
        """Return the probability of each class."""
        return class_probabilities(self._values(X), self.slope, len(self.classes))
