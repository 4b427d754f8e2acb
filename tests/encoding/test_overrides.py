import numpy as np
import pandas as pd
import pytest

from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.inference import Inference
from mixkern.encoding.overrides import Unseen, ambiguity_text, ignored_text, unseen_text, user_choices
from mixkern.errors import Hint, UnknownColumnError

NAMES = ["age", "town", "income"]


@pytest.mark.parametrize(
    "given", ["town", 1, np.int64(1), ["town"], (1,), np.array(["town"]), pd.Index(["town"]), [1, "town"]]
)
def test_columns_by_name_or_position(given):
    for option, column_type in (("continuous", ContinuousColumn), ("categorical", CategoricalColumn)):
        chosen = user_choices(NAMES, **{"continuous": None, "categorical": None, option: given})
        assert {i: (how.column_type, how.reason, how.is_ambiguous) for i, how in chosen.items()} == {
            1: (column_type, "chosen by the user", False)
        }


def test_no_choices():
    assert user_choices(NAMES, None, None) == user_choices(NAMES, [], ()) == {}


def test_both_options_together():
    chosen = user_choices(NAMES, continuous=["age", 2], categorical="town")
    assert [chosen[i].column_type for i in range(3)] == [ContinuousColumn, CategoricalColumn, ContinuousColumn]


@pytest.mark.parametrize(
    ("continuous", "categorical", "message"),
    [
        (
            "twon",
            None,
            r"^The table has no column 'twon'\. Did you mean 'town'\? It has 'age', 'town', 'income'\. Correct",
        ),
        (None, ["zip"], r"has no column 'zip'\. It has 'age', 'town', 'income'\. Correct the parameter categorical\.$"),
        (3, None, r"has no column 3: expected a name, or a position from 0 to 2\."),
        (-1, None, r"has no column -1: expected a name, or a position from 0 to 2\."),
        (None, True, r"has no column True: expected a name"),
        (None, 1.0, r"has no column 1\.0: expected a name"),
        (None, [None], r"has no column None: expected a name"),
        ("age", 0, r"Column 'age' is named as continuous and as categorical\. Name it once\."),
    ],
)
def test_columns_that_cannot_be_found(continuous, categorical, message):
    with pytest.raises(UnknownColumnError, match=message):
        user_choices(NAMES, continuous, categorical)


@pytest.mark.parametrize("labels", [None, ["a", "b"], [("a", 1), ("a", 2)]])
def test_integers_are_positions_where_labels_are_no_integers(labels):
    assert list(user_choices(["a", "b"], continuous=1, categorical=None, labels=labels)) == [1]


@pytest.mark.parametrize(
    ("labels", "key", "position"),
    [([10, 20], 20, 1), ([1, 0], 0, 1), ([1, 0], np.int8(1), 0), ([-1, 0], -1, 0), ([10, 20], "20", 1)],
)
def test_integers_are_labels_where_labels_are_integers(labels, key, position):
    names = [str(label) for label in labels]
    assert list(user_choices(names, continuous=None, categorical=[key], labels=labels)) == [position]


def test_an_integer_that_is_no_label():
    message = r"has no column 1: expected a name, or one of the labels 10, 20\."
    with pytest.raises(UnknownColumnError, match=message):
        user_choices(["10", "20"], continuous=None, categorical=1, labels=[10, 20])


def test_nothing_to_choose():
    inferences = [Inference(ContinuousColumn), Inference(CategoricalColumn, "chosen by the user")]
    assert ambiguity_text(["a", "b"], inferences) == ("", Hint())


def test_columns_with_the_same_reason_share_a_line_and_the_first_advice():
    dates = [Inference(CategoricalColumn, "dates", is_ambiguous=True, conversion=f"convert {i}") for i in "abcdefg"]
    other = Inference(ContinuousColumn, "codes", is_ambiguous=True)
    text, hint = ambiguity_text([*"abcdefg", "z"], [*dates, other])
    assert text.splitlines() == [
        "Some columns could be read in two ways.",
        "  'a', 'b', 'c', 'd', 'e' and 2 more: dates",
        "  'z': codes",
    ]
    assert hint.python.startswith("\nTo convert 'a': convert a\nTo choose, name the columns: TableEncoder(")
    assert hint.cli == "\nTo choose, name a column: --continuous COLUMN or --categorical COLUMN."


def test_one_new_category_in_one_cell():
    assert unseen_text([Unseen("town", {"Bonn": 1}, 5)]) == (
        "1 cell holds a category that was absent at fit time; it is coded as 'other'.\n  'town': 'Bonn' (1)"
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
    first, second = unseen_text([Unseen("town", counts, n_cells)]).splitlines()
    n = sum(counts.values())
    assert first == f"{n} cells hold categories that were absent at fit time; they are coded as 'other'."
    assert second == f"  {line}"


def test_new_categories_in_many_columns():
    lines = unseen_text([Unseen(name, {"x": 1}, 5) for name in "abcdefgh"]).splitlines()
    assert lines[0].startswith("8 cells")
    assert lines[5:] == ["  'e': 'x' (1)", "  and 3 more columns"]


def test_ignored_values():
    assert ignored_text({"a": 1, "b": 0, "c": 7}) == (
        "Values are ignored, and read as gaps, in columns that held none at fit time.\n"
        "  'a': 1 value\n"
        "  'c': 7 values\n"
        "Fit again, with rows that have values in these columns."
    )
    assert "\n  and 1 more column\n" in ignored_text(dict.fromkeys("abcdef", 2))
