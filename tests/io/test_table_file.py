"""What all tables in files have in common."""

import numpy as np
import pandas as pd
import pytest

from mixkern.errors import OptionError, TableFileError
from mixkern.io.parsing import texts
from mixkern.io.table_file import checked_rows, frame_of, no_rows


def test_frames_keep_types_and_count_on():
    frame = frame_of({"a": texts(["x", ""]), "b": np.array([1, 2])}, 5, 2)
    assert frame["a"].tolist() == ["x", None]
    assert frame.dtypes.tolist() == [object, "int64"]
    assert frame.index.equals(pd.RangeIndex(5, 7))


def test_checks():
    assert checked_rows(1) == 1
    with pytest.raises(OptionError, match="at least 1 row, but n_rows is 0"):
        checked_rows(0)
    assert isinstance(no_rows("a.csv"), TableFileError)
