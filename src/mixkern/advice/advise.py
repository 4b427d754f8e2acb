"""Estimate whether unlabelled rows improve a classifier on a table."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from mixkern.advice.advice import Advice, next_steps, reasons, verdict
from mixkern.advice.cross_validation import CONFIDENCE, is_testable
from mixkern.advice.gain import cross_validated_gain
from mixkern.advice.purity import Purity, purity
from mixkern.density import component_table, one_hot_rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import OptionError
from mixkern.estimators import MixtureSVC
from mixkern.imports import optional
from mixkern.search.split import check_density


def advise(
    X: Any,
    y: Any,
    *,
    X_unlabelled: Any = None,
    estimator: MixtureSVC | None = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Advice:
    """Estimate whether unlabelled rows improve the accuracy on this table, and by how much.

    The density of all rows is fitted once, without labels. Then labels are left out in repeated cross-validation and
    predicted from the others: by the estimator, with the density of all rows, and by scikit-learn's ``SVC``, with the
    labelled rows alone. The difference of their accuracies is the gain.

    Parameters
    ----------
    X : frame or array-like of shape (n, n_columns)
        The table: numbers, categories, gaps.
    y : array-like of shape (n,)
        Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    X_unlabelled : frame or array-like of shape (m, n_columns), default=None
        Further rows without labels.
    estimator : MixtureSVC, default=None
        The estimator to evaluate; ``None`` is ``MixtureSVC()``.
    confidence : float, default=0.95
        Level of the interval.
    random_state : int, RandomState or None, default=0
        Controls the start of the density and the folds.

    Returns
    -------
    Advice
        ``print`` shows it as a text; its attributes are ``verdict``, ``estimate``, ``interval``, ``accuracies``,
        ``components``, ``reasons``, ``next_steps`` and others.

    Notes
    -----
    The interval is that of the corrected resampled t-test (Nadeau and Bengio, 2003), and never narrower than the number
    of labels allows (Agresti and Min, 2005). Few labels give wide intervals, and "no clear difference" then means that
    the labels are too few to show one.

    Accuracies hold for rows like the labelled ones: where rare classes were labelled as often as frequent ones, each
    class counts as much as its labels. Both classifiers are trained on four of five labels; with all of them they are
    somewhat better. The columns of ``SVC`` are z-scored and their gaps filled by means of all rows; its ``C`` is 10.

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
    model = _estimator(estimator, random_state)
    CONFIDENCE.check(confidence, "confidence")
    pandas = optional("pandas", purpose="mixkern.advise")
    given, _ = model.read_labels(X, y, None)
    rows = model.learn_structure(X, X_unlabelled, given)
    codes = np.append(given, np.full(len(rows) - len(given), UNLABELLED))
    labelled = np.flatnonzero(codes != UNLABELLED)
    gain = None
    if is_testable(codes[labelled]):
        numbers = one_hot_rows(model.mixture_, rows[labelled].values)
        random = check_random_state(random_state)
        gain = cross_validated_gain(model, rows[labelled], numbers, codes[labelled], random, confidence)
    found = purity(rows.responsibilities, codes)
    labels = dict(zip(model.classes_.tolist(), np.bincount(codes[labelled]).tolist(), strict=True))
    found_verdict = verdict(gain, is_complete=len(labelled) == len(rows))
    return Advice(
        verdict=found_verdict,
        gain=gain,
        purity=found,
        components=_components(pandas, model, found, list(labels)),
        reasons=reasons(gain, found, labels),
        next_steps=next_steps(found_verdict, gain, found, len(rows), type(model).__name__),
        n_rows=len(rows),
        labels=labels,
        estimator=type(model).__name__,
    )


def _estimator(estimator: MixtureSVC | None, random_state: Any) -> MixtureSVC:
    """Give a copy of the estimator to evaluate."""
    if estimator is not None and not isinstance(estimator, MixtureSVC):
        raise OptionError(f"estimator must be a MixtureSVC or a LaplacianSVC, but it is {estimator!r}.")
    model = MixtureSVC() if estimator is None else clone(estimator)
    check_density(model.density)
    if model.random_state is None:
        model.set_params(random_state=random_state)
    return model.set_params(probability=False)  # not needed here, and it takes most of the time


def _components(pandas: Any, estimator: MixtureSVC, found: Purity, classes: list[Any]) -> Any:
    """Make a table of the components: their labels, and the columns in which they differ most from others."""
    majorities = [
        None if empty else classes[code] for code, empty in zip(found.majorities, found.is_empty, strict=True)
    ]
    frame = pandas.DataFrame(
        {
            "share": found.shares,
            "labels": found.labels,
            "majority": pandas.Series(majorities, dtype=object),
            "purity": np.where(found.is_empty, np.nan, found.of_components),
        }
    )
    description = component_table(estimator.mixture_, estimator.encoder_, n_columns=2).drop(columns="weight")
    frame.index.name = description.index.name
    return frame.join(description).sort_values("share", ascending=False, kind="stable")
