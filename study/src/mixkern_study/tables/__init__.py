"""Tables of the paper's study, ours beside the published figures.

Each function takes a :class:`~mixkern_study.Store` of results, of which some may be missing, and returns a
:class:`~mixkern.report.table.TextTable`; cells without a result are dashes.
"""

from mixkern_study.run_time import run_time_table
from mixkern_study.tables.accuracy import accuracy_table, readings_table
from mixkern_study.tables.detail import definiteness_table, settings_table, statistics_table
from mixkern_study.tables.summary import summary_table
from mixkern_study.tables.variant import (
    choosers_table,
    densities_table,
    density_table,
    graph_table,
    labels_table,
    responsibilities_table,
)

__all__ = [
    "accuracy_table",
    "choosers_table",
    "definiteness_table",
    "densities_table",
    "density_table",
    "graph_table",
    "labels_table",
    "readings_table",
    "responsibilities_table",
    "run_time_table",
    "settings_table",
    "statistics_table",
    "summary_table",
]
