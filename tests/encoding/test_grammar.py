"""Single cells as text: gaps, numbers, booleans and dates."""

import datetime as dt

import pytest

from mixkern.encoding.grammar import boolean, is_gap_word, moment, number


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
        ("01.05.2024", None),
        ("20240501", None),
    ],
)
def test_dates(cell, found):
    assert moment(cell) == found
