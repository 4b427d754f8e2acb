"""Tables in partitions: what methods need to know about them, and how they are dispatched to ``mixkern.distributed``.

A Dask collection is dispatched here and nowhere else. A method that learns, decorated by :func:`learns_partitions`,
gets a :class:`Partitioned` table in its place; a method that gives one result per row, decorated by
:func:`maps_partitions`, gives a lazy collection of the same partitions; a ``score``, decorated by
:func:`scores_partitions`, adds up what the partitions give. A wrong argument raises an error that names the class of
the estimator.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from mixkern.arguments import bound
from mixkern.typing import Floats, Positions

FEW_ROWS = 16_000  # a table with as many is the first sample of its density: it is fitted in memory

_Method = TypeVar("_Method", bound=Callable[..., Any])


class Partitioned(ABC):
    """Rows in partitions, which are read when they are needed and are never in memory together."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""


class PartitionedTable(Partitioned):
    """A table in partitions, before it is encoded."""

    @property
    @abstractmethod
    def head(self) -> Any:
        """A frame or an array with the same columns and no rows."""

    @abstractmethod
    def summaries(self) -> list[Any]:
        """Return a summary of each column, in the form of a column whose equal cells are counted."""

    @abstractmethod
    def some(self, positions: Positions) -> Any:
        """Return some of the rows, in the order of their positions."""

    @abstractmethod
    def values(self, read: Callable[[Any], Floats], n_columns: int, known: Any = None) -> "PartitionedValues":
        """Return the rows as numbers, each partition read by a function.

        Parameters
        ----------
        read : callable
            Returns the numbers of a partition.
        n_columns : int
            Number of their columns.
        known : list, default=None
            What :meth:`PartitionedValues.distinct` returns for each continuous column, where it is known.
        """

    @abstractmethod
    def labels(self) -> Any:
        """Return a column of few labels that stands for all of them, and the row of each; see ``PartitionedLabels``."""


class PartitionedValues(Partitioned):
    """Numbers and codes of rows in partitions; some rows are read by their positions, as from an array."""

    @abstractmethod
    def __getitem__(self, positions: Any) -> Floats:
        """Return some of the rows, in the order of their positions."""

    @property
    @abstractmethod
    def has_gaps(self) -> bool:
        """Whether a value is missing."""

    @abstractmethod
    def moved(self, resolutions: Floats, varying: Collection[int], random: Any) -> "PartitionedValues":
        """Return rows whose columns are moved at random within their resolutions; the others are not drawn for."""

    @abstractmethod
    def distinct(self, column: int) -> tuple[Floats | None, int]:
        """Return the sorted distinct values of a column, ``None`` where they are many, and the number of values."""

    @abstractmethod
    def inner_rows(self, density: Any) -> Any:
        """Return the rows as the inference of a density takes them, and set the density's coordinates."""


class PartitionedLabels:
    """Labels in partitions, of which few are not missing.

    Attributes
    ----------
    table : PartitionedTable
        The table that they belong to.
    """

    def __init__(self, table: PartitionedTable) -> None:
        self.table = table

    def read(self, encode: Callable[[Any], Any], missing: Any) -> tuple[Any, Any]:
        """Encode a short column that stands for all labels; return what it gives, and an array of a value for each row.

        Parameters
        ----------
        encode : callable
            Returns an object and an array with one value for each cell of the short column.
        missing : number
            The value of a row without a label.
        """
        short, rows = self.table.labels()
        found, values = encode(short)
        at = rows >= 0  # other cells of the short column stand for rows without a label
        full = np.full(len(self.table), missing, dtype=values.dtype)
        full[rows[at]] = values[at]
        return found, full


def is_collection(X: Any) -> bool:
    """Return whether a table is a Dask collection; Dask is not imported.

    >>> is_collection([[1, 2]])
    False
    """
    dask = sys.modules.get("dask")
    check = getattr(dask, "is_dask_collection", None)
    return check is not None and bool(check(X))


def _distributed(module: str) -> Any:
    """Import a module of the package above all estimators: a table of its kind is given, so it is needed."""
    return import_module(f"mixkern.distributed.{module}")


def learns_partitions(method: _Method) -> _Method:
    """Decorate a method or function that learns from ``X`` and ``y``: a Dask collection becomes a partitioned table."""
    parameters = signature(method)

    @wraps(method)
    def learn(*args: Any, **kwargs: Any) -> Any:
        if not any(map(is_collection, (*args, *kwargs.values()))):
            return method(*args, **kwargs)
        given = parameters.bind(*args, **kwargs)
        given.arguments.update(_distributed("collection").opened_arguments(given.arguments))
        return method(*given.args, **given.kwargs)

    return cast(_Method, learn)


def maps_partitions(method: _Method) -> _Method:
    """Decorate a method with one result for each row of ``X``: of a Dask collection it gives another, which is lazy."""
    name, parameters = method.__name__, signature(method)

    @wraps(method)
    def give(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        X = bound(parameters, name, self, args, kwargs).arguments["X"]
        if not is_collection(X):
            return method(self, *args, **kwargs)
        options = {key: value for key, value in kwargs.items() if key != "X"}
        return _distributed("prediction").mapped(self, name, X, args[1:], options)

    return cast(_Method, give)


def scores_partitions(method: _Method) -> _Method:
    """Decorate ``score(X, y, sample_weight)``: that of a Dask collection is computed in one pass over its partitions.

    The estimator has a method ``score_sums`` with the same arguments; what it gives for the partitions adds up.
    """
    parameters = signature(method)

    @wraps(method)
    def score(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = bound(parameters, method.__name__, self, args, kwargs).arguments
        if not any(map(is_collection, given.values())):
            return method(self, *args, **kwargs)
        return _distributed("score").scored(self, given["X"], given["y"], given.get("sample_weight"))

    return cast(_Method, score)
