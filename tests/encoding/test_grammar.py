"""Single cells as text: gaps, numbers, booleans and dates."""

import datetime as dt

import numpy as np
import pytest

from mixkern.encoding.grammar import boolean, is_gap_word, moment, number, plain_dates, plain_numbers, unit_of


@pytest.mark.parametrize(
    "cell", ["", " ", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "?", "<NA>", " NA "]
)
def test_gap_words(cell):
    assert is_gap_word(cell)


@pytest.mark.parametrize("cell", ["0", "-", "nobody", "na", "false"])
def test_no_gap_words(cell):
    assert not is_gap_word(cell)


@pytest.mark.parametrize(
    ("cell", "sign", "value"),
    [
        ("3", ".", 3.0),
        (" -3.50 ", ".", -3.5),
        ("1.", ".", 1.0),
        ("+.5e-3", ".", 0.0005),
        ("1,234", ".", 1234.0),
        ("1,234,567.8", ".", 1234567.8),
        ("1'234.5", ".", 1234.5),
        ("1\u00a0234", ".", 1234.0),
        ("3,14", ",", 3.14),
        ("1.234", ",", 1234.0),
        ("1.234.567,8", ",", 1234567.8),
        ("-inf", ".", float("-inf")),
        ("007", ".", 7.0),
    ],
)
def test_numbers(cell, sign, value):
    assert number(cell, sign).value == value


@pytest.mark.parametrize(
    ("cell", "sign"),
    [
        ("3,14", "."),
        ("0,123", "."),
        ("1,23,456", "."),
        ("1,2345", "."),
        ("3.14", ","),
        ("1.2.3", "."),
        ("1_000", "."),
        ("nan", "."),
        ("3 cm", "."),
        ("", "."),
        (".", "."),
        ("e5", "."),
        ("\u0663", "."),
        ("12" * 100_000 + "x", "."),
    ],
)
def test_what_is_no_number(cell, sign):
    assert number(cell, sign) is None


def test_leading_zeros_and_whole_numbers_are_known():
    assert [number(cell).is_padded for cell in ("007", "-01", "0", "0.5", "70")] == [True, True, False, False, False]
    assert [number(cell).is_whole for cell in ("7", "7.0", "7e1", "1,234", "9" * 5000)] == [
        True,
        False,
        False,
        True,
        False,
    ]


def test_booleans():
    assert [boolean(cell) for cell in ("true", "False", " TRUE ", "yes", "1")] == [True, False, True, None, None]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("2024-05-01", dt.datetime(2024, 5, 1)),
        ("2024-05-01 12:30", dt.datetime(2024, 5, 1, 12, 30)),
        ("2024-05-01T12:30:15.250Z", dt.datetime(2024, 5, 1, 12, 30, 15, 250_000)),
        ("2024-05-01T00:30+02:00", dt.datetime(2024, 4, 30, 22, 30)),
        ("2024-02-30", None),
        ("0001-01-01T00:00+10:00", None),
        ("20240501", None),
    ],
)
def test_dates(cell, found):
    assert moment(cell) == found


@pytest.mark.parametrize(
    ("cell", "sign", "unit", "value"),
    [
        ("12,5 %", ",", "%", 12.5),
        ("12%", ".", "%", 12.0),
        ("1.234,50 EUR", ",", "EUR", 1234.5),
        ("$3.20", ".", "$", 3.2),
        ("3.20 USD", ".", "USD", 3.2),
        ("\u20ac 5", ".", "\u20ac", 5.0),
        ("5\u00a0\u20ac", ".", "\u20ac", 5.0),
        ("-$5", ".", "$", -5.0),
        ("$-5", ".", "$", -5.0),
        ("-5 $", ".", "$", -5.0),
        ("CHF 1'200.50", ".", "CHF", 1200.5),
        ("$.50", ".", "$", 0.5),
        ("$1e3", ".", "$", 1000.0),
    ],
)
def test_numbers_with_a_unit(cell, sign, unit, value):
    assert unit_of(cell) == unit
    assert number(cell, sign, unit).value == value
    assert number(cell, sign) is None


