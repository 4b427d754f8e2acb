"""Estimate whether unlabelled rows improve a classifier on a table."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.base import clone

from mixkern.advice.accuracy import AccuracyEstimate, accuracy_of
from mixkern.advice.advice import Advice, next_steps, reasons, verdict
from mixkern.advice.cross_validation import CONFIDENCE, is_testable
from mixkern.advice.gain import cross_validated_gain
from mixkern.advice.purity import Purity, purity
from mixkern.advice.source import component_labels, suggested_labels
from mixkern.advice.suggest import MAX_DRAWN, drawn_rows
from mixkern.density import one_hot_rows
from mixkern.density.describe import described_components
from mixkern.encoding import UNLABELLED
from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.errors import OptionError
from mixkern.estimators import MixtureSVC
from mixkern.fitting import VERBOSE, quiet
from mixkern.partitions import PartitionedValues, learns_partitions
from mixkern.sampling import check_random_state
from mixkern.search.split import check_density
from mixkern.threads import single_threaded_algebra
from mixkern.wording import percent, shown

FEW_LABELS = 500  # up to which the matrices of a training are too small for several threads


@learns_partitions
def advise(
    X: Any,
    y: Any,
    *,
    X_unlabelled: Any = None,
    source: Any = None,
    estimator: MixtureSVC | None = None,
    confidence: float = 0.95,
    random_state: Any = 0,
    verbose: Any = 0,
) -> Advice:
    """Estimate whether unlabelled rows improve the accuracy on this table, and by how much.

    The density of all rows is fitted once, without labels. Then repeated cross-validation on the labelled rows compares
    the estimator, which uses that density, with scikit-learn's ``SVC`` on the labelled rows alone. The gain is the
    difference of their accuracies.

    Parameters
    ----------
    X : frame, array-like of shape (n, n_columns) or Dask collection
        The table: numbers, categories, gaps. Of a Dask collection, the density is that of all rows, and the rest is
        computed from the labelled rows and 20,000 others, drawn at random.
    y : array-like of shape (n,)
        Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    X_unlabelled : frame or array-like of shape (m, n_columns), default=None
        Further rows without labels.
    source : array-like of shape (n,), default=None
        How each labelled row was chosen, ``"suggested"`` or ``"random"``, as in :func:`estimated_accuracy`.
    estimator : MixtureSVC, default=None
        The estimator to evaluate; ``None`` is ``MixtureSVC()``.
    confidence : float, default=0.95
        Level of the confidence interval of the gain.
    random_state : int, RandomState or None, default=0
        Controls the start of the density and the folds.
    verbose : int, default=0
        With 1, a line is printed for each stage, with the time since the beginning; with 2, also for each fold of the
        cross-validation and each iteration of the density. That of ``estimator`` is used where it is higher.

    Returns
    -------
    Advice
        With ``verdict``, ``estimate``, ``interval``, ``accuracy``, ``accuracies``, ``components``, ``reasons``,
        ``next_steps`` and other attributes; ``print`` shows them as a text.

    Notes
    -----
    Most of the time is taken by trainings without some of the labels: fifty for the gain, one hundred for the accuracy.
    With 24 labels of 344 rows, this takes 3 s on one core; with ``estimator=MixtureSVC(unlabelled="ignore")``, without
    the semi-supervised SVM, less than 1 s.

    The interval is that of the corrected resampled t-test (Nadeau and Bengio, 2003), and never narrower than the number
    of labels allows (Agresti and Min, 2005). Few labels give wide intervals, and "no clear difference" then means that
    the labels are too few to show one.

    ``accuracy`` is the estimate of :func:`estimated_accuracy`. The two ``accuracies`` are shares of left-out labels:
    both classifiers are trained on four fifths of the labels, and a class counts by its share of the labels. They are
    to be compared with each other. ``SVC`` has C = 10,
    on z-scored and one-hot columns with gaps filled by the density.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import advise
    >>> iris = datasets.load("iris")
    >>> advice = advise(iris.X, iris.few_labels(per_class=8, random_state=0))
    >>> print(advice.verdict)
    no clear difference
    >>> advice.interval[0] < advice.estimate < advice.interval[1]
    True
    >>> list(advice.components.columns)
    ['share', 'labels', 'majority', 'purity', 'distinct_1', 'distinct_2']
    """
    model = _estimator(estimator, random_state, verbose)
    CONFIDENCE.check(confidence, "confidence")
    codes, _ = model.read_labels(X, y, None)
    with model._stage("advice") as stage:  # noqa: SLF001
        rows = model.learn_structure(X, X_unlabelled, codes)
        n_further = len(rows) - len(codes)
        further = np.zeros(n_further, dtype=bool)
        is_suggested, is_untested = (
            np.append(mask(source, codes), further) for mask in (suggested_labels, component_labels)
        )
        codes = np.append(codes, np.full(n_further, UNLABELLED))
        n_rows = len(rows)
        if isinstance(rows.values, PartitionedValues):
            drawn = drawn_rows(codes, MAX_DRAWN, check_random_state(random_state))
            rows, codes, is_suggested, is_untested = rows[drawn], codes[drawn], is_suggested[drawn], is_untested[drawn]
        labelled = np.flatnonzero(codes != UNLABELLED)
        labels = dict(zip(model.classes_.tolist(), np.bincount(codes[labelled]).tolist(), strict=True))
        gain, accuracy = None, AccuracyEstimate.unknown(labels, confidence)
        if is_testable(codes[labelled]):
            model.train(rows, codes)
            folds, random = check_random_state(random_state), check_random_state(random_state)
            numbers = one_hot_rows(model.mixture_, rows[labelled].values)
            few = len(labelled) <= FEW_LABELS
            with quiet(), single_threaded_algebra() if few else nullcontext():  # of many trainings
                accuracy = accuracy_of(model, rows, codes, is_suggested, confidence, folds, is_untested=is_untested)
                estimate = "unknown" if accuracy.value is None else percent(accuracy.value)
                stage.note(f"accuracy estimated: {estimate}")
                gain = cross_validated_gain(model, rows, numbers, codes, random, confidence, stage)
                stage.note(f"gain estimated: {100 * gain.estimate:+.0f} points")
        component_purity = purity(rows.responsibilities, codes)
        outcome = verdict(gain, is_complete=len(labelled) == n_rows)
    return Advice(
        verdict=outcome,
        gain=gain,
        accuracy=accuracy,
        purity=component_purity,
        components=_components(frame_kind(X), model, component_purity, list(labels)),
        reasons=reasons(gain, component_purity, labels),
        next_steps=next_steps(outcome, gain, component_purity, n_rows, type(model).__name__),
        n_rows=n_rows,
        labels=labels,
        estimator=type(model).__name__,
    )


def _estimator(estimator: MixtureSVC | None, random_state: Any, verbose: Any) -> MixtureSVC:
    """Return a copy of the estimator to evaluate."""
    if estimator is not None and not isinstance(estimator, MixtureSVC):
        raise OptionError(f"estimator must be a MixtureSVC or a LaplacianSVC, but it is {shown(estimator)}.")
    model = MixtureSVC() if estimator is None else clone(estimator)
    check_density(model.density)
    if model.random_state is None:
        model.set_params(random_state=random_state)
    level = max(int(VERBOSE.check(each, "verbose")) for each in (verbose, model.verbose))
    # Probabilities are not needed, and would take most of the time.
    return model.set_params(probability=False, verbose=level)


def _components(kind: str, estimator: MixtureSVC, purity: Purity, classes: list[Any]) -> Any:
    """Return a table of the components: their labels, and the columns in which they differ most from others."""
    majorities = [None if empty else classes[i] for i, empty in zip(purity.majorities, purity.is_empty, strict=True)]
    described = described_components(estimator.mixture_, estimator.encoder_, 2)
    place = np.argsort(described["component"])  # of each component among the described ones
    majority = np.ma.masked_array(np.array([*majorities, None], dtype=object)[:-1], purity.is_empty)
    facts = {
        "share": purity.shares,
        "labels": purity.labels,
        "majority": majority,
        "purity": np.where(purity.is_empty, np.nan, purity.of_components),
        **{name: np.array(texts, dtype=object)[place] for name, texts in described.items() if name.startswith("dist")},
    }
    order = np.argsort(-purity.shares, kind="stable")
    columns = {name: values[order] for name, values in facts.items()}
    return make_frame(columns, kind, index=order, index_name="component", purpose="mixkern.advise")
