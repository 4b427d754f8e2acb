"""Model cards: what follows from a model and its table, and what names and cells cannot do to Markdown."""

import hashlib
import re

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC
from mixkern.density import VBMixture
from mixkern.report import write_model_card
from mixkern.report.blocks import Tiles
from mixkern.report.card import _markdown, card_blocks, file_facts, limits_of_use
from mixkern.report.facts import FitRecord, ModelFacts

pytestmark = pytest.mark.slow

CHAPTERS = [
    "Data",
    "Labels",
    "Estimated accuracy",
    "What it must not be used for",
    "How to fit it again",
    "Files, settings and versions",
]


@pytest.fixture(scope="module")
def card(plain, tmp_path_factory):
    path = tmp_path_factory.mktemp("card") / "deep" / "card.md"
    sources = [None] * 120
    sources[0:3], sources[60] = ["random"] * 3, "suggested"
    facts = {"SHA-256 of the table": "abc"}
    written = write_model_card(*plain, path, target="level", source=sources, facts=facts, command="mixkern fit a.csv")
    assert written == path
    return path.read_text("utf-8")


def test_all_chapters_are_there(card):
    assert card.startswith("# Predicting level\n\nModel card, written 20")
    assert re.findall("^## (.*)$", card, re.MULTILINE) == CHAPTERS


def test_data_and_labels_are_counted(card):
    assert "The table has 120 rows and 2 columns that the model learns from. It predicts “level”." in card
    sources = "3 drawn at random, 1 suggested by mixkern and 5 chosen in a way that is not recorded"
    assert f"9 of 120 rows have a label: {sources}." in card
    assert re.search(r"\| high \| 4 \| \d+ \|", card)
    assert re.search(r"\| low \| 5 \| \d+ \|", card)
    assert re.search(r"\| town \| [\d.]+ % \| 2 categories \| none \|", card)


def test_the_accuracy_is_the_one_of_the_report(card, plain):
    model, X, y = plain
    source = [None] * 120
    source[0:3], source[60] = ["random"] * 3, "suggested"
    estimate = ModelFacts.of(model, X, y, "level", source).estimate
    assert all(sentence in card for sentence in estimate.sentences)


def test_files_and_the_command_are_there(card):
    assert "| SHA-256 of the table | abc |" in card
    assert "```text\nmixkern fit a.csv\n```" in card


def test_without_a_command_there_is_code(plain, tmp_path):
    text = write_model_card(*plain, tmp_path / "a.md").read_text("utf-8")
    assert "```text\nMixtureSVC(random_state=0).fit(X, y)\n```" in text


def test_a_model_with_other_labels(plain, facts, tmp_path):
    model, X, y = plain
    more = y.copy()
    more.iloc[[110, 111]], more.iloc[[20]] = "huge", "low"
    text = write_model_card(model, X, more, tmp_path / "a.md", target="level").read_text("utf-8")
    assert (
        "> **Warning: This model was fitted on other labels.** It was fitted on 9 labels (4 “high” and 5 “low”); the"
        in text
    )
    assert "the table has 12 labels now (4 “high”, 6 “low” and 2 “huge”). It does not know the class “huge”" in text
    assert "The accuracy of this model is not recorded in its file" in text
    assert "This line has fitted the model, with the labels of that time. With the labels that the table" in text
    assert "gives the same model" not in text
    record = FitRecord(estimate=facts.estimate, journal="a.labels", entry=1234)
    text = write_model_card(model, X, more, tmp_path / "a.md", target="level", at_fit=record).read_text("utf-8")
    assert "This was estimated when the model was fitted, with the labels of that time:" in text
    assert facts.estimate.sentences[0] in text
    assert "| huge |" in text
    assert re.search(r"\| high \| \d+ % ", text)
    assert not re.search(r"\| huge \| \d+ % ", text)
    assert "with the labels of a.labels up to entry 1,234. With the labels" in text


def test_limits_follow_from_the_table(facts):
    found = "\n".join(limits_of_use(facts))
    assert "Other classes than “high” and “low”: it predicts no others." in found
    assert "classes with fewer than 10 labels: “high” (4) and “low” (5)." in found
    sizes = facts.rows[:, 0] * 1.0
    assert len(sizes) == 120
    assert re.search(r"Values outside those of the table \(“size” from -\d.* to 1\d", found)
    assert "it uses “size” and “town”." in found


def test_components_without_a_label_are_named(facts):
    assert re.search(
        r"Rows of component \d \(\d+ % of the table\): no row there has a label", "\n".join(limits_of_use(facts))
    )


def test_limits_of_other_models(plain):
    _, X, y = plain
    without = MixtureSVC(probability=False, random_state=0).fit(X, y)
    assert any("fitted without probabilities" in each for each in limits_of_use(ModelFacts.of(without, X, y, "level")))
    supervised = MixtureSVC(density=VBMixture(use_labels=True), random_state=0).fit(X, y)
    assert any("could not be estimated" in each for each in limits_of_use(ModelFacts.of(supervised, X, y, "level")))
    towns = MixtureSVC(random_state=0).fit(X[["town"]].assign(two=X["town"]), y)
    found = limits_of_use(ModelFacts.of(towns, X[["town"]].assign(two=X["town"]), y, "level"))
    assert any(each.startswith("Categories that the table does not have") for each in found)


def test_a_class_that_is_mostly_missed_is_named(facts, monkeypatch):
    monkeypatch.setitem(facts.estimate.per_class, "low", 0.3)
    assert any("Finding the rows of “low”" in each for each in limits_of_use(facts))


def test_a_table_without_labels(plain, tmp_path):
    model, X, y = plain
    nothing = pd.Series([None] * len(y), dtype=object)
    text = write_model_card(model, X, nothing, tmp_path / "a.md").read_text("utf-8")
    assert "No row of this table has a label." in text
    assert "it could not be estimated" in text


def test_names_and_cells_are_text_in_markdown(nasty, tmp_path):
    text = write_model_card(*nasty, tmp_path / "a.md", target="# a `b` | <c>").read_text("utf-8")
    assert re.findall("^## (.*)$", text, re.MULTILINE) == CHAPTERS
    assert not re.search(r"(?<!\\)<", text)
    assert "\x00" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4, 5, 7)


def test_the_report_has_the_chapter(facts):
    kinds = [type(block).__name__ for block in card_blocks(facts, "mixkern fit a.csv")]
    assert kinds == ["Heading", "Paragraph", "Bullets", "Heading", "Paragraph", "Heading", "Paragraph", "Code"]


def test_other_blocks_have_no_place_in_a_card():
    with pytest.raises(TypeError, match="A card has no block of type Tiles"):
        _markdown(Tiles(()))


def test_files_have_their_hash(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n")
    assert file_facts(table=path, model_file="no such file") == {
        "Table": "a.csv",
        "SHA-256 of the table": hashlib.sha256(b"a,b\n").hexdigest(),
        "Model file": "no such file",
    }


def test_wide_and_narrow_intervals(facts, monkeypatch):
    low, high = facts.estimate.interval
    found = [each for each in limits_of_use(facts) if each.startswith("Anything that needs an accuracy")]
    assert len(found) == (high - low > 0.2)
    assert np.isfinite([low, high]).all()
