"""Classes that model files hold: their names, their parts, and the checks of these."""

from dataclasses import dataclass, field
from enum import StrEnum
from types import GenericAlias, SimpleNamespace
from typing import Any, ClassVar, TypeVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from mixkern import parts
from mixkern.errors import ModelFileError
from mixkern.parts import (
    CLASSES,
    NAMES,
    NUMBER,
    ROWS,
    WHOLE,
    EstimatorParts,
    array,
    instance,
    model_part,
    part_type,
    register_class,
    type_of,
)
from mixkern.typing import Floats, Ints


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """A copy of the registry, so that classes of the tests leave it with the test."""
    monkeypatch.setattr(parts, "_BY_NAME", dict(parts._BY_NAME))
    monkeypatch.setattr(parts, "_BY_CLASS", dict(parts._BY_CLASS))


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Thing:
    name: str
    n: int
    size: float
    colour: Colour
    names: tuple[str, ...]
    rows: Floats
    codes: Ints
    tables: tuple[Floats, ...] = ()
    other: float | None = None
    anything: object = None
    is_new: bool = False
    sub: "Thing | None" = field(default=None)
    pair: tuple[float, str] = (0.0, "")
    places: dict[str, int] = field(default_factory=dict)
    many: list[tuple[str, ...]] = field(default_factory=list)


def good():
    return {
        "name": "a",
        "n": 1,
        "size": 2,
        "colour": "red",
        "names": ["x", "y"],
        "rows": np.ones((2, 2)),
        "codes": np.array([1]),
        "tables": [np.ones(2)],
        "other": None,
        "pair": (1.0, "a"),
        "places": {"a": 1},
        "many": [("a", "b"), ()],
    }


def test_a_dataclass_needs_a_decorator_only():
    model_part("Thing")(Thing)
    kind = part_type("Thing")
    made = kind.from_parts(good())
    assert (made.colour, made.names, made.size) == (Colour.RED, ("x", "y"), 2.0)
    assert type(made.size) is float
    assert kind.to_parts(made).keys() == kind.names == set(Thing.__dataclass_fields__)
    assert type_of(made) is kind
    assert kind.from_parts(kind.to_parts(made) | {"sub": made}).sub is made


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 1},
        {"name": None},
        {"n": 1.0},
        {"n": True},
        {"size": "2"},
        {"size": float("nan")},
        {"size": True},
        {"colour": "blue"},
        {"colour": 1},
        {"names": "xy"},
        {"names": [1]},
        {"rows": [[1.0]]},
        {"rows": np.ones(2, dtype=np.float32)},
        {"rows": np.ones(2, dtype=object)},
        {"codes": np.ones(2)},
        {"tables": [1]},
        {"tables": np.ones(2)},
        {"other": "x"},
        {"is_new": 1},
        {"sub": Colour.RED},
        {"pair": (1.0,)},
        {"pair": (1.0, 2.0)},
        {"places": {1: 1}},
        {"places": {"a": "b"}},
        {"places": [("a", 1)]},
        {"many": [(1,)]},
        {"many": ["ab"]},
    ],
)
def test_fields_have_the_annotated_types(wrong):
    model_part("Thing")(Thing)
    with pytest.raises(ModelFileError, match=f"its {next(iter(wrong))} is not valid"):
        part_type("Thing").from_parts(good() | wrong)


def test_a_type_of_arrays_may_be_an_alias():
    """As in NumPy 2.5, which has ``type NDArray[T] = ...``; this works in Python 3.11, too."""
    number = TypeVar("number")
    alias = SimpleNamespace(__value__=np.ndarray[tuple[Any, ...], np.dtype[number]])
    floats = GenericAlias(alias, (np.float64,))
    assert parts._has_type(np.zeros(2), floats)
    assert not parts._has_type(np.zeros(2, int), floats)
    assert not parts._has_type([0.0], floats)


