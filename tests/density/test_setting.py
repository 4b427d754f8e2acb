"""Rules for settings, and the sentences that name them."""

import numpy as np
import pytest

from mixkern.density.setting import centre, is_positive_definite, not_negative, positive, whole
from mixkern.errors import MixtureError

NAN = np.nan


def test_what_is_allowed_comes_back():
    assert positive(np.float32(0.5), "a") == 0.5
    assert positive(3, "a", above=2) == 3.0
    assert not_negative(0, "a") == 0.0
    assert whole(np.int64(2), "a", 1) == 2
    np.testing.assert_array_equal(centre([1, 2], "a", 2), [1.0, 2.0])


@pytest.mark.parametrize("value", [0, -1.0, NAN, np.inf, "1", None, [1.0]])
def test_not_positive(value):
    with pytest.raises(MixtureError, match="a must be a number above 0, but it is "):
        positive(value, "a")


@pytest.mark.parametrize("value", [-1e-9, NAN, "0", None])
def test_negative(value):
    with pytest.raises(MixtureError, match="a must be a number, 0 or more, but it is "):
        not_negative(value, "a")


@pytest.mark.parametrize("value", [0, 1.0, "1", None, NAN])
def test_not_whole(value):
    with pytest.raises(MixtureError, match="a must be a whole number, 1 or more, but it is "):
        whole(value, "a", 1)


@pytest.mark.parametrize("value", [1.0, [1.0], [[1.0, 2.0]], [1.0, np.inf]])
def test_no_centre(value):
    with pytest.raises(MixtureError, match="a must be 2 finite numbers, one per continuous column, but it is "):
        centre(value, "a", 2)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (2.0, True),
        (0.0, False),
        (NAN, False),
        (np.inf, False),
        ([1.0, 1e-9], True),
        ([1.0, 0.0], False),
        ([[2.0, 1.0], [1.0, 2.0]], True),
        ([[1.0, 1.0], [1.0, 1.0]], False),
        ([[1.0, 0.5], [0.0, 1.0]], False),
        ([[1e-12, 0.0], [0.0, 1.0]], True),
        (np.empty((0, 0)), True),
    ],
)
def test_positive_definite(matrix, expected):
    assert is_positive_definite(np.array(matrix)) is expected
