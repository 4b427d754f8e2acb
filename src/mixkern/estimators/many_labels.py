"""Classifiers and regressors of many labels: the landmarks, chosen with the mixture, and limits.

The kernel matrix among all labelled rows grows with the square of their number. With more than ``max_labels`` labels,
decision functions are sums over some labelled rows, the landmarks (:mod:`~mixkern.svm.landmarks`).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixkern.density import Rows
from mixkern.estimators.many_classes import MOST_LABELS
from mixkern.parts import WHOLE, agree
from mixkern.svm.landmark_features import LandmarkFeatures
from mixkern.svm.landmarks import LandmarkProblem
from mixkern.svm.scheme import MOST_PAIRED
from mixkern.typing import Floats, Positions, RandomState
from mixkern.validation import Rule

MAX_LABELS = 5_000  # whose kernel matrix is computed: with ten columns and three classes the fit took 1.6 GB
N_LANDMARKS = 1_000  # with 2,000, five tables were about as accurate
MAX_FEATURES = 2**28  # labels times landmarks: these take 2 GB


class LandmarkMixin:
    """Mixin of estimators whose decision functions are sums over landmarks where labels are many.

    It comes before :class:`~mixkern.estimators.base.MixtureEstimator` among the base classes.
    """

    support_: Positions
    _fitted_parts: ClassVar[Mapping[str, Rule]] = {"_landmarks": WHOLE}
    _landmarks: int = 0

    @property
    def n_landmarks_(self) -> int:
        """Number of labelled rows that decision functions are sums over where labels are many; 0 otherwise."""
        check_is_fitted(self)
        return self._landmarks

    def complete_parts(self) -> None:
        """Compare the number of landmarks with that of the support vectors, then as in other estimators."""
        agree(self._landmarks in (0, len(self.support_)), "landmarks and support vectors")
        super().complete_parts()  # type: ignore[misc]

    def _learned_facts(self) -> dict[str, str]:
        facts: dict[str, str] = super()._learned_facts()  # type: ignore[misc]
        if not self._landmarks:
            return facts
        return {**facts, "Landmarks": f"{self._landmarks:,} labelled rows, which decision functions are sums over"}


def needs_landmarks(n_labels: int, n_classes: int, max_labels: int) -> bool:
    """Whether labels are so many that decision functions are sums over landmarks.

    More than 100 classes need sharp kernels, for which landmarks are too few: their kernel matrix is computed as long
    as it fits into memory.

    >>> needs_landmarks(6_000, 100, 5_000), needs_landmarks(6_000, 101, 5_000), needs_landmarks(20_000, 101, 5_000)
    (True, False, True)
    """
    return n_labels > (max_labels if n_classes <= MOST_PAIRED else max(max_labels, MOST_LABELS))


def most_labels(n_landmarks: int) -> int:
    """Return the number of labels whose features are held at most.

    >>> most_labels(1_000)
    268435
    """
    return max(2, MAX_FEATURES // n_landmarks)


def landmark_rows(rows: Rows, size: int, random: RandomState) -> Positions:
    """Draw landmarks from all components of the mixture.

    A component has as many as the square root of its number of rows demands: large ones have more, but fewer for each
    row than small ones, whose rows are unlike those of others. All rows are returned if there are at most ``size``.

    Parameters
    ----------
    rows : Rows
        Labelled rows, with their mixture.
    size : int
        Number of landmarks.
    random : RandomState
        Random number generator.

    Returns
    -------
    ndarray of int
        Sorted positions.
    """
    if len(rows) <= size:
        return np.arange(len(rows))
    component = rows.responsibilities.argmax(axis=1)
    shuffled = random.permutation(len(rows))
    order = shuffled[np.argsort(component[shuffled], kind="stable")]
    counts = np.bincount(component)
    starts = np.append(0, np.cumsum(counts)[:-1])
    own = component[order]
    rank = np.empty(len(rows))  # of a row in its component, in units of the component's share
    rank[order] = (np.arange(len(rows)) - starts[own] + 0.5) / np.sqrt(counts[own])
    return np.sort(np.argsort(rank, kind="stable")[:size])


def landmark_problem(kernel: Any, rows: Rows, costs: Floats, n_landmarks: int, random: RandomState) -> LandmarkProblem:
    """Choose landmarks among labelled rows, and compute the features of all of them.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with its mixture.
    rows : Rows
        Labelled rows; those of classes are sorted by class.
    costs : ndarray of shape (n,)
        C times the weight of each row.
    n_landmarks : int
        Number of landmarks.
    random : RandomState
        Random number generator.
    """
    landmarks = landmark_rows(rows, n_landmarks, random)
    return LandmarkProblem(LandmarkFeatures.of_rows(kernel, rows, landmarks), landmarks, costs)
