"""``mixkern suggest``: rows to label next, with reasons, and as a table to be filled in."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest


def suggested(run, *arguments):
    return json.loads(run("suggest", *arguments, "--json").stdout)


def test_rows_without_a_label_with_a_reason_each(run, table, people):
    found = suggested(run, table, "--target", "churn", "-n", 7)
    assert list(found) == ["table", "target", "source_column", "suggestions", "accuracy", "notes"]
    rows = [each["row"] for each in found["suggestions"]]
    assert len(set(rows)) == 7
    assert people["churn"].iloc[np.array(rows) - 1].isna().all()
    for each in found["suggestions"]:
        assert each["line"] == each["row"] + 1
        assert each["reason"].endswith(".")
        cells = people.iloc[each["row"] - 1]
        assert each["values"]["town"] == (cells["town"] if isinstance(cells["town"], str) else None)


@pytest.mark.slow
def test_the_text_has_the_rows_of_the_json(run, table):
    found = suggested(run, table, "--target", "churn", "-n", 4)
    done = run("suggest", table, "--target", "churn", "-n", 4)
    lines = [line.split() for line in done.stdout.splitlines()]
    shown = [int(line[0]) for line in lines if line and line[0].isdigit()]
    assert shown == [each["row"] for each in found["suggestions"]]
    assert done.stdout.endswith(
        "\nLabel them in column 'churn', and write suggested or random into column 'label_source', then: "
        f"mixkern fit {table} --target churn\n"
    )


@pytest.mark.slow
def test_the_accuracy_so_far_and_the_gain_of_more_labels(run, table):
    """The same sentences as fit prints."""
    done = run("suggest", table, "--target", "churn", "-n", 4)
    fitted = json.loads(run("fit", table, "--target", "churn", "--json").stdout)
    assert "\n" + " ".join(fitted["accuracy"]["in_words"]) + "\n" in done.stdout
    assert "Ten more labels are expected to change the accuracy by" in done.stdout


@pytest.mark.parametrize("kept", [[], ["no"]], ids=["no labels", "one class"])
def test_few_labels_are_enough(run, people, written, kept):
    path = written(people.assign(churn=people["churn"].where(people["churn"].isin(kept))))
    found = suggested(run, path, "--target", "churn")
    assert len(found["suggestions"]) == 10
    assert found["accuracy"] is None


def test_nothing_is_left_to_label(run, people, written):
    path = written(people.assign(churn=np.where(np.arange(90) % 2, "yes", "no")))
    done = run("suggest", path, "--target", "churn", code=1)
    assert done.stderr == f"Error: Every row has a label. Next: mixkern fit {path} --target churn\n"


def test_no_more_than_there_are(run, people, written):
    path = written(people.assign(churn=np.where(np.arange(90) < 87, "yes", None)))
    assert sorted(each["row"] for each in suggested(run, path, "--target", "churn", "-n", 20)["suggestions"]) == [
        88,
        89,
        90,
    ]


@pytest.mark.slow
def test_a_table_to_be_filled_in(run, table, people, tmp_path):
    output = tmp_path / "next.csv"
    done = run("suggest", table, "--target", "churn", "-n", 5, "-o", output)
    assert f"These rows, to be labelled: {output}" in done.stdout
    rows = pd.read_csv(output)
    assert list(rows) == ["row", "label_source", "age", "town", "churn"]
    assert rows["label_source"].tolist() == ["suggested"] * 4 + ["random"]
    assert rows["churn"].isna().all()
    expected = people.iloc[rows["row"] - 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows[["age", "town"]], expected[["age", "town"]], check_dtype=False)


@pytest.mark.slow
def test_a_table_to_be_filled_in_has_all_digits_and_names_that_are_free(run, people, written, tmp_path):
    income = 1e6 + np.random.RandomState(0).rand(90)
    path = written(people.assign(row=income, mixkern_row="a"))
    run("suggest", path, "--target", "churn", "-n", 5, "-o", tmp_path / "next.csv")
    rows = pd.read_csv(tmp_path / "next.csv", dtype=str)
    assert rows.columns[0] == "mixkern_row_2"
    assert rows["row"].map(float).tolist() == income[rows["mixkern_row_2"].map(int) - 1].tolist()


@pytest.mark.slow
def test_a_table_that_cannot_be_written(run, table, tmp_path):
    (tmp_path / "file").touch()
    run("suggest", table, "--target", "churn", "-o", tmp_path / "file" / "next.csv", code=1)
    assert "does not end like a table" in run("suggest", table, "--target", "churn", "-o", "next.doc", code=1).stderr


@pytest.mark.slow
def test_the_next_command_has_the_same_options(run, people, written):
    path = written(people.assign(code=np.arange(90) % 7, gone=1.5 * np.arange(90)))
    given = ("--target", "churn", "--drop", "gone", "--categorical", "code", "--gap", "-999")
    done = run("suggest", path, *given, "-n", 3, "--seed", 1)
    last = done.stdout.splitlines()[-1]
    assert last.endswith(f"mixkern fit {path} --target churn --drop gone --categorical code --gap -999")
    assert json.loads(run(*shlex.split(last.partition("mixkern ")[2]), "--json", "--no-estimate").stdout)["ignored"]


def test_more_rows_than_there_are_is_noted(run, people, written):
    path = written(people.assign(churn=np.where(np.arange(90) < 87, "yes", None)))
    assert (
        "3 rows have no label: all of them are suggested, not 20."
        in run("suggest", path, "--target", "churn", "-n", 20).stderr
    )


@pytest.mark.slow
def test_one_row_in_five_is_random(run, table):
    found = suggested(run, table, "--target", "churn", "-n", 10)
    assert [each["source"] for each in found["suggestions"]] == ["suggested"] * 8 + ["random"] * 2
    done = run("suggest", table, "--target", "churn", "-n", 10)
    assert done.stdout.count("Drawn at random, to measure the accuracy;") == 2
    line = "2 of 10 rows are drawn at random: with their labels the accuracy can be estimated for the whole table."
    assert line in done.stdout.splitlines()
    one = run("suggest", table, "--target", "churn", "-n", 5).stdout
    assert "\n1 of 5 rows is drawn at random: with its label the accuracy can be" in one


@pytest.mark.slow
def test_the_share_of_random_rows(run, table):
    pure = suggested(run, table, "--target", "churn", "-n", 8, "--audit", 0)["suggestions"]
    assert {each["source"] for each in pure} == {"suggested"}
    found = suggested(run, table, "--target", "churn", "-n", 10)["suggestions"]
    assert [each["row"] for each in pure] == [each["row"] for each in found][:8]
    assert "random:" not in run("suggest", table, "--target", "churn", "-n", 8, "--audit", 0).stdout
    every = suggested(run, table, "--target", "churn", "-n", 4, "--audit", 1)["suggestions"]
    assert {each["source"] for each in every} == {"random"}
    assert "1.5 is not in the range" in run("suggest", table, "--target", "churn", "--audit", 1.5, code=2).stderr
    assert "[default: 0.2" in run("suggest", "--help").stdout


@pytest.mark.parametrize("name", ["label_source", "how"])
@pytest.mark.slow
def test_sources_are_written_into_their_column_and_not_learned_from(run, people, written, tmp_path, name):
    how = np.where(people["churn"].isna(), None, np.where(np.arange(90) % 4, "suggested", "random"))
    options = ("--target", "churn", "-n", 5, *(["--source", "how"] if name == "how" else []))
    path = written(people.assign(**{name: how}))
    found = suggested(run, path, *options, "-o", tmp_path / "next.csv")
    assert found["source_column"] == name
    assert all(list(each["values"]) == ["age", "town"] for each in found["suggestions"])
    plain = suggested(run, written(people, "plain.csv"), *options[:4])
    assert [each["row"] for each in found["suggestions"]] == [each["row"] for each in plain["suggestions"]]
    rows = pd.read_csv(tmp_path / "next.csv")
    assert list(rows) == ["row", "age", "town", "churn", name]
    assert rows[name].tolist() == [each["source"] for each in found["suggestions"]]
    step = run("suggest", path, *options).stdout.splitlines()[-1].partition("then: ")[2]
    assert step == f"mixkern fit {path} --target churn" + (" --source how" if name == "how" else "")


@pytest.mark.slow
def test_a_column_of_the_same_name_that_has_another_meaning(run, people, written, tmp_path):
    path = written(people.assign(label_source=np.array(["Ann", "Bob"])[np.arange(90) % 2]))
    done = run("suggest", path, "--target", "churn", code=1)
    assert "Column 'label_source' holds 'Ann' in row 1" in done.stderr
    assert "If the column has another meaning, name it in --drop." in done.stderr
    for option, step in (("--keep", "--keep label_source"), ("--drop", "--drop label_source")):
        given = (path, "--target", "churn", "-n", 5, option, "label_source", "-o", tmp_path / "next.csv")
        last = run("suggest", *given).stdout.splitlines()[-1]
        assert last.endswith(f"then: mixkern merge {path} {tmp_path / 'next.csv'} --target churn {step}")
        rows = pd.read_csv(tmp_path / "next.csv")
        assert list(rows) == ["row", "mixkern_label_source", "age", "town", "churn", "label_source"]
        assert set(rows["label_source"]) <= {"Ann", "Bob"}


@pytest.mark.slow
def test_sources_in_other_files(run, people, tmp_path):
    how = np.where(people["churn"].isna(), None, "random")
    people.assign(label_source=pd.Categorical(how)).to_parquet(tmp_path / "a.parquet")
    run("suggest", tmp_path / "a.parquet", "--target", "churn", "-n", 5, "-o", tmp_path / "next.parquet")
    rows = pd.read_parquet(tmp_path / "next.parquet")
    assert rows["label_source"].tolist() == ["suggested"] * 4 + ["random"]
    found = json.loads(run("fit", tmp_path / "a.parquet", "--target", "churn", "--no-estimate", "--json").stdout)
    assert found["label_sources"] == {"random": 30, "suggested": 0, "component": 0, "unknown": 0}
