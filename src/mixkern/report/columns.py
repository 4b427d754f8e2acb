"""The columns of a table, and their encoded values written in the table's own units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixkern.density.describe import value_text
from mixkern.encoding import CategoricalColumn, ContinuousColumn, TextColumn
from mixkern.encoding.column import OTHER
from mixkern.estimators import MixtureSVC
from mixkern.typing import Floats
from mixkern.wording import counted, percent, shortened

GAP = "\N{EN DASH}"
MOST_CATEGORIES = 3  # named in the description of a column
LONGEST_CATEGORY = 24  # letters
TRAILING_ZEROS = re.compile(r"\.0+(?![\d])|(?<=\.\d)0+(?![\d])|(?<=\.\d\d)0+(?![\d])")


@dataclass(frozen=True)
class Feature:
    """A column of the table.

    Attributes
    ----------
    name, kind, remark : str
        As in the encoder.
    position : int
        Position among the encoded columns.
    categories : tuple of str or None
        In the order of their codes; ``None`` for a column of numbers.
    column : ContinuousColumn or None
        Converts values back to the table's units; ``None`` for categories and texts, and for rows that came encoded.
    texts : TextColumn or None
        Of a column of texts, which is encoded as several columns.
    positions : tuple of int
        Positions of the encoded columns of texts.
    """

    name: str
    kind: str
    remark: str
    position: int
    categories: tuple[str, ...] | None = None
    column: ContinuousColumn | None = None
    texts: TextColumn | None = None
    positions: tuple[int, ...] = ()

    @property
    def is_number(self) -> bool:
        """Whether its cells are numbers, dates or durations."""
        return self.categories is None and self.texts is None

    def typical_words(self, rows: Floats) -> str:
        """Return parts of words that are frequent in the texts of some encoded rows."""
        assert self.texts is not None  # checked by the callers
        means = np.nanmean(rows[:, list(self.positions)], axis=0)
        parts = zip(self.texts.parts, means, strict=True)
        (words,) = self.texts.typical_words(np.array([[part.decode(mean) for part, mean in parts]]))
        return words

    def text(self, value: float) -> str:
        """Write an encoded value in the table's units, rounded.

        >>> Feature("town", "text", "", 0, ("Kassel", "Passau")).text(1.0)
        'Passau'
        """
        if np.isnan(value):
            return GAP
        if self.categories is not None:
            return self.categories[int(value)] if value < len(self.categories) else OTHER
        if self.column is None:
            return f"{value:.3g}"
        middle, above, own = self._decoded([0.0, 1.0, value])
        return TRAILING_ZEROS.sub("", value_text(own, above - middle))

    def exact_text(self, value: float) -> str:
        """Write an encoded value with all its digits, so that its row can be found by it."""
        if self.column is None or np.isnan(value):
            return self.text(value)
        (own,) = self._decoded([value])
        return f"{own:.10g}" if isinstance(own, float) else self.text(value)

    def _decoded(self, scores: Sequence[float]) -> list[Any]:
        assert self.column is not None  # checked by the callers
        values = self.column.decode(np.array(scores, dtype=float))
        return list(values.astype("O") if values.dtype.kind in "mM" else values.tolist())

    def description(self, values: Floats) -> tuple[str, str, str, str, str]:
        """Return name, kind, number of gaps, range or most frequent categories, and remark of a column."""
        is_there = ~np.isnan(values)
        n_gaps = len(values) - int(is_there.sum())
        gaps = f"{n_gaps:,} ({percent(n_gaps / len(values))})" if n_gaps else "none"
        return self.name, self._kind(), gaps, self._values(values[is_there]), self.remark or GAP

    def _kind(self) -> str:
        if self.categories is None:
            return self.kind
        n = len(self.categories)
        return "1 category" if n == 1 else f"{n:,} categories"

    def _values(self, values: Floats) -> str:
        if not len(values):
            return "none"
        if self.texts is not None:
            return f"texts, encoded as {counted(len(self.positions), 'number')}"
        if self.categories is None:
            low, middle, high = (self.text(float(each)) for each in (values.min(), np.median(values), values.max()))
            return low if low == high else f"{low} to {high}, median {middle}"
        counts = np.bincount(values.astype(int))
        frequent = [int(code) for code in np.argsort(-counts, kind="stable")[:MOST_CATEGORIES] if counts[code]]
        texts = [f"{self.short_text(code)} ({percent(counts[code] / len(values))})" for code in frequent]
        return ", ".join(texts) + (", \N{HORIZONTAL ELLIPSIS}" if (counts > 0).sum() > MOST_CATEGORIES else "")

    def short_text(self, code: int) -> str:
        """Write a category, cut where it is long."""
        return shortened(self.text(float(code)), LONGEST_CATEGORY)


def features(model: MixtureSVC) -> list[Feature]:
    """Return the columns of the table that a model was fitted on, in the table's order."""
    if model.encoder_ is None:
        d, tables = model.mixture_.n_continuous, model.mixture_.categories
        numbers = [Feature(f"x{j}", "number", "", j) for j in range(d)]
        texts = [tuple(map(str, range(table.shape[1]))) for table in tables]
        return [*numbers, *(Feature(f"x{d + j}", "category", "", d + j, each) for j, each in enumerate(texts))]
    places = {str(name): j for j, name in enumerate(model.encoder_.get_feature_names_out())}
    found: list[Feature] = []
    for column in model.encoder_.columns_:
        if isinstance(column, TextColumn):
            own = tuple(places[part.name] for part in column.parts)
            found.append(Feature(column.name, str(column.kind), column.remark, own[0], texts=column, positions=own))
        else:
            found += [_feature(part, places[part.name]) for part in column.parts]
    return found


def _feature(column: Any, position: int) -> Feature:
    about = (column.name, str(column.kind), column.remark, position)
    if isinstance(column, CategoricalColumn):
        return Feature(*about, categories=column.categories)
    return Feature(*about, column=column)
