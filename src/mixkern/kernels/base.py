"""What all kernels on distances have in common.

A kernel is a value: settings and, where it needs one, a mixture. It subclasses scikit-learn's ``Kernel``, so any kernel
machine can call it on whole arrays of rows, add and multiply it, and search over its ``gamma``.
"""

import numbers
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from mixkern import engine
from mixkern.density import Mixture
from mixkern.errors import KernelError, NotBoundError
from mixkern.typing import Bounds, Floats

GAMMA_BOUNDS = (1e-5, 1e5)


@dataclass(frozen=True)
class Rows:
    """Rows as the engine wants them."""

    numbers: Floats  # (n, d), no gaps
    shares: Floats  # (n, k), or (k,) where they are the same for all rows
    codes: NDArray[np.int32] | None  # (n, e), -1 where missing


@dataclass(frozen=True, eq=False)
class Separation:
    """How far rows are apart, before gamma, alpha and beta are chosen: what a search computes once.

    Attributes
    ----------
    sq_distance : ndarray of shape (n, m)
        Squared distance in the continuous columns.
    sq_count : ndarray of shape (n, m) or None
        Squared number of differing categories; ``None`` where there are no categorical columns.
    """

    sq_distance: Floats
    sq_count: Floats | None = None

    def exponent(self, alpha: float = 1.0, beta: float = 1.0) -> Floats:
        """Weigh the two parts: what gamma is multiplied with."""
        if self.sq_count is None:
            return alpha * self.sq_distance
        return alpha * self.sq_distance + beta * self.sq_count

    def kernel(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> Floats:
        """Put what separates the rows under a Gaussian."""
        K = self.exponent(-gamma * alpha, -gamma * beta)
        return np.exp(K, out=K)


@dataclass(frozen=True, eq=False)
class Parts:
    """What the distance between pairs of rows is made of; sums of parts are exact.

    Attributes
    ----------
    components : ndarray of shape (n, k)
        What each component adds to the distance in the continuous columns.
    columns : ndarray of shape (n, d + e)
        What each column adds to what gamma is multiplied with: to the squared distance times alpha, and to the squared
        number of differing categories times beta. The part of a number is negative where its difference is one that
        the differences in other columns make likely.
    """

    components: Floats
    columns: Floats


class DistanceKernel(Kernel):
    r"""A Gaussian of a distance in the continuous columns and of a count of differing categories.

    .. math:: k(x, z) = \exp\{-\gamma\, (\alpha\, \Delta(x, z)^2 + \beta\, n_{\neq}(x, z)^2)\}

    Subclasses say which distance: they give the metric of each component, and how much each weighs for a row.
    """

    gamma: float
    alpha: float
    beta: float
    gamma_bounds: Bounds

    # ---------------------------------------------------------------- what a subclass says

    @abstractmethod
    def _rows(self, X: ArrayLike) -> Rows:
        """Read rows."""

    @abstractmethod
    def _whiteners(self, d: int) -> Floats:
        """Give the metric of each component in d columns."""

    # ---------------------------------------------------------------- what users call

    def distance(
        self, X: ArrayLike, Y: ArrayLike | None = None, *, dtype: DTypeLike = np.float64, out: Any = None
    ) -> NDArray[Any]:
        """Distance between rows in their continuous columns.

        Parameters
        ----------
        X : array-like of shape (n, d + e)
            Rows, as :class:`~mixkern.TableEncoder` gives them.
        Y : array-like of shape (m, d + e), default=None
            Other rows; by default the same.
        dtype : float64 or float32, default=float64
            Type of the result; it is computed in float64 either way.
        out : ndarray of shape (n, m), default=None
            Where to put the result: fresh memory is a large part of the time of a large one.

        Returns
        -------
        ndarray of shape (n, m)
            Exactly zero for equal rows, exactly symmetric without ``Y``.
        """
        a, b = self._pair(X, Y)
        metric = self._whiteners(a.numbers.shape[1])
        return engine.distance(a.numbers, a.shares, *_other(b), whiteners=metric, dtype=dtype, out=out)

    def separation(self, X: ArrayLike, Y: ArrayLike | None = None) -> Separation:
        """Distances and counts between rows, from which the kernel for any gamma, alpha and beta is a step.

        >>> from mixkern.kernels import RBFKernel
        >>> RBFKernel().separation([[0.0], [2.0]]).kernel(gamma=0.5).round(3)
        array([[1.   , 0.135],
               [0.135, 1.   ]])
        """
        a, b = self._pair(X, Y)
        D = engine.distance(a.numbers, a.shares, *_other(b), whiteners=self._whiteners(a.numbers.shape[1]))
        counts = None if a.codes is None else engine.count(a.codes, None if b is None else b.codes)
        return Separation(D * D, None if counts is None else counts * counts)

    def parts(self, X: ArrayLike, Y: ArrayLike) -> Parts:
        """Take the distance between each row of X and the row of Y beside it apart, by components and by columns.

        Parameters
        ----------
        X, Y : array-like of shape (n, d + e)
            Pairs of rows.

        Returns
        -------
        Parts
            Its ``components`` add up to :meth:`distance`, its ``columns`` to ``separation(...).exponent(alpha, beta)``.

        Examples
        --------
        >>> from mixkern.kernels import RBFKernel
        >>> RBFKernel(n_categorical=2).parts([[0.0, 1.0, 0, 0]], [[2.0, 0.0, 1, 1]]).columns
        array([[4., 1., 2., 2.]])
        """
        a, b = self._rows(X), self._rows(Y)
        if len(a.numbers) != len(b.numbers):
            raise KernelError(f"X and Y must be pairs of rows, but they have {len(a.numbers)} and {len(b.numbers)}.")
        components, numbers = _numeric_parts(a, b, self._whiteners(a.numbers.shape[1]))
        return Parts(components, np.hstack([self.alpha * numbers, self.beta * category_parts(a, b)]))

    def times(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Floats:
        """Kernel matrix of X and Y times the columns of V, without the matrix: how a machine predicts many rows.

        Parameters
        ----------
        X, Y : array-like of shape (n, d + e) and (m, d + e)
            Rows, such as those to predict and the support vectors.
        V : array-like of shape (m, q) or (m,)
            Coefficients.

        Returns
        -------
        ndarray of shape (n, q) or (n,)

        Examples
        --------
        >>> from mixkern.kernels import RBFKernel
        >>> kernel = RBFKernel(0.5)
        >>> X = np.arange(6.0).reshape(3, 2)
        >>> bool(np.allclose(kernel.times(X, X, [1.0, 0.0, 2.0]), kernel(X) @ [1.0, 0.0, 2.0]))
        True
        """
        a, b = self._rows(X), self._rows(Y)
        return engine.kernel_times(
            a.numbers,
            a.shares,
            b.numbers,
            b.shares,
            np.asarray(V, dtype=float),
            **self._decay(a.numbers.shape[1]),
            codes_A=a.codes,
            codes_B=b.codes,
        )

    def _decay(self, d: int) -> dict[str, Any]:
        """Give what the engine needs to know of the kernel."""
        return {
            "whiteners": self._whiteners(d),
            "gamma": _positive(self.gamma, "gamma"),
            "alpha": _positive(self.alpha, "alpha", zero=True),
            "beta": _positive(self.beta, "beta", zero=True),
        }

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False, *, dtype: DTypeLike = np.float64
    ) -> Any:
        """Kernel between rows, and on request its gradient by ln gamma.

        Parameters
        ----------
        X, Y : array-like of shape (n, d + e) and (m, d + e)
            Rows; without ``Y`` the kernel among the rows of ``X``.
        eval_gradient : bool, default=False
            Whether to give the gradient as well; only without ``Y``.
        dtype : float64 or float32, default=float64
            Type of the result.

        Returns
        -------
        K : ndarray of shape (n, m)
        K_gradient : ndarray of shape (n, n, 1)
            Empty in the last place where gamma is fixed.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        a, b = self._pair(X, Y)
        K = engine.kernel(
            a.numbers,
            a.shares,
            *_other(b),
            **self._decay(a.numbers.shape[1]),
            codes_A=a.codes,
            codes_B=None if b is None else b.codes,
            dtype=dtype,
        )
        if not eval_gradient:
            return K
        if self.hyperparameter_gamma.fixed:
            return K, np.empty((*K.shape, 0))
        with np.errstate(divide="ignore"):
            exponent = np.where(K > 0, -np.log(K), 0.0)  # where K underflows, so does its gradient
        return K, (-exponent * K)[:, :, None]

    def diag(self, X: ArrayLike) -> Floats:
        """Kernel of each row with itself: one."""
        return np.ones(len(np.asarray(X)))

    def is_stationary(self) -> bool:
        """Whether only the difference of two rows matters."""
        return False

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        """What scikit-learn's searches and Gaussian processes may tune."""
        return Hyperparameter("gamma", "numeric", self.gamma_bounds)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(gamma={self.gamma:.3g})"

    def _pair(self, X: ArrayLike, Y: ArrayLike | None) -> tuple[Rows, Rows | None]:
        return self._rows(X), None if Y is None else self._rows(Y)


class MixtureKernel(DistanceKernel):
    """A kernel whose metrics are those of a mixture's components."""

    def __init__(
        self,
        mixture: Mixture | None = None,
        gamma: float = 1.0,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma_bounds: Bounds = GAMMA_BOUNDS,
    ) -> None:
        self.mixture = mixture
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.gamma_bounds = gamma_bounds

    def bind(self, mixture: Mixture) -> Self:
        """Give the same kernel with a mixture."""
        return type(self)(**{**self.get_params(deep=False), "mixture": mixture})

    @abstractmethod
    def _shares(self, mixture: Mixture, X: Floats) -> Floats:
        """Say how much each component weighs for each row."""

    def _rows(self, X: ArrayLike) -> Rows:
        mixture = self._mixture()
        kinds = f"{mixture.n_continuous} continuous and {len(mixture.categories)} categorical columns"
        rows = checked(X, mixture.n_features, f"the mixture has {kinds}")
        shares = self._shares(mixture, rows)
        d = mixture.n_continuous
        filled = mixture.conditional_mean(rows) if np.isnan(rows[:, :d]).any() else rows
        return Rows(np.ascontiguousarray(filled[:, :d]), shares, codes_of(rows[:, d:]))

    def _whiteners(self, d: int) -> Floats:  # noqa: ARG002
        return self._mixture().whiteners

    def _mixture(self) -> Mixture:
        if self.mixture is None:
            name = type(self).__name__
            raise NotBoundError(f"{name} has no mixture. Bind one first: kernel.bind(density.mixture_).")
        given: Any = self.mixture
        if isinstance(given, Mixture):
            return given
        hint = " Pass what it has learned: density.mixture_." if hasattr(given, "mixture_") else ""
        raise KernelError(f"mixture must be a Mixture, but it is a {type(given).__name__}.{hint}")


def _numeric_parts(a: Rows, b: Rows, whiteners: Floats) -> tuple[Floats, Floats]:  # (n, k), (n, d)
    r"""Take distances between pairs of rows, and their squares, apart.

    With :math:`\delta = x - z`, :math:`D = \sum_k w_k \Delta_k` and
    :math:`\Delta_k^2 = \sum_j \delta_j [\Sigma_k^{-1} \delta]_j`, column j has the part
    :math:`D \sum_k w_k \delta_j [\Sigma_k^{-1} \delta]_j / \Delta_k` of :math:`D^2`.
    """
    difference = a.numbers - b.numbers
    weights = np.broadcast_to((a.shares + b.shares) / 2, (len(difference), len(whiteners)))
    components, columns = np.zeros(weights.shape), np.zeros(difference.shape)
    for k, W in enumerate(whiteners):
        z = difference * W if W.ndim == 1 else difference @ W.T
        sq_parts = difference * (z * W if W.ndim == 1 else z @ W)  # (n, d), add up to the square of Delta_k
        lengths = np.sqrt((z * z).sum(axis=1))
        components[:, k] = weights[:, k] * lengths
        columns += np.divide(weights[:, k], lengths, out=np.zeros(len(z)), where=lengths > 0)[:, None] * sq_parts
    return components, components.sum(axis=1, keepdims=True) * columns


def category_parts(a: Rows, b: Rows) -> Floats:  # (n, e)
    """Give each differing category its share of the squared number of them: their number."""
    if a.codes is None or b.codes is None:
        return np.zeros((len(a.numbers), 0))
    differs = (a.codes != b.codes).astype(float)
    return differs * differs.sum(axis=1, keepdims=True)


def _other(rows: Rows | None) -> tuple[Floats, Floats] | tuple[None, None]:
    return (None, None) if rows is None else (rows.numbers, rows.shares)


def checked(X: ArrayLike, n_columns: int, why: str) -> Floats:
    """Give rows as floats, NaN where they have gaps, of the width that is due."""
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != n_columns:
        raise KernelError(f"X has shape {rows.shape}, but {why}: expected (n, {n_columns}).")
    if np.isinf(rows).any():
        raise KernelError("X holds infinite values. Replace them by numbers, or by NaN for a gap.")
    return rows


def codes_of(codes: Floats) -> NDArray[np.int32] | None:
    """Give category codes as integers, gaps as -1; None where there are no categorical columns."""
    return np.where(np.isnan(codes), -1, codes).astype(np.int32) if codes.shape[1] else None


def _positive(value: Any, name: str, *, zero: bool = False) -> float:
    if not isinstance(value, numbers.Real) or not 0 <= float(value) < np.inf or (value == 0 and not zero):
        raise KernelError(f"{name} must be a {'non-negative' if zero else 'positive'} number, but it is {value!r}.")
    return float(value)
