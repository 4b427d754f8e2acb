"""Cards of components."""

import numpy as np
import pytest

from mixkern import MixtureSVC, VBMixture
from mixkern.report import components
from mixkern.report.blocks import Cards, Paragraph, Tile
from mixkern.report.components import component_blocks, shown_components, without_label
from mixkern.report.facts import ModelFacts
from mixkern.report.summary import tiles


def cards(facts):
    return next(block for block in component_blocks(facts) if isinstance(block, Cards)).cards


def test_the_largest_comes_first_and_all_rows_are_counted(facts):
    shown = shown_components(facts)
    assert facts.sizes[shown].tolist() == sorted(facts.sizes, reverse=True)
    assert cards(facts)[0].about == "60 rows, 50 %"


def test_groups_without_a_label_are_marked(facts):
    empty = without_label(facts)
    assert empty
    for card, k in zip(cards(facts), shown_components(facts), strict=True):
        assert bool(card.warning) == (k in empty)
        assert card.title == f"Component {k}"


def test_labels_and_predictions_are_counted_by_class(facts):
    labels, predicted = cards(facts)[0].lines
    assert labels[0] == "5 labels"
    assert [(share.name, share.amount) for share in labels[1]] == [("low", "5")]
    assert [(share.name, share.amount) for share in predicted[1]] == [("low", "100 %")]


def test_what_is_typical_stands_beside_all_rows(facts, plain):
    _, X, _ = plain
    rows = {name: (here, whole) for name, here, whole in cards(facts)[0].rows}
    assert rows["town"] == ("Kassel (100 %)", "50 %")
    low, high = map(float, rows["size"][0].split(" to "))
    assert np.allclose([low, high], np.quantile(X["size"][:60], [0.25, 0.75]), atol=0.06)


def test_more_components_than_cards_are_counted(facts, monkeypatch):
    monkeypatch.setattr(components, "MOST_CARDS", 1)
    blocks = component_blocks(facts)
    assert len(blocks[1].cards) == 1
    assert isinstance(blocks[-1], Paragraph)
    assert "with 60 rows and 4 labels in all" in blocks[-1].text


def test_one_component_is_no_group(plain):
    X = plain[1].assign(size=np.random.RandomState(0).normal(size=120), town=["Kassel", "Passau"] * 60)
    model = MixtureSVC(density=VBMixture(n_components=1), random_state=0).fit(X, plain[2])
    facts = ModelFacts.of(model, X, plain[2], "level")
    assert component_blocks(facts)[0] == Paragraph("The density has 1 component: the rows form no groups.")
    assert Tile("1", "component") in tiles(facts).tiles


@pytest.mark.slow
def test_texts_are_described_by_parts_of_words(commented):
    facts = ModelFacts.of(*commented, "about")
    rows = [row for card in cards(facts) for row in card.rows if row[0].startswith("note")]
    assert {name for name, _, _ in rows} == {"note"}
    assert any("late" in here or "parcel" in here or "delivery" in here for _, here, _ in rows)
    assert "parts of words" in component_blocks(facts)[0].text
    assert tiles(facts).tiles[1] == Tile("2", "columns")
