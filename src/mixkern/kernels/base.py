"""Base classes of the kernels.

A kernel is a value: parameters and, where it needs one, a mixture. It subclasses scikit-learn's ``Kernel``, so any
kernel method can call it on whole arrays of rows, add and multiply it, and search over its ``gamma``. Estimators of
mixkern give it :class:`~mixkern.density.Rows` instead of arrays, so that nothing is computed twice.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.gaussian_process.kernels import Hyperparameter, Kernel

from mixkern import device, engine, gpu_array
from mixkern.density import Mixture
from mixkern.density.rows import Rows
from mixkern.errors import KernelError, NotBoundError
from mixkern.typing import Bounds, Floats
from mixkern.validation import NOT_NEGATIVE, POSITIVE, as_floats

GAMMA_BOUNDS = (1e-5, 1e5)
NOT_SHOWN = ("gamma", "mixture", "gamma_bounds")  # in the repr, besides gamma itself
GPU_WORK = 2**23  # pairs of rows times components from which on a GPU computes those of the host


@dataclass(frozen=True, eq=False)
class PairTerms:
    """Squared distances and counts between rows: the terms of the exponent before gamma, alpha and beta are chosen.

    A search computes them once.

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
        """Weighted sum of the two terms, which gamma multiplies."""
        if self.sq_count is None:
            return alpha * self.sq_distance
        return alpha * self.sq_distance + beta * self.sq_count

    def kernel(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> Floats:
        """Kernel values for these parameters."""
        K = self.exponent(-gamma * alpha, -gamma * beta)
        return np.exp(K, out=K)

    def converted(self, convert: Callable[[Any], Any]) -> Self:
        """Return the same terms with other arrays in place of those of CuPy."""
        changes: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if gpu_array.is_cupy(value):
                changes[field.name] = convert(value)
            elif isinstance(value, PairTerms):
                changes[field.name] = value.converted(convert)
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class Parts:
    """Distances between pairs of rows, split by components and by columns; the parts add up exactly.

    Attributes
    ----------
    components : ndarray of shape (n, k)
        Part of each component in the distance in the continuous columns.
    columns : ndarray of shape (n, d + e)
        Part of each column in the exponent: in alpha times the squared distance, and in beta times the squared number
        of differing categories. The part of a number is negative where its difference is one that the differences in
        other columns make likely.
    """

    components: Floats
    columns: Floats


class DistanceKernel(Kernel):
    r"""A Gaussian of a distance in the continuous columns and of a count of differing categories.

    .. math:: k(x, z) = \exp\{-\gamma\, (\alpha\, \Delta(x, z)^2 + \beta\, n_{\neq}(x, z)^2)\}

    Subclasses define the distance: the metric of each component, and its weight for a row.
    """

    gamma: float
    alpha: float
    beta: float
    gamma_bounds: Bounds

    # ---------------------------------------------------------------- defined by subclasses

    @abstractmethod
    def read(self, X: ArrayLike | Rows) -> Rows:
        """Rows from an array; rows of the same mixture are returned as they are."""

    @abstractmethod
    def _component_weights(self, rows: Rows) -> Floats:  # (n, k), or (k,) where they are the same for all rows
        """Weight of each component for each row."""

    @abstractmethod
    def _whiteners(self, d: int) -> engine.Metric:
        """Metric of each component in d columns."""

    # ---------------------------------------------------------------- public methods

    def distance(
        self, X: ArrayLike, Y: ArrayLike | None = None, *, dtype: DTypeLike = np.float64, out: Any = None
    ) -> NDArray[Any]:
        """Distance between rows in their continuous columns.

        Parameters
        ----------
        X : array-like of shape (n, d + e) or Rows
            Rows, as :class:`~mixkern.TableEncoder` gives them. For an array of CuPy or PyTorch on a GPU, the result is
            such an array, of the same type.
        Y : array-like of shape (m, d + e) or Rows, default=None
            Other rows; by default the same.
        dtype : float64 or float32, default=float64
            Type of the result and of the computation; see :meth:`__call__`.
        out : ndarray of shape (n, m), default=None
            Where to put the result: fresh memory is a large part of the time of a large one.

        Returns
        -------
        ndarray of shape (n, m)
            Exactly zero for equal rows, exactly symmetric without ``Y``.
        """
        with gpu_array.stream_of(X, Y):
            a, b = self._placed(X, Y)
            metric = self._whiteners(a.n_continuous)
            if not a.is_on_gpu:
                return engine.distance(*self._side(a), *self._other_side(b), whiteners=metric, dtype=dtype, out=out)
            own = out if gpu_array.is_gpu_array(out) else None
            D = engine.distance(*self._side(a), *self._other_side(b), whiteners=metric, out=own)
            if out is None or own is not None:
                return out if own is not None else returned(D, X, dtype)
            out[...] = gpu_array.to_host(D)
            return out

    def pair_terms(self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None = None) -> PairTerms:
        """Squared distances and counts between rows, from which kernels for any gamma, alpha and beta follow.

        For rows on a GPU they are arrays of CuPy.

        >>> from mixkern.kernels import RBFKernel
        >>> RBFKernel().pair_terms([[0.0], [2.0]]).kernel(gamma=0.5).round(3)
        array([[1.   , 0.135],
               [0.135, 1.   ]])
        """
        with gpu_array.stream_of(X, Y):
            a, b = self._placed(X, Y)
            terms = self._terms(a, b)
            return terms.converted(lambda array: gpu_array.to_host(array, float)) if is_of_host(X) else terms

    def _terms(self, a: Rows, b: Rows | None) -> PairTerms:
        """Terms between rows that have been read, and placed where they are computed."""
        D = engine.distance(*self._side(a), *self._other_side(b), whiteners=self._whiteners(a.n_continuous))
        return PairTerms(D * D, sq_counts(a, b))

    def parts(self, X: ArrayLike | Rows, Y: ArrayLike | Rows) -> Parts:
        """Split the distance between each row of X and the row of Y beside it by components and by columns.

        Parameters
        ----------
        X, Y : array-like of shape (n, d + e)
            Pairs of rows.

        Returns
        -------
        Parts
            Its ``components`` add up to :meth:`distance`, its ``columns`` to ``pair_terms(...).exponent(alpha, beta)``.

        Examples
        --------
        >>> from mixkern.kernels import RBFKernel
        >>> RBFKernel(n_categorical=2).parts([[0.0, 1.0, 0, 0]], [[2.0, 0.0, 1, 1]]).columns
        array([[4., 1., 2., 2.]])
        """
        a, b = self.read(of_host(X)), self.read(of_host(Y))
        if len(a) != len(b):
            raise KernelError(f"X and Y must be pairs of rows, but they have {len(a)} and {len(b)}.")
        weights = (self._checked_weights(a) + self._checked_weights(b)) / 2
        components, numbers = _numeric_parts(a.numbers - b.numbers, weights, self._whiteners(a.n_continuous))
        return Parts(components, np.hstack([self.alpha * numbers, self.beta * category_parts(a, b)]))

    def times(
        self, X: ArrayLike | Rows, Y: ArrayLike | Rows, V: ArrayLike, *, dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """Kernel matrix of X and Y times the columns of V, without storing the matrix.

        Parameters
        ----------
        X, Y : array-like of shape (n, d + e) and (m, d + e)
            Rows, such as those to predict and the support vectors.
        V : array-like of shape (m, q) or (m,)
            Coefficients.
        dtype : float64 or float32, default=float64
            Type of the result and of the kernel; products with V are added up in float64.

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
        with gpu_array.stream_of(X, Y):
            a, b = self._placed(X, Y)
            assert b is not None, "two sides were given"
            coefficients = V if gpu_array.is_gpu_array(V) else np.asarray(V, dtype=float)
            if not a.is_on_gpu:
                return self._product(a, b, gpu_array.to_host(coefficients, float), dtype)
            kind = a.values.dtype
            return returned(self._product(a, b, gpu_array.on_device(coefficients, kind), kind), X, dtype)

    def _product(self, a: Rows, b: Rows, coefficients: Floats, dtype: DTypeLike) -> NDArray[Any]:
        """Kernel matrix times coefficients, of rows that have been read and placed."""
        return engine.kernel_times(*self._side(a), *self._side(b), coefficients, **self._options(a, b), dtype=dtype)

    def _side(self, rows: Rows) -> tuple[Floats, Floats]:
        """Rows as the engine takes them: numbers and weights of the components."""
        return rows.numbers, self._checked_weights(rows)

    def _checked_weights(self, rows: Rows) -> Floats:  # (n, k), or (k,)
        """Weights of the components; an error where those of a subclass do not have the shape."""
        return self._component_weights(rows)

    def _other_side(self, rows: Rows | None) -> tuple[Floats, Floats] | tuple[None, None]:
        return (None, None) if rows is None else self._side(rows)

    def _options(self, a: Rows, b: Rows | None) -> dict[str, Any]:
        """Metric, parameters and categories as the engine takes them."""
        gamma, alpha, beta = self._checked_parameters()
        return {
            "whiteners": self._whiteners(a.n_continuous),
            "gamma": gamma,
            "alpha": alpha,
            "beta": beta,
            "codes_A": a.codes,
            "codes_B": None if b is None else b.codes,
        }

    def _checked_parameters(self) -> tuple[float, float, float]:
        """Gamma, alpha and beta, or an error."""
        gamma = float(POSITIVE.check(self.gamma, "gamma", KernelError))
        alpha, beta = (float(NOT_NEGATIVE.check(getattr(self, name), name, KernelError)) for name in ("alpha", "beta"))
        return gamma, alpha, beta

    def __call__(
        self,
        X: ArrayLike | Rows,
        Y: ArrayLike | Rows | None = None,
        eval_gradient: bool = False,
        *,
        dtype: DTypeLike = np.float64,
    ) -> Any:
        """Kernel between rows, and on request its gradient by ln gamma.

        Parameters
        ----------
        X, Y : array-like of shape (n, d + e) and (m, d + e), or Rows
            Rows; without ``Y`` the kernel among the rows of ``X``. For an ``X`` of CuPy or PyTorch on a GPU, the result
            is such an array, of the same type.
        eval_gradient : bool, default=False
            Whether to return the gradient as well; only without ``Y``.
        dtype : float64 or float32, default=float64
            Type of the result and of the computation. float32 takes half the memory and about half the time, with an
            error of at most 2e-6; responsibilities are computed in float64.

        Returns
        -------
        K : ndarray of shape (n, m)
        K_gradient : ndarray of shape (n, n, 1)
            Empty in the last place where gamma is fixed.
        """
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        needs_gradient = eval_gradient and not self.hyperparameter_gamma.fixed
        with gpu_array.stream_of(X, Y):
            K, gradient = self._evaluated(X, Y, dtype, needs_gradient=needs_gradient)
        if not eval_gradient:
            return K
        return K, np.empty((*K.shape, 0)) if gradient is None else gradient[:, :, None]

    def _evaluated(
        self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None, dtype: DTypeLike, *, needs_gradient: bool
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Kernel matrix, and its gradient by ln gamma where it is needed."""
        a, b = self._placed(X, Y)
        K = engine.kernel(*self._side(a), *self._other_side(b), **self._options(a, b), dtype=dtype)
        if not needs_gradient:
            return returned(K, X, dtype), None
        with np.errstate(divide="ignore"):
            exponent = np.where(K > 0, -np.log(K), 0.0)  # where K underflows, so does its gradient
        return returned(K, X, dtype), returned(-exponent * K, X, dtype)

    def diag(self, X: ArrayLike | Rows) -> Floats:
        """Kernel of each row with itself: one."""
        is_known = isinstance(X, Rows) or gpu_array.is_gpu_array(X)
        rows: Any = X if is_known else as_floats(X, "X", KernelError)
        if len(rows.shape) != 2:
            raise KernelError(f"X must have two dimensions, rows and columns, but it has {len(rows.shape)}.")
        if is_of_host(X):
            return np.ones(len(rows))
        values = gpu_values(X)
        return returned(gpu_array.namespace(values).ones(len(values), dtype=values.dtype), X)

    def is_stationary(self) -> bool:
        """Whether the kernel depends only on the difference of two rows."""
        return False

    @property
    def hyperparameter_gamma(self) -> Hyperparameter:
        """Gamma as a hyperparameter of scikit-learn's Gaussian processes."""
        return Hyperparameter("gamma", "numeric", self.gamma_bounds)

    def __repr__(self) -> str:
        presets = {name: each.default for name, each in signature(type(self)).parameters.items()}
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in NOT_SHOWN}
        changed = {name: value for name, value in own.items() if repr(value) != repr(presets[name])}
        shown = {"gamma": self.gamma, **changed}
        texts = [
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value!r}" for name, value in shown.items()
        ]
        return f"{type(self).__name__}({', '.join(texts)})"

    def _placed(self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None) -> tuple[Rows, Rows | None]:
        """Read rows; both sides are put on a GPU if one of them is there, or if there is enough work for it."""
        a, b = self.read(X), None if Y is None else self.read(Y)
        other = a if b is None else b
        if not a.is_on_gpu and not other.is_on_gpu:
            if not device.on_gpu():
                return a, b
            if len(a) * len(other) * len(self._whiteners(a.n_continuous)) < GPU_WORK:
                return a, b
        # Rows of the host are put beside those on the GPU, in their type.
        dtype = next((each.values.dtype for each in (a, other) if each.is_on_gpu), None)
        return a.on_gpu(other.centre, dtype), None if b is None else b.on_gpu(other.centre, dtype)


