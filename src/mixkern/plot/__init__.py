"""Pictures, for people who would rather look than read."""

from mixkern.plot.comparison import compare_decisions, compare_levels
from mixkern.plot.critical import critical_difference
from mixkern.plot.decision import decision
from mixkern.plot.density import bound_trace, density
from mixkern.plot.introduction import introduction
from mixkern.plot.leaderboard import leaderboard
from mixkern.plot.level import level_curves, paper_levels
from mixkern.plot.paper import PaperFigure, paper_figures
from mixkern.plot.sample import gallery, scatter
from mixkern.plot.search import density_trials, search_map

__all__ = [
    "PaperFigure",
    "bound_trace",
    "compare_decisions",
    "compare_levels",
    "critical_difference",
    "decision",
    "density",
    "density_trials",
    "gallery",
    "introduction",
    "leaderboard",
    "level_curves",
    "paper_figures",
    "paper_levels",
    "scatter",
    "search_map",
]
