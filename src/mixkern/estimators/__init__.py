"""Learning machines for tables with few labels."""

from mixkern.estimators.laplacian import LaplacianSVC
from mixkern.estimators.oneclass import MixtureOneClassSVM
from mixkern.estimators.svc import MixtureSVC
from mixkern.estimators.svr import MixtureSVR

__all__ = ["LaplacianSVC", "MixtureOneClassSVM", "MixtureSVC", "MixtureSVR"]
