"""Tables as the commands read them: which columns, which labels, which rows."""

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest

from mixkern import MixtureSVC, prepare_table, save
from mixkern.cli.table import model_table, training_table
from mixkern.errors import ColumnMismatchError, LabelError, ModelFileError, TableError, UnknownColumnError
from mixkern.io import read_model


@pytest.fixture
def read(written):
    def read(frame, **options):
        notes = []
        return training_table(str(written(frame)), notes, **{"target": "churn", **options}), notes

    return read


def test_columns_and_labels(read, people):
    data, notes = read(people)
    assert notes == []
    assert data.X.column_names == ["age", "town"]
    assert data.counts == {"no": 15, "yes": 15}
    assert data.y.is_null().to_pylist() == people["churn"].isna().tolist()


def test_the_library_chooses_the_same_columns_and_labels(read, people):
    """The tool adds nothing: what a command learns from is what Python users get from the same table."""
    added = dict.fromkeys(("label", "probability", "component", "novelty"), people["town"])
    frame = people.assign(id=range(90), key=np.random.RandomState(0).permutation(999)[:90], const=7, **added)
    options = {"drop": ("age",), "categorical": ("const",), "unlabelled": ("yes",)}
    with warnings.catch_warnings(action="ignore"):
        table = prepare_table(frame, "churn", **options)
    data, notes = read(frame, **options)
    assert data.X.column_names == list(table.X) == ["town", "key", "const"]
    assert data.ignored == ("age", *table.unused)
    assert notes == [note.on("cli") for note in table.notes]
    assert len(notes) == 3
    assert data.y.is_null().to_pylist() == table.y.isna().tolist()
    assert data.encoder.get_params() == table.encoder.get_params()


def test_identifiers_are_left_out_with_a_note(read, people):
    frame = people.assign(id=range(500, 590), key=[f"k{7 * i}" for i in range(90)])
    data, notes = read(frame)
    assert data.X.column_names == ["age", "town"]
    assert data.ignored == ("id", "key")
    (note,) = notes
    assert note == (
        "Not learned from, because nearly all values differ: 'id', 'key'. To use a column all the same: --keep id"
    )
    assert data.block.cells.column_names == ["age", "town", "churn", "id", "key"]
    assert (read(frame, keep=("id",))[0].X.column_names) == ["age", "town", "id"]
    assert (read(frame, continuous=("id",), categorical=("key",))[0].X.column_names) == ["age", "town", "id", "key"]


def test_columns_with_one_value_are_left_out_with_a_note(read, people):
    flag = np.where(np.arange(90) % 2, "x", None)
    data, notes = read(people.assign(**{"my const": 7, "empty": None, "flag": flag}))
    assert data.X.column_names == ["age", "town"]
    assert data.ignored == ("my const", "empty", "flag")
    assert notes[0].startswith("Not learned from, because all rows have the same value, or none: 'my const', 'empty'")
    assert notes[0].endswith("--keep 'my const'")
    assert (read(people.assign(const=7), keep=("const",))[0].X.column_names) == ["age", "town", "const"]


def test_columns_that_are_dropped(read, people):
    data, _ = read(people, drop=("age",))
    assert (data.X.column_names, data.ignored) == (["town"], ("age",))
    with pytest.raises(TableError, match=r"mine.csv: No column is left to learn from\. Drop fewer"):
        read(people, drop=("age", "town"))
    with pytest.raises(TableError, match="No column is left to learn from: 'id' cannot help to predict"):
        read(people.assign(id=range(90)), drop=("age", "town"))


@pytest.mark.parametrize("option", ["target", "drop", "keep", "continuous", "categorical", "source"])
def test_names_that_are_not_there(read, people, option):
    given = "twon" if option in ("target", "source") else ("twon",)
    with pytest.raises(UnknownColumnError, match=r"^mine.csv has no column 'twon'\. Did you mean 'town'\?") as caught:
        read(people, **{option: given})
    assert caught.value.on("cli").endswith(f" It has 'age', 'town', 'churn'. Correct --{option}.")


def test_texts_that_mark_gaps_and_unlabelled_rows(read, people):
    frame = people.assign(churn=people["churn"].fillna("?"), age=people["age"].fillna(-999))
    data, _ = read(frame, unlabelled=("?",), gaps=("-999.0",))
    assert data.counts == {"no": 15, "yes": 15}
    assert data.X["age"].is_null().to_pylist() == people["age"].isna().tolist()
    assert (data.gaps, data.unlabelled) == (("-999.0",), ("?",))


