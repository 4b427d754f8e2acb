"""The text: figures as they are, in as many digits as they deserve."""

import numpy as np
import pandas as pd

from mixkern.advice import Advice, Verdict
from mixkern.advice.gain import Gain
from mixkern.advice.purity import purity


def advice(gain, labels=None, verdict=Verdict.UNCLEAR, n_rows=100):
    found = purity(np.eye(2)[np.arange(8) % 2], np.arange(8) % 2)
    labels = {"no": 6, "yes": 10} if labels is None else labels
    return Advice(verdict, gain, found, pd.DataFrame(), ("Because.",), ("Go on.", "And on."), n_rows, labels)


def test_the_whole_text():
    given = Gain(0.78, 0.75, (-0.141, 0.2), 0.95, 16, 5, 10)
    assert str(advice(given)).splitlines() == [
        "Do unlabelled rows help here? No clear difference.",
        "100 rows, 16 of them labelled: 6 of 'no', 10 of 'yes'.",
        "Accuracy on labels left out (5-fold cross-validation, 10 times):",
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


def test_fewer_labels_than_there_are_is_told():
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
