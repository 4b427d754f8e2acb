"""Kernels from mixture densities, for any kernel method of scikit-learn."""

from mixkern.kernels.base import DistanceKernel, MixtureKernel, PairTerms
from mixkern.kernels.blend import BlendKernel, BlendTerms
from mixkern.kernels.definite import Definiteness, Repair, Repaired, definiteness, is_definite, repaired
from mixkern.kernels.laplacian import LaplacianKernel
from mixkern.kernels.mixture import GMMKernel, RWMKernel
from mixkern.kernels.rbf import RBFKernel
from mixkern.kernels.scikit_learn import SAVED_KERNELS

__all__ = [
    "SAVED_KERNELS",
    "BlendKernel",
    "BlendTerms",
    "Definiteness",
    "DistanceKernel",
    "GMMKernel",
    "LaplacianKernel",
    "MixtureKernel",
    "PairTerms",
    "RBFKernel",
    "RWMKernel",
    "Repair",
    "Repaired",
    "definiteness",
    "is_definite",
    "repaired",
]
