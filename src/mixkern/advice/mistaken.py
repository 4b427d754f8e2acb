r"""Labels that may be mistaken, because the others contradict them.

Each label is predicted from the others, by the Gaussian-process regression of :mod:`~mixkern.svm.gaussian_process`. The
predicted targets f become probabilities of classes, :math:`\pi_k \propto e^{t f_k}`. A label is mistaken with
probability e, and is then one of the other classes, each with the same probability:

.. math:: P(y_i = k) = (1 - e)\, \pi_{ik} + e\, (1 - \pi_{ik}) / (c - 1)

The rate e and the slope t are the most probable ones, given all labels and priors. By Bayes' rule, the second term over
the sum is the probability that a label is mistaken. Where classes overlap, labels that look wrong are frequent without
any mistake: t is small then, and no label stands out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from mixkern.advice.suggest import check_count
from mixkern.encoding import UNLABELLED, encode_labels
from mixkern.encoding.frame import frame_kind, make_frame
from mixkern.encoding.lengths import check_length, n_rows_of
from mixkern.errors import OptionError
from mixkern.estimators import MixtureSVC
from mixkern.sampling import class_subsample
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.gaussian_process import evidence_noise, left_out_targets
from mixkern.typing import Bools, Floats, Ints, Positions, RandomState
from mixkern.wording import counted, percent, shown

MAX_LABELS = 2_000  # labels that are examined; two decompositions take some 4 s
N_NEIGHBOURS = 3  # most similar labelled rows in a reason
STANDS_OUT = 0.5  # probability of a mistake above which a label is said to stand out

RATES = np.append(0.0, np.geomspace(0.002, 0.4, 25))  # e
SLOPES = np.geomspace(0.5, 60, 40)  # t
RATE_PRIOR = 20.0  # weight of the prior (1 - e)^20: as of twenty labels without a mistake
USUAL_SLOPE, SLOPE_SPREAD = 4.0, 1.0  # median of the prior of t, and standard deviation of its logarithm
LEAST_RATE = 1e-4  # of mistakes, when labels are compared


@dataclass(frozen=True)
class MistakenLabels:
    """Labels that others contradict; ``print`` shows them as sentences.

    Attributes
    ----------
    table : frame
        The labels that are most probably mistaken, the most probable first; see :func:`mistaken_labels`.
    n_standing_out : int
        Number of labels that are mistaken with a probability of more than one half.
    n_examined, n_labels : int
        Number of labels that were predicted from others, and of all labels.
    error_rate : float
        Most probable share of mistaken labels.
    sentences : tuple of str
        The reasons of listed labels that stand out.
    others : tuple of str
        The listed labels that do not stand out, and what other labels predict for them.
    """

    table: Any
    n_standing_out: int
    n_examined: int
    n_labels: int
    error_rate: float
    sentences: tuple[str, ...]
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        examined = counted(self.n_examined, "label")
        stand = "stands" if self.n_standing_out == 1 else "stand"
        first = f"None of {examined} stands out as mistaken."
        if self.n_standing_out:
            first = f"{self.n_standing_out} of {examined} {stand} out as mistaken:"
        beyond = "The most likely ones of the others" if self.n_standing_out else "The most likely ones"
        heading = [f"{beyond} (mistakes, or unusual rows with the right label):"] if self.others else []
        return "\n".join([first, *self.sentences, *heading, *self.others])


def mistaken_labels(X: Any, y: Any, n: int = 10, *, model: MixtureSVC | None = None) -> MistakenLabels:
    """List labels that are probably mistaken, because the others contradict them.

    Parameters
    ----------
    X : frame or array-like of shape (n_rows, n_columns)
        The table: numbers, categories, gaps.
    y : array-like of shape (n_rows,)
        Labels; -1 (among numbers), ``None``, NaN or ``pandas.NA`` where there is none.
    n : int, default=10
        How many labels to list at most, those that do not stand out included.
    model : MixtureSVC or None, default=None
        Its kernel compares rows. If it is not fitted, a clone is fitted; ``None`` is ``MixtureSVC(random_state=0)``.

    Returns
    -------
    MistakenLabels
        Its ``table`` is a frame of the library of ``X``, pandas for an array:

        - ``position``: position of the row in ``X``,
        - ``label``: its label,
        - ``likely``: the most probable other label, as the others predict it,
        - ``probability``: the probability that the label is mistaken,
        - ``reason``: a sentence.

    Notes
    -----
    With few labels, a label that the others contradict with 97 % can still be mistaken with less than 1 %. The first
    number comes from the other labels. The second one includes how frequent mistakes are, as estimated from all labels,
    and one contradiction among a few labels is no evidence of any mistake. So few labels stand out there, but the
    ranking is useful: check the first ones.

    Measured on ten tables (iris, wine, seeds, heart, australian, ecoli, vehicle, two_moons, ripley, pima), thirty
    labels per class where there are as many, ten draws, with an SVM alone: with a tenth of the labels replaced by
    others, 6.2 of the ten labels at the top of the list were mistaken. At most 7.7 could be, because tables with two
    classes have six mistakes. Without mistakes, no label stood out in 93 % of draws. On vowel, with 330 labels, one or
    two stood out in 60 % of draws.

    The only label of a class is not examined. Of more than 2,000 labels, about 2,000 are drawn.

    Examples
    --------
    >>> from mixkern import datasets
    >>> from mixkern.advice import mistaken_labels
    >>> iris = datasets.load("iris")
    >>> y = iris.few_labels(per_class=20, random_state=0)
    >>> print(mistaken_labels(iris.X, y, n=1))  # doctest: +ELLIPSIS
    None of 60 labels stands out as mistaken.
    The most likely ones (mistakes, or unusual rows with the right label):
      position 106, 'virginica': others predict 'versicolor' with ... %
    >>> y[next(i for i in range(50) if y[i] == "setosa")] = "virginica"
    >>> mistaken_labels(iris.X, y).table["likely"][0]
    'setosa'
    """
    check_count(n)
    if model is not None and not isinstance(model, MixtureSVC):
        raise OptionError(f"model must be None, a MixtureSVC or a LaplacianSVC, but it is {shown(model)}.")
    labels = encode_labels(y)
    check_length(n_rows_of(X), len(labels.codes))
    fitted = _fitted(model, X, y)
    labelled = np.flatnonzero(labels.codes != UNLABELLED)
    labelled = np.sort(labelled[class_subsample(labels.codes[labelled], MAX_LABELS, RandomState(0))])
    classes, codes = np.unique(labels.codes[labelled], return_inverse=True)
    rows = fitted.rows_of(X)[labelled]
    K = kernel_matrix(fitted.kernel_, rows)
    doubts = Doubts.of(K, codes)
    names = labels.classes[classes]
    top = np.argsort(-doubts.probability, kind="stable")[: min(n, int(doubts.is_examined.sum()))]
    top = top[doubts.is_examined[top]]
    reasons = [_reason(K, codes, names, labelled, at, doubts) for at in top]
    table = {
        "position": labelled[top],
        "label": names[codes[top]],
        "likely": names[doubts.likely[top]],
        "probability": doubts.probability[top],
        "reason": np.array(reasons, dtype=object),
    }
    stands_out = doubts.probability > STANDS_OUT
    plain = names.tolist()  # numbers as those of Python
    starts = [f"  position {labelled[at]}, {plain[codes[at]]!r}:" for at in top]
    sentences = [f"{start} {why}" for start, why, at in zip(starts, reasons, top, strict=True) if stands_out[at]]
    short = [f"{start} {_prediction(doubts, at, plain)}" for start, at in zip(starts, top, strict=True)]
    others = [text for text, at in zip(short, top, strict=True) if not stands_out[at]]
    return MistakenLabels(
        table=make_frame(table, frame_kind(X), purpose="mistaken_labels"),
        n_standing_out=int(stands_out.sum()),
        n_examined=int(doubts.is_examined.sum()),
        n_labels=int((labels.codes != UNLABELLED).sum()),
        error_rate=doubts.rate,
        sentences=tuple(sentences),
        others=tuple(others),
    )


def _fitted(model: MixtureSVC | None, X: Any, y: Any) -> MixtureSVC:
    """Return a classifier with a kernel."""
    if model is not None and hasattr(model, "kernel_"):
        return model
    own = MixtureSVC(random_state=0) if model is None else clone(model)
    return own.set_params(probability=False).fit(X, y)


@dataclass(frozen=True, eq=False)
class Doubts:
    """How probable it is that each of some labels is mistaken.

    Attributes
    ----------
    probability : ndarray of shape (n,)
        Of a mistake; 0 where a label was not examined.
    likely : ndarray of int, shape (n,)
        Most probable class by the other labels, of those that are not the label's own.
    support, agreement : ndarray of shape (n,)
        Probability of that class, and of the label's own class, by the others.
    is_examined : ndarray of bool, shape (n,)
        Whether the class has another label.
    rate : float
        Most probable share of mistaken labels.
    """

    probability: Floats
    likely: Ints
    support: Floats
    agreement: Floats
    is_examined: Bools
    rate: float

    @classmethod
    def of(cls, K: Floats, codes: Ints) -> "Doubts":
        """Predict each label from the others, and find the rate of mistakes and the slope."""
        is_examined = np.bincount(codes)[codes] > 1  # without its only label a class cannot be predicted
        targets = left_out_targets(K, codes, evidence_noise(K, codes))
        slope, rate = _most_probable(targets[is_examined], codes[is_examined])
        shares = softmax(slope * targets, axis=1)
        own = shares[np.arange(len(codes)), codes]
        mistaken, right = _likelihoods(own, max(rate, LEAST_RATE), shares.shape[1])
        others = np.where(np.arange(shares.shape[1]) == codes[:, None], -1.0, shares)
        likely = others.argmax(axis=1)
        probability = np.where(is_examined, mistaken / (mistaken + right), 0.0)
        return cls(probability, likely, others.max(axis=1), own, is_examined, rate)


def _likelihoods(own: Floats, rate: Any, n_classes: int) -> tuple[Floats, Floats]:
    """Return the probability of each label as a mistake and as a right one, from that of its class by the others."""
    return rate * (1 - own) / (n_classes - 1), (1 - rate) * own


def _most_probable(targets: Floats, codes: Ints) -> tuple[float, float]:
    """Return the slope and the rate of mistakes that are most probable."""
    best, found = -np.inf, (USUAL_SLOPE, 0.0)
    for slope in SLOPES:
        own = softmax(slope * targets, axis=1)[np.arange(len(codes)), codes]
        mistaken, right = _likelihoods(own, RATES[:, None], targets.shape[1])
        log_posterior = np.log(np.maximum(mistaken + right, np.finfo(float).tiny)).sum(axis=1)
        log_posterior += RATE_PRIOR * np.log1p(-RATES) - 0.5 * (np.log(slope / USUAL_SLOPE) / SLOPE_SPREAD) ** 2
        at = int(np.argmax(log_posterior))
        if log_posterior[at] > best:
            best, found = float(log_posterior[at]), (float(slope), float(RATES[at]))
    return found


def _prediction(doubts: Doubts, at: int, labels: list[Any]) -> str:
    """Write what the other labels predict, in a few words."""
    if doubts.support[at] > doubts.agreement[at]:
        return f"others predict {labels[doubts.likely[at]]!r} with {percent(doubts.support[at])}"
    return f"others predict the same with {percent(doubts.agreement[at])}"


def _reason(K: Floats, codes: Ints, names: Any, positions: Positions, at: int, doubts: Doubts) -> str:
    """Write why a label is doubted as a sentence: what others predict, and the most similar labelled rows."""
    nearest = [other for other in np.argsort(-K[at], kind="stable") if other != at][:N_NEIGHBOURS]
    labels = names.tolist()  # numbers as those of Python
    near = ", ".join(f"position {positions[other]} ({labels[codes[other]]!r})" for other in nearest)
    return (
        f"others predict {labels[doubts.likely[at]]!r} with {percent(doubts.support[at])}; most similar: {near}. "
        f"Probability of a mistake: {percent(doubts.probability[at])}."
    )
