from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mixkern.encoding import encode_targets
from mixkern.errors import LabelTypeError, NoLabelsError


@pytest.mark.parametrize(
    "y",
    [
        [1.5, None, -1],
        np.array([1.5, np.nan, -1.0], dtype=np.float32),
        np.array([1.5, None, -1], dtype=object),
        pd.Series([1.5, None, -1], index=[7, 7, 8]),
        pd.Series([1.5, pd.NA, -1], dtype="Float64"),
        pd.Series([1.5, pd.NA, -1], dtype=object),
        pl.Series([1.5, None, -1]),
        np.array([[1.5], [np.nan], [-1.0]]),
        (Fraction(3, 2), float("nan"), np.int8(-1)),
    ],
    ids=["list", "float32", "object", "series", "Float64", "NA", "polars", "column", "exact"],
)
def test_gaps_become_nan_and_minus_one_is_a_number(y):
    targets = encode_targets(y)
    assert targets.dtype == np.float64
    np.testing.assert_array_equal(targets, [1.5, np.nan, -1.0])


def test_whole_numbers_and_truths_are_numbers():
    assert encode_targets(np.array([3, 4], dtype=np.uint8)).tolist() == [3.0, 4.0]
    assert encode_targets([True, False]).tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(encode_targets(pl.Series([3, None])), [3.0, np.nan])


def test_a_copy_is_given():
    y = np.array([1.0, 2.0])
    encode_targets(y)[0] = 9
    assert y.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (["a", 1.0], LabelTypeError, r"y must hold numbers, None or NaN where there is none, but it holds 'a'\.$"),
        (["1.5"], LabelTypeError, r"but it holds '1\.5'"),
        ([Decimal(1)], LabelTypeError, r"but it holds Decimal\('1'\)"),
        ([1j], LabelTypeError, r"but it holds 1j\. Complex data not supported\."),
        (pd.date_range("2020", periods=2), LabelTypeError, r"but it holds datetime64"),
        (np.array([1, 2], dtype="timedelta64[ns]"), LabelTypeError, r"but it holds timedelta64\[ns\]"),
        ([1.0, 10**400], LabelTypeError, "y contains infinity"),
        ([1e200, -1e200], LabelTypeError, r"y holds numbers beyond 1e\+150, whose squares are too large\. Express y"),
        ([1.0, np.inf], LabelTypeError, r"y contains infinity\. Give numbers, or NaN where a row has no target"),
        (np.zeros((3, 2)), LabelTypeError, r"y must be one column of numbers, but it has shape \(3, 2\)"),
        (3.0, LabelTypeError, r"but it has shape \(\)"),
        ([None, np.nan, pd.NA], NoLabelsError, r"None of the 3 rows has a target\. Give at least one\."),
        ([None], NoLabelsError, "None of the 1 row has a target"),
        ([], NoLabelsError, "None of the 0 rows"),
    ],
)
def test_what_is_no_column_of_numbers_is_explained(y, error, message):
    with pytest.raises(error, match=message):
        encode_targets(y)
