"""Hyperparameters to try: a grid of kernels, and Keerthi and Lin's line."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from mixkern.errors import OptionError


@dataclass(frozen=True)
class KernelPoint:
    """Hyperparameters of a kernel; without gamma it is linear, the limit of the kernel for small gamma."""

    gamma: float | None
    alpha: float = 1.0
    beta: float = 1.0
    ratio: float | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Key that is equal for equal kernels: these depend on gamma * alpha and gamma * beta alone."""
        factor = 1.0 if self.gamma is None else self.gamma
        return (self.gamma is None, f"{factor * self.alpha:.9g}", f"{factor * self.beta:.9g}", self.ratio)

    @property
    def base(self) -> tuple[float | None, float, float]:
        """All but the ratio: kernels with the same base share its factorisation."""
        return self.gamma, self.alpha, self.beta

    @property
    def order(self) -> tuple[float, ...]:
        """Sort key that makes neighbours of kernels that share most of their computation."""
        return (self.alpha, self.beta, self.gamma or 0.0, self.ratio or 0.0)


def kernel_points(
    gamma: Sequence[float], alpha: Sequence[float], beta: Sequence[float], ratio: Sequence[float | None]
) -> list[KernelPoint]:
    """Give all combinations; of those that make the same kernel, the first.

    >>> [(p.gamma, p.alpha, p.beta) for p in kernel_points([1.0, 10.0], [0.1, 1.0], [0.1, 1.0], [None])][:3]
    [(1.0, 0.1, 0.1), (1.0, 0.1, 1.0), (1.0, 1.0, 0.1)]
    >>> len(kernel_points([1.0, 10.0], [0.1, 1.0], [0.1, 1.0], [None]))  # (10, 0.1, 0.1) is (1, 1, 1)
    7
    """
    found: dict[tuple[Any, ...], KernelPoint] = {}
    for each in product(gamma, alpha, beta, ratio):
        point = KernelPoint(*each)
        if point.alpha or point.beta:
            found.setdefault(point.key, point)
    if not found:
        raise OptionError("alpha and beta are both 0, so all rows would be equal.")
    return list(found.values())


def line(best_C: float, C: Sequence[float], gamma: Sequence[float]) -> list[tuple[float, float]]:
    """Give the pairs (C, gamma) on Keerthi and Lin's line: gamma = best_C / (2 C).

    For small gamma, exp(-gamma D^2) is 1 - gamma D^2, and an SVM with that kernel and C is a linear one with 2 gamma C
    (Keerthi and Lin, 2003). So the line ends at the best linear SVM, and better kernels lie along it. Pairs within the
    range of ``gamma`` are kept, half a step beyond its ends included. The paper's printed formula, log gamma = log C -
    log C_linear, has a slope of plus one, its text says minus one; the text, which agrees with
    Keerthi and Lin, is followed: log C = log C_linear - log(2 gamma).

    >>> line(1.0, [0.1, 1.0, 10.0], [0.01, 0.1, 1.0])
    [(1.0, 0.5), (10.0, 0.05)]
    """
    pairs = [(each, best_C / (2 * each)) for each in C]
    low, high = min(gamma), max(gamma)
    slack = (high / low) ** (0.5 / (len(gamma) - 1)) if len(gamma) > 1 else 1.0
    inside = [(c, g) for c, g in pairs if low / slack <= g <= high * slack]
    return inside or [min(pairs, key=lambda pair: abs(np.log(pair[1] / np.sqrt(low * high))))]
