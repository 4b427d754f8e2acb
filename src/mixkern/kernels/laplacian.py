r"""A kernel bent along the graph of all rows: the kernel of the Laplacian SVM.

Rows that are connected through others shall be alike. With G the base kernel among all rows, L the Laplacian of their
graph of nearest neighbours and M = ratio L^p, the deformed kernel is

.. math:: \tilde k(x, z) = k(x, z) - k_x^T (I + M G)^{-1} M k_z

where k_x holds the base kernel between x and all rows. Fed to libsvm it *is* the Laplacian SVM, several classes and new
rows included.

It is computed with a root of G = F F', by which a row has coordinates w_x with k_x = F w_x. With A = F' L^p F,

.. math:: \tilde k(x, z) = k(x, z) - w_x^T w_z + w_x^T (I + ratio A)^{-1} w_z

For a row of the graph the first two terms cancel. The third is positive semi-definite, and loses no digits where the
ratio is large.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from mixkern.engine.threads import available
from mixkern.errors import KernelError, NotBoundError
from mixkern.kernels.base import Bounds, DistanceKernel
from mixkern.kernels.definite import rounding_of
from mixkern.typing import Floats, Ints

PIVOT = 1e-14  # where Cholesky stops, as a share of the largest diagonal: entries are rounded at 1e-16
FAITHFUL = 1e-12  # how far a definite matrix may be from its factor's square, as the same share
BLOCK = 256  # rows or columns at a time


def graph_laplacian(distances: ArrayLike, n_neighbors: int = 7) -> csr_array:
    """Give the normalised Laplacian of the graph that joins each row with its nearest neighbours, and they with it.

    Parameters
    ----------
    distances : array-like of shape (n, n)
        Between all rows.
    n_neighbors : int, default=7
        How many each row chooses; being chosen counts as well.

    Examples
    --------
    >>> D = abs(np.subtract.outer([0.0, 1.0, 5.0], [0.0, 1.0, 5.0]))
    >>> graph_laplacian(D, n_neighbors=1).toarray().round(2)
    array([[ 1.  , -0.71,  0.  ],
           [-0.71,  1.  , -0.71],
           [ 0.  , -0.71,  1.  ]])
    """
    D = np.asarray(distances, dtype=float)
    n = len(D)
    k = min(n_neighbors, n - 1)
    with ThreadPoolExecutor(available()) as pool:
        blocks = pool.map(lambda i: _nearest(D, i, min(i + BLOCK, n), k), range(0, n, BLOCK))
        chosen = np.concatenate([np.empty((0, k), dtype=int), *blocks])
    ones = np.ones(n * k)
    graph = csr_array((ones, (np.repeat(np.arange(n), k), chosen.ravel())), shape=(n, n))
    graph = ((graph + graph.T) > 0).astype(float)
    degree = np.maximum(graph.sum(axis=1), 1.0)
    scale = csr_array((1 / np.sqrt(degree), (np.arange(n), np.arange(n))), shape=(n, n))
    identity = csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
    return csr_array(identity - scale @ graph @ scale)


def _nearest(D: Floats, start: int, end: int, k: int) -> Ints:  # (end - start, k)
    """Give the nearest neighbours of some rows; nobody is its own, even among equal rows."""
    block = np.array(D[start:end])
    block[np.arange(end - start), np.arange(start, end)] = np.inf
    return np.argpartition(block, k - 1, axis=1)[:, :k] if k else np.empty((end - start, 0), dtype=int)


@dataclass(frozen=True, eq=False)
class TriangularRoot:
    """Of a definite matrix, by Cholesky with pivots: as many of its rows as it has rank say all about the others."""

    landmarks: Ints  # (m,): the pivots
    factor: Floats  # F_1, (m, m): lower triangle of F at the pivots

    @property
    def signs(self) -> Floats:
        """Say which coordinates are of the positive part: all."""
        return np.ones(len(self.landmarks))

    def coordinates(self, columns: Floats) -> Floats:
        """Solve F_1 w = k, for the kernel between landmarks and rows."""
        return solve_triangular(self.factor, columns, lower=True, check_finite=False)

    def coefficients(self, values: Floats) -> Floats:
        """Give v with v' k = values' w, whatever the row."""
        return solve_triangular(self.factor, values, lower=True, trans=1, check_finite=False)


@dataclass(frozen=True, eq=False)
class SpectralRoot:
    """Of any symmetric matrix, by its eigenvectors: those of positive eigenvalues, then those of negative ones."""

    values: Floats  # (m + r,)
    vectors: Floats  # (n, m + r)

    @property
    def landmarks(self) -> Ints:
        """Say which rows others find their coordinates by: all."""
        return np.arange(len(self.vectors))

    @property
    def signs(self) -> Floats:
        """Say which coordinates are of the positive part, and which of the negative one."""
        return np.sign(self.values)

    def coordinates(self, columns: Floats) -> Floats:
        """Give U' k over the roots of the eigenvalues' sizes."""
        return (self.vectors.T @ columns) / np.sqrt(np.abs(self.values))[:, None]

    def coefficients(self, values: Floats) -> Floats:
        """Give v with v' k = values' w, whatever the row."""
        return self.vectors @ (values / np.sqrt(np.abs(self.values))[:, None])


@dataclass(frozen=True, eq=False)
class Deformation:
    r"""The graph of all rows, and a root of the base kernel among them: the same for every ratio.

    Bending needs a base kernel that is positive semi-definite: I + M G of one that is not may be singular. So the
    negative eigenvectors of G, with eigenvalues in N, are left out first, among these rows and for new ones alike:

    .. math:: k_+(x, z) = k(x, z) - k_x^T U_- N^{-1} U_-^T k_z
    """

    power: csr_array  # L^p, (n, n)
    root: TriangularRoot | SpectralRoot
    energy: Floats  # A = F' L^p F, (m, m)

    @classmethod
    def of(cls, power: csr_array, gram: Floats) -> Self:
        """Take the root of the base kernel: by Cholesky where it is definite, else by eigenvectors."""
        lower, order, rank, _ = dpstrf(gram.T, lower=1, tol=PIVOT * gram.diagonal().max(initial=0.0))
        order = order.astype(np.intp) - 1
        F = _without_upper(lower)[:, :rank]
        if _is_faithful(gram, F, order):
            root = TriangularRoot(order[:rank], np.asfortranarray(F[:rank]))
            return cls(power, root, _energy(power[order][:, order], F))
        values, vectors = np.linalg.eigh(gram)
        positive, negative = values > rounding_of(gram), values < -rounding_of(gram)
        F = vectors[:, positive] * np.sqrt(values[positive])
        kept = np.concatenate([np.flatnonzero(positive), np.flatnonzero(negative)])
        return cls(power, SpectralRoot(values[kept], vectors[:, kept]), F.T @ (power @ F))

    def factor(self, ratio: float) -> Floats:
        """Factorise I + ratio A; the lower triangle counts."""
        system = ratio * self.energy.T
        system[np.diag_indices_from(system)] += 1.0
        try:
            factor: Floats = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)[0]
        except LinAlgError as error:
            raise KernelError(f"A ratio of {ratio:g} is too large for these rows. Use one of 1e8 or less.") from error
        return factor

    def beyond(self, gram: Floats, left: Floats, right: Floats) -> Floats:
        """Give what of the base kernel between rows the graph does not reach, and no ratio bends."""
        return gram - left.T @ (self.root.signs[:, None] * right)

    def half(self, factor: Floats, right: Floats) -> Floats:
        """Solve C h = w for the factor C of I + ratio A: h' h is what the graph reaches, bent."""
        return solve_triangular(factor, right[: len(factor)], lower=True, check_finite=False)

    def along(self, factor: Floats, left: Floats, half: Floats) -> Floats:
        """Give what the graph reaches, bent, between rows of these coordinates and those of this half."""
        return left[: len(factor)].T @ solve_triangular(factor, half, lower=True, trans=1, check_finite=False)

    def change(self, factor: Floats, ratio: float, sums: Floats) -> Floats:
        """Give the coefficients of the landmarks that turn sums of the base kernel into those of the bent one."""
        m = len(factor)
        solved = cho_solve((factor, True), sums[:m], check_finite=False)
        return self.root.coefficients(np.vstack([-ratio * (self.energy @ solved), sums[m:]]))


