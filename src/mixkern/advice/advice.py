"""Advice on unlabelled rows: whether they help, why, and what to do next, as a value and as a text."""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from textwrap import fill
from typing import Any

import numpy as np

from mixkern.advice.accuracy import AccuracyEstimate
from mixkern.advice.gain import Gain
from mixkern.advice.purity import Purity
from mixkern.wording import counted, percent

WIDTH = 80
MAX_CLASSES = 4  # up to so many, labels are counted for each class
MAX_NAMED = 8  # components or classes that are named
CLOSE, LOOSE = 0.5, 0.15  # lifts from which components follow the classes closely, and in part
LEAST_PAIRS = 5.0  # pairs of labelled rows in the same component that a purity is reported for
LEAST_SHARE = 0.02  # share of all rows in components without a label that is worth labelling
WIDE = 0.1  # half the width of an interval that is called wide
NARROW = 0.02  # half the width of an interval that excludes any difference worth mentioning
USUAL = "Until there are more labels, use all rows: MixtureSVC was better with them on most tables."  # docs/accuracy.md


class Verdict(StrEnum):
    """Whether unlabelled rows help, by the interval of the gain."""

    HELPS = "helps"  # all of it is above zero
    UNCLEAR = "no clear difference"  # zero lies inside
    HINDERS = "does not help"  # all of it is below zero
    UNKNOWN = "cannot be told"  # there are too few labels for an interval
    COMPLETE = "nothing is unlabelled"  # there are no unlabelled rows


ANSWERS = {
    Verdict.HELPS: "yes, they help.",
    Verdict.UNCLEAR: "no clear difference.",
    Verdict.HINDERS: "no, they do not help: labels alone do better.",
    Verdict.UNKNOWN: "too few labels to tell.",
    Verdict.COMPLETE: "nothing is unlabelled.",
}


