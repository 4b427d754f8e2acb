r"""A kernel deformed along the graph of all rows: the kernel of the Laplacian SVM.

Rows that are connected through others become similar. With G the base kernel among all rows, L the Laplacian of their
graph of nearest neighbours and M = ratio L^p, the deformed kernel is

.. math:: \tilde k(x, z) = k(x, z) - k_x^T (I + M G)^{-1} M k_z

where k_x holds the base kernel between x and all rows. An SVM with this kernel *is* the Laplacian SVM, for several
classes and new rows as well.

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
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from mixkern.density.rows import Rows
from mixkern.device import in_float64
from mixkern.errors import KernelError, NotBoundError
from mixkern.gpu_array import on_gpu_of_rows, to_host
from mixkern.kernels import dense
from mixkern.kernels.base import DistanceKernel, of_host
from mixkern.kernels.definite import rounding_of
from mixkern.kernels.graph import GraphWeights, graph_laplacian
from mixkern.parts import ROWS, Parts, model_part, require
from mixkern.threads import available_threads
from mixkern.typing import Bounds, Floats, Ints
from mixkern.validation import COUNT, FLAG, as_floats

PIVOT = 1e-14  # where Cholesky stops, as a share of the largest diagonal: entries are rounded at 1e-16
FAITHFUL = 1e-12  # largest difference between a definite matrix and its factor's square, as the same share
BLOCK = 256  # rows or columns at a time
MOST_ROWS, MOST_NEIGHBORS, MOST_DEGREE = 50_000, 1_000, 16  # of a graph in a model file: larger ones take hours


@dataclass(frozen=True, eq=False)
class TriangularRoot:
    """Root of a definite matrix by Cholesky with pivots: as many rows as it has rank determine the others."""

    landmarks: Ints  # (m,): the pivots
    factor: Floats  # F_1, (m, m): lower triangle of F at the pivots

    @property
    def signs(self) -> Floats:
        """1 for each coordinate: all belong to the positive part."""
        return np.ones(len(self.landmarks))

    def coordinates(self, columns: Floats) -> Floats:
        """Solutions w of F_1 w = k, for the kernel between landmarks and rows."""
        return dense.solved(self.factor, columns)

    def own_coordinates(self, n: int) -> Floats | None:  # (n, n)
        """Coordinates of all n rows of the matrix, without solving for them; None where the rank is lower."""
        return self.factor[np.argsort(self.landmarks)].T if len(self.landmarks) == n else None

    def coefficients(self, values: Floats) -> Floats:
        """Coefficients v with v' k = values' w for every row."""
        return dense.solved(self.factor, values, transposed=True)


@dataclass(frozen=True, eq=False)
class SpectralRoot:
    """Root of any symmetric matrix by eigenvectors: those of positive eigenvalues, then those of negative ones."""

    values: Floats  # (m + r,)
    vectors: Floats  # (n, m + r)

    @property
    def landmarks(self) -> Ints:
        """Rows that the coordinates of others are computed from: all."""
        return np.arange(len(self.vectors))

    @property
    def signs(self) -> Floats:
        """1 for coordinates of the positive part, -1 for those of the negative one."""
        return np.sign(self.values)

    def coordinates(self, columns: Floats) -> Floats:
        """U' k over the roots of the absolute eigenvalues."""
        return dense.product(self.vectors.T, columns) / np.sqrt(np.abs(self.values))[:, None]

    def own_coordinates(self, n: int) -> Floats | None:  # (m, n)  # noqa: ARG002
        """Coordinates of all rows of the matrix, those of the positive part."""
        positive = self.values > 0
        return np.sqrt(self.values[positive])[:, None] * self.vectors[:, positive].T

    def coefficients(self, values: Floats) -> Floats:
        """Coefficients v with v' k = values' w for every row."""
        return self.vectors @ (values / np.sqrt(np.abs(self.values))[:, None])


