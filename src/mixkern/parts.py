"""The registry of classes that model files hold, and checks of their parts.

A class is registered under its public name, which model files have in place of a module and a qualified name. Its parts
are named values: plain values, arrays, and objects of other registered classes.
"""

import inspect
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from mixkern.errors import ModelFileError
from mixkern.validation import Rule, is_number
from mixkern.wording import shortened

Parts = dict[str, Any]
_Class = TypeVar("_Class", bound=type)
_LARGEST_WHOLE = 2**53  # all whole numbers up to it are exact in any language


@dataclass(frozen=True)
class PartType:
    """A class that model files hold.

    Attributes
    ----------
    name : str
        Public name of the class.
    cls : type
        The class.
    names : frozenset of str
        Names that parts may have.
    to_parts, from_parts : callable
        Return the parts of an object, and the object of parts.
    is_shared : bool
        Whether equal objects are one in a file, and one object when it is read: for immutable values.
    """

    name: str
    cls: type
    names: frozenset[str]
    to_parts: Callable[[Any], Parts]
    from_parts: Callable[[Parts], Any]
    is_shared: bool = False


_BY_NAME: dict[str, PartType] = {}
_BY_CLASS: dict[type, PartType] = {}


def model_part(name: str, *, names: Iterable[str] | None = None, is_shared: bool = False) -> Callable[[_Class], _Class]:
    """Register a class under its public name, so that model files can hold its objects.

    The class has a method ``to_parts()``, which returns a dict, and a class method ``from_parts(parts)``, which checks
    the parts and returns an object. A dataclass needs neither: its parts are its fields, which are checked against
    their annotations. Nor does a class with ``get_params``: its parts are its parameters.

    Parameters
    ----------
    name : str
        Public name of the class.
    names : iterable of str, default=None
        Names that parts may have; by default those of the fields or parameters.
    is_shared : bool, default=False
        Whether equal objects are one in a file.

    Examples
    --------
    >>> @model_part("Circle")
    ... @dataclass(frozen=True)
    ... class Circle:
    ...     radius: float
    >>> part_type("Circle").from_parts({"radius": 2.0})
    Circle(radius=2.0)
    >>> part_type("Circle").from_parts({"radius": "2"})
    Traceback (most recent call last):
    mixkern.errors.ModelFileError: its radius is not valid.
    """

    def register(cls: _Class) -> _Class:
        known = _names_of(cls) if names is None else frozenset(names)
        to_parts, from_parts = _fields_of if is_dataclass(cls) else _parameters_of, _Checked(cls)
        register_class(
            name,
            cls,
            known,
            getattr(cls, "to_parts", to_parts),
            getattr(cls, "from_parts", from_parts),
            is_shared=is_shared,
        )
        return cls

    return register


def register_class(
    name: str,
    cls: type,
    names: Iterable[str],
    to_parts: Callable[[Any], Parts],
    from_parts: Callable[[Parts], Any],
    *,
    is_shared: bool = False,
) -> None:
    """Register a class of another library by functions; see :class:`PartType`."""
    found = PartType(name, cls, frozenset(names), to_parts, from_parts, is_shared)
    _BY_NAME[name] = _BY_CLASS[cls] = found


def part_type(name: Any) -> PartType:
    """Return the class with a public name; a name that is not registered is an error."""
    found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        raise ModelFileError(f"it names a class {shortened(repr(name), 60)}, which no model has.")
    return found


def registered_classes() -> list[type]:
    """Return all registered classes."""
    return list(_BY_CLASS)


def type_of(thing: object) -> PartType | None:
    """Return the registered class of an object; None for objects of other classes, also of subclasses."""
    return _BY_CLASS.get(type(thing))


def require(is_so: object, what: str) -> None:
    """Raise an error for a part that is not valid."""
    if not is_so:
        raise ModelFileError(f"its {what} is not valid.")


def agree(is_so: object, what: str) -> None:
    """Raise an error for parts that do not fit together."""
    if not is_so:
        raise ModelFileError(f"the parts of its model do not fit together: {what}.")


