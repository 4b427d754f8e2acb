import datetime as dt
import warnings

import numpy as np
import pandas as pd
import pytest

from mixkern.encoding import TableEncoder
from mixkern.encoding.cell import Kind
from mixkern.encoding.column import CategoricalColumn
from mixkern.encoding.date import seasons, weekdays
from mixkern.errors import ColumnChoiceWarning, ExportError
from mixkern.export import table_input
from mixkern.export.graph import Graph
from mixkern.export.table_input import encoded_rows, encoded_table, numeric_categories

N = 240


@pytest.fixture(scope="module")
def frame():
    random = np.random.RandomState(0)
    season = np.arange(N) % 4
    table = pd.DataFrame(
        {
            "age": random.randn(N) * 10 + 40,
            "big": 1e9 + 1e-3 * random.randn(N),
            "kind": np.array(["a", "b", "c"], dtype=object)[random.randint(3, size=N)],
            "flag": random.rand(N) < 0.5,
            "level": random.randint(2, size=N),
            "since": pd.Timestamp("2015-01-01") + pd.to_timedelta(random.randint(3000, size=N), unit="D"),
            "took": pd.to_timedelta(random.rand(N), unit="h"),
            "nothing": np.full(N, np.nan),
            "grade": pd.Categorical(np.array([1, 2, 3])[random.randint(3, size=N)]),
            "price": [f"${value:.2f}" for value in random.rand(N) * 100],
            "key": np.array([2**60, 2**60 + 1, 7], dtype=object)[random.randint(3, size=N)],
        }
    )
    table["age"] += 20 * np.isin(table["since"].dt.quarter, [1, 2]) + season * 0
    return table


