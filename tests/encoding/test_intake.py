"""Tables are prepared for learning: which columns, which labels, which warnings."""

import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import MixtureSVC, prepare_table
from mixkern.encoding import encode_labels, identifiers
from mixkern.encoding.cell import is_gap
from mixkern.errors import (
    CellTypeError,
    ColumnChoiceWarning,
    ColumnNameError,
    EmptyTableError,
    NotATableError,
    OptionError,
    TableError,
    UnknownColumnError,
    UnusedColumnWarning,
)

N = 60
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def cells(**more):
    group = [i % 2 for i in range(N)]
    return {
        "age": [30.5 + 4 * g + i % 5 for i, g in enumerate(group)],
        "town": [("Ulm", "Kassel")[(g + (i % 7 == 0)) % 2] for i, g in enumerate(group)],
        "churn": [("no", "yes")[g] if i % 6 < 2 else None for i, g in enumerate(group)],
        **more,
    }


def people(**more):
    return pd.DataFrame(cells(**more))


def quietly(frame, *args, **options):
    with warnings.catch_warnings(action="ignore"):
        return prepare_table(frame, *args, **options)


# ---------------------------------------------------------------- frames


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_come_back_as_the_kind_that_came_in(make):
    frame = make(cells(id=[f"k{7 * i}" for i in range(N)], empty=[None] * N))
    with pytest.warns(UnusedColumnWarning) as caught:
        table = prepare_table(frame, "churn")
    assert type(table.X) is type(frame)
    assert nw.from_native(table.X).columns == ["age", "town"]
    labels = nw.from_native(table.y, series_only=True).to_list()
    assert [None if is_gap(each) else each for each in labels] == cells()["churn"]
    assert dict(table.unused) == {"id": "nearly all values differ", "empty": "all rows have the same value, or none"}
    assert [str(note) for note in table.notes] == [str(each.message) for each in caught]
    model = MixtureSVC(encoder=table.encoder, random_state=0).fit(table.X, table.y)
    assert model.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("labels", [["no", "?", " yes", ""], [1, 9, 2, None], [True, None, False, None]])
def test_labels_of_any_type(make, labels):
    y = prepare_table(make({"age": [1.5, 2.5, 1.5, 3.5] * 5, "kind": labels * 5}), "kind", unlabelled=["?", "9"]).y
    found = encode_labels(y)
    assert found.classes.tolist() == sorted(each.strip() if isinstance(each, str) else each for each in labels[::2])
    assert found.is_labelled[:4].tolist() == [True, False, True, False]
    assert isinstance(found.classes.tolist()[0], float if make is pd.DataFrame and 9 in labels else type(labels[0]))


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_the_input_is_not_changed(make):
    frame = make(cells(id=list(range(N)), churn=["no ", "?", "yes"] * 20))
    before = nw.from_native(frame).to_dict(as_series=False)
    quietly(frame, "churn", unlabelled="?", drop="age")
    assert nw.from_native(frame).to_dict(as_series=False) == before


def test_pandas_keeps_index_name_and_types():
    frame = people(since=pd.date_range("2024-05-01", periods=N) - pd.to_timedelta(np.arange(N) % 9, "D"))
    frame.index = frame.index[::-1]
    table = quietly(frame, "churn", unlabelled="no")
    assert table.X.index.equals(frame.index)
    assert table.y.index.equals(frame.index)
    assert table.y.name == "churn"
    assert table.X.dtypes.equals(frame.drop(columns="churn").dtypes)


def test_column_labels_that_are_numbers():
    frame = pd.DataFrame({10: [1.5, 2.5] * 10, 20: [7] * 20, 30: ["a", "b"] * 10})
    table = quietly(frame, 30)
    assert (list(table.X), dict(table.unused), table.target) == (
        [10],
        {20: "all rows have the same value, or none"},
        "30",
    )
    assert list(quietly(frame, 30, categorical=20).X) == [10, 20]
    with pytest.raises(UnknownColumnError, match="has no column 40: expected a name, or one of the labels 10, 20, 30"):
        prepare_table(frame, 40)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_prepared_table_is_printed_in_a_few_lines(make):
    frame = make(cells(a=[7] * N, b=[None] * N))
    assert repr(quietly(frame, "churn")).split("\n") == [
        "PreparedTable of 60 rows",
        "  2 columns to learn from: 'age', 'town'",
        "  20 labels in 'churn'",
        "  left out, because all rows have the same value, or none: 'a', 'b'",
    ]


