"""Tests of the reasons for suggestions."""

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC, datasets
from mixkern.advice import suggest, suggestion_table
from mixkern.errors import OptionError


@pytest.fixture(scope="module")
def rings():
    X, y = datasets.make_two_rings(200, random_state=0)
    X.flags.writeable = False
    names = np.where(y == y[0], "inner", "outer")
    few = [name if i < 12 else None for i, name in enumerate(names)]
    return X, few


def test_rows_are_those_that_are_suggested(rings):
    X, few = rings
    table = suggestion_table(X, 6, few, random_state=0)
    assert table["position"].tolist() == suggest(X, 6, few, random_state=0).tolist()
    assert table.index.tolist() == [1, 2, 3, 4, 5, 6]


def test_sources_are_listed_and_random_rows_come_last(rings):
    X, few = rings
    table = suggestion_table(X, 10, few, random_state=0)
    assert list(table)[:2] == ["position", "source"]
    assert table["source"].tolist() == ["suggested"] * 8 + ["random"] * 2
    drawn = table["reason"].str.startswith("Drawn at random, to measure the accuracy; ")
    assert drawn.tolist() == [False] * 8 + [True] * 2
    assert table["reason"].iloc[-1].count("tands for") == 1
    pure = suggestion_table(X, 8, few, audit=0, random_state=0)
    assert pure["position"].tolist() == table["position"].tolist()[:8]
    assert set(pure["source"]) == {"suggested"}
    assert set(suggestion_table(X, 3, few, audit=1, random_state=0)["source"]) == {"random"}


def test_without_labels_suggestions_stand_for_all_rows(rings):
    table = suggestion_table(rings[0], 5, random_state=0)
    assert table["stands_for"].sum() == 200
    assert table["share"].sum() == pytest.approx(1)
    assert (table["stands_for"] > 0).all()
    assert "prediction" not in table


def test_with_labels_labelled_rows_stand_for_some(rings):
    X, few = rings
    table = suggestion_table(X, 5, few, random_state=0)
    assert 0 < table["stands_for"].sum() < 200


def test_component_and_novelty_are_those_of_the_density(rings):
    X, few = rings
    model = MixtureSVC(random_state=0).fit(X, few)
    table = suggestion_table(X, 5, few, model=model, random_state=0)
    picks = X[table["position"]]
    assert table["component"].tolist() == model.responsibilities(picks).argmax(axis=1).tolist()
    np.testing.assert_allclose(table["novelty"], model.novelty(picks), atol=0.02)


@pytest.mark.parametrize("fit_first", [True, False])
@pytest.mark.slow
def test_predictions_are_those_of_the_model(rings, fit_first):
    X, few = rings
    fitted = MixtureSVC(random_state=0).fit(X, few)
    table = suggestion_table(X, 5, few, model=fitted if fit_first else None, random_state=0)
    probabilities = np.sort(fitted.predict_proba(X[table["position"]]), axis=1)
    assert table["prediction"].tolist() == list(fitted.predict(X[table["position"]]))
    np.testing.assert_allclose(table["margin"], probabilities[:, -1] - probabilities[:, -2], atol=1e-9)


@pytest.mark.slow
def test_a_reason_is_a_sentence_with_the_figures_of_its_row(rings):
    X, few = rings
    for y in (None, few):
        table = suggestion_table(X, 5, y, random_state=0)
        for row in table.to_dict("records"):
            assert row["reason"][0].isupper()
            assert row["reason"].endswith(".")
            assert f"tands for {row['stands_for']} row" in row["reason"]
            if y is not None:
                assert ("ndecided between" in row["reason"]) == (row["margin"] < 0.2)
                assert repr(row["prediction"]) in row["reason"]


def test_labels_of_one_class_predict_nothing(rings):
    table = suggestion_table(rings[0], 3, ["inner"] * 4 + [None] * 196, random_state=0)
    assert "margin" not in table


def test_frames_keep_the_type_of_their_labels():
    iris = datasets.load("iris")
    y = pd.Series(iris.few_labels(per_class=3, random_state=0))
    table = suggestion_table(iris.X, 4, y, random_state=0)
    assert set(table["prediction"]) <= set(iris.y)


def test_a_model_without_probabilities_has_no_margin(rings):
    X, few = rings
    model = MixtureSVC(probability=False, random_state=0).fit(X, few)
    with pytest.raises(OptionError, match="Fit it with probability=True"):
        suggestion_table(X, 2, few, model=model)


def test_too_many_suggestions_are_refused_before_any_work(rings):
    with pytest.raises(OptionError, match="At most 200 can be suggested"):
        suggestion_table(rings[0], 201)
