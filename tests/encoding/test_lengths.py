import numpy as np
import polars as pl
import pytest

from mixkern.encoding.lengths import LARGEST_WEIGHT, check_length, checked_weights, n_rows_of
from mixkern.errors import LabelError, LengthError, MixtureError, NotATableError


def test_numbers_of_rows():
    assert n_rows_of(np.zeros((4, 2))) == n_rows_of(pl.DataFrame({"a": range(4)})) == n_rows_of([["a"]] * 4) == 4
    with pytest.raises(NotATableError, match="lazy frame"):
        n_rows_of(pl.LazyFrame({"a": [1]}))


def test_lengths():
    check_length(3, 3)
    with pytest.raises(LengthError, match=r"^X has 3 rows, but y has 1 target\. Give one target per row, None where"):
        check_length(3, 1, unit="target")


def test_weights():
    assert checked_weights(None, 3) is None
    np.testing.assert_array_equal(checked_weights([True, False, 2], 3), [1.0, 0.0, 2.0])
    assert checked_weights([LARGEST_WEIGHT, 1 / LARGEST_WEIGHT], 2) is not None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1e200, 1.0], r"^sample_weight must hold numbers from 1e-100 to 1e\+100, or 0, but it holds 1e\+200 in row 1"),
        ([1.0, 1e-200], r"but it holds 1e-200 in row 2 \(counted from 1\)\. Multiply all weights by a number\.$"),
        ([1j, 1.0], "is of type list and holds others"),
        (np.array(["2020", "2021"], dtype="datetime64[D]"), "is of type ndarray and holds others"),
        (["1", "2"], "is of type list and holds others"),
        ([[1.0], [1.0, 2.0]], "is of type list and holds others"),
    ],
)
def test_weights_that_cannot_be_used(weights, message):
    with pytest.raises(LabelError, match=message):
        checked_weights(weights, 2)
    with pytest.raises(MixtureError, match=message):
        checked_weights(weights, 2, MixtureError)
