"""Hyperparameter search for kernel SVMs, and cross-validation where most rows have no label."""

from mixkern.search.scoring import Scoring
from mixkern.search.split import SemiSupervisedSplit
from mixkern.search.svc import Strategy, SVCSearch
from mixkern.search.trial import SearchTrial

__all__ = ["SVCSearch", "Scoring", "SearchTrial", "SemiSupervisedSplit", "Strategy"]
