"""``mixkern look``: columns, labels and components of a table, as text and as JSON."""

import json

import numpy as np
import pandas as pd
import pytest

KEYS = ["table", "rows", "target", "labelled", "classes", "ignored", "columns", "components", "notes"]


def looked(run, *arguments):
    return json.loads(run("look", *arguments, "--json").stdout)


def test_numbers_of_rows_gaps_and_labels(run, table, people):
    found = looked(run, table, "--target", "churn")
    assert list(found) == KEYS
    assert (found["rows"], found["labelled"], found["classes"]) == (90, 30, {"no": 15, "yes": 15})
    age, town = found["columns"]
    assert (age["name"], age["read_as"], age["gaps"]) == ("age", "numbers", people["age"].isna().sum())
    assert (age["least"], age["median"], age["most"]) == tuple(people["age"].quantile([0, 0.5, 1]))
    assert (town["read_as"], town["gaps"]) == ("categories", people["town"].isna().sum())
    assert town["most_frequent"] == people["town"].value_counts().to_dict()


def test_components_share_rows_and_labels(run, table):
    groups = looked(run, table, "--target", "churn")["components"]
    assert sum(group["share"] for group in groups) == pytest.approx(1)
    assert sum(group["rows"] for group in groups) == pytest.approx(90, abs=len(groups))
    assert [group["share"] for group in groups] == sorted((group["share"] for group in groups), reverse=True)
    inside = sum(n for group in groups for n in group["labels"].values())
    assert inside == pytest.approx(30, abs=0.1 * 2 * len(groups))


def test_a_group_without_a_label_is_found(run, people, written):
    others = people.iloc[60:].assign(age=people["age"] + 200, town="Hof", churn=None)
    path = written(pd.concat([people.iloc[:60], others]))
    found = looked(run, path, "--target", "churn")
    empty = [group for group in found["components"] if not group["labels"]]
    assert empty
    assert len(empty) < len(found["components"])
    done = run("look", path, "--target", "churn")
    assert f"{len(empty)} component" in done.stdout
    assert "no label." in done.stdout
    assert f"Next: mixkern suggest {path} --target churn" in done.stdout


def test_the_text_has_the_facts_of_the_json(run, table):
    found = looked(run, table, "--target", "churn")
    done = run("look", table, "--target", "churn")
    assert done.stderr == ""
    assert done.stdout.startswith("people.csv: 90 rows, 2 columns to learn from\n")
    assert "Labels in 'churn': 30 of 90 rows: 15 of 'no', 15 of 'yes'.\n" in done.stdout
    assert f"{len(found['components'])} components (groups of similar rows)" in done.stdout
    for group in found["components"]:
        assert f"{group['component']:>9}  {group['rows']:>4}  " in done.stdout
    assert f"Next: mixkern fit {table} --target churn" in done.stdout


def test_one_component_is_no_group(run, tmp_path):
    path = tmp_path / "one.csv"
    rows = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    path.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
    printed = run("look", path).stdout
    assert "1 component: the rows form no groups\ncomponent  rows" in printed
    assert "differs" not in printed


def test_a_target_that_is_not_there_yet(run, table):
    done = run("look", table, "--target", "quality", code=1)
    assert "If there are no labels yet, add this column, empty; mixkern label needs no column." in done.stderr


def test_without_a_target_labels_are_a_column_like_others(run, table):
    found = looked(run, table)
    assert [column["name"] for column in found["columns"]] == ["age", "town", "churn"]
    assert (found["target"], found["labelled"], found["classes"]) == (None, 0, {})
    assert "labels" not in found["components"][0]
    assert "Next: mixkern look" in run("look", table).stdout


def test_a_table_without_labels(run, people, written):
    path = written(people.assign(churn=None))
    assert looked(run, path, "--target", "churn")["labelled"] == 0
    done = run("look", path, "--target", "churn")
    assert "Labels in 'churn': 0 of 90 rows.\n" in done.stdout
    assert "Next: mixkern suggest" in done.stdout


def test_names_with_brackets_and_signs_of_all_kinds_are_shown_whole(run, people, written):
    strange = people.set_axis(["[red]age[/red]", "🙂 [bold]", "[/]"], axis=1)
    strange["🙂 [bold]"] = strange["🙂 [bold]"].replace({"Ulm": "[/link]", "Kassel": "[blue]"})
    strange["[/]"] = strange["[/]"].replace({"no": "[red]", "yes": "💥"})
    path = written(strange, "[bold].csv")
    done = run("look", path, "--target", "[/]")
    for text in ("[bold].csv: 90 rows", "[red]age[/red]", "🙂 [bold]", "[/link]", "[blue]", "15 of '[red]'", "'💥'"):
        assert text in done.stdout
    assert looked(run, path, "--target", "[/]")["classes"] == {"[red]": 15, "💥": 15}


def test_more_columns_than_fit_on_a_screen_are_counted(run, written):
    path = written(pd.DataFrame(np.random.RandomState(0).rand(20, 45).round(3)).add_prefix("c"))
    done = run("look", path)
    assert "and 5 more columns (--json has all)" in done.stdout
    assert "c40" not in done.stdout
    assert len(looked(run, path)["columns"]) == 45


def test_standard_input(run, table):
    done = run("look", "-", "--target", "churn", stdin=table.read_bytes())
    assert done.stdout.startswith("standard input: 90 rows")


def test_many_rows_are_drawn_for_the_components(run, people, table, monkeypatch):
    every = json.loads(run("look", table, "--target", "churn", "--json").stdout)
    monkeypatch.setattr("mixkern.cli.look.MOST_ROWS", 60)
    some = json.loads(run("look", table, "--target", "churn", "--json").stdout)
    assert some["notes"] == ["The components were learned from 60 of 90 rows, drawn at random."]
    assert some["columns"] == every["columns"]  # of all rows
    assert sum(each["rows"] for each in some["components"]) == 90
    labels = [each["labels"] for each in some["components"]]
    assert {name: sum(each.get(name, 0) for each in labels) for name in ("no", "yes")} == {"no": 15, "yes": 15}


def test_the_range_of_a_column_in_its_own_type(run, people, tmp_path):
    frame = people.assign(
        day=pd.date_range("2024-01-01", periods=90).astype(str),
        n=np.arange(90) % 7,
        share=[f"{i % 9}.5 %" for i in range(90)],
        text=[f"{i % 9}" if i else "07" for i in range(90)],
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    done = run("look", tmp_path / "a.csv", "--target", "churn", "--continuous", "text")
    lines = {line.split()[0]: " ".join(line.split()[2:]) for line in done.stdout.splitlines() if line.strip()}
    assert lines["day"] == "2024-01-01 to 2024-03-30, with weekday"
    assert lines["share"] == "0.5 to 8.5"
    assert lines["text"] == "0 to 8"
    facts = json.loads(run("look", tmp_path / "a.csv", "--target", "churn", "--json", "--continuous", "n").stdout)
    ranges = {each["name"]: (each.get("least"), each.get("median"), each.get("most")) for each in facts["columns"]}
    assert ranges["n"] == (0, 3.0, 6)
    assert ranges["day"][0].startswith("2024-01-01")
