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
    assert list(found) == ["table", "target", "suggestions", "notes"]
    rows = [each["row"] for each in found["suggestions"]]
    assert len(set(rows)) == 7
    assert people["churn"].iloc[np.array(rows) - 1].isna().all()
    for each in found["suggestions"]:
        assert each["line"] == each["row"] + 1
        assert each["reason"].endswith(".")
        cells = people.iloc[each["row"] - 1]
        assert each["values"]["town"] == (cells["town"] if isinstance(cells["town"], str) else None)


def test_the_text_has_the_rows_of_the_json(run, table):
    found = suggested(run, table, "--target", "churn", "-n", 4)
    done = run("suggest", table, "--target", "churn", "-n", 4)
    lines = [line.split() for line in done.stdout.splitlines()]
    shown = [int(line[0]) for line in lines if line and line[0].isdigit()]
    assert shown == [each["row"] for each in found["suggestions"]]
    assert f"Label them in column 'churn', then: mixkern fit {table} --target churn" in done.stdout


@pytest.mark.parametrize("kept", [[], ["no"]], ids=["no labels", "one class"])
def test_few_labels_are_enough(run, people, written, kept):
    path = written(people.assign(churn=people["churn"].where(people["churn"].isin(kept))))
    assert len(suggested(run, path, "--target", "churn")["suggestions"]) == 10


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


def test_a_table_to_be_filled_in(run, table, people, tmp_path):
    output = tmp_path / "next.csv"
    done = run("suggest", table, "--target", "churn", "-n", 5, "-o", output)
    assert f"These rows, to be labelled: {output}" in done.stdout
    rows = pd.read_csv(output)
    assert list(rows) == ["row", "age", "town", "churn"]
    assert rows["churn"].isna().all()
    expected = people.iloc[rows["row"] - 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows[["age", "town"]], expected[["age", "town"]], check_dtype=False)


def test_a_table_to_be_filled_in_has_all_digits_and_names_that_are_free(run, people, written, tmp_path):
    income = 1e6 + np.random.RandomState(0).rand(90)
    path = written(people.assign(row=income, mixkern_row="a"))
    run("suggest", path, "--target", "churn", "-n", 5, "-o", tmp_path / "next.csv")
    rows = pd.read_csv(tmp_path / "next.csv", dtype=str)
    assert rows.columns[0] == "mixkern_row_2"
    assert rows["row"].map(float).tolist() == income[rows["mixkern_row_2"].map(int) - 1].tolist()


def test_a_table_that_cannot_be_written(run, table, tmp_path):
    (tmp_path / "file").touch()
    run("suggest", table, "--target", "churn", "-o", tmp_path / "file" / "next.csv", code=1)
    assert "does not end like a table" in run("suggest", table, "--target", "churn", "-o", "next.doc", code=1).stderr


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
