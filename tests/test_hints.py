"""The hints for the command line name options and no Python."""

import warnings

import numpy as np
import pandas as pd
import pytest

from mixkern import TableEncoder, datasets, load
from mixkern.errors import MixkernError

PYTHON = (
    "pd.",
    "np.",
    "X[",
    "TableEncoder",
    "encoder.",
    "encoder=",
    "mixkern.save",
    "errors=",
    "X.",
    "names()",
)


def message(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except MixkernError as error:
            return error.on("cli")
    return caught[0].message.on("cli")


def fitted(**columns):
    return lambda: TableEncoder(**columns.pop("settings", {})).fit(pd.DataFrame(columns))


def test_a_choice_names_the_option():
    found = message(fitted(code=[1, 2, 3] * 9, flag=[0, 1, 1] * 9))
    assert found.endswith("To choose, name a column: --continuous COLUMN or --categorical COLUMN.")


def test_numbers_as_text_name_the_option():
    found = message(fitted(a=[str(i) for i in range(20)] + ["old"]))
    assert "first in row 21." in found
    assert found.endswith("name them: --gap TEXT.\nOr read the columns as categories: --categorical a.")


def test_text_in_a_column_of_numbers():
    found = message(fitted(town=["Ulm", "Hof"], settings={"continuous": ["town"]}))
    assert "but row 1 (counted from 1) holds 'Ulm'" in found
    assert "make gaps of them: --gap TEXT. Or read the column as categories: --categorical town." in found


def test_infinite_numbers():
    found = message(fitted(a=[1.5, np.inf, 2.5]))
    assert found.endswith("the first in row 2 (counted from 1). Replace them by numbers, or leave these cells empty.")


def test_new_categories():
    encoder = TableEncoder().fit(pd.DataFrame({"a": ["x", "y"]}))
    assert message(lambda: encoder.transform(pd.DataFrame({"a": ["z", "y"]}))).endswith("'a': 'z' (1)")


@pytest.mark.parametrize("content", [b"", b"no model", b"\x80\x04."])
def test_files_that_are_no_models_name_the_command_that_writes_one(content, tmp_path):
    path = tmp_path / "a.mixkern"
    path.write_bytes(content)
    assert ": mixkern fit TABLE --target COLUMN -o MODEL" in message(lambda: load(path))


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
        lambda: datasets.load("irsi"),
    ],
)
def test_no_line_of_python_is_left(call):
    found = message(call)
    assert found
    assert not [each for each in PYTHON if each in found], found
