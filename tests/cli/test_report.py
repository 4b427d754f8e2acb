"""``mixkern report``: a page about a model and its table."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from mixkern import MixtureSVC, load, prepare_table
from mixkern.io import save
from mixkern.report import write_model_report


@pytest.mark.slow
def test_a_page_and_its_summary(run, model, table, tmp_path):
    page = tmp_path / "page.html"
    found = json.loads(run("report", model, table, "-o", page, "--no-figures", "--title", "A <b> & c", "--json").stdout)
    assert found == {"table": "people.csv", "report": str(page), "bytes": page.stat().st_size, "notes": []}
    text = page.read_text()
    assert "A &lt;b&gt; &amp; c" in text
    assert "churn" in text
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert run("report", model, table, "-o", page, "--no-figures").stdout == f"Report: {page}\n"


@pytest.mark.slow
def test_beside_the_model_where_no_place_is_named(run, model, table, tmp_path):
    (tmp_path / "a.mixkern").write_bytes(model.read_bytes())
    run("report", tmp_path / "a.mixkern", table, "--no-figures")
    assert (tmp_path / "a.html").exists()


def test_a_table_without_the_labels(run, model, people, written, tmp_path):
    done = run("report", model, written(people.drop(columns="churn")), "-o", tmp_path / "page.html", code=1)
    assert "mine.csv has no column 'churn', which the labels were learned from." in done.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_a_place_that_cannot_be_written(run, model, table, tmp_path):
    (tmp_path / "file").touch()
    done = run("report", model, table, "-o", tmp_path / "file" / "page.html", "--no-figures", code=1)
    assert "page.html cannot be written: " in done.stderr


@pytest.mark.slow
def test_names_of_all_kinds(run, people, tmp_path):
    strange = people.set_axis(["<script>alert(1)</script>", "🙂 [bold]", "[/]"], axis=1)
    strange.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "--target", "[/]", "--no-estimate")
    run("report", tmp_path / "a.mixkern", tmp_path / "a.csv", "--no-figures")
    text = (tmp_path / "a.html").read_text()
    assert "<script>alert(1)" not in text
    assert "🙂 [bold]" in text


@pytest.mark.parametrize("kept", [["no"], []], ids=["one class", "no labels"])
def test_a_table_with_fewer_labels_than_the_model(run, model, people, written, tmp_path, kept):
    path = written(people.assign(churn=people["churn"].where(people["churn"].isin(kept))))
    done = run("report", model, path, "-o", tmp_path / "page.html", "--no-figures", code=None)
    assert done.exit_code in (0, 1)
    assert (tmp_path / "page.html").exists() == (done.exit_code == 0)


def test_other_labels_than_at_fit_are_noted(run, people, written, model, tmp_path):
    path = written(people.assign(churn=people["churn"].where(np.arange(90) % 3 > 0)))
    done = run("report", model, path, "-o", tmp_path / "a.html", "--no-figures")
    assert "The model was fitted on other labels" in done.stderr
    assert "Labels at fit" in (tmp_path / "a.html").read_text("utf-8")
    assert f"{model.name}" in (tmp_path / "a.html").read_text("utf-8")


@pytest.mark.slow
def test_other_labels_are_noted_for_a_model_that_was_saved_in_python(run, people, written, tmp_path):
    few = people.assign(churn=people["churn"].where(np.arange(90) % 12 < 6))
    table = prepare_table(few, target="churn")
    save(
        MixtureSVC(encoder=table.encoder, random_state=0).fit(table.X, table.y),
        tmp_path / "a.mixkern",
        notes={"target": "churn"},
    )
    for frame, is_noted in ((people, True), (few, False)):
        done = run("report", tmp_path / "a.mixkern", written(frame), "--no-figures")
        assert ("The model was fitted on other labels" in done.stderr) == is_noted


@pytest.mark.slow
def test_rows_have_the_key_that_is_not_learned_from(run, people, tmp_path):
    keyed = people.assign(key=[f"P-{i:03}" for i in range(90)], same="x")
    keyed.to_csv(tmp_path / "a.csv", index=False)
    run("fit", tmp_path / "a.csv", "--target", "churn", "--no-estimate")
    run("report", tmp_path / "a.mixkern", tmp_path / "a.csv", "--no-figures")
    text = (tmp_path / "a.html").read_text("utf-8")
    assert text.count("<bdi>key</bdi></th>") == 2  # suggested and unusual rows
    row = re.search(r">(\d+)</bdi></th><td[^>]*><bdi>P-(\d+)</bdi>", text)
    assert int(row[1]) - 1 == int(row[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"classes": 3, "journal": "a", "accuracy": [], "ignored": {}},
        {"journal": {"name": 4, "entry": "x"}, "classes": {"no": "x"}, "accuracy": {"value": "x"}, "ignored": [3]},
    ],
)
def test_model_files_with_other_notes(run, model, table, tmp_path, notes):
    save(load(model), tmp_path / "a.mixkern", notes={"target": "churn", **notes})
    run("report", tmp_path / "a.mixkern", table, "-o", tmp_path / "a.md")
    text = (tmp_path / "a.md").read_text("utf-8")
    assert "Warning" not in text
    assert "with the same table, these labels, and the same versions, gives the same model:" in text


def test_a_page_ends_like_one(run, table, model, tmp_path):
    assert "does not end like a page" in run("report", model, table, "-o", tmp_path / "a.pdf", code=2).stderr


@pytest.mark.slow
def test_sources_of_labels_are_used(run, people, written, tmp_path, monkeypatch):
    given = []

    def write(*arguments, source, **options):
        given.append(source)
        return write_model_report(*arguments, source=source, **options)

    monkeypatch.setattr("mixkern.cli.report.write_model_report", write)
    path = written(people.assign(label_source=np.where(np.arange(90) % 2, "random", "suggested")))
    run("fit", path, "--target", "churn", "--no-estimate")
    run("report", tmp_path / "mine.mixkern", path, "--no-figures")
    run("report", tmp_path / "mine.mixkern", written(people), "--no-figures")
    assert given[0].tolist() == ["suggested", "random"] * 45
    assert given[1] is None


@pytest.mark.slow
def test_the_estimate_is_that_of_fit(run, table, tmp_path):
    model = tmp_path / "a.mixkern"
    fitted = json.loads(run("fit", table, "--target", "churn", "-o", model, "--json").stdout)
    run("report", model, table, "-o", tmp_path / "a.html", "--no-figures")
    page = (tmp_path / "a.html").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    for sentence in fitted["accuracy"]["in_words"]:
        assert sentence in page


def test_a_name_that_ends_with_md_is_a_card(run, model, table, tmp_path):
    card = tmp_path / "card.md"
    assert run("report", model, table, "-o", card).stdout == f"Card: {card}\n"
    text = card.read_text("utf-8")
    for path, name in ((table, "table"), (model, "model file")):
        assert f"| SHA-256 of the {name} | {hashlib.sha256(path.read_bytes()).hexdigest()} |" in text
    assert "```text\nmixkern fit people.csv --target churn\n```" in text
    assert "## What it must not be used for" in text


@pytest.mark.slow
def test_the_command_of_a_card_fits_the_same_model(run, people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people.assign(id=range(90), town=people["town"].fillna("-9")).to_csv("a b.csv", index=False)
    options = ["--drop", "id", "--gap", "-9", "--seed", "3", "--no-estimate", "-o", "x.mixkern"]
    run("fit", "a b.csv", "--target", "churn", *options)
    before = load("x.mixkern")
    run("report", "x.mixkern", "a b.csv", "-o", "card.md")
    command = Path("card.md").read_text("utf-8").partition("```text\n")[2].partition("\n```")[0]
    assert command == "mixkern fit 'a b.csv' --target churn -o x.mixkern --no-estimate --drop id --gap -9 --seed 3"
    Path("x.mixkern").unlink()
    run(*shlex.split(command)[1:])
    rows = people[["age", "town"]]
    assert (load("x.mixkern").predict_proba(rows) == before.predict_proba(rows)).all()