def test_without_a_target():
    table = quietly(people())
    assert "label" not in repr(table)
    assert (table.y, table.target, list(table.X)) == (None, None, ["age", "town", "churn"])


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (np.zeros((3, 2)), NotATableError),
        ([[1, 2]], NotATableError),
        ("people.csv", NotATableError),
        (pl.DataFrame(cells()).lazy(), NotATableError),
        (people().head(0), EmptyTableError),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ColumnNameError),
        (people(a=[[1]] * N), CellTypeError),
    ],
)
def test_other_things_are_no_tables(frame, error):
    with pytest.raises(error):
        prepare_table(frame)


# ---------------------------------------------------------------- columns


def test_a_warning_has_a_hint_for_each_surface():
    frame = people(**{"my id": range(500, 500 + N), "b": "x"})
    first, second = quietly(frame, "churn").notes
    assert str(first) == (
        "Not learned from, because nearly all values differ: 'my id'. To use a column all the same: keep=['my id']."
    )
    assert first.on("cli").endswith("'my id'. To use a column all the same: --keep 'my id'")
    assert str(second).startswith("Not learned from, because all rows have the same value, or none: 'b'.")


def test_a_warning_points_to_the_line_of_the_user():
    with pytest.warns(UnusedColumnWarning) as caught:
        prepare_table(people(b="x"), "churn")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("option", ["keep", "continuous", "categorical"])
def test_requested_columns_are_never_left_out(option):
    frame = people(id=range(N), const=7, label="x", probability=0.5, component=0, novelty=0.1)
    names = ["id", "const", "label", "probability", "component", "novelty"]
    table = prepare_table(frame, "churn", **{option: names})
    assert list(table.X) == ["age", "town", *names]
    assert not table.unused
    assert getattr(table.encoder, option, names) == names


def literal_reason(column):
    """The rules in words of pandas, one column at a time."""
    if identifiers(column.to_frame()):
        return "nearly all values differ"
    return "all rows have the same value, or none" if column.nunique() <= 1 else None


def test_columns_agree_with_the_rules_written_out():
    random = np.random.RandomState(0)
    for i in range(60):
        numbers = random.randint(0, random.choice([1, 2, 30, 10_000]), 40)
        column = pd.Series(numbers, name="a").astype(random.choice(["int64", "float64", "str", "bool", "category"]))
        if i % 3:
            column = column.where(random.rand(40) < random.choice([0.0, 0.1, 0.9]))
        table = quietly(pd.DataFrame({"a": column, "b": np.arange(40) % 3}))
        assert table.unused.get("a") == literal_reason(column)
        keys = any("All values of 'a' differ" in str(note) for note in table.notes)
        assert keys == (column.dtype.kind == "i" and column.is_unique and "a" not in table.unused)


def test_columns_of_an_earlier_prediction():
    added = {
        "label": ["a", "b"] * 30,
        "probability": [0.5, 0.7] * 30,
        "component": [0, 1] * 30,
        "novelty": [0.1, 0] * 30,
    }
    reason = "they are predictions of an earlier model"
    assert dict(quietly(people(**added), "churn").unused) == dict.fromkeys(added, reason)
    prefixed = {f"mixkern_{name}": each for name, each in added.items()}
    assert dict(quietly(people(**prefixed), "churn").unused) == dict.fromkeys(prefixed, reason)
    again = {f"mixkern_{name}_2": each for name, each in added.items()}
    assert dict(quietly(people(**added, **prefixed, **again), "churn").unused) == dict.fromkeys(
        [*added, *prefixed, *again], reason
    )
    del added["novelty"]
    assert not prepare_table(people(**added), "churn").unused


