import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pytest

from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.date import DateColumn
from mixkern.encoding.inference import Inference, are_identifiers, identifiers, infer_column, infer_columns
from mixkern.encoding.raw_column import raw_columns
from mixkern.errors import NotNumericError

DIGITS = [str(i) for i in range(12)]
DAYS = [f"2024-05-{day:02}" for day in range(1, 21)]


def read(cells, dtype=None):
    (raw,) = raw_columns(pd.DataFrame({"a": pd.Series(cells, dtype=dtype)}))
    return infer_column(raw)


@pytest.mark.parametrize(
    ("cells", "column_type"),
    [
        ([0.5, 1.0], ContinuousColumn),
        ([0.5, 1.0, np.nan], ContinuousColumn),
        ([2.0**53, 2.0**60], ContinuousColumn),
        ([decimal.Decimal("0.5"), decimal.Decimal(1)], ContinuousColumn),
        ([1, 1], ContinuousColumn),
        ([1.0, 1.0], ContinuousColumn),
        (range(0, 22, 2), ContinuousColumn),
        ([*range(11), 0], ContinuousColumn),
        (np.arange(11) + 0.5, ContinuousColumn),
        ([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], DateColumn),
        ([dt.timedelta(1), dt.timedelta(2)], ContinuousColumn),
        ([dt.time(1), dt.time(2)], ContinuousColumn),
        ([None, None], ContinuousColumn),
        (["a", "b", "a"], CategoricalColumn),
        (["1", "1"], CategoricalColumn),
        (["1", "b"], CategoricalColumn),
        (list("abcdefghij"), CategoricalColumn),
        ([*"abcdefghijk", "a", "b"], CategoricalColumn),
        ([1, "a"], CategoricalColumn),
        ([True, False], CategoricalColumn),
        (pd.Categorical([1, 2, 3]), CategoricalColumn),
    ],
)
def test_what_goes_without_saying(cells, column_type):
    how = read(cells)
    assert how == Inference(column_type)


UNITS = "texts that look like numbers with a unit, read as categories"
COMMAS = "texts that look like numbers with decimal commas, read as categories"
ROW_NUMBERS = "whole numbers that could be row numbers, read as numbers; drop them if they are identifiers"
IDENTIFIERS = "texts that differ in nearly every row, read as categories; drop them if they are identifiers"


@pytest.mark.parametrize(
    ("cells", "column_type", "reason"),
    [
        ([0, 1, 1], CategoricalColumn, "whole numbers with 2 distinct values, read as categories"),
        ([2**60, 2**60 + 1], CategoricalColumn, "whole numbers with 2 distinct values, read as categories"),
        (
            pd.array([0, 1, None], "Int64"),
            CategoricalColumn,
            "whole numbers with 2 distinct values, read as categories",
        ),
        ([1, 2, 3], ContinuousColumn, "whole numbers with 3 to 10 distinct values, read as numbers"),
        (range(10), ContinuousColumn, "whole numbers with 3 to 10 distinct values, read as numbers"),
        (range(5, 16), ContinuousColumn, ROW_NUMBERS),
        ([*range(11), None], ContinuousColumn, ROW_NUMBERS),
        ([2**60 + i for i in (3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10)], ContinuousColumn, ROW_NUMBERS),
        (DIGITS, CategoricalColumn, "texts that are all numbers, read as categories"),
        ([*DIGITS, "nan", None], CategoricalColumn, "texts that are all numbers, read as categories"),
        (["1", "2", "1"], CategoricalColumn, "texts that are all numbers, read as categories"),
        (["1", "2", "x", None], CategoricalColumn, "texts that are mostly numbers, read as categories"),
        (["1,5", "2,25", "x", None], CategoricalColumn, COMMAS),
        ([f"{i},5" for i in range(20)] * 3, CategoricalColumn, COMMAS),
        (["12 %", "13 %"], CategoricalColumn, "texts that look like numbers with a unit, read as categories"),
        (
            [f"${i}.50" for i in range(20)],
            CategoricalColumn,
            "texts that look like numbers with a unit, read as categories",
        ),
        (DAYS, CategoricalColumn, "texts that look like dates, read as categories"),
        (["01/02/2024", "03/04/2024"], CategoricalColumn, "texts that look like dates, read as categories"),
        ([DAYS[0], None, DAYS[0]], CategoricalColumn, "texts that look like dates, read as categories"),
        ([f"id {i}" for i in range(11)], CategoricalColumn, IDENTIFIERS),
        ([*(f"id {i}" for i in range(18)), "id 0", "id 1", None], CategoricalColumn, IDENTIFIERS),  # 18 of 20
    ],
)
def test_what_could_be_read_in_two_ways(cells, column_type, reason):
    how = read(cells)
    assert (how.column_type, how.reason, how.is_ambiguous) == (column_type, reason, True)