# ---------------------------------------------------------------- rules of parts


def is_array(value: Any, n_dims: int, kinds: str = "f", *, gaps: bool = False, finite: bool = True) -> bool:
    """Whether a value is an array of so many dimensions, of float64 or of other kinds of NumPy.

    Floats are finite, NaN (with ``gaps``), or any (without ``finite``).
    """
    if type(value) is not np.ndarray or value.ndim != n_dims or value.dtype.kind not in kinds:
        return False
    if value.dtype.kind != "f" or not finite:
        return True
    return value.dtype == np.float64 and not (np.isinf(value).any() if gaps else not np.isfinite(value).all())


def array(n_dims: int, kinds: str = "f", *, gaps: bool = False, finite: bool = True) -> Rule:
    """Return a rule for arrays; see :func:`is_array`."""
    return Rule("an array", lambda value: is_array(value, n_dims, kinds, gaps=gaps, finite=finite))


def instance(*classes: type) -> Rule:
    """Return a rule for objects of some classes."""
    return Rule(" or ".join(each.__name__ for each in classes), lambda value: isinstance(value, classes))


def _is_names(value: Any) -> bool:
    return is_array(value, 1, "O") and all(type(each) is str for each in value)


def is_classes(value: Any) -> bool:
    """Whether a value is an array of two or more different classes."""
    is_one = _is_names(value) or is_array(value, 1, "biuU") or is_array(value, 1, finite=False)
    return is_one and len(value) >= 2 and len(set(value.tolist())) == len(value)


NUMBER = Rule("a number", is_number)
WHOLE = Rule("a whole number", lambda value: type(value) is int and 0 <= value <= _LARGEST_WHOLE)
NAMES = Rule("an array of texts", _is_names)
CLASSES = Rule("an array of classes", is_classes)
COUNTS = array(1, "i")
ROWS = array(2, gaps=True)


# ---------------------------------------------------------------- estimators


class EstimatorParts:
    """Mixin: the parts of an estimator are its parameters, and fitted attributes that its classes declare.

    ``_fitted_parts`` of a class has a rule for each fitted attribute; those of its base classes are included. A part
    has the name of its attribute, without an underscore at the beginning.
    """

    _fitted_parts: ClassVar[Mapping[str, Rule]] = {}

    @classmethod
    def fitted_rules(cls) -> dict[str, Rule]:
        """Return the rules of all fitted attributes that are parts."""
        declared = [vars(base).get("_fitted_parts", {}) for base in reversed(cls.__mro__)]
        return {name: rule for rules in declared for name, rule in rules.items()}

    def to_parts(self) -> Parts:
        """Return parameters and fitted attributes, for a model file."""
        found = vars(self)
        fitted = {name.lstrip("_"): found[name] for name in self.fitted_rules() if name in found}
        return {**_parameters_of(self), **fitted}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Make an estimator of its parts, or raise an error for parts that are not valid."""
        settings = {name: parts[name] for name in inspect.signature(cls).parameters if name in parts}
        for name, value in settings.items():
            require(_is_setting(name, value), name)
        model = cls(**settings)
        for name, rule in cls.fitted_rules().items():
            if name.lstrip("_") in parts:
                value = parts[name.lstrip("_")]
                require(rule.accepts(value), name.strip("_") if name.startswith("_") else name)
                setattr(model, name, value)
        model.complete_parts()
        return model

    def complete_parts(self) -> None:
        """Set the attributes that follow from the parts, and check that these fit together."""


def check_width(estimator: Any, n: int) -> None:
    """Raise an error for an estimator that was not fitted on n columns."""
    agree(estimator.n_features_in_ == n, "number of columns")
    agree(len(getattr(estimator, "feature_names_in_", range(n))) == n, "names of columns")


_WITH_OBJECTS = ("density", "encoder", "kernel")  # parameters that may hold an object


def _is_setting(name: str, value: Any) -> bool:
    if name == "random_state":
        return value is None or type(value) in (int, np.random.RandomState)
    if name in _WITH_OBJECTS:
        return value is None or isinstance(value, str) or type_of(value) is not None
    return type_of(value) is None


def _parameters_of(thing: Any) -> Parts:
    parameters: Parts = thing.get_params(deep=False)
    return parameters


def _names_of(cls: type) -> frozenset[str]:
    """Return the names of fields, or of parameters and fitted attributes."""
    if is_dataclass(cls):
        return frozenset(field.name for field in fields(cls))
    fitted = cls.fitted_rules() if issubclass(cls, EstimatorParts) else ()
    return frozenset([*inspect.signature(cls).parameters, *(name.lstrip("_") for name in fitted)])


# ---------------------------------------------------------------- dataclasses and kernels


def _fields_of(thing: Any) -> Parts:
    return {field.name: getattr(thing, field.name) for field in fields(thing)}


@dataclass(frozen=True)
class _Checked:
    """Constructor of a class from parts, which are checked against the annotations of a dataclass."""

    cls: type

    def __call__(self, parts: Parts) -> Any:
        if not is_dataclass(self.cls):
            return self.cls(**parts)
        hints = typing.get_type_hints(self.cls)
        return self.cls(**{name: _as_annotated(value, hints[name], name) for name, value in parts.items()})


def _as_annotated(value: Any, hint: Any, name: str) -> Any:
    """Return the value of a field, a text as the member of an enum; an error if it is not of the annotated type."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        require(isinstance(value, str) and value in tuple(hint), name)
        return hint(value)
    require(_has_type(value, hint), name)
    if hint is float:
        return float(value)
    return tuple(value) if typing.get_origin(hint) is tuple else value