def test_predictions_for_a_target_that_is_called_label():
    added = {"probability": [0.5, 0.7] * 30, "component": [0, 1] * 30, "novelty": [0.1, 0] * 30}
    frame = people(label=["a", "b"] * 30, mixkern_label=["a", "b", "b"] * 20, **added)
    assert list(quietly(frame, "label", drop="churn").unused) == ["mixkern_label", *added]
    assert list(quietly(frame.drop(columns="mixkern_label"), "label").unused) == list(added)


def test_predictions_with_the_probabilities_of_all_classes():
    frame = people()
    model = MixtureSVC(random_state=0).fit(frame[["age", "town"]], frame["churn"])
    added = model.assess(frame[["age", "town"]], all_classes=True)
    assert list(quietly(frame.join(added), "churn").unused) == list(added)


def test_whole_numbers_that_all_differ_may_be_keys():
    keys = np.random.RandomState(0).permutation(10_000)[:N].tolist()
    with pytest.warns(ColumnChoiceWarning, match=r"All values of 'key' differ\. If they are keys: drop=\['key'\]\."):
        table = prepare_table(people(key=keys), "churn")
    assert list(table.X) == ["age", "town", "key"]
    assert table.notes[0].on("cli") == "All values of 'key' differ. If they are keys: --drop key"
    assert not prepare_table(people(key=keys), "churn", continuous="key").notes
    assert not prepare_table(people(key=[*keys[1:], None]), "churn").notes


def test_categories_that_differ_in_capital_letters_only_are_noted():
    plans = ["Basic", "BASIC", "basic ", "Premium"] * 10
    towns = pd.Categorical(["Ulm", "ULM", "Bonn", "Kassel"] * 10)
    frame = pd.DataFrame({"plan": plans, "town": towns, "n": np.arange(40) / 7})
    text = r"'BASIC', 'Basic' and 'basic ?' in 'plan'; 'ULM' and 'Ulm' in 'town'\. They count as different\."
    with pytest.warns(ColumnChoiceWarning, match=text):
        prepare_table(frame)
    many = pd.DataFrame({f"c{i}": ["a", "A"] * 20 for i in range(5)} | {"n": np.arange(40) / 7})
    with pytest.warns(ColumnChoiceWarning, match=r"'A' and 'a' in 'c2'; and 2 more\. They count as different\."):
        prepare_table(many)
    assert prepare_table(frame.assign(plan=frame["plan"].str.strip().str.lower()), drop="town").notes == ()


def test_columns_that_are_dropped():
    assert list(prepare_table(people(), "churn", drop="age").X) == ["town"]
    with pytest.raises(TableError, match=r"^No column is left to learn from\. Drop fewer .* keep=\[\.\.\.\]\.$"):
        prepare_table(people(), "churn", drop=["age", "town"])
    with pytest.raises(TableError, match=r"^No column is left to learn from: 'id' cannot help to predict a label"):
        prepare_table(people(id=range(N)), "churn", drop=["age", "town"])


@pytest.mark.parametrize("option", ["target", "drop", "keep", "continuous", "categorical"])
def test_names_that_are_not_there(option):
    with pytest.raises(UnknownColumnError) as caught:
        prepare_table(people(), **{option: "twon"})
    text = "The table has no column 'twon'. Did you mean 'town'? It has 'age', 'town', 'churn'. Correct"
    assert str(caught.value) == f"{text} the parameter {option}."
    assert caught.value.on("cli") == f"{text} --{option}."


def test_a_column_is_of_one_type():
    with pytest.raises(
        UnknownColumnError, match=r"Column 'age' is named as continuous and as categorical\. Name it once"
    ):
        prepare_table(people(), "churn", continuous="age", categorical=["town", "age"])


def test_one_column_of_labels():
    with pytest.raises(OptionError, match=r"target must be the name of one column, but it is \['age', 'town'\]"):
        prepare_table(people(), ["age", "town"])
    with pytest.raises(
        UnknownColumnError, match=r"If there are no labels yet, add this column, empty; mixkern label needs no column\."
    ):
        prepare_table(people(), "zzz")
