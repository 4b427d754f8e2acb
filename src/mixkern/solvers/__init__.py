"""Pure functions of a kernel matrix and labels that return a dual: how machines are trained."""

from mixkern.solvers.dual import Dual
from mixkern.solvers.evidence import believed_cost, believed_share, log_evidence
from mixkern.solvers.fold import label_folds
from mixkern.solvers.libsvm import Remedy, classifier, one_class, pairs, regressor

__all__ = [
    "Dual",
    "Remedy",
    "believed_cost",
    "believed_share",
    "classifier",
    "label_folds",
    "log_evidence",
    "one_class",
    "pairs",
    "regressor",
]
