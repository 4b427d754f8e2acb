"""``mixkern explain``: the facts of the library, as text and as JSON."""

import json

import pytest

from mixkern import load


def explained(run, *arguments):
    return json.loads(run("explain", *arguments, "--json").stdout)


def test_facts_are_those_of_the_model(run, model, table, people):
    found = explained(run, model, table, "--row", 6)
    assert list(found) == [
        "table",
        "row",
        "label",
        "against",
        "score",
        "probabilities",
        "novelty",
        "neighbours",
        "components",
        "columns",
        "beside",
        "notes",
    ]
    expected = load(model).assess(people.iloc[[5]][["age", "town"]]).iloc[0]
    assert (found["row"], found["label"], found["novelty"]) == (6, expected["label"], expected["novelty"])
    assert found["probabilities"][expected["label"]] == expected["probability"]
    assert sum(each["pull"] for each in found["neighbours"]) == pytest.approx(found["score"], rel=1e-9)


def test_neighbours_are_labelled_rows_of_the_table_counted_from_1(run, model, table, people):
    found = explained(run, model, table, "--row", 6)
    rows = [each for each in found["neighbours"] if each["source"] == "neighbour"]
    assert rows
    for each in rows:
        assert people["churn"].iloc[each["neighbour"] - 1] == each["its_label"]


def test_the_text_has_the_facts_of_the_json(run, model, table):
    found = explained(run, model, table, "--row", 6)
    text = run("explain", model, table, "--row", 6).stdout
    assert text.startswith(f"Row 6 is predicted as {found['label']!r}, rather than {found['against']!r}.\n")
    assert f"{found['label']!r} {found['probabilities'][found['label']]:.2f}" in text
    assert f"{found['score']:+6.2f}  score" in text
    for each in found["neighbours"]:
        assert f"{each['pull']:+6.2f}  " in text


def test_a_row_in_a_later_block(run, model, table, monkeypatch):
    expected = explained(run, model, table, "--row", 90)
    monkeypatch.setattr("mixkern.cli.table.BLOCK", 7)
    assert explained(run, model, table, "--row", 90) == expected


def test_rows_that_are_not_there(run, model, table):
    assert run("explain", model, table, "--row", 91, code=1).stderr == (
        "Error: people.csv has 90 rows, and no row 91.\n"
    )
    assert "0 is not in the range" in run("explain", model, table, "--row", 0, code=2).stderr


def test_a_new_category_is_noted(run, model, people, written):
    done = run("explain", model, written(people.assign(town="Rom")), "--row", 3)
    assert "Note: 1 cell holds" in done.stderr or "Note: 1 cells hold" in done.stderr
    assert "'Rom'" in done.stderr
