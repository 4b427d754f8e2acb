"""How well the components of a density keep the classes apart, judged by few labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixkern.typing import Floats, Ints

PRIOR = 2.0  # labels that each component is given beforehand, with the classes as frequent as among all labels
LEAST_LABEL = 0.5  # a component that holds less than half a label has none


@dataclass(frozen=True, eq=False)
class Purity:
    """Labels inside components; a label counts in each as much as the component is responsible for its row.

    Attributes
    ----------
    shares : ndarray of shape (k,)
        How much of all rows each component holds.
    counts : ndarray of shape (k, c)
        Labels of each class inside each component.
    same_pairs, pairs : float
        How many pairs of labelled rows lie in one component, and how many of those have the same label.
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
        """Number of labels inside each component."""
        return self.counts.sum(axis=1)

    @property
    def is_empty(self) -> NDArray[np.bool_]:  # (k,)
        """Mask of the components without a label."""
        return self.labels < LEAST_LABEL

    @property
    def majorities(self) -> Ints:  # (k,)
        """Class with most labels in each component; of those without a label, the class with most labels at all."""
        return self._posterior.argmax(axis=1)

    @property
    def of_components(self) -> Floats:  # (k,)
        """Expected share of the majority in each component: a single label does not make it one."""
        return self._posterior.max(axis=1)

    @property
    def overall(self) -> float:
        """Probability that two labelled rows of one component have the same label; near ``chance`` without pairs."""
        return float((self.same_pairs + PRIOR * self.chance) / (self.pairs + PRIOR))

    @property
    def lift(self) -> float:
        """How far from chance, 0, to perfect, 1, the components are; may be negative."""
        return (self.overall - self.chance) / (1 - self.chance) if self.chance < 1 else 0.0

    @property
    def _posterior(self) -> Floats:  # (k, c)
        frequent = self.counts.sum(axis=0) / self.counts.sum()
        return (self.counts + PRIOR * frequent) / (self.labels[:, None] + PRIOR)


def purity(responsibilities: Floats, codes: Ints) -> Purity:
    r"""Count labels, and pairs of them, inside components.

    Two rows i and j lie in one component with probability :math:`\sum_k \rho_{ik} \rho_{jk}`. Pairs, unlike the
    share of the majority, do not look purer where labels are fewer: for labels that have nothing to do with the
    components, the expectation is chance.

    Parameters
    ----------
    responsibilities : ndarray of shape (n, k)
        Of all rows.
    codes : ndarray of int, shape (n,)
        Class of each, -1 where unlabelled.

    Examples
    --------
    >>> two = purity(np.eye(2)[[0, 0, 0, 1, 1, 1]], np.array([0, 0, -1, 1, 1, -1]))
    >>> two.pairs, two.same_pairs, round(two.chance, 2)
    (2.0, 2.0, 0.33)
    >>> two.of_components
    array([0.75, 0.75])
    """
    labelled = codes >= 0
    rho, known = responsibilities[labelled], codes[labelled]
    counts = np.eye(int(known.max()) + 1)[known].T @ rho  # (c, k)
    alone = float((rho**2).sum())  # each row with itself, which is no pair
    per_class, n = np.bincount(known), len(known)
    return Purity(
        shares=responsibilities.mean(axis=0),
        counts=counts.T,
        same_pairs=(float((counts**2).sum()) - alone) / 2,
        pairs=(float((counts.sum(axis=0) ** 2).sum()) - alone) / 2,
        chance=float((per_class * (per_class - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0,
    )
