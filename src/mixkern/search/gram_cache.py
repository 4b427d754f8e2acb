"""Kernel matrices for all hyperparameters of a search.

What does not depend on the hyperparameters is computed once: distances, or the factorisation of a graph.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mixkern.density import Rows
from mixkern.errors import KernelError, hint
from mixkern.estimators.kernel_factory import replaced
from mixkern.kernels import DistanceKernel, LaplacianKernel, MixtureKernel, PairTerms, RBFKernel
from mixkern.kernels.laplacian import Deformation
from mixkern.search.grid import KernelPoint
from mixkern.typing import Floats, Ints


@dataclass(frozen=True, eq=False)
class Matrices:
    """Kernel matrices with the hyperparameters of one point.

    Attributes
    ----------
    point : KernelPoint
        Hyperparameters of the kernel.
    among : ndarray of shape (n, n)
        Kernel among the labelled rows.
    towards : ndarray of shape (m, n) or None
        Kernel between the other rows and the labelled ones; None where there are no others.
    """

    point: KernelPoint
    among: Floats
    towards: Floats | None


class GramCache(ABC):
    """Kernel matrices among the labelled rows, and between other rows and the labelled ones.

    A cache does not change after it is made, so that several processes or threads can use it.
    """

    @abstractmethod
    def matrices(self, points: Iterable[KernelPoint]) -> Iterator[Matrices]:
        """Yield the matrices of each point; neighbours that differ little share most of their computation."""

    def at(self, point: KernelPoint) -> Matrices:
        """Compute the matrices of one point."""
        return next(self.matrices([point]))

    @abstractmethod
    def kernel(self, point: KernelPoint) -> Any:
        """Give the kernel with these hyperparameters."""


class DistanceGramCache(GramCache):
    """Matrices of a kernel on distances: the distances are kept, and each kernel is an exponential of them.

    Parameters
    ----------
    kernel : MixtureKernel or RBFKernel
        A bound kernel, with any hyperparameters.
    labelled, others : ndarray of shape (n, d + e) and (m, d + e)
        Rows; the others may be None.
    """

    def __init__(
        self, kernel: MixtureKernel | RBFKernel, labelled: Rows | Floats, others: Rows | Floats | None
    ) -> None:
        self._kernel, self._labelled, self._others = kernel, labelled, others
        self._among, self._towards = _pair_terms(kernel, labelled, others)

    def matrices(self, points: Iterable[KernelPoint]) -> Iterator[Matrices]:
        """Yield the matrices of each point; without gamma, those of the linear kernel."""
        for point in points:
            yield Matrices(point, self._among_rows(point), self._towards_rows(point))

    def _among_rows(self, point: KernelPoint) -> Floats:
        if point.gamma is None:
            return self._scalar_products(self._euclidean[0], point)
        return self._among.kernel(point.gamma, point.alpha, point.beta)

    def _towards_rows(self, point: KernelPoint) -> Floats | None:
        if self._towards is None:
            return None
        if point.gamma is None:
            others = self._euclidean[1]
            assert others is not None
            return self._scalar_products(others, point)
        return self._towards.kernel(point.gamma, point.alpha, point.beta)

    def _scalar_products(self, terms: PairTerms, point: KernelPoint) -> Floats:
        """Compute scalar products about the mean of the labelled rows, from squared distances.

        For numbers they are exact and positive semi-definite. Squared counts of categories are no squared distances in
        any space: with them, the SVM is not linear.
        """
        sq = self._euclidean[0].exponent(point.alpha, point.beta)
        between = terms.exponent(point.alpha, point.beta)
        return -0.5 * (between - between.mean(axis=1, keepdims=True) - sq.mean(axis=0) + sq.mean())

    def kernel(self, point: KernelPoint) -> Any:
        """Give the kernel with these hyperparameters."""
        return replaced(self._kernel, gamma=point.gamma, alpha=point.alpha, beta=point.beta)

    def unit(self, alpha: float, beta: float) -> float:
        """Give the median of the Euclidean squared distances over the median of the kernel's own."""
        upper = np.triu_indices(len(self._labelled), 1)
        own, euclidean = (np.median(each.exponent(alpha, beta)[upper]) for each in (self._among, self._euclidean[0]))
        return float(euclidean / own) if own > 0 and euclidean > 0 else 1.0

    @cached_property
    def _euclidean(self) -> tuple[PairTerms, PairTerms | None]:
        """Euclidean distances between the same rows, gaps filled, for the linear kernel."""
        if isinstance(self._kernel, RBFKernel):
            return self._among, self._towards
        mixture = self._kernel.mixture
        assert mixture is not None  # it was bound
        labelled, others = self._kernel.read(self._labelled), self._others
        kernel = RBFKernel(n_categorical=len(mixture.categories))
        return _pair_terms(kernel, labelled, None if others is None else self._kernel.read(others))


