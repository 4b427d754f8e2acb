"""The leaderboard: accuracies of mixkern and others with few labels, on the same rows with the same labels.

Each method may use the labelled training rows and the features of all training rows, and is tested on a fold of other
rows.
"""

from mixkern_study.leaderboard.label_draw import Choice, LabelDraw, rows_to_label
from mixkern_study.leaderboard.ranking import Comparison, Leaderboard, Place, leaderboard
from mixkern_study.leaderboard.run import run_leaderboard
from mixkern_study.leaderboard.table import leaderboard_tables

__all__ = [
    "Choice",
    "Comparison",
    "LabelDraw",
    "Leaderboard",
    "Place",
    "leaderboard",
    "leaderboard_tables",
    "rows_to_label",
    "run_leaderboard",
]
