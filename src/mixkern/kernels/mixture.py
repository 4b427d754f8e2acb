"""The kernels of the paper: responsibility weighted Mahalanobis (RWM) and its comparison (GMM)."""

from mixkern.density.rows import Rows
from mixkern.kernels.base import MixtureKernel, ResponsibilityKernel
from mixkern.parts import model_part
from mixkern.typing import Floats


@model_part("RWMKernel")
class RWMKernel(ResponsibilityKernel):
    r"""Similarity in the units of the components that are responsible for both rows.

    Every component measures a Mahalanobis distance. RWM averages these distances, weighting component k by how much it
    explains either row, and puts the average under a Gaussian.

    .. math::
        \Delta(x, z) = \sum_k \tfrac12 (\rho_k(x) + \rho_k(z))\, \Delta_k(x, z), \qquad
        k(x, z) = \exp\{-\gamma\, (\alpha\, \Delta(x, z)^2 + \beta\, n_{\neq}(x, z)^2)\}

    Parameters
    ----------
    mixture : Mixture, default=None
        Where the components come from. ``None`` gives an unbound kernel; see :meth:`bind`.
    gamma : float, default=1.0
        Decay per unit of squared distance. Larger values make the kernel more local.
    alpha, beta : float, default=1.0
        Weights of the continuous part and of the number of differing categories. Only ``gamma * alpha`` and
        ``gamma * beta`` matter.
    gamma_bounds : pair of float or "fixed", default=(1e-5, 1e5)
        Bounds of gamma where scikit-learn's Gaussian processes optimise it.

    Notes
    -----
    Symmetric with unit diagonal. Not positive semi-definite for every mixture; see :func:`definiteness`. It is for one
    component, and for components of equal covariance, of numbers and at most one categorical column: then it is the
    RBF kernel in whitened coordinates. A missing number counts as its expectation under the mixture given the row's
    other values; a missing category is a category of its own. Responsibilities use all columns; the paper's use the
    continuous ones alone, as those of :meth:`Mixture.with_common_categories` do.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from mixkern import VBMixture, datasets
    >>> from mixkern.kernels import RWMKernel
    >>> X, y = datasets.make_two_rings(random_state=0)
    >>> density = VBMixture(random_state=0).fit(X)  # every row, no labels needed
    >>> svc = SVC(kernel=RWMKernel(density.mixture_, gamma=0.5)).fit(X[:40], y[:40])
    >>> bool(svc.score(X[40:], y[40:]) > 0.85)
    True
    """


@model_part("GMMKernel")
class GMMKernel(MixtureKernel):
    r"""Similarity in the units of all components, each by its weight: the paper's comparison.

    .. math:: \Delta(x, z) = \sum_k \pi_k\, \Delta_k(x, z)

    The distance is a metric, and the same everywhere: no component counts more where it is responsible. Parameters are
    those of :class:`RWMKernel`.

    Examples
    --------
    >>> from mixkern import Mixture
    >>> kernel = GMMKernel(Mixture([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[4.0]]]))
    >>> kernel.distance([[0.0]], [[2.0]])
    array([[1.5]])
    """

    def _component_weights(self, rows: Rows) -> Floats:  # noqa: ARG002
        return self._mixture().weights
