"""One card for each component: how large it is, which labels are in it, what it is like."""

from dataclasses import dataclass

import numpy as np

from mixkern.report.block import Block, Paragraph
from mixkern.report.mark import OTHERS
from mixkern.report.model.fact import ModelFacts
from mixkern.report.model.feature import Feature
from mixkern.report.model.word import many, number
from mixkern.report.panel import Card, Cards, Share
from mixkern.typing import Floats, Ints
from mixkern.wording import percent, shortened

MOST_CARDS = 18
MOST_COLUMNS = 4  # of a card
MOST_SHARES = 4  # classes that are named one by one
ENOUGH_ROWS = 50_000  # to see what is typical
LEAST = 0.25  # deviations by which a column sets a component apart


def shown_components(facts: ModelFacts) -> list[int]:
    """Give the numbers of the largest components, the largest first; those without any row are not there."""
    order = np.argsort(-facts.sizes, kind="stable")
    return [int(k) for k in order if facts.sizes[k]][:MOST_CARDS]


def component_blocks(facts: ModelFacts) -> tuple[Block, ...]:
    """Write the cards, and count the components that have none."""
    shown = shown_components(facts)
    typical = _Typical.of(facts)
    rest = [k for k in range(len(facts.sizes)) if k not in shown and facts.sizes[k]]
    blocks: list[Block] = [Paragraph(_introduction(facts)), Cards(tuple(_card(facts, typical, k) for k in shown))]
    if rest:
        n_rows, n_labels = facts.sizes[rest].sum(), int(np.isin(facts.components[facts.codes >= 0], rest).sum())
        more = f"{many(len(rest), 'smaller component')} with {many(int(n_rows), 'row')} and {many(n_labels, 'label')}"
        blocks.append(Paragraph(f"Not shown: {more} in all."))
    return tuple(blocks)


def _introduction(facts: ModelFacts) -> str:
    n_empty = len(without_label(facts))
    k = int((facts.sizes > 0).sum())
    text = (
        f"The density has found {many(k, 'component')}: groups of rows that are alike, found without any label. Each "
        "row counts where it most probably belongs. A range is that of the middle half of a component's rows."
    )
    if facts.n_labels and n_empty:
        text += f" {many(n_empty, 'component')} {'has' if n_empty == 1 else 'have'} no label yet."
    return text


def without_label(facts: ModelFacts) -> list[int]:
    """Give the components that have rows but no label."""
    labelled = np.bincount(facts.components[facts.codes >= 0], minlength=len(facts.sizes))
    return [int(k) for k in np.flatnonzero((labelled == 0) & (facts.sizes > 0))]


def _card(facts: ModelFacts, typical: "_Typical", k: int) -> Card:
    here = facts.components == k
    labels = np.bincount(facts.codes[here & (facts.codes >= 0)], minlength=len(facts.classes))
    predicted = np.bincount(facts.predicted[here], minlength=len(facts.classes))
    n_labels = int(labels.sum())
    lines = [(many(n_labels, "label"), _shares(facts, labels))] if n_labels else []
    lines.append(("Predicted", _shares(facts, predicted, as_percent=True)))
    return Card(
        title=f"Component {k}",
        about=f"{many(int(facts.sizes[k]), 'row')}, {percent(facts.sizes[k] / facts.n_rows)}",
        warning="" if n_labels else "No label here",
        lines=tuple(lines),
        columns=("Column", "Here", "In all rows"),
        rows=typical.of_component(k),
    )


def _shares(facts: ModelFacts, counts: Ints, *, as_percent: bool = False) -> tuple[Share, ...]:
    """Give the classes by their numbers, the most frequent first; the last ones are counted only."""
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    total = counts.sum()

    def share(code: int) -> Share:
        amount = percent(counts[code] / total) if as_percent else number(counts[code])
        return Share(code, counts[code] / total, facts.classes[code], amount)

    others = int(counts[order[MOST_SHARES:]].sum())
    amount = percent(others / total) if as_percent else number(others)
    more = (Share(OTHERS, others / total, f"{len(order) - MOST_SHARES} others", amount),) if others else ()
    return (*map(share, order[:MOST_SHARES]), *more)


# ---------------------------------------------------------------- what is typical


@dataclass(frozen=True, eq=False)
class _Typical:
    """What rows of a component are like, beside all rows."""

    features: tuple[Feature, ...]
    rows: Floats  # (m, d + e): some of all
    components: Ints  # (m,)

    @classmethod
    def of(cls, facts: ModelFacts) -> "_Typical":
        some = np.random.RandomState(0).permutation(facts.n_rows)[:ENOUGH_ROWS]
        return cls(facts.features, facts.rows[some], facts.components[some])

    def of_component(self, k: int) -> tuple[tuple[str, str, str], ...]:
        """Give the columns in which a component differs most: what is typical here, and in all rows."""
        here = self.rows[self.components == k]
        told = [(*self._said(each, here), each.name) for each in self.features] if len(here) else []
        told.sort(key=lambda item: -item[0])
        return tuple((name, own, whole) for far, own, whole, name in told[:MOST_COLUMNS] if far >= LEAST)

    def _said(self, feature: Feature, here: Floats) -> tuple[float, str, str]:
        own, whole = here[:, feature.position], self.rows[:, feature.position]
        own, whole = own[~np.isnan(own)], whole[~np.isnan(whole)]
        if not len(own):
            return 0.0, "", ""
        return _categories(feature, own, whole) if feature.categories is not None else _numbers(feature, own, whole)


def _numbers(feature: Feature, own: Floats, whole: Floats) -> tuple[float, str, str]:
    deviation = float(whole.std())
    far = abs(float(own.mean() - whole.mean())) / deviation if deviation else 0.0
    return far, _range(feature, own), _range(feature, whole)


def _range(feature: Feature, values: Floats) -> str:
    low, high = (feature.say(float(each)) for each in np.quantile(values, [0.25, 0.75]))
    return low if low == high else f"{low} to {high}"


def _categories(feature: Feature, own: Floats, whole: Floats) -> tuple[float, str, str]:
    n = int(whole.max()) + 1
    here, share = (np.bincount(each.astype(int), minlength=n) / len(each) for each in (own, whole))
    deviation = np.sqrt(share * (1 - share))
    above = np.divide(here - share, deviation, out=np.zeros(n), where=deviation > 0)
    best = int(np.argmax(np.where(here >= 0.2, above, -1.0)))  # what hardly any row has is not typical
    name = shortened(feature.say(float(best)), 24)
    return float(above[best]), f"{name} {percent(here[best])}", percent(share[best])
