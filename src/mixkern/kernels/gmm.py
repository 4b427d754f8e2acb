"""The kernel of a mixture that does not ask who is responsible."""

from mixkern.density import Mixture
from mixkern.kernels.base import MixtureKernel
from mixkern.typing import Floats


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

    def _shares(self, mixture: Mixture, X: Floats) -> Floats:  # noqa: ARG002
        return mixture.weights
