"""The figures of the paper and of the leaderboard."""

from mixkern_study.plot.critical import critical_difference
from mixkern_study.plot.introduction import introduction
from mixkern_study.plot.leaderboard import leaderboard
from mixkern_study.plot.paper import PaperFigure, paper_figures

__all__ = ["PaperFigure", "critical_difference", "introduction", "leaderboard", "paper_figures"]
