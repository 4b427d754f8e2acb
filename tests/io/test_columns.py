"""Columns of texts become columns of a type."""

import datetime as dt
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from mixkern.encoding.cell import Kind
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.spelling import Spelling
from mixkern.errors import TableFileError
from mixkern.io.columns import converted, inferred, texts
from mixkern.io.table import pandas_frame


def typed(cells, sign="."):
    found = inferred("a", pa.chunked_array([cells], pa.string()), sign, lambda row: row + 2)
    return SimpleNamespace(values=array(found.values), note=found.note, spelling=found.spelling, padded=found.padded)


def array(values):
    return pandas_frame(pa.table({"a": values}))["a"].to_numpy()


def continuous(kind=Kind.NUMBER, n_values=5):
    return ContinuousColumn("a", kind, n_values, 0.0, 1.0, 1.0)


def as_column(cells, column, sign="."):
    return array(converted("a", pa.chunked_array([cells], pa.string()), column, sign, lambda row: row + 2))


@pytest.mark.parametrize(
    ("cells", "sign", "values", "dtype"),
    [
        (["1", "-2", "0"], ".", [1, -2, 0], "int64"),
        (["1", "", "NA"], ".", [1.0, np.nan, np.nan], "float64"),
        (["1", "2.5", "1e3"], ".", [1.0, 2.5, 1000.0], "float64"),
        (["1", "inf"], ".", [1.0, np.inf], "float64"),
        ([" 1", "2 "], ".", [1, 2], "int64"),
        (["1,5", "2"], ",", [1.5, 2.0], "float64"),
        (["1.234,5", "2,5"], ",", [1234.5, 2.5], "float64"),
        (["", "?", " "], ".", [np.nan] * 3, "float64"),
        (["true", "FALSE"], ".", [True, False], "bool"),
        (["9007199254740993", "1"], ".", [9007199254740993, 1], "int64"),
    ],
)
def test_numbers_and_booleans(cells, sign, values, dtype):
    found = typed(cells, sign).values
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["true", "", "false"], [True, None, False]),
        (["9007199254740993", ""], [9007199254740993, None]),
        (["9" * 30, "1"], [int("9" * 30), 1]),
        (["00123", "20095", ""], ["00123", "20095", None]),
        (["a", "NA", "1.0"], ["a", None, "1.0"]),
        (["yes", "no"], ["yes", "no"]),
    ],
)
def test_objects(cells, values):
    found = typed(cells).values
    assert found.dtype == object
    assert found.tolist() == values


def test_iso_dates_become_dates():
    found = typed(["2024-05-01", "", "2024-05-02T12:00+02:00"]).values
    assert found.dtype == "datetime64[us]"
    assert found.tolist() == [dt.datetime(2024, 5, 1), None, dt.datetime(2024, 5, 2, 10)]


@pytest.mark.parametrize(
    ("cells", "sign", "note"),
    [
        (["1", "2", "x", "3"], ".", r"'a' holds numbers, but also 'x' \(line 4\): all were read as text"),
        (["1", "2", "3", "x", "y"], ".", r"'a' holds numbers, but also 'x', 'y' \(first in line 5\)"),
        (["2024-05-01", "2024-05-02", "soon"], ".", r"'a' holds dates, but also 'soon' \(line 4\)"),
        (["12 cm", "13 cm", "14 cm"], ".", "'a' holds numbers in a form such as '12 cm'"),
        (["01/02/2024", "03/02/2024", "03/03/2024"], ".", "'a' holds dates in a form such as '01/02/2024'"),
        (["1,5", "2,25", "3,125", "1.5"], ".", "'a' holds numbers in a form such as '1,5'"),
    ],
)
def test_notes_on_columns_that_are_nearly_something(cells, sign, note):
    assert re.match(note, typed(cells, sign).note.on("python"))


