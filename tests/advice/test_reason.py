"""Sentences: each is there where its facts are, and only there."""

import numpy as np
import pytest

from mixkern.advice.advice import Verdict
from mixkern.advice.gain import Gain
from mixkern.advice.purity import purity
from mixkern.advice.reason import USUAL, next_steps, reasons, verdict

ISLANDS = np.repeat(np.eye(4), 10, axis=0)  # forty rows, four components
LABELS = {"a": 10, "b": 10}


def gain(estimate=0.1, half=0.05, n_tested=20):
    low, high = estimate - half, estimate + half
    return Gain(0.7 + estimate, 0.7, (low, high), 0.95, n_tested, 5, 10)


def pure(*codes_of_components):
    """Five labels in each of the components that have a class."""
    codes = np.full(40, -1)
    for k, code in enumerate(codes_of_components):
        codes[10 * k : 10 * k + 5] = code
    return purity(ISLANDS, codes)


@pytest.mark.parametrize(
    ("estimate", "half", "expected"),
    [
        (0.1, 0.05, "helps"),
        (0.1, 0.2, "no clear difference"),
        (-0.1, 0.05, "does not help"),
        (0.0, 0.0, "no clear difference"),
    ],
)
def test_the_interval_decides(estimate, half, expected):
    assert verdict(gain(estimate, half), is_complete=False) == expected


def test_without_an_interval_or_a_question_there_is_no_verdict_on_the_gain():
    assert verdict(None, is_complete=False) is Verdict.UNKNOWN
    assert verdict(gain(), is_complete=True) is Verdict.COMPLETE
    assert verdict(None, is_complete=True) is Verdict.COMPLETE


def test_how_far_components_follow_the_classes():
    mixed = purity(ISLANDS, np.arange(40) % 2)
    assert reasons(gain(), pure(0, 0, 1, 1), LABELS)[0].endswith("the components follow the classes closely.")
    assert reasons(gain(0.0), mixed, LABELS)[0].endswith("the components hardly follow the classes.")
    assert reasons(gain(0.1), mixed, LABELS)[0].endswith("but their shapes tell how to measure what is near.")
    assert "Too few labels lie in the same one" in reasons(None, pure(0, 1), LABELS)[0]
    one = reasons(gain(), purity(np.ones((20, 1)), np.arange(20) % 2), LABELS)
    assert one == ("All rows form one component (group of similar rows): they say nothing about the classes.",)


def test_components_without_a_label_are_named():
    assert (
        reasons(gain(), pure(0, 0, 1, 1), LABELS)[1]
        == "There are 5.0 labels per component, and every component has one."
    )
    assert reasons(gain(), pure(0, -1, 1, -1), LABELS)[1] == (
        "There are 2.5 labels per component, but 2 of 4, with 50 % of all rows, have none: components 1, 3."
    )


def test_doubts_are_told_where_there_are_any():
    found = pure(0, 0, 1, 1)
    assert len(reasons(gain(half=0.05), found, LABELS)) == 2
    assert reasons(gain(half=0.3), found, LABELS)[2].startswith("The interval is wide: 20 labels are few")
    assert reasons(gain(), found, {"a": 1, "b": 10})[2].startswith("With one label only, 'a' cannot be left out")


@pytest.mark.parametrize(
    ("given", "n_rows", "start"),
    [
        (gain(0.001, 0.015), 500, "Use either: they differ by very little"),
        (gain(0.01, 0.2), 500, f"{USUAL} The difference is small beside its interval."),
        # The interval must shrink to half its width, which takes four times the labels
        (gain(0.1, 0.2), 500, f"{USUAL} About 80 labels would show"),
        (gain(-0.1, 0.2), 500, f"{USUAL} About 80 labels"),
        (gain(0.1, 0.2), 60, f"{USUAL} The difference is small beside its interval."),  # there are not that many
        (gain(0.0, 0.2), 500, f"{USUAL} The difference is small beside its interval."),
    ],
)
def test_what_to_do_where_nothing_is_clear(given, n_rows, start):
    assert next_steps(Verdict.UNCLEAR, given, pure(0, 0, 1, 1), n_rows, "MixtureSVC")[0].startswith(start)


def test_more_labels_where_they_are_missing():
    suggest = "mixkern.suggest says which."
    empty = f"Label rows in the components without a label: {suggest}"
    assert next_steps(Verdict.UNCLEAR, gain(), pure(0, 1), 500, "M")[1:] == (empty,)
    assert next_steps(Verdict.HELPS, gain(), pure(0, 1), 500, "M") == ("Use all rows: M().fit(X, y).", empty)
    assert next_steps(Verdict.HELPS, gain(), pure(0, 0, 1, 1), 500, "M")[1:] == ()
    assert next_steps(Verdict.UNCLEAR, gain(0.1, 0.2), pure(0, 0, 1, 1), 500, "M")[1:] == (
        f"Label more rows: {suggest}",
    )
    assert next_steps(Verdict.UNKNOWN, None, pure(0, 1), 500, "M")[0].endswith(suggest)
    assert next_steps(Verdict.HINDERS, gain(-0.2), pure(0, 1), 500, "M")[0].startswith("Use the labelled rows alone")
    assert "X_unlabelled" in next_steps(Verdict.COMPLETE, None, pure(0, 1), 500, "M")[0]