class MixtureKernel(DistanceKernel):
    """A kernel whose metrics are those of a mixture's components; subclasses define their weights for a row."""

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
        """Return the same kernel with a mixture."""
        return type(self)(**{**self.get_params(deep=False), "mixture": mixture})

    def read(self, X: ArrayLike | Rows) -> Rows:
        """Rows from an array; rows of the same mixture are returned as they are."""
        mixture = self._mixture()
        if isinstance(X, Rows):
            return X if X.mixture is mixture or X.mixture == mixture else self.read(X.values)
        kinds = f"{mixture.n_continuous} continuous and {len(mixture.categories)} categorical columns"
        return checked(X, mixture.n_features, f"the mixture has {kinds}", mixture=mixture)

    def _checked_weights(self, rows: Rows) -> Floats:
        weights = self._component_weights(rows)
        if weights is vars(rows).get("responsibilities"):
            return weights
        n, k = len(rows), len(self._mixture().weights)
        if np.shape(weights) not in ((n, k), (k,)):  # of a subclass that is not one of mixkern
            raise KernelError(
                f"{type(self).__name__}._component_weights must return an array of the shape {(n, k)} or {(k,)}, a "
                f"weight of each component for each row, but it returned {np.shape(weights)}."
            )
        if np.size(weights) and not np.min(weights) >= 0:  # or NaN
            raise KernelError(
                f"{type(self).__name__}._component_weights must return weights of 0 or more, but the smallest is "
                f"{np.min(weights)}."
            )
        return weights

    def _whiteners(self, d: int) -> engine.Metric:  # noqa: ARG002
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


