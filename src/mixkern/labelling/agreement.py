"""How far persons agree who have labelled the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from sklearn.metrics import cohen_kappa_score

from mixkern.wording import counted


@dataclass(frozen=True)
class Agreement:
    """Cohen's kappa over the rows that two persons or more have labelled.

    Attributes
    ----------
    n_rows : int
        Number of these rows.
    kappa : float
        The mean over pairs of persons, weighted by the number of their common rows.
    """

    n_rows: int
    kappa: float

    @classmethod
    def of(cls, shared: Mapping[int, Mapping[str, str]]) -> Self | None:
        """Compare labels, given as row -> person -> label; None without a row that two have labelled.

        >>> Agreement.of({3: {"anna": "yes", "ben": "yes"}, 7: {"anna": "no", "ben": "no"}})
        Agreement(n_rows=2, kappa=1.0)
        """
        pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for labels in shared.values():
            for first, second in combinations(sorted(labels), 2):
                pairs.setdefault((first, second), []).append((labels[first], labels[second]))
        if not pairs:
            return None
        kappas = [_kappa(both) for both in pairs.values()]
        return cls(len(shared), float(np.average(kappas, weights=[len(both) for both in pairs.values()])))

    @property
    def sentence(self) -> str:
        """The agreement in words."""
        return f"Cohen's kappa is {self.kappa:.2f} on {counted(self.n_rows, 'row')} that two persons have labelled."


def _kappa(both: list[tuple[str, str]]) -> float:
    """Return the kappa of two persons; 1 where all labels are of one class, for which it is not defined."""
    first, second = zip(*both, strict=True)
    return 1.0 if len({*first, *second}) == 1 else float(cohen_kappa_score(first, second))
