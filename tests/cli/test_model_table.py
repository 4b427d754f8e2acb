"""Tables whose columns a model knows."""

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC, save
from mixkern.cli.model_table import known_table
from mixkern.errors import ColumnMismatchError, ModelFileError, UnknownColumnError
from mixkern.storage import read_model


@pytest.fixture
def opened(model):
    def opened(path, **reading):
        return known_table(str(path), read_model(model), [], **reading)

    return opened


def test_what_a_model_knows(opened, table):
    data = opened(table)
    assert list(data.columns) == ["age", "town"]
    assert (data.target, data.unlabelled) == ("churn", ())


def test_blocks_have_the_columns_of_the_model_and_all_cells(opened, table, people, written, monkeypatch):
    monkeypatch.setattr("mixkern.cli.model_table.BLOCK", 40)
    blocks = list(opened(written(people[["churn", "town", "age"]])).blocks())
    assert [len(X) for X, _ in blocks] == [40, 40, 10]
    assert all(list(X) == ["age", "town"] for X, _ in blocks)
    assert all(list(cells) == ["churn", "town", "age"] for _, cells in blocks)
    X = pd.concat([X for X, _ in blocks])
    for name in ("age", "town"):
        assert X[name].astype(object).fillna("").tolist() == people[name].astype(object).fillna("").tolist()


def test_one_row(opened, table, people):
    row = opened(table).row(89)
    assert row["age"].item() == people["age"].iloc[89]
    with pytest.raises(UnknownColumnError, match=r"people.csv has 90 rows, and no row 91\."):
        opened(table).row(90)


def test_rows_with_their_labels(opened, table, people):
    X, y = opened(table).labelled()
    assert list(X) == ["age", "town"]
    assert y.isna().tolist() == people["churn"].isna().tolist()


def test_a_table_without_the_target_has_no_labels(opened, people, written):
    with pytest.raises(UnknownColumnError, match=r"no column 'churn', which .* Did you mean 'churned'\?"):
        opened(written(people.rename(columns={"churn": "churned"}))).labelled()


def test_missing_columns_are_named_with_the_nearest(opened, people, written):
    with pytest.raises(ColumnMismatchError, match=r"lacks 1 column that .*: 'age'\. Did you mean 'Age_'\?"):
        opened(written(people.rename(columns={"age": "Age_"})))


def test_gaps_of_the_model_are_gaps_here(run, people, tmp_path):
    frame = people.assign(age=people["age"].fillna(-999), churn=people["churn"].fillna("?"))
    frame.to_csv(tmp_path / "a.csv", index=False)
    options = ["--gap", "-999.0", "--unlabelled", "?", "--no-estimate"]
    run("fit", tmp_path / "a.csv", "--target", "churn", *options)
    data = known_table(str(tmp_path / "a.csv"), read_model(tmp_path / "a.mixkern"), [])
    X, y = data.labelled()
    assert X["age"].isna().sum() == people["age"].isna().sum()
    assert y.isna().sum() == 60


@pytest.mark.parametrize("strange", [5, "abc", {"a": 1}, [["a"], None, 3], True])
def test_notes_of_a_stranger_do_no_harm(people, table, tmp_path, strange):
    y = np.where(people["churn"].isna(), -1, people["churn"] == "yes").astype(int)
    machine = MixtureSVC(random_state=0).fit(people[["age", "town"]], y)
    save(machine, tmp_path / "a.mixkern", notes={"gaps": strange, "unlabelled": strange, "target": strange})
    data = known_table(str(table), read_model(tmp_path / "a.mixkern"), [])
    assert (data.unlabelled, data.target) == ((), str(strange))
    assert len(next(data.blocks())[0]) == 90


def test_a_model_that_knows_no_names(people, table, tmp_path):
    y = np.where(people["churn"].isna(), -1, people["churn"] == "yes").astype(int)
    save(MixtureSVC(random_state=0).fit(np.random.RandomState(0).rand(90, 2), y), tmp_path / "a.mixkern")
    with pytest.raises(ModelFileError, match="a MixtureSVC that was not fitted on a table with named columns"):
        known_table(str(table), read_model(tmp_path / "a.mixkern"), [])


def test_numbers_are_spelled_as_at_fit(run, people, written, tmp_path):
    """A batch of whole numbers does not say that points set thousands apart; the table of the fit did."""
    sums = 1000 + 2000.5 * (np.arange(90) % 7)
    german = [f"{each:,.2f}".translate(str.maketrans(",.", ".,")) for each in sums]
    content = people.assign(sum=german).to_csv(sep=";", index=False)
    path = tmp_path / "german.csv"
    path.write_text(content)
    run("fit", path, "--target", "churn", "-o", tmp_path / "a.mixkern", "--no-estimate")
    (tmp_path / "batch.csv").write_text("age;town;sum\n40;Kassel;3.001\n41;Kassel;5.001\n")
    done = run("predict", tmp_path / "a.mixkern", tmp_path / "batch.csv", "--only")
    assert "'sum': 3.001 was read as 3001, with thousands set apart" in done.stderr
    told = run("predict", tmp_path / "a.mixkern", tmp_path / "batch.csv", "--only", "--decimal", ".")
    assert "thousands" not in told.stderr
    assert told.stdout != done.stdout
