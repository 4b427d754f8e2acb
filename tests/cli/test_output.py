"""Answers and notes, for people and for scripts."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from mixkern.cli.output import free_name, give, noting
from mixkern.errors import ColumnChoiceWarning, UnseenCategoryWarning


def test_of_each_kind_the_first_warning_is_noted():
    notes = []
    with noting(notes):
        for text, kind in (("a", UnseenCategoryWarning), ("x", ColumnChoiceWarning), ("b", UnseenCategoryWarning)):
            warnings.warn(text, kind, stacklevel=1)
    assert notes == ["a\nIt is so in later rows, too.", "x"]


def test_the_same_warning_again_says_nothing_new():
    notes = []
    with noting(notes):
        for _ in range(3):
            warnings.warn("a", UnseenCategoryWarning, stacklevel=1)
    assert notes == ["a"]


def test_warnings_of_others_stay_warnings():
    notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with noting(notes):
            warnings.warn("soon", FutureWarning, stacklevel=1)
    assert [(each.category, str(each.message)) for each in caught] == [(FutureWarning, "soon")]
    assert notes == []


def test_an_error_goes_through():
    with pytest.raises(ZeroDivisionError), noting([]):
        raise ZeroDivisionError


def test_json_holds_the_notes_and_all_signs(capsys):
    give({"a": np.float64("inf"), "🙂": [pd.NaT, np.int64(3)]}, ["b"], lambda: None, as_json=True)
    found = capsys.readouterr()
    assert json.loads(found.out) == {"a": None, "🙂": [None, 3], "notes": ["b"]}
    assert "🙂" in found.out
    assert found.err == ""


def test_notes_for_people_go_to_the_other_stream(capsys):
    give({}, ["one", "two"], lambda: print("answer"), as_json=False)  # noqa: T201
    found = capsys.readouterr()
    assert (found.out, found.err) == ("answer\n", "Note: one\nNote: two\n")


def test_a_name_that_is_free():
    taken = ["label"]
    for _ in range(3):
        taken.append(free_name("label", taken))
    assert taken == ["label", "mixkern_label", "mixkern_label_2", "mixkern_label_3"]