def test_own_methods_come_first():
    @model_part("Circle", names=("area",))
    @dataclass(frozen=True)
    class Circle:
        radius: float

        def to_parts(self):
            return {"area": self.radius**2}

        @classmethod
        def from_parts(cls, parts):
            return cls(parts["area"] ** 0.5)

    kind = part_type("Circle")
    assert kind.names == {"area"}
    assert kind.from_parts(kind.to_parts(Circle(3.0))) == Circle(3.0)


class Fitted(EstimatorParts, BaseEstimator):
    _fitted_parts: ClassVar = {"mean_": NUMBER, "_hidden": instance(dict)}

    def __init__(self, a=1, *, kernel=None, random_state=None):
        self.a, self.kernel, self.random_state = a, kernel, random_state


class More(Fitted):
    _fitted_parts: ClassVar = {"counts_": array(1, "i")}


def test_an_estimator_has_parameters_and_declared_attributes():
    model_part("More")(More)
    model = More(a=[1, "x"], random_state=3)
    model.mean_, model.counts_, model._hidden, model.cache_ = 0.5, np.arange(2), {1: 2}, "not declared"
    kind = part_type("More")
    found = kind.to_parts(model)
    assert set(found) == kind.names == {"a", "kernel", "random_state", "mean_", "hidden", "counts_"}
    again = kind.from_parts(found)
    assert vars(again).keys() == vars(model).keys() - {"cache_"}
    assert again.get_params() == model.get_params()
    assert vars(kind.from_parts({"a": 2})) == vars(More(a=2))  # not fitted, the other parameters by default


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("mean_", "x"), ("counts_", np.ones(2)), ("hidden", 1), ("random_state", "x"), ("a", np.random.RandomState(0))],
)
def test_parts_of_an_estimator_have_rules(name, wrong):
    with pytest.raises(ModelFileError, match=f"its {name} is not valid"):
        More.from_parts({name: wrong})


def test_subclasses_are_other_classes():
    model_part("Fitted")(Fitted)
    assert type_of(Fitted()).name == "Fitted"
    assert type_of(More()) is None
    with pytest.raises(ModelFileError, match="it names a class 'More', which no model has"):
        part_type("More")


def test_classes_of_other_libraries_are_registered_by_functions():
    register_class("complex", complex, ("real", "imag"), lambda z: {"real": z.real}, lambda found: complex(**found))
    assert part_type("complex").from_parts({"real": 1.0}) == 1


def test_random_states():
    random = np.random.RandomState(3)
    random.standard_normal(3)
    kind = type_of(random)
    again = kind.from_parts(kind.to_parts(random))
    assert again.standard_normal(5).tolist() == random.standard_normal(5).tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"position": 625},
        {"position": 100_000},  # NumPy would read beyond its numbers
        {"position": -1},
        {"position": 1.0},
        {"key": np.zeros(623, dtype=np.uint32)},
        {"key": np.zeros(624)},
        {"key": None},
        {"has_gauss": 2},
        {"cached_gaussian": "x"},
        {"cached_gaussian": float("inf")},
    ],
)
def test_a_random_state_does_not_read_beyond_its_numbers(wrong):
    kind = part_type("RandomState")
    with pytest.raises(ModelFileError, match="its random_state is not valid"):
        kind.from_parts({**kind.to_parts(np.random.RandomState(0)), **wrong})


def test_rules():
    assert ROWS.accepts(np.array([[np.nan, 1.0]]))
    assert not ROWS.accepts(np.array([[np.inf, 1.0]]))
    assert not array(2).accepts(np.array([[np.nan, 1.0]]))
    assert array(1, finite=False).accepts(np.array([np.inf]))
    assert not array(1).accepts(np.ones(2, dtype=np.float32))
    assert WHOLE.accepts(2**40)
    assert not any(map(WHOLE.accepts, (-1, 2**60, True, 1.0, "1")))
    assert NAMES.accepts(np.array(["a"], dtype=object))
    assert not NAMES.accepts(np.array(["a", None], dtype=object))
    assert all(map(CLASSES.accepts, (np.array([1, 2]), np.array(["a", "b"]), np.array([0.5, np.nan]))))
    assert not any(map(CLASSES.accepts, (np.array([1]), np.array([1, 1]), np.array(["a", 1], dtype=object), [1, 2])))
