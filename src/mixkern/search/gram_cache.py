"""Kernel matrices for all settings of a search, from what is computed once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mixkern.errors import KernelError
from mixkern.estimators.kernel_factory import replaced
from mixkern.kernels import DistanceKernel, LaplacianKernel, MixtureKernel, RBFKernel, PairTerms
from mixkern.kernels.laplacian import Deformation
from mixkern.search.grid import KernelPoint
from mixkern.typing import Floats


class Grams(ABC):
    """Matrices among the labelled rows, and between other rows and them."""

    @abstractmethod
    def among(self, point: KernelPoint) -> Floats:
        """Give the kernel among the labelled rows."""

    @abstractmethod
    def towards(self, point: KernelPoint) -> Floats | None:
        """Give the kernel between the other rows and the labelled ones; None where there are no others."""

    @abstractmethod
    def kernel(self, point: KernelPoint) -> Any:
        """Give the kernel itself."""


class DistanceGrams(Grams):
    """Of a kernel on distances: the distances are kept, and every setting is an exponential away."""

    def __init__(self, kernel: MixtureKernel | RBFKernel, labelled: Floats, others: Floats | None) -> None:
        self._kernel, self._labelled, self._others = kernel, labelled, others
        self._among, self._towards = _separations(kernel, labelled, others)

    def among(self, point: KernelPoint) -> Floats:
        """Give the kernel among the labelled rows; without gamma, that of a linear machine."""
        if point.gamma is None:
            return self._scalar_products(self._euclidean[0], point)
        return self._among.kernel(point.gamma, point.alpha, point.beta)

    def towards(self, point: KernelPoint) -> Floats | None:
        """Give the kernel between the other rows and the labelled ones; None where there are no others."""
        if self._towards is None:
            return None
        if point.gamma is None:
            others = self._euclidean[1]
            assert others is not None
            return self._scalar_products(others, point)
        return self._towards.kernel(point.gamma, point.alpha, point.beta)

    def _scalar_products(self, separation: PairTerms, point: KernelPoint) -> Floats:
        """Give scalar products about the mean of the labelled rows, from squared distances.

        Of numbers they are exact, and definite. Squared counts of categories are no squared distances in any space:
        with them, the machine is linear in name only.
        """
        sq = self._euclidean[0].exponent(point.alpha, point.beta)
        between = separation.exponent(point.alpha, point.beta)
        return -0.5 * (between - between.mean(axis=1, keepdims=True) - sq.mean(axis=0) + sq.mean())

    def kernel(self, point: KernelPoint) -> Any:
        """Give the kernel itself."""
        return replaced(self._kernel, gamma=point.gamma, alpha=point.alpha, beta=point.beta)

    def unit(self, alpha: float, beta: float) -> float:
        """Say how many Euclidean squared distances one of the kernel's own is worth, by their medians."""
        upper = np.triu_indices(len(self._labelled), 1)
        own, euclidean = (np.median(each.exponent(alpha, beta)[upper]) for each in (self._among, self._euclidean[0]))
        return float(euclidean / own) if own > 0 and euclidean > 0 else 1.0

    @cached_property
    def _euclidean(self) -> tuple[PairTerms, PairTerms | None]:
        """Euclidean distances between the same rows, gaps filled: where a linear machine lives."""
        if isinstance(self._kernel, RBFKernel):
            return self._among, self._towards
        mixture = self._kernel.mixture
        assert mixture is not None  # it was bound
        fill, kernel = mixture.conditional_mean, RBFKernel(n_categorical=len(mixture.categories))
        return _separations(kernel, fill(self._labelled), None if self._others is None else fill(self._others))


class BentKernels:
    """Bent kernels with one graph, for the settings that a search asks for: the last one is kept, for the next.

    Searches with other labelled rows that visit the same settings in the same order may share one: what a kernel has
    factorised for one of them is there for all.

    Attributes
    ----------
    last : LaplacianKernel
        The kernel of the last setting.
    """

    def __init__(self, kernel: LaplacianKernel) -> None:
        if not isinstance(kernel.base, DistanceKernel):
            raise _unsupported(kernel.base)
        self.last = kernel

    def kernel(self, point: KernelPoint) -> LaplacianKernel:
        """Give the kernel of a setting; without a ratio, with that of the last one."""
        base = self.last.base
        wanted = (point.gamma, point.alpha, point.beta)
        if wanted != (base.gamma, base.alpha, base.beta):
            base = replaced(base, gamma=point.gamma, alpha=point.alpha, beta=point.beta)
            self.last = self.last.with_base(base)
        if point.ratio is not None and point.ratio != self.last.ratio:
            self.last = self.last.with_ratio(point.ratio)
        return self.last


