"""The paper's experiments beside its published figures, a leaderboard of methods, and tests whether methods differ."""

from mixkern_study.data_sets import DatasetComparison, compare_data_sets
from mixkern_study.evaluation import Draw, Evaluation
from mixkern_study.experiment import run, run_times
from mixkern_study.fold import StudyFold, study_fold
from mixkern_study.items import ITEMS, ItemVerdict, PaperItem, items_table
from mixkern_study.leaderboard import Leaderboard, leaderboard_tables, run_leaderboard
from mixkern_study.method import Method, Trained, TrainingData, all_rows, labels_only, own_estimator
from mixkern_study.method_list import BASELINES, METHODS
from mixkern_study.other_sets import CONFIRMATION, OUTSIDE, TUNING, WIDE
from mixkern_study.protocol import (
    DensityStrategy,
    Experiment,
    LabelChoice,
    Protocol,
    Reading,
    Responsibilities,
    StudyError,
)
from mixkern_study.published import (
    KERNELS,
    Accuracy,
    DatasetFigures,
    RunTimes,
    published_accuracies,
    published_data_sets,
    published_run_times,
)
from mixkern_study.record import CellKey, Entry, Result, Timing, Trial
from mixkern_study.runner import Step
from mixkern_study.statistics import RankTest, critical_value, rank_biserial, rank_test
from mixkern_study.store import Store
from mixkern_study.tables import (
    accuracy_table,
    choosers_table,
    definiteness_table,
    densities_table,
    density_table,
    graph_table,
    labels_table,
    readings_table,
    responsibilities_table,
    run_time_table,
    settings_table,
    statistics_table,
    summary_table,
)
from mixkern_study.variant import Variant, run_variants, variants

__all__ = [
    "BASELINES",
    "CONFIRMATION",
    "ITEMS",
    "KERNELS",
    "METHODS",
    "OUTSIDE",
    "TUNING",
    "WIDE",
    "Accuracy",
    "CellKey",
    "DatasetComparison",
    "DatasetFigures",
    "DensityStrategy",
    "Draw",
    "Entry",
    "Evaluation",
    "Experiment",
    "ItemVerdict",
    "LabelChoice",
    "Leaderboard",
    "Method",
    "PaperItem",
    "Protocol",
    "RankTest",
    "Reading",
    "Responsibilities",
    "Result",
    "RunTimes",
    "Step",
    "Store",
    "StudyError",
    "StudyFold",
    "Timing",
    "Trained",
    "TrainingData",
    "Trial",
    "Variant",
    "accuracy_table",
    "all_rows",
    "choosers_table",
    "compare_data_sets",
    "critical_value",
    "definiteness_table",
    "densities_table",
    "density_table",
    "graph_table",
    "items_table",
    "labels_only",
    "labels_table",
    "leaderboard_tables",
    "own_estimator",
    "published_accuracies",
    "published_data_sets",
    "published_run_times",
    "rank_biserial",
    "rank_test",
    "readings_table",
    "responsibilities_table",
    "run",
    "run_leaderboard",
    "run_time_table",
    "run_times",
    "run_variants",
    "settings_table",
    "statistics_table",
    "study_fold",
    "summary_table",
    "variants",
]
