"""Pictures, for people who would rather look than read."""

from mixkern.plot.density import bound_trace, density
from mixkern.plot.level import level_curves, paper_levels
from mixkern.plot.sample import gallery, scatter
from mixkern.plot.search import density_trials

__all__ = ["bound_trace", "density", "density_trials", "gallery", "level_curves", "paper_levels", "scatter"]
