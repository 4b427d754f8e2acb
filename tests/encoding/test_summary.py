"""Summaries of columns: those of the parts of a table add up to that of the table."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixkern.encoding import summary as summary_module
from mixkern.encoding.cell import Kind
from mixkern.encoding.column import CategoricalColumn, ContinuousColumn
from mixkern.encoding.inference import infer_column
from mixkern.encoding.raw_column import Coded, raw_columns
from mixkern.encoding.summary import ColumnSummary, CountedCells, NumberSummary
from mixkern.errors import CellTypeError, InfiniteValueError


def raw(cells, **options):
    return raw_columns(pd.DataFrame({"a": pd.Series(cells, **options)}))[0]


def summarised(cells, cuts, **options):
    """Summarise the parts of a column, and add them up."""
    series = pd.Series(cells, **options)
    bounds = [0, *cuts, len(series)]
    parts = [series[i:j] for i, j in pairwise(bounds)]
    first, *others = [ColumnSummary.of(raw_columns(part.to_frame("a"))[0]) for part in parts if len(part)]
    return sum(others, first)


numbers = st.lists(st.floats(-1e6, 1e6, allow_nan=False) | st.just(float("nan")), min_size=2, max_size=30)


@given(numbers, st.data())
def test_numbers_add_up(values, data):
    cut = data.draw(st.integers(1, len(values) - 1))
    whole, parts = raw(values, dtype=float), summarised(values, [cut], dtype=float)
    expected, found = ContinuousColumn.fit(whole), ContinuousColumn.fit(parts)
    assert found.n_values == expected.n_values
    assert found.n_gaps == expected.n_gaps
    assert found.origin == expected.origin
    assert found.mean == pytest.approx(expected.mean, rel=1e-12, abs=1e-300)
    assert found.deviation == pytest.approx(expected.deviation, rel=1e-9)
    assert parts.are_whole() == (whole.are_whole())
    assert infer_column(parts) == infer_column(whole)


@given(st.lists(st.sampled_from(["x", "y", "zoo", None]), min_size=2, max_size=20), st.data())
def test_texts_add_up(cells, data):
    cut = data.draw(st.integers(1, len(cells) - 1))
    whole, parts = raw(cells, dtype="string"), summarised(cells, [cut], dtype="string")
    assert parts.kind == whole.kind
    assert CategoricalColumn.fit(parts) == CategoricalColumn.fit(whole)
    coded = whole.coded()
    assert parts.coded().distinct == coded.distinct
    assert parts.coded().counts().tolist() == coded.counts().tolist()
    for code in range(len(coded.distinct)):
        assert parts.coded().rows_of([code])[0] == coded.rows_of([code])[0]
    assert sorted(parts.coded().all_cells()) == sorted(coded.all_cells())


def test_large_and_close_numbers_keep_their_digits():
    huge = summarised([1e200, 3e200, 2e200, -1e200], [2])
    assert ContinuousColumn.fit(huge).deviation == pytest.approx(np.std([1, 3, 2, -1]) * 1e200)
    close = summarised([1e9 + 1e-6, 1e9, 1e9 + 2e-6, 1e9], [1])
    expected = ContinuousColumn.fit(raw([1e9 + 1e-6, 1e9, 1e9 + 2e-6, 1e9]))
    assert ContinuousColumn.fit(close).deviation == pytest.approx(expected.deviation, rel=1e-9)


def test_distinct_numbers_are_kept_where_they_are_few(monkeypatch):
    monkeypatch.setattr(summary_module, "MOST_VALUES", 4)
    assert summarised([1, 2, 2, 3, 4], [3]).numbers_.distinct.tolist() == [1, 2, 3, 4]
    many = summarised(list(range(20)), [10])
    assert many.numbers_.distinct is None
    assert many.whole_values() == (20, 20, 19)
    assert infer_column(many).is_identifier  # they number the rows


def test_the_most_frequent_of_many_texts_are_kept(monkeypatch):
    monkeypatch.setattr(summary_module, "MOST_CELLS", 2)
    found = summarised(["a", "b", "b", "c", "c", "d", "c"], [4], dtype="string")
    assert CategoricalColumn.fit(found).categories == ("b", "c")


def test_parts_of_different_kinds():
    empty = ColumnSummary.of(raw([None, None], dtype="string"))
    texts = ColumnSummary.of(raw(["x", "y"], dtype="string"))
    assert empty.kind is Kind.EMPTY
    assert (empty + texts).coded().first.tolist() == [2, 3]
    assert (texts + empty).n_gaps() == (empty + texts).n_gaps() == 2
    whole, decimals = ColumnSummary.of(raw([1, 2])), ColumnSummary.of(raw([1.5]))
    assert (whole + decimals).kind is Kind.NUMBER
    with pytest.raises(CellTypeError, match="holds text in some partitions and integer in others"):
        texts + whole


def test_infinite_values_are_refused():
    with pytest.raises(InfiniteValueError, match="holds an infinite value, the first in row 2"):
        ColumnSummary.of(raw([1.0, np.inf]))


def test_counts_of_mapped_cells():
    counted = CountedCells.of(Coded.of_cells(["a", "A", None, "b", "a"]))
    upper = counted.mapped(str.upper)
    assert upper.distinct == ["A", "B"]
    assert upper.counts().tolist() == [3, 1]
    assert len(upper) == 5
    assert upper.n_gaps() == 1


def test_no_numbers():
    nothing = NumberSummary.of(np.empty(0), are_dates=False)
    some = NumberSummary.of(np.array([1.0, 2.0]), are_dates=False)
    assert (nothing + some) is some
    assert (some + nothing) is some
