"""The kernel that machines take by default: what a mixture says about a table, hedged by what it does not say.

RWM measures in the units of single components. With few rows to a component these are noisy, and where classes do not
follow the components they mislead. So the blend borrows strength between components, asks whether two rows belong
together at all, and keeps a part of the plain Euclidean kernel.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mixkern import engine
from mixkern.density import Mixture
from mixkern.errors import KernelError
from mixkern.kernels.base import GAMMA_BOUNDS, Bounds, MixtureKernel, Parts, Rows, Separation, category_parts
from mixkern.typing import Floats

SHARE = 0.6  # of the mixture, before any label was seen
METRICS_KEPT = 32  # mixtures whose pooled metrics are remembered


@dataclass(frozen=True, eq=False)
class Blend:
    """How far rows are apart by both measures, and how much they belong together: what a search computes once.

    Attributes
    ----------
    own, plain : Separation
        In the pooled units of the components, and Euclidean, in the same units on average.
    together : ndarray of shape (n, m)
        How far the same components are responsible for two rows, between 0 and 1.
    share, membership : float
        As in :class:`BlendKernel`.
    """

    own: Separation
    plain: Separation
    together: Floats
    share: float
    membership: float

    def exponent(self, alpha: float = 1.0, beta: float = 1.0) -> Floats:
        """Weigh numbers and categories in the units of the components: what gamma is multiplied with."""
        return self.own.exponent(alpha, beta)

    def halves(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> tuple[Floats, Floats]:
        """Give the plain kernel and the mixture's, before they are blended."""
        mixed = (1 - self.membership) * self.own.kernel(gamma, alpha, beta) + self.membership * self.together
        return self.plain.kernel(gamma, alpha, beta), mixed

    def kernel(self, gamma: float, alpha: float = 1.0, beta: float = 1.0) -> Floats:
        """Blend the two."""
        plain, mixed = self.halves(gamma, alpha, beta)
        return (1 - self.share) * plain + self.share * mixed


@dataclass(frozen=True, eq=False)
class BlendParts(Parts):
    """What the two distances of a blend are made of.

    Attributes
    ----------
    components : ndarray of shape (n, k)
        What each component adds to the distance in the pooled units of the components.
    columns : ndarray of shape (n, d + e)
        The mean of the following two, weighted as the blend weighs their kernels.
    own, plain : ndarray of shape (n, d + e)
        What each column adds to the squared distance in the units of the components, and to the Euclidean one; see
        :class:`Parts`.
    """

    own: Floats
    plain: Floats


