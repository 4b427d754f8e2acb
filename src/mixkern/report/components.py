"""Cards of the components: size, labels, predictions and typical values."""

from dataclasses import dataclass

import numpy as np

from mixkern.report.blocks import OTHERS, Block, Card, Cards, Paragraph, Share
from mixkern.report.columns import GAP, Feature
from mixkern.report.facts import ModelFacts
from mixkern.typing import Floats, Ints
from mixkern.wording import counted, percent

MOST_CARDS = 18
MOST_COLUMNS = 4  # of a card
MOST_SHARES = 4  # classes that are named one by one
ENOUGH_ROWS = 50_000  # for typical values
LEAST = 0.25  # deviations from all rows, for a column to be shown


def shown_components(facts: ModelFacts) -> list[int]:
    """Return the largest components with a row, the largest first."""
    order = np.argsort(-facts.sizes, kind="stable")
    return [int(k) for k in order if facts.sizes[k]][:MOST_CARDS]


def component_blocks(facts: ModelFacts) -> tuple[Block, ...]:
    """Return the cards, and a count of the components without one."""
    shown = shown_components(facts)
    typical = _Typical.of(facts)
    rest = [k for k in range(len(facts.sizes)) if k not in shown and facts.sizes[k]]
    blocks: list[Block] = [Paragraph(_introduction(facts)), Cards(tuple(_card(facts, typical, k) for k in shown))]
    if rest:
        n_rows, n_labels = facts.sizes[rest].sum(), int(np.isin(facts.components[facts.codes >= 0], rest).sum())
        inside = f"{counted(int(n_rows), 'row')} and {counted(n_labels, 'label')}"
        blocks.append(Paragraph(f"Not shown: {counted(len(rest), 'smaller component')} with {inside} in all."))
    return tuple(blocks)


def _introduction(facts: ModelFacts) -> str:
    n_empty = len(without_label(facts))
    k = int((facts.sizes > 0).sum())
    if k == 1:
        return "The density has 1 component: the rows form no groups."
    text = (
        f"The density has {counted(k, 'component')}: groups of similar rows, found without labels. Each row is counted "
        "in its most probable component. A range holds the middle half of a component's rows."
    )
    if np.isnan(facts.rows).any():
        text += " Gaps are left out of ranges and shares."
    if facts.texts:
        text += " Texts are described by parts of words that are frequent in them."
    if facts.n_labels and n_empty:
        text += f" {counted(n_empty, 'component')} {'has' if n_empty == 1 else 'have'} no label yet."
    return text


def without_label(facts: ModelFacts) -> list[int]:
    """Return the components that have rows but no label."""
    labelled = np.bincount(facts.components[facts.codes >= 0], minlength=len(facts.sizes))
    return [int(k) for k in np.flatnonzero((labelled == 0) & (facts.sizes > 0))]


def _card(facts: ModelFacts, typical: "_Typical", k: int) -> Card:
    here = facts.components == k
    labels = np.bincount(facts.codes[here & (facts.codes >= 0)], minlength=len(facts.classes))
    predicted = np.bincount(facts.predicted[here], minlength=len(facts.classes))
    n_labels = int(labels.sum())
    lines = [(counted(n_labels, "label"), _shares(facts, labels))] if n_labels else []
    lines.append(("Predicted", _shares(facts, predicted, as_percent=True)))
    return Card(
        title=f"Component {k}",
        about=f"{counted(int(facts.sizes[k]), 'row')}, {percent(facts.sizes[k] / facts.n_rows)}",
        warning="" if n_labels else "No label here",
        lines=tuple(lines),
        columns=("Column", "Here", "In all rows"),
        rows=typical.of_component(k),
    )


def _shares(facts: ModelFacts, counts: Ints, *, as_percent: bool = False) -> tuple[Share, ...]:
    """Return the shares of the most frequent classes, and of all others together."""
    order = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    total = counts.sum()

    def share(code: int) -> Share:
        amount = percent(counts[code] / total) if as_percent else f"{counts[code]:,}"
        return Share(code, counts[code] / total, facts.classes[code], amount)

    others = int(counts[order[MOST_SHARES:]].sum())
    amount = percent(others / total) if as_percent else f"{others:,}"
    more = (Share(OTHERS, others / total, f"{len(order) - MOST_SHARES} others", amount),) if others else ()
    return (*map(share, order[:MOST_SHARES]), *more)


@dataclass(frozen=True, eq=False)
class _Typical:
    """Typical values of components and of all rows."""

    features: tuple[Feature, ...]
    rows: Floats  # (m, d + e): some of all
    components: Ints  # (m,)

    @classmethod
    def of(cls, facts: ModelFacts) -> "_Typical":
        some = np.random.RandomState(0).permutation(facts.n_rows)[:ENOUGH_ROWS]
        return cls(facts.features, facts.rows[some], facts.components[some])

    def of_component(self, k: int) -> tuple[tuple[str, str, str], ...]:
        """Return the columns in which a component differs most: name, typical value here, and in all rows."""
        here = self.rows[self.components == k]
        found = [(*self._compared(each, here), each.name) for each in self.features] if len(here) else []
        found.sort(key=lambda item: -item[0])
        return tuple((name, own, whole) for far, own, whole, name in found[:MOST_COLUMNS] if far >= LEAST)

    def _compared(self, feature: Feature, here: Floats) -> tuple[float, str, str]:
        if feature.texts is not None:
            return self._texts(feature, here)
        own, whole = here[:, feature.position], self.rows[:, feature.position]
        own, whole = own[~np.isnan(own)], whole[~np.isnan(whole)]
        if not len(own):
            return 0.0, "", ""
        return _categories(feature, own, whole) if feature.categories is not None else _numbers(feature, own, whole)

    def _texts(self, feature: Feature, here: Floats) -> tuple[float, str, str]:
        own, whole = (rows[~np.isnan(rows[:, feature.position])] for rows in (here, self.rows))
        if not len(own):
            return 0.0, "", ""
        at = list(feature.positions)
        far = np.abs(own[:, at].mean(axis=0) - whole[:, at].mean(axis=0)) / np.maximum(whole[:, at].std(axis=0), 1e-9)
        return float(far.max()), f"with {feature.typical_words(own)}", GAP


def _numbers(feature: Feature, own: Floats, whole: Floats) -> tuple[float, str, str]:
    deviation = float(whole.std())
    far = abs(float(own.mean() - whole.mean())) / deviation if deviation else 0.0
    return far, _range(feature, own), _range(feature, whole)


def _range(feature: Feature, values: Floats) -> str:
    low, high = (feature.text(float(each)) for each in np.quantile(values, [0.25, 0.75]))
    return low if low == high else f"{low} to {high}"


def _categories(feature: Feature, own: Floats, whole: Floats) -> tuple[float, str, str]:
    n = int(whole.max()) + 1
    here, share = (np.bincount(each.astype(int), minlength=n) / len(each) for each in (own, whole))
    deviation = np.sqrt(share * (1 - share))
    above = np.divide(here - share, deviation, out=np.zeros(n), where=deviation > 0)
    best = int(np.argmax(np.where(here >= 0.2, above, -1.0)))  # a rare category is not typical
    return float(above[best]), f"{feature.short_text(best)} ({percent(here[best])})", percent(share[best])