def test_sources_of_labels(read, people):
    assert read(people)[0].source.tolist() == [None] * 90
    frame = people.assign(label_source=["random", "", "suggested", *[None] * 87])
    data, notes = read(frame)
    assert notes == []
    assert (data.source_column, data.ignored) == ("label_source", ("label_source",))
    assert data.X.column_names == ["age", "town"]
    assert data.source[:3].tolist() == ["random", None, "suggested"]
    assert data.source_counts == {"random": 1, "suggested": 0, "component": 0, "unknown": 29}  # row 3 has no label
    bare, _ = read(frame, target=None)
    assert bare.X.column_names == ["age", "town", "churn"]
    assert bare.source_counts == {"random": 0, "suggested": 0, "component": 0, "unknown": 0}


@pytest.mark.parametrize("option", ["drop", "keep", "categorical", "target"])
def test_a_column_that_another_option_names_has_no_sources(read, people, option):
    given = "label_source" if option == "target" else ("label_source",)
    data, _ = read(people.assign(label_source=np.array(["a", "b"])[np.arange(90) % 2]), **{option: given})
    assert data.source_column is None
    assert ("label_source" in data.X.column_names) == (option in ("keep", "categorical"))


def test_a_column_of_sources_that_is_dropped_as_well(read, people):
    data, _ = read(people.assign(how="random"), source="how", drop=("how",))
    assert (data.source_column, data.ignored) == ("how", ("how",))


def test_without_a_target(read, people):
    data, _ = read(people, target=None)
    assert (data.y, data.counts) == (None, {})
    assert data.X.column_names == ["age", "town", "churn"]


def test_labels_have_no_spaces_around_them(run, people, written):
    spaced = people["churn"].map(lambda label: f" {label} " if label == "yes" else label, na_action="ignore")
    spaced = spaced.where(np.arange(90) % 2 == 0, people["churn"])
    found = json.loads(run("look", written(people.assign(churn=spaced)), "--target", "churn", "--json").stdout)
    assert found["classes"] == people["churn"].value_counts().sort_index().to_dict()


def test_a_text_that_marks_gaps_does_not_mark_unlabelled_rows(run, people, written):
    path = written(people.assign(churn=people["churn"].replace({"yes": "9", "no": "8"})))
    found = json.loads(run("look", path, "--target", "churn", "--gap", "9", "--json").stdout)
    assert set(found["classes"]) == {"8", "9"}


def test_columns_of_an_earlier_prediction_are_not_learned_from(run, people, written, table, model, tmp_path):
    run("predict", model, table, "-o", tmp_path / "labelled.csv")
    found = json.loads(run("look", tmp_path / "labelled.csv", "--target", "churn", "--json").stdout)
    assert found["ignored"] == ["label", "probability", "component", "novelty"]
    assert any("they are predictions of an earlier model" in note for note in found["notes"])
    alone = json.loads(
        run("look", written(people.assign(label=np.arange(90) % 4)), "--target", "churn", "--json").stdout
    )
    assert alone["ignored"] == []


def test_keys_that_are_numbers_are_noted(run, people, written):
    keys = np.random.RandomState(0).permutation(10_000)[:90]
    found = json.loads(run("look", written(people.assign(key=keys)), "--target", "churn", "--json").stdout)
    assert found["ignored"] == []
    assert "All values of 'key' differ. If they are keys: --drop key" in found["notes"]


# ---------------------------------------------------------------- tables for a fitted model


@pytest.fixture
def opened(model):
    def opened(path, **reading):
        return model_table(str(path), read_model(model), [], **reading)

    return opened


def test_columns_and_target_of_a_model(opened, table):
    data = opened(table)
    assert list(data.columns) == ["age", "town"]
    assert (data.target, data.unlabelled) == ("churn", ())


def test_blocks_have_the_columns_of_the_model_and_all_cells(opened, table, people, written, monkeypatch):
    monkeypatch.setattr("mixkern.cli.table.BLOCK", 40)
    blocks = list(opened(written(people[["churn", "town", "age"]])).blocks())
    assert [(block.start, len(block)) for block in blocks] == [(0, 40), (40, 40), (80, 10)]
    assert all(block.typed.column_names == ["age", "town"] for block in blocks)
    assert all(block.cells.column_names == ["churn", "town", "age"] for block in blocks)
    X = pa.concat_tables([block.typed for block in blocks])
    for name in ("age", "town"):
        assert X[name].to_pylist() == people[name].astype(object).where(people[name].notna(), None).tolist()


def test_one_row(opened, table, people):
    row = opened(table).row(89)
    assert row["age"].item() == people["age"].iloc[89]
    with pytest.raises(TableError, match=r"people.csv has 90 rows, and no row 91\."):
        opened(table).row(90)


def rows_of(table):
    return table.labelled(table.whole())


