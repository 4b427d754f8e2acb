"""Resolve the ``kernel`` parameter: names, the mixture, the graph and the scale of gamma."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, WhiteKernel

from mixkern.defaults import KernelName
from mixkern.density import Mixture, Rows
from mixkern.errors import KernelError, PresetGammaWarning, hint, warn
from mixkern.kernels import (
    BlendKernel,
    DistanceKernel,
    GMMKernel,
    LaplacianKernel,
    MixtureKernel,
    RBFKernel,
    RWMKernel,
)
from mixkern.kernels.blend import SHARE
from mixkern.sampling import subsample
from mixkern.svm.gaussian_process import evidence_rows, evidence_share
from mixkern.typing import Floats, Ints, RandomState
from mixkern.validation import POSITIVE, Rule, one_of
from mixkern.wording import counted, shown

PRESET_GAMMA = 1.0  # of kernel objects
LEAST_SIMILARITY = 0.01  # of the median pair of rows
SCALE_ROWS = 1_000  # rows whose distances give the scale: enough for the median


class Scale(StrEnum):
    """Values of gamma that follow from the distances between rows."""

    SCALE = "scale"  # one over the median squared distance
    LOCAL = "local"  # ten times as much, for kernels that are deformed along a graph


SCALE = Rule(
    " or ".join(repr(str(scale)) for scale in Scale), lambda value: isinstance(value, str) and value in tuple(Scale)
)


@dataclass(frozen=True)
class KernelFactory:
    """The ``kernel`` parameter of an estimator and those beside it.

    Attributes
    ----------
    kernel : str or Kernel
        A name, or a kernel with its own parameters.
    gamma : float, "scale" or "local"
        Of a kernel that is named.
    alpha, beta : float
        Of a kernel that is named.
    """

    kernel: Any
    gamma: Any = Scale.SCALE
    alpha: float = 1.0
    beta: float = 1.0

    def check(self) -> None:
        """Raise an error for a wrong name or gamma."""
        if isinstance(self.kernel, str):
            one_of(KernelName, self.kernel, "kernel")
        (SCALE | POSITIVE).check(self.gamma, "gamma")

    def bound(self, rows: Rows, random: RandomState) -> Any:
        """Return the kernel with the mixture of the rows and, where it is named, its gamma; without a graph."""
        assert rows.mixture is not None  # that of the estimator
        if not isinstance(self.kernel, str):
            self._check_own_parameters()
            return bound_kernel(self.kernel, rows.mixture)
        kernel = named_kernel(one_of(KernelName, self.kernel, "kernel"), rows.mixture, self.alpha, self.beta)
        is_scale = isinstance(self.gamma, str)
        return replaced(kernel, gamma=gamma_of(Scale(self.gamma), kernel, rows, random) if is_scale else self.gamma)

    def _check_own_parameters(self) -> None:
        """Raise an error for parameters beside a kernel that has its own."""
        given = {"gamma": self.gamma not in tuple(Scale), "alpha": self.alpha != 1.0, "beta": self.beta != 1.0}
        wrong = [name for name, is_given in given.items() if is_given]
        if wrong:
            raise KernelError(
                f"{wrong[0]} is set beside a kernel that has its own. Set it there: kernel={type(self.kernel).__name__}"
                f"({wrong[0]}={getattr(self, wrong[0])!r})."
            )


def warn_of_preset_gamma(kernel: Any, rows: Rows, name: str = "kernel") -> None:
    """Warn where a kernel object, or one in it, has gamma 1, which is preset, and most rows are dissimilar by it.

    Parameters
    ----------
    kernel : Kernel
        The kernel object, with its mixture.
    rows : Rows
        Rows of the table.
    name : str, default="kernel"
        Name of the estimator's parameter, as of ``set_params``.
    """
    for part_name, part in _parts(kernel).items():
        warn_of_preset_gamma(part, rows, f"{name}__{part_name}")
    if not isinstance(kernel, DistanceKernel) or kernel.gamma != PRESET_GAMMA:
        return
    scale = gamma_of(Scale.SCALE, kernel, rows, RandomState(0))  # without a draw of the estimator's own
    if math.exp(-PRESET_GAMMA / scale) < LEAST_SIMILARITY:
        warn(
            f"{type(kernel).__name__} has gamma 1, and is nearly zero between most rows of this table.",
            PresetGammaWarning,
            hint=hint(python=f"Set it: set_params({name}__gamma={scale:.2g}). For names, such as 'rwm', fit sets it."),
        )


def named_kernel(name: KernelName, mixture: Mixture, alpha: float = 1.0, beta: float = 1.0) -> DistanceKernel:
    """Return the kernel of a name, with gamma 1; for ``"lap"`` its base kernel."""
    if name is KernelName.BLEND:
        return BlendKernel(mixture, alpha=alpha, beta=beta)
    if name is KernelName.RWM:
        return RWMKernel(mixture, alpha=alpha, beta=beta)
    if name is KernelName.GMM:
        return GMMKernel(mixture, alpha=alpha, beta=beta)
    return RBFKernel(alpha=alpha, beta=beta, n_categorical=len(mixture.categories))


def bound_kernel(kernel: Any, mixture: Mixture) -> Any:
    """Return a copy of a kernel, and of those in it, with the mixture and the categories where it has none."""
    if not isinstance(kernel, Kernel):
        step = " Pass an instance: kernel=RWMKernel()." if isinstance(kernel, type) else ""
        raise KernelError(
            f"kernel must be one of {', '.join(repr(str(name)) for name in KernelName)} or a kernel of mixkern or "
            f"scikit-learn, but it is {shown(kernel)}.{step}"
        )
    if isinstance(kernel, MixtureKernel):
        return kernel.bind(mixture if kernel.mixture is None else kernel.mixture)
    if isinstance(kernel, RBFKernel):
        return replaced(kernel, n_categorical=kernel.n_categorical or len(mixture.categories))
    parts = _parts(kernel)
    if not parts and mixture.categories and not isinstance(kernel, (ConstantKernel, WhiteKernel)):
        raise KernelError(
            f"{type(kernel).__name__} of scikit-learn takes no categories, and the table has "
            f"{counted(len(mixture.categories), 'categorical column')}. Use a kernel of mixkern, such as RBFKernel, or "
            "drop them."
        )
    return replaced(kernel, **{name: bound_kernel(part, mixture) for name, part in parts.items()})


def with_graph(kernel: Any, rows: Callable[[], Floats]) -> Any:
    """Return the kernel with the rows of a graph for each Laplacian kernel in it that has none."""
    if isinstance(kernel, LaplacianKernel):
        return kernel.bind(rows()) if kernel.rows is None else kernel
    parts = _parts(kernel)
    return replaced(kernel, **{name: with_graph(part, rows) for name, part in parts.items()}) if parts else kernel


def _parts(kernel: Any) -> dict[str, Any]:
    """Kernels that a kernel is made of, by parameter."""
    return {name: part for name, part in kernel.get_params(deep=False).items() if isinstance(part, Kernel)}


def replaced(kernel: Any, /, **changes: Any) -> Any:
    """Return a copy of a kernel with other parameters."""
    return type(kernel)(**{**kernel.get_params(deep=False), **changes})


def gamma_of(scale: Scale, kernel: DistanceKernel, rows: Rows | Floats, random: RandomState) -> float:
    """Compute gamma from the distances between rows, categories included."""
    some = rows[subsample(np.arange(len(rows)), SCALE_ROWS, random)]
    exponents = kernel.pair_terms(some).exponent(kernel.alpha, kernel.beta)[np.triu_indices(len(some), 1)]
    median = float(np.median(exponents)) if len(exponents) else 0.0
    if not median > 0:  # more than half of the pairs are equal: the median of the others
        median = float(np.median(exponents[exponents > 0])) if (exponents > 0).any() else 1.0
    return (10 if scale is Scale.LOCAL else 1) / median


def evidence_kernel(
    kernel: BlendKernel, rows: Rows | Floats, codes: Ints, weights: Floats | None = None
) -> BlendKernel:
    """Return a blend, with the mixture's share set by the evidence of labels.

    Parameters
    ----------
    kernel : BlendKernel
        The blend; its own share does not matter.
    rows : Rows or ndarray of shape (n, d + e)
        Labelled rows.
    codes : ndarray of int, shape (n,)
        Their classes, two or more.
    weights : ndarray of shape (n,), default=None
        Weights of the labels.
    """
    some = evidence_rows(codes)
    euclidean, mixture = kernel.pair_terms(rows[some]).halves(kernel.gamma, kernel.alpha, kernel.beta)
    share = evidence_share(SHARE, euclidean, mixture, codes[some], None if weights is None else weights[some])
    blended: BlendKernel = replaced(kernel, share=share)
    return blended
