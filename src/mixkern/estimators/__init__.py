"""Estimators for tables with few labels."""

from mixkern.estimators.laplacian import LaplacianSVC
from mixkern.estimators.oneclass import MixtureOneClassSVM
from mixkern.estimators.s3vm import QuasiNewtonS3VC
from mixkern.estimators.svc import MixtureSVC
from mixkern.estimators.svr import MixtureSVR
from mixkern.estimators.transductive import TransductiveSVC
from mixkern.explain.explanation import Explanation

__all__ = [
    "Explanation",
    "LaplacianSVC",
    "MixtureOneClassSVM",
    "MixtureSVC",
    "MixtureSVR",
    "QuasiNewtonS3VC",
    "TransductiveSVC",
]
