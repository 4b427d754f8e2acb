"""What is in the columns."""

import numpy as np

from mixkern.report.model.columns import column_table, telling
from mixkern.report.model.fact import ModelFacts


def test_each_column_is_told(facts):
    rows = column_table(facts).rows
    assert [row[0] for row in rows] == ["size", "town"]
    assert rows[0][1:3] == ("number", "none")
    assert rows[1] == ("town", "2 categories", "none", "Kassel 50 %, Passau 50 %")


def test_gaps_are_counted_in_the_table_that_came(plain):
    model, X, y = plain
    found = ModelFacts.of(model, X.assign(size=np.where(np.arange(120) < 30, np.nan, X["size"])), y, "level")
    assert column_table(found).rows[0][2] == "30 (25 %)"


def test_remarks_of_the_encoder_are_passed_on(nasty, facts):
    assert column_table(facts).columns[-1] == "Values"
    model, X, y = nasty
    table = column_table(ModelFacts.of(model, X, y, "label"))
    assert any(each.remark for each in model.encoder_.columns_) == (table.columns[-1] == "Remark")


def test_the_columns_that_tell_components_apart_come_first(facts):
    (best,) = telling(facts, 1)
    assert best.name == "size"