def test_spellings_and_leading_zeros():
    assert typed(["00123", "20095"]).padded == "00123"
    assert typed(["2", "1,234"]).spelling == (Spelling(Kind.NUMBER), "1,234")
    assert typed(["2,5", "1.234"], ",").spelling == (Spelling(Kind.NUMBER, ","), "1.234")
    percent = typed(["12,5 %", "7 %", ""], ",")
    np.testing.assert_array_equal(percent.values, [12.5, 7.0, np.nan])
    assert percent.spelling == (Spelling(Kind.NUMBER, ",", "%"), "12,5 %")
    days = typed(["12/31/2024", "01/02/2024"])
    assert days.values.tolist() == [dt.datetime(2024, 12, 31), dt.datetime(2024, 1, 2)]
    assert days.spelling == (Spelling(Kind.DATE, day_first=False), "12/31/2024")


@pytest.mark.parametrize("cells", [["1", "2"], ["a", "b", "c"], ["true", "false"], ["2024-05-01"], [""]])
def test_plain_columns_have_no_note(cells):
    assert typed(cells).note is None


def test_equal_texts_are_one_object():
    found = array(texts(pa.chunked_array([["ab", "", "ab"]])))
    assert found[0] is found[2]
    assert found[1] is None


@pytest.mark.parametrize("kind", [Kind.NUMBER, Kind.INTEGER, Kind.TEXT])
def test_known_numbers(kind):
    found = as_column(["1", "2.5", "NA", " 007 ", "1,234"], continuous(kind))
    np.testing.assert_array_equal(found, [1.0, 2.5, np.nan, 7.0, 1234.0])
    np.testing.assert_array_equal(as_column(["", ""], continuous(kind)), [np.nan, np.nan])


def test_known_booleans_and_dates():
    np.testing.assert_array_equal(as_column(["true", "0", ""], continuous(Kind.BOOLEAN)), [1.0, 0.0, np.nan])
    assert as_column(["2024-05-01", ""], continuous(Kind.DATE)).dtype == "datetime64[us]"
    assert as_column(["", ""], continuous(Kind.DATE)).dtype == "datetime64[us]"


@pytest.mark.parametrize(
    ("kind", "cell", "expected"), [(Kind.NUMBER, "x", "numbers"), (Kind.DATE, "soon", "dates such as 2024-05-31")]
)
def test_what_does_not_fit_is_refused_with_its_line(kind, cell, expected):
    fine = "2024-05-01" if kind is Kind.DATE else "1"
    with pytest.raises(TableFileError, match=f"line 4: column 'a' was fitted as {expected}, but holds '{cell}'"):
        as_column([fine, "", cell], continuous(kind))


def test_columns_that_held_nothing_and_unknown_ones_stay_texts():
    for column in (continuous(n_values=0), None, CategoricalColumn("a", Kind.TEXT, ("x",))):
        assert as_column(["1.0", "", "x"], column).tolist() == ["1.0", None, "x"]


def test_categories_that_were_numbers_are_spelled_as_the_encoder_does():
    whole = CategoricalColumn("a", Kind.INTEGER, ("1", "2"))
    assert as_column(["1", "2.0", "", "x", "9007199254740993"], whole).tolist() == [
        "1", "2", None, "x", "9007199254740993",
    ]  # fmt: skip
    assert as_column(["1,50"], CategoricalColumn("a", Kind.NUMBER, ("1.5",)), ",").tolist() == ["1.5"]


def test_nulls_may_have_characters():
    texts = pa.array(["1", "7", "3"])
    validity = pa.py_buffer(bytes([0b101]))
    cells = pa.Array.from_buffers(pa.string(), 3, [validity, *texts.buffers()[1:]])
    assert converted("a", pa.chunked_array([cells]), continuous(), ".", int).to_pylist() == [1.0, None, 3.0]
    assert inferred("a", pa.chunked_array([cells]), ".", int).values.to_pylist() == [1.0, None, 3.0]
