"""Advice as a text: figures, verdict, reasons and next steps."""

import numpy as np
import pandas as pd
import pytest

from mixkern.advice import AccuracyEstimate, Advice, Verdict
from mixkern.advice.advice import USUAL, next_steps, reasons, verdict
from mixkern.advice.gain import Gain
from mixkern.advice.purity import purity


def advice(gain, labels=None):
    found = purity(np.eye(2)[np.arange(8) % 2], np.arange(8) % 2)
    labels = {"no": 6, "yes": 10} if labels is None else labels
    accuracy = AccuracyEstimate(0.82, (0.73, 0.9), 0.95, 16)
    because, steps = ("Because.",), ("Go on.", "And on.")
    return Advice(Verdict.UNCLEAR, gain, accuracy, found, pd.DataFrame(), because, steps, 100, labels)


def test_the_whole_text():
    given = Gain(0.78, 0.75, (-0.141, 0.2), 0.95, 16, 5, 10)
    assert str(advice(given)).splitlines() == [
        "Do unlabelled rows help here? No clear difference.",
        "100 rows, 16 of them labelled: 6 of 'no', 10 of 'yes'.",
        "About 82 % of the rows without a label are predicted correctly (95 % interval 73",
        "to 90 %). This is based on 16 labels, taken as drawn at random.",
        "Correct on labels left out (5-fold cross-validation, 10 times):",
        "  MixtureSVC, all rows          78 %",
        "  SVC, labelled rows only       75 %",
        "  gain                          +3 points; 95 % interval -14 to +20",
        "Why (more in .components):",
        "- Because.",
        "What next:",
        "- Go on.",
        "- And on.",
    ]


def test_narrow_intervals_and_ends_near_zero_have_a_digit_more():
    assert "+3.0 points; 95 % interval +1.1 to +4.9" in str(advice(Gain(0.78, 0.75, (0.011, 0.049), 0.95, 16, 5, 10)))
    assert "+13.0 points; 90 % interval +0.4 to +26.0" in str(advice(Gain(0.88, 0.75, (0.004, 0.26), 0.9, 16, 5, 10)))


def test_the_number_of_labels_is_given_where_not_all_were_used():
    assert "(5-fold cross-validation, 1 time, 15 labels):" in str(advice(Gain(0.8, 0.7, (-0.1, 0.3), 0.95, 15, 5, 1)))


def test_many_classes_are_counted_together():
    assert "30 of them labelled: 6 classes, 5 labels each." in str(advice(None, dict.fromkeys("abcdef", 5)))
    assert "6 classes, 4 to 9 labels each." in str(advice(None, dict(zip("abcdef", range(4, 10), strict=True))))


def test_figures_are_attributes():
    found = advice(Gain(0.78, 0.75, (-0.14, 0.2), 0.95, 16, 5, 10))
    assert round(found.estimate, 9) == 0.03
    assert found.interval == (-0.14, 0.2)
    assert found.accuracies == {"all_rows": 0.78, "labels_only": 0.75}
    assert (advice(None).estimate, advice(None).interval, advice(None).accuracies) == (None, None, {})


# ---------------------------------------------------------------- sentences

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
    assert reasons(gain(0.1), mixed, LABELS)[0].endswith("but their shapes improve the distances between rows.")
    assert "Too few labels lie in the same component" in reasons(None, pure(0, 1), LABELS)[0]
    one = reasons(gain(), purity(np.ones((20, 1)), np.arange(20) % 2), LABELS)
    assert one == ("All rows form one component (group of similar rows), which does not separate the classes.",)


def test_components_without_a_label_are_named():
    assert (
        reasons(gain(), pure(0, 0, 1, 1), LABELS)[1]
        == "There are 5.0 labels per component, and every component has one."
    )
    assert reasons(gain(), pure(0, -1, 1, -1), LABELS)[1] == (
        "There are 2.5 labels per component, but 2 of 4, with 50 % of all rows, have none: components 1, 3."
    )
    full = purity(ISLANDS, np.repeat([0, 1, 0, 1], 10))
    assert reasons(gain(), full, LABELS)[1] == "There are 10 labels per component, and every component has one."


def test_wide_intervals_and_single_labels_are_explained():
    found = pure(0, 0, 1, 1)
    assert len(reasons(gain(half=0.05), found, LABELS)) == 2
    assert reasons(gain(half=0.3), found, LABELS)[2].startswith("The interval is wide because 20 labels are few")
    assert reasons(gain(), found, {"a": 1, "b": 10})[2].endswith("the estimate is about the classes other than 'a'.")


@pytest.mark.parametrize(
    ("given", "n_rows", "start"),
    [
        (gain(0.001, 0.015), 500, "Use either: they differ by very little"),
        (gain(0.01, 0.2), 500, f"{USUAL} The difference is small compared with its interval."),
        # The interval must shrink to half its width, which takes four times the labels
        (gain(0.1, 0.2), 500, f"{USUAL} About 80 labels would show"),
        (gain(-0.1, 0.2), 500, f"{USUAL} About 80 labels"),
        (gain(0.1, 0.2), 60, f"{USUAL} The difference is small compared with its interval."),  # there are not that many
        (gain(0.0, 0.2), 500, f"{USUAL} The difference is small compared with its interval."),
    ],
)
def test_what_to_do_where_nothing_is_clear(given, n_rows, start):
    assert next_steps(Verdict.UNCLEAR, given, pure(0, 0, 1, 1), n_rows, "MixtureSVC")[0].startswith(start)


def test_more_labels_where_they_are_missing():
    suggest = "mixkern.suggest chooses them."
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
