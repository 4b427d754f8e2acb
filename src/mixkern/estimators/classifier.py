"""What all classifiers share: labels, predictions and scores."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Rows
from mixkern.device import current_settings, on_gpu, using
from mixkern.encoding import ASSESSED, UNLABELLED, Labels, encode_labels
from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.encoding.labels import label_cells, warn_of_minus_one
from mixkern.encoding.lengths import check_length, checked_weights, n_rows_of
from mixkern.encoding.raw_column import GAP
from mixkern.errors import LabelError, NoLabelsError, OneClassError, OptionError, TableError, hint
from mixkern.estimators.base import MixtureEstimator, checked_target
from mixkern.estimators.score import LabelCounts, accuracy, part_weights, scored_rows, true_codes
from mixkern.explain.contributions import row_names
from mixkern.fitting import all_or_nothing
from mixkern.gpu_array import current_gpu, is_gpu_array, on_gpu_of_rows, on_host, own_stream
from mixkern.kernels import DistanceKernel
from mixkern.notebook import class_counts
from mixkern.partitions import maps_partitions, scores_partitions
from mixkern.parts import COUNTS, agree, instance, is_array
from mixkern.svm.one_vs_one import averaged_probabilities, chosen
from mixkern.svm.scheme import Scheme
from mixkern.threads import thread_pool
from mixkern.typing import Bools, Floats, Ints
from mixkern.validation import NONE, POSITIVE, SHARE, Rule
from mixkern.wording import listing, shown

CELLS = 2**24  # decision values held at a time
ROWS = 2**16  # up to which rows are one block, whose kernel all threads compute
PART_ROWS = 2**14  # rows of a block of more, which one thread computes
GPU_ROWS = 2**20  # rows of a block on a GPU
ENCODED_ROWS = 2**16  # rows of the host from which on a GPU encodes them
TOO_MANY_CLASSES = hint(
    python="Merge rare classes; if y holds numbers, use MixtureSVR.", cli="Merge rare classes in the column of labels."
)
SLOPES = Rule("an array of positive numbers", lambda value: is_array(value, 1) and len(value) > 0 and (value > 0).all())


def _without(labels: Any, is_missing: Bools) -> Any:
    """Remove the labels of some rows: a masked array; categories of pandas and floats have their own gaps."""
    if not isinstance(labels, np.ndarray) or labels.dtype.kind == "f":
        labels = labels.copy()
        labels[is_missing] = np.nan
        return labels
    return np.ma.array(labels if labels.dtype.kind in "iu" else labels.astype(object), mask=is_missing)


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

    @maps_partitions
    @on_gpu_of_rows
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
    @maps_partitions
    @on_gpu_of_rows
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
        (shares,) = self._converted(X, self.decision_probabilities)
        return shares

    def _converted(self, X: Any, *conversions: Callable[[Floats], Any]) -> list[Any]:
        """Convert decision values, in blocks of rows: there may be one for each of many pairs of classes."""
        check_is_fitted(self, "_decision")
        settings, gpu = current_settings(), current_gpu() if on_gpu() else None
        most = max(1, CELLS // len(self.intercept_))
        whole, step = (ROWS, PART_ROWS) if gpu is None else (GPU_ROWS, GPU_ROWS)
        whole, step = min(whole, most), min(step, most)
        is_direct = self._is_encoded_on_gpu(X)
        rows = X if is_direct else self.rows_of(X)

        def converted(start: int) -> list[Any]:
            block = rows if len(rows) <= whole else rows[start : start + step]  # the rows keep what they compute
            decisions = self.decide(self._gpu_rows(block, start) if is_direct else block)
            return [convert(decisions) for convert in conversions]

        def converted_in_turn(start: int) -> list[Any]:
            with using(settings), own_stream(gpu):
                return converted(start)

        starts = range(0, len(rows), step)
        if len(rows) <= whole:
            return converted(0)
        if is_direct and is_gpu_array(X):  # no encoding, nor transfers, beside which others are computed
            parts = list(map(converted, starts))
        else:
            with thread_pool() as pool:  # a block is computed by one thread
                parts = list(pool.map(converted_in_turn, starts))
        return [np.concatenate(each) for each in zip(*parts, strict=True)]

    def _is_encoded_on_gpu(self, X: Any) -> bool:
        """Whether rows are encoded on a GPU: those that are there, and many of the host."""
        if isinstance(X, Rows) or self.encoder_ is None:
            return False
        if not is_gpu_array(X) and not (on_gpu() and isinstance(X, np.ndarray) and len(X) >= ENCODED_ROWS):
            return False
        return isinstance(self._decision.kernel, DistanceKernel) and self.encoder_.encodes_on_gpu(X)

    def _gpu_rows(self, block: Any, start: int) -> Rows:
        """Encode some rows on a GPU; on the host where that raises an error."""
        assert self.encoder_ is not None, "it was asked for"
        scores = self.encoder_.gpu_scores(block)
        if scores is not None:
            return Rows(scores, self.mixture_)
        try:
            return self.rows_of(block)
        except TableError as error:
            raise error.below(start) from error

    def _exported_parts(self) -> dict[str, Any]:
        slopes = () if self.slope_ is None else np.atleast_1d(self.slope_).tolist()
        classes = {"classes": self.classes_, "scheme": self._scheme, "slopes": slopes}
        return {**super()._exported_parts(), **classes}

    def _scores(self, decisions: Floats) -> Floats:  # (n,) or (n, c)
        return self._scheme.class_scores(decisions, len(self.classes_))

    def decision_probabilities(self, decisions: Floats) -> Floats:  # (n, c)
        """Return the probability of each class from decision values, as :meth:`decide` returns them."""
        if self.slope_ is None:
            raise AttributeError("predict_proba needs the slope that fit learns with probability=True. Fit again.")
        slopes = np.atleast_1d(self.slope_)
        return averaged_probabilities(decisions, slopes, len(self.classes_), self._scheme.class_probabilities)

    def _unknown(self, decisions: Floats) -> Floats:  # (n, c)
        return np.full((len(decisions), len(self.classes_)), np.nan)

    @scores_partitions
    @on_gpu_of_rows
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the rows that have a label.

        Parameters
        ----------
        X : frame, array-like of shape (n, n_columns) or Dask collection
            Rows.
        y : array-like of shape (n,)
            Their labels; rows without one are left out. Of a Dask collection: a column of it, or the name of one.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row. Of a Dask collection: a column of it, or a number.

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

    @on_gpu_of_rows
    def score_sums(self, X: Any, y: Any, sample_weight: Any = None) -> LabelCounts:
        """Return what :meth:`score` follows from, for a part of a table; parts add up."""
        cells, rows = label_cells(on_host(y)), self.rows_of(X)
        check_length(len(rows), len(cells))
        there = np.flatnonzero(cells.codes != GAP)
        values = self.decision_function(rows[there]) if len(there) else np.empty(0)
        predicted = chosen(values) if len(there) else np.empty(0, dtype=np.intp)
        return LabelCounts.of(cells, predicted, self.classes_, part_weights(sample_weight, len(rows)))

    @maps_partitions
    @on_gpu_of_rows
    def predict(self, X: Any) -> Any:
        """Predict the label of each row.

        Returns
        -------
        ndarray or pandas.Categorical of shape (n,)
            In the type of the labels. For rows on a GPU, an array of numbers is there, too.
        """
        (codes,) = self._converted(X, lambda decisions: chosen(self._scores(decisions)))
        return self._labels.decode(codes)

    @maps_partitions
    @on_gpu_of_rows
    def assess(self, X: Any, *, all_classes: bool = False, abstain: float | None = None) -> Any:
        """Predict label, probability, component and novelty of each row, encoding it once.

        Parameters
        ----------
        X : frame or array-like of shape (n, n_columns)
            Rows.
        all_classes : bool, default=False
            Whether to add the probabilities of all classes, in columns named ``probability_`` and the class.
        abstain : float, default=None
            Probability below which a row gets no label: the label is missing, the probability stays. ``None`` gives
            every row a label.

        Returns
        -------
        frame
            Of the library of ``X``: pandas (with the index of ``X``), polars or pyarrow; pandas for an array. Columns:
            ``label``; the largest ``probability``, which is that of the label, NaN with ``probability=False``;
            ``component``, the number of the most responsible one in ``mixture_``; ``novelty``, as by :meth:`novelty`.

        Examples
        --------
        >>> from mixkern import MixtureSVC, datasets
        >>> iris = datasets.load("iris")
        >>> model = MixtureSVC(random_state=0).fit(iris.X, iris.few_labels(per_class=4, random_state=0))
        >>> model.assess(iris.X[:2])["label"].tolist()
        ['setosa', 'setosa']
        >>> int(model.assess(iris.X, abstain=0.5)["label"].isna().sum())  # rows without a label
        2
        """
        if (SHARE | NONE).check(abstain, "abstain") is not None and not self.probability:
            raise OptionError(
                "abstain compares probabilities, but the model was fitted without them.",
                hint=hint(python="Fit it with probability=True.", cli="Fit a new model."),
            )
        rows = self.rows_of(X)
        component = rows.responsibilities.argmax(axis=1)
        probabilities = self.decision_probabilities if self.probability else self._unknown
        scores, proba = self._converted(rows, self._scores, probabilities)
        labels = self._labels.decode(chosen(scores))
        if abstain is not None:
            labels = _without(labels, proba.max(axis=1) < abstain)
        columns = dict(zip(ASSESSED, (labels, proba.max(axis=1), component, self.novelty(rows)), strict=True))
        if all_classes:
            columns |= {f"probability_{label}": proba[:, i] for i, label in enumerate(self.classes_.tolist())}
        return make_frame(columns, frame_kind(X), index=row_names(X, len(rows)), purpose="assess")
