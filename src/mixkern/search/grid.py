"""Which settings to try."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from mixkern.errors import OptionError


@dataclass(frozen=True)
class KernelPoint:
    """Settings of a kernel. Without gamma it is the linear limit that the kernel has for ever smaller gamma."""

    gamma: float | None
    alpha: float = 1.0
    beta: float = 1.0
    ratio: float | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What the kernel depends on: gamma * alpha and gamma * beta, whatever the three are."""
        factor = 1.0 if self.gamma is None else self.gamma
        return (self.gamma is None, f"{factor * self.alpha:.9g}", f"{factor * self.beta:.9g}", self.ratio)

    @property
    def order(self) -> tuple[float, ...]:
        """What points are sorted by, so that those that share most work are neighbours."""
        return (self.alpha, self.beta, self.gamma or 0.0, self.ratio or 0.0)


def kernel_points(
    gamma: Sequence[float], alpha: Sequence[float], beta: Sequence[float], ratio: Sequence[float | None]
) -> list[KernelPoint]:
    """Give all combinations that differ; two that make the same kernel are visited once.

    >>> [(p.gamma, p.alpha, p.beta) for p in kernel_points([1.0, 10.0], [0.1, 1.0], [0.1, 1.0], [None])][:3]
    [(1.0, 0.1, 0.1), (1.0, 0.1, 1.0), (1.0, 1.0, 0.1)]
    >>> len(kernel_points([1.0, 10.0], [0.1, 1.0], [0.1, 1.0], [None]))  # (10, 0.1, 0.1) is (1, 1, 1)
    7
    """
    combinations = (KernelPoint(*each) for each in product(gamma, alpha, beta, ratio))
    found = _distinct(point for point in combinations if point.alpha or point.beta)
    if not found:
        raise OptionError("alpha and beta are both 0: nothing is left that rows could differ in.")
    return found


def line(best_C: float, C: Sequence[float], gamma: Sequence[float]) -> list[tuple[float, float]]:
    """Give the pairs (C, gamma) on Keerthi and Lin's line: gamma = best_C / (2 C).

    For small gamma, exp(-gamma D^2) is 1 - gamma D^2, and a machine with that kernel and C is a linear one with
    2 gamma C (Keerthi and Lin, 2003). So the line leads to the best linear machine, and on the way past better ones.
    Points within the range of ``gamma`` are kept, half a step beyond its ends included.

    >>> line(1.0, [0.1, 1.0, 10.0], [0.01, 0.1, 1.0])
    [(1.0, 0.5), (10.0, 0.05)]
    """
    pairs = [(each, best_C / (2 * each)) for each in C]
    low, high = min(gamma), max(gamma)
    slack = (high / low) ** (0.5 / (len(gamma) - 1)) if len(gamma) > 1 else 1.0
    inside = [(c, g) for c, g in pairs if low / slack <= g <= high * slack]
    return inside or [min(pairs, key=lambda pair: abs(np.log(pair[1] / np.sqrt(low * high))))]


def positive(values: Any, name: str, *, zero: bool = False) -> list[float]:
    """Give numbers to try, each once; a single number is a list of one."""
    try:
        given = np.atleast_1d(np.asarray(values))
    except ValueError:  # ragged
        given = np.array([""])
    if given.dtype.kind not in "iuf":
        raise OptionError(f"{name} must be numbers to try, but it is {values!r}.")
    given = given.astype(float)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or (given < 0).any():
        raise OptionError(f"{name} must be numbers to try, none of them negative, but it is {values!r}.")
    if not zero and not given.all():
        raise OptionError(f"{name} must be positive numbers to try, but it is {values!r}.")
    return list(dict.fromkeys(given.tolist()))


def _distinct(points: Iterable[KernelPoint]) -> list[KernelPoint]:
    seen: dict[tuple[Any, ...], KernelPoint] = {}
    for point in points:
        seen.setdefault(point.key, point)
    return list(seen.values())