class ResponsibilityKernel(MixtureKernel):
    """A kernel in which a component counts as much as it is responsible for either row."""

    def _component_weights(self, rows: Rows) -> Floats:
        return rows.responsibilities


def is_of_host(X: Any) -> bool:
    """Whether rows are given in the memory of the host, and results are returned there."""
    return not (X.is_on_gpu if isinstance(X, Rows) else gpu_array.is_gpu_array(X))


def of_host(X: Any) -> Any:
    """Return rows in the memory of the host."""
    return X if is_of_host(X) else gpu_array.to_host(gpu_values(X), float)


def gpu_values(X: Any) -> Any:
    """Return rows that are on a GPU as an array of CuPy."""
    return X.values if isinstance(X, Rows) else gpu_array.as_cupy(X)


def returned(result: Any, X: Any, dtype: DTypeLike = np.float64) -> Any:
    """Return a result as an array of the kind of the rows that were given: of the host in a type, else of their own."""
    if not gpu_array.is_cupy(result):
        return result
    if is_of_host(X):
        return gpu_array.to_host(result, dtype)
    return gpu_array.like(result, X.values if isinstance(X, Rows) else X)


def sq_counts(a: Rows, b: Rows | None) -> Floats | None:  # (n, m)
    """Squared number of differing categories between rows; None where there are no categorical columns."""
    if a.codes is None:
        return None
    counts = engine.count(a.codes, None if b is None else b.codes)
    return counts * counts


