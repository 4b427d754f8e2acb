"""Hyperparameter search for kernel SVMs, and cross-validation where most rows have no label."""

from mixkern.search.scoring import Rating, SearchTrial
from mixkern.search.split import SemiSupervisedSplit
from mixkern.search.svc import Strategy, SVCSearch

__all__ = ["Rating", "SVCSearch", "SearchTrial", "SemiSupervisedSplit", "Strategy"]