@dataclass(frozen=True, eq=False)
class Advice:
    """Whether unlabelled rows help on a table, how much, and why. ``print`` shows it as a text.

    Attributes
    ----------
    verdict : Verdict
        ``"helps"``, ``"no clear difference"``, ``"does not help"``; ``"cannot be told"`` where there are too few labels
        for an estimate, ``"nothing is unlabelled"`` where every row has one.
    gain : Gain or None
        Accuracies and their difference by cross-validation; ``None`` where there are too few labels.
    accuracy : AccuracyEstimate
        Estimated accuracy of the estimator on the rows without a label.
    purity : Purity
        How well the components separate the classes: ``purity.overall`` against ``purity.chance``.
    components : frame
        One row per component, the largest first: its ``share`` of all rows, its number of ``labels``, their
        ``majority`` and its expected share, ``purity``, and the columns in which the component differs most from
        others (``distinct_1``, ``distinct_2``). The index is the component's number in the mixture.
    reasons, next_steps : tuple of str
        Sentences.
    n_rows : int
        Number of rows.
    labels : dict
        Number of labels of each class.
    estimator : str
        Class name of the estimator that was evaluated.
    """

    verdict: Verdict
    gain: Gain | None
    accuracy: AccuracyEstimate = field(repr=False)
    purity: Purity = field(repr=False)
    components: Any = field(repr=False)
    reasons: tuple[str, ...] = field(repr=False)
    next_steps: tuple[str, ...] = field(repr=False)
    n_rows: int
    labels: dict[Any, int]
    estimator: str = "MixtureSVC"

    @property
    def estimate(self) -> float | None:
        """Estimated gain in accuracy by the unlabelled rows; ``None`` where there are too few labels."""
        return None if self.gain is None else self.gain.estimate

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval of the gain; ``None`` where there are too few labels."""
        return None if self.gain is None else self.gain.interval

    @property
    def accuracies(self) -> dict[str, float]:
        """Shares of left-out labels, ``"all_rows"`` and ``"labels_only"``; empty where there are too few labels."""
        return {} if self.gain is None else {"all_rows": self.gain.all_rows, "labels_only": self.gain.labels_only}

    def __str__(self) -> str:
        lines = [f"Do unlabelled rows help here? {ANSWERS[self.verdict].capitalize()}", self._rows()]
        if self.gain is not None:
            lines += [fill(str(self.accuracy), WIDTH)] if self.accuracy.is_known else []
            lines += _accuracy_lines(self.gain, self.estimator, sum(self.labels.values()))
        lines += ["Why (more in .components):", *map(_item, self.reasons)]
        return "\n".join([*lines, "What next:", *map(_item, self.next_steps)])

    def _rows(self) -> str:
        """Count rows and labels."""
        n_labels = sum(self.labels.values())
        if len(self.labels) <= MAX_CLASSES:
            each = ", ".join(f"{count} of {label!r}" for label, count in self.labels.items())
        else:
            low, high = min(self.labels.values()), max(self.labels.values())
            span = str(low) if low == high else f"{low} to {high}"
            each = f"{len(self.labels)} classes, {span} labels each"
        how_many = "all" if n_labels == self.n_rows else f"{n_labels} of them"
        return fill(f"{counted(self.n_rows, 'row')}, {how_many} labelled: {each}.", WIDTH)


def _accuracy_lines(gain: Gain, estimator: str, n_labels: int) -> list[str]:
    """Write both accuracies and the gain, one below the other."""
    low, high = gain.interval
    digits = 1 if high - low < 0.1 or min(abs(low), abs(high)) < 0.005 else 0
    how = f"{gain.n_folds}-fold cross-validation, {counted(gain.n_repeats, 'time')}"
    if gain.n_tested < n_labels:
        how += f", {gain.n_tested} labels"
    points = [f"{100 * value:+z.{digits}f}" for value in (gain.estimate, low, high)]
    return [
        f"Correct on labels left out ({how}):",
        f"  {f'{estimator}, all rows':<26} {100 * gain.all_rows:5.{digits}f} %",
        f"  {'SVC, labelled rows only':<26} {100 * gain.labels_only:5.{digits}f} %",
        f"  {'gain':<26} {points[0]:>5} points; {100 * gain.confidence:g} % interval {points[1]} to {points[2]}",
    ]


def _item(sentence: str) -> str:
    """Write a sentence as an item of a list."""
    return fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ")


def verdict(gain: Gain | None, *, is_complete: bool) -> Verdict:
    """Give the verdict that follows from the interval of a gain."""
    if is_complete:
        return Verdict.COMPLETE
    if gain is None:
        return Verdict.UNKNOWN
    low, high = gain.interval
    if low > 0:
        return Verdict.HELPS
    return Verdict.HINDERS if high < 0 else Verdict.UNCLEAR


def reasons(gain: Gain | None, found: Purity, labels: dict[Any, int]) -> tuple[str, ...]:
    """Give the facts behind a verdict, in sentences."""
    return (*_purity_reasons(gain, found), *_coverage_reasons(found), *_precision_reasons(gain, labels))


def _purity_reasons(gain: Gain | None, found: Purity) -> list[str]:
    """Describe how well the components follow the classes."""
    k = len(found.shares)
    if k == 1:
        return ["All rows form one component (group of similar rows), which does not separate the classes."]
    start = f"The rows form {k} components (groups of similar rows)."
    if found.pairs < LEAST_PAIRS or gain is None:
        return [f"{start} Too few labels lie in the same component to see whether components follow the classes."]
    follow = "hardly follow the classes"
    if found.lift < LOOSE and gain.interval[0] > 0:
        follow += ", but their shapes improve the distances between rows"
    if found.lift >= LOOSE:
        follow = f"follow the classes {'closely' if found.lift >= CLOSE else 'in part'}"
    same = f"Two labelled rows of one component have the same label in {percent(found.overall)} of all cases"
    return [f"{start} {same}, any two in {percent(found.chance)}: the components {follow}."]


def _coverage_reasons(found: Purity) -> list[str]:
    """Name the components without a label."""
    k, empty = len(found.shares), np.flatnonzero(found.is_empty)
    if k == 1:
        return []
    mean = found.labels.sum() / k
    start = f"There are {mean:.{0 if mean >= 10 else 1}f} labels per component"
    if not len(empty):
        return [f"{start}, and every component has one."]
    empty = empty[np.argsort(-found.shares[empty], kind="stable")]
    have, s = ("has", "") if len(empty) == 1 else ("have", "s")
    share = percent(found.shares[empty].sum())
    return [f"{start}, but {len(empty)} of {k}, with {share} of all rows, {have} none: component{s} {_names(empty)}."]


def _precision_reasons(gain: Gain | None, labels: dict[Any, int]) -> list[str]:
    """Explain a missing estimate, a wide interval, and classes that take no part."""
    sentences = []
    if gain is None:
        sentences.append(
            "An estimate needs two labels or more in at least two classes, because some are left out of the training "
            "and predicted."
        )
    elif _half_width(gain) > WIDE:
        sentences.append(
            f"The interval is wide because {gain.n_tested} labels are few: each is {100 / gain.n_tested:.0f} points of "
            "accuracy."
        )
    single = [repr(label) for label, count in labels.items() if count == 1]
    if gain is not None and single:
        sentences.append(
            f"The only label of a class cannot be left out, so the estimate is about the classes other than "
            f"{_names(single)}."
        )
    return sentences


def _names(items: Any) -> str:
    """Name the first few items."""
    return ", ".join(map(str, items[:MAX_NAMED])) + (", ..." if len(items) > MAX_NAMED else "")


def next_steps(verdict: Verdict, gain: Gain | None, found: Purity, n_rows: int, estimator: str) -> tuple[str, ...]:
    """Give what to do next, in sentences."""
    suggest = "mixkern.suggest chooses them"
    if verdict is Verdict.UNKNOWN:
        return (f"Label more rows, at least two of each class and better eight: {suggest}.",)
    if verdict is Verdict.COMPLETE:
        return ("Every row has a label. Pass rows without one, if there are any, as X_unlabelled.",)
    if verdict is Verdict.HINDERS:
        return ("Use the labelled rows alone: in MixtureSVC(kernel='rbf') the others only scale the columns.",)
    assert gain is not None  # there is no verdict without it
    first = f"Use all rows: {estimator}().fit(X, y)." if verdict is Verdict.HELPS else _step_if_unclear(gain, n_rows)
    if found.shares[found.is_empty].sum() >= LEAST_SHARE:
        return first, f"Label rows in the components without a label: {suggest}."
    if verdict is Verdict.UNCLEAR and _half_width(gain) > WIDE:
        return first, f"Label more rows: {suggest}."
    return (first,)


def _step_if_unclear(gain: Gain, n_rows: int) -> str:
    """Give the next step where the interval contains zero."""
    half = _half_width(gain)
    if half < NARROW:
        return "Use either: they differ by very little, if at all."
    # The width of an interval falls with the root of the number of labels.
    enough = gain.n_tested * (half / max(abs(gain.estimate), 1e-9)) ** 2
    if enough > min(n_rows, 20 * gain.n_tested):
        return f"{USUAL} The difference is small compared with its interval."
    return (
        f"{USUAL} About {_rounded_up(enough)} labels would show whether a difference of "
        f"{100 * abs(gain.estimate):.0f} points is real."
    )


def _half_width(gain: Gain) -> float:
    """Give half the width of the interval."""
    low, high = gain.interval
    return (high - low) / 2


def _rounded_up(n: float) -> int:
    """Round up to one digit, because the number is a rough estimate.

    >>> _rounded_up(143.0)
    200
    """
    unit = 10 ** math.floor(math.log10(n))
    return int(math.ceil(n / unit - 1e-9) * unit)  # and not 90 for 80.00000000000001