class LaplacianKernels:
    """Laplacian kernels with one graph and changing hyperparameters; the last one is kept for the next.

    Searches with different labelled rows that visit the same points in the same order may share one, within one thread:
    each kernel is factorised once for all of them, and rows that all searches draw from get their coordinates once.

    Parameters
    ----------
    kernel : LaplacianKernel
        A bound kernel, with any hyperparameters.
    pool : Rows or ndarray of shape (n, d + e), default=None
        Rows that searches draw from.

    Attributes
    ----------
    last : LaplacianKernel
        The kernel that was used last.
    """

    def __init__(self, kernel: LaplacianKernel, pool: Rows | Floats | None = None) -> None:
        if not isinstance(kernel.base, DistanceKernel):
            raise _unsupported(kernel.base)
        self.last, self._pool = kernel, pool
        self._placed: tuple[Deformation, Floats] | None = None

    def kernel(self, point: KernelPoint) -> LaplacianKernel:
        """Give the kernel with these hyperparameters; without a ratio, with that of the last one."""
        base = self.last.base
        wanted = (point.gamma, point.alpha, point.beta)
        if wanted != (base.gamma, base.alpha, base.beta):
            base = replaced(base, gamma=point.gamma, alpha=point.alpha, beta=point.beta)
            self.last = self.last.with_base(base)
        if point.ratio is not None and point.ratio != self.last.ratio:
            self.last = self.last.with_ratio(point.ratio)
        return self.last

    def coordinates(self, positions: Ints) -> Floats:  # (m, n)
        """Coordinates of rows of the pool in the last kernel; those of all rows are computed once for every ratio."""
        if self._pool is None:
            raise KernelError("There is no pool of rows. Give one: LaplacianKernels(kernel, pool).")
        deformation = self.last.deformation
        if self._placed is None or self._placed[0] is not deformation:
            self._placed = None  # free the memory of the last ones first
            self._placed = deformation, self.last.coordinates(self._pool)
        return self._placed[1][:, positions]


@dataclass(frozen=True, eq=False)
class _Placed:
    """Coordinates of rows in one deformation, for every ratio."""

    deformation: Deformation
    labelled: Floats  # coordinates, (m, q)
    among: Floats  # part of the kernel that the graph does not change, (q, q)
    others: tuple[Floats, Floats] | None  # coordinates, and the same part towards labelled rows


class LaplacianGramCache(GramCache):
    """Matrices of a Laplacian kernel: while only the ratio changes, one solve for the labelled rows is needed.

    Parameters
    ----------
    kernel : LaplacianKernel
        A bound kernel, with any hyperparameters.
    labelled, others : ndarray of shape (q, d + e) and (m, d + e)
        Rows, which need not be among those of the graph; the others may be None.
    kernels : LaplacianKernels, default=None
        Kernels that several caches share, whose points are visited in the same order; by default each call of
        :meth:`matrices` has its own.
    positions : pair of ndarray of int, default=None
        Where the labelled rows and the others are in the pool of ``kernels``, if they are from there.
    """

    def __init__(
        self,
        kernel: LaplacianKernel,
        labelled: Rows | Floats,
        others: Rows | Floats | None,
        kernels: LaplacianKernels | None = None,
        positions: tuple[Ints, Ints] | None = None,
    ) -> None:
        if not isinstance(kernel.base, DistanceKernel):
            raise _unsupported(kernel.base)
        self._kernel, self._labelled, self._others = kernel, labelled, others
        self._kernels, self._positions = kernels, positions

    def matrices(self, points: Iterable[KernelPoint]) -> Iterator[Matrices]:
        """Yield the matrices of each point; the coordinates of rows are kept until the base kernel changes."""
        kernels = LaplacianKernels(self._kernel) if self._kernels is None else self._kernels
        placed: _Placed | None = None
        for point in points:
            kernel = kernels.kernel(point)
            if not kernel.ratio:
                yield self._plain(point, kernel)
                continue
            if placed is None or placed.deformation is not kernel.deformation:
                placed = self._placed(kernel)
            half = kernel.half(placed.labelled)
            towards = None
            if placed.others is not None:
                others, beyond = placed.others
                towards = beyond + kernel.along(others, half)
            yield Matrices(point, placed.among + half.T @ half, towards)

    def kernel(self, point: KernelPoint) -> LaplacianKernel:
        """Give the kernel with these hyperparameters."""
        return LaplacianKernels(self._kernel).kernel(point)

    def _plain(self, point: KernelPoint, kernel: LaplacianKernel) -> Matrices:
        """Compute the matrices of a kernel with the ratio 0, which is not deformed."""
        others = self._others
        towards = None if others is None else kernel(others, self._labelled)
        return Matrices(point, kernel(self._labelled), towards)

    def _placed(self, kernel: LaplacianKernel) -> _Placed:
        """Compute the coordinates of the rows."""
        deformation = kernel.deformation
        labelled = self._coordinates(kernel, self._labelled, 0)
        among = deformation.residual(kernel.base(self._labelled), labelled, labelled)
        others = None
        if self._others is not None:
            where = self._coordinates(kernel, self._others, 1)
            others = where, deformation.residual(kernel.base(self._others, self._labelled), where, labelled)
        return _Placed(deformation, labelled, (among + among.T) / 2, others)

    def _coordinates(self, kernel: LaplacianKernel, rows: Rows | Floats, which: int) -> Floats:
        """Coordinates of the labelled rows (0) or the others (1), from those of the pool where they are known."""
        if self._kernels is None or self._positions is None:
            return kernel.coordinates(rows)
        return self._kernels.coordinates(self._positions[which])


def gram_cache(kernel: Any, labelled: Rows | Floats, others: Rows | Floats | None) -> GramCache:
    """Give the matrices of a bound kernel, whatever its class."""
    if isinstance(kernel, LaplacianKernel):
        return LaplacianGramCache(kernel, labelled, others)
    if isinstance(kernel, (MixtureKernel, RBFKernel)):
        return DistanceGramCache(kernel, labelled, others)
    raise _unsupported(kernel)


def _pair_terms(
    kernel: DistanceKernel, labelled: Rows | Floats, others: Rows | Floats | None
) -> tuple[PairTerms, PairTerms | None]:
    return kernel.pair_terms(labelled), None if others is None else kernel.pair_terms(others, labelled)


def _unsupported(kernel: Any) -> KernelError:
    return KernelError(
        f"A search needs a kernel with gamma, alpha and beta, but {type(kernel).__name__} has none.",
        hint=hint(python="Use scikit-learn's GridSearchCV with cv=SemiSupervisedSplit()."),
    )
