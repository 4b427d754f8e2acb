"""What all classifiers share: labels, predictions and scores."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Rows
from mixkern.encoding import ASSESSED, UNLABELLED, Labels, encode_labels
from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.encoding.labels import warn_of_minus_one
from mixkern.encoding.lengths import check_length, checked_weights, n_rows_of
from mixkern.errors import LabelError, NoLabelsError, OneClassError, hint
from mixkern.estimators.base import MixtureEstimator, checked_target
from mixkern.estimators.score import accuracy, scored_rows, true_codes
from mixkern.explain.contributions import row_names
from mixkern.fitting import all_or_nothing
from mixkern.notebook import class_counts
from mixkern.parts import COUNTS, agree, instance, is_array
from mixkern.svm.one_vs_one import averaged_probabilities, chosen
from mixkern.svm.scheme import Scheme
from mixkern.threads import thread_pool
from mixkern.typing import Floats, Ints
from mixkern.validation import NONE, POSITIVE, Rule
from mixkern.wording import listing, shown

CELLS = 2**24  # decision values held at a time
ROWS = 2**16  # rows of a block; more are divided among threads
TOO_MANY_CLASSES = hint(
    python="Merge rare classes; if y holds numbers, use MixtureSVR.", cli="Merge rare classes in the column of labels."
)
SLOPES = Rule("an array of positive numbers", lambda value: is_array(value, 1) and len(value) > 0 and (value > 0).all())


class MixtureClassifier(ClassifierMixin, MixtureEstimator):
    """Base class of the classifiers: labels are returned in the type in which they were given."""

    class_weight: Any = None
    probability: bool = False
    slope_: float | Floats | None
    _fitted_parts: ClassVar[Mapping[str, Rule]] = {
        "_labels": instance(Labels),
        "n_labels_": COUNTS,
        "slope_": POSITIVE | SLOPES | NONE,
    }

    @all_or_nothing
    def read_labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[Ints, Floats | None]:
        """Return class codes, -1 where unlabelled, and the weight of each label; set ``classes_``.

        The classifier can predict again after the next training.
        """
        target = checked_target(y, self)
        try:
            labels = encode_labels(target)
        except (NoLabelsError, OneClassError):  # of too few rows, perhaps
            check_length(n_rows_of(X), len(encode_labels(target, min_classes=0).codes))
            raise
        check_length(n_rows_of(X), len(labels.codes))
        warn_of_minus_one(labels)
        weights = checked_weights(sample_weight, len(labels.codes))
        codes = np.array(labels.codes)
        if weights is not None:
            codes[weights == 0] = UNLABELLED  # the row still counts in the density
            lost = [label for i, label in enumerate(labels.classes.tolist()) if not (codes == i).any()]
            if lost:
                raise LabelError(f"All labels of class {listing(lost)} have a sample weight of zero. Drop the class.")
        self._check_size(len(labels.classes), int((codes >= 0).sum()))
        self._drop_decision()
        self._labels = Labels(np.empty(0, dtype=np.intp), labels.classes, labels.dtype)
        self.classes_ = np.array(labels.classes)
        self.n_labels_ = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        return codes, weights

    def complete_parts(self) -> None:
        """Set the classes, then as in other estimators."""
        self.classes_ = np.array(self._labels.classes)
        c = len(self.classes_)
        agree(len(getattr(self, "n_labels_", range(c))) == c, "labels and classes")
        agree(len(getattr(self, "n_support_", range(c))) == c, "support vectors and classes")
        self._class_weights()
        super().complete_parts()

    @property
    @abstractmethod
    def _scheme(self) -> Scheme:
        """Conversion of decision values."""

    def _n_functions(self) -> int:
        return self._scheme.n_functions(len(self.classes_))

    def _class_weights(self) -> dict[int, float] | str | None:
        """Return ``class_weight`` with class codes in place of labels, or raise an error."""
        given = self.class_weight
        if given is None or (isinstance(given, str) and given == "balanced"):
            return given
        if not isinstance(given, dict):
            raise LabelError(f"class_weight must be None, 'balanced' or a dict of labels, but it is {shown(given)}.")
        known = self.classes_.tolist()
        unknown = [label for label in given if label not in known]
        if unknown:
            raise LabelError(f"class_weight names {listing(unknown)}, but the labels are {listing(known)}.")
        wrong = [weight for weight in given.values() if not POSITIVE.accepts(weight)]
        if wrong:
            raise LabelError(f"class_weight must hold positive numbers, but it holds {wrong[0]!r}.")
        return {known.index(label): float(weight) for label, weight in given.items()}

    def _label_weights(self, codes: Ints, weights: Floats | None) -> Floats | None:  # (n,)
        """Multiply the weight of each label by that of its class; codes are -1 where there is none."""
        given = self._class_weights()
        if given is None:
            return weights
        counts = np.bincount(codes[codes >= 0], minlength=len(self.classes_))
        if isinstance(given, dict):
            factors = np.array([given.get(label, 1.0) for label in range(len(counts))])
        else:
            factors = counts.sum() / (len(counts) * counts)
        of_rows = np.where(codes == UNLABELLED, 1.0, factors[codes])
        return of_rows if weights is None else weights * of_rows

    def _check_size(self, n_classes: int, n_labels: int) -> None:
        """Raise an error for more classes than the classifier can be trained on."""

    def _learned_facts(self) -> dict[str, str]:
        facts, classes = super()._learned_facts(), self.classes_.tolist()
        if hasattr(self, "n_support_"):
            facts["Support vectors"] += f" ({class_counts(classes, self.n_support_.tolist())})"
        counts = getattr(self, "n_labels_", None)  # not in files of earlier versions
        return {**facts, "Labels": class_counts(classes, None if counts is None else counts.tolist())}

    # ---------------------------------------------------------------- predictions

    def decision_function(self, X: Any) -> Floats:
        """Compute the score of each class; the highest is predicted.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes, one score, positive for the second class. For more, the decision of each class against
            the others; of :class:`~mixkern.MixtureSVC` and :class:`~mixkern.LaplacianSVC`, up to 100 classes, the votes
            of all pairs of classes plus the sum of their decisions scaled to less than a third of a vote, as in
            scikit-learn's ``SVC``.
        """
        (scores,) = self._converted(X, self._scores)
        return scores

    @available_if(lambda self: self.probability)
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each class; the predicted label always has the largest one.

        A sigmoid turns decision values into probabilities. Its slope is learned by cross-validation on the labelled
        rows. :class:`~mixkern.MixtureSVC` and :class:`~mixkern.LaplacianSVC` have a decision value for each pair of
        classes, and couple their probabilities in closed form; the kernel's share and C are those of all labels. They
        average the probabilities of five slopes, the 10, 30, 50, 70 and 90 % quantiles of the slope's posterior
        distribution, because few labels determine it only roughly. With more than 100 classes, the probability of a
        class is proportional to ``max((1 + f) / 2, 1 / c) ** t``, where f is its decision value against the others and
        t takes the place of the slope. :class:`~mixkern.TransductiveSVC` and
        :class:`~mixkern.QuasiNewtonS3VC` have a decision value for each class against the others, one slope, and divide
        their probabilities by the sum.

        On the paper's twenty tables with 4, 8 and 16 labels per class, probabilities of :class:`~mixkern.MixtureSVC`
        were off by 4.9, 3.8 and 2.7 points on average (expected calibration error).

        Returns
        -------
        ndarray of shape (n, c)
            Columns in the order of ``classes_``.
        """
        (shares,) = self._converted(X, self._probabilities)
        return shares

    def _converted(self, X: Any, *conversions: Callable[[Floats], Floats]) -> list[Floats]:
        """Convert decision values, in blocks of rows: there may be one for each of many pairs of classes."""
        check_is_fitted(self, "_decision")
        rows = self.rows_of(X)

        def converted(block: Rows) -> list[Floats]:
            decisions = self.decide(block)
            return [convert(decisions) for convert in conversions]

        step = max(1, min(ROWS, CELLS // len(self.intercept_)))
        if len(rows) <= step:
            return converted(rows)  # the rows keep what they compute
        with thread_pool() as pool:  # a block is computed by one thread
            parts = list(pool.map(lambda start: converted(rows[start : start + step]), range(0, len(rows), step)))
        return [np.concatenate(each) for each in zip(*parts, strict=True)]

    def _scores(self, decisions: Floats) -> Floats:  # (n,) or (n, c)
        return self._scheme.class_scores(decisions, len(self.classes_))

    def _probabilities(self, decisions: Floats) -> Floats:  # (n, c)
        if self.slope_ is None:
            raise AttributeError("predict_proba needs the slope that fit learns with probability=True. Fit again.")
        slopes = np.atleast_1d(self.slope_)
        return averaged_probabilities(decisions, slopes, len(self.classes_), self._scheme.class_probabilities)

    def _unknown(self, decisions: Floats) -> Floats:  # (n, c)
        return np.full((len(decisions), len(self.classes_)), np.nan)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows that have a label.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        y : array-like of shape (n,)
            Their labels; rows without one are left out.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.

        Returns
        -------
        float
            NaN, with a warning, if no row has a label.
        """
        labels = encode_labels(checked_target(y, self), min_classes=0, classes=getattr(self, "classes_", ()))
        rows = self.rows_of(X)
        check_length(len(rows), len(labels.codes))
        labelled, weights = scored_rows(labels.is_labelled, sample_weight, 1, "SemiSupervisedSplit()")
        if not len(labelled):
            return np.nan
        true = true_codes(labels, self.classes_)[labelled]
        return accuracy(true, chosen(self.decision_function(rows[labelled])), weights)

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
        frame
            Of the library of ``X``: pandas (with the index of ``X``), polars or pyarrow; pandas for an array. Columns:
            ``label``; its ``probability``, NaN with ``probability=False``; ``component``, the
            number of the most responsible one in ``mixture_``; ``novelty``, as by :meth:`novelty`.

        Examples
        --------
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
        >>> model.assess(iris.X[:2])["label"].tolist()
        ['setosa', 'setosa']
        """
        rows = self.rows_of(X)
        component = rows.responsibilities.argmax(axis=1)
        scores, proba = self._converted(rows, self._scores, self._probabilities if self.probability else self._unknown)
        labels = self._labels.decode(chosen(scores))
        columns = dict(zip(ASSESSED, (labels, proba.max(axis=1), component, self.novelty(rows)), strict=True))
        if all_classes:
            columns |= {f"probability_{label}": proba[:, i] for i, label in enumerate(self.classes_.tolist())}
        return make_frame(columns, frame_kind(X), index=row_names(X, len(rows)), purpose="assess")
