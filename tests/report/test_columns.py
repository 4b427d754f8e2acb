"""Columns, and encoded values in the table's own units."""

import numpy as np
import pandas as pd
import pytest

from mixkern import MixtureSVC
from mixkern.report.columns import GAP, features

X = pd.DataFrame(
    {
        "town": ["Kassel", "Passau"] * 15,
        "age": np.linspace(20, 60, 30) + 0.123456,
        "day": pd.date_range("2024-01-01", periods=30),
        "took": pd.to_timedelta(np.arange(30), unit="h"),
    }
)


@pytest.fixture(scope="module")
def model():
    return MixtureSVC(random_state=0).fit(X, ["a", "b"] * 4 + [None] * 22)


def test_they_stand_in_the_order_of_the_table(model):
    found = features(model)
    assert [each.name for each in found] == ["town", "age", "day", "day: weekday", "took"]
    assert [each.position for each in found] == [3, 0, 1, 4, 2]


def test_values_are_said_as_the_table_has_them(model):
    first = model.encoder_.transform(X)[0]
    town, age, day, weekday, took = (each.text(first[each.position]) for each in features(model))
    assert (town, day, weekday, took) == ("Kassel", "2024-01-01", "Monday", "0 hours")
    assert age == "20"
    assert [each.exact_text(first[each.position]) for each in features(model)] == [
        "Kassel",
        "20.123456",
        "2024-01-01",
        "Monday",
        "0 hours",
    ]


def test_gaps_and_new_categories(model):
    town, age, *_ = features(model)
    assert town.text(2.0) == "(other)"
    assert age.text(np.nan) == town.exact_text(np.nan) == GAP


def test_rows_that_came_encoded_have_numbers_for_names(model):
    own = MixtureSVC(density=model.mixture_).fit(model.encoder_.transform(X), ["a", "b"] * 4 + [None] * 22)
    found = features(own)
    assert [each.name for each in found] == ["x0", "x1", "x2", "x3", "x4"]
    assert found[0].text(1.23456) == "1.23"
    assert found[3].text(1.0) == "1"
