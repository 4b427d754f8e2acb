"""The table of an explanation: which columns it shows, in a frame of any library."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import MixtureSVC, VBMixture, datasets
from mixkern.explain.table import SHOWN

SMALL = VBMixture(3, random_state=0)


def fitted(name):
    data = datasets.load(name)
    return data.X, MixtureSVC(density=SMALL, random_state=0).fit(data.X, data.few_labels(per_class=6, random_state=0))


@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")
@pytest.mark.parametrize("name", ["iris", "heart", "credit_a"])
def test_it_fits_a_screen(name):
    X, model = fitted(name)
    with pd.option_context("display.width", 80, "display.max_columns", 0):
        for by in SHOWN:
            for i in (0, 100):
                lines = str(model.explain(X[i : i + 1], by)).splitlines()
                assert max(map(len, lines)) <= 80
                assert "..." not in lines[0]


@pytest.mark.parametrize("by", SHOWN)
def test_details_add_columns_and_change_none(by):
    X, model = fitted("iris")
    short, whole = model.explain(X[:4], by), model.explain(X[:4], by, details=True)
    assert tuple(short.columns) == SHOWN[by]
    assert set(short.columns) < set(whole.columns)
    pd.testing.assert_frame_equal(whole[list(SHOWN[by])], short)


@pytest.mark.filterwarnings("ignore::mixkern.errors.ColumnChoiceWarning")
@pytest.mark.parametrize("by", SHOWN)
@pytest.mark.parametrize("name", ["iris", "credit_a"])
@pytest.mark.slow
def test_a_frame_is_explained_by_a_frame_of_its_library(name, by):
    X, model = fitted(name)
    expected = model.explain(X[:5], by, details=True)
    found = model.explain(pl.from_pandas(X[:5]), by, details=True)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == list(expected.columns)
    for column in set(found.columns) - {"value", "other_value", "support"}:  # of one type
        assert found[column].to_list() == [None if pd.isna(cell) else cell for cell in expected[column]]
    if by == "column" and name == "credit_a":
        assert set(found["value"]) >= {str(cell) for cell in expected["value"] if isinstance(cell, str)}
    again = model.explain(pa.Table.from_pandas(X[:5]), by, details=True)
    assert isinstance(again, pa.Table)
    assert again.to_pylist() == found.to_dicts()
