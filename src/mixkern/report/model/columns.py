"""The columns of a table: what is in them, and which ones tell components apart."""

from collections.abc import Sequence

import numpy as np

from mixkern.report.model.fact import ModelFacts
from mixkern.report.model.feature import GAP, Feature
from mixkern.report.model.word import number
from mixkern.report.panel import TextTable
from mixkern.typing import Floats
from mixkern.wording import percent, shortened

MOST_COLUMNS = 40  # of the table of columns
MOST_CATEGORIES = 3  # that are named of a column


def column_table(facts: ModelFacts) -> TextTable:
    """Say of each column what kind it is of, how many gaps it has, and what its values are."""
    shown = telling(facts, MOST_COLUMNS)
    caption = "Numbers: smallest to largest, and the median. Categories: the most frequent ones."
    if len(shown) < len(facts.features):
        which = (
            f"The {len(shown)} of {number(len(facts.features))} columns that differ most from component to component."
        )
        caption = f"{which} {caption}"
    rows = tuple(_row(each, facts.rows[:, each.position]) for each in shown)
    columns: tuple[str, ...] = ("Column", "Kind", "Gaps", "Values", "Remark")
    if not any(each.remark for each in shown):
        columns, rows = columns[:-1], tuple(row[:-1] for row in rows)
    return TextTable("columns", "What is in the columns", caption, columns, rows, frozenset({2}))


def telling(facts: ModelFacts, most: int) -> list[Feature]:
    """Give the columns that differ most from component to component, in the order of the table."""
    if len(facts.features) <= most:
        return list(facts.features)
    mixture = facts.model.mixture_
    spread = mixture.weights @ (mixture.means - mixture.weights @ mixture.means) ** 2  # (d,)
    shares = [float((mixture.weights @ (table - mixture.weights @ table) ** 2).sum()) for table in mixture.categories]
    worth = np.array([*spread, *shares])
    best = set(np.argsort(-worth, kind="stable")[:most].tolist())
    return [each for each in facts.features if each.position in best]


def _row(feature: Feature, values: Floats) -> tuple[str, ...]:
    is_there = ~np.isnan(values)
    n_gaps = len(values) - int(is_there.sum())
    gaps = f"{number(n_gaps)} ({percent(n_gaps / len(values))})" if n_gaps else "none"
    return feature.name, _kind(feature), gaps, _values(feature, values[is_there]), feature.remark or GAP


def _kind(feature: Feature) -> str:
    if feature.categories is not None:
        n = len(feature.categories)
        return "1 category" if n == 1 else f"{number(n)} categories"
    return feature.kind


def _values(feature: Feature, values: Floats) -> str:
    if not len(values):
        return "none"
    if feature.categories is None:
        low, middle, high = (feature.say(float(each)) for each in (values.min(), np.median(values), values.max()))
        return low if low == high else f"{low} to {high}, median {middle}"
    counts = np.bincount(values.astype(int))
    often = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
    texts = [
        f"{shortened(feature.say(float(code)), 24)} {percent(counts[code] / len(values))}"
        for code in often
        if counts[code]
    ]
    return ", ".join(texts) + (", \N{HORIZONTAL ELLIPSIS}" if (counts > 0).sum() > MOST_CATEGORIES else "")


def cells(shown: Sequence[Feature], row: Floats) -> tuple[str, ...]:
    """Write some cells of an encoded row."""
    return tuple(each.exact(float(row[each.position])) for each in shown)