@dataclass(frozen=True, eq=False)
class _Placed:
    """Rows as one deformation sees them, for every ratio."""

    deformation: Deformation
    labelled: Floats  # coordinates, (m, q)
    among: Floats  # what the graph does not reach, (q, q)
    others: tuple[Floats, Floats] | None  # their coordinates, and what the graph does not reach towards labelled rows


class LaplacianGrams(Grams):
    """Of a bent kernel: while only the ratio changes, all that remains is to solve for the labelled rows.

    Parameters
    ----------
    family : BentKernels
        Where kernels come from; several searches may share one.
    labelled, others : ndarray of shape (q, d + e) and (m, d + e)
        Rows, which need not be among those of the graph; the others may be None.
    """

    def __init__(self, family: BentKernels, labelled: Floats, others: Floats | None) -> None:
        self._family, self._labelled, self._others = family, labelled, others
        self._last: _Placed | None = None
        self._solved: tuple[LaplacianKernel, Floats] | None = None

    def among(self, point: KernelPoint) -> Floats:
        """Give the kernel among the labelled rows."""
        kernel = self.kernel(point)
        if not kernel.ratio:
            matrix: Floats = kernel(self._labelled)
            return matrix
        placed = self._placed(kernel)
        half = self._half(kernel, placed)
        return placed.among + half.T @ half

    def towards(self, point: KernelPoint) -> Floats | None:
        """Give the kernel between the other rows and the labelled ones; None where there are no others."""
        if self._others is None:
            return None
        kernel = self.kernel(point)
        if not kernel.ratio:
            matrix: Floats = kernel(self._others, self._labelled)
            return matrix
        placed = self._placed(kernel)
        assert placed.others is not None  # there are others
        others, beyond = placed.others
        return beyond + kernel.along(others, self._half(kernel, placed))

    def kernel(self, point: KernelPoint) -> LaplacianKernel:
        """Give the kernel itself."""
        return self._family.kernel(point)

    def _placed(self, kernel: LaplacianKernel) -> _Placed:
        """Give the coordinates of the rows, which are kept until the base kernel changes."""
        deformation = kernel.deformation
        if self._last is None or self._last.deformation is not deformation:
            labelled = kernel.coordinates(self._labelled)
            among = deformation.residual(kernel.base(self._labelled), labelled, labelled)
            others = None
            if self._others is not None:
                where = kernel.coordinates(self._others)
                others = where, deformation.residual(kernel.base(self._others, self._labelled), where, labelled)
            self._last = _Placed(deformation, labelled, (among + among.T) / 2, others)
        return self._last

    def _half(self, kernel: LaplacianKernel, placed: _Placed) -> Floats:
        """Give what is solved for the labelled rows, which is kept until the ratio changes."""
        if self._solved is None or self._solved[0] is not kernel:
            self._solved = kernel, kernel.half(placed.labelled)
        return self._solved[1]


def grams(kernel: Any, labelled: Floats, others: Floats | None) -> Grams:
    """Give the matrices of a bound kernel."""
    if isinstance(kernel, LaplacianKernel):
        return LaplacianGrams(BentKernels(kernel), labelled, others)
    if isinstance(kernel, (MixtureKernel, RBFKernel)):
        return DistanceGrams(kernel, labelled, others)
    raise _unsupported(kernel)


def _separations(
    kernel: DistanceKernel, labelled: Floats, others: Floats | None
) -> tuple[PairTerms, PairTerms | None]:
    return kernel.pair_terms(labelled), None if others is None else kernel.pair_terms(others, labelled)


def _unsupported(kernel: Any) -> KernelError:
    return KernelError(
        f"A search needs a kernel with gamma, alpha and beta, but {type(kernel).__name__} has none. Use scikit-learn's "
        "GridSearchCV with cv=SemiSupervisedSplit()."
    )
