"""Columns of encoded rows, and how to say their values in the table's own words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.density.describe import in_words
from mixkern.encoding import CategoricalColumn, ContinuousColumn
from mixkern.encoding.column import OTHER
from mixkern.estimators import MixtureSVC

GAP = "\N{EN DASH}"
TRAILING = re.compile(r"\.0+(?![\d])|(?<=\.\d)0+(?![\d])|(?<=\.\d\d)0+(?![\d])")  # zeros that say nothing


@dataclass(frozen=True)
class Feature:
    """A column of the table.

    Attributes
    ----------
    name, kind, remark : str
        What the encoder says of it.
    position : int
        Where it is among the encoded columns.
    categories : tuple of str or None
        In the order of their codes; ``None`` where it holds numbers.
    column : ContinuousColumn or None
        The way back to the table's units; ``None`` for categories, and where rows came encoded.
    """

    name: str
    kind: str
    remark: str
    position: int
    categories: tuple[str, ...] | None = None
    column: ContinuousColumn | None = None

    def say(self, value: float) -> str:
        """Write an encoded value as the table would.

        >>> Feature("town", "text", "", 0, ("Kassel", "Passau")).say(1.0)
        'Passau'
        """
        if np.isnan(value):
            return GAP
        if self.categories is not None:
            return self.categories[int(value)] if value < len(self.categories) else OTHER
        if self.column is None:
            return f"{value:.3g}"
        middle, above, own = self._decoded([0.0, 1.0, value])
        return TRAILING.sub("", in_words(own, above - middle))

    def exact(self, value: float) -> str:
        """Write an encoded value with all its digits, so that a row can be found by it."""
        if self.column is None or np.isnan(value):
            return self.say(value)
        (own,) = self._decoded([value])
        return f"{own:.10g}" if isinstance(own, float) else self.say(value)

    def _decoded(self, scores: Sequence[float]) -> list[Any]:
        assert self.column is not None  # asked before
        values = self.column.decode(np.array(scores, dtype=float))
        return list(values.astype("O") if values.dtype.kind in "mM" else values.tolist())


def features(model: MixtureSVC) -> list[Feature]:
    """Give the columns of the table, in its own order."""
    if model.encoder_ is None:
        d, tables = model.mixture_.n_continuous, model.mixture_.categories
        numbers = [Feature(f"x{j}", "number", "", j) for j in range(d)]
        texts = [tuple(map(str, range(table.shape[1]))) for table in tables]
        return [*numbers, *(Feature(f"x{d + j}", "category", "", d + j, each) for j, each in enumerate(texts))]
    places = {str(name): j for j, name in enumerate(model.encoder_.get_feature_names_out())}
    return [_feature(column, places[column.name]) for column in model.encoder_.columns_]


def _feature(column: Any, position: int) -> Feature:
    about = (column.name, str(column.kind), column.remark, position)
    if isinstance(column, CategoricalColumn):
        return Feature(*about, categories=column.categories)
    return Feature(*about, column=column)