@pytest.fixture(scope="module")
def encoder(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableEncoder(continuous=["price"], categorical=["key", "level"]).fit(frame)


def cells_of(column):
    """Cells of a column as an exported model takes them."""
    if column.dtype.kind == "M":
        days = column.to_numpy("datetime64[us]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64) / 86_400e6)[:, None]
    if column.dtype.kind == "m":
        return (column.dt.total_seconds().to_numpy() / 86_400)[:, None]
    return column.to_numpy(dtype=float, na_value=np.nan)[:, None]


def encoded(encoder, frame, session, dtype="float64"):
    graph = Graph()
    graph.reserve(["numbers", "codes"])
    table = encoded_table(graph, encoder, dtype)
    graph.output("numbers", table.numbers, ["N", encoder.n_continuous_])
    if table.codes is not None:
        graph.output("codes", table.codes, ["N", len(encoder.categorical_)])
    feed = {}
    for each in table.inputs:
        column = frame[each.column]
        if each.dtype == "string":
            texts = ["" if cell is None or cell != cell else str(cell) for cell in column]
            feed[each.name] = np.array(texts, dtype=object)[:, None]
        elif each.column == "price":
            feed[each.name] = column.str.lstrip("$").astype(float).to_numpy()[:, None]
        else:
            feed[each.name] = cells_of(column).astype(dtype)
    found = session(graph.model(doc="", version="0", metadata={})).run(None, feed)
    return table, np.hstack([found[0], *(np.where(each < 0, np.nan, each) for each in found[1:])])


def transformed(encoder, frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encoder.transform(frame)


def test_every_kind_of_column_is_encoded_as_by_the_encoder(encoder, frame, session):
    table, found = encoded(encoder, frame, session)
    assert {"since: season", "since: weekday"} <= set(encoder.categorical_)
    np.testing.assert_allclose(found, transformed(encoder, frame), rtol=1e-12, atol=1e-12)
    assert {each.column: each.dtype for each in table.inputs} == {
        **dict.fromkeys(frame.columns, "float64"),
        **dict.fromkeys(["kind", "grade", "key"], "string"),
    }


def test_gaps_and_unseen_categories(encoder, frame, session):
    other = frame.head(8).copy()
    other["level"] = other["level"].astype(float)
    other["flag"] = other["flag"].astype("boolean")
    for i, name in enumerate(["age", "kind", "flag", "level", "since", "took"]):
        other.loc[i, name] = None
    other.loc[6, "kind"], other.loc[7, "kind"] = "new", "NA"
    other.loc[6, "level"] = 5
    other.loc[6, "key"] = 8
    _, found = encoded(encoder, other, session)
    expected = transformed(encoder, other)
    assert np.isnan(expected).any(axis=0).sum() > 6
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_float32_rounds_cells_and_encodes_in_float64(encoder, frame, session):
    rounded = frame[["age", "took"]].copy()
    rounded["age"] = rounded["age"].astype(np.float32).astype(float)
    fitted = TableEncoder().fit(frame[["age", "took"]])
    _, found = encoded(fitted, rounded, session, "float32")
    np.testing.assert_allclose(found[:, 0], fitted.transform(rounded)[:, 0], rtol=1e-12, atol=1e-12)


def test_seasons_and_weekdays_over_centuries(computed):
    days = np.append(np.arange(-800_000.0, 800_000.0, 37), [-719528.0, 0.0, 59.0, 11016.0])  # leap days among them
    season, weekday = computed(
        lambda _, days: [table_input._season(days), table_input._weekday(days)], days=days[:, None]
    )
    np.testing.assert_array_equal(season[:, 0], seasons(days))
    np.testing.assert_array_equal(weekday[:, 0], weekdays(days))


def test_dates_as_categories_are_texts(session):
    frame = pd.DataFrame({"day": [dt.date(2024, 5, 1), dt.date(2024, 5, 2), None] * 4, "x": np.arange(12.0) ** 0.5})
    fitted = TableEncoder(categorical=["day"]).fit(frame)
    table, found = encoded(fitted, frame, session)
    assert table.inputs[0].holds == "date as text, such as 2024-05-01"
    np.testing.assert_allclose(found, fitted.transform(frame), atol=1e-12)


def test_rows_that_are_encoded_already(session):
    X = np.array([[0.5, 1.0], [np.nan, np.nan]])
    graph = Graph()
    table = encoded_rows(graph, 1, 1, "float64")
    assert [each.name for each in table.inputs] == ["X"]
    graph.output("numbers", table.numbers, ["N", 1])
    graph.output("codes", table.codes, ["N", 1])
    numbers, codes = session(graph.model(doc="", version="0", metadata={})).run(None, {"X": X})
    np.testing.assert_array_equal(numbers, X[:, :1])
    np.testing.assert_array_equal(codes, [[1], [-1]])
    assert encoded_rows(Graph(), 2, 0, "float32").codes is None


def test_free_texts_are_refused():
    words = ["the parcel came late again", "works as it should", "slow answer of the service", "very good indeed now"]
    random = np.random.RandomState(0)
    texts = [f"{words[i % 4]} {random.randint(1000)} {words[i % 3]}" for i in range(60)]
    with pytest.warns(ColumnChoiceWarning):
        fitted = TableEncoder().fit(pd.DataFrame({"comment": texts, "x": random.randn(60)}))
    with pytest.raises(ExportError) as caught:
        encoded_table(Graph(), fitted, "float64")
    assert str(caught.value) == (
        "1 column of free text ('comment') cannot be exported: ONNX has no operator for n-grams of characters within "
        "words. Fit a model without it: X.drop(columns=['comment']). Or predict in Python."
    )
    assert "--drop comment" in caught.value.on("cli")


def test_numeric_categories_that_are_equal_in_float32_are_refused():
    values = [16777216.0, 16777217.0]
    fitted = TableEncoder(categorical=[0]).fit(np.array([values * 3]).T)
    encoded_table(Graph(), fitted, "float64")
    with pytest.raises(ExportError, match=r"equal in float32. Export with dtype='float64'."):
        encoded_table(Graph(), fitted, "float32")


@pytest.mark.parametrize(
    ("kind", "categories", "expected"),
    [
        (Kind.BOOLEAN, ("False", "True"), [0.0, 1.0]),
        (Kind.BOOLEAN, ("False", "maybe"), None),
        (Kind.NUMBER, ("0.5", "2"), [0.5, 2.0]),
        (Kind.INTEGER, (str(2**60 + 1),), None),
        (Kind.INTEGER, ("1", "True"), None),
        (Kind.TEXT, ("1", "2"), None),
    ],
)
def test_categories_that_are_numbers(kind, categories, expected):
    assert numeric_categories(CategoricalColumn("a", kind, categories)) == expected
