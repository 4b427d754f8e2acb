"""What the settings of machines may be."""

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

from mixkern.errors import OptionError

Rule = tuple[str, Callable[[Any], bool]]


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Integral)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


POSITIVE: Rule = ("a positive number", lambda value: _is_number(value) and value > 0)
AUTO_OR_POSITIVE: Rule = ("a positive number or 'auto'", lambda value: POSITIVE[1](value) or _is_auto(value))
NOT_NEGATIVE: Rule = ("a number, 0 or more", lambda value: _is_number(value) and value >= 0)
SHARE: Rule = ("a number above 0, and 1 at most", lambda value: _is_number(value) and 0 < value <= 1)
COUNT: Rule = ("a whole number, 1 or more", lambda value: _is_whole(value) and value >= 1)
LIMIT: Rule = ("a whole number, 1 or more, or -1", lambda value: _is_whole(value) and (value >= 1 or value == -1))
MARGIN: Rule = ("None or a number from 0 to 1", lambda value: value is None or (_is_number(value) and 0 <= value <= 1))

RULES: dict[str, Rule] = {
    "C": POSITIVE,
    "alpha": NOT_NEGATIVE,
    "beta": NOT_NEGATIVE,
    "unlabelled_C": NOT_NEGATIVE,
    "unlabelled_weight": NOT_NEGATIVE,
    "epsilon": NOT_NEGATIVE,
    "nu": SHARE,
    "tol": POSITIVE,
    "max_iter": LIMIT,
    "ratio": NOT_NEGATIVE,
    "n_neighbors": COUNT,
    "degree": COUNT,
    "max_rows": COUNT,
    "n_landmarks": COUNT,
    "safe_margin": MARGIN,
}


def check_settings(machine: Any, own_rules: Mapping[str, Rule]) -> None:
    """Refuse numbers that a machine cannot work with, by the name of the setting."""
    for name, (description, is_right) in {**RULES, **own_rules}.items():
        if hasattr(machine, name) and not is_right(getattr(machine, name)):
            raise OptionError(f"{name} must be {description}, but it is {getattr(machine, name)!r}.")
