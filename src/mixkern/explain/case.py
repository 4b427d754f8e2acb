"""Rows whose labels are to be explained, and between which two classes each was decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from mixkern.errors import OptionError
from mixkern.svm.libsvm import pairs
from mixkern.svm.one_vs_one import chosen, class_scores
from mixkern.typing import Floats, Ints

CELLS = 2**22  # kernel values between rows and support vectors held at a time


class By(StrEnum):
    """What a label can be explained by."""

    LABEL = "label"  # labelled rows that speak for it or against it
    COMPONENT = "component"  # components of the density, and the labelled rows in them
    COLUMN = "column"  # columns in which a row is unlike others


@dataclass(frozen=True, eq=False)
class Verdict:
    """How rows were decided: which class, which was next, and by which decision function.

    The next one is the runner-up of :func:`~mixkern.svm.one_vs_one.class_scores`.
    """

    label: Ints  # (n,)
    against: Ints  # (n,)
    pair: Ints  # (n,): position of the decision function between the two
    sign: Floats  # (n,): 1 where it is positive for the label, -1 where it is positive for the other

    @classmethod
    def of(cls, decisions: Floats, n_classes: int) -> "Verdict":
        """Read the votes of all pairs of classes.

        >>> verdict = Verdict.of(np.array([[-0.5, 0.2, 1.5]]), 3)  # 1 beats 0, 0 beats 2, 1 beats 2
        >>> int(verdict.label[0]), int(verdict.against[0]), float(verdict.sign[0])
        (1, 0, -1.0)
        """
        scores = class_scores(decisions, n_classes)
        label = chosen(scores)
        if n_classes == 2:
            against = 1 - label
        else:
            scores[np.arange(len(scores)), label] = -np.inf
            against = scores.argmax(axis=1)
        position = np.zeros((n_classes, n_classes), dtype=np.intp)
        for q, (i, j) in enumerate(pairs(n_classes)):
            position[i, j] = position[j, i] = q
        return cls(label, against, position[label, against], np.where(label < against, 1.0, -1.0))


@dataclass(frozen=True, eq=False)
class Case:
    """Rows to explain, and the machine that has labelled them."""

    model: Any  # a fitted MixtureSVC
    names: Sequence[Any]  # of the rows: their index, or their positions
    values: Floats  # (n, d + e), gaps as NaN
    rows: Floats  # (n, d + e), as the kernel reads them
    decisions: Floats  # (n, q)

    @cached_property
    def verdict(self) -> Verdict:
        """How the rows were decided."""
        return Verdict.of(self.decisions, len(self.model.classes_))

    @cached_property
    def support_codes(self) -> Ints:  # (s,)
        """Classes of the support vectors: libsvm has sorted them."""
        counts = self.model.n_support_
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def intercept(self) -> Floats:  # (n,)
        """What is added to the pulls of all support vectors."""
        intercept: Floats = self.verdict.sign * self.model.intercept_[self.verdict.pair]
        return intercept

    def blocks(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """Give similarities to all support vectors, and their pulls, of some rows at a time.

        Yields
        ------
        slice
            Which rows.
        similarity, coefficients : ndarray of shape (rows, s)
            Their product is the pull: positive for the label, negative for the class that was next.
        """
        vectors = self.model.support_vectors_
        step = max(1, CELLS // max(1, len(vectors)))
        for start in range(0, len(self.rows), step):
            at = slice(start, min(start + step, len(self.rows)))
            signs = self.verdict.sign[at, None]
            coefficients = signs * self.model.dual_coef_.T[self.verdict.pair[at]]
            yield at, self.model.kernel_(self.rows[at], vectors), coefficients


def row_names(X: Any, n: int) -> Sequence[Any]:
    """Give the index of a pandas frame, and positions of all other rows."""
    return list(X.index) if hasattr(X, "iloc") else list(range(n))


def most(n: Any, available: int) -> int:
    """Read how many to tell; None is all."""
    if n is None:
        return available
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise OptionError(f"n must be a whole number above 0, or None for all, but it is {n!r}.")
    return min(int(n), available)
