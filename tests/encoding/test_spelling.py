"""How the cells of a column are written."""

import datetime as dt

import pytest

from mixkern.encoding.cell import Kind
from mixkern.encoding.spelling import (
    Spelling,
    date_orders,
    decimal_signs,
    near_miss,
    padded_number,
    spelling_notes,
    spelling_of,
)
from mixkern.errors import Hint


@pytest.mark.parametrize(
    ("cells", "decimal", "spelling"),
    [
        (["1", "2.5"], ".", Spelling(Kind.NUMBER)),
        ([" 1", "1,234"], ".", Spelling(Kind.NUMBER)),
        (["1", "2,5"], ",", Spelling(Kind.NUMBER, ",")),
        (["12,5 %", "7%"], ",", Spelling(Kind.NUMBER, ",", "%")),
        (["$5", "-$3.20", "7 $"], ".", Spelling(Kind.NUMBER, unit="$")),
        (["true", "FALSE"], ".", Spelling(Kind.BOOLEAN)),
        (["2024-05-01", "06.06.2020", "2024/05/01"], ".", Spelling(Kind.DATE)),
        (["01/02/2024", "31/12/2024"], ".", Spelling(Kind.DATE, day_first=True)),
        (["01/02/2024", "12/31/2024"], ".", Spelling(Kind.DATE, day_first=False)),
        (["31.12.2020", "12/31/2024"], ".", Spelling(Kind.DATE, day_first=False)),
    ],
)
def test_spellings(cells, decimal, spelling):
    assert spelling_of(cells, decimal) == spelling
    assert spelling_of(dict.fromkeys(cells), decimal) == spelling
    assert None not in map(spelling.value, cells)


@pytest.mark.parametrize(
    "cells",
    [
        [],
        ["a"],
        ["1", "x"],
        ["007", "12"],
        ["12 %", "7 EUR"],
        ["12 %", "7"],
        ["7", "12 %"],
        ["5 EUR", "5 \u20ac"],
        ["true", "1"],
        ["01/02/2024", "03/04/2024"],
        ["31/12/2024", "12/31/2024"],
        ["2024-05-01", "soon"],
        ["31/12/24", "30/11/24"],
    ],
)
def test_columns_that_stay_texts(cells):
    assert spelling_of(cells) is None


def test_values():
    assert Spelling(Kind.NUMBER, ",", "%").value("12,5 %") == 12.5
    assert Spelling(Kind.NUMBER, ",", "%").value("12,5") == 12.5
    assert Spelling(Kind.NUMBER, unit="USD").value("5 EUR") is None
    assert Spelling(Kind.BOOLEAN).value("TRUE") is True
    assert Spelling(Kind.DATE, day_first=True).value("01/02/2024") == dt.datetime(2024, 2, 1)
    assert Spelling(Kind.DATE).value("01/02/2024") is None


def test_one_date_decides_the_order_of_all():
    assert date_orders(["01/02/2024"]) == (True, False)
    assert date_orders(["01/02/2024", "13/02/2024"]) == (True,)
    assert date_orders(["01/02/2024", "2024-13-01"]) == ()


@pytest.mark.parametrize(
    ("columns", "delimiter", "signs"),
    [
        ([["3,14", "2,5"], ["1", "2"], ["1.5", ""]], ";", (",", ",", ".")),
        ([["12,5 %", "7 %"], ["1.234 EUR"]], ",", (",", ",")),
        ([["1,234"], ["5"]], ";", (",", ",")),
        ([["1,234"], ["5"]], ",", (".", ".")),
        ([["a,b"], ["5"]], ",", (".", ".")),
    ],
)
def test_decimal_signs(columns, delimiter, signs):
    assert decimal_signs(columns, delimiter) == signs


def test_one_note_for_each_kind_of_spelling():
    notes = spelling_notes(
        {
            "rate": (Spelling(Kind.NUMBER, ",", "%"), "12,5 %"),
            "share": (Spelling(Kind.NUMBER, ",", "%"), "7 %"),
            "price": (Spelling(Kind.NUMBER, ",", "EUR"), "1.234,50 EUR"),
            "day": (Spelling(Kind.DATE), "06.07.2020 14:30"),
            "sold": (Spelling(Kind.DATE, day_first=True), "31/12/2024"),
            "paid": (Spelling(Kind.DATE, day_first=False), "12/31/2024"),
            "iso": (Spelling(Kind.DATE), "2024-12-31"),
            "age": (Spelling(Kind.NUMBER), "1"),
            "size": (Spelling(Kind.NUMBER, ","), "1.234"),
            "is": (Spelling(Kind.BOOLEAN), "true"),
        }
    )
    assert [text for text, _ in notes] == [
        "'rate', 'share': 12,5 % was read as 12.5, the number that is written.",
        "'price': 1.234,50 EUR was read as 1234.50, without the currency.",
        "'day', 'sold': 06.07.2020 14:30 was read as 2020-07-06 14:30:00, with the day first.",
        "'paid': 12/31/2024 was read as 2024-12-31, with the month first.",
        "'size': 1.234 was read as 1234, with thousands set apart.",
    ]
    assert notes[-1][1].python == "If that is a decimal sign: decimal='.'."
    assert notes[-1][1].cli == "If that is a decimal sign: --decimal ."


def test_near_misses_and_leading_zeros():
    assert near_miss("a", ["1", "2", "3", "x", "y"], ".", lambda _: 5)[0].startswith(
        "'a' holds numbers, but also 'x', 'y' (first in line 5)"
    )
    assert near_miss("a", ["2024-05-01", "2024-05-02", "soon"], ".", lambda _: 4)[0].startswith("'a' holds dates, but")
    assert "in a form such as '12 cm'" in near_miss("a", ["12 cm", "13 cm", "14 cm"], ".", lambda _: None)[0]
    assert near_miss("a", ["red", "blue", "1"], ".", lambda _: None) == ("", Hint())


def test_cells_among_numbers_can_be_read_as_gaps():
    _, few = near_miss("a", ["1", "2", "ca. 12", "3"], ".", lambda _: 5)
    assert few.cli == "Correct these cells, or read them as gaps: --gap 'ca. 12'"
    assert few.python.endswith("read_table(..., gaps=['ca. 12']).")
    _, many = near_miss("a", [*map(str, range(9)), *"abcd"], ".", lambda _: 5)
    assert many.cli.endswith("--gap TEXT, once for each of them")
    assert padded_number(["1", "007"], ".") == "007"
    assert padded_number(["007", "x"], ".") == padded_number(["1"], ".") == ""
