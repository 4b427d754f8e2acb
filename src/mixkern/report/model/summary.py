"""What a report says first: how much there is, what was learned, how sure that is, what to do next."""

import numpy as np

from mixkern.advice.advice import ANSWERS, Verdict
from mixkern.advice.reason import next_steps, reasons
from mixkern.report.model.component import without_label
from mixkern.report.model.fact import ModelFacts
from mixkern.report.model.word import listed, many, number
from mixkern.report.panel import Tile, Tiles
from mixkern.wording import percent, shortened

SURE = 0.9  # a probability from which a prediction is called sure
WEAK = 0.5  # share of a class's labels that were found when left out, below which it needs more
LARGE = 0.05  # share of all rows in components without a label that deserves to be said first


def tiles(facts: ModelFacts) -> Tiles:
    """Give the figures that matter."""
    estimate = facts.estimate
    accuracy = "unknown"
    about = "estimated accuracy"
    if estimate is not None and estimate.value is not None and estimate.interval is not None:
        low, high = estimate.interval
        accuracy = f"{100 * estimate.value:.0f} %"
        about = f"estimated accuracy, {100 * low:.0f} to {100 * high:.0f} %"
    return Tiles(
        (
            Tile(number(facts.n_rows), "rows"),
            Tile(number(len(facts.features)), "column" if len(facts.features) == 1 else "columns"),
            Tile(number(facts.n_labels), "label" if facts.n_labels == 1 else "labels"),
            Tile(number(int((facts.sizes > 0).sum())), "components"),
            Tile(accuracy, about),
        )
    )


def sentences(facts: ModelFacts) -> list[str]:
    """Say in words what there is, what was learned, and how sure it is."""
    return [_table(facts), _learned(facts), _sure(facts)]


def _table(facts: ModelFacts) -> str:
    size = f"The table has {many(facts.n_rows, 'row')} and {many(len(facts.features), 'column')}."
    if not facts.n_labels:
        return f"{size} None of the rows has a label in the column {_quoted(facts.target)} here."
    how_many = "All rows" if facts.n_labels == facts.n_rows else f"{number(facts.n_labels)} of the rows"
    have = "has" if facts.n_labels == 1 else "have"
    return (
        f"{size} {how_many} {have} a label in the column {_quoted(facts.target)}: {_tally(facts, facts.label_counts)}."
    )


def _learned(facts: ModelFacts) -> str:
    shares = facts.predicted_counts / facts.n_rows
    order = np.argsort(-shares, kind="stable")
    told = [f"{_quoted(facts.classes[code])} for {percent(shares[code])}" for code in order if shares[code]]
    told[0] += " of all rows"
    k = int((facts.sizes > 0).sum())
    return (
        f"From all rows, labelled or not, a density with {many(k, 'component')} was learned, and from the labels a "
        f"machine that measures by it. It predicts {listed(told)}."
    )


def _sure(facts: ModelFacts) -> str:
    estimate = facts.estimate
    told = [str(estimate)] if estimate is not None else []
    if facts.probabilities is not None:
        share = float((facts.probabilities.max(axis=1) >= SURE).mean())
        told.append(
            f"It is sure of {percent(share)} of the rows: the labels have a probability of {100 * SURE:.0f} % or more."
        )
    return " ".join(told)


def steps(facts: ModelFacts, n_suggestions: int) -> list[str]:
    """Say what to do next."""
    told = []
    empty = without_label(facts)
    share = facts.sizes[empty].sum() / facts.n_rows if facts.n_labels else 0.0
    if share >= LARGE:
        which = f"component {empty[0]} holds" if len(empty) == 1 else f"components {listed(list(map(str, empty)))} hold"
        told.append(f"Label rows where there is no label yet: {which} {percent(share)} of all rows.")
    told += _weak(facts)
    if facts.n_labels < facts.n_rows and n_suggestions:
        told.append("Label the rows suggested below, and fit again: they say most about all the others.")
    if facts.verdict in (Verdict.HINDERS, Verdict.UNKNOWN) and facts.purity is not None:
        told += next_steps(facts.verdict, facts.gain, facts.purity, facts.n_rows, type(facts.settings).__name__)
    n_strange = int((facts.novelty > 0.99).sum())
    if n_strange:
        told.append("Look at the most unusual rows: they may be errors, or something that no label knows of.")
    return told


def _weak(facts: ModelFacts) -> list[str]:
    """Name the classes of which most labels were not found again."""
    if facts.estimate is None or facts.n_labels == facts.n_rows:
        return []
    found = facts.estimate.per_class
    weak = [str(label) for label, share in found.items() if share is not None and share < WEAK]
    if not weak:
        return []
    return [
        f"Label more rows of {listed([_quoted(name) for name in weak])}: most labels left out there were not found."
    ]


def help_of_unlabelled(facts: ModelFacts) -> list[str]:
    """Say whether unlabelled rows help, by how much, and why."""
    if facts.purity is None:
        return ["Without labels nobody can tell."]
    told = [f"{ANSWERS[facts.verdict].capitalize()}"]
    if facts.gain is not None:
        low, high = facts.gain.interval
        told[0] += (
            f" Against a machine that knows the labelled rows alone, all rows gain {100 * facts.gain.estimate:+z.0f} "
            f"points of accuracy on labels that were left out ({100 * facts.gain.confidence:g} % interval "
            f"{100 * low:+z.0f} to {100 * high:+z.0f})."
        )
    labels = {name: int(count) for name, count in zip(facts.classes, facts.label_counts, strict=True) if count}
    return told if facts.verdict is Verdict.COMPLETE else [*told, *reasons(facts.gain, facts.purity, labels)]


def _tally(facts: ModelFacts, counts: np.ndarray) -> str:
    order = np.argsort(-counts, kind="stable")
    return listed([f"{number(counts[code])} {_quoted(facts.classes[code])}" for code in order if counts[code]])


def _quoted(text: str) -> str:
    """Put a name of the user's between marks that keep its direction to itself."""
    name = f"\N{FIRST STRONG ISOLATE}{shortened(text)}\N{POP DIRECTIONAL ISOLATE}"
    return f"\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}"
