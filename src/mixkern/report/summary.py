"""The summary of a report: figures, sentences about the table and the model, next steps."""

import numpy as np

from mixkern.advice.advice import ANSWERS, Verdict, next_steps, reasons
from mixkern.report.blocks import Alert, Tile, Tiles
from mixkern.report.components import without_label
from mixkern.report.facts import ModelFacts
from mixkern.typing import Ints
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
            _label_tile(facts),
            Tile(f"{k:,}", "component" if k == 1 else "components"),
            Tile(accuracy, about),
        )
    )


def _label_tile(facts: ModelFacts) -> Tile:
    if facts.has_other_labels and facts.fitted_counts is not None:
        return Tile(f"{facts.fitted_counts.sum():,}", "labels when the model was fitted")
    return Tile(f"{facts.n_labels:,}", "label" if facts.n_labels == 1 else "labels")


def alerts(facts: ModelFacts) -> tuple[Alert, ...]:
    """Return a warning where the labels are not those that the model was fitted on, with what belongs to which."""
    if not facts.has_other_labels:
        return ()
    now = f"the table has {counted(facts.n_labels, 'label')} now{_in_brackets(facts, facts.label_counts)}"
    if facts.fitted_counts is None:
        texts = [f"It was fitted on labels whose number is not recorded; {now}."]
    else:
        before = counted(int(facts.fitted_counts.sum()), "label")
        from_journal = f" of {facts.at_fit.origin}" if facts.at_fit.origin else ""
        texts = [f"It was fitted on {before}{_in_brackets(facts, facts.fitted_counts)}{from_journal}; {now}."]
    if facts.unknown_classes:
        names = joined([_quoted(name) for name in facts.unknown_classes])
        which = "the class" if len(facts.unknown_classes) == 1 else "the classes"
        texts.append(f"It does not know {which} {names}: it predicts only those that it was fitted on.")
    texts.append(
        "Predictions and the accuracy on this page are those of this model. Labels that may be mistaken, suggested "
        "rows and components without a label follow from the labels that the table has now. Fit the model again, so "
        "that both are the same."
    )
    return (Alert("This model was fitted on other labels.", " ".join(texts)),)


def _in_brackets(facts: ModelFacts, counts: Ints) -> str:
    """Return the numbers of labels by class, in brackets; empty without labels."""
    some = [f"{n:,} {_quoted(name)}" for name, n in zip(facts.classes, counts.tolist(), strict=True) if n]
    return f" ({joined(some)})" if some else ""


def no_estimate(facts: ModelFacts) -> str:
    """Return why there is no estimated accuracy."""
    if facts.has_other_labels:
        return (
            "The accuracy of this model is not recorded in its file, and with other labels than those that it was "
            "fitted on it cannot be estimated. Fit the model again."
        )
    return "The density of this model was fitted with the labels, so they cannot be left out to test it."


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
    now = " now" if facts.has_other_labels else ""
    return f"{size} {how_many} {have} a label in the column {_quoted(facts.target)}{now}: {joined(tally)}."


def _model(facts: ModelFacts) -> str:
    shares = facts.predicted_counts / facts.n_rows
    order = np.argsort(-shares, kind="stable")
    predicted = [f"{_quoted(facts.classes[code])} for {percent(shares[code])}" for code in order if shares[code]]
    predicted[0] += " of all rows"
    k = int((facts.sizes > 0).sum())
    labels = "the labels of that time" if facts.has_other_labels else "the labels"
    return (
        f"A density with {counted(k, 'component')} was learned from all rows, labelled or not, and a classifier from "
        f"{labels}. The classifier predicts {joined(predicted)}."
    )


def _certainty(facts: ModelFacts) -> str:
    """Return how sure the predictions are, and what their accuracy, which stands in a tile, is to be compared with."""
    compared = "" if facts.estimate is None else facts.estimate.baseline_sentence
    if facts.probabilities is None:
        return f"The model was fitted without probabilities. {compared}".rstrip()
    share = float((facts.probabilities.max(axis=1) >= SURE).mean())
    rows = percent(share) if share else "none"
    sure = f"The predicted label has a probability of {100 * SURE:.0f} % or more for {rows} of the rows."
    return f"{sure} {compared}".rstrip()


def steps(facts: ModelFacts, n_suggestions: int) -> list[str]:
    """Return what to do next."""
    found = []
    if facts.has_other_labels:
        found.append("Fit the model again: it was fitted on other labels than the table has now.")
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