def _expanded(hint: Any) -> Any:
    """Return what an alias stands for; from NumPy 2.5 on, the type of arrays is one."""
    meaning = getattr(typing.get_origin(hint), "__value__", None)
    return hint if meaning is None else meaning[typing.get_args(hint)]


def _has_type(value: Any, hint: Any) -> bool:
    hint = _expanded(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_has_type(value, each) for each in arguments)
    if origin is np.ndarray:
        (scalar,) = typing.get_args(arguments[1]) or (Any,)
        return type(value) is np.ndarray and (scalar is Any or np.issubdtype(value.dtype, scalar))
    if origin in (tuple, list, Sequence):
        return isinstance(value, (list, tuple)) and _have_types(value, arguments)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(_have_types(pair, arguments) for pair in value.items())
    if hint is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is hint or (hint not in (int, str, bool) and isinstance(value, hint))


def _have_types(values: Sequence[Any], hints: tuple[Any, ...]) -> bool:
    """Whether values have the types of a tuple: one type for all, or one for each."""
    if len(hints) == 1 or hints[1:] == (...,):
        return all(_has_type(each, hints[0]) for each in values)
    return len(values) == len(hints) and all(map(_has_type, values, hints))


# ---------------------------------------------------------------- random states

_RANDOM_STATE = ("key", "position", "has_gauss", "cached_gaussian")


def _random_parts(random: np.random.RandomState) -> Parts:
    state: Any = random.get_state()
    require(state[0] == "MT19937", "random_state")
    return dict(zip(_RANDOM_STATE, state[1:], strict=True))


def _random_state(parts: Parts) -> np.random.RandomState:
    key, position, has_gauss, cached = (parts.get(name) for name in _RANDOM_STATE)
    is_key = type(key) is np.ndarray and key.shape == (624,) and key.dtype == np.uint32
    # NumPy reads at the position without checking it.
    is_position = type(position) is int and 0 <= position <= 624
    require(is_key and is_position and has_gauss in (0, 1) and is_number(cached), "random_state")
    random = np.random.RandomState(0)
    random.set_state(("MT19937", key, position, has_gauss, cached))  # type: ignore[arg-type]
    return random


register_class("RandomState", np.random.RandomState, _RANDOM_STATE, _random_parts, _random_state)
