"""Facts are counted by all rows, and agree with the model."""

from copy import copy

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC
from mixkern.errors import LabelError, OptionError
from mixkern.report.facts import FitRecord, ModelFacts


def test_they_agree_with_the_model(facts, plain):
    model, X, _ = plain
    assert np.array_equal(model.classes_[facts.predicted], model.predict(X))
    assert np.array_equal(facts.probabilities, model.predict_proba(X))
    assert np.array_equal(facts.components, model.responsibilities(X).argmax(axis=1))
    assert np.array_equal(facts.novelty, model.novelty(X))
    assert facts.sizes.sum() == facts.predicted_counts.sum() == facts.n_rows == 120


def test_the_model_stays_as_it_was(facts, plain):
    model, X, _ = plain
    facts.estimate, facts.gain, facts.suggestions(3)
    assert model.encoder_ is not None
    assert model.probability
    assert list(model.feature_names_in_) == list(X.columns)


def test_labels_that_the_model_does_not_know(plain):
    model, X, y = plain
    more = y.copy()
    more.iloc[[110, 111]] = "huge"
    found = ModelFacts.of(model, X, more, "level")
    assert found.classes == ("high", "low", "huge")
    assert found.label_counts.tolist() == [4, 5, 2]
    assert (found.known_classes, found.unknown_classes) == (("high", "low"), ("huge",))
    assert found.fitted_counts.tolist() == [4, 5, 0]
    assert found.has_other_labels
    assert found.estimate is None  # it would be that of another model


def test_the_estimate_of_a_model_with_other_labels_is_the_recorded_one(plain, facts):
    model, X, y = plain
    more = y.copy()
    more.iloc[[110]] = "low"
    found = ModelFacts.of(model, X, more, "level", at_fit=FitRecord(estimate=facts.estimate))
    assert found.has_other_labels
    assert not found.unknown_classes
    assert found.estimate is facts.estimate
    assert not facts.has_other_labels


def test_models_of_earlier_versions_have_the_labels_of_their_file(plain):
    model, X, y = plain
    old = copy(model)
    del old.n_labels_
    assert ModelFacts.of(old, X, y, "level").fitted_counts is None
    assert not ModelFacts.of(old, X, y, "level").has_other_labels
    same, other = FitRecord({"high": 4, "low": 5}), FitRecord({"high": 4, "low": 6})
    assert not ModelFacts.of(old, X, y, "level", at_fit=same).has_other_labels
    assert ModelFacts.of(old, X, y, "level", at_fit=other).has_other_labels
    assert ModelFacts.of(old, X, y.where(y.notna(), "huge"), "level").has_other_labels


def test_rows_have_names(plain):
    model, X, y = plain
    names = pd.Series([f"no. {i}" for i in range(119)] + [None], name="key")
    found = ModelFacts.of(model, X, y, "level", row_names=names)
    assert (found.row_headings, found.row_cells(7)) == (("Row", "key"), ("8", "no. 7"))
    assert found.row_cells(119) == ("120", "\N{EN DASH}")
    assert ModelFacts.of(model, X, y, "level", row_names=["x"] * 120).row_headings == ("Row", "Name")
    with pytest.raises(OptionError, match=r"row_names must have a name for each of the 120 rows, but it has 3\."):
        ModelFacts.of(model, X, y, "level", row_names=["a", "b", "c"])


@pytest.mark.parametrize("kernel", ["rwm", "gmm", "rbf", "lap"])
@pytest.mark.slow
def test_labelled_rows_with_gaps(plain, kernel):
    _, X, y = plain
    gappy = X.assign(size=X["size"].where(np.arange(120) % 4 > 0))
    model = MixtureSVC(kernel, random_state=0).fit(gappy, y)
    found = ModelFacts.of(model, gappy, y, "level")
    assert found.gain is not None
    assert found.estimate.value is not None
    assert np.isfinite(found.novelty).all()


def test_one_class_only_is_no_error(plain):
    model, X, _ = plain
    found = ModelFacts.of(model, X, ["low"] * 3 + [None] * 117, "level")
    assert found.estimate is None  # the model was fitted on other labels
    assert found.gain is None


def test_suggestions_are_no_more_than_there_are_rows(plain):
    model, X, y = plain
    full = y.where(y.notna(), "low")
    full.iloc[[5, 6]] = None
    assert len(ModelFacts.of(model, X, full, "level").suggestions(10)) == 2
    assert ModelFacts.of(model, X, y.where(y.notna(), "low"), "level").suggestions(10) is None


def test_what_is_no_model_is_refused(plain):
    with pytest.raises(OptionError, match="model must be a fitted MixtureSVC"):
        ModelFacts.of("model.mixkern", *plain[1:], "level")


def test_the_column_that_differs_most_between_components(facts):
    (best,) = facts.distinct_features(1)
    assert best.name == "size"
    assert facts.distinct_features(2) == list(facts.features)


def test_texts_are_shown_as_they_are_written(commented):
    _, X, _ = commented
    facts = ModelFacts.of(*commented, "about")
    assert [each.name for each in facts.distinct_features(6)] == ["size", "note"]
    assert [each.name for each in facts.distinct_features(1)] == ["note"]
    shown = facts.distinct_features(1)
    assert facts.cells(shown, 3) == (X["note"][3],)
    assert facts.cells(shown, 7) == ("\N{EN DASH}",)
    name, kind, gaps, values, _ = shown[0].description(facts.rows[:, shown[0].position])
    assert (name, kind, gaps) == ("note", "text", "1 (1 %)")
    assert values.startswith("texts, encoded as ")


def test_sources_are_read_and_given_to_the_estimate(plain, monkeypatch):
    model, X, y = plain
    given = []
    monkeypatch.setattr("mixkern.report.facts.estimated_accuracy", lambda *_, source, **__: given.append(source))
    ModelFacts.of(model, X, y, "level", ["suggested", *[""] * 119]).estimate  # noqa: B018
    assert given[0].tolist() == ["suggested", *[None] * 119]
    assert ModelFacts.of(model, X, y, "level").source.tolist() == [None] * 120
    with pytest.raises(LabelError, match="source holds 'expert' in row 1"):
        ModelFacts.of(model, X, y, "level", ["expert"] * 120)
