"""The summary of a report."""

from mixkern.report.facts import ModelFacts
from mixkern.report.summary import help_of_unlabelled, sentences, steps, tiles


def test_the_figures_are_those_of_the_table(facts):
    found = {tile.text.partition(",")[0]: tile.figure for tile in tiles(facts).tiles}
    assert found["rows"] == "120"
    assert found["labels"] == "9"
    assert found["estimated accuracy"].endswith(" %")


def test_the_words_say_what_there_is_and_how_sure_it_is(facts):
    table, learned, sure = sentences(facts)
    text = table.replace("\N{FIRST STRONG ISOLATE}", "").replace("\N{POP DIRECTIONAL ISOLATE}", "")
    assert text == (
        "The table has 120 rows and 2 columns. 9 of the rows have a label in the column “level”: 5 “low” and 4 “high”."
    )
    assert "The classifier predicts" in learned
    assert sure.startswith("The predicted label has a probability of 90 % or more for ")
    assert sure.endswith(f" of the rows. {facts.estimate.baseline_sentence}")


def test_steps_begin_with_groups_that_have_no_label(facts):
    first, *others = steps(facts, 10)
    assert first.startswith("Label rows of components without a label: component")
    assert any("suggested below" in step for step in others)
    assert not any("suggested below" in step for step in steps(facts, 0))


def test_all_labelled_needs_no_more_labels(plain):
    model, X, y = plain
    found = ModelFacts.of(model, X, y.where(y.notna(), "low"), "level")
    assert not any("Label" in step for step in steps(found, 10))
    assert help_of_unlabelled(found) == ["Nothing is unlabelled."]


def test_help_names_the_interval(facts, plain):
    first, *why = help_of_unlabelled(facts)
    assert "one learned from the labelled rows alone (95 % interval" in first
    assert any("components" in reason for reason in why)
    model, X, _ = plain
    assert help_of_unlabelled(ModelFacts.of(model, X, None, "level")) == ["This cannot be estimated without labels."]
