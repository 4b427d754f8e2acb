"""From a word or a kernel to a kernel that knows the table: its mixture, its rows, its categories, its scale."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, WhiteKernel

from mixkern.density import Mixture
from mixkern.errors import KernelError
from mixkern.kernels import (
    BlendKernel,
    DistanceKernel,
    GMMKernel,
    LaplacianKernel,
    MixtureKernel,
    RBFKernel,
    RWMKernel,
)
from mixkern.typing import Floats
from mixkern.wording import counted

SCALE_ROWS = 1_000  # rows whose distances give the scale: the median of half a million is known well enough
BLOCK = 2**16  # rows predicted at a time
CELLS = 2**24  # of a kernel matrix held at a time, where a kernel cannot do without


class Scale(StrEnum):
    """Values of gamma that the rows give, without a label."""

    SCALE = "scale"  # one over the median squared distance between rows
    LOCAL = "local"  # ten times as much: neighbours only, and a graph does the rest


class KernelName(StrEnum):
    """Kernels that a word stands for."""

    BLEND = "blend"
    RWM = "rwm"
    GMM = "gmm"
    RBF = "rbf"
    LAP = "lap"


def named(name: KernelName, mixture: Mixture, alpha: float, beta: float) -> DistanceKernel:
    """Give the kernel that a word stands for, with gamma 1; of ``"lap"`` the one that will be bent."""
    if name is KernelName.BLEND:
        return BlendKernel(mixture, alpha=alpha, beta=beta)
    if name is KernelName.RWM:
        return RWMKernel(mixture, alpha=alpha, beta=beta)
    if name is KernelName.GMM:
        return GMMKernel(mixture, alpha=alpha, beta=beta)
    return RBFKernel(alpha=alpha, beta=beta, n_categorical=len(mixture.categories))


def bound(kernel: Any, mixture: Mixture) -> Any:
    """Give a copy of a kernel that has, as those that it is made of, the mixture and categories that it waits for."""
    if not isinstance(kernel, Kernel):
        hint = " Pass an instance: kernel=RWMKernel()." if isinstance(kernel, type) else ""
        raise KernelError(
            f"kernel must be one of {', '.join(repr(str(name)) for name in KernelName)} or a kernel of mixkern or "
            f"scikit-learn, but it is {kernel!r}.{hint}"
        )
    if isinstance(kernel, MixtureKernel):
        return kernel.bind(mixture if kernel.mixture is None else kernel.mixture)
    if isinstance(kernel, RBFKernel):
        return replaced(kernel, n_categorical=kernel.n_categorical or len(mixture.categories))
    parts = _parts(kernel)
    if not parts and mixture.categories and not isinstance(kernel, (ConstantKernel, WhiteKernel)):
        raise KernelError(
            f"{type(kernel).__name__} of scikit-learn knows no categories, and the table has "
            f"{counted(len(mixture.categories), 'categorical column')}. Use a kernel of mixkern, such as RBFKernel, or "
            "drop them."
        )
    return replaced(kernel, **{name: bound(part, mixture) for name, part in parts.items()})


def with_graph(kernel: Any, rows: Callable[[], Floats]) -> Any:
    """Give a bent kernel, wherever it is among those that a kernel is made of, the rows of its graph."""
    if isinstance(kernel, LaplacianKernel):
        return kernel.bind(rows()) if kernel.rows is None else kernel
    parts = _parts(kernel)
    return replaced(kernel, **{name: with_graph(part, rows) for name, part in parts.items()}) if parts else kernel


def _parts(kernel: Any) -> dict[str, Any]:
    """Give the kernels that a kernel is made of."""
    return {name: part for name, part in kernel.get_params(deep=False).items() if isinstance(part, Kernel)}


def replaced(kernel: Any, /, **changes: Any) -> Any:
    """Give the same kernel with other settings."""
    return type(kernel)(**{**kernel.get_params(deep=False), **changes})


def fills_gaps(kernel: Any) -> bool:
    """Tell whether a kernel reads rows with missing numbers by itself."""
    return isinstance(kernel.base if isinstance(kernel, LaplacianKernel) else kernel, MixtureKernel)


def as_read_by(kernel: Any, mixture: Mixture, rows: Floats) -> Floats:
    """Give rows as a kernel reads them: gaps filled by their expectations, unless it does so by itself."""
    return rows if fills_gaps(kernel) else mixture.conditional_mean(rows)


def gamma_of(scale: Scale, kernel: DistanceKernel, rows: Floats, random: np.random.RandomState) -> float:
    """Give the gamma that a word stands for, from distances between rows, categories included."""
    some = rows if len(rows) <= SCALE_ROWS else rows[random.choice(len(rows), SCALE_ROWS, replace=False)]
    apart = kernel.pair_terms(some).exponent(kernel.alpha, kernel.beta)[np.triu_indices(len(some), 1)]
    median = float(np.median(apart)) if len(apart) else 0.0
    if not median > 0:  # more than half of the pairs are equal: the others say what far is
        median = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
    return (10 if scale is Scale.LOCAL else 1) / median


def sums(kernel: Any, X: Floats, rows: Floats, coefficients: Floats) -> Floats:  # (n, q)
    """Multiply the kernel between X and rows with coefficients, block by block, without the whole matrix."""
    is_lean = isinstance(kernel, DistanceKernel)
    step = BLOCK if is_lean else max(1, CELLS // max(1, len(rows)))
    out = np.empty((len(X), coefficients.shape[1]))
    for start in range(0, len(X), step):
        block = X[start : start + step]
        product = kernel.times(block, rows, coefficients) if is_lean else kernel(block, rows) @ coefficients
        out[start : start + step] = product
    return out
