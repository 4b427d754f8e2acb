"""Limits of a server."""

import pytest

from mixkern.errors import OptionError
from mixkern.serving import Limits


def test_sizes_and_facts():
    limits = Limits(body_mib=2)
    assert limits.n_bytes == 2 * 1024 * 1024
    assert limits.facts() == {"body_mib": 2, "rows": 10_000, "requests": 100, "seconds": 30.0, "connections": 1_000}


@pytest.mark.parametrize("name", ["body_mib", "rows", "requests", "connections"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "1", None])
def test_numbers_are_whole_and_positive(name, value):
    with pytest.raises(OptionError, match=f"{name} must be a whole number, 1 or more"):
        Limits(**{name: value})


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None])
def test_seconds_are_positive(value):
    with pytest.raises(OptionError, match="seconds must be a positive number"):
        Limits(seconds=value)
