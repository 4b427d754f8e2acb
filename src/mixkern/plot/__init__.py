"""Pictures of tables, densities, decisions and searches, drawn with matplotlib."""

from mixkern.plot.comparison import compare_decisions, compare_levels
from mixkern.plot.decision import decision
from mixkern.plot.density import bound_trace, density
from mixkern.plot.importance import importance
from mixkern.plot.level import level_curves
from mixkern.plot.sample import gallery, scatter
from mixkern.plot.search import density_trials, search_map

__all__ = [
    "bound_trace",
    "compare_decisions",
    "compare_levels",
    "decision",
    "density",
    "density_trials",
    "gallery",
    "importance",
    "level_curves",
    "scatter",
    "search_map",
]
