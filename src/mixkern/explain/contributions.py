"""Scores of rows, split into the contributions of labelled rows and of components.

The score of an SVM is a sum over support vectors, f(x) = sum_i a_i k(x, x_i) + b. Where unlabelled rows are avoided,
the score is the weighted mean of this and of the score of an S3VM, which is one line. Nothing is estimated: the lines
of a row add up to its score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from mixkern.density import Rows
from mixkern.density.describe import described_components
from mixkern.kernels import BlendKernel
from mixkern.svm import one_vs_one
from mixkern.svm.decision import kernel_matrix
from mixkern.svm.libsvm import pair_positions
from mixkern.svm.one_vs_one import chosen, sklearn_sign
from mixkern.svm.scheme import scheme_of
from mixkern.typing import Floats, Ints
from mixkern.validation import COUNT, NONE

CELLS = 2**22  # kernel values between rows and support vectors held at a time
N_DISTINCT = 3  # columns that describe a component


class By(StrEnum):
    """Basis of an explanation."""

    LABEL = "label"  # labelled rows
    COMPONENT = "component"  # components of the density, and the labelled rows in them
    COLUMN = "column"  # columns in which a row differs from others


class Source(StrEnum):
    """Subject of a line of an explanation."""

    NEIGHBOUR = "neighbour"  # one labelled row
    COMPONENT = "component"  # the labelled rows of one component
    OTHERS = "others"  # all without a line of their own
    AVOIDED = "avoided"  # the unlabelled rows: the S3VM, which avoids regions with many unlabelled rows
    INTERCEPT = "intercept"  # added to the score of every row


@dataclass(frozen=True, eq=False)
class PairDecision:
    """Predicted class and runner-up of each row, and the decision between the two.

    The runner-up is the class with the next highest probability, or score where there are none. The decision is the
    function of the pair; where there is one function for each class, it is half the difference of two.
    """

    label: Ints  # (n,)
    against: Ints  # (n,)
    pair: Ints | None  # (n,): position of the decision function; None with functions of single classes
    sign: Floats  # (n,): 1 where it is positive for the label, -1 where it is positive for the other

    @classmethod
    def of(cls, decisions: Floats, n_classes: int, probabilities: Floats | None = None) -> "PairDecision":
        """Take the class with the highest score, and the most probable other one.

        >>> decided = PairDecision.of(np.array([[-0.5, 0.2, 1.5]]), 3)  # 1 beats 0, 0 beats 2, 1 beats 2
        >>> int(decided.label[0]), int(decided.against[0]), float(decided.sign[0])
        (1, 0, -1.0)
        """
        scheme = scheme_of(decisions.shape[1], n_classes)
        scores = np.array(scheme.class_scores(decisions, n_classes))
        label = chosen(scores)
        if n_classes == 2:
            against = 1 - label
        else:
            ranks = scores if probabilities is None else probabilities.copy()
            ranks[np.arange(len(ranks)), label] = -np.inf
            against = ranks.argmax(axis=1)
        if scheme is not one_vs_one:
            return cls(label, against, None, np.ones(len(label)))
        pair = pair_positions(n_classes)[label, against]
        return cls(label, against, pair, np.where(label < against, 1.0, -1.0))

    def between(self, functions: Floats, at: slice = slice(None)) -> Floats:  # (rows, ...)
        """Take what belongs to the decisions of some rows, from an array with an entry for each function.

        Parameters
        ----------
        functions : ndarray of shape (q, ...)
            Coefficients or intercepts of all functions.
        at : slice, default=slice(None)
            The rows.
        """
        if self.pair is None:
            return (functions[self.label[at]] - functions[self.against[at]]) / 2
        return (self.sign[at] * functions[self.pair[at]].T).T


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """Rows to explain, and the classifier that predicts their labels."""

    model: Any  # a fitted MixtureSVC
    names: Sequence[Any]  # of the rows: their index, or their positions
    rows: Rows
    decisions: Floats  # (n, q)

    @cached_property
    def decided(self) -> PairDecision:
        """Predicted class and runner-up of each row."""
        model = self.model
        probabilities = model.decision_probabilities(self.decisions) if model.slope_ is not None else None
        return PairDecision.of(self.decisions, len(model.classes_), probabilities)

    @cached_property
    def support_codes(self) -> Ints:  # (s,)
        """Classes of the support vectors, which libsvm sorts by class."""
        counts = self.model.n_support_
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def _factor(self) -> float:
        """Factor of ``dual_coef_`` and ``intercept_``: the weight of the SVM, with the sign of the solver."""
        return (1 - self.model.avoiding_share_) * sklearn_sign(len(self.model.classes_))

    @cached_property
    def intercept(self) -> Floats:  # (n,)
        """Intercepts of the decision functions, positive for the label."""
        return self._factor * self.decided.between(self.model.intercept_)

    @cached_property
    def unlabelled(self) -> Floats | None:  # (n,)
        """Contributions of the S3VM, positive for the label; None for an SVM alone."""
        values = self.model.avoiding_values(self.rows)
        if values is None:
            return None
        part: Floats = self.decided.sign * values[np.arange(len(values)), self.decided.pair]
        return part

    @cached_property
    def common(self) -> Floats:  # (n,)
        """Contributions that have no subject: the intercept, and that of the S3VM."""
        return self.intercept if self.unlabelled is None else self.intercept + self.unlabelled

    @cached_property
    def support(self) -> Rows:
        """Support vectors."""
        return Rows(self.model.support_vectors_, self.model.mixture_)

    def blocks(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Compute similarities and coefficients of all support vectors, for some rows at a time.

        Yields
        ------
        slice
            The rows.
        similarity, coefficients : ndarray of shape (rows, s)
            Their product is the contribution: positive for the label, negative for the runner-up.
        """
        step = max(1, CELLS // max(1, len(self.support)))
        for start in range(0, len(self.rows), step):
            at = slice(start, min(start + step, len(self.rows)))
            coefficients = self._factor * self.decided.between(self.model.dual_coef_, at)
            yield at, kernel_matrix(self.model.kernel_, self.rows[at], self.support), coefficients


def row_names(X: Any, n: int) -> Sequence[Any]:
    """Return the index of a pandas frame, and positions for other tables."""
    return list(X.index) if hasattr(X, "iloc") else list(range(n))


def n_lines(n: int | None, available: int) -> int:
    """Check the number of lines of a row; None is all."""
    (COUNT | NONE).check(n, "n")
    return available if n is None else min(int(n), available)


def neighbour_contributions(explained: ExplainedRows, n: int | None) -> dict[str, Any]:
    """Contributions of labelled rows to the scores, the largest first, as columns."""
    width = n_lines(n, len(explained.support_codes))
    columns = _joined(explained, [_neighbours(explained, width, *block) for block in explained.blocks()])
    labels = np.array([*explained.model.classes_.tolist(), None], dtype=object)  # code -1 is the last
    columns["neighbour"] = positions(columns["neighbour"])
    columns["its_label"] = labels[columns["its_label"]]
    return columns


def _neighbours(
    explained: ExplainedRows, width: int, at: slice, similarity: Floats, coefficients: Floats
) -> dict[str, Any]:
    """Lines of some rows."""
    pulls = similarity * coefficients
    takes_part = coefficients != 0  # labelled rows of other classes have no part in this pair
    top = np.argsort(-np.where(takes_part, np.abs(pulls), -1.0), axis=1, kind="stable")[:, :width]  # (rows, width)
    is_listed = np.take_along_axis(takes_part, top, axis=1)
    facts = {"similarity": similarity, **_kernel_parts(explained, at)}
    strongest = np.where(is_listed, np.take_along_axis(pulls, top, axis=1), 0.0)
    lines = _Lines(explained, at, is_listed, takes_part.sum(axis=1) > is_listed.sum(axis=1))
    return {
        **lines.head(pulls.sum(axis=1) + explained.common[at]),
        "source": lines.sources(Source.NEIGHBOUR),
        "neighbour": lines.listed(explained.model.support_[top], -1),
        "its_label": lines.listed(explained.support_codes[top], -1),
        **{name: lines.listed(np.take_along_axis(part, top, axis=1), np.nan) for name, part in facts.items()},
        "pull": lines.pulls(strongest, pulls.sum(axis=1) - strongest.sum(axis=1)),
    }


def component_contributions(explained: ExplainedRows, n: int | None) -> dict[str, Any]:
    """Contributions of components to the scores, the most responsible component first, as columns.

    The contribution of a labelled row is divided among components by its responsibilities, so that these add up too.
    """
    width = n_lines(n, explained.model.mixture_.n_components)
    columns = _joined(explained, [_components(explained, width, *block) for block in explained.blocks()])
    return _with_descriptions(explained, columns)


def _components(
    explained: ExplainedRows, width: int, at: slice, similarity: Floats, coefficients: Floats
) -> dict[str, Any]:
    """Lines of some rows."""
    mixture = explained.model.mixture_
    pulls = (similarity * coefficients) @ explained.support.responsibilities  # (rows, k)
    shares = explained.rows[at].responsibilities
    top = np.argsort(-shares, axis=1, kind="stable")[:, :width]
    lines = _Lines(explained, at, np.ones(top.shape, dtype=bool), np.full(len(top), width < mixture.n_components))

    def parts(facts: Floats) -> tuple[Floats, Floats]:
        listed = np.take_along_axis(facts, top, axis=1)
        return listed, facts.sum(axis=1) - listed.sum(axis=1)

    return {
        **lines.head(pulls.sum(axis=1) + explained.common[at]),
        "source": lines.sources(Source.COMPONENT),
        "component": lines.listed(top, -1),
        "responsibility": lines.facts(*parts(shares)),
        "weight": lines.facts(*parts(np.broadcast_to(mixture.weights, shares.shape))),
        "pull": lines.pulls(*parts(pulls)),
    }


def _with_descriptions(explained: ExplainedRows, columns: dict[str, Any]) -> dict[str, Any]:
    """Add a description of each component, and the labels of the support vectors that most likely come from it."""
    model = explained.model
    texts = described_components(model.mixture_, model.encoder_, N_DISTINCT)
    order = np.argsort(texts["component"])
    counts = np.zeros((model.mixture_.n_components, len(model.classes_)), dtype=int)
    np.add.at(counts, (explained.support.responsibilities.argmax(axis=1), explained.support_codes), 1)
    classes = model.classes_.tolist()
    support = np.empty(len(counts) + 1, dtype=object)  # None for lines without a component: -1 is the last
    support[:-1] = [{label: int(m) for label, m in zip(classes, row, strict=True) if m} for row in counts]
    components = columns["component"]
    columns["support"] = support[components]
    for name in (each for each in texts if each.startswith("distinct_")):
        columns[name] = np.array([*(texts[name][i] for i in order), ""], dtype=object)[components]
    columns["component"] = positions(components)
    return columns


def _kernel_parts(explained: ExplainedRows, at: slice) -> dict[str, Floats]:
    """Parts of the three kernels of a blend in the similarities; none for other kernels."""
    if not isinstance(explained.model.kernel_, BlendKernel):
        return {}
    return explained.model.kernel_.contributions(explained.rows[at], explained.support)


class _Lines:
    """Layout of the lines of some rows: one for each listed subject, one for the others, one or two for the rest.

    The rest are the S3VM, where there is one, and the intercept.
    """

    def __init__(self, explained: ExplainedRows, at: slice, is_listed: Any, has_others: Any) -> None:
        self.explained, self.at = explained, at
        self.width = is_listed.shape[1]
        self.rest = [Source.INTERCEPT] if explained.unlabelled is None else [Source.AVOIDED, Source.INTERCEPT]
        rest = np.ones((len(is_listed), len(self.rest)), dtype=bool)
        self.is_there = np.column_stack([is_listed, has_others, rest])  # (rows, width + 1 + rest)
        self.row = np.repeat(np.arange(at.start, at.stop), self.is_there.sum(axis=1))

    def head(self, score: Floats) -> dict[str, Any]:
        """Columns that are equal for all lines of a row."""
        decided = self.explained.decided
        return {
            "row": self.row,
            "label": decided.label[self.row],
            "against": decided.against[self.row],
            "score": score[self.row - self.at.start],
        }

    def sources(self, source: Source) -> Any:
        """Subject of each line."""
        names = np.array([*[str(source)] * self.width, str(Source.OTHERS), *map(str, self.rest)], dtype=object)
        return np.broadcast_to(names, self.is_there.shape)[self.is_there]

    def listed(self, values: Any, filler: Any) -> Any:
        """Column with values for lines with a subject of their own."""
        padding = np.full((len(values), 1 + len(self.rest)), filler)
        return np.hstack([values, padding])[self.is_there]

    def facts(self, values: Floats, others: Floats) -> Floats:
        """Column with values for lines with a subject of their own, and for all others together."""
        rest = np.full((len(values), len(self.rest)), np.nan)
        lines: Floats = np.column_stack([values, others, rest])[self.is_there]
        return lines

    def pulls(self, values: Floats, others: Floats) -> Floats:
        """Column with values for all lines, which add up to the score."""
        explained = self.explained
        rest = [explained.intercept] if explained.unlabelled is None else [explained.unlabelled, explained.intercept]
        lines: Floats = np.column_stack([values, others, *(part[self.at] for part in rest)])[self.is_there]
        return lines


def _joined(explained: ExplainedRows, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    """Join the columns of blocks, with names and labels instead of positions."""
    columns: dict[str, Any] = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    columns["row"] = [explained.names[i] for i in columns["row"]]
    for name in ("label", "against"):
        columns[name] = explained.model.classes_[columns[name]]
    return columns


def positions(values: Any) -> Any:
    """Whole numbers, those below zero missing."""
    return np.ma.masked_less(values, 0)
