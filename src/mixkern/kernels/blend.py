"""A mean of the RBF kernel and two kernels of a mixture: the default of :class:`~mixkern.MixtureSVC`.

RWM measures in the units of single components. With few rows to a component these are noisy, and where classes do not
follow the components they mislead. So the blend pools the covariances of the components, adds a kernel of whether the
same components are responsible for two rows, and keeps a share of the Euclidean kernel.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from mixkern import engine
from mixkern.density import Mixture
from mixkern.density.rows import Rows
from mixkern.errors import KernelError
from mixkern.kernels.base import GAMMA_BOUNDS, PairTerms, Parts, ResponsibilityKernel, category_parts, of_host, returned
from mixkern.parts import model_part
from mixkern.typing import Bounds, Floats
from mixkern.validation import FRACTION

SHARE = 0.6  # of the mixture, before any label was seen


@dataclass(frozen=True, eq=False, kw_only=True)
class BlendTerms(PairTerms):
    """Terms of a blend between rows: distances by both metrics, and memberships. A search computes them once.

    Attributes
    ----------
    sq_distance, sq_count
        As in :class:`PairTerms`, in the pooled units of the components.
    euclidean : PairTerms
        The same with Euclidean distances, in the same units on average.
    membership_kernel : ndarray of shape (n, m)
        How far the same components are responsible for two rows, between 0 and 1.
    share, membership : float
        As in :class:`BlendKernel`.
    """

    euclidean: PairTerms
    membership_kernel: Floats
    share: float
    membership: float

    def halves(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> tuple[Floats, Floats]:
        """Euclidean kernel and kernel of the mixture, before they are blended."""
        own = super().kernel(gamma, alpha, beta)
        mixed = (1 - self.membership) * own + self.membership * self.membership_kernel
        return self.euclidean.kernel(gamma, alpha, beta), mixed

    def kernel(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> Floats:
        """Kernel values for these parameters."""
        euclidean, mixed = self.halves(gamma, alpha, beta)
        return (1 - self.share) * euclidean + self.share * mixed

    def contributions(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> dict[str, Floats]:
        """Return the three weighted kernels, which add up to :meth:`kernel`."""
        return {
            "euclidean": (1 - self.share) * self.euclidean.kernel(gamma, alpha, beta),
            "mixture": self.share * (1 - self.membership) * super().kernel(gamma, alpha, beta),
            "membership": self.share * self.membership * self.membership_kernel,
        }


@dataclass(frozen=True, eq=False)
class BlendParts(Parts):
    """The two distances of a blend, split by components and by columns.

    Attributes
    ----------
    components : ndarray of shape (n, k)
        Part of each component in the distance in the pooled units of the components.
    columns : ndarray of shape (n, d + e)
        Mean of the following two, weighted as the blend weighs their kernels.
    mixture, euclidean : ndarray of shape (n, d + e)
        Part of each column in the squared distance in the units of the components, and in the Euclidean one; see
        :class:`Parts`.
    """

    mixture: Floats
    euclidean: Floats


@model_part("BlendKernel")
class BlendKernel(ResponsibilityKernel):
    r"""A mean of the RBF kernel and of two kernels of a mixture.

    .. math::
        k(x, z) = (1 - s)\, e^{-\gamma\, (\alpha\, u \|x - z\|^2 + \beta\, n_{\neq}^2)}
        + s\, \Big[ (1 - m)\, e^{-\gamma\, (\alpha\, \Delta(x, z)^2 + \beta\, n_{\neq}^2)}
        + m \sum_k \sqrt{\rho_k(x)\, \rho_k(z)} \Big]

    Here :math:`\Delta` is the distance of :class:`RWMKernel` with pooled covariances,
    :math:`(1 - p)\, \Sigma_k + p \sum_l \pi_l \Sigma_l`, and :math:`u` brings Euclidean distances to its units: the
    ratio that squared distances have, on average, between rows drawn from the mixture.

    Parameters
    ----------
    mixture : Mixture, default=None
        Where the components come from. ``None`` gives an unbound kernel; see :meth:`RWMKernel.bind`.
    gamma : float, default=1.0
        Decay per unit of squared distance.
    share : float, default=0.6
        Share of the mixture's two kernels, s. :class:`~mixkern.MixtureSVC` starts from this value and sets it by the
        evidence of the labels.
    membership : float, default=1/3
        Share of the membership kernel in the mixture's part, m: whether the same components are responsible for two
        rows.
    pooling : float, default=0.5
        How far covariances are moved to their mean, p: 0 leaves those of the components, 1 is one metric for all.
    alpha, beta : float, default=1.0
        Weights of the continuous part and of the number of differing categories.
    gamma_bounds : pair of float or "fixed", default=(1e-5, 1e5)
        Bounds of gamma where scikit-learn's Gaussian processes optimise it.

    Notes
    -----
    Symmetric with unit diagonal. The first and the last part are positive semi-definite on tables of numbers; the
    middle one need not be. ``share=1, membership=0, pooling=0`` is :class:`RWMKernel`, and ``share=0`` the RBF kernel
    with another gamma and, beside categories, another alpha.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from mixkern import VBMixture, datasets
    >>> from mixkern.kernels import BlendKernel
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> density = VBMixture(precision_prior="evidence", random_state=0).fit(X)
    >>> svc = SVC(kernel=BlendKernel(density.mixture_, gamma=0.5), C=10).fit(X[:40], y[:40])
    >>> bool(svc.score(X[40:], y[40:]) > 0.85)
    True
    """

    def __init__(
        self,
        mixture: Mixture | None = None,
        gamma: float = 1.0,
        *,
        share: float = SHARE,
        membership: float = 1 / 3,
        pooling: float = 0.5,
        alpha: float = 1.0,
        beta: float = 1.0,
        gamma_bounds: Bounds = GAMMA_BOUNDS,
    ) -> None:
        super().__init__(mixture, gamma, alpha=alpha, beta=beta, gamma_bounds=gamma_bounds)
        self.share = share
        self.membership = membership
        self.pooling = pooling

    def _whiteners(self, d: int) -> engine.Metric:  # noqa: ARG002
        return self._metrics()[0]

    def _unit_whitener(self, d: int) -> Floats:
        """Euclidean metric in the units of the components."""
        return np.full((1, d), np.sqrt(self._metrics()[1]))

    def _metrics(self) -> tuple[engine.Metric, float]:
        return pooled_metrics(self._mixture(), self._fraction("pooling"))

    def _fraction(self, name: str) -> float:
        return float(FRACTION.check(getattr(self, name), name, KernelError))

    def pair_terms(self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None = None) -> BlendTerms:
        """Distances, counts and memberships between rows, from which kernels for any gamma, alpha and beta follow."""
        terms = super().pair_terms(X, Y)
        assert isinstance(terms, BlendTerms), "its terms are those below"
        return terms

    def _terms(self, a: Rows, b: Rows | None) -> BlendTerms:
        own = super()._terms(a, b)
        others = (None, None) if b is None else _euclidean_side(b)
        plain = engine.distance(*_euclidean_side(a), *others, whiteners=self._unit_whitener(a.n_continuous))
        return BlendTerms(
            own.sq_distance,
            own.sq_count,
            euclidean=PairTerms(plain * plain, own.sq_count),
            membership_kernel=_membership_kernel(a, a if b is None else b),
            share=self._fraction("share"),
            membership=self._fraction("membership"),
        )

    def parts(self, X: ArrayLike | Rows, Y: ArrayLike | Rows) -> BlendParts:
        """Split both distances between each row of X and the row of Y beside it; see :class:`BlendParts`.

        The membership kernel is not a distance, and not part of it.
        """
        a, b = self.read(of_host(X)), self.read(of_host(Y))
        own = super().parts(a, b)
        difference = (a.numbers - b.numbers) * self._unit_whitener(a.n_continuous)
        euclidean = np.hstack([self.alpha * difference**2, self.beta * category_parts(a, b)])
        share = self._fraction("share")
        weight = share * (1 - self._fraction("membership"))
        weight = weight / (weight + 1 - share) if weight + 1 - share > 0 else 1.0
        columns = (1 - weight) * euclidean + weight * own.columns
        return BlendParts(own.components, columns, own.columns, euclidean)

    def contributions(self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None = None) -> dict[str, Floats]:
        """Split the kernel between rows into its three weighted kernels, which add up to it.

        Returns
        -------
        dict of ndarray of shape (n, m)
            ``"euclidean"``, ``"mixture"`` and ``"membership"``, each with its weight.

        Examples
        --------
        >>> from mixkern import Mixture
        >>> kernel = BlendKernel(Mixture([0.5, 0.5], [[-1.0], [1.0]], [[[1.0]], [[1.0]]]))
        >>> {name: float(part[0, 0].round(2)) for name, part in kernel.contributions([[0.0]]).items()}
        {'euclidean': 0.4, 'mixture': 0.4, 'membership': 0.2}
        """
        return self.pair_terms(X, Y).contributions(*self._checked_parameters())

    def _product(self, a: Rows, b: Rows, coefficients: Floats, dtype: DTypeLike) -> NDArray[Any]:
        s, m = self._fraction("share"), self._fraction("membership")
        options = {**self._options(a, b), "dtype": dtype}
        # Not a matrix product of BLAS: its threads then wait in a loop, on processors that the engine's threads need.
        memberships = np.einsum("mk,m...->k...", np.sqrt(b.responsibilities), coefficients)
        total: Floats = s * m * np.einsum("nk,k...->n...", np.sqrt(a.responsibilities), memberships)
        if s < 1:
            plain = {**options, "whiteners": self._unit_whitener(a.n_continuous)}
            total += (1 - s) * engine.kernel_times(*_euclidean_side(a), *_euclidean_side(b), coefficients, **plain)
        if s * (1 - m) > 0:
            total += s * (1 - m) * engine.kernel_times(*self._side(a), *self._side(b), coefficients, **options)
        return total.astype(dtype, copy=False)

    def _evaluated(
        self, X: ArrayLike | Rows, Y: ArrayLike | Rows | None, dtype: DTypeLike, *, needs_gradient: bool
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        a, b = self._placed(X, Y)
        if a.is_on_gpu and not needs_gradient:
            return returned(self._kernel_on_gpu(a, b), X, dtype), None
        if np.dtype(dtype) == np.float32 and not needs_gradient:
            return self._single(a, b), None
        terms = self._terms(a, b)
        gamma, alpha, beta = self._checked_parameters()
        K = returned(terms.kernel(gamma, alpha, beta).astype(dtype, copy=False), X, dtype)
        if not needs_gradient:
            return K, None
        parts = terms.contributions(gamma, alpha, beta)
        slope = terms.euclidean.exponent(alpha, beta) * parts["euclidean"]
        slope += terms.exponent(alpha, beta) * parts["mixture"]  # the memberships do not depend on gamma
        return K, returned(-gamma * slope, X, dtype)

    def _kernel_on_gpu(self, a: Rows, b: Rows | None) -> Any:
        """Kernel between rows on a GPU; the terms of its exponents are not stored."""
        s, m = self._fraction("share"), self._fraction("membership")
        options = self._options(a, b)
        K: Any = s * m * _membership_kernel(a, a if b is None else b)
        if s < 1:
            others = (None, None) if b is None else _euclidean_side(b)
            plain = {**options, "whiteners": self._unit_whitener(a.n_continuous)}
            K += (1 - s) * engine.kernel(*_euclidean_side(a), *others, **plain)
        if s * (1 - m) > 0:
            K += s * (1 - m) * engine.kernel(*self._side(a), *self._other_side(b), **options)
        return K

    def _single(self, a: Rows, b: Rows | None) -> NDArray[np.float32]:
        """Kernel matrix, computed in float32 with one further matrix in memory at a time."""
        s, m = self._fraction("share"), self._fraction("membership")
        options: dict[str, Any] = {**self._options(a, b), "dtype": np.float32}
        K: NDArray[Any] = engine.kernel(*self._side(a), *self._other_side(b), **options)
        K *= s * (1 - m)
        roots = np.sqrt(a.responsibilities).astype(np.float32)
        # One array for both sides gives an exactly symmetric product.
        other = roots @ (roots if b is None else np.sqrt(b.responsibilities).astype(np.float32)).T
        other *= s * m
        K += other
        del other
        options["whiteners"] = self._unit_whitener(a.n_continuous)
        others = (None, None) if b is None else _euclidean_side(b)
        other = engine.kernel(*_euclidean_side(a), *others, **options)
        other *= 1 - s
        K += other
        return K


def _euclidean_side(rows: Rows) -> tuple[Floats, Floats]:
    """Rows as the engine takes them, with one component for all."""
    return rows.numbers, np.ones(1)


def _membership_kernel(a: Rows, b: Rows) -> Floats:  # (n, m)
    """Bhattacharyya coefficient of the responsibilities."""
    K: Floats = np.sqrt(a.responsibilities) @ np.sqrt(b.responsibilities).T
    return np.minimum(K, 1.0, out=K)  # the last digit of a sum of shares


_METRICS: WeakKeyDictionary[Mixture, dict[float, tuple[engine.Metric, float]]] = WeakKeyDictionary()


def pooled_metrics(mixture: Mixture, pooling: float) -> tuple[engine.Metric, float]:
    """Pooled whiteners of a mixture, and the unit of Euclidean distances; kept as long as the mixture."""
    known = _METRICS.setdefault(mixture, {})
    if pooling not in known:
        known[pooling] = _computed_metrics(mixture, pooling)
    return known[pooling]


def _computed_metrics(mixture: Mixture, pooling: float) -> tuple[engine.Metric, float]:
    pooled = mixture.pooled(pooling)
    n_varying, metric = mixture.n_continuous - len(mixture.constant), pooled.whiteners
    if not n_varying:
        return metric, 1.0
    if not isinstance(metric, np.ndarray):
        variances, loadings = mixture.total_covariance
        variances[list(mixture.constant)] = 0.0
        traces = metric.traces(variances, loadings)
        return metric, float((mixture.weights @ np.sqrt(traces)) ** 2 / (variances.sum() + (loadings**2).sum()))
    centred = mixture.means - mixture.weights @ mixture.means
    total = np.einsum("k,kij->ij", mixture.weights, mixture.full_covariances)
    total += (mixture.weights[:, None] * centred).T @ centred  # the covariance of the mixture
    total[:, list(mixture.constant)] = 0.0  # columns in which no two rows differ
    if pooled.covariance_type.is_diagonal:
        sq_lengths = metric**2 @ np.diagonal(total)
    else:
        sq_lengths = np.einsum("kij,jl,kil->k", metric, total, metric)
    # Distances are averaged over components before they are squared, as in RWM.
    return metric, float((mixture.weights @ np.sqrt(sq_lengths)) ** 2 / np.trace(total))