@dataclass(frozen=True, eq=False)
class Deformation:
    r"""The graph of all rows, and a root of the base kernel among them: the same for every ratio.

    The deformation needs a base kernel that is positive semi-definite: I + M G of one that is not may be singular. The
    negative eigenvectors of G, with eigenvalues in N, are left out first, for these rows and for new ones:

    .. math:: k_+(x, z) = k(x, z) - k_x^T U_- N^{-1} U_-^T k_z
    """

    power: csr_array  # L^p, (n, n)
    root: TriangularRoot | SpectralRoot
    energy: Floats  # A = F' L^p F, (m, m)

    @classmethod
    def of(cls, power: csr_array, gram: Floats) -> Self:
        """Deform a base kernel matrix, whose root is by Cholesky where it is definite, else by eigenvectors."""
        lower, order, rank, _ = dpstrf(gram.T, lower=1, tol=PIVOT * gram.diagonal().max(initial=0.0))
        order = order.astype(np.intp) - 1
        F = _without_upper(lower)[:, :rank]
        if _is_faithful(gram, F, order):
            root = TriangularRoot(order[:rank], np.asfortranarray(F[:rank]))
            return cls(power, root, _energy(power[order][:, order], F))
        values, vectors = dense.eigenvectors(gram)
        positive, negative = values > rounding_of(gram), values < -rounding_of(gram)
        F = vectors[:, positive] * np.sqrt(values[positive])
        kept = np.concatenate([np.flatnonzero(positive), np.flatnonzero(negative)])
        return cls(power, SpectralRoot(values[kept], vectors[:, kept]), dense.product(F.T, power @ F))

    def factor(self, ratio: float) -> Floats:
        """Cholesky factor of I + ratio A, in the lower triangle."""
        system = ratio * self.energy.T
        system[np.diag_indices_from(system)] += 1.0
        try:
            return dense.cholesky(system)
        except LinAlgError as error:
            raise KernelError(f"A ratio of {ratio:g} is too large for these rows. Use one of 1e8 or less.") from error

    def residual(self, gram: Floats, left: Floats, right: Floats) -> Floats:
        """Part of the base kernel between rows that does not depend on the graph, nor on the ratio."""
        return gram - dense.product(left.T, self.root.signs[:, None] * right)

    def half(self, factor: Floats, right: Floats) -> Floats:
        """Solutions h of C h = w for the factor C of I + ratio A: h' h is the deformed part of the kernel."""
        return dense.solved(factor, right[: len(factor)])

    def along(self, factor: Floats, left: Floats, half: Floats) -> Floats:
        """Deformed part of the kernel between rows with these coordinates and those of this half."""
        return dense.product(left[: len(factor)].T, dense.solved(factor, half, transposed=True))

    def change(self, factor: Floats, ratio: float, sums: Floats) -> Floats:
        """Coefficients of the landmarks that turn sums of the base kernel into those of the deformed one."""
        m = len(factor)
        solved = dense.solved(factor, dense.solved(factor, sums[:m]), transposed=True)
        return self.root.coefficients(np.vstack([-ratio * (self.energy @ solved), sums[m:]]))


def _is_faithful(gram: Floats, F: Floats, order: Ints) -> bool:
    """Whether a matrix is the square of its factor, and therefore definite."""
    rest, part = order[F.shape[1] :], F[F.shape[1] :]
    most = FAITHFUL * gram.diagonal().max(initial=0.0)
    for i in range(0, len(rest), BLOCK):
        j = i + BLOCK
        if np.abs(gram[rest[i:j, None], rest[:j]] - part[i:j] @ part[:j].T).max() > most:
            return False
    return True


def _without_upper(lower: Floats) -> Floats:
    """Clear the part above the diagonal, in place, by columns, which is LAPACK's memory layout."""
    for j in range(1, len(lower)):
        lower[:j, j] = 0.0
    return lower


def _energy(power: csr_array, F: Floats) -> Floats:
    """F' L^p F of a lower trapezoid, by blocks of its lower triangle: a sixth of the products."""
    n, m = F.shape
    starts = range(0, m, BLOCK)
    image, energy = np.empty((n, m)), np.empty((m, m))

    def multiply(i: int) -> None:
        image[:, i : i + BLOCK] = power[:, i:] @ np.ascontiguousarray(F[i:, i : i + BLOCK])

    with ThreadPoolExecutor(available_threads()) as pool:
        list(pool.map(multiply, starts))
    if dense.is_for_gpu(m, n, m):
        return dense.product(F.T, image)
    for i in starts:
        j = min(i + BLOCK, m)
        energy[i:j, :j] = F[i:, i:j].T @ image[i:, :j]
        energy[:j, i:j] = energy[i:j, :j].T
    return energy


