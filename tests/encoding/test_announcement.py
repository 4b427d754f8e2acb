import pytest

from mixkern.encoding.announcement import Unseen, choices, ignored_values, unseen_categories
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.inference import Reading
from mixkern.errors import Hint


def test_nothing_to_choose():
    assert choices(["a", "b"], [Reading(ContinuousColumn), Reading(CategoricalColumn, "as told")]) == ("", Hint())


def test_columns_with_the_same_reason_share_a_line_and_the_first_advice():
    dates = [Reading(CategoricalColumn, "dates", is_choice=True, advice=f"convert {name}") for name in "abcdefg"]
    other = Reading(ContinuousColumn, "codes", is_choice=True)
    text, hint = choices([*"abcdefg", "z"], [*dates, other])
    assert text.splitlines() == [
        "Some columns could be read in two ways.",
        "  'a', 'b', 'c', 'd', 'e' and 2 more: dates",
        "  'z': codes",
    ]
    assert hint.python.startswith("\nTo convert 'a': convert a\nTo choose, name the columns: TableEncoder(")
    assert hint.cli == "\nTo choose, name a column: --continuous COLUMN or --categorical COLUMN."


def test_one_new_category_in_one_cell():
    assert unseen_categories([Unseen("town", {"Bonn": 1}, 5)]) == (
        "1 cell holds a category that was not there at fit time; it is coded as 'other'.\n  'town': 'Bonn' (1)"
    )


MANY = {f"T{i}": 1 for i in range(9)}


@pytest.mark.parametrize(
    ("counts", "n_cells", "line"),
    [
        ({"Bonn": 4, "Ulm": 2}, 9, "'town': 'Bonn' (4), 'Ulm' (2)"),
        ({"Bonn": 4, "Ulm": 2}, 6, "'town': 'Bonn' (4), 'Ulm' (2)"),
        (MANY, 10, "'town': 'T0' (1), 'T1' (1), 'T2' (1), 'T3' (1), 'T4' (1) and 4 more"),
        (MANY, 9, "'town': all 9 cells, as in an identifier"),
        ({"x" * 100: 2}, 3, f"'town': '{'x' * 39}…' (2)"),
    ],
)
def test_new_categories(counts, n_cells, line):
    first, second = unseen_categories([Unseen("town", counts, n_cells)]).splitlines()
    n = sum(counts.values())
    assert first == f"{n} cells hold categories that were not there at fit time; they are coded as 'other'."
    assert second == f"  {line}"


def test_new_categories_in_many_columns():
    lines = unseen_categories([Unseen(name, {"x": 1}, 5) for name in "abcdefgh"]).splitlines()
    assert lines[0].startswith("8 cells")
    assert lines[5:] == ["  'e': 'x' (1)", "  and 3 more columns"]


def test_ignored_values():
    assert ignored_values({"a": 1, "b": 0, "c": 7}) == (
        "Values are ignored, and read as gaps, in columns that held none at fit time.\n"
        "  'a': 1 value\n"
        "  'c': 7 values\n"
        "Fit again, with rows that have values in these columns."
    )
    assert "\n  and 1 more column\n" in ignored_values(dict.fromkeys("abcdef", 2))