@pytest.mark.parametrize(
    ("cells", "advice"),
    [
        (["1", "2"], "X = mixkern.prepare_table(X).X"),
        (["1", "2", "x"], "X['a'] = pd.to_numeric(X['a'], errors='coerce')"),
        (["1,5", "2,5"], "X = mixkern.prepare_table(X).X"),
        (["1,5", "2,5", "x"], "X['a'] = pd.to_numeric(X['a'].str.replace(',', '.'), errors='coerce')"),
        (["12 %", "?", "13 %"], "X = mixkern.prepare_table(X).X"),
        (DAYS, "X = mixkern.prepare_table(X).X"),
        ([*DAYS, "soon"], "X['a'] = pd.to_datetime(X['a'])"),
        ([1, 2], ""),
    ],
)
def test_advice(cells, advice):
    assert read(cells).conversion == advice


NOT_NUMERIC = """Some columns of texts are numbers for the most part; rows are counted from 1.
  'a': 12 of 14 distinct values are numbers. Not a number: 'none', 'missing', first in row 4.
  'b': 12 of 13 distinct values are numbers. Not a number: 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…', first in row 13.
Convert them, with gaps in place of the rest:
  X['a'] = pd.to_numeric(X['a'], errors='coerce')
  X['b'] = pd.to_numeric(X['b'], errors='coerce')
Or read them as categories: TableEncoder(categorical=['a', 'b'])."""


def test_numbers_with_a_few_words_between_them_are_refused_together():
    first = [*DIGITS[:3], "none", "missing", "none", *DIGITS[3:]]
    second = [*DIGITS, *["n" * 50] * 3]
    frame = pd.DataFrame({"a": first, "c": range(0, 30, 2), "b": second})
    with pytest.raises(NotNumericError) as caught:
        infer_columns(raw_columns(frame), {})
    assert str(caught.value) == NOT_NUMERIC


def test_many_refused_columns_are_counted():
    frame = pd.DataFrame({f"a{i}": [*DIGITS, "-"] for i in range(8)})
    with pytest.raises(
        NotNumericError, match=r"(?s)'a4': .*\n  and 3 more columns\n.*\n  and 3 more columns\nOr .*'a7'"
    ):
        infer_columns(raw_columns(frame), {})


def test_words_for_gaps_among_numbers_are_gaps_in_a_prepared_table():
    frame = pd.DataFrame({"a": [*DIGITS, "?"], "b": [*DIGITS, "NA"]})
    with pytest.raises(NotNumericError, match=r"rest:\n  X = mixkern\.prepare_table\(X\)\.X\nOr read") as caught:
        infer_columns(raw_columns(frame), {})
    assert str(caught.value).count("prepare_table") == 1


def test_what_is_settled_is_neither_read_nor_refused():
    raws = raw_columns(pd.DataFrame({"a": [*DIGITS, "?"], "b": [0.5] * 13}))
    chosen = Inference(CategoricalColumn, "chosen by the user")
    assert infer_columns(raws, {0: chosen}) == [chosen, Inference(ContinuousColumn)]


def test_words_with_as_many_numbers_between_them_are_words():
    assert read([*DIGITS, *(f"n{i}" for i in range(12))]).column_type is CategoricalColumn


@pytest.mark.parametrize(
    ("cells", "column_type"),
    [
        ([0, 1], CategoricalColumn),
        ([1, 2, 3], ContinuousColumn),
        (range(11), ContinuousColumn),
        ([5, 5], ContinuousColumn),
    ],
)
def test_a_gap_makes_floats_of_integers_and_does_not_change_how_they_are_read(cells, column_type):
    how = read(cells)
    assert how.column_type is column_type
    for same in ([*map(float, cells)], [*cells, np.nan], [*map(decimal.Decimal, cells)]):
        assert read(same) == how


@pytest.mark.parametrize(
    ("cells", "is_one"),
    [
        (range(100, 130), True),
        (range(30, 0, -1), True),
        ([float(i) for i in range(30)], True),
        ([*range(29), None], True),
        ([f"k{7 * i}" for i in range(30)], True),
        ([*(f"k{7 * i}" for i in range(29)), "k0"], True),
        (range(10), False),
        (range(0, 60, 2), False),
        ([*range(29), 5], False),
        ([i + 0.5 for i in range(30)], False),
        ([f"k{i % 20}" for i in range(30)], False),
        ([f"2024-05-{day:02}" for day in range(1, 31)], False),
        (pd.date_range("2024-01-01", periods=30), False),
        ([None] * 30, False),
        (["only"] * 30, False),
        (list("abcde"), False),
    ],
)
def test_identifiers(cells, is_one):
    frame = pd.DataFrame({"a": pd.Series(list(cells)), "b": 1.5})
    assert identifiers(frame) == (["a"] if is_one else [])


def test_identifiers_are_named_in_the_order_of_the_columns():
    rows = [[i, i % 4, f"name {i}", i / 3] for i in range(40)]
    assert identifiers(rows) == ["x0", "x2"]
    frame = pd.DataFrame(rows, columns=["n", "a", "who", "b"])
    assert identifiers(frame) == ["n", "who"]
    assert identifiers(frame[["who", "b", "n"]]) == ["who", "n"]


@pytest.mark.parametrize(("n_distinct", "n_texts", "expected"), [(90, 100, True), (89, 100, False), (11, 11, True)])
def test_one_text_in_ten_may_be_repeated(n_distinct, n_texts, expected):
    assert are_identifiers(n_distinct, n_texts) is expected