@model_part("LaplacianKernel")
class LaplacianKernel(Kernel):
    """A kernel deformed along the graph of all rows, labelled or not.

    Two rows are similar if the base kernel between them is large, or if a chain of neighbours leads from one to the
    other.

    Parameters
    ----------
    base : Kernel
        Kernel to deform: any kernel of mixkern, with its mixture if it needs one, or a sum or product of kernels.
    rows : array-like of shape (n, d + e), default=None
        Rows of the graph. ``None`` gives an unbound kernel; see :meth:`bind`.
    n_neighbors : int, default=7
        Neighbours in the graph: the nearest rows by the distance of the base kernel.
    degree : int, default=1
        Power p of the Laplacian.
    weights : {"binary", "heat"}, default="binary"
        Weight of an edge of the graph: 1, or exp(-d^2 / (2 t^2)) for neighbours at the distance d, where t is the mean
        distance of neighbours; see ``mixkern.kernels.graph``.
    normalised : bool, default=True
        Whether the Laplacian is normalised by the degrees of the rows. Without, its eigenvalues are larger, and so is
        the effect of a ratio.
    ratio : float, default=100.0
        gamma_I / gamma_A: weight of the graph against the base kernel; 0 is the base kernel alone.
    ratio_bounds : pair of float or "fixed", default="fixed"
        Where scikit-learn's Gaussian processes may look for the ratio.

    Notes
    -----
    Positive semi-definite among the rows of the graph: negative eigenvalues of the base kernel are left out first,
    unless ``ratio`` is 0. The diagonal is not one; a large ratio makes it small, and an SVM needs a larger C. The first
    call factorises the base kernel among all rows, and keeps the factors: :meth:`with_ratio` shares all that does not
    depend on the ratio, :meth:`with_base` the graph. Among rows of the graph, values are accurate to 1e-9 for ratios
    of 1e-8 to 1e8 and p up to 2. For new rows, eigenvalues of the base kernel below 1e-14 are left out: values are
    accurate to 1e-8 for ratios up to 1e3, and to 1e-5 at 1e8. Without normalisation, the Laplacian's eigenvalues reach
    twice the largest degree: with p up to 2, values are accurate to 1e-10 for ratios up to 1e3, to 1e-7 at 1e6, and to
    1e-5 at 1e8.

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
        weights: str = "binary",
        normalised: bool = True,
        ratio: float = 100.0,
        ratio_bounds: Bounds = "fixed",
    ) -> None:
        self.base = base
        self.rows = rows
        self.n_neighbors = n_neighbors
        self.degree = degree
        self.weights = weights
        self.normalised = normalised
        self.ratio = ratio
        self.ratio_bounds = ratio_bounds

    def bind(self, rows: ArrayLike) -> Self:
        """Return the same kernel with the rows of its graph."""
        return type(self)(**{**self.get_params(deep=False), "rows": rows})

    def set_params(self, **params: Any) -> Self:
        """Change parameters, and discard what was computed with the old ones."""
        for computed in ("graph", "deformation", "_factors", "_graph_rows"):
            self.__dict__.pop(computed, None)
        return super().set_params(**params)

    def with_ratio(self, ratio: float) -> Self:
        """Return the same kernel with another ratio, sharing the graph and the root of the base kernel."""
        other = type(self)(**{**self.get_params(deep=False), "ratio": ratio})
        other.__dict__.update(graph=self.graph, deformation=self.deformation, _graph_rows=self._graph_rows)
        return other

    def with_base(self, base: Any) -> Self:
        """Return the same deformation of another base kernel, sharing the graph where only gamma differs."""
        other = type(self)(**{**self.get_params(deep=False), "base": base})
        if self.rows is not None and _have_equal_distances(self.base, base):
            other.__dict__.update(graph=self.graph, _graph_rows=self._graph_rows)
        return other

    @cached_property
    def graph(self) -> csr_array:
        """Power of the Laplacian of the graph of all rows, computed once."""
        rows = self._graph_rows
        if self.n_neighbors < 1 or self.degree < 1:
            raise KernelError(f"n_neighbors and degree must be 1 or more, but are {self.n_neighbors}, {self.degree}.")
        laplacian = self._laplacian(rows)
        power = laplacian
        for _ in range(self.degree - 1):
            power = csr_array(power @ laplacian)
        return power

    def _laplacian(self, rows: Any) -> csr_array:
        """Laplacian of the graph; binary weights need the order of distances alone, and so no square roots."""
        distances = self._sq_distances(rows)
        if str(self.weights) != GraphWeights.BINARY:
            distances = np.sqrt(np.maximum(distances, 0.0))
        return graph_laplacian(distances, self.n_neighbors, weights=self.weights, normalised=self.normalised)

    @cached_property
    def deformation(self) -> Deformation:
        """Graph and root of the base kernel of all rows, computed once."""
        return Deformation.of(self.graph, self._of_base(self._graph_rows))

    def _of_base(self, a: Any, b: Any = None) -> Floats:
        """Evaluate the base kernel in float64: the matrix of a definite kernel is not definite in float32."""
        with in_float64():
            found: Floats = self.base(a, b)
        return found

    def _read(self, X: ArrayLike | Rows) -> Any:
        """Rows as the base kernel reads them: :class:`Rows` for kernels of mixkern, else an array without gaps.

        They are on the host, where the matrices are.
        """
        given = of_host(X)
        return self.base.read(given) if isinstance(self.base, DistanceKernel) else as_floats(given, "X", KernelError)

    @cached_property
    def _graph_rows(self) -> Any:
        """Rows of the graph as the base kernel reads them."""
        if self.rows is None:
            raise NotBoundError("LaplacianKernel has no rows for its graph. Bind them first: kernel.bind(X).")
        return self._read(self.rows)

    def _sq_distances(self, rows: Any) -> Floats:  # (n, n)
        """Squared distances between rows by the base kernel, categories included."""
        if isinstance(self.base, DistanceKernel):
            with in_float64():
                return self.base.pair_terms(rows).exponent(self.base.alpha, self.base.beta)
        size = self.base.diag(rows)
        return size[:, None] + size[None, :] - 2 * self._of_base(rows)  # squared distance in the kernel's own space

    @cached_property
    def _factors(self) -> Floats:
        return self.deformation.factor(float(self.ratio))

    @on_gpu_of_rows
    def coordinates(self, X: ArrayLike | Rows) -> Floats:
        """Coordinates of rows in the root of the base kernel, for any ratio; (m, n) with m its rank.

        ``kernel(X, Y)`` is ``kernel.deformation.residual(kernel.base(X, Y), left, right) + kernel.along(left,
        kernel.half(right))`` with the coordinates of both. Only the second term depends on the ratio.
        """
        return self.deformation.root.coordinates(self._of_base(self._read(X), self._landmarks()).T)

    def half(self, right: Floats) -> Floats:
        """Half of the deformed part for rows with these coordinates: the part is ``half.T @ half``."""
        return self.deformation.half(self._factors, right)

    def along(self, left: Floats, half: Floats) -> Floats:
        """Deformed part of the kernel between rows with these coordinates and others with this half."""
        return self.deformation.along(self._factors, left, half)

    @on_gpu_of_rows
    def __call__(self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None = None, eval_gradient: bool = False) -> Any:
        """Kernel between rows, which need not be among those of the graph.

        For an ``X`` of CuPy or PyTorch on a GPU, the result is such an array, in float64.
        """
        if eval_gradient:
            raise KernelError("LaplacianKernel has no gradient. Search its parameters on a grid.")
        a, b = self._read(X), None if Y is None else self._read(Y)
        if not self._is_deformed():
            return self._of_base(a, b)
        own = self.deformation.root.own_coordinates(len(self._graph_rows)) if b is None and self._is_graph(a) else None
        if own is not None:  # the first two terms of the formula cancel
            half = self.half(own)
            return dense.product(half.T, half)
        left = self.coordinates(a)
        if b is None:
            half = self.half(left)
            K = self.deformation.residual(self._of_base(a), left, left) + dense.product(half.T, half)
            return (K + K.T) / 2
        right = self.coordinates(b)
        is_wide = left.shape[1] < right.shape[1]  # the smaller side is solved for
        deformed = self.along(right, self.half(left)).T if is_wide else self.along(left, self.half(right))
        return self.deformation.residual(self._of_base(a, b), left, right) + deformed

    def base_representation(self, Y: ArrayLike, V: ArrayLike) -> tuple[Floats, Floats]:
        """Rows and coefficients with which the *base* kernel gives the same sums: for predictions without the graph.

        Parameters
        ----------
        Y : array-like of shape (m, d + e)
            Rows, such as support vectors.
        V : array-like of shape (m, q)
            Their coefficients.

        Returns
        -------
        rows : ndarray of shape (l + m, d + e)
            Landmarks of the graph, as many as the base kernel has rank there, or all where it is indefinite; then the
            rows ``Y``. With a ratio of 0, the latter alone.
        coefficients : ndarray of shape (l + m, q)
            ``self(X, Y) @ V`` equals ``self.base(X, rows) @ coefficients`` for any ``X``.
        """
        Y, V = np.asarray(of_host(Y), dtype=float), to_host(V, float)
        if not self._is_deformed():
            return Y, V
        sums = self.deformation.root.coordinates(self._of_base(self._landmarks(), self._read(Y)) @ V)
        landmarks = np.asarray(of_host(self.rows), dtype=float)[self.deformation.root.landmarks]
        change = self.deformation.change(self._factors, float(self.ratio), sums)
        return np.vstack([landmarks, Y]), np.vstack([change, V])

    @on_gpu_of_rows
    def diag(self, X: ArrayLike | Rows) -> Floats:
        """Kernel of each row with itself."""
        rows = self._read(X)
        if not self._is_deformed():
            return np.asarray(self.base.diag(rows), dtype=float)
        left = self.coordinates(rows)
        return self.base.diag(rows) - self.deformation.root.signs @ left**2 + (self.half(left) ** 2).sum(axis=0)

    def _is_deformed(self) -> bool:
        if not 0 <= float(self.ratio) < np.inf:
            raise KernelError(f"ratio must be a number, 0 or more, but it is {self.ratio!r}.")
        return bool(self.ratio)

    def _is_graph(self, rows: Any) -> bool:
        """Whether rows are those of the graph, in the same order."""
        return np.array_equal(np.asarray(rows, dtype=float), np.asarray(self._graph_rows, dtype=float))

    def _landmarks(self) -> Any:
        """Rows of the graph that the coordinates of others are computed from."""
        return self._graph_rows[self.deformation.root.landmarks]

    def is_stationary(self) -> bool:
        """Whether only the difference of two rows matters: no, the graph matters too."""
        return False

    @property
    def hyperparameter_ratio(self) -> Hyperparameter:
        """Ratio as a hyperparameter of scikit-learn's Gaussian processes."""
        return Hyperparameter("ratio", "numeric", self.ratio_bounds)

    def __getstate__(self) -> dict[str, Any]:
        return self.get_params(deep=False)  # without what was computed

    def to_parts(self) -> Parts:
        """Return the parameters, for a model file."""
        rows = None if self.rows is None else np.asarray(of_host(self.rows), dtype=float)
        return {**self.get_params(deep=False), "rows": rows}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Make a kernel of its parameters; a graph that is too large to compute is an error."""
        kernel = cls(**parts)
        rows: Any = kernel.rows
        require(rows is None or (ROWS.accepts(rows) and len(rows) <= MOST_ROWS), "graph")
        require(COUNT.accepts(kernel.n_neighbors) and kernel.n_neighbors <= MOST_NEIGHBORS, "number of neighbours")
        require(COUNT.accepts(kernel.degree) and kernel.degree <= MOST_DEGREE, "degree of the graph")
        require(isinstance(kernel.weights, str) and kernel.weights in list(GraphWeights), "weights of the graph")
        require(FLAG.accepts(kernel.normalised), "normalisation of the graph")
        return kernel

    def __repr__(self) -> str:
        return f"LaplacianKernel({self.base!r}, ratio={self.ratio:.3g})"


def _have_equal_distances(a: Any, b: Any) -> bool:
    """Whether two kernels have the same neighbours: they differ in gamma alone."""
    if not isinstance(a, DistanceKernel) or type(a) is not type(b):
        return False
    ours, theirs = a.get_params(deep=False), b.get_params(deep=False)
    names = set(ours) - {"gamma", "gamma_bounds"}
    pairs = [(ours[name], theirs[name]) for name in names]
    return all(one is other or (isinstance(one, Real) and one == other) for one, other in pairs)
