"""Rules for parameters: what they accept, and the error that names parameter, rule and value."""

from enum import StrEnum
from types import SimpleNamespace

import numpy as np
import pytest

from mixkern.errors import MixtureError, OptionError
from mixkern.validation import (
    AUTO,
    COUNT,
    FLAG,
    FRACTION,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    UNLIMITED,
    above,
    at_least,
    check_parameters,
    is_whole,
    numbers_to_try,
    one_of,
)

VALUES = [None, "auto", True, np.True_, -1, 0, np.int32(0), 0.5, 1, 1.0, 2, np.float32(2), np.inf, np.nan, "1", [1]]


@pytest.mark.parametrize(
    ("rule", "accepted"),
    [
        (POSITIVE, [0.5, 1, 1.0, 2, 2.0]),
        (NOT_NEGATIVE, [0, 0, 0.5, 1, 1.0, 2, 2.0]),
        (SHARE, [0.5, 1, 1.0]),
        (FRACTION, [0, 0, 0.5, 1, 1.0]),
        (COUNT, [1, 2]),
        (at_least(2), [2]),
        (above(1), [2, 2.0]),
        (UNLIMITED, [-1]),
        (AUTO | COUNT, ["auto", 1, 2]),
        (NONE | UNLIMITED, [None, -1]),
    ],
)
def test_a_rule_accepts_only_what_it_describes(rule, accepted):
    assert [value for value in VALUES if rule.accepts(value)] == accepted


def test_an_error_names_parameter_rule_and_value():
    with pytest.raises(OptionError, match=r"^C must be a positive number or 'auto', but it is 'high'\.$"):
        (POSITIVE | AUTO).check("high", "C")
    with pytest.raises(MixtureError, match="n must be a whole number, 3 or more, but it is 2"):
        at_least(3).check(2, "n", MixtureError)


def test_an_error_shows_a_value_on_one_line():
    with pytest.raises(OptionError, match=r"C must be a positive number, but it is of type ndarray\.$"):
        POSITIVE.check(np.zeros((3, 2)), "C")
    with pytest.raises(OptionError, match=r"but it is 'x{78}…\.$"):
        POSITIVE.check("x" * 500, "C")


def test_parameters_of_an_estimator_are_checked_where_it_has_them():
    rules = {"C": POSITIVE, "gamma": POSITIVE}
    check_parameters(SimpleNamespace(C=1), rules)
    with pytest.raises(OptionError, match="gamma must be"):
        check_parameters(SimpleNamespace(C=1, gamma=0), rules)


def test_one_of_an_enum():
    season = StrEnum("Season", ["SUMMER", "WINTER"])
    assert one_of(season, "summer", "season") is season.SUMMER
    with pytest.raises(OptionError, match=r"one of 'summer', 'winter', but it is 'sumer'\. Did you mean 'summer'"):
        one_of(season, "sumer", "season")


def test_numbers_to_try():
    assert numbers_to_try(3, "C") == [3.0]
    assert numbers_to_try([1, 2, 1.0], "C") == [1.0, 2.0]
    assert numbers_to_try(np.array([0, 2]), "alpha", zero=True) == [0.0, 2.0]
    assert numbers_to_try(np.logspace(-1, 0, 2), "C") == [0.1, 1.0]
    assert numbers_to_try((True, 2), "C") == [1.0, 2.0]


@pytest.mark.parametrize("values", [[], [-1.0], [1.0, np.nan], [np.inf], [[1.0, 2.0]]], ids=str)
def test_values_that_are_not_allowed(values):
    with pytest.raises(OptionError, match=r"^gamma must be numbers to try, none of them negative, but it is \["):
        numbers_to_try(values, "gamma")


def test_zero_is_not_positive():
    with pytest.raises(OptionError, match=r"^C must be positive numbers to try, but it is \[0, 1\]\.$"):
        numbers_to_try([0, 1], "C")


@pytest.mark.parametrize(
    "values", ["scale", "10", ["1", "2"], ["scale", 1.0], [None, "a"], {1.0, 2.0}, [1j], [[1.0], [1.0, 2.0]]], ids=str
)
def test_text_is_not_numbers(values):
    with pytest.raises(OptionError) as caught:
        numbers_to_try(values, "gamma")
    assert str(caught.value) == f"gamma must be numbers to try, but it is {values!r}."


@pytest.mark.parametrize("value", [1, 0, "yes", None, np.ones(3)])
def test_a_flag_is_true_or_false(value):
    assert FLAG.accepts(True)
    assert FLAG.accepts(np.False_)
    assert not FLAG.accepts(value)


def test_whole_numbers_have_32_bits():
    assert is_whole(2**31 - 1)
    assert is_whole(-(2**31))
    assert not is_whole(2**31)
    assert not is_whole(2**70)
