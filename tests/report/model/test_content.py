"""Chapters: the labels to ask for, unusual rows, settings."""

import numpy as np
import pytest

from mixkern.report.model.content import sections
from mixkern.report.model.fact import ModelFacts


@pytest.fixture(scope="module")
def chapters(facts):
    found = sections(facts, n_suggestions=4, figures=False, more={"File": "mine.csv"})
    return {chapter.name: chapter.blocks for chapter in found}


def test_suggestions_have_row_numbers_and_values(chapters, facts, plain):
    (table,) = chapters["next"]
    assert table.columns == ("Row", "size", "town", "Why")
    assert len(table.rows) == 4
    _, X, y = plain
    for row, size, town, _ in table.rows:
        i = int(row) - 1
        assert y[i] is None
        assert (float(size), town) == (pytest.approx(X["size"][i], rel=1e-8), X["town"][i])


def test_the_most_unusual_row_is_first(plain):
    model, X, y = plain
    strange = X.copy()
    strange.loc[100, "size"] = 500.0
    found = sections(ModelFacts.of(model, strange, y, "level"), n_suggestions=0, figures=False, more={})
    (table,) = next(chapter.blocks for chapter in found if chapter.name == "unusual")
    assert table.rows[0][:2] == ("101", "500")
    assert table.rows[0][-1] == "100 %"
    assert len(table.rows) == 8


def test_each_class_has_a_line(chapters, facts):
    table = next(block for block in chapters["accuracy"] if getattr(block, "name", "") == "classes")
    assert [row[:2] for row in table.rows] == [("high", "4"), ("low", "5")]
    assert sum(int(row[2]) for row in table.rows) == 120


def test_settings_come_with_versions_and_what_was_added(chapters):
    (table,) = chapters["settings"]
    told = dict(table.rows)
    assert told["File"] == "mine.csv"
    assert told["Target"] == "level"
    assert told["numpy"] == np.__version__
    assert "MixtureSVC(random_state=0)" in told["Model"]
