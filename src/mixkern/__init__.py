"""Kernels from mixture densities: learn a table's structure from all its rows, classify it from a handful of labels."""

from importlib.metadata import version

from mixkern import datasets, plot, study
from mixkern.advice import advise, suggest
from mixkern.density import DensitySearch, Mixture, VBMixture
from mixkern.estimators import (
    LaplacianSVC,
    MixtureOneClassSVM,
    MixtureSVC,
    MixtureSVR,
    QuasiNewtonS3VC,
    TransductiveSVC,
)
from mixkern.search import SemiSupervisedSplit, SVCSearch
from mixkern.storage import load, save
from mixkern.table import TableEncoder

__version__ = version("mixkern")
__all__ = [
    "DensitySearch",
    "LaplacianSVC",
    "Mixture",
    "MixtureOneClassSVM",
    "MixtureSVC",
    "MixtureSVR",
    "QuasiNewtonS3VC",
    "SVCSearch",
    "SemiSupervisedSplit",
    "TableEncoder",
    "TransductiveSVC",
    "VBMixture",
    "__version__",
    "advise",
    "datasets",
    "load",
    "plot",
    "save",
    "study",
    "suggest",
]
