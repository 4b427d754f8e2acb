"""Schemes: decision functions of pairs of classes, or of each class against the others where classes are many.

The number of pairs grows with the square of that of the classes. So there are functions of pairs, trained by libsvm,
for up to ``MOST_PAIRED`` classes, and one for each class (:mod:`~mixkern.svm.least_squares`) for more. With many
labels, whose functions are sums over landmarks (:mod:`~mixkern.svm.landmarks`), up to ``MOST_LANDMARK_PAIRED`` classes
have pairs.
"""

from enum import StrEnum
from typing import Protocol

from mixkern.svm import least_squares, one_vs_one
from mixkern.typing import Floats, Ints

MOST_PAIRED = 100  # classes that have a function for each pair
MOST_LANDMARK_PAIRED = 20  # the same with landmarks, where pairs of 20 classes take a minute for 100,000 labels


class SchemeName(StrEnum):
    """Which classes a decision function separates."""

    ONE_VS_ONE = "one-vs-one"  # those of a pair
    ONE_VS_REST = "one-vs-rest"  # one from all others


class Scheme(Protocol):
    """Conversion of decision values, (n, q), to scores and probabilities of classes."""

    def n_functions(self, n_classes: int) -> int:
        """Return the number of decision functions."""

    def class_scores(self, values: Floats, n_classes: int) -> Floats:  # (n,) or (n, c)
        """Return the scores of the classes."""

    def class_probabilities(
        self, values: Floats, slope: float, n_classes: int, winner: Ints | None = None
    ) -> Floats:  # (n, c)
        """Return the probabilities of the classes; the predicted ones need not be computed where they are known."""


class LearnedScheme(Scheme, Protocol):
    """A scheme whose slope follows from decision values of labels that were left out."""

    def own_probabilities(self, values: Floats, codes: Ints, slopes: Floats) -> Floats:  # (s, n)
        """Return the probability of each row's own class, for several slopes."""

    def learned_slope(self, values: Floats, codes: Ints, weights: Floats | None = None) -> float:
        """Return the slope, by decision values of rows that were left out."""


def scheme_for(n_classes: int, *, has_landmarks: bool = False) -> LearnedScheme:
    """Return the scheme that so many classes are trained with.

    >>> scheme_for(100).n_functions(100), scheme_for(101).n_functions(101)
    (4950, 101)
    >>> scheme_for(100, has_landmarks=True).n_functions(100)
    100
    """
    return one_vs_one if n_classes <= (MOST_LANDMARK_PAIRED if has_landmarks else MOST_PAIRED) else least_squares


def scheme_of(n_functions: int, n_classes: int) -> LearnedScheme:
    """Return the scheme of trained functions; files of earlier versions have pairs of many classes, too.

    >>> [scheme_of(q, 120) is one_vs_one for q in (120 * 119 // 2, 120)]
    [True, False]
    """
    if n_functions == one_vs_one.n_functions(n_classes):
        return one_vs_one
    is_each = n_functions == n_classes > MOST_LANDMARK_PAIRED
    return least_squares if is_each else scheme_for(n_classes)


def class_scores(values: Floats, n_classes: int) -> Floats:  # (n,) or (n, c)
    """Return the scores of classes, by decision values of pairs of classes or of each class, (n, q)."""
    return scheme_of(values.shape[1], n_classes).class_scores(values, n_classes)


def class_probabilities(values: Floats, slope: float, n_classes: int) -> Floats:  # (n, c)
    """Return the probabilities of classes, by decision values of pairs of classes or of each class, (n, q)."""
    return scheme_of(values.shape[1], n_classes).class_probabilities(values, slope, n_classes)
