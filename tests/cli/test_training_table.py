"""Tables to learn from: which columns, which labels."""

import json

import numpy as np
import pandas as pd
import pytest

from mixkern.cli.training_table import labels_of, read_labelled
from mixkern.errors import LabelError, TableError, UnknownColumnError


@pytest.fixture
def read(written):
    def read(frame, **options):
        notes = []
        return read_labelled(str(written(frame)), notes, **{"target": "churn", **options}), notes

    return read


def test_columns_and_labels(read, people):
    data, notes = read(people)
    assert notes == []
    assert list(data.X) == ["age", "town"]
    assert data.counts == {"no": 15, "yes": 15}
    assert data.y.isna().tolist() == people["churn"].isna().tolist()


def test_columns_that_tell_rows_apart_are_left_out_with_a_note(read, people):
    frame = people.assign(id=range(500, 590), key=[f"k{7 * i}" for i in range(90)])
    data, notes = read(frame)
    assert list(data.X) == ["age", "town"]
    assert data.ignored == ("id", "key")
    (note,) = notes
    assert note == (
        "Not learned from, because nearly every row has another value: 'id', 'key'. To use a column all the same: "
        "--keep id"
    )
    assert list(data.frame) == ["age", "town", "churn", "id", "key"]
    assert list(read(frame, keep=("id",))[0].X) == ["age", "town", "id"]
    assert list(read(frame, continuous=("id",), categorical=("key",))[0].X) == ["age", "town", "id", "key"]


def test_columns_with_one_value_are_left_out_with_a_note(read, people):
    flag = np.where(np.arange(90) % 2, "x", None)
    data, notes = read(people.assign(**{"my const": 7, "empty": None, "flag": flag}))
    assert list(data.X) == ["age", "town"]
    assert data.ignored == ("my const", "empty", "flag")
    assert notes[0].startswith("Not learned from, because all rows have the same value, or none: 'my const', 'empty'")
    assert notes[0].endswith("--keep 'my const'")
    assert list(read(people.assign(const=7), keep=("const",))[0].X) == ["age", "town", "const"]


def test_columns_that_are_dropped(read, people):
    data, _ = read(people, drop=("age",))
    assert (list(data.X), data.ignored) == (["town"], ("age",))
    with pytest.raises(TableError, match=r"mine.csv has no column left to learn from\. Drop fewer"):
        read(people, drop=("age", "town"))
    with pytest.raises(TableError, match="no column left to learn from: nothing is said by 'id'"):
        read(people.assign(id=range(90)), drop=("age", "town"))


@pytest.mark.parametrize("option", ["target", "drop", "keep", "continuous", "categorical"])
def test_names_that_are_not_there(read, people, option):
    given = "twon" if option == "target" else ("twon",)
    with pytest.raises(
        UnknownColumnError, match=f"^--{option} twon: mine.csv has no such column. Did you mean 'town'?"
    ):
        read(people, **{option: given})


def test_words_for_no_label_and_for_gaps(read, people):
    frame = people.assign(churn=people["churn"].fillna("?"), age=people["age"].fillna(-999))
    data, _ = read(frame, unlabelled=("?",), gaps=("-999.0",))
    assert data.counts == {"no": 15, "yes": 15}
    assert data.X["age"].isna().tolist() == people["age"].isna().tolist()
    assert (data.gaps, data.unlabelled) == (("-999.0",), ("?",))


def test_without_a_target(read, people):
    data, _ = read(people, target=None)
    assert (data.y, data.counts) == (None, {})
    assert list(data.X) == ["age", "town", "churn"]


def numbers(n_labelled, n_values):
    return [f"{i % n_values}.5" for i in range(n_labelled)]


@pytest.mark.parametrize("labels", [numbers(60, 5), numbers(60, 30), list("abcdefgh"), numbers(5, 5), ["1.0", "2.0"]])
def test_classes(labels):
    column = pd.Series([*labels, *[None] * 20], dtype=object)
    assert labels_of(column, "churn", ()).notna().sum() == len(labels)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (numbers(60, 31), "31 different values in 60 labelled rows .*numbers, not classes"),
        (numbers(6, 6), "6 different values in 6 labelled rows .*MixtureSVR"),
        ([f"n{i}" for i in range(51)], "more than a column of classes has"),
        (["1", "-1"], "holds -1, which could be a class"),
    ],
)
def test_no_classes(labels, words):
    column = pd.Series([*labels, *[None] * 20], dtype=object)
    with pytest.raises(LabelError, match=words):
        labels_of(column, "churn", ())


def test_labels_have_no_spaces_around_them(run, people, written):
    spaced = people["churn"].map(lambda label: f" {label} " if label == "yes" else label, na_action="ignore")
    spaced = spaced.where(np.arange(90) % 2 == 0, people["churn"])
    found = json.loads(run("look", written(people.assign(churn=spaced)), "--target", "churn", "--json").stdout)
    assert found["classes"] == people["churn"].value_counts().sort_index().to_dict()


def test_a_word_for_gaps_is_no_word_for_labels(run, people, written):
    path = written(people.assign(churn=people["churn"].replace({"yes": "9", "no": "8"})))
    found = json.loads(run("look", path, "--target", "churn", "--gap", "9", "--json").stdout)
    assert set(found["classes"]) == {"8", "9"}


def test_answers_of_an_earlier_prediction_are_not_learned_from(run, people, written, table, model, tmp_path):
    run("predict", model, table, "-o", tmp_path / "labelled.csv")
    found = json.loads(run("look", tmp_path / "labelled.csv", "--target", "churn", "--json").stdout)
    assert found["ignored"] == ["label", "probability", "component", "novelty"]
    assert any("mixkern predict has written them" in note for note in found["notes"])
    alone = json.loads(
        run("look", written(people.assign(label=np.arange(90) % 4)), "--target", "churn", "--json").stdout
    )
    assert alone["ignored"] == []


def test_keys_that_are_numbers_are_told_of(run, people, written):
    keys = np.random.RandomState(0).permutation(10_000)[:90]
    found = json.loads(run("look", written(people.assign(key=keys)), "--target", "churn", "--json").stdout)
    assert found["ignored"] == []
    assert "All values of 'key' differ. If they are keys: --drop key" in found["notes"]
