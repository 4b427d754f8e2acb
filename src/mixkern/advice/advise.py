"""Whether unlabelled rows help on this table, asked before anyone relies on them."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from mixkern.advice.advice import Advice
from mixkern.advice.cross_validation import is_testable
from mixkern.advice.gain import cross_validated_gain
from mixkern.advice.purity import Purity, purity
from mixkern.advice.reason import next_steps, reasons, verdict
from mixkern.density import component_table, one_hot_rows
from mixkern.encoding import UNLABELLED
from mixkern.errors import LabelError, OptionError
from mixkern.estimators import MixtureSVC
from mixkern.estimators.setting import POSITIVE
from mixkern.imports import optional


def advise(
    X: Any,
    y: Any,
    *,
    X_unlabelled: Any = None,
    estimator: MixtureSVC | None = None,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Advice:
    """Say in words and numbers whether unlabelled rows help on this table.

    The density of all rows is learned once, without a label. Then some of the labels are left out, again and again,
    and predicted from the others: by a machine that knows all rows, and by scikit-learn's ``SVC``, which is given the
    labelled ones alone. The difference of their accuracies is the gain.

    Parameters
    ----------
    X : frame or array-like of shape (n, n_columns)
        The table: numbers, categories, gaps.
    y : array-like of shape (n,)
        Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    X_unlabelled : frame or array-like of shape (m, n_columns), default=None
        Further rows without labels.
    estimator : MixtureSVC, default=None
        Whose gain is asked for; ``None`` is ``MixtureSVC()``.
    confidence : float, default=0.95
        How often the interval should hold the true gain.
    random_state : int, RandomState or None, default=0
        Which start the density has, and which labels are left out together.

    Returns
    -------
    Advice
        ``print`` it, or read its attributes: ``verdict``, ``estimate``, ``interval``, ``accuracies``, ``components``,
        ``reasons``, ``next_steps``.

    Notes
    -----
    The interval is that of the corrected resampled t-test (Nadeau and Bengio, 2003), and never narrower than the number
    of labels allows (Agresti and Min, 2005). Few labels give wide intervals, and "no clear difference" is then a
    statement about the labels rather than about the table.

    Accuracies are about rows like the labelled ones: where rare classes were labelled as often as frequent ones, each
    class counts as much as its labels. Each machine is trained on four of five labels, so with all of them it will be
    somewhat better. ``SVC`` too is given z-scores, and gaps filled, by means of all rows; its ``C`` is 10, untuned.

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
    machine = _machine(estimator, random_state)
    if not POSITIVE[1](confidence) or confidence >= 1:
        raise OptionError(f"confidence must be a number between 0 and 1, but it is {confidence!r}.")
    pandas = optional("pandas", purpose="mixkern.advise")
    known, _ = machine.read_labels(X, y, None)
    rows = machine.learn_structure(X, X_unlabelled, known)
    codes = np.append(known, np.full(len(rows) - len(known), UNLABELLED))
    labelled = np.flatnonzero(codes != UNLABELLED)
    gain = None
    if is_testable(codes[labelled]):
        numbers = one_hot_rows(machine.mixture_, rows[labelled])
        random = check_random_state(random_state)
        gain = cross_validated_gain(machine, rows[labelled], numbers, codes[labelled], random, confidence)
    tables = [X] if X_unlabelled is None else [X, X_unlabelled]
    found = purity(np.vstack([machine.responsibilities(table) for table in tables]), codes)
    labels = dict(zip(machine.classes_.tolist(), np.bincount(codes[labelled]).tolist(), strict=True))
    answer = verdict(gain, is_complete=len(labelled) == len(rows))
    return Advice(
        verdict=answer,
        gain=gain,
        purity=found,
        components=_components(pandas, machine, found, list(labels)),
        reasons=reasons(gain, found, labels),
        next_steps=next_steps(answer, gain, found, len(rows), type(machine).__name__),
        n_rows=len(rows),
        labels=labels,
        machine=type(machine).__name__,
    )


def _machine(estimator: MixtureSVC | None, random_state: Any) -> MixtureSVC:
    if estimator is not None and not isinstance(estimator, MixtureSVC):
        raise OptionError(f"estimator must be a MixtureSVC or a LaplacianSVC, but it is {estimator!r}.")
    machine = MixtureSVC() if estimator is None else clone(estimator)
    if getattr(machine.density, "use_labels", False):
        raise LabelError(
            "A density that uses labels has seen those that are left out to judge it by. Ask with a density that does "
            "not: estimator=MixtureSVC(density=VBMixture())."
        )
    if machine.random_state is None:
        machine.set_params(random_state=random_state)
    return machine.set_params(probability=False)  # nobody asks for it, and it takes most of the time


def _components(pandas: Any, machine: MixtureSVC, found: Purity, classes: list[Any]) -> Any:
    """Put labels beside what is special about each component."""
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
    words = component_table(machine.mixture_, machine.encoder_, n_columns=2).drop(columns="weight")
    frame.index.name = words.index.name
    return frame.join(words).sort_values("share", ascending=False, kind="stable")
