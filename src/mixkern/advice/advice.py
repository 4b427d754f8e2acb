"""Whether unlabelled rows help: the answer as a value, and as a text to read."""

from dataclasses import dataclass, field
from enum import StrEnum
from textwrap import fill
from typing import Any

from mixkern.advice.gain import Gain
from mixkern.advice.purity import Purity
from mixkern.wording import counted

WIDTH = 80
MOST_CLASSES = 4  # whose labels are counted one by one in the text


class Verdict(StrEnum):
    """What the interval of the gain says."""

    HELPS = "helps"  # all of it is above zero
    UNCLEAR = "no clear difference"  # zero lies inside
    HINDERS = "does not help"  # all of it is below zero
    UNKNOWN = "cannot be told"  # there are too few labels for an interval
    COMPLETE = "nothing is unlabelled"  # there is no question


ANSWERS = {
    Verdict.HELPS: "yes, they help.",
    Verdict.UNCLEAR: "no clear difference.",
    Verdict.HINDERS: "no, they do not help: labels alone do better.",
    Verdict.UNKNOWN: "too few labels to tell.",
    Verdict.COMPLETE: "nothing is unlabelled.",
}


@dataclass(frozen=True, eq=False)
class Advice:
    """Whether unlabelled rows help on a table, how much, and why. ``print`` it.

    Attributes
    ----------
    verdict : Verdict
        ``"helps"``, ``"no clear difference"``, ``"does not help"``; ``"cannot be told"`` where there are too few labels
        for an estimate, ``"nothing is unlabelled"`` where every row has one.
    gain : Gain or None
        Accuracies and their difference by cross-validation; ``None`` where there are too few labels.
    purity : Purity
        How well the components keep the classes apart: ``purity.overall`` against ``purity.chance``.
    components : pandas.DataFrame
        One row per component, the largest first: ``share`` of all rows, ``labels`` inside it, ``majority`` and
        ``purity`` (its expected share), and what is special about it (``distinct_1``, ``distinct_2``). The index is
        its number in the mixture.
    reasons, next_steps : tuple of str
        Sentences.
    n_rows : int
        Rows in all.
    labels : dict
        Number of labels of each class.
    machine : str
        Name of the estimator that was judged.
    """

    verdict: Verdict
    gain: Gain | None
    purity: Purity = field(repr=False)
    components: Any = field(repr=False)
    reasons: tuple[str, ...] = field(repr=False)
    next_steps: tuple[str, ...] = field(repr=False)
    n_rows: int
    labels: dict[Any, int]
    machine: str = "MixtureSVC"

    @property
    def estimate(self) -> float | None:
        """Estimated gain in accuracy by the unlabelled rows; ``None`` where there are too few labels."""
        return None if self.gain is None else self.gain.estimate

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the gain lies; ``None`` where there are too few labels."""
        return None if self.gain is None else self.gain.interval

    @property
    def accuracies(self) -> dict[str, float]:
        """Estimated accuracies, ``"all_rows"`` and ``"labels_only"``; empty where there are too few labels."""
        return {} if self.gain is None else {"all_rows": self.gain.all_rows, "labels_only": self.gain.labels_only}

    def __str__(self) -> str:
        lines = [f"Do unlabelled rows help here? {ANSWERS[self.verdict].capitalize()}", self._rows()]
        if self.gain is not None:
            lines += _figures(self.gain, self.machine, sum(self.labels.values()))
        lines += ["Why (more in .components):", *map(_item, self.reasons)]
        return "\n".join([*lines, "What next:", *map(_item, self.next_steps)])

    def _rows(self) -> str:
        n_labels = sum(self.labels.values())
        if len(self.labels) <= MOST_CLASSES:
            each = ", ".join(f"{count} of {label!r}" for label, count in self.labels.items())
        else:
            low, high = min(self.labels.values()), max(self.labels.values())
            each = f"{len(self.labels)} classes, {low if low == high else f'{low} to {high}'} labels each"
        how_many = "all" if n_labels == self.n_rows else f"{n_labels} of them"
        return fill(f"{counted(self.n_rows, 'row')}, {how_many} labelled: {each}.", WIDTH)


def _figures(gain: Gain, machine: str, n_labels: int) -> list[str]:
    low, high = gain.interval
    digits = 1 if high - low < 0.1 or min(abs(low), abs(high)) < 0.005 else 0
    how = f"{gain.n_folds}-fold cross-validation, {counted(gain.n_repeats, 'time')}"
    if gain.n_tested < n_labels:
        how += f", {gain.n_tested} labels"
    points = [f"{100 * value:+z.{digits}f}" for value in (gain.estimate, low, high)]
    return [
        f"Accuracy on labels left out ({how}):",
        f"  {f'{machine}, all rows':<26} {100 * gain.all_rows:5.{digits}f} %",
        f"  {'SVC, labelled rows only':<26} {100 * gain.labels_only:5.{digits}f} %",
        f"  {'gain':<26} {points[0]:>5} points; {100 * gain.confidence:g} % interval {points[1]} to {points[2]}",
    ]


def _item(sentence: str) -> str:
    return fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ")
