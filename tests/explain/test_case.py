"""Between which two classes a row was decided."""

import numpy as np
import pandas as pd
import pytest

from mixkern.errors import OptionError
from mixkern.explain.case import Verdict, most, row_names


def test_two_classes_are_against_each_other():
    verdict = Verdict.of(np.array([[0.4], [-0.3], [0.0]]), 2)  # positive speaks for the first

    assert verdict.label.tolist() == [0, 1, 0]
    assert verdict.against.tolist() == [1, 0, 1]
    assert verdict.pair.tolist() == [0, 0, 0]
    assert verdict.sign.tolist() == [1.0, -1.0, 1.0]


def test_the_next_of_several_classes_is_the_runner_up_of_the_votes():
    decisions = np.array([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]])  # of (0, 1), (0, 2), (1, 2)
    verdict = Verdict.of(decisions, 3)

    assert verdict.label.tolist() == [0, 2, 1]
    assert verdict.against.tolist() == [1, 1, 0]
    assert verdict.pair.tolist() == [0, 2, 0]
    assert verdict.sign.tolist() == [1.0, -1.0, -1.0]


def test_rows_have_the_names_of_their_index_or_positions():
    assert row_names(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), 2) == ["x", "y"]
    assert row_names(np.zeros((2, 1)), 2) == [0, 1]
    assert row_names([[0.0], [1.0]], 2) == [0, 1]  # a list has an index, too, which is none


def test_how_many_to_tell():
    assert (most(None, 7), most(3, 7), most(30, 7), most(np.int64(2), 7)) == (7, 3, 7, 2)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "all"])
def test_a_number_that_is_none_is_refused(wrong):
    message = f"^n must be a whole number above 0, or None for all, but it is {wrong!r}\\.$"
    with pytest.raises(OptionError, match=message):
        most(wrong, 7)
