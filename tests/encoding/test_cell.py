import datetime as dt
import decimal
import fractions
import math

import numpy as np
import pandas as pd
import pytest

from mixkern.encoding.cell import are_dates, date_text, days, is_gap, jsonable, not_numbers, number, parsed, text

BERLIN = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (3, 3.0),
        (np.int8(-3), -3.0),
        (True, 1.0),
        (np.False_, 0.0),
        (decimal.Decimal("0.5"), 0.5),
        (fractions.Fraction(1, 4), 0.25),
        (10**400, math.inf),
        (-(10**400), -math.inf),
        (dt.date(1970, 1, 3), 2.0),
        (dt.datetime(1970, 1, 1, 12), 0.5),
        (dt.datetime(1970, 1, 1, 12, tzinfo=BERLIN), 10 / 24),
        (pd.Timestamp("1970-01-01 06:00"), 0.25),
        (pd.Timestamp("1970-01-01 06:00", tz="Asia/Tokyo"), -0.125),
        (np.datetime64("1970-01-02T12", "ns"), 1.5),
        (np.datetime64("1971"), 365.0),
        (dt.timedelta(hours=36), 1.5),
        (pd.Timedelta("1h"), 1 / 24),
        (np.timedelta64(6, "h"), 0.25),
        (dt.time(18, 0), 0.75),
    ],
    ids=type,
)
def test_number(cell, expected):
    assert number(cell) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("3", 3.0),
        (" -1.5e3 ", -1500.0),
        ("inf", math.inf),
        (2, 2.0),
        (10**400, math.inf),
        (decimal.Decimal("1.5"), 1.5),
        ("", None),
        ("3 cm", None),
        ("1,5", None),
        ("1_000", None),
        (dt.date(2020, 1, 1), None),
        (pd.Interval(0, 1), None),
    ],
    ids=type,
)
def test_parsed(cell, expected):
    assert parsed(cell) == expected


def test_the_text_nan_is_parsed_as_nan():
    assert math.isnan(parsed("nan"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([3, 3.0, np.float32(3), np.int8(3), decimal.Decimal("3.00"), fractions.Fraction(3)], "3"),
        ([0.0, -0.0, 0], "0"),
        ([0.5, np.float32(0.5), decimal.Decimal("0.50"), dt.time(12), np.timedelta64(12, "h")], "0.5"),
        ([2**80, float(2**80)], str(2**80)),
        ([True, np.True_], "True"),
        (["a", np.str_("a")], "a"),
        ([dt.date(2020, 1, 1), np.datetime64("2020-01-01"), pd.Timestamp("2020-01-01", tz="UTC")], "2020-01-01"),
        ([pd.Timestamp("2020-01-01 12:00"), np.datetime64("2020-01-01T12")], "2020-01-01T12:00:00.000000"),
        ([float("inf")], "inf"),
        ([None, pd.NA, pd.NaT, float("nan")], None),
        ([pd.Interval(0, 1)], "(0, 1]"),
    ],
)
def test_equal_cells_have_equal_texts(cells, expected):
    assert {text(cell) for cell in cells} == {expected}


def test_text_of_an_integer_that_python_does_not_print():
    assert text(2**50_000) == hex(2**50_000)


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (0.0, "1970-01-01"),
        (-719528.0, "0000-01-01"),
        (108853222.0, "300000-01-01"),
        (108853222.5, "300000-01-01"),
        (18262.25, "2020-01-01T06:00:00.000000"),
        (math.nan, None),
    ],
)
def test_date_text(day, expected):
    assert date_text(day) == expected


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "25s"])
def test_days_of_dates_in_every_unit(unit):
    moments = np.array(["2000-01-01", "NaT", "1969-01-01"], dtype="datetime64[D]")
    rounded = moments.astype(f"datetime64[{unit}]")
    expected = rounded.astype("datetime64[us]").astype("int64") / 86_400e6
    np.testing.assert_array_equal(days(rounded), np.where(np.isnat(moments), np.nan, expected))


def test_days_of_durations():
    hours = np.array([36, "NaT", -12], dtype="timedelta64[h]")
    np.testing.assert_array_equal(days(hours), [1.5, np.nan, -0.5])


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        np.float32("nan"),
        np.longdouble("nan"),
        complex("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64("NaT", "s"),
        decimal.Decimal("NaN"),
        decimal.Decimal("sNaN"),
    ],
)
def test_gaps(value):
    assert is_gap(value) is True


@pytest.mark.parametrize(
    "value",
    [
        0,
        0.0,
        float("inf"),
        False,
        np.False_,
        "",
        "nan",
        np.str_("NaT"),
        b"",
        decimal.Decimal(0),
        dt.date(2020, 1, 1),
        np.datetime64("2020"),
        [],
        {},
        np.array([1.0, np.nan]),
        np.array([]),
        pd.Series([np.nan]),
        pd.Interval(0, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_else_is_a_value(value):
    assert is_gap(value) is False


DAYS = [f"2024-05-{day:02}" for day in range(1, 21)]


def test_texts_that_spell_no_number_keep_their_order():
    assert not_numbers(["z", "1", "-1e5", "a", "3 cm", "nan"]) == ["z", "a", "3 cm"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (DAYS, True),
        (["2024-05-01T12:30:00", "2024-05-01 12:30+02:00"], True),
        ([*DAYS, "?", "unknown"], True),  # 20 of 22
        ([*DAYS, "?", "unknown", "later"], False),  # 20 of 23
        (["2024-05-01", "?"], False),
        (["20240501"], False),
        (["01.05.2024", "May"], False),
        (["2024-13-01"], False),
        ([], False),
    ],
)
def test_dates(texts, expected):
    assert are_dates(texts) is expected


def test_values_that_json_does_not_know():
    assert jsonable(pd.Timestamp("2024-05-31")) == "2024-05-31 00:00:00"
    assert jsonable([pd.NA, None, True, np.bool_(False), "a"]) == [None, None, True, False, "a"]
    assert jsonable({"a": {2: float("nan")}, "b": np.arange(2.0)}) == {"a": {"2": None}, "b": [0.0, 1.0]}
