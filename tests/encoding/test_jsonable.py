"""Values as JSON knows them."""

import numpy as np
import pandas as pd

from mixkern.encoding.jsonable import jsonable


def test_values_that_json_does_not_know():
    assert jsonable(pd.Timestamp("2024-05-31")) == "2024-05-31 00:00:00"
    assert jsonable([pd.NA, None, True, np.bool_(False), "a"]) == [None, None, True, False, "a"]
    assert jsonable({"a": {2: float("nan")}, "b": np.arange(2.0)}) == {"a": {"2": None}, "b": [0.0, 1.0]}
