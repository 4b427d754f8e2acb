"""Tables of a study, one builder each: ours beside the published figures."""

from mixkern_study.tables.accuracy import accuracy_table
from mixkern_study.tables.definiteness import definiteness_table
from mixkern_study.tables.published import PUBLISHED_STATISTICS, PublishedStatistics, published_test, statistics_table
from mixkern_study.tables.reading import readings_table
from mixkern_study.tables.run_time import run_time_table
from mixkern_study.tables.setting import settings_table

__all__ = [
    "PUBLISHED_STATISTICS",
    "PublishedStatistics",
    "accuracy_table",
    "definiteness_table",
    "published_test",
    "readings_table",
    "run_time_table",
    "settings_table",
    "statistics_table",
]