def _is_faithful(gram: Floats, F: Floats, order: Ints) -> bool:
    """Tell whether a matrix is the square of its factor, so that it is definite."""
    rest, part = order[F.shape[1] :], F[F.shape[1] :]
    most = FAITHFUL * gram.diagonal().max(initial=0.0)
    for i in range(0, len(rest), BLOCK):
        j = i + BLOCK
        if np.abs(gram[rest[i:j, None], rest[:j]] - part[i:j] @ part[:j].T).max() > most:
            return False
    return True


def _without_upper(lower: Floats) -> Floats:
    """Empty the part above the diagonal, in place, by columns: that is how LAPACK lays them out."""
    for j in range(1, len(lower)):
        lower[:j, j] = 0.0
    return lower


def _energy(power: csr_array, F: Floats) -> Floats:
    """Give F' L^p F of a lower trapezoid, by blocks of its lower triangle: a sixth of the products."""
    n, m = F.shape
    starts = range(0, m, BLOCK)
    image, energy = np.empty((n, m)), np.empty((m, m))

    def multiply(i: int) -> None:
        image[:, i : i + BLOCK] = power[:, i:] @ np.ascontiguousarray(F[i:, i : i + BLOCK])

    with ThreadPoolExecutor(available()) as pool:
        list(pool.map(multiply, starts))
    for i in starts:
        j = min(i + BLOCK, m)
        energy[i:j, :j] = F[i:, i:j].T @ image[i:, :j]
        energy[:j, i:j] = energy[i:j, :j].T
    return energy


