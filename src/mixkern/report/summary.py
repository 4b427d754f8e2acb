"""The summary of a report: figures, sentences about the table and the model, next steps."""

import numpy as np

from mixkern.advice.advice import ANSWERS, Verdict, next_steps, reasons
from mixkern.report.blocks import Tile, Tiles
from mixkern.report.components import without_label
from mixkern.report.facts import ModelFacts
from mixkern.wording import counted, joined, percent, shortened

SURE = 0.9  # probability from which a prediction counts as sure
WEAK = 0.5  # share of a class's rows that are predicted correctly, below which it needs more labels
LARGE = 0.05  # share of all rows in components without a label from which this is the first step
UNUSUAL = 0.99  # novelty


def tiles(facts: ModelFacts) -> Tiles:
    """Return the figures at the top."""
    estimate = facts.estimate
    accuracy = "unknown"
    about = "estimated accuracy"
    if estimate is not None and estimate.value is not None and estimate.interval is not None:
        low, high = estimate.interval
        accuracy = f"{100 * estimate.value:.0f} %"
        about = f"estimated accuracy, {100 * low:.0f} to {100 * high:.0f} %"
    k = int((facts.sizes > 0).sum())
    return Tiles(
        (
            Tile(f"{facts.n_rows:,}", "rows"),
            Tile(f"{facts.n_columns:,}", "column" if facts.n_columns == 1 else "columns"),
            Tile(f"{facts.n_labels:,}", "label" if facts.n_labels == 1 else "labels"),
            Tile(f"{k:,}", "component" if k == 1 else "components"),
            Tile(accuracy, about),
        )
    )


def sentences(facts: ModelFacts) -> list[str]:
    """Return a sentence each about the table, the model, and how sure the predictions are."""
    return [_table(facts), _model(facts), _certainty(facts)]


def _table(facts: ModelFacts) -> str:
    size = f"The table has {counted(facts.n_rows, 'row')} and {counted(facts.n_columns, 'column')}."
    if not facts.n_labels:
        return f"{size} None of the rows has a label in the column {_quoted(facts.target)}."
    how_many = "All rows" if facts.n_labels == facts.n_rows else f"{facts.n_labels:,} of the rows"
    have = "has" if facts.n_labels == 1 else "have"
    order = np.argsort(-facts.label_counts, kind="stable")
    tally = [f"{facts.label_counts[i]:,} {_quoted(facts.classes[i])}" for i in order if facts.label_counts[i]]
    return f"{size} {how_many} {have} a label in the column {_quoted(facts.target)}: {joined(tally)}."


def _model(facts: ModelFacts) -> str:
    shares = facts.predicted_counts / facts.n_rows
    order = np.argsort(-shares, kind="stable")
    predicted = [f"{_quoted(facts.classes[code])} for {percent(shares[code])}" for code in order if shares[code]]
    predicted[0] += " of all rows"
    k = int((facts.sizes > 0).sum())
    return (
        f"A density with {counted(k, 'component')} was learned from all rows, labelled or not, and a classifier from "
        f"the labels. The classifier predicts {joined(predicted)}."
    )


def _certainty(facts: ModelFacts) -> str:
    """Return how sure the predictions are; how accurate they are stands in a tile, and in a chapter."""
    if facts.probabilities is None:
        return "The model was fitted without probabilities."
    share = float((facts.probabilities.max(axis=1) >= SURE).mean())
    rows = percent(share) if share else "none"
    return f"The predicted label has a probability of {100 * SURE:.0f} % or more for {rows} of the rows."


def steps(facts: ModelFacts, n_suggestions: int) -> list[str]:
    """Return what to do next."""
    found = []
    empty = without_label(facts)
    share = facts.sizes[empty].sum() / facts.n_rows if facts.n_labels else 0.0
    if share >= LARGE:
        which = f"component {empty[0]} has" if len(empty) == 1 else f"components {joined(list(map(str, empty)))} have"
        found.append(f"Label rows of components without a label: {which} {percent(share)} of all rows.")
    found += _weak(facts)
    if facts.n_labels < facts.n_rows and n_suggestions:
        found.append("Label the rows suggested below, and fit again: their labels help most with all other rows.")
    if facts.verdict in (Verdict.HINDERS, Verdict.UNKNOWN) and facts.purity is not None:
        found += next_steps(facts.verdict, facts.gain, facts.purity, facts.n_rows, type(facts.settings).__name__)
    if facts.mistaken is not None and facts.mistaken.n_standing_out:
        found.append("Check the labels that may be mistaken, which are listed below.")
    if (facts.novelty > UNUSUAL).any():
        found.append("Look at the most unusual rows: they may be errors, or belong to a class that has no label yet.")
    return found


def _weak(facts: ModelFacts) -> list[str]:
    """Return a step that names the classes whose rows are mostly predicted wrongly."""
    if facts.estimate is None or facts.n_labels == facts.n_rows:
        return []
    found = facts.estimate.per_class
    weak = [_quoted(str(label)) for label, share in found.items() if share is not None and share < WEAK]
    if not weak:
        return []
    return [f"Label more rows of {joined(weak)}: most rows of such a class are predicted wrongly."]


def help_of_unlabelled(facts: ModelFacts) -> list[str]:
    """Return whether unlabelled rows help and by how much, and the reasons."""
    if facts.purity is None:
        return ["This cannot be estimated without labels."]
    first = ANSWERS[facts.verdict].capitalize()
    if facts.gain is not None:
        low, high = facts.gain.interval
        first += (
            f" On labels that were left out, a classifier learned from all rows is {_difference(facts.gain.estimate)} "
            f"one learned from the labelled rows alone ({100 * facts.gain.confidence:g} % interval "
            f"{100 * low:+z.0f} to {100 * high:+z.0f} points)."
        )
    labels = {name: int(count) for name, count in zip(facts.classes, facts.label_counts, strict=True) if count}
    return [first] if facts.verdict is Verdict.COMPLETE else [first, *reasons(facts.gain, facts.purity, labels)]


def _difference(gain: float) -> str:
    """Write a difference of accuracies in words.

    >>> _difference(0.042), _difference(-0.01), _difference(0.001)
    ('4 points more accurate than', '1 point less accurate than', 'as accurate as')
    """
    points = round(100 * gain)
    if not points:
        return "as accurate as"
    return f"{counted(abs(points), 'point')} {'more' if points > 0 else 'less'} accurate than"


def _quoted(text: str) -> str:
    """Quote a name that a user chose, isolated from the direction of the text around it."""
    name = f"\N{FIRST STRONG ISOLATE}{shortened(text)}\N{POP DIRECTIONAL ISOLATE}"
    return f"\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}"