class BlendKernel(MixtureKernel):
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
        Where the components come from. ``None`` gives an unbound kernel; see :meth:`bind`.
    gamma : float, default=1.0
        Decay per unit of squared distance.
    share : float, default=0.6
        How much of the kernel is the mixture's, s. :class:`~mixkern.MixtureSVC` starts from this and lets the labels
        say how much of it they believe.
    membership : float, default=1/3
        How much of the mixture's part is the question whether two rows belong to the same components, m.
    pooling : float, default=0.5
        How far covariances are moved to their mean, p: 0 are those of the components, 1 is one metric for all.
    alpha, beta : float, default=1.0
        Weights of the continuous part and of the number of differing categories.
    gamma_bounds : pair of float or "fixed", default=(1e-5, 1e5)
        Where scikit-learn's Gaussian processes may look for gamma.

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

    def _shares(self, mixture: Mixture, X: Floats) -> Floats:
        return mixture.responsibilities(X)

    def _whiteners(self, d: int) -> Floats:  # noqa: ARG002
        return _metrics(self._mixture(), _fraction(self.pooling, "pooling"))[0]

    def _unit_whitener(self, d: int) -> Floats:
        """Give the Euclidean metric in the units of the components."""
        unit = _metrics(self._mixture(), _fraction(self.pooling, "pooling"))[1]
        return np.full((1, d), np.sqrt(unit))

    def separation(self, X: ArrayLike, Y: ArrayLike | None = None) -> Blend:  # type: ignore[override]
        """Distances, counts and memberships, from which the kernel for any gamma, alpha and beta is a step."""
        a, b = self._pair(X, Y)
        d = a.numbers.shape[1]
        counts = None if a.codes is None else engine.count(a.codes, None if b is None else b.codes)
        sq_count = None if counts is None else counts * counts
        others: Any = ((None, None), (None, None)) if b is None else (_own(b), _plain(b))
        own = engine.distance(*_own(a), *others[0], whiteners=self._whiteners(d))
        plain = engine.distance(*_plain(a), *others[1], whiteners=self._unit_whitener(d))
        return Blend(
            Separation(own * own, sq_count),
            Separation(plain * plain, sq_count),
            _together(a, a if b is None else b),
            _fraction(self.share, "share"),
            _fraction(self.membership, "membership"),
        )

    def parts(self, X: ArrayLike, Y: ArrayLike) -> BlendParts:
        """Take both distances between each row of X and the row of Y beside it apart; see :class:`BlendParts`.

        Whether two rows belong to the same components is no distance, and not part of it.
        """
        own = super().parts(X, Y)
        a, b = self._rows(X), self._rows(Y)
        difference = (a.numbers - b.numbers) * self._unit_whitener(a.numbers.shape[1])
        plain = np.hstack([self.alpha * difference**2, self.beta * category_parts(a, b)])
        share = _fraction(self.share, "share")
        weight = share * (1 - _fraction(self.membership, "membership"))
        weight = weight / (weight + 1 - share) if weight + 1 - share > 0 else 1.0
        return BlendParts(own.components, (1 - weight) * plain + weight * own.columns, own.columns, plain)

    def contributions(self, X: ArrayLike, Y: ArrayLike | None = None) -> dict[str, Floats]:
        """Say how much of the kernel between rows comes from which of the three; they add up to it.

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
        apart = self.separation(X, Y)
        decay = self._decay(self._mixture().n_continuous)
        settings = decay["gamma"], decay["alpha"], decay["beta"]
        return {
            "euclidean": (1 - apart.share) * apart.plain.kernel(*settings),
            "mixture": apart.share * (1 - apart.membership) * apart.own.kernel(*settings),
            "membership": apart.share * apart.membership * apart.together,
        }

    def times(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Floats:
        """Kernel matrix of X and Y times the columns of V, without the matrix."""
        a, b = self._rows(X), self._rows(Y)
        coefficients = np.asarray(V, dtype=float)
        s, m = _fraction(self.share, "share"), _fraction(self.membership, "membership")
        own = {**self._decay(a.numbers.shape[1]), "codes_A": a.codes, "codes_B": b.codes}
        total = s * m * (np.sqrt(a.shares) @ (np.sqrt(b.shares).T @ coefficients))
        if s < 1:
            plain = {**own, "whiteners": self._unit_whitener(a.numbers.shape[1])}
            total += (1 - s) * engine.kernel_times(*_plain(a), *_plain(b), coefficients, **plain)
        if s * (1 - m) > 0:
            total += s * (1 - m) * engine.kernel_times(*_own(a), *_own(b), coefficients, **own)
        return total

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False, *, dtype: DTypeLike = np.float64
    ) -> Any:
        """Kernel between rows, and on request its gradient by ln gamma; see :meth:`DistanceKernel.__call__`."""
        if eval_gradient and Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        apart = self.separation(X, Y)
        decay = self._decay(self._mixture().n_continuous)
        settings = decay["gamma"], decay["alpha"], decay["beta"]
        K = apart.kernel(*settings).astype(dtype, copy=False)
        if not eval_gradient:
            return K
        if self.hyperparameter_gamma.fixed:
            return K, np.empty((*K.shape, 0))
        gamma, alpha, beta = settings
        weights = (1 - apart.share, apart.share * (1 - apart.membership))
        slopes = [
            weight * gamma * part.exponent(alpha, beta) * part.kernel(gamma, alpha, beta)
            for weight, part in zip(weights, (apart.plain, apart.own), strict=True)
        ]
        return K, -(slopes[0] + slopes[1])[:, :, None]


def _own(rows: Rows) -> tuple[Floats, Floats]:
    """Give rows to the engine with the components that are responsible for them."""
    return rows.numbers, rows.shares


def _plain(rows: Rows) -> tuple[Floats, Floats]:
    """Give rows to the engine with one component for all."""
    return rows.numbers, np.ones(1)


def _together(a: Rows, b: Rows) -> Floats:
    """Give the Bhattacharyya coefficient of the responsibilities."""
    K: Floats = np.sqrt(a.shares) @ np.sqrt(b.shares).T
    return np.minimum(K, 1.0, out=K)  # the last digit of a sum of shares


@lru_cache(maxsize=METRICS_KEPT)
def _metrics(mixture: Mixture, pooling: float) -> tuple[Floats, float]:
    """Give the pooled whiteners of a mixture, and the unit of Euclidean distances."""
    pooled = mixture.pooled(pooling)
    d = mixture.n_continuous
    if not d:
        return pooled.whiteners, 1.0
    centred = mixture.means - mixture.weights @ mixture.means
    total = np.einsum("k,kij->ij", mixture.weights, mixture.full_covariances)
    total += (mixture.weights[:, None] * centred).T @ centred  # the covariance of the mixture
    if pooled.covariance_type.is_diagonal:
        sq_lengths = pooled.whiteners**2 @ np.diagonal(total)
    else:
        sq_lengths = np.einsum("kij,jl,kil->k", pooled.whiteners, total, pooled.whiteners)
    # Distances are averaged over components before they are squared, as in RWM.
    return pooled.whiteners, float((mixture.weights @ np.sqrt(sq_lengths)) ** 2 / np.trace(total))


def _fraction(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
        raise KernelError(f"{name} must be a number from 0 to 1, but it is {value!r}.")
    return float(value)
