"""Columns of a table against those in fit: the message names what the user has."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixkern import VBMixture
from mixkern.errors import ColumnMismatchError

FRAME = pd.DataFrame(np.random.RandomState(0).rand(30, 3), columns=["age", "size", "sum"])
TURNED = FRAME[["size", "age", "sum"]]


@pytest.fixture(scope="module")
def density():
    return VBMixture(random_state=0).fit(FRAME)


@pytest.mark.parametrize(
    ("table", "selection"),
    [
        (TURNED, "X[['age', 'size', 'sum']]"),
        (pl.DataFrame(TURNED.to_dict("list")), "X[['age', 'size', 'sum']]"),
        (pa.table(TURNED.to_dict("list")), "X.select(['age', 'size', 'sum'])"),
    ],
)
def test_another_order_names_the_column_and_the_expression_works(density, table, selection):
    with pytest.raises(ColumnMismatchError) as caught:
        density.score_samples(table)
    message = str(caught.value)
    assert "Column 1 of X is 'size', and was 'age' in fit." in message
    assert message.endswith(f"Put the columns in order: {selection}.")
    ordered = eval(selection, {"X": table})
    np.testing.assert_array_equal(density.score_samples(ordered), density.score_samples(FRAME))
    assert "X[" not in caught.value.on("cli")


def test_many_columns_are_not_listed():
    names = [f"c{i:02}" for i in range(13)]
    frame = pd.DataFrame(np.random.RandomState(0).rand(30, 13), columns=names)
    model = VBMixture(random_state=0).fit(frame)
    with pytest.raises(ColumnMismatchError, match=r"X\[list\(model\.feature_names_in_\)\]\.$"):
        model.score_samples(frame[names[::-1]])
    with pytest.raises(ColumnMismatchError, match=r"Select the columns in order: X\[list\(model\.feature"):
        model.score_samples(frame.assign(more=1))
