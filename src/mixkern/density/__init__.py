"""Mixture densities: the structure of a table, learned from all its rows."""

from mixkern.density.covariance import CovarianceType
from mixkern.density.describe import component_table
from mixkern.density.mixture import Mixture
from mixkern.density.parzen import ParzenWindow
from mixkern.density.preprocessing import one_hot_rows
from mixkern.density.recorder import BoundRecorder
from mixkern.density.rows import Rows
from mixkern.density.search import DensityScoring, DensitySearch, representativity
from mixkern.density.vb import VBMixture

__all__ = [
    "BoundRecorder",
    "CovarianceType",
    "DensityScoring",
    "DensitySearch",
    "Mixture",
    "ParzenWindow",
    "Rows",
    "VBMixture",
    "component_table",
    "one_hot_rows",
    "representativity",
]
