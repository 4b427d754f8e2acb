"""Rules for the values of parameters, and the check that raises an error."""

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mixkern.errors import MixkernError, OptionError
from mixkern.typing import Floats
from mixkern.wording import nearest, shown

_Option = TypeVar("_Option", bound=StrEnum)


@dataclass(frozen=True)
class Rule:
    """The values that a parameter may have.

    Attributes
    ----------
    description : str
        End of the sentence "C must be ...", for the error.
    accepts : callable
        Returns whether a value is allowed.

    Examples
    --------
    >>> POSITIVE.check(0.5, "C")
    0.5
    >>> POSITIVE.check(-1, "C")
    Traceback (most recent call last):
    mixkern.errors.OptionError: C must be a positive number, but it is -1.
    >>> (POSITIVE | AUTO).check("auto", "C")
    'auto'
    """

    description: str
    accepts: Callable[[Any], bool]

    def check(self, value: Any, name: str, error: type[MixkernError] = OptionError) -> Any:
        """Return the value, or raise an error that names the parameter, the rule and the value."""
        if not self.accepts(value):
            raise error(f"{name} must be {self.description}, but it is {shown(value)}.")
        return value

    def __or__(self, other: "Rule") -> "Rule":
        return Rule(f"{self.description} or {other.description}", lambda value: _either(self, other, value))


def _either(first: Rule, second: Rule, value: Any) -> bool:
    return first.accepts(value) or second.accepts(value)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, and not a boolean."""
    return not isinstance(value, (bool, np.bool_)) and isinstance(value, numbers.Real) and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of 32 bits, as compiled libraries need it, and not a boolean."""
    is_integer = not isinstance(value, (bool, np.bool_)) and isinstance(value, numbers.Integral)
    return is_integer and -(2**31) <= value < 2**31


def above(least: float) -> Rule:
    """Return a rule for numbers above ``least``."""
    return Rule(f"a number above {least:g}", lambda value: is_number(value) and value > least)


def at_least(least: int) -> Rule:
    """Return a rule for whole numbers, ``least`` or larger."""
    return Rule(f"a whole number, {least} or more", lambda value: is_whole(value) and value >= least)


POSITIVE = Rule("a positive number", lambda value: is_number(value) and value > 0)
NOT_NEGATIVE = Rule("a number, 0 or more", lambda value: is_number(value) and value >= 0)
SHARE = Rule("a number above 0, and 1 at most", lambda value: is_number(value) and 0 < value <= 1)
FRACTION = Rule("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
COUNT = at_least(1)
UNLIMITED = Rule("-1", lambda value: is_whole(value) and value == -1)
AUTO = Rule("'auto'", lambda value: isinstance(value, str) and value == "auto")
FLAG = Rule("True or False", lambda value: isinstance(value, (bool, np.bool_)))
NONE = Rule("None", lambda value: value is None)


def check_parameters(estimator: Any, rules: Mapping[str, Rule], error: type[MixkernError] = OptionError) -> None:
    """Check each parameter of an estimator that has a rule."""
    for name, rule in rules.items():
        if hasattr(estimator, name):
            rule.check(getattr(estimator, name), name, error)


def as_floats(values: Any, name: str, error: type[MixkernError]) -> Floats:
    """Return an array-like as floats, or raise an error for texts, dates, complex numbers and sparse matrices.

    >>> as_floats([[1, 2]], "X", OptionError)
    array([[1., 2.]])
    >>> as_floats("a", "X", OptionError)
    Traceback (most recent call last):
    mixkern.errors.OptionError: X must hold numbers, but it is 'a'.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "cmMSV":
            return np.asarray(array, dtype=float)
    except (TypeError, ValueError):  # of NumPy or of the library of a frame
        pass
    raise error(f"{name} must hold numbers, but it is {shown(values)}.")


def is_finite(values: Any) -> bool:
    """Whether an array of the host or of CuPy has neither gaps nor infinite values.

    >>> is_finite(np.ones(3)), is_finite(np.array([1.0, np.nan]))
    (True, False)
    """
    if not isinstance(values, np.ndarray) and np.isfinite(float(values.sum())):
        return True  # one computation on a GPU instead of two; a sum may overflow
    return bool(np.isfinite(values).all())


def as_path(path: Any, error: type[MixkernError]) -> Path:
    """Return the path of a file, or raise an error for anything but a text or a path.

    >>> as_path("a.csv", OptionError).name
    'a.csv'
    """
    if not isinstance(path, (str, PathLike)):
        raise error(f"The path of a file must be a text or a Path, but it is {shown(path)}.")
    return Path(path)


def one_of(options: type[_Option], given: object, name: str) -> _Option:
    """Return the member of an enum for a value of a parameter, or raise an error with the nearest one.

    >>> Season = StrEnum("Season", ["SUMMER", "WINTER"])
    >>> one_of(Season, "winter", "season")
    <Season.WINTER: 'winter'>
    """
    try:
        return options(str(given))
    except ValueError:
        known = [str(option) for option in options]
        raise OptionError(
            f"{name} must be one of {', '.join(map(repr, known))}, but it is {shown(given)}.{nearest(given, known)}"
        ) from None


def numbers_to_try(values: Any, name: str, *, zero: bool = False) -> list[float]:
    """Return the distinct numbers of a search grid; a single number is a grid of one.

    >>> numbers_to_try([1, 10, 10], "C")
    [1.0, 10.0]
    """
    try:
        given = np.atleast_1d(np.asarray(values))
    except ValueError:  # ragged
        given = np.array([""])
    if given.dtype.kind not in "iuf":
        raise OptionError(f"{name} must be numbers to try, but it is {shown(values)}.")
    given = given.astype(float)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or (given < 0).any():
        raise OptionError(f"{name} must be numbers to try, none of them negative, but it is {shown(values)}.")
    if not zero and not given.all():
        raise OptionError(f"{name} must be positive numbers to try, but it is {shown(values)}.")
    return list(dict.fromkeys(given.tolist()))