@pytest.mark.parametrize(
    "cell",
    [
        "3 cm",
        "% 5",
        "$5 USD",
        "-$-5",
        "$",
        "%",
        "EUR",
        "usd 5",
        "BMW 320",
        "5 EURO",
        "$inf",
        "$x",
        "5 % %",
        "A$5",
        "--5 %",
    ],
)
def test_what_is_no_number_with_a_unit(cell):
    assert number(cell) is None
    assert number(cell, unit=unit_of(cell)) is None


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("06.06.2020", dt.datetime(2020, 6, 6)),
        ("6.7.2020", dt.datetime(2020, 7, 6)),
        ("31.12.20", dt.datetime(2020, 12, 31)),
        ("31.12.69", dt.datetime(1969, 12, 31)),
        ("06.06.2020 14:30", dt.datetime(2020, 6, 6, 14, 30)),
        ("06.06.2020, 4:05:06.5", dt.datetime(2020, 6, 6, 4, 5, 6, 500_000)),
        ("2024/05/01", dt.datetime(2024, 5, 1)),
        ("2024.5.1 1:00 PM", dt.datetime(2024, 5, 1, 13)),
        ("2024/05/01 12:00 a.m.", dt.datetime(2024, 5, 1)),
        ("1.2.20", None),
        ("12.31.2024", None),
        ("31.04.2020", None),
        ("06.06.2020 25:00", None),
        ("06.06.2020 13:00 PM", None),
        ("06.06/2020", None),
        ("1.2.3", None),
        ("12/31/2024", None),
    ],
)
def test_dates_that_are_read_in_one_way(cell, found):
    assert moment(cell) == found


@pytest.mark.parametrize(
    ("cell", "day_first", "month_first"),
    [
        ("01/02/2024", dt.datetime(2024, 2, 1), dt.datetime(2024, 1, 2)),
        ("1-2-2024 14:30", dt.datetime(2024, 2, 1, 14, 30), dt.datetime(2024, 1, 2, 14, 30)),
        ("31/12/2024", dt.datetime(2024, 12, 31), None),
        ("12/31/2024", None, dt.datetime(2024, 12, 31)),
        ("31.12.2024", dt.datetime(2024, 12, 31), dt.datetime(2024, 12, 31)),
        ("2024-05-01", dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 1)),
        ("31/12/24", None, None),
        ("31/12-2024", None, None),
    ],
)
def test_dates_in_either_order(cell, day_first, month_first):
    assert moment(cell, day_first=True) == day_first
    assert moment(cell, day_first=False) == month_first


@pytest.mark.parametrize(
    "cells", [["1 "], ["+01"], ["1_0"], ["x"], ["1", ""], ["1.2.3"], ["\u0663"], [], ["inf"], ["1\x002"]]
)
def test_numbers_that_are_not_plain(cells):
    assert plain_numbers(cells) is None


def test_plain_numbers():
    np.testing.assert_array_equal(plain_numbers(["1", "0", "0.5", "-1e5", ".5"]), [1, 0, 0.5, -1e5, 0.5])
    np.testing.assert_array_equal(plain_numbers(["1,5", "2"], ","), [1.5, 2])
    assert plain_numbers(["1.5"], ",") is None


@pytest.mark.parametrize(
    "cells",
    [["2024-05-01"], ["2024-05-01", "1999-12-31T23:59:59.123456"], ["2024-02-29 12:30", "0001-01-01"]],
)
def test_plain_dates_are_those_of_single_cells(cells):
    assert plain_dates(cells).tolist() == [moment(cell) for cell in cells]


@pytest.mark.parametrize(
    "cells",
    [
        [],
        ["2024-05"],
        ["2024-02-30"],
        ["0000-01-01"],
        ["2024-05-01", "now"],
        ["2024-05-01T12:00Z"],
        ["2024-05-01T12"],
        ["2024-05-01T24:00"],
        ["2024-05-01T12:00:00.1234567"],
        ["20240501"],
        ["2024-05-01 "],
        ["NaT"],
        ["2024-05-01\x002024-05-02"],
    ],
)
def test_dates_that_are_not_plain(cells):
    assert plain_dates(cells) is None
