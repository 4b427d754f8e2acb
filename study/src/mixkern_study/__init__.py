"""The paper in a box: its experiments replayed, beside its published figures, and whether methods differ."""

from mixkern_study.baselines import PEERS, Lesson, Peer, all_rows, labels_only, machine
from mixkern_study.data_table import DatasetComparison, compare_data_sets
from mixkern_study.evaluation import Contest, Draw
from mixkern_study.fold import StudyFold, study_fold
from mixkern_study.leaderboard import Leaderboard, LeaderboardStore, Method, leaderboard_tables, run_leaderboard
from mixkern_study.protocol import DensityStrategy, Experiment, Protocol, Reading
from mixkern_study.published import (
    KERNELS,
    Accuracy,
    DatasetFigures,
    RunTimes,
    published_accuracies,
    published_data_sets,
    published_run_times,
)
from mixkern_study.result_table import StudyTable
from mixkern_study.runner import Step, run, run_times
from mixkern_study.statistics import RankTest, critical_value, rank_test
from mixkern_study.store import CellKey, Result, Store, Timing
from mixkern_study.tables import (
    accuracy_table,
    definiteness_table,
    readings_table,
    run_time_table,
    settings_table,
    statistics_table,
)

__all__ = [
    "KERNELS",
    "PEERS",
    "Accuracy",
    "CellKey",
    "Contest",
    "DatasetComparison",
    "DatasetFigures",
    "DensityStrategy",
    "Draw",
    "Experiment",
    "Leaderboard",
    "LeaderboardStore",
    "Lesson",
    "Method",
    "Peer",
    "Protocol",
    "RankTest",
    "Reading",
    "Result",
    "RunTimes",
    "Step",
    "Store",
    "StudyFold",
    "StudyTable",
    "Timing",
    "accuracy_table",
    "all_rows",
    "compare_data_sets",
    "critical_value",
    "definiteness_table",
    "labels_only",
    "leaderboard_tables",
    "machine",
    "published_accuracies",
    "published_data_sets",
    "published_run_times",
    "rank_test",
    "readings_table",
    "run",
    "run_leaderboard",
    "run_time_table",
    "run_times",
    "settings_table",
    "statistics_table",
    "study_fold",
]
