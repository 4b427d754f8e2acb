"""What speaks for a label and what against it: a score taken apart into the pulls of labelled rows.

A score is a sum over support vectors, f(x) = sum_i a_i k(x, x_i) + b. Nothing here is estimated: the lines of a row add
up to its score.
"""

from enum import StrEnum
from typing import Any

import numpy as np

from mixkern.density import component_table
from mixkern.explain.case import Case, most
from mixkern.imports import optional
from mixkern.kernels import BlendKernel
from mixkern.typing import Floats

DISTINCT = 3  # columns that a component is known by


class Source(StrEnum):
    """What a line of an explanation is about."""

    NEIGHBOUR = "neighbour"  # one labelled row
    COMPONENT = "component"  # the labelled rows of one component
    OTHERS = "others"  # all that have no line of their own, together
    INTERCEPT = "intercept"  # what is added for every row


def pulls_by_neighbour(case: Case, n: int | None) -> Any:
    """Say which labelled rows pull a row to its label, and which pull it away, the strongest first."""
    width = most(n, len(case.support_codes))
    frame = _frame(case, [_neighbours(case, width, *block) for block in case.blocks()])
    labels = np.array([*case.model.classes_.tolist(), None], dtype=object)  # code -1 is the last
    frame["neighbour"] = _positions(frame["neighbour"])
    frame["neighbour_label"] = labels[frame["neighbour_label"].to_numpy()]
    return frame


def _neighbours(case: Case, width: int, at: slice, similarity: Floats, coefficients: Floats) -> dict[str, Any]:
    """Give the lines of some rows."""
    pulls = similarity * coefficients
    takes_part = coefficients != 0  # labelled rows of other classes say nothing about this pair
    top = np.argsort(-np.where(takes_part, np.abs(pulls), -1.0), axis=1, kind="stable")[:, :width]  # (rows, width)
    is_told = np.take_along_axis(takes_part, top, axis=1)
    facts = {"similarity": similarity, **_contributions(case, at)}
    strongest = np.where(is_told, np.take_along_axis(pulls, top, axis=1), 0.0)
    lines = _Lines(case, at, is_told, takes_part.sum(axis=1) > is_told.sum(axis=1))
    return {
        **lines.head(pulls.sum(axis=1) + case.intercept[at]),
        "source": lines.sources(Source.NEIGHBOUR),
        "neighbour": lines.told(case.model.support_[top], -1),
        "neighbour_label": lines.told(case.support_codes[top], -1),
        **{name: lines.told(np.take_along_axis(part, top, axis=1), np.nan) for name, part in facts.items()},
        "pull": lines.all(strongest, pulls.sum(axis=1) - strongest.sum(axis=1), case.intercept[at]),
    }


def pulls_by_component(case: Case, n: int | None) -> Any:
    """Say which components a row comes from, what they are, and where the labelled rows in them pull it.

    A labelled row's pull is divided among components as its own responsibilities are, so that these add up as well.
    """
    mixture = case.model.mixture_
    width = most(n, mixture.n_components)
    inside = mixture.responsibilities(case.model.support_vectors_)  # (s, k)
    frame = _frame(case, [_components(case, width, inside, *block) for block in case.blocks()])
    return _with_words(case, frame, inside)


def _components(
    case: Case, width: int, inside: Floats, at: slice, similarity: Floats, coefficients: Floats
) -> dict[str, Any]:
    """Give the lines of some rows."""
    mixture = case.model.mixture_
    pulls = (similarity * coefficients) @ inside  # (rows, k)
    shares = mixture.responsibilities(case.values[at])
    top = np.argsort(-shares, axis=1, kind="stable")[:, :width]
    lines = _Lines(case, at, np.ones(top.shape, dtype=bool), np.full(len(top), width < mixture.n_components))

    def column(facts: Floats, intercept: Any = np.nan) -> Floats:
        told = np.take_along_axis(facts, top, axis=1)
        return lines.all(told, facts.sum(axis=1) - told.sum(axis=1), np.broadcast_to(intercept, len(top)))

    return {
        **lines.head(pulls.sum(axis=1) + case.intercept[at]),
        "source": lines.sources(Source.COMPONENT),
        "component": lines.told(top, -1),
        "responsibility": column(shares),
        "weight": column(np.broadcast_to(mixture.weights, shares.shape)),
        "pull": column(pulls, case.intercept[at]),
    }


def _with_words(case: Case, frame: Any, inside: Floats) -> Any:
    """Add what distinguishes each component, and the labels of the support vectors that are most likely its own."""
    model = case.model
    words = component_table(model.mixture_, model.encoder_, n_columns=DISTINCT).drop(columns="weight")
    counts = np.zeros((model.mixture_.n_components, len(model.classes_)), dtype=int)
    np.add.at(counts, (inside.argmax(axis=1), case.support_codes), 1)
    classes = model.classes_.tolist()
    support = np.empty(len(counts) + 1, dtype=object)  # None for lines that are about no component: -1 is the last
    support[:-1] = [{label: int(m) for label, m in zip(classes, row, strict=True) if m} for row in counts]
    components = frame["component"].to_numpy()
    frame["support"] = support[components]
    for name, texts in words.sort_index().items():
        frame[name] = np.array([*texts, ""], dtype=object)[components]
    frame["component"] = _positions(frame["component"])
    return frame


def _contributions(case: Case, at: slice) -> dict[str, Floats]:
    """Give what the three kernels of a blend add to a similarity; nothing for others."""
    if not isinstance(case.model.kernel_, BlendKernel):
        return {}
    return case.model.kernel_.contributions(case.rows[at], case.model.support_vectors_)


class _Lines:
    """Where lines go: some for each row that are told, one for the others, one for the intercept."""

    def __init__(self, case: Case, at: slice, is_told: Any, has_others: Any) -> None:
        self.case, self.at = case, at
        self.width = is_told.shape[1]
        self.is_there = np.column_stack([is_told, has_others, np.ones(len(is_told), dtype=bool)])  # (rows, width + 2)
        self.row = np.repeat(np.arange(at.start, at.stop), self.is_there.sum(axis=1))

    def head(self, score: Floats) -> dict[str, Any]:
        """Give what all lines of a row have in common."""
        verdict = self.case.verdict
        return {
            "row": self.row,
            "label": verdict.label[self.row],
            "against": verdict.against[self.row],
            "score": score[self.row - self.at.start],
        }

    def sources(self, source: Source) -> Any:
        """Say what each line is about."""
        words = np.array([*[str(source)] * self.width, str(Source.OTHERS), str(Source.INTERCEPT)], dtype=object)
        return np.broadcast_to(words, self.is_there.shape)[self.is_there]

    def told(self, values: Any, filler: Any) -> Any:
        """Lay out what only the lines that are told have."""
        padding = np.full((len(values), 2), filler)
        return np.hstack([values, padding])[self.is_there]

    def all(self, values: Floats, others: Floats, intercept: Floats) -> Floats:
        """Lay out what all lines have."""
        lines: Floats = np.column_stack([values, others, intercept])[self.is_there]
        return lines


def _frame(case: Case, blocks: list[dict[str, Any]]) -> Any:
    """Put blocks below each other, and names and labels in place of positions."""
    pandas = optional("pandas", purpose="MixtureSVC.explain")
    frame = pandas.DataFrame({name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]})
    frame["row"] = [case.names[i] for i in frame["row"]]
    for name in ("label", "against"):
        frame[name] = case.model.classes_[frame[name].to_numpy()]
    return frame


def _positions(column: Any) -> Any:
    """Give whole numbers that may be missing."""
    return column.astype("Int64").mask(column < 0)
