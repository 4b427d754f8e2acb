"""Purity: how well the components of a density separate the classes, by few labels."""

from dataclasses import dataclass

import numpy as np

from mixkern.typing import Bools, Floats, Ints

PRIOR = 2.0  # pseudo-labels of each component, with the classes as frequent as among all labels
LEAST_LABEL = 0.5  # a component with less than half a label counts as having none


@dataclass(frozen=True, eq=False)
class Purity:
    """Labels in components, each label weighted by the component's responsibility for its row.

    Attributes
    ----------
    shares : ndarray of shape (k,)
        Share of all rows in each component.
    counts : ndarray of shape (k, c)
        Number of labels of each class in each component.
    pairs, same_pairs : float
        Number of pairs of labelled rows in the same component, and of those with the same label.
    chance : float
        Share of pairs with the same label among all pairs of labelled rows.
    """

    shares: Floats
    counts: Floats
    same_pairs: float
    pairs: float
    chance: float

    @property
    def labels(self) -> Floats:  # (k,)
        """Number of labels in each component."""
        return self.counts.sum(axis=1)

    @property
    def is_empty(self) -> Bools:  # (k,)
        """Mask of the components without a label."""
        return self.labels < LEAST_LABEL

    @property
    def majorities(self) -> Ints:  # (k,)
        """Most frequent class in each component; without a label, the most frequent class of all labels."""
        return self._posterior.argmax(axis=1)

    @property
    def of_components(self) -> Floats:  # (k,)
        """Expected share of the most frequent class in each component, shrunk towards its share of all labels."""
        return self._posterior.max(axis=1)

    @property
    def overall(self) -> float:
        """Probability that two labelled rows of one component have the same label; ``chance`` without pairs."""
        return float((self.same_pairs + PRIOR * self.chance) / (self.pairs + PRIOR))

    @property
    def lift(self) -> float:
        """Overall purity on a scale from chance, 0, to perfect, 1; may be negative."""
        return (self.overall - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0

    @property
    def _posterior(self) -> Floats:  # (k, c)
        """Expected shares of the classes in each component."""
        frequent = self.counts.sum(axis=0) / self.counts.sum()
        return (self.counts + PRIOR * frequent) / (self.labels[:, None] + PRIOR)


def purity(responsibilities: Floats, codes: Ints) -> Purity:
    r"""Count labels, and pairs of labels, in components.

    Two rows i and j lie in one component with probability :math:`\sum_k \rho_{ik} \rho_{jk}`. The purity of pairs,
    unlike the share of the majority, does not grow where labels are fewer: for labels that are independent of the
    components, its expectation is chance.

    Parameters
    ----------
    responsibilities : ndarray of shape (n, k)
        Responsibilities of the components for all rows.
    codes : ndarray of int, shape (n,)
        Classes, -1 where unlabelled.

    Examples
    --------
    >>> two = purity(np.eye(2)[[0, 0, 0, 1, 1, 1]], np.array([0, 0, -1, 1, 1, -1]))
    >>> two.pairs, two.same_pairs, round(two.chance, 2)
    (2.0, 2.0, 0.33)
    >>> two.of_components
    array([0.75, 0.75])
    """
    labelled = codes >= 0
    rho, classes = responsibilities[labelled], codes[labelled]
    counts = np.eye(int(classes.max()) + 1)[classes].T @ rho  # (c, k)
    alone = float((rho**2).sum())  # each row with itself, which is not a pair
    per_class, n = np.bincount(classes), len(classes)
    return Purity(
        shares=responsibilities.mean(axis=0),
        counts=counts.T,
        same_pairs=(float((counts**2).sum()) - alone) / 2,
        pairs=(float((counts.sum(axis=0) ** 2).sum()) - alone) / 2,
        chance=float((per_class * (per_class - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0,
    )
