"""Messages of the library at a prompt: no line of Python, no row counted from 0."""

import warnings

import numpy as np
import pandas as pd
import pytest

from mixkern import TableEncoder, load
from mixkern.cli.spoken import spoken
from mixkern.errors import MixkernError

PYTHON = ("pd.", "np.", "X[", "TableEncoder", "encoder.", "encoder=", "mixkern.save", "errors=")


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except MixkernError as error:
            return spoken(str(error))
    return spoken(str(caught[0].message))


def fitted(**columns):
    return lambda: TableEncoder(**columns.pop("settings", {})).fit(pd.DataFrame(columns))


def test_a_choice_names_the_option():
    found = said(fitted(code=[1, 2, 3] * 9, flag=[0, 1, 1] * 9))
    assert found.endswith("To settle a column, name it: --continuous COLUMN or --categorical COLUMN.")


def test_numbers_as_text_name_the_option():
    found = said(fitted(a=[str(i) for i in range(20)] + ["old"]))
    assert "first in row 21." in found
    assert "If these stand for gaps, say so: --gap TEXT.\nOr read them as categories: --categorical a." in found


def test_text_in_a_column_of_numbers():
    found = said(fitted(town=["Ulm", "Hof"], settings={"continuous": ["town"]}))
    assert "but row 1 holds 'Ulm'" in found
    assert "make gaps of them: --gap TEXT. Or read the column as categories: --categorical town." in found


def test_infinite_numbers():
    found = said(fitted(a=[1.5, np.inf, 2.5]))
    assert found.endswith("the first in row 2. Replace them by numbers, or leave these cells empty.")


def test_new_categories_are_not_counted_by_a_line_of_python():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ["x", "y"]}))
    assert said(lambda: encoder.transform(pd.DataFrame({"a": ["z", "y"]}))).endswith("'a': 'z' (1)")


@pytest.mark.parametrize("content", [b"", b"no model", b"\x80\x04."])
def test_files_that_are_no_models_are_made_anew_by_a_command(content, tmp_path):
    path = tmp_path / "a.mixkern"
    path.write_bytes(content)
    assert "Make one anew: mixkern fit TABLE --target COLUMN -o MODEL" in said(lambda: load(path))


@pytest.mark.parametrize(
    "call",
    [
        fitted(code=[1, 2, 3] * 9, flag=[0, 1, 1] * 9),
        fitted(a=[str(i) for i in range(9)] * 2),
        fitted(a=[str(i) for i in range(20)] + ["old"], b=[str(i) for i in range(20)] + ["new"]),
        fitted(a=[f"2024-05-{day:02}" for day in range(1, 21)]),
        fitted(town=["Ulm", "Hof"], settings={"continuous": ["town"]}),
        fitted(a=[1.5, np.inf, 2.5]),
        lambda: load("/no/such/file"),
        lambda: load("/"),
    ],
)
def test_no_line_of_python_is_left(call):
    found = said(call)
    assert found
    assert not [each for each in PYTHON if each in found], found


def test_what_needs_no_change_has_none():
    assert spoken("people.csv has 90 rows, and no row 91.") == "people.csv has 90 rows, and no row 91."
