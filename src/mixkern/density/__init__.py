"""Mixture densities: the structure of a table, learned from all its rows."""

from mixkern.density.covariance import CovarianceType
from mixkern.density.describe import component_table
from mixkern.density.mixture import Mixture
from mixkern.density.one_hot import plain_numbers
from mixkern.density.parzen import ParzenWindow
from mixkern.density.search import Criterion, DensitySearch, Trial, representativity
from mixkern.density.vb import VBMixture

__all__ = [
    "CovarianceType",
    "Criterion",
    "DensitySearch",
    "Mixture",
    "ParzenWindow",
    "Trial",
    "VBMixture",
    "component_table",
    "plain_numbers",
    "representativity",
]
