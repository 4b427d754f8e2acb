r"""A kernel bent along the graph of all rows: the kernel of the Laplacian SVM.

Rows that are connected through others shall be alike. With G the base kernel among all rows, L the Laplacian of their
graph of nearest neighbours and M = ratio L^p, the deformed kernel is

.. math:: \tilde k(x, z) = k(x, z) - k_x^T (I + M G)^{-1} M k_z

where k_x holds the base kernel between x and all rows. Fed to libsvm it *is* the Laplacian SVM, several classes and new
rows included.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from mixkern.errors import KernelError, NotBoundError
from mixkern.kernels.base import Bounds, DistanceKernel
from mixkern.kernels.definite import is_definite, rounding_of

Floats = NDArray[np.float64]


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
    D = np.array(distances, dtype=float)
    n = len(D)
    k = min(n_neighbors, n - 1)
    np.fill_diagonal(D, np.inf)  # nobody is its own neighbour, even among equal rows
    chosen = np.argpartition(D, k - 1, axis=1)[:, :k] if k else np.empty((n, 0), dtype=int)
    ones = np.ones(n * k)
    graph = csr_array((ones, (np.repeat(np.arange(n), k), chosen.ravel())), shape=(n, n))
    graph = ((graph + graph.T) > 0).astype(float)
    degree = np.maximum(graph.sum(axis=1), 1.0)
    scale = csr_array((1 / np.sqrt(degree), (np.arange(n), np.arange(n))), shape=(n, n))
    identity = csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, n))
    return csr_array(identity - scale @ graph @ scale)


@dataclass(frozen=True, eq=False)
class Deformation:
    r"""The graph of all rows, and the base kernel among them: the same for every ratio.

    Bending needs a base kernel that is positive semi-definite: I + M G of one that is not may be singular. So the
    negative eigenvectors of G, with eigenvalues in N, are left out first, among these rows and for new ones alike:

    .. math:: k_+(x, z) = k(x, z) - k_x^T U_- N^{-1} U_-^T k_z
    """

    power: csr_array  # L^p, (n, n)
    gram: Floats  # G, (n, n), without its negative part
    negative: tuple[Floats, Floats]  # U_- (n, r) and N (r,); r is 0 for a definite kernel

    @classmethod
    def of(cls, power: csr_array, gram: Floats) -> Self:
        """Take the negative part out of a base kernel that has one."""
        if is_definite(gram):
            return cls(power, gram, (np.empty((len(gram), 0)), np.empty(0)))
        values, vectors = np.linalg.eigh(gram)
        kept = values < -rounding_of(gram)
        values, vectors = values[kept], vectors[:, kept]
        return cls(power, gram - (vectors * values) @ vectors.T, (vectors, values))

    def factors(self, ratio: float) -> tuple[Floats, NDArray[np.int32]]:
        """Factorise I + M G: a third of the work of solving for all rows, and all that new rows need."""
        system = ratio * (self.power @ self.gram)
        system[np.diag_indices_from(system)] += 1.0
        return lu_factor(system, overwrite_a=True)

    def bend(self, factors: tuple[Floats, NDArray[np.int32]], ratio: float, columns: Floats) -> Floats:
        """Multiply with what is taken away from k: U_- N^-1 U_-' + P (I + M G)^-1 M P, where P leaves U_- out."""
        vectors, values = self.negative
        shadow = vectors.T @ columns  # (r, q)
        bent = lu_solve(factors, ratio * (self.power @ (columns - vectors @ shadow)), overwrite_b=True)
        return bent - vectors @ (vectors.T @ bent) + vectors @ (shadow / values[:, None])


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
    The first call factorises a matrix as large as there are rows, and keeps the factors; :meth:`with_ratio` keeps the
    graph and the base kernel.

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
        for computed in ("deformation", "_factors"):
            self.__dict__.pop(computed, None)
        return super().set_params(**params)

    def with_ratio(self, ratio: float) -> Self:
        """Give the same kernel with another ratio, and the graph and base kernel that this one has computed."""
        other = type(self)(**{**self.get_params(deep=False), "ratio": ratio})
        other.__dict__["deformation"] = self.deformation
        return other

    @cached_property
    def deformation(self) -> Deformation:
        """The graph and the base kernel of all rows: computed once, and kept."""
        if self.rows is None:
            raise NotBoundError("LaplacianKernel has no rows for its graph. Bind them first: kernel.bind(X).")
        if self.n_neighbors < 1 or self.degree < 1:
            raise KernelError(f"n_neighbors and degree must be 1 or more, but are {self.n_neighbors}, {self.degree}.")
        laplacian = graph_laplacian(self._apart(self.rows), self.n_neighbors)
        power = laplacian
        for _ in range(self.degree - 1):
            power = csr_array(power @ laplacian)
        return Deformation.of(power, self.base(self.rows))

    def _apart(self, rows: ArrayLike) -> Floats:
        """Say how far all rows are apart, by what the base kernel makes of all their columns."""
        if isinstance(self.base, DistanceKernel):
            return self.base.separation(rows).exponent(self.base.alpha, self.base.beta)
        size = self.base.diag(rows)
        return size[:, None] + size[None, :] - 2 * self.base(rows)  # squared distance in the kernel's own space

    @cached_property
    def _factors(self) -> tuple[Floats, NDArray[np.int32]]:
        return self.deformation.factors(float(self.ratio))

    def _bend(self, columns: Floats) -> Floats:
        """Multiply with the matrix that is taken away between kernels with all rows; (n, q)."""
        return self.deformation.bend(self._factors, float(self.ratio), columns)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False) -> Any:
        """Kernel between rows, which need not be among those of the graph."""
        if eval_gradient:
            raise KernelError("LaplacianKernel has no gradient. Search its parameters on a grid.")
        if not 0 <= float(self.ratio) < np.inf:
            raise KernelError(f"ratio must be a number, 0 or more, but it is {self.ratio!r}.")
        if not self.ratio:
            return self.base(X, Y)
        rows = self._bound_rows()
        left = self.base(X, rows)
        if Y is None:
            K = self.base(X) - left @ self._bend(left.T)
            return (K + K.T) / 2
        return self.base(X, Y) - left @ self._bend(self.base(Y, rows).T)

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
        rows : ndarray of shape (n + m, d + e)
            Those of the graph, then those of ``Y``; with a ratio of 0, the latter alone.
        coefficients : ndarray of shape (n + m, q)
            ``self(X, Y) @ V`` equals ``self.base(X, rows) @ coefficients`` for any ``X``: no factors, no graph.
        """
        Y, V = np.asarray(Y, dtype=float), np.asarray(V, dtype=float)
        if not self.ratio:
            return Y, V
        rows = np.asarray(self._bound_rows(), dtype=float)
        return np.vstack([rows, Y]), np.vstack([-self._bend(self.base(rows, Y) @ V), V])

    def _bound_rows(self) -> ArrayLike:
        _ = self.deformation  # refuses a kernel without rows
        assert self.rows is not None
        return self.rows

    def diag(self, X: ArrayLike) -> Floats:
        """Kernel of each row with itself."""
        rows = np.asarray(X)
        return np.concatenate([np.diag(self(rows[i : i + 512])) for i in range(0, len(rows), 512)] or [np.empty(0)])

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