class LaplacianKernel(Kernel):
    """A kernel bent along the graph of all rows, labelled or not.

    Two rows are alike if the base kernel says so, or if a chain of neighbours leads from one to the other.

    Parameters
    ----------
    base : Kernel
        What is bent: any kernel of mixkern, with its mixture if it needs one, or sum or product of kernels.
    rows : array-like of shape (n, d + e), default=None
        All rows that the graph is made of. ``None`` gives an unbound kernel; see :meth:`bind`.
    n_neighbors : int, default=7
        Neighbours in the graph: the rows that the base kernel finds most alike.
    degree : int, default=1
        Power p of the Laplacian.
    ratio : float, default=100.0
        gamma_I / gamma_A: how much the graph counts against the base kernel; 0 is the base kernel alone.
    ratio_bounds : pair of float or "fixed", default="fixed"
        Where scikit-learn's Gaussian processes may look for the ratio.

    Notes
    -----
    Positive semi-definite among the rows of the graph: what is negative in the base kernel there is left out before it
    is bent, unless ``ratio`` is 0. The diagonal is not one; a large ratio makes it small, and an SVM needs a larger C.
    The first call factorises the base kernel among all rows, and keeps the factors: :meth:`with_ratio` hands on all
    that does not depend on the ratio, :meth:`with_base` the graph. Among rows of the graph, numbers are good to 1e-10
    for ratios of 1e-8 to 1e8. New rows are seen through a base kernel of which eigenvalues below 1e-14 are left out:
    numbers are good to 1e-8 for ratios up to 1e3, and to 1e-5 at 1e8.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from mixkern import datasets
    >>> from mixkern.kernels import LaplacianKernel, RBFKernel
    >>> X, y = datasets.make_two_moons(n=300, random_state=0)
    >>> kernel = LaplacianKernel(RBFKernel(5.0), X)
    >>> labelled = [int((y == 0).argmax()), int((y == 1).argmax())]
    >>> svc = SVC(kernel=kernel, C=100).fit(X[labelled], y[labelled])  # two labels
    >>> bool(svc.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        base: Any,
        rows: ArrayLike | None = None,
        *,
        n_neighbors: int = 7,
        degree: int = 1,
        ratio: float = 100.0,
        ratio_bounds: Bounds = "fixed",
    ) -> None:
        self.base = base
        self.rows = rows
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.ratio = ratio
        self.ratio_bounds = ratio_bounds

    def bind(self, rows: ArrayLike) -> Self:
        """Give the same kernel with the rows that the graph is made of."""
        return type(self)(**{**self.get_params(deep=False), "rows": rows})

    def set_params(self, **params: Any) -> Self:
        """Change settings, and forget what was computed with the old ones."""
        for computed in ("graph", "deformation", "_factors"):
            self.__dict__.pop(computed, None)
        return super().set_params(**params)

    def with_ratio(self, ratio: float) -> Self:
        """Give the same kernel with another ratio, and the graph and base kernel that this one has computed."""
        other = type(self)(**{**self.get_params(deep=False), "ratio": ratio})
        other.__dict__.update(graph=self.graph, deformation=self.deformation)
        return other

    def with_base(self, base: Any) -> Self:
        """Give the same kernel bent from another one, with this one's graph where only gamma is another."""
        other = type(self)(**{**self.get_params(deep=False), "base": base})
        if self.rows is not None and _have_equal_distances(self.base, base):
            other.__dict__["graph"] = self.graph
        return other

    @cached_property
    def graph(self) -> csr_array:
        """The power of the Laplacian of the graph of all rows: computed once, and kept."""
        if self.rows is None:
            raise NotBoundError("LaplacianKernel has no rows for its graph. Bind them first: kernel.bind(X).")
        if self.n_neighbors < 1 or self.degree < 1:
            raise KernelError(f"n_neighbors and degree must be 1 or more, but are {self.n_neighbors}, {self.degree}.")
        laplacian = graph_laplacian(self._apart(self.rows), self.n_neighbors)
        power = laplacian
        for _ in range(self.degree - 1):
            power = csr_array(power @ laplacian)
        return power

    @cached_property
    def deformation(self) -> Deformation:
        """The graph and the root of the base kernel of all rows: computed once, and kept."""
        return Deformation.of(self.graph, self.base(self.rows))

    def _apart(self, rows: ArrayLike) -> Floats:
        """Say how far all rows are apart, by what the base kernel makes of all their columns."""
        if isinstance(self.base, DistanceKernel):
            return self.base.separation(rows).exponent(self.base.alpha, self.base.beta)
        size = self.base.diag(rows)
        return size[:, None] + size[None, :] - 2 * self.base(rows)  # squared distance in the kernel's own space

    @cached_property
    def _factors(self) -> Floats:
        return self.deformation.factor(float(self.ratio))

    def coordinates(self, X: ArrayLike) -> Floats:
        """Say where rows are as the graph sees them, for any ratio; (m, n) with m the rank of the base kernel.

        ``kernel(X, Y)`` is ``kernel.deformation.beyond(kernel.base(X, Y), left, right) + kernel.along(left,
        kernel.half(right))`` with the coordinates of both. Only the second term depends on the ratio.
        """
        return self.deformation.root.coordinates(self.base(X, self._landmarks()).T)

    def half(self, right: Floats) -> Floats:
        """Solve for rows with these coordinates: ``half.T @ half`` is what the graph makes of them."""
        return self.deformation.half(self._factors, right)

    def along(self, left: Floats, half: Floats) -> Floats:
        """Give what the graph makes of rows with these coordinates and others that are solved for."""
        return self.deformation.along(self._factors, left, half)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Kernel between rows, which need not be among those of the graph."""
        if eval_gradient:
            raise KernelError("LaplacianKernel has no gradient. Search its parameters on a grid.")
        if not self._is_bent():
            return self.base(X, Y)
        left = self.coordinates(X)
        if Y is None:
            half = self.half(left)
            K = self.deformation.beyond(self.base(X), left, left) + half.T @ half
            return (K + K.T) / 2
        right = self.coordinates(Y)
        is_wide = left.shape[1] < right.shape[1]  # the smaller side is solved for
        bent = self.along(right, self.half(left)).T if is_wide else self.along(left, self.half(right))
        return self.deformation.beyond(self.base(X, Y), left, right) + bent

    def unbent(self, Y: ArrayLike, V: ArrayLike) -> tuple[Floats, Floats]:
        """Give rows and coefficients with which the *base* kernel makes the same sums: how a machine predicts.

        Parameters
        ----------
        Y : array-like of shape (m, d + e)
            Rows, such as support vectors.
        V : array-like of shape (m, q)
            Their coefficients.

        Returns
        -------
        rows : ndarray of shape (l + m, d + e)
            Those of the graph that stand for all of it, as many as the base kernel has rank there, or all where it is
            indefinite; then those of ``Y``. With a ratio of 0, the latter alone.
        coefficients : ndarray of shape (l + m, q)
            ``self(X, Y) @ V`` equals ``self.base(X, rows) @ coefficients`` for any ``X``: no factors, no graph.
        """
        Y, V = np.asarray(Y, dtype=float), np.asarray(V, dtype=float)
        if not self._is_bent():
            return Y, V
        rows = self._landmarks()
        sums = self.deformation.root.coordinates(self.base(rows, Y) @ V)
        return np.vstack([rows, Y]), np.vstack([self.deformation.change(self._factors, float(self.ratio), sums), V])

    def diag(self, X: ArrayLike) -> Floats:
        """Kernel of each row with itself."""
        if not self._is_bent():
            return np.asarray(self.base.diag(X), dtype=float)
        left = self.coordinates(X)
        return self.base.diag(X) - self.deformation.root.signs @ left**2 + (self.half(left) ** 2).sum(axis=0)

    def _is_bent(self) -> bool:
        if not 0 <= float(self.ratio) < np.inf:
            raise KernelError(f"ratio must be a number, 0 or more, but it is {self.ratio!r}.")
        return bool(self.ratio)

    def _landmarks(self) -> Floats:
        """Give the rows of the graph by which others find their coordinates."""
        landmarks = self.deformation.root.landmarks  # refuses a kernel without rows
        return np.asarray(self.rows, dtype=float)[landmarks]

    def is_stationary(self) -> bool:
        """Whether only the difference of two rows matters: no, the graph does."""
        return False

    @property
    def hyperparameter_ratio(self) -> Hyperparameter:
        """What scikit-learn's searches may tune."""
        return Hyperparameter("ratio", "numeric", self.ratio_bounds)

    def __getstate__(self) -> dict[str, Any]:
        return self.get_params(deep=False)  # what was computed is computed again

    def __repr__(self) -> str:
        return f"LaplacianKernel({self.base!r}, ratio={self.ratio:.3g})"


def _have_equal_distances(a: Any, b: Any) -> bool:
    """Tell whether two kernels find the same rows near: they differ in nothing but gamma."""
    if not isinstance(a, DistanceKernel) or type(a) is not type(b):
        return False
    ours, theirs = a.get_params(deep=False), b.get_params(deep=False)
    names = set(ours) - {"gamma", "gamma_bounds"}
    pairs = [(ours[name], theirs[name]) for name in names]
    return all(one is other or (isinstance(one, Real) and one == other) for one, other in pairs)
