"""The leaderboard: who needs the fewest labels, mixkern or others, on the same rows with the same labels.

Each method may use the labelled training rows and the features of all training rows, nothing else, and is scored on a
test fold that it has never seen.
"""

from mixkern_study.leaderboard.entry import Entry, LeaderboardStore
from mixkern_study.leaderboard.label_draw import Choice, Deal, dealt_rows
from mixkern_study.leaderboard.method import METHODS, Ground, Method, own_machine, standard
from mixkern_study.leaderboard.outside import OUTSIDE
from mixkern_study.leaderboard.ranking import Comparison, Leaderboard, Place, leaderboard, rank_biserial
from mixkern_study.leaderboard.runner import run_leaderboard
from mixkern_study.leaderboard.table import leaderboard_tables

__all__ = [
    "METHODS",
    "OUTSIDE",
    "Choice",
    "Comparison",
    "Deal",
    "Entry",
    "Ground",
    "Leaderboard",
    "LeaderboardStore",
    "Method",
    "Place",
    "dealt_rows",
    "leaderboard",
    "leaderboard_tables",
    "own_machine",
    "rank_biserial",
    "run_leaderboard",
    "standard",
]
