"""The paper's experiments, and the figures that it published."""

from mixkern.study.data_table import DatasetComparison, compare_data_sets
from mixkern.study.published import DatasetFigures, published_data_sets

__all__ = ["DatasetComparison", "DatasetFigures", "compare_data_sets", "published_data_sets"]
