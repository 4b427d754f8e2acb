"""What all classifiers share: labels, predictions and scores."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length

from mixkern.encoding import UNLABELLED, Labels, encode_labels
from mixkern.errors import LabelError
from mixkern.estimators.base import MixtureEstimator, checked_target, checked_weights
from mixkern.explain.contributions import row_names
from mixkern.fitting import all_or_nothing
from mixkern.imports import optional
from mixkern.svm.one_vs_one import chosen
from mixkern.typing import Floats, Ints
from mixkern.validation import POSITIVE
from mixkern.wording import counted, listing

ASSESSED = ("label", "probability", "component", "novelty")  # columns of the result of MixtureClassifier.assess


class MixtureClassifier(ClassifierMixin, MixtureEstimator):
    """Base class of the classifiers: labels are returned in the type in which they were given."""

    class_weight: Any = None
    probability: bool = False
    slope_: float | None

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

    def _class_weights(self) -> dict[int, float] | str | None:
        """Return ``class_weight`` with class codes in place of labels, or raise an error."""
        given = self.class_weight
        if given is None or given == "balanced":
            return given
        if not isinstance(given, dict):
            raise LabelError(f"class_weight must be None, 'balanced' or a dict of labels, but it is {given!r}.")
        known = self.classes_.tolist()
        unknown = [label for label in given if label not in known]
        if unknown:
            raise LabelError(f"class_weight names {listing(unknown)}, but the labels are {listing(known)}.")
        wrong = [weight for weight in given.values() if not POSITIVE.accepts(weight)]
        if wrong:
            raise LabelError(f"class_weight must hold positive numbers, but it holds {wrong[0]!r}.")
        return {known.index(label): float(weight) for label, weight in given.items()}

    # ---------------------------------------------------------------- predictions

    @abstractmethod
    def _class_scores(self, decisions: Floats) -> Floats:
        """Return the scores of the classes, (n,) for two and (n, c) for more, from the decision values, (n, q)."""

    @abstractmethod
    def _class_probabilities(self, decisions: Floats, slope: float) -> Floats:
        """Return the probabilities of the classes, (n, c), from the decision values, (n, q)."""

    def decision_function(self, X: Any) -> Floats:
        """Compute the score of each class; the highest is predicted.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes one score, positive for the second.
        """
        return self._class_scores(self.decide(X))

    def _probabilities(self, decisions: Floats) -> Floats:  # (n, c)
        if self.slope_ is None:
            raise AttributeError("predict_proba needs the slope that fit learns with probability=True. Fit again.")
        return self._class_probabilities(decisions, self.slope_)

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

    def assess(self, X: Any, *, all_classes: bool = False) -> Any:
        """Predict label, probability, component and novelty of each row, encoding it once.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        all_classes : bool, default=False
            Whether to add the probabilities of all classes, in columns named ``probability_`` and the class.

        Returns
        -------
        pandas.DataFrame
            With the index of ``X``: ``label``; its ``probability``, NaN with ``probability=False``; ``component``, the
            number of the most responsible one in ``mixture_``; ``novelty``, as by :meth:`novelty`.

        Examples
        --------
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
        >>> model.assess(iris.X[:2])["label"].tolist()
        ['setosa', 'setosa']
        """
        pandas = optional("pandas", purpose="assess")
        rows = self.rows_of(X)
        component = rows.responsibilities.argmax(axis=1)
        decisions = self.decide(rows)
        labels = self._labels.decode(chosen(self._class_scores(decisions)))
        unknown = np.full((len(rows), len(self.classes_)), np.nan)
        proba = self._probabilities(decisions) if self.probability else unknown
        columns = dict(zip(ASSESSED, (labels, proba.max(axis=1), component, self.novelty(rows)), strict=True))
        if all_classes:
            columns |= {f"probability_{label}": proba[:, i] for i, label in enumerate(self.classes_.tolist())}
        return pandas.DataFrame(columns, index=row_names(X, len(rows)))
