"""The search for settings, and cross-validation where labels are few."""

from mixkern.search.scoring import Rating
from mixkern.search.split import SemiSupervisedSplit
from mixkern.search.svc import Strategy, SVCSearch
from mixkern.search.trials import SearchTrial

__all__ = ["Rating", "SVCSearch", "SearchTrial", "SemiSupervisedSplit", "Strategy"]
