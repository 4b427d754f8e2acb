"""Sentences about a table: why unlabelled rows help or not, and what to do next."""

import math
from typing import Any

import numpy as np

from mixkern.advice.advice import Verdict
from mixkern.advice.gain import Gain
from mixkern.advice.purity import Purity
from mixkern.wording import percent

CLOSE, LOOSE = 0.5, 0.15  # lifts over chance from which components follow the classes closely, and in part
LEAST_PAIRS = 5.0  # of labelled rows in one component; fewer say nothing about purity
LEAST_SHARE = 0.02  # of all rows in components without a label; less is not worth a label
WIDE = 0.1  # half an interval that deserves an explanation
NARROW = 0.02  # half an interval that leaves no difference worth a thought
USUAL = "Until there are more labels, use all rows: MixtureSVC was better with them on most tables."  # docs/accuracy.md
MOST_NAMED = 8  # components that are named one by one


def verdict(gain: Gain | None, *, is_complete: bool) -> Verdict:
    """Say what an interval means."""
    if is_complete:
        return Verdict.COMPLETE
    if gain is None:
        return Verdict.UNKNOWN
    low, high = gain.interval
    return Verdict.HELPS if low > 0 else Verdict.HINDERS if high < 0 else Verdict.UNCLEAR


def reasons(gain: Gain | None, found: Purity, labels: dict[Any, int]) -> tuple[str, ...]:
    """Give the facts behind a verdict, in sentences."""
    return (*_structure(gain, found), *_coverage(found), *_doubt(gain, labels))


def _structure(gain: Gain | None, found: Purity) -> list[str]:
    k = len(found.shares)
    if k == 1:
        return ["All rows form one component (group of similar rows): they say nothing about the classes."]
    start = f"The rows form {k} components (groups of similar rows)."
    if found.pairs < LEAST_PAIRS or gain is None:
        return [f"{start} Too few labels lie in the same one to see whether they follow the classes."]
    follow = "hardly follow the classes"
    if found.lift < LOOSE and gain.interval[0] > 0:
        follow += ", but their shapes tell how to measure what is near"
    if found.lift >= LOOSE:
        follow = f"follow the classes {'closely' if found.lift >= CLOSE else 'in part'}"
    same = f"Two labelled rows of one component have the same label in {percent(found.overall)} of all cases"
    return [f"{start} {same}, any two in {percent(found.chance)}: the components {follow}."]


def _coverage(found: Purity) -> list[str]:
    k, empty = len(found.shares), np.flatnonzero(found.is_empty)
    if k == 1:
        return []
    start = f"There are {found.labels.sum() / k:.1f} labels per component"
    if not len(empty):
        return [f"{start}, and every component has one."]
    empty = empty[np.argsort(-found.shares[empty], kind="stable")]
    names = ", ".join(map(str, empty[:MOST_NAMED])) + (", ..." if len(empty) > MOST_NAMED else "")
    have, s = ("has", "") if len(empty) == 1 else ("have", "s")
    share = percent(found.shares[empty].sum())
    return [f"{start}, but {len(empty)} of {k}, with {share} of all rows, {have} none: component{s} {names}."]


def _doubt(gain: Gain | None, labels: dict[Any, int]) -> list[str]:
    told = []
    if gain is None:
        told.append(
            "An estimate needs two labels or more in at least two classes: some are left out of the training, to be "
            "predicted."
        )
    elif _half(gain) > WIDE:
        told.append(
            f"The interval is wide: {gain.n_tested} labels are few, and each is {100 / gain.n_tested:.0f} points of "
            "accuracy."
        )
    single = [label for label, count in labels.items() if count == 1]
    if gain is not None and single:
        names = ", ".join(map(repr, single[:MOST_NAMED])) + (", ..." if len(single) > MOST_NAMED else "")
        told.append(f"With one label only, {names} cannot be left out: the estimate is about the other classes.")
    return told


def next_steps(verdict: Verdict, gain: Gain | None, found: Purity, n_rows: int, machine: str) -> tuple[str, ...]:
    """Say what to do now."""
    suggest = "mixkern.suggest says which"
    if verdict is Verdict.UNKNOWN:
        return (f"Label more rows, at least two of each class and better eight: {suggest}.",)
    if verdict is Verdict.COMPLETE:
        return ("Every row has a label. Rows without one, if there are any, go into X_unlabelled.",)
    if verdict is Verdict.HINDERS:
        return ("Use the labelled rows alone: MixtureSVC(kernel='rbf') takes nothing from the others but scales.",)
    assert gain is not None  # there is no verdict without it
    first = f"Use all rows: {machine}().fit(X, y)." if verdict is Verdict.HELPS else _undecided(gain, n_rows)
    if found.shares[found.is_empty].sum() >= LEAST_SHARE:
        return first, f"Label rows in the components without a label: {suggest}."
    if verdict is Verdict.UNCLEAR and _half(gain) > WIDE:
        return first, f"Label more rows: {suggest}."
    return (first,)


def _undecided(gain: Gain, n_rows: int) -> str:
    half = _half(gain)
    if half < NARROW:
        return "Use either: they differ by very little, if at all."
    # The width of an interval falls with the root of the number of labels.
    enough = gain.n_tested * (half / max(abs(gain.estimate), 1e-9)) ** 2
    if enough > min(n_rows, 20 * gain.n_tested):
        return f"{USUAL} The difference is small beside its interval."
    return (
        f"{USUAL} About {_rounded(enough)} labels would show whether a difference of "
        f"{100 * abs(gain.estimate):.0f} points is real."
    )


def _half(gain: Gain) -> float:
    low, high = gain.interval
    return (high - low) / 2


def _rounded(n: float) -> int:
    """Round up to one digit, for numbers that are guesses.

    >>> _rounded(143.0)
    200
    """
    unit = 10 ** math.floor(math.log10(n))
    return int(math.ceil(n / unit - 1e-9) * unit)  # and not 90 for 80.00000000000001
