"""Tables to label: frames of all libraries, arrays, mixed cells, gaps and labels that there are already."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern.errors import LabelError, LengthError, MixkernError
from mixkern.labelling import LabelTable
from mixkern.labelling.table import arrow_table, text_cells, unmatched_note

AGE, SEX = [51.7, 18.0, None, 18.0, 90.25], ["m", None, "w", None, ""]


def frames():
    return {
        "pandas": pd.DataFrame({"age": AGE, "sex": SEX}),
        "polars": pl.DataFrame({"age": AGE, "sex": SEX}),
        "pyarrow": pa.table({"age": AGE, "sex": SEX}),
    }


def table_of(X, y=None, **options):
    return LabelTable.of(X, y, target="risk", **options)


@pytest.mark.parametrize("library", frames())
def test_cells_and_keys_are_the_same_for_all_libraries(library):
    table = table_of(frames()[library])
    assert table.cells.to_pydict() == {
        "age": ["51.7", "18", None, "18", "90.25"],
        "sex": ["m", None, "w", None, None],
    }
    assert table.keys == table_of(frames()["pyarrow"]).keys
    assert table.positions == {key: at for at, key in enumerate(table.keys)}
    assert table.columns == ["age", "sex"]
    assert len(table) == 5


@pytest.mark.parametrize("convert", [np.array, list, lambda rows: np.array(rows, dtype=object)])
def test_arrays_and_lists_have_numbered_columns(convert):
    table = table_of(convert([[1.0, 2.5], [3.0, np.nan]] * 5))
    assert table.columns == ["column 1", "column 2"]
    assert table.cells.to_pylist()[:2] == [
        {"column 1": "1", "column 2": "2.5"},
        {"column 1": "3", "column 2": None},
    ]


def test_columns_of_pandas_may_be_numbers():
    table = table_of(pd.DataFrame(np.arange(20.0).reshape(10, 2)))
    assert table.columns == ["0", "1"]
    assert table.cells["1"].to_pylist()[:2] == ["1", "3"]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [1, "x", 2.5, None] * 5}),
        np.array([[1], ["x"], [2.5], [None]] * 5, dtype=object),
        [[1], ["x"], [2.5], [None]] * 5,
    ],
    ids=["pandas", "array", "list"],
)
def test_mixed_cells_become_texts(X):
    assert table_of(X).cells.column(0).to_pylist()[:4] == ["1", "x", "2.5", None]


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, 2, None], ["1", "2", None]),
        ([1e300, -0.5, float("nan")], ["1e+300", "-0.5", None]),
        ([True, False, None], ["True", "False", None]),
        ([dt.date(2026, 1, 2), None, dt.date(1999, 1, 1)], ["2026-01-02", None, "1999-01-01"]),
        (["", " a ", "NA"], [None, " a ", "NA"]),
        (["<script>", "\u202e\x00", "é" * 3], ["<script>", "\u202e\x00", "ééé"]),
    ],
)
def test_cells_as_texts(values, texts):
    assert text_cells(pa.table({"a": values}))["a"].to_pylist() == texts


def test_huge_whole_numbers_become_texts():
    table = table_of(pd.DataFrame({"a": pd.Series([2**70, 5, 2**70, 7], dtype=object), "b": [1.0, 2.0, 3.0, 4.0]}))
    assert table.cells["a"].to_pylist()[0] == str(2**70)


def test_texts_that_are_no_unicode_are_an_error_of_mixkern_or_shown():
    X = pd.DataFrame({"a": pd.Series(["\ud800", "y"] * 5, dtype=object), "b": np.arange(10.0)})
    try:
        texts = table_of(X).cells["a"].to_pylist()
    except MixkernError:
        return
    assert texts[1] == "y"


def test_equal_rows_are_different_rows():
    table = table_of(frames()["pandas"])
    assert len(set(table.keys)) == len(table)
    assert table.keys[3] == f"{table.keys[1]}#2"


def test_columns_that_are_not_learned_from_are_shown(groups):
    X, _ = groups()
    table = table_of(X)
    assert table.columns == ["id", "age", "income", "sex"]
    assert table.X.column_names == ["age", "income", "sex"]


def test_the_target_must_not_be_a_column():
    X = frames()["pandas"].assign(risk="yes")
    with pytest.raises(LabelError, match=r"X has the column of labels, 'risk'.*label\(X.drop\(columns='risk'\)"):
        table_of(X)


@pytest.mark.parametrize(
    "y",
    [
        ["yes", None, "no", None, None],
        pd.Series(["yes", None, "no", pd.NA, np.nan]),
        pl.Series(["yes", None, "no", None, None]),
        np.array(["yes", None, "no", None, float("nan")], dtype=object),
    ],
    ids=["list", "pandas", "polars", "array"],
)
def test_labels_that_there_are_already(y):
    table = table_of(frames()["pandas"], y)
    assert table.given == ["yes", None, "no", None, None]
    assert table.first_classes() == ["no", "yes"]


def test_whole_numbers_stay_whole_where_gaps_have_made_them_floats():
    y = pd.Series([0, 1, None, 1, None])  # floats in pandas
    table = table_of(frames()["pandas"], y, classes=[0, 1])
    assert table.given == ["0", "1", None, "1", None]
    assert table.first_classes() == ["0", "1"]


def test_classes_that_are_given_come_first():
    table = table_of(frames()["pandas"], ["b", "a", None, "c", None], classes=["z", "c"])
    assert table.first_classes() == ["z", "c", "a", "b"]


def test_the_digest_is_that_of_rows_their_order_columns_and_classes():
    frame = pd.DataFrame({"age": AGE, "sex": SEX})
    same = table_of(frame).digest
    assert table_of(pa.table({"age": AGE, "sex": SEX}), ["yes", *[None] * 4]).digest != same
    assert table_of(pl.DataFrame({"age": AGE, "sex": SEX})).digest == same
    for other in (frame[::-1], frame[:4], frame.rename(columns={"age": "years"}), frame.assign(age=range(5))):
        assert table_of(other).digest != same
    assert table_of(frame, classes=["no", "yes"]).digest != same


def test_labels_of_another_number_of_rows_are_an_error():
    with pytest.raises(LengthError):
        table_of(frames()["pandas"], ["yes"])


def test_a_table_is_not_changed():
    X = frames()["pandas"]
    before = X.copy()
    table_of(X, ["yes"] * 5)
    pd.testing.assert_frame_equal(X, before)


def test_an_arrow_table_stays_as_it_is():
    X = frames()["pyarrow"]
    assert arrow_table(X) is X


@pytest.mark.parametrize(
    ("n", "words"), [(1, ["1 label is of a row", "It stays"]), (2, ["2 labels are of rows", "They stay"])]
)
def test_notes_about_rows_that_are_not_found(n, words):
    note = unmatched_note(n, [f"row {i}" for i in range(n)])
    assert all(word in note for word in [*words, "'row 0'"])
