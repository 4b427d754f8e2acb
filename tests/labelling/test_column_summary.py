"""Histograms and shares of columns, against counts that are made row by row."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixkern.labelling import LabelTable
from mixkern.labelling.column_summary import (
    MOST_COMMON,
    N_BINS,
    OTHER_VALUE,
    CategorySummary,
    NumberSummary,
    TextSummary,
    column_summaries,
    short_dates,
)
from mixkern.wording import brief


def summary_of(values, n=40):
    """The summary of a column, beside one that is surely learned from."""
    values = [values[i % len(values)] for i in range(max(n, len(values)))]
    X = pa.table(
        {
            "column": pa.array(values) if not isinstance(values, pa.Array) else values,
            "b": np.arange(len(values)) % 7 / 2,
        }
    )
    return column_summaries(LabelTable.of(X, target="risk"))[0]


def numbers(values):
    return NumberSummary.of(np.asarray(values, dtype=float), brief)


# ---------------------------------------------------------------- numbers


@given(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=1, max_size=60))
@settings(deadline=None)
def test_every_number_is_in_the_histogram_and_every_place_is_between_its_ends(values):
    summary = numbers(values)
    assert len(summary.counts) == N_BINS
    assert sum(summary.counts) == sum(np.isfinite(values))
    for at, value in enumerate(values):
        place = summary.facts(at)["histogram"]["at"]
        assert (place is None) == bool(np.isnan(value))
        assert place is None or 0 <= place <= 1


def test_the_place_of_a_value_lies_in_its_bin():
    values = np.random.default_rng(0).uniform(-3, 5, 200)
    summary = numbers(values)
    edges = np.linspace(summary.low, summary.high, N_BINS + 1)
    expected = [0] * N_BINS
    for at, value in enumerate(values):
        place = summary.facts(at)["histogram"]["at"]
        expected[min(int(place * N_BINS), N_BINS - 1)] += 1
        assert edges[0] + place * (edges[-1] - edges[0]) == pytest.approx(np.clip(value, summary.low, summary.high))
    assert list(summary.counts) == expected


def test_a_few_extreme_values_do_not_flatten_the_histogram():
    summary = numbers([*range(1000), 1e9])
    assert summary.high < 1000
    assert summary.facts(1000)["histogram"]["at"] == 1
    assert summary.texts == ("5", "995")


def test_a_value_is_unusual_where_few_rows_are_beyond_it():
    values = np.arange(1000.0)
    summary = numbers(values)
    unusual = [summary.facts(at)["unusual"] for at in range(1000)]
    assert unusual[999] == "Higher than 99.9 % of rows."
    assert [bool(text) for text in unusual] == [
        (values < value).mean() >= 0.99 or (values > value).mean() >= 0.99 for value in values
    ]
    assert all("Lower" in text for text in unusual[:10])


def test_equal_values_are_not_unusual():
    summary = numbers([3.0] * 50)
    assert summary.facts(0) == {
        "histogram": {"counts": summary.counts, "at": 0.5, "low": "3", "high": "3", "ends": ("3", "3")},
        "unusual": "",
    }
    assert sum(summary.counts) == 50


def test_a_column_of_one_frequent_value_still_shows_the_others():
    summary = numbers([0.0] * 999 + [7.0])
    assert (summary.low, summary.high) == (0, 7)
    assert summary.facts(999)["histogram"]["at"] == 1
    assert summary.facts(999)["unusual"]


def test_a_column_of_gaps_has_an_empty_histogram():
    summary = numbers([np.nan] * 5)
    assert sum(summary.counts) == 0
    assert summary.facts(0)["histogram"]["at"] is None


@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.3 - 0.2],
        [1e17, 1e17 + 16],
        [0.0, 5e-324],
        [-1.7e308, 1.7e308],
        [1e-300, 1e300],
        [np.inf, 1.0, 2.0, -np.inf],
        [-0.0, 0.0],
    ],
    ids=str,
)
def test_numbers_at_the_limits_of_floats(values):
    summary = numbers(values * 10)
    assert sum(summary.counts) == np.isfinite(values).sum() * 10
    facts = [summary.facts(at) for at in range(len(values))]
    json.dumps(facts, allow_nan=False)


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3, None], [2**60 + 1, 2**60 + 3, 5, 7], [0.5, 1.5, None, None], [-1, 2**53, 0, 5]],
    ids=str,
)
def test_columns_of_numbers(values):
    summary = summary_of(values)
    assert summary.kind == "number"
    assert sum(summary.counts) == sum(value is not None for value in values) * 40 // len(values)


# ---------------------------------------------------------------- categories


def test_shares_are_those_of_all_rows():
    summary = summary_of(["m", "w", "m", None], 40)
    assert summary.kind == "category"
    assert summary.facts(0) == {
        "share": 0.5,
        "common": ({"text": "m", "share": 0.5}, {"text": "w", "share": 0.25}),
        "unusual": "",
    }
    assert summary.facts(3)["share"] is None


def test_the_most_frequent_categories_are_listed():
    summary = summary_of([f"{letter}" for i, letter in enumerate("abcdefgh") for _ in range(8 - i)], 36)
    assert [each["text"] for each in summary.facts(0)["common"]] == list("abcdefgh")[:MOST_COMMON]


def test_a_rare_category_is_unusual():
    summary = summary_of(["a"] * 150 + ["b"] * 149 + ["z"], 300)
    assert summary.facts(0)["unusual"] == ""
    assert summary.facts(299)["unusual"].endswith(" of rows have this value.")


def test_a_category_among_many_equally_rare_ones_is_not_unusual():
    values = [f"c{i}" for i in range(150)] * 3
    assert summary_of(values).facts(0)["unusual"] == ""


@pytest.mark.parametrize("values", [[True, False, None], ["x", "y"], ["<b>&'\"", "\u202e\x00\x1f"]], ids=str)
def test_columns_of_categories(values):
    summary = summary_of(values)
    assert summary.kind == "category"
    facts = summary.facts(0)
    assert facts["share"] == pytest.approx(1 / len(values), abs=0.02)
    assert values[0] in (True, *[each["text"] for each in facts["common"]])


def test_categories_of_pandas_and_long_names_are_cut_in_the_list():
    X = pd.DataFrame({"a": pd.Categorical(["x" * 90, "y"] * 20), "b": np.arange(40) % 7 / 2})
    facts = column_summaries(LabelTable.of(X, target="risk"))[0].facts(0)
    assert facts["share"] == 0.5
    assert [len(each["text"]) for each in facts["common"]] == [60, 1]


# ---------------------------------------------------------------- dates, texts, others


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2020, 1, 1), dt.date(2021, 6, 1), None],
        [dt.datetime(2020, 1, 1, 10), dt.datetime(2021, 6, 1, 11), None],
        [dt.datetime(2020, 1, 1, 10, 0, 0, 123), dt.datetime(2021, 6, 1, 11, 0, 0, 5), None],
        [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2021, 6, 1, tzinfo=dt.UTC), None],
    ],
    ids=["date", "seconds", "microseconds", "zone"],
)
def test_dates_have_a_histogram(values):
    summary = summary_of(values)
    assert summary.kind == "number"
    assert summary.texts == ("2020-01-01", "2021-06-01")
    assert summary.ends == ("2020", "2021")
    assert [summary.facts(at)["histogram"]["at"] for at in range(3)] == [0, 1, None]


@pytest.mark.parametrize("values", [[dt.time(1, 2), dt.time(3)], [dt.timedelta(1), dt.timedelta(2)]], ids=str)
def test_times_of_day_and_durations_are_summarised(values):
    json.dumps(summary_of(values).facts(0), allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [
        ("1895-03-01", "2026-11-18", ("1895", "2026")),
        ("2026-01-02", "2026-11-30", ("2 Jan", "30 Nov")),
        ("2026-01-02T08:15:00", "2026-01-02T17:45:10", ("08:15", "17:45")),
        ("2026-01-02T08:15:00", "2026-01-02T08:15:10", ("08:15:00", "08:15:10")),
        ("2026-01-02", "2026-01-02", ("2026", "2026")),
        ("-044-03-15", "12026-01-01", ("-044", "12026")),
    ],
)
def test_the_ends_of_dates_are_short_and_differ(low, high, ends):
    assert short_dates(*(float(np.datetime64(each, "s").astype(int)) for each in (low, high))) == ends


def test_long_texts_are_not_compared():
    summary = summary_of([f"{i % 20} " + "word " * 30 for i in range(40)])
    assert summary.kind in ("text", "other")
    assert summary.facts(0) == {"unusual": ""}


@pytest.mark.parametrize(
    "values", [[None], ["same"], [1.0], [f"id{i}" for i in range(60)]], ids=lambda each: str(each[:2])
)
def test_columns_that_are_not_learned_from_are_others(values):
    summary = summary_of(values)
    assert summary.kind == "other"
    assert summary.facts(0) == {"unusual": ""}


def test_there_is_a_summary_for_each_column_in_its_order(table):
    assert [summary.kind for summary in column_summaries(table)] == ["other", "number", "number", "category"]


# ---------------------------------------------------------------- differences of two rows


def test_numbers_differ_by_the_share_of_rows_between_them():
    numbers = np.array([5.0, 1.0, 2.0, 2.0, 9.0, np.nan, np.nan, 2.0])
    summary = NumberSummary.of(numbers, str)
    known = numbers[np.isfinite(numbers)]
    for i, first in enumerate(numbers):
        for j, second in enumerate(numbers):
            if np.isnan(first) or np.isnan(second):
                expected = 0.0 if np.isnan(first) and np.isnan(second) else OTHER_VALUE
            elif first == second:
                expected = 0.0
            else:
                between = [each for each in known if min(first, second) < each < max(first, second)]
                expected = (len(between) + 1) / len(known)
            assert summary.difference(i, j) == pytest.approx(expected)


def test_categories_differ_or_not():
    summary = CategorySummary.of(pa.array(["m", "w", None, "m", None]), {"m": 2, "w": 1})
    assert [summary.difference(0, at) for at in range(5)] == [0.0, OTHER_VALUE, OTHER_VALUE, 0.0, OTHER_VALUE]
    assert summary.difference(2, 4) == 0.0


def test_texts_are_not_compared():
    assert TextSummary("text").difference(0, 1) == 0.0
