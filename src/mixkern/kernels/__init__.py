"""Kernels from mixtures, as values that any kernel machine can use."""

from mixkern.kernels.base import DistanceKernel, MixtureKernel, Separation
from mixkern.kernels.blend import Blend, BlendKernel
from mixkern.kernels.definite import Definiteness, Repair, Repaired, definiteness, is_definite, repaired
from mixkern.kernels.gmm import GMMKernel
from mixkern.kernels.laplacian import LaplacianKernel
from mixkern.kernels.rbf import RBFKernel
from mixkern.kernels.rwm import RWMKernel

__all__ = [
    "Blend",
    "BlendKernel",
    "Definiteness",
    "DistanceKernel",
    "GMMKernel",
    "LaplacianKernel",
    "MixtureKernel",
    "RBFKernel",
    "RWMKernel",
    "Repair",
    "Repaired",
    "Separation",
    "definiteness",
    "is_definite",
    "repaired",
]
