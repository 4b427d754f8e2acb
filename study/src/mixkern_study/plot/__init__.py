"""The figures of the paper and of the leaderboard."""

from mixkern_study.plot.introduction import introduction
from mixkern_study.plot.levels import paper_levels
from mixkern_study.plot.paper import PaperFigure, paper_figures
from mixkern_study.plot.published import published_against_ours, published_panels
from mixkern_study.plot.ranks import critical_difference, leaderboard

__all__ = [
    "PaperFigure",
    "critical_difference",
    "introduction",
    "leaderboard",
    "paper_figures",
    "paper_levels",
    "published_against_ours",
    "published_panels",
]
