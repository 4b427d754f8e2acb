"""Kernels from mixture densities: learn a table's structure from all its rows, classify it from a handful of labels.

Public names are imported when they are first used, so ``import mixkern`` itself takes a few milliseconds.
"""

from typing import TYPE_CHECKING, Any

from mixkern.imports import lazy_names

if TYPE_CHECKING:
    from mixkern import (
        advice,
        datasets,
        density,
        distributed,
        encoding,
        estimators,
        explain,
        kernels,
        labelling,
        plot,
        report,
        search,
    )
    from mixkern.advice import estimated_accuracy, mistaken_labels
    from mixkern.advice.advise import advise
    from mixkern.advice.suggest import suggest
    from mixkern.density import DensitySearch, Mixture, VBMixture
    from mixkern.device import config
    from mixkern.encoding import TableEncoder, prepare_table
    from mixkern.estimators import (
        LaplacianSVC,
        MixtureOneClassSVM,
        MixtureSVC,
        MixtureSVR,
        QuasiNewtonS3VC,
        TransductiveSVC,
    )
    from mixkern.explain import Explanation
    from mixkern.io import Table, load, read_table, save
    from mixkern.kernels import BlendKernel, GMMKernel, LaplacianKernel, RBFKernel, RWMKernel
    from mixkern.labelling import label
    from mixkern.search import SemiSupervisedSplit, SVCSearch

    __version__: str

# The public names of each room; the rooms are public names, too.
_NAMES = {
    "advice": ("advise", "estimated_accuracy", "mistaken_labels", "suggest"),
    "datasets": (),
    "density": ("DensitySearch", "Mixture", "VBMixture"),
    "device": ("config",),
    "distributed": (),
    "encoding": ("TableEncoder", "prepare_table"),
    "engine": (),
    "estimators": (
        "LaplacianSVC",
        "MixtureOneClassSVM",
        "MixtureSVC",
        "MixtureSVR",
        "QuasiNewtonS3VC",
        "TransductiveSVC",
    ),
    "explain": ("Explanation",),
    "io": ("Table", "load", "read_table", "save"),
    "kernels": ("BlendKernel", "GMMKernel", "LaplacianKernel", "RBFKernel", "RWMKernel"),
    "labelling": ("label",),
    "plot": (),
    "report": (),
    "search": ("SVCSearch", "SemiSupervisedSplit"),
    "svm": (),
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
    "Table",
    "TableEncoder",
    "TransductiveSVC",
    "VBMixture",
    "__version__",
    "advice",
    "advise",
    "config",
    "datasets",
    "density",
    "distributed",
    "encoding",
    "estimated_accuracy",
    "estimators",
    "explain",
    "kernels",
    "label",
    "labelling",
    "load",
    "mistaken_labels",
    "plot",
    "prepare_table",
    "read_table",
    "report",
    "save",
    "search",
    "suggest",
]
_load, __dir__ = lazy_names(__name__, {name: f"mixkern.{room}" for room in _NAMES for name in (room, *_NAMES[room])})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mixkern")
    return _load(name)
