"""How far persons agree who have labelled the same rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from sklearn.metrics import cohen_kappa_score

from mixkern.wording import counted

FEWEST_ROWS = 10  # common rows of two persons, from which on their kappa counts


@dataclass(frozen=True)
class Agreement:
    """The rows that two persons or more have labelled, and Cohen's kappa over them.

    Attributes
    ----------
    n_rows : int
        Number of these rows.
    n_equal : int
        Number of those with the same label by all persons.
    n_most : int
        The largest number of rows that the same two persons have labelled.
    kappa : float or None
        The mean over the pairs of persons with ten common rows or more, weighted by the number of these. None where
        there is no such pair, or where all labels of each are of one class, for which kappa is not defined.
    """

    n_rows: int
    n_equal: int
    n_most: int
    kappa: float | None

    @classmethod
    def of(cls, shared: Mapping[int, Mapping[str, str]]) -> Self | None:
        """Compare labels, given as row -> person -> label; None without a row that two have labelled.

        >>> Agreement.of({3: {"anna": "yes", "ben": "yes"}, 7: {"anna": "no", "ben": "yes"}})
        Agreement(n_rows=2, n_equal=1, n_most=2, kappa=None)
        """
        common = [labels for labels in shared.values() if len(labels) > 1]
        pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for labels in common:
            for first, second in combinations(sorted(labels), 2):
                pairs.setdefault((first, second), []).append((labels[first], labels[second]))
        if not pairs:
            return None
        n_equal = sum(len(set(labels.values())) == 1 for labels in common)
        return cls(len(common), n_equal, max(map(len, pairs.values())), _mean_kappa(list(pairs.values())))

    @property
    def sentence(self) -> str:
        """The agreement in words."""
        rows = counted(self.n_rows, "row")
        equal = f"Two persons gave the same label to {self.n_equal} of {rows} that both have labelled."
        if self.kappa is not None:
            return f"{equal} Cohen's kappa is {self.kappa:.2f}."
        if self.n_most < FEWEST_ROWS:
            return f"{equal} Cohen's kappa is shown once two persons have {FEWEST_ROWS} rows in common."
        return f"{equal} Cohen's kappa is not defined while all these labels are of one class."


def _mean_kappa(pairs: list[list[tuple[str, str]]]) -> float | None:
    """Return the weighted mean of the kappas that are defined and rest on enough rows."""
    labels = [tuple(zip(*both, strict=True)) for both in pairs if len(both) >= FEWEST_ROWS]
    defined = [(first, second) for first, second in labels if len({*first, *second}) > 1]
    if not defined:
        return None
    kappas = [float(cohen_kappa_score(first, second)) for first, second in defined]
    return float(np.average(kappas, weights=[len(first) for first, _ in defined]))