def _numeric_parts(
    difference: Floats, weights: Floats, whiteners: engine.Metric
) -> tuple[Floats, Floats]:  # (n, k), (n, d)
    r"""Split distances between pairs of rows by components, and their squares by columns.

    With :math:`\delta = x - z`, :math:`D = \sum_k w_k \Delta_k` and
    :math:`\Delta_k^2 = \sum_j \delta_j [\Sigma_k^{-1} \delta]_j`, column j has the part
    :math:`D \sum_k w_k \delta_j [\Sigma_k^{-1} \delta]_j / \Delta_k` of :math:`D^2`.
    """
    weights = np.broadcast_to(weights, (len(difference), len(whiteners)))
    components, columns = np.zeros(weights.shape), np.zeros(difference.shape)
    for k in range(len(whiteners)):
        z = engine.whitened(whiteners, k, difference)
        sq_parts = difference * engine.whitened_back(whiteners, k, z)  # (n, d), add up to the square of Delta_k
        lengths = np.sqrt((z * z).sum(axis=1))
        components[:, k] = weights[:, k] * lengths
        columns += np.divide(weights[:, k], lengths, out=np.zeros(len(z)), where=lengths > 0)[:, None] * sq_parts
    return components, components.sum(axis=1, keepdims=True) * columns


def category_parts(a: Rows, b: Rows) -> Floats:  # (n, e)
    """Part of each differing category in the squared number of them: their number."""
    if a.codes is None or b.codes is None:
        return np.zeros((len(a), 0))
    differs = (a.codes != b.codes).astype(float)
    return differs * differs.sum(axis=1, keepdims=True)


def checked(X: ArrayLike, n_columns: int, why: str, *, mixture: Mixture | None = None, n_categorical: int = 0) -> Rows:
    """Rows from an array, NaN for a gap; an error for another number of columns."""
    is_on_gpu = gpu_array.is_gpu_array(X)
    values = gpu_array.gpu_floats(X, "X", KernelError) if is_on_gpu else as_floats(X, "X", KernelError)
    if values.ndim != 2 or values.shape[1] != n_columns:
        raise KernelError(f"X has shape {values.shape}, but {why}: expected (n, {n_columns}).")
    rows = Rows(values, mixture, n_categorical=n_categorical)
    if not rows.is_finite and np.isinf(values).any():
        raise KernelError("X holds infinite values. Replace them by numbers, or by NaN for a gap.")
    return rows
