"""What all classifiers share: labels, predictions and scores."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from mixkern.encoding import UNLABELLED, Labels, encode_labels
from mixkern.errors import LabelError
from mixkern.estimators.base import MixtureEstimator, checked_target, checked_weights
from mixkern.fitting import all_or_nothing
from mixkern.svm.one_vs_one import chosen
from mixkern.typing import Floats, Ints
from mixkern.wording import counted, listing


class MixtureClassifier(ClassifierMixin, MixtureEstimator):
    """Base class of the classifiers: labels are returned in the type in which they were given."""

    @all_or_nothing
    def read_labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[Ints, Floats | None]:
        """Return class codes, -1 where unlabelled, and the weight of each label."""
        labels = encode_labels(checked_target(y, self))
        check_consistent_length(X, labels.codes)
        weights = checked_weights(sample_weight, len(labels.codes))
        codes = np.array(labels.codes)
        if weights is not None:
            codes[weights == 0] = UNLABELLED  # the row still counts in the density
            lost = [label for i, label in enumerate(labels.classes.tolist()) if not (codes == i).any()]
            if lost:
                raise LabelError(f"All labels of class {listing(lost)} have a sample weight of zero. Drop the class.")
        self._labels = Labels(np.empty(0, dtype=np.intp), labels.classes, labels.dtype)
        self.classes_ = np.array(labels.classes)
        return codes, weights

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """Compute the score of each class; the highest is predicted.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes one score, positive for the second.
        """

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; every row must have a label.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.
        """
        n_hidden = int((~encode_labels(y, min_classes=0).is_labelled).sum())
        if n_hidden:
            raise LabelError(
                f"y has no label for {counted(n_hidden, 'row')}, and nothing to compare with there. Give rows with "
                "labels; to estimate the accuracy from few labels, use cross_val_score with "
                "cv=SemiSupervisedSplit()."
            )
        return float(super().score(X, y, sample_weight))

    def predict(self, X: Any) -> Any:
        """Predict the label of each row.

        Returns
        -------
        ndarray or pandas.Categorical of shape (n,)
            In the type of the labels.
        """
        scores = self.decision_function(X)
        return self._labels.decode(chosen(scores))
