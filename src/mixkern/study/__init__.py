"""The paper's published figures beside ours, and whether methods differ."""

from mixkern.study.data_table import DatasetComparison, compare_data_sets
from mixkern.study.published import (
    Accuracy,
    DatasetFigures,
    RunTimes,
    published_accuracies,
    published_data_sets,
    published_run_times,
)
from mixkern.study.statistics import RankTest, critical_value, rank_test

__all__ = [
    "Accuracy",
    "DatasetComparison",
    "DatasetFigures",
    "RankTest",
    "RunTimes",
    "compare_data_sets",
    "critical_value",
    "published_accuracies",
    "published_data_sets",
    "published_run_times",
    "rank_test",
]