def test_rows_with_their_labels(opened, table, people):
    X, y, source = rows_of(opened(table))
    assert source is None
    assert list(X) == ["age", "town"]
    assert y.isna().tolist() == people["churn"].isna().tolist()


def test_sources_at_fit_are_read_again(run, people, written, tmp_path):
    path = written(people.assign(how=np.where(np.arange(90) % 3, "random", None)))
    run("fit", path, "--target", "churn", "--source", "how", "--no-estimate")
    model = read_model(tmp_path / "mine.mixkern")
    _, _, source = rows_of(model_table(str(path), model, []))
    assert source.tolist() == [None, "random", "random"] * 30
    assert rows_of(model_table(str(written(people)), model, []))[2] is None
    wrong = model_table(str(written(people.assign(how="by Ann"))), model, [])
    with pytest.raises(LabelError, match=r"Column 'how' holds 'by Ann' in row 1") as caught:
        rows_of(wrong)
    assert caught.value.on("cli").endswith("Give the table that the model was fitted on.")


def test_a_table_without_the_target_has_no_labels(opened, people, written):
    with pytest.raises(UnknownColumnError, match=r"no column 'churn', which .* Did you mean 'churned'\?"):
        opened(written(people.rename(columns={"churn": "churned"}))).check_has_labels()


def test_missing_columns_are_named_with_the_nearest(opened, people, written):
    with pytest.raises(ColumnMismatchError, match=r"lacks 1 column that .*: 'age'\. Did you mean 'Age_'\?"):
        opened(written(people.rename(columns={"age": "Age_"})))
    with pytest.raises(ColumnMismatchError, match=r": 'town'\. Add it; cells of unknown values can be empty\.$"):
        opened(written(people.drop(columns="town")))


def test_gaps_of_the_model_are_gaps_here(run, people, tmp_path):
    frame = people.assign(age=people["age"].fillna(-999), churn=people["churn"].fillna("?"))
    frame.to_csv(tmp_path / "a.csv", index=False)
    options = ["--gap", "-999.0", "--unlabelled", "?", "--no-estimate"]
    run("fit", tmp_path / "a.csv", "--target", "churn", *options)
    data = model_table(str(tmp_path / "a.csv"), read_model(tmp_path / "a.mixkern"), [])
    X, y, _ = rows_of(data)
    assert X["age"].isna().sum() == people["age"].isna().sum()
    assert y.isna().sum() == 60


@pytest.mark.parametrize("strange", [5, "abc", {"a": 1}, [["a"], None, 3], True])
def test_malformed_notes_in_a_model_file_are_ignored(people, table, tmp_path, strange):
    y = np.where(people["churn"].isna(), -1, people["churn"] == "yes").astype(int)
    model = MixtureSVC(random_state=0).fit(people[["age", "town"]], y)
    save(
        model,
        tmp_path / "a.mixkern",
        notes=dict.fromkeys(("gaps", "unlabelled", "target", "dialect", "decimals", "source_column"), strange),
    )
    data = model_table(str(table), read_model(tmp_path / "a.mixkern"), [])
    assert (data.unlabelled, data.target, data.source_column) == ((), str(strange), None)
    assert len(next(data.blocks())) == 90


def test_a_model_without_named_columns(people, table, tmp_path):
    y = np.where(people["churn"].isna(), -1, people["churn"] == "yes").astype(int)
    save(MixtureSVC(random_state=0).fit(np.random.RandomState(0).rand(90, 2), y), tmp_path / "a.mixkern")
    with pytest.raises(ModelFileError, match="no classifier that was fitted on a table with named columns"):
        model_table(str(table), read_model(tmp_path / "a.mixkern"), [])


def test_numbers_are_read_as_at_fit(run, people, written, tmp_path):
    """In a batch of whole numbers, a point could be a decimal sign; the table of the fit settled that."""
    sums = 1000 + 2000.5 * (np.arange(90) % 7)
    german = [f"{each:,.2f}".translate(str.maketrans(",.", ".,")) for each in sums]
    content = people.assign(sum=german).to_csv(sep=";", index=False)
    path = tmp_path / "german.csv"
    path.write_text(content)
    run("fit", path, "--target", "churn", "-o", tmp_path / "a.mixkern", "--no-estimate")
    (tmp_path / "batch.csv").write_text("age;town;sum\n40;Kassel;3.001\n41;Kassel;5.001\n")
    done = run("predict", tmp_path / "a.mixkern", tmp_path / "batch.csv", "--only")
    assert "'sum': 3.001 was read as 3001, with thousands set apart" in done.stderr
    chosen = run("predict", tmp_path / "a.mixkern", tmp_path / "batch.csv", "--only", "--decimal", ".")
    assert "thousands" not in chosen.stderr
    assert chosen.stdout != done.stdout
