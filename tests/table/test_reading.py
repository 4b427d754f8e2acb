import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pytest

from mixkern.errors import NotNumericError, UnknownColumnError
from mixkern.table.column import CategoricalColumn, ContinuousColumn
from mixkern.table.frame import raw_columns
from mixkern.table.reading import reading, told

NUMBERS_OR_TEXT = [str(i) for i in range(12)]
NAMES = ["age", "town", "income"]


def read(cells, dtype=None):
    (raw,) = raw_columns(pd.DataFrame({"a": pd.Series(cells, dtype=dtype)}))
    return reading(raw)


@pytest.mark.parametrize(
    ("cells", "column_type"),
    [
        ([0.0, 1.0], ContinuousColumn),
        ([decimal.Decimal(0), decimal.Decimal(1)], ContinuousColumn),
        ([1, 1], ContinuousColumn),
        (range(11), ContinuousColumn),
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], ContinuousColumn),
        ([dt.timedelta(1), dt.timedelta(2)], ContinuousColumn),
        ([dt.time(1), dt.time(2)], ContinuousColumn),
        ([None, None], ContinuousColumn),
        (["a", "b", "a"], CategoricalColumn),
        (["1", "2"], CategoricalColumn),
        (list("abcdefghij"), CategoricalColumn),
        ([*"abcdefghijk", "a"], CategoricalColumn),
        ([1, "a"], CategoricalColumn),
        ([True, False], CategoricalColumn),
        (pd.Categorical([1, 2, 3]), CategoricalColumn),
    ],
)
def test_what_goes_without_saying(cells, column_type):
    how = read(cells)
    assert (how.column_type, how.reason, how.is_choice) == (column_type, "", False)


@pytest.mark.parametrize(
    ("cells", "column_type", "reason"),
    [
        ([0, 1, 1], CategoricalColumn, "integers with 2 distinct values, read as categories"),
        ([2**60, 2**60 + 1], CategoricalColumn, "integers with 2 distinct values, read as categories"),
        (pd.array([0, 1, None], "Int64"), CategoricalColumn, "integers with 2 distinct values, read as categories"),
        ([1, 2, 3], ContinuousColumn, "integers with 3 to 10 distinct values, read as numbers"),
        (range(10), ContinuousColumn, "integers with 3 to 10 distinct values, read as numbers"),
        (NUMBERS_OR_TEXT, CategoricalColumn, "texts that are all numbers, read as categories"),
        ([*NUMBERS_OR_TEXT, "nan", None], CategoricalColumn, "texts that are all numbers, read as categories"),
        (
            [f"id {i}" for i in range(11)],
            CategoricalColumn,
            "texts that differ in every row, read as categories; drop them if they are identifiers",
        ),
    ],
)
def test_what_could_be_read_in_two_ways(cells, column_type, reason):
    how = read(cells)
    assert (how.column_type, how.reason, how.is_choice) == (column_type, reason, True)


def test_numbers_with_a_few_words_between_them():
    message = (
        r"Column 'a' is text, yet 12 of its 14 distinct values are numbers\. Not a number: 'none', 'missing', first in "
        r"row 3\. Leave such cells empty .*TableEncoder\(categorical=\['a'\]\)"
    )
    with pytest.raises(NotNumericError, match=message):
        read(["0", "1", "2", "none", "missing", "none", *NUMBERS_OR_TEXT[3:]])


def test_words_with_as_many_numbers_between_them_are_words():
    assert read([*NUMBERS_OR_TEXT, *(f"n{i}" for i in range(12))]).column_type is CategoricalColumn


# What the user has said


@pytest.mark.parametrize(
    "given", ["town", 1, np.int64(1), ["town"], (1,), np.array(["town"]), pd.Index(["town"]), [1, "town"]]
)
def test_columns_by_name_or_position(given):
    for option, column_type in (("continuous", ContinuousColumn), ("categorical", CategoricalColumn)):
        settled = told(NAMES, **{"continuous": None, "categorical": None, option: given})
        assert {i: (how.column_type, how.reason, how.is_choice) for i, how in settled.items()} == {
            1: (column_type, "as told", False)
        }


def test_nothing_said():
    assert told(NAMES, None, None) == told(NAMES, [], ()) == {}


def test_both_options_together():
    settled = told(NAMES, continuous=["age", 2], categorical="town")
    assert [settled[i].column_type for i in range(3)] == [ContinuousColumn, CategoricalColumn, ContinuousColumn]


@pytest.mark.parametrize(
    ("continuous", "categorical", "message"),
    [
        (
            "twon",
            None,
            r"continuous names the column 'twon', but the table has 'age', 'town', 'income'\. Did you mean 'town'\?",
        ),
        (None, ["zip"], r"categorical names the column 'zip', but the table has 'age', 'town', 'income'\.$"),
        (3, None, r"continuous names the column 3, but expected a name, or a position from 0 to 2\."),
        (-1, None, r"continuous names the column -1, but expected a name, or a position from 0 to 2\."),
        (None, True, r"categorical names the column True, but expected a name"),
        (None, 1.0, r"categorical names the column 1\.0, but expected a name"),
        (None, [None], r"categorical names the column None, but expected a name"),
        ("age", 0, r"Column 'age' is named in both continuous and categorical\. Name it in one\."),
    ],
)
def test_columns_that_cannot_be_found(continuous, categorical, message):
    with pytest.raises(UnknownColumnError, match=message):
        told(NAMES, continuous, categorical)


@pytest.mark.parametrize(
    ("cells", "column_type", "is_choice"),
    [
        ([0.0, 1.0, np.nan], CategoricalColumn, True),  # pandas' way to write [0, 1, None]
        ([1.0, 2.0, 3.0, np.nan], ContinuousColumn, True),
        ([0.0, 1.0], ContinuousColumn, False),  # without a gap, whoever wrote floats meant floats
        ([0.5, 1.0, np.nan], ContinuousColumn, False),
    ],
)
def test_integers_that_a_gap_made_floats(cells, column_type, is_choice):
    (raw,) = raw_columns(pd.DataFrame({"a": cells}))
    how = reading(raw)
    assert how.column_type is column_type
    assert how.is_choice is is_choice
