import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pytest

from mixkern.encoding.gap import is_gap


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("nan"),
        np.float32("nan"),
        np.longdouble("nan"),
        complex("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        np.timedelta64("NaT", "s"),
        decimal.Decimal("NaN"),
        decimal.Decimal("sNaN"),
    ],
)
def test_gaps(value):
    assert is_gap(value) is True


@pytest.mark.parametrize(
    "value",
    [
        0,
        0.0,
        float("inf"),
        False,
        np.False_,
        "",
        "nan",
        np.str_("NaT"),
        b"",
        decimal.Decimal(0),
        dt.date(2020, 1, 1),
        np.datetime64("2020"),
        [],
        {},
        np.array([1.0, np.nan]),
        np.array([]),
        pd.Series([np.nan]),
        pd.Interval(0, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_else_is_a_value(value):
    assert is_gap(value) is False
