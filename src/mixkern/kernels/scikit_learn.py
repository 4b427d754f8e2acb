"""The kernels of scikit-learn that model files can hold."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from sklearn.gaussian_process import kernels
from sklearn.gaussian_process.kernels import Kernel, PairwiseKernel

from mixkern.parts import Parts, register_class, require

SAVED_KERNELS = (
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "PairwiseKernel",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
)
_OPERANDS = ("k1", "k2", "kernel")  # parameters that are kernels


def _kernel(cls: type, parts: Parts) -> Any:
    """Return a kernel of its parameters."""
    for name, value in parts.items():
        require(isinstance(value, Kernel) == (name in _OPERANDS), name)
    return cls(**parts)


def _pairwise_kernel(parts: Parts) -> Any:
    """Return a kernel by its name; its arguments may not set the number of processes."""
    kernel = _kernel(PairwiseKernel, parts)
    arguments = kernel.pairwise_kernels_kwargs
    require(type(kernel.metric) is str, "metric")
    require(arguments is None or set(arguments) <= {"degree", "coef0", "gamma"}, "pairwise_kernels_kwargs")
    return kernel


def _register(cls: type, from_parts: Callable[[Parts], Any]) -> None:
    names = signature(cls).parameters
    register_class(f"sklearn.{cls.__name__}", cls, names, lambda kernel: kernel.get_params(deep=False), from_parts)


for _cls in (getattr(kernels, name) for name in SAVED_KERNELS):
    _register(_cls, _pairwise_kernel if _cls is PairwiseKernel else partial(_kernel, _cls))
