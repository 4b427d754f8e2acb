import numpy as np
import pandas as pd
import pytest

from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.overrides import told
from mixkern.errors import UnknownColumnError

NAMES = ["age", "town", "income"]


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


@pytest.mark.parametrize("labels", [None, ["a", "b"], [("a", 1), ("a", 2)]])
def test_integers_are_positions_where_labels_are_no_integers(labels):
    assert list(told(["a", "b"], continuous=1, categorical=None, labels=labels)) == [1]


@pytest.mark.parametrize(
    ("labels", "key", "position"),
    [([10, 20], 20, 1), ([1, 0], 0, 1), ([1, 0], np.int8(1), 0), ([-1, 0], -1, 0), ([10, 20], "20", 1)],
)
def test_integers_are_labels_where_labels_are_integers(labels, key, position):
    names = [str(label) for label in labels]
    assert list(told(names, continuous=None, categorical=[key], labels=labels)) == [position]


def test_an_integer_that_is_no_label():
    message = r"categorical names the column 1, but expected a name, or one of the labels 10, 20\.$"
    with pytest.raises(UnknownColumnError, match=message):
        told(["10", "20"], continuous=None, categorical=1, labels=[10, 20])
