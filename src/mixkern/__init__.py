"""Kernels from mixture densities: learn a table's structure from all its rows, classify it from a handful of labels.

Public names are imported when they are first used, so ``import mixkern`` takes no time.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from mixkern.imports import lazy_names

if TYPE_CHECKING:
    from mixkern import advice, datasets, density, encoding, estimators, explain, kernels, plot, report, search
    from mixkern.advice import advise, estimated_accuracy, suggest
    from mixkern.density import DensitySearch, Mixture, VBMixture
    from mixkern.encoding import TableEncoder
    from mixkern.estimators import (
        LaplacianSVC,
        MixtureOneClassSVM,
        MixtureSVC,
        MixtureSVR,
        QuasiNewtonS3VC,
        TransductiveSVC,
    )
    from mixkern.explain import Explanation
    from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
    from mixkern.search import SemiSupervisedSplit, SVCSearch
    from mixkern.storage import load, save

# Where each public name is defined.
_MODULES = {
    "advice": "mixkern.advice",
    "datasets": "mixkern.datasets",
    "density": "mixkern.density",
    "encoding": "mixkern.encoding",
    "estimators": "mixkern.estimators",
    "explain": "mixkern.explain",
    "kernels": "mixkern.kernels",
    "plot": "mixkern.plot",
    "report": "mixkern.report",
    "search": "mixkern.search",
    "BlendKernel": "mixkern.kernels",
    "DensitySearch": "mixkern.density",
    "Explanation": "mixkern.explain",
    "GMMKernel": "mixkern.kernels",
    "LaplacianKernel": "mixkern.kernels",
    "LaplacianSVC": "mixkern.estimators",
    "Mixture": "mixkern.density",
    "MixtureOneClassSVM": "mixkern.estimators",
    "MixtureSVC": "mixkern.estimators",
    "MixtureSVR": "mixkern.estimators",
    "QuasiNewtonS3VC": "mixkern.estimators",
    "RBFKernel": "mixkern.kernels",
    "RWMKernel": "mixkern.kernels",
    "SVCSearch": "mixkern.search",
    "SemiSupervisedSplit": "mixkern.search",
    "TableEncoder": "mixkern.encoding",
    "TransductiveSVC": "mixkern.estimators",
    "VBMixture": "mixkern.density",
    "advise": "mixkern.advice",
    "estimated_accuracy": "mixkern.advice",
    "load": "mixkern.storage",
    "save": "mixkern.storage",
    "suggest": "mixkern.advice",
}
__all__ = [
    "BlendKernel",
    "DensitySearch",
    "Explanation",
    "GMMKernel",
    "LaplacianKernel",
    "LaplacianSVC",
    "Mixture",
    "MixtureOneClassSVM",
    "MixtureSVC",
    "MixtureSVR",
    "QuasiNewtonS3VC",
    "RBFKernel",
    "RWMKernel",
    "SVCSearch",
    "SemiSupervisedSplit",
    "TableEncoder",
    "TransductiveSVC",
    "VBMixture",
    "__version__",
    "advice",
    "advise",
    "datasets",
    "density",
    "encoding",
    "estimated_accuracy",
    "estimators",
    "explain",
    "kernels",
    "load",
    "plot",
    "report",
    "save",
    "search",
    "suggest",
]
__version__ = version("mixkern")
__getattr__, __dir__ = lazy_names(__name__, _MODULES)
